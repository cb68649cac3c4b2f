# SPDX-License-Identifier: MIT
"""Goal:   what every engine across hosts must show: nothing is lost and each piece is handled at
        least once, whatever dies; a full queue reaches the source of the producing host; outcomes
        keep their meaning. RabbitMQ (amqp.py) is the first engine. An engine that comes later
        passes all of TESTS before its page promises what docs/guide/machines.md does; what only it
        has is in its own file.
Method: a program of the engine makes an object as below and runs each test of TESTS with
        Suite.run. Hosts are real ones, which the tests kill and stop; workers write numbers down.

An engine has
    publish(queue, limit)     the text of a pool's `use:` and `args:` that puts work into a queue
    consume(queue, limit)     likewise, of a source that takes work out of the queue
    survive()                 the next queues are to survive kill()
    kill(), restart()         its server
    dead(queue, count)        takes `count` dead letters: dicts with reason, detail, id, body
HEARTBEAT_S is how long a silent host keeps its pieces, at most, divided by two.
"""
import os

from hosts import Host, check, numbers_in, until

HEARTBEAT_S = 1
# Writes key, attempt and time down, and is done at the third attempt.
RETRY = 'echo "$WEIR_KEY $WEIR_ATTEMPT $(date +%s%3N)" >>"$1"; [ "$WEIR_ATTEMPT" = 3 ] || exit 75'


class Suite:
    """One scratch folder and one queue for each test."""

    def __init__(self, build, work, engine, is_long):
        self.build, self.root, self.engine = build, work, engine
        self.is_long = is_long
        self.hosts = []
        self.work = self.queue = ""

    def run(self, test):
        self.queue = test.__name__.replace("test_", "")[:40]
        self.work = os.path.join(self.root, self.queue)
        os.makedirs(os.path.join(self.work, "out"))
        self.hosts = []
        try:
            test(self)
        except SystemExit:
            for host in self.hosts:
                print(f"--- {host.name}\n{host.end_of_log()}")
            raise
        finally:
            for host in self.hosts:
                host.kill()

    def host(self, name, text):
        host = Host(self.build, self.work, name, text)
        self.hosts.append(host)
        return host

    def producer(self, count, limit=10000, first=0, name="producer"):
        return self.host(name, f"""
sources: {{numbers: {{use: gen.numbers, args: {{count: {count}, first: {first}}}, to: far}}}}
pools: {{far: {{size: 1, mailbox: 64, {self.engine.publish(self.queue, limit)}}}}}
""")

    def consumer(self, name, limit=10000, rate="100000/s"):
        return self.host(name, f"""
sources: {{far: {{{self.engine.consume(self.queue, limit)}, rate: {rate}, to: work}}}}
pools:
  work: {{use: sink.record, size: 2, args: {{path: "{self.work}/out/{name}-%i.txt", batch: 1}}}}
""")

    def handled(self):
        return numbers_in(os.path.join(self.work, "out"))

    def until_all(self, count, *hosts):
        until(lambda: len(self.handled()) >= count, f"{count} pieces are handled", *hosts)
        check(set(self.handled()) == set(range(count)), "other numbers than were sent")

    def until_some(self, count, *hosts):
        until(lambda: len(self.handled()) >= count, f"{count} pieces are handled", *hosts)


def test_two_hosts_handle_what_a_third_one_produces(suite):
    one, two = suite.consumer("one").start(), suite.consumer("two").start()
    producer = suite.producer(4000).start(waits=False)
    check(producer.wait() == 0, "the producer ends")
    suite.until_all(4000, one, two)
    until(lambda: one.number("far", "unacknowledged") + two.number("far", "unacknowledged") == 0,
          "all is acknowledged", one, two)
    check(sum(suite.handled().values()) == 4000, "without a failure none comes twice")
    for host in (one, two):
        check(host.number("far", "received") > 0, f"{host.name} has done nothing")
        check(host.stop() == 0, f"{host.name} ends in order")


def test_full_queue_reaches_the_source(suite):
    producer = suite.producer(6000, limit=400).start()
    # The queue, unconfirmed messages, the mailbox, the outbox of the source, and a few more that
    # the server takes before it refuses.
    most = 400 + 100 + 64 + 256 + 200
    until(lambda: producer.number("far#0", "refused") > 20, "the queue refuses", producer)
    emitted, memory = producer.number("numbers", "next"), producer.memory_kib()
    refused = producer.number("far#0", "refused")
    until(lambda: producer.number("far#0", "refused") > refused + 10, "it is tried again", producer)
    check(producer.number("numbers", "next") == emitted < most, f"the source went on: {emitted}")
    grown = producer.memory_kib() - memory
    check(grown < 512, f"the producer grew by {grown} KiB")
    worker = suite.consumer("worker", limit=400).start()
    suite.until_all(6000, worker)
    check(producer.wait() == 0, "the producer ends")


def test_killed_host_loses_nothing(suite):
    producer = suite.producer(2000).start(waits=False)
    doomed = suite.consumer("doomed", rate="500/s").start()
    other = suite.consumer("other", rate="500/s").start()
    suite.until_some(200, doomed, other)
    doomed.kill()
    suite.until_some(700, other)
    doomed.start()
    suite.until_all(2000, doomed, other)
    check(producer.wait() == 0, "the producer ends")


def test_stopped_host_gives_its_pieces_to_others_and_comes_back(suite):
    producer = suite.producer(1500).start(waits=False)
    frozen = suite.consumer("frozen", rate="200/s").start()
    suite.until_some(50, frozen)
    check(producer.wait() == 0, "the producer ends")
    frozen.freeze()
    other = suite.consumer("other").start()
    suite.until_all(1500, other)  # also those that the stopped host had
    frozen.thaw()
    until(lambda: frozen.number("far", "lost_connections") > 0 and
          frozen.items("far")["connection"] == "up", "it connects again", frozen, other)


def test_killed_producer_goes_on_at_its_position(suite):
    lines = os.path.join(suite.work, "lines")
    with open(lines, "w", encoding="utf-8") as stream:
        stream.writelines(f"{i}\n" for i in range(3000))
    producer = suite.host("producer", f"""
sources:
  lines: {{use: files.lines, rate: 3000/s, to: far,
           args: {{paths: ["{lines}"], position: "{suite.work}/position", save_every: 50ms}}}}
pools: {{far: {{size: 1, {suite.engine.publish(suite.queue, 10000)}}}}}
""").start(waits=False)
    worker = suite.host("worker", f"""
sources: {{far: {{{suite.engine.consume(suite.queue, 10000)}, to: work}}}}
pools: {{work: {{use: file.append, size: 1, args: {{path: "{suite.work}/out/lines"}}}}}}
""").start()

    def handled():
        path = os.path.join(suite.work, "out", "lines")
        if not os.path.exists(path):
            return set()
        with open(path, encoding="utf-8") as stream:
            return {line for line in stream if line.endswith("\n")}

    for count in (300, 900, 1500):
        until(lambda count=count: len(handled()) >= count, f"{count} lines", worker)
        producer.kill()
        producer.start(waits=False)
    check(producer.wait() == 0, "the producer ends")
    until(lambda: len(handled()) == 3000, "every line arrives", worker)


def test_killed_server_loses_nothing(suite):
    suite.engine.survive()
    one = suite.consumer("one", rate="800/s").start()
    two = suite.consumer("two", rate="800/s").start()
    producer = suite.producer(4000).start(waits=False)
    for count in (500, 2000):
        suite.until_some(count, one, two)
        suite.engine.kill()
        until(lambda: one.items("far")["connection"] == "down", "the loss is noticed", one, two)
        suite.engine.restart()
    suite.until_all(4000, one, two)
    check(producer.wait() == 0, "the producer ends")


def test_retry_comes_back_later_with_its_attempt(suite):
    suite.host("worker", f"""
sources: {{far: {{{suite.engine.consume(suite.queue, 10000)}, to: work}}}}
pools:
  work: {{use: exec.run, size: 2,
          args: {{shell: true, retry_after: 300ms, input: none,
                  command: ['{RETRY}', "{suite.work}/tries"]}}}}
""").start()
    check(suite.producer(3).start(waits=False).wait() == 0, "the producer ends")

    def tries():
        path = os.path.join(suite.work, "tries")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as stream:
            return [tuple(int(word) for word in line.split()) for line in stream]

    until(lambda: len(tries()) == 9, "three tries of each")
    for key in {key for key, _, _ in tries()}:
        mine = [(attempt, time) for k, attempt, time in tries() if k == key]
        check([attempt for attempt, _ in mine] == [1, 2, 3], f"attempts {mine}")
        for (_, before), (_, after) in zip(mine, mine[1:]):
            check(after - before >= 300, f"a retry came after {after - before} ms")


def test_rejected_piece_is_a_dead_letter_of_the_queue(suite):
    worker = suite.host("worker", f"""
sources: {{far: {{{suite.engine.consume(suite.queue, 10000)}, to: work}}}}
pools: {{work: {{use: exec.run, size: 1, args: {{command: ["false"], input: none}}}}}}
""").start()
    check(suite.producer(2, first=7).start(waits=False).wait() == 0, "the producer ends")
    letters = suite.engine.dead(suite.queue, 2)
    check({int.from_bytes(letter["body"][:8], "little") for letter in letters} == {7, 8},
          f"payloads {letters}")
    for letter in letters:
        check(letter["reason"] == "rejected" and letter["detail"] == "exit code 1", letter)
        check(letter["id"] in worker.read_log(), f"{letter['id']} is not in the log")


def test_host_may_start_before_the_server(suite):
    suite.engine.kill()
    refused = suite.consumer("refused").start(waits=False)
    check(refused.wait() != 0, "it starts without a server")
    check("nothing listens there" in refused.read_log(), refused.end_of_log())
    suite.engine.extra += ", must_connect: false"
    worker, producer = suite.consumer("worker").start(), suite.producer(100).start(waits=False)
    suite.engine.restart()
    suite.until_all(100, worker)
    check(producer.wait() == 0, "the producer ends")


TESTS = [
    test_two_hosts_handle_what_a_third_one_produces,
    test_full_queue_reaches_the_source,
    test_killed_host_loses_nothing,
    test_stopped_host_gives_its_pieces_to_others_and_comes_back,
    test_killed_producer_goes_on_at_its_position,
    test_host_may_start_before_the_server,
    test_killed_server_loses_nothing,
    test_retry_comes_back_later_with_its_attempt,
    test_rejected_piece_is_a_dead_letter_of_the_queue,
]
