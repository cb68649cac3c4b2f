# SPDX-License-Identifier: MIT
"""Goal:   single pieces of work, and the connection, in special cases: servers that
        refuse, foreign queues and tags, pieces that are too large or kill their hosts, ends and
        reloads of a host, leases, ids, dead letters, lost confirms, and the login by certificate.
Method: as in amqp.py, which runs TESTS.
"""
import os
import subprocess

import pika

from hosts import check, until


def test_refused_session_goes_on_to_the_next_server(suite):
    address = suite.engine.addresses[0]
    suite.engine.server.control("eval", """
        rabbit_vhost:add(<<"other">>, <<"test">>),
        rabbit_auth_backend_internal:set_permissions(<<"guest">>, <<"other">>, <<".*">>, <<".*">>,
                                                     <<".*">>, <<"test">>).""")
    suite.engine.addresses = [f"{address}/other"]
    suite.consumer("first", limit=500).start().stop()
    suite.engine.addresses = [f"{address}/other", address]
    host = suite.consumer("host", limit=700).start()
    suite.engine.addresses = [address]
    check(suite.producer(10, limit=700).start(waits=False).wait() == 0, "the producer ends")
    suite.until_all(10, host)
    suite.engine.addresses = [f"{address}/other", "amqp://127.0.0.1:1"]
    second = suite.consumer("second", limit=700).start(waits=False)
    check(second.wait() != 0 and "700 here, 500 at the server" in second.read_log(),
          second.end_of_log())


def test_foreign_queue_needs_an_exchange_for_dead_letters(suite):
    connection, channel = suite.engine.channel()
    channel.queue_declare(suite.queue, durable=True)
    suite.engine.extra += ", declare: false"
    text = f"""
sources: {{far: {{{suite.engine.consume(suite.queue)}, to: work}}}}
pools: {{work: {{use: exec.run, size: 1, args: {{command: ["false"], input: none}}}}}}
"""
    refused = suite.host("refused", text).start(waits=False)
    check(refused.wait() != 0, "it starts")
    check(f"exchange {suite.queue}.dead, for the dead letters of {suite.queue}, does not exist" in
          refused.read_log(), refused.end_of_log())
    channel.exchange_declare(f"{suite.queue}.dead", "direct")
    channel.queue_declare(f"{suite.queue}.dead")
    channel.queue_bind(f"{suite.queue}.dead", f"{suite.queue}.dead", suite.queue)
    suite.host("host", text).start()
    channel.basic_publish("", suite.queue, b"7")
    check(suite.engine.dead(suite.queue, 1)[0]["body"] == b"7", "another dead letter")
    connection.close()


def test_stopped_and_reloaded_hosts_use_up_no_attempts(suite):
    suite.engine.extra += ", delivery_limit: 2, window: 20"
    check(suite.producer(20).start(waits=False).wait() == 0, "the producer ends")
    slow = suite.consumer("slow", rate="1/s")
    for _ in range(4):
        slow.start()
        until(lambda: slow.number("far", "waiting") > 10, "pieces wait in the source", slow)
        check(slow.stop() == 0, "it ends in order")
    slow.start()
    for window in (19, 18, 17, 16):
        until(lambda: slow.number("far", "waiting") > 10, "pieces wait in the source", slow)
        slow.change(f"window: {window + 1}", f"window: {window}")
    check(slow.stop() == 0, "it ends in order")
    host = suite.host("host", f"""
sources: {{far: {{{suite.engine.consume(suite.queue)}, to: work}}}}
pools: {{work: {{use: exec.run, size: 4, args: {{shell: true, input: none,
         command: ['echo "$WEIR_ATTEMPT" >>"$1"', "{suite.work}/attempts"]}}}}}}
""").start()
    path = os.path.join(suite.work, "attempts")

    def attempts():
        with open(path, encoding="utf-8") as stream:
            return stream.read().split()

    until(lambda: os.path.exists(path) and len(attempts()) + len(suite.handled()) >= 20,
          "all are handled", host)
    check(set(attempts()) == {"1"}, f"attempts {attempts()}")


def test_reload_of_a_consumer_loses_nothing(suite):
    host = suite.consumer("host", rate="1000/s")
    host.change(", heartbeat", ", window: 100, heartbeat")
    host.start()
    producer = suite.producer(3000).start(waits=False)
    for number in range(4):
        suite.until_some(500 * (number + 1), host)
        host.change(f"window: {100 - number}", f"window: {99 - number}")
    suite.until_all(3000, host)
    check(producer.wait() == 0, "the producer ends")


def test_ids_show_a_piece_that_comes_twice(suite):
    lines = os.path.join(suite.work, "lines")
    with open(lines, "w", encoding="utf-8") as stream:
        stream.write("same\n" * 3)

    def ids(how, count):
        producer = suite.host("producer", f"""
sources: {{lines: {{use: files.lines, to: far, args: {{paths: ["{lines}"]}}}}}}
pools: {{far: {{size: 1, {suite.engine.publish(suite.queue, more=f", id: {how}")}}}}}
""")
        check(producer.start(waits=False).wait() == 0, "the producer ends")
        connection, channel = suite.engine.channel()
        got = []
        while len(got) < count:
            method, properties, _ = channel.basic_get(suite.queue, auto_ack=True)
            if method:
                got.append(properties.message_id)
        connection.close()
        return got

    run, again = ids("run", 3), ids("run", 3)
    check(len(set(run + again)) == 6, f"each run has its own: {run} {again}")
    check([identity.split(":")[1] for identity in run] == ["1", "2", "3"], f"serials: {run}")
    content = ids("content", 3)
    check(len(set(content)) == 3, f"the same text at other positions: {content}")
    check(ids("content", 3) == content, "the same position has the same id")
    check(len(set(ids("key", 3))) == 1, "the lines of a file have one key")


def test_workers_see_the_id_as_the_key(suite):
    host = suite.host("host", f"""
sources: {{far: {{{suite.engine.consume(suite.queue, more=", message_key: id")}, to: work}}}}
pools: {{work: {{use: exec.run, size: 1, args: {{shell: true, input: none,
         command: ['echo "$WEIR_KEY" >>"$1"', "{suite.work}/keys"]}}}}}}
""").start()
    connection, channel = suite.engine.channel()
    for identity in ("a", "b", "a"):
        channel.basic_publish("", suite.queue, b"", pika.BasicProperties(
            message_id=identity, headers={"weir-key": 7}))
    path = os.path.join(suite.work, "keys")
    until(lambda: os.path.exists(path) and len(open(path, encoding="utf-8").readlines()) == 3,
          "all are handled", host)
    with open(path, encoding="utf-8") as stream:
        first, second, third = stream.read().split()
    check(first == third != second and "7" not in (first, second), f"{first} {second} {third}")
    connection.close()


def test_piece_larger_than_the_memory_is_a_dead_letter(suite):
    host = suite.host("host", f"""
sources: {{far: {{{suite.engine.consume(suite.queue)}, to: work}}}}
pools: {{work: {{use: exec.run, size: 1, args: {{command: ["true"]}}}}}}
""")
    host.change("shutdown_timeout", "memory: 1MiB, shutdown_timeout")
    host.start()
    connection, channel = suite.engine.channel()
    channel.basic_publish("", suite.queue, bytes(2 << 20), pika.BasicProperties(message_id="big"))
    channel.basic_publish("", suite.queue, b"small")
    letter = suite.engine.dead(suite.queue, 1)[0]
    check(letter["reason"] == "too_large" and letter["id"] == "big", letter["reason"])
    check("piece is too large" in host.read_log(), host.end_of_log())
    until(lambda: host.number("far", "acknowledged") == 2, "the small one is handled", host)
    connection.close()


def test_number_of_foreign_tags_is_bounded(suite):
    suite.host("host", f"""
sources: {{far: {{{suite.engine.consume(suite.queue)}, to: work}}}}
pools: {{work: {{use: file.append, size: 1, args: {{path: "{suite.work}/got"}}}}}}
""").start()
    connection, channel = suite.engine.channel()
    for number in range(1003):
        channel.basic_publish("", suite.queue, number.to_bytes(8, "little"),
                              pika.BasicProperties(headers={"weir-tag": f"foreign/{number}"}))
    letters = suite.engine.dead(suite.queue, 3)
    check([int.from_bytes(letter["body"], "little") for letter in letters] == [1000, 1001, 1002],
          letters)
    check({letter["reason"] for letter in letters} == {"mismatch"}, letters)
    connection.close()


def test_waiting_is_at_most_the_window(suite):
    suite.engine.extra += ", window: 20"
    check(suite.producer(100).start(waits=False).wait() == 0, "the producer ends")
    host = suite.consumer("host", rate="1/s").start()
    until(lambda: host.number("far", "waiting") > 10, "pieces wait", host)
    connection, channel = suite.engine.channel()
    for _ in range(20):
        items = host.items("far")
        check(int(items["waiting"]) <= int(items["unacknowledged"]) <= 20, items)
        ready = channel.queue_declare(suite.queue, passive=True).method.message_count
        check(ready >= 100 - 20 - int(host.items("far")["acknowledged"]), f"{ready} are ready")
    connection.close()


def test_what_was_not_confirmed_is_published_again_and_counted(suite):
    producer = suite.host("producer", f"""
sources: {{numbers: {{use: gen.numbers, rate: 200/s, args: {{count: 1000}}, to: far}}}}
pools: {{far: {{size: 1, {suite.engine.publish(suite.queue)}}}}}
""").start()
    until(lambda: producer.number("far#0", "confirmed") > 50, "some are confirmed", producer)
    suite.engine.server.freeze()
    until(lambda: producer.items("far#0")["connection"] == "down", "it is lost", producer)
    again = producer.number("far#0", "published_again")
    check(again > 0, "none was published again")
    suite.engine.server.thaw()
    worker = suite.consumer("worker").start()
    suite.until_all(1000, worker)
    check(producer.wait() == 0, "the producer ends")


def test_certificate_is_the_login(suite):
    engine, folder = suite.engine, f"{suite.root}/tls"
    engine.addresses = [f"amqps://localhost:{engine.server.tls_port}"]
    extra = engine.extra + f', ca: "{folder}/ca.pem", sasl: external, '
    engine.extra = extra + f'certificate: "{folder}/guest.pem", key: "{folder}/guest.key"'
    worker = suite.consumer("worker").start()
    check(suite.producer(50).start(waits=False).wait() == 0, "the producer ends")
    suite.until_all(50, worker)
    engine.extra = extra + f'certificate: "{folder}/server.pem", key: "{folder}/server.key"'
    stranger = suite.consumer("stranger").start(waits=False)
    check(stranger.wait() != 0 and "ACCESS_REFUSED" in stranger.read_log(), stranger.end_of_log())


def test_pool_without_ready_workers_may_start_before_the_server(suite):
    suite.engine.kill()
    producer = suite.host("producer", f"""
sources: {{numbers: {{use: gen.numbers, args: {{count: 100}}, to: far}}}}
pools: {{far: {{size: 1, min_ready: 0, {suite.engine.publish(suite.queue)}}}}}
""").start()
    suite.engine.restart()
    worker = suite.consumer("worker").start()
    suite.until_all(100, worker)
    check(producer.wait() == 0, "the producer ends")


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as stream:
        return stream.read().split()


def test_acknowledgements_leave_out_a_piece_that_is_not_settled(suite):
    done = os.path.join(suite.work, "done")

    def worker(name, text):
        return suite.host(name, f"""
sources: {{far: {{{suite.engine.consume(suite.queue)}, to: work}}}}
pools: {{work: {{use: exec.run, size: 2, route: pull, args: {{shell: true,
         command: ['read n; {text} echo "$n" >>"$1"', "{done}"]}}}}}}
""").start()

    connection, channel = suite.engine.channel()
    slow = worker("slow", '[ "$n" != 0 ] || exec sleep 1000;')
    for number in range(100):
        channel.basic_publish("", suite.queue, f"{number}\n".encode())
    until(lambda: slow.number("far", "acknowledged") == 99, "the others", slow)
    check(slow.number("far", "unacknowledged") == 1, slow.items("far"))
    slow.kill()
    other = worker("other", "")
    until(lambda: other.number("far", "acknowledged") == 1, "the slow piece", other)
    check(sorted(lines_of(done), key=int) == [str(number) for number in range(100)],
          "each is done once")
    check(other.number("far", "received") == 1, other.items("far"))
    connection.close()


def test_piece_that_no_queue_takes_is_put_again(suite):
    connection, channel = suite.engine.channel()
    dead = f"{suite.queue}.dead"
    channel.queue_declare(suite.queue, durable=True)
    channel.exchange_declare(dead, "direct")
    channel.queue_declare(dead, arguments={"x-max-length": 1, "x-overflow": "reject-publish"})
    channel.queue_bind(dead, dead, suite.queue)
    channel.basic_publish(dead, suite.queue, b"in the way")
    suite.engine.extra += ", declare: false"
    host = suite.host("host", f"""
sources: {{far: {{{suite.engine.consume(suite.queue)}, to: work}}}}
pools: {{work: {{use: exec.run, size: 1, args: {{command: ["false"], input: none}}}}}}
""").start()
    for number in range(3):
        channel.basic_publish("", suite.queue, b"%d" % number)
    until(lambda: host.number("far", "put_later") == 3, "the queue is full", host)
    check(host.number("far", "unacknowledged") == 3, host.items("far"))
    check(channel.basic_get(dead, auto_ack=True)[2] == b"in the way", "another piece is there")
    bodies = {letter["body"] for letter in suite.engine.dead(suite.queue, 3)}
    check(bodies == {b"0", b"1", b"2"}, bodies)
    until(lambda: host.number("far", "acknowledged") == 3, "they are acknowledged", host)
    check(host.number("far", "put_later") == host.number("far", "unacknowledged") == 0 and
          host.number("far", "buried") == 3, host.items("far"))
    connection.close()


def test_retry_waits_until_its_new_queue_may_be_used(suite):
    suite.engine.survive()
    tries = os.path.join(suite.work, "tries")
    host = suite.host("host", f"""
sources: {{far: {{{suite.engine.consume(suite.queue)}, to: work}}}}
pools: {{work: {{use: exec.run, size: 1, args: {{shell: true, input: none, retry_after: 200ms,
         command: ['echo "$WEIR_ATTEMPT" >>"$1"; [ "$WEIR_ATTEMPT" = 2 ] || exit 75',
                   "{tries}"]}}}}}}
""").start()
    check(suite.producer(1).start(waits=False).wait() == 0, "the producer ends")
    until(lambda: host.number("far", "put_later") == 1, "the queue for retries rests", host)
    check(lines_of(tries) == ["1"], lines_of(tries))
    until(lambda: host.number("far", "acknowledged") == 2, "the retry, and the piece", host)
    check(lines_of(tries) == ["1", "2"], lines_of(tries))


def test_nested_and_scaled_pools_take_pieces_as_any_others(suite):
    out = f"{suite.work}/out"
    record = "use: sink.record, size: 1, args: {{batch: 1, path: \"{}/{}-%i.txt\"}}"
    host = suite.host("host", f"""
sources: {{far: {{{suite.engine.consume(suite.queue)}, rate: 1000/s, to: work}}}}
pools:
  work:
    members:
      left: {{{record.format(out, "left")}}}
      right: {{{record.format(out, "right")}}}
""").start()
    producer = suite.producer(1500).start(waits=False)
    for size in (4, 1, 3):
        done = len(suite.handled())
        host.tell("scale", "work/left", str(size))
        suite.until_some(done + 200, host)
    suite.until_all(1500, host)
    check(producer.wait() == 0, "the producer ends")
    check(sum(suite.handled().values()) == 1500, "a piece came twice")
    done = {pool["path"]: pool["done"] for pool in host.ask("status")["pools"]}
    check(done["work/left"] > 0 and done["work/right"] > 0, done)
    until(lambda: host.number("far", "acknowledged") == 1500, "all are acknowledged", host)


def test_dead_letter_of_a_host_names_the_piece_of_the_server(suite):
    """In memory, in the file of dead letters and in the log; also when a second pool rejects."""
    host = suite.host("host", f"""
sources: {{far: {{{suite.engine.consume(suite.queue)}, to: first}}}}
pools:
  first: {{use: relay.pass, size: 1, outputs: {{out: second}}}}
  second: {{use: exec.run, size: 1, args: {{command: ["false"], input: none}}}}
""")
    with_test_plugins(suite, host)
    stored = os.path.join(suite.work, "dead")
    host.change("shutdown_timeout", f'dead_letters: {{file: "{stored}"}}, shutdown_timeout')
    host.start()
    check(suite.producer(1).start(waits=False).wait() == 0, "the producer ends")
    letter = suite.engine.dead(suite.queue, 1)[0]
    check(letter["reason"] == "rejected" and letter["detail"] == "exit code 1", letter)
    here = host.ask("dead", "second")
    server = suite.engine.addresses[0].replace("amqp://", "")
    expected = f"exit code 1; piece {letter['id']} of queue {suite.queue} at {server}"
    check([(dead["reason"], dead["detail"]) for dead in here] == [("rejected", expected)], here)
    check(expected in host.tell("dead", "second"), host.tell("dead", "second"))
    check(f'detail="{expected}"' in host.read_log(), host.end_of_log())
    host.stop()
    done = subprocess.run([host.weir, "dead", "--file", stored], capture_output=True, text=True,
                          check=False)
    check(expected in done.stdout, done)


def test_name_of_a_foreign_piece_is_printable(suite):
    host = suite.host("host", f"""
sources: {{far: {{{suite.engine.consume(suite.queue)}, to: work}}}}
pools: {{work: {{use: exec.run, size: 1, args: {{command: ["false"], input: none}}}}}}
""").start()
    connection, channel = suite.engine.channel()
    channel.basic_publish("", suite.queue, b"", pika.BasicProperties(message_id="a\x1b[1mb"))
    channel.basic_publish("", suite.queue, b"")
    suite.engine.dead(suite.queue, 2)
    details = [dead["detail"] for dead in host.ask("dead", "work")]
    for words, detail in zip(("; piece a?[1mb of queue", "; piece of queue"), details):
        check(words in detail, details)
    connection.close()


def test_piece_that_kills_its_hosts_is_a_dead_letter(suite):
    suite.engine.extra += ", delivery_limit: 2"
    tries = os.path.join(suite.work, "tries")
    host = suite.host("host", f"""
sources: {{far: {{{suite.engine.consume(suite.queue)}, to: work}}}}
pools: {{work: {{use: exec.run, size: 1, args: {{shell: true, input: none,
         command: ['echo "$WEIR_ATTEMPT" >>"$1"; kill -9 $PPID', "{tries}"]}}}}}}
""")
    check(suite.producer(1).start(waits=False).wait() == 0, "the producer ends")
    for _ in range(3):
        check(host.start(waits=False).wait() == -9, host.end_of_log())
    letter = suite.engine.dead(suite.queue, 1)[0]
    check(lines_of(tries) == ["1", "2", "3"], lines_of(tries))
    check(letter["reason"] is None and letter["headers"]["x-death"][0]["reason"] ==
          "delivery_limit", letter)


def test_piece_that_crashes_a_host_is_blamed_by_its_content(suite):
    dead = os.path.join(suite.work, "dead")
    host = suite.host("host", f"""
sources: {{far: {{{suite.engine.consume(suite.queue)}, to: work}}}}
pools:
  work: {{use: poison.eat, size: 1, quarantine: 2, outputs: {{out: none}}}}
""")
    with_test_plugins(suite, host)
    host.change("host: {", f'host: {{crash_file: "{suite.work}/crashes", dead_letters: '
                f'{{file: "{dead}"}}, ')
    connection, channel = suite.engine.channel()
    suite.consumer("first").start().stop()  # it declares the queue
    for text, identity in ((b"good 1", None), (b"SEGV 2", "id"), (b"good 3", None)):
        channel.basic_publish("", suite.queue, text,
                              pika.BasicProperties(delivery_mode=2, message_id=identity))
    for _ in range(2):
        check(host.start(waits=False).wait() == -11, host.end_of_log())
    host.start()
    until(lambda: host.ask("status", "work")["dead"] == 1, "the piece is dead", host)
    # The same content under the same id is the same piece, under another id another one.
    channel.basic_publish("", suite.queue, b"SEGV 2", pika.BasicProperties(message_id="id"))
    until(lambda: host.ask("status", "work")["dead"] == 2, "the same piece again", host)
    channel.basic_publish("", suite.queue, b"SEGV 2", pika.BasicProperties(message_id="other"))
    check(host.wait() == -11, host.end_of_log())
    said = host.read_log()
    check("ate 1" in said and "ate 3" in said, "the others are done")
    connection.close()


def with_test_plugins(suite, host):
    plugins = os.path.join(suite.build, "plugins")
    tests = os.path.join(suite.build, "tests", "plugins")
    host.change(f'["{plugins}"]', f'["{plugins}", "{tests}"]')


def leasing_host(suite, name, options):
    """Each piece is for a holder, which takes a worker of `db` for it."""
    host = suite.host(name, f"""
sources: {{far: {{{suite.engine.consume(suite.queue)}, to: users}}}}
pools:
  users: {{use: holder.worker, size: 4, redeliver: 9, restart: {{max: 1000, backoff: 1ms}},
          args: {{pool: db, {options}}}}}
  db: {{use: sink.record, size: 2, lease: {{timeout: 1h, queue: 4}},
       args: {{path: "{suite.work}/out/{name}-%i.txt", batch: 1}}}}
""")
    with_test_plugins(suite, host)
    return host.start()


def leases(host):
    return host.ask("status", "db")["leases"]


def test_piece_is_acknowledged_when_its_worker_was_returned(suite):
    check(suite.producer(2).start(waits=False).wait() == 0, "the producer ends")
    host = leasing_host(suite, "host", "keep: true")
    suite.until_all(2, host)
    until(lambda: leases(host)["leased"] == 2, "both workers are leased", host)
    check(host.number("far", "unacknowledged") == 2, host.items("far"))
    check(host.number("far", "acknowledged") == 0, host.items("far"))
    host.change("keep: true", "keep: false")
    until(lambda: host.number("far", "acknowledged") == 2, "the pieces are acknowledged", host)
    check(leases(host)["returned"] == 2, leases(host))


def test_host_that_is_killed_with_leased_workers_loses_nothing(suite):
    check(suite.producer(40).start(waits=False).wait() == 0, "the producer ends")
    doomed = leasing_host(suite, "doomed", "keep: true")
    suite.until_some(2, doomed)
    until(lambda: leases(doomed)["leased"] == 2, "both workers are leased", doomed)
    doomed.kill()
    other = leasing_host(suite, "other", "keep: false")
    until(lambda: other.number("far", "acknowledged") == 40, "all are acknowledged", other)
    twice = [number for number, count in suite.handled().items() if count == 2]
    check(set(suite.handled()) == set(range(40)) and len(twice) == 2, suite.handled())
    check(leases(other)["returned"] == 40, leases(other))


def test_holder_that_fails_loses_nothing(suite):
    check(suite.producer(200).start(waits=False).wait() == 0, "the producer ends")
    host = leasing_host(suite, "host", "fails_each: 5")
    until(lambda: host.number("far", "acknowledged") == 200, "all are acknowledged", host)
    suite.until_all(200, host)
    check(host.number("far", "buried") == 0, host.items("far"))
    figures = leases(host)
    check(figures["returned"] == 200 and figures["holder_failed"] >= 40 and
          figures["begun"] == 200 + figures["holder_failed"], figures)


def check_blocked(suite, producer):
    blocked = 'event="the server takes no messages"'
    again = 'event="the server takes messages again"'
    until(lambda: producer.items("far#0")["connection"] == "blocked", "it is told", producer)
    check(producer.number("numbers", "next") < 3000, "the source went on")
    check(producer.read_log().count(blocked) == 1, producer.end_of_log())
    check(again not in producer.read_log(), producer.end_of_log())
    suite.engine.server.control("close_all_connections", "test")
    until(lambda: producer.number("far#0", "lost_connections") > 0 and
          producer.items("far#0")["connection"] == "blocked", "it connects, and is told", producer)
    check(producer.read_log().count(blocked) > 1, producer.end_of_log())
    check(again not in producer.read_log(), producer.end_of_log())


def test_server_without_memory_blocks_publishers_for_a_while(suite):
    """The source is slow until then, since the commands of the server take seconds."""
    producer = suite.host("producer", f"""
sources: {{numbers: {{use: gen.numbers, rate: 20/s, args: {{count: 3000}}, to: far}}}}
pools: {{far: {{size: 1, {suite.engine.publish(suite.queue)}}}}}
""").start()
    until(lambda: producer.number("far#0", "confirmed") > 10, "some are confirmed", producer)
    suite.engine.server.control("set_vm_memory_high_watermark", "absolute", "1")
    try:
        check_blocked(suite, producer)
    finally:
        suite.engine.server.control("set_vm_memory_high_watermark", "0.4")
    producer.change("rate: 20/s, ", "")
    worker = suite.consumer("worker").start()
    suite.until_all(3000, worker)
    check(producer.wait() == 0, "the producer ends")
    check(producer.read_log().count('event="the server takes messages again"') == 1,
          producer.end_of_log())


TESTS = [
    test_acknowledgements_leave_out_a_piece_that_is_not_settled,
    test_piece_that_no_queue_takes_is_put_again,
    test_retry_waits_until_its_new_queue_may_be_used,
    test_nested_and_scaled_pools_take_pieces_as_any_others,
    test_dead_letter_of_a_host_names_the_piece_of_the_server,
    test_name_of_a_foreign_piece_is_printable,
    test_piece_that_kills_its_hosts_is_a_dead_letter,
    test_piece_that_crashes_a_host_is_blamed_by_its_content,
    test_piece_is_acknowledged_when_its_worker_was_returned,
    test_host_that_is_killed_with_leased_workers_loses_nothing,
    test_holder_that_fails_loses_nothing,
    test_server_without_memory_blocks_publishers_for_a_while,
    test_refused_session_goes_on_to_the_next_server,
    test_foreign_queue_needs_an_exchange_for_dead_letters,
    test_stopped_and_reloaded_hosts_use_up_no_attempts,
    test_reload_of_a_consumer_loses_nothing,
    test_ids_show_a_piece_that_comes_twice,
    test_workers_see_the_id_as_the_key,
    test_piece_larger_than_the_memory_is_a_dead_letter,
    test_number_of_foreign_tags_is_bounded,
    test_waiting_is_at_most_the_window,
    test_what_was_not_confirmed_is_published_again_and_counted,
    test_certificate_is_the_login,
    test_pool_without_ready_workers_may_start_before_the_server,
]
