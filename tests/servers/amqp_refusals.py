# SPDX-License-Identifier: MIT
"""Goal:   what will never pass is no passing fault: a piece that the server refuses for good is
        dead with the server's reason, and all others come once, on the same connection; a
        connection on which nothing succeeds is tried more and more slowly.
Method: as in amqp.py, which runs TESTS. The limits and rights of the server are changed while it
        runs; its channels see them when they open. amqp_proxy.py does what the server does seldom.
"""
import os
import re

import pika

from amqp_proxy import Proxy
from hosts import check, until

ALL = '<<".*">>'


def set_limit(suite, size):
    """The largest message that the server takes from now on, on new channels."""
    suite.engine.server.control("eval", f"application:set_env(rabbit, max_message_size, {size}).")


def set_rights(suite, configure=ALL, write=ALL, read=ALL):
    suite.engine.server.control("eval", f"""
        rabbit_auth_backend_internal:set_permissions(<<"guest">>, <<"/">>, {configure}, {write},
                                                     {read}, <<"test">>).""")


def taken(suite, queue, count):
    """All pieces of a queue, of which there are at least `count`."""
    connection, channel = suite.engine.channel()
    bodies = []
    while True:
        method, _, body = channel.basic_get(queue, auto_ack=True)
        if method:
            bodies.append(body)
        elif len(bodies) >= count:
            break
    connection.close()
    return bodies


def publisher(suite, lines, name="producer", more=""):
    """Publishes the lines of a file, which it follows."""
    path = os.path.join(suite.work, f"{name}.lines")
    with open(path, "w", encoding="utf-8") as stream:
        stream.writelines(line + "\n" for line in lines)
    return suite.host(name, f"""
sources:
  lines: {{use: files.tail, to: far,
           args: {{paths: ["{path}"], from: begin, position: "{suite.work}/{name}.position"}}}}
pools: {{far: {{size: 1, {suite.engine.publish(suite.queue, more=more)}}}}}
""")


def dead(host, pool):
    return [(letter["reason"], letter["detail"].split(";")[0]) for letter in host.ask("dead", pool)]


def number_of(body):
    """Of a line that ends with it; the payload of files.line ends with a NUL."""
    return int(body.rstrip(b"\0").split(b" ")[-1])


# Which of 400 lines are too large: none before, in the midst, several at once, all.
TOO_LARGE = {"first": {0}, "last": {399}, "midst": {200}, "several": {5, 6, 7, 150, 151, 399},
             "most": set(range(0, 400, 2))}


def test_message_that_is_too_large_is_dead_and_the_others_come_once(suite):
    set_limit(suite, 2000)
    try:
        queue = suite.queue
        for name, large in TOO_LARGE.items():
            suite.queue = f"{queue}_{name}"
            host = publisher(suite, [f"{'x' * (4000 if i in large else i)} {i}"
                                     for i in range(400)], name).start()
            until(lambda: host.number("far#0", "confirmed") + host.number("far#0", "rejected") ==
                  400, "all are published or dead", host)
            items = host.items("far#0")
            check(int(items["rejected"]) == len(large), (name, items))
            check(items["published_again"] == items["lost_connections"] == "0", (name, items))
            reasons = {detail for _, detail in dead(host, "far")}
            check(all(re.match(r"message size 4\d{3} is larger", detail) for detail in reasons),
                  (name, reasons))
            check("larger than configured max size 2000" in host.read_log(), host.end_of_log())
            check(host.stop() == 1, f"{name}: {host.end_of_log()}")
            got = sorted(number_of(body) for body in taken(suite, suite.queue, 1))
            check(got == [i for i in range(400) if i not in large], (name, got))
    finally:
        set_limit(suite, 134217728)


def test_message_without_the_right_to_publish_is_dead(suite):
    suite.consumer("declares").start().stop()
    set_rights(suite, write='<<"^(?!amq.default$).*">>')
    try:
        host = publisher(suite, [f"x {i}" for i in range(50)]).start()
        until(lambda: host.number("far#0", "rejected") == 50, "all are dead", host)
        items = host.items("far#0")
        check(items["published_again"] == items["lost_connections"] == "0", items)
        check({detail for _, detail in dead(host, "far")} ==
              {"access to exchange 'amq.default' in vhost '/' r"}, dead(host, "far"))
        check("ACCESS_REFUSED - access to exchange 'amq.default'" in host.read_log(),
              host.end_of_log())
        check(host.stop() == 1, host.end_of_log())
        check(taken(suite, suite.queue, 0) == [], "pieces")
    finally:
        set_rights(suite)


def test_culprit_among_unconfirmed_messages_is_found(suite):
    """The server confirms late: with the culprit, others are unconfirmed, and go alone then."""
    with Proxy(suite.engine.server.port, b"poison") as proxy:
        suite.engine.addresses = [proxy.address]
        host = publisher(suite, [f"{'poison' if i == 30 else 'harmle'} {i:02}"
                                 for i in range(60)]).start()
        until(lambda: host.number("far#0", "confirmed") == 59, "all others are published", host)
        items = host.items("far#0")
        check(proxy.unconfirmed[0] > 0, proxy.unconfirmed)
        check(items["rejected"] == "1" and items["lost_connections"] == "0", items)
        check(0 < int(items["published_again"]) < 60, items)
        check(dead(host, "far") == [("rejected", "the proxy takes no such message")],
              dead(host, "far"))
        check(proxy.seen == 2, f"it was tried {proxy.seen} times")
        check(host.stop() == 1, host.end_of_log())
    suite.engine.addresses = [suite.engine.server.address]
    got = {number_of(body) for body in taken(suite, suite.queue, 1)}
    check(got == set(range(60)) - {30}, got)


def test_back_off_grows_until_something_succeeds(suite):
    """Each connection succeeds, and ends with the first message."""
    suite.engine.extra = ", heartbeat: 1s, new_queue: 0s, backoff_max: 30s"
    with Proxy(suite.engine.server.port, b"poison", ends=True) as proxy:
        suite.engine.addresses = [proxy.address]
        host = publisher(suite, ["poison 1"]).start()

        def waits():
            return [int(wait) for wait in re.findall(r"trying again.*in_ms=(\d+)", host.read_log())]

        until(lambda: len(waits()) == 5, "five tries", host)
        for number, wait in enumerate(waits()):
            check(50 << number <= wait <= 100 << number, waits())
        proxy.word = b"other"
        until(lambda: host.number("far#0", "confirmed") == 1, "it is published", host)
        proxy.word = b"poison"
        with open(os.path.join(suite.work, "producer.lines"), "a", encoding="utf-8") as stream:
            stream.write("poison 2\n")
        until(lambda: len(waits()) > 5, "one more", host)
        check(50 <= waits()[-1] <= 100 or len(waits()) > 6, waits())
        host.kill()


# --- consuming -----------------------------------------------------------------------------------

def consumer(suite, more=""):
    """Its worker rejects pieces that begin with `bad`, tries the first ones with `again` later, and
    is done with the others."""
    return suite.host("host", f"""
sources: {{far: {{{suite.engine.consume(suite.queue, more=more)}, to: work}}}}
pools: {{work: {{use: exec.run, size: 4, args: {{shell: true, retry_after: 200ms,
         command: ['read n; case "$n" in bad*) exit 1;; again*) [ "$WEIR_ATTEMPT" = 2 ] ||
                   exit 75;; esac']}}}}}}
""")


def put(suite, *bodies):
    connection, channel = suite.engine.channel()
    channel.confirm_delivery()  # a server may lose what it has not confirmed when a channel ends
    for number, body in enumerate(bodies):
        channel.basic_publish("", suite.queue, body.encode() + b"\n",
                              pika.BasicProperties(message_id=f"{body[:5]}-{number}"))
    connection.close()


def until_settled(host, received):
    until(lambda: host.number("far", "received") >= received and
          host.number("far", "unacknowledged") == 0, "all are settled", host)


def check_once(host, received):
    items = host.items("far")
    check(items["lost_connections"] == items["redelivered"] == "0", items)
    check(int(items["received"]) == received, items)


OTHERS = [f"good {i}" for i in range(40)]


def test_retry_that_the_server_refuses_is_a_dead_letter(suite):
    """Too large for the queue of retries, and for the exchange of dead letters: the queue itself
    makes a dead letter of it."""
    suite.consumer("declares").start().stop()
    put(suite, "again" + "x" * 3000, *OTHERS, "bad" + "x" * 3000, "again", "bad")
    set_limit(suite, 2000)
    try:
        host = consumer(suite).start()
        letters = {letter["id"]: letter for letter in suite.engine.dead(suite.queue, 3)}
        until_settled(host, 45)
        check_once(host, 45)  # 44, and one retry
        check(set(letters) == {"again-0", "badxx-41", "bad-43"}, letters)
        for identity in ("again-0", "badxx-41"):
            check(letters[identity]["headers"]["x-death"][0]["reason"] == "rejected", letters)
        check(letters["bad-43"]["detail"] == "exit code 1", letters)
        check("reason=refused detail=\"message size 30" in host.read_log(), host.end_of_log())
    finally:
        set_limit(suite, 134217728)


def test_retry_whose_queue_cannot_be_declared_is_a_dead_letter(suite):
    connection, channel = suite.engine.channel()
    channel.queue_declare(f"{suite.queue}.retry.256", durable=True)
    host = consumer(suite).start()
    put(suite, *OTHERS[:20], "again", "bad", "again", *OTHERS[20:])
    letters = {letter["id"]: letter for letter in suite.engine.dead(suite.queue, 3)}
    until_settled(host, 43)
    check_once(host, 43)
    check(set(letters) == {"again-20", "bad-21", "again-22"}, letters)
    for identity in ("again-20", "again-22"):
        check(letters[identity]["reason"] == "refused" and
              letters[identity]["detail"].startswith("inequivalent arg 'x-"), letters)
    connection.close()


def test_retry_without_the_right_to_declare_its_queue_is_a_dead_letter(suite):
    suite.consumer("declares").start().stop()
    set_rights(suite, configure='<<"^(?!.*[.]retry).*">>')
    try:
        host = consumer(suite).start()
        put(suite, *OTHERS[:20], "again", *OTHERS[20:])
        letter = suite.engine.dead(suite.queue, 1)[0]
        until_settled(host, 41)
        check_once(host, 41)
        check(letter["reason"] == "refused" and
              letter["detail"].startswith(f"access to queue '{suite.queue}.retry"[:60]), letter)
    finally:
        set_rights(suite)


def lose_the_right_to_dead_letters(suite, host):
    """One piece is bad, and the others are acknowledged."""
    host.start()
    set_rights(suite, write=f'<<"^(?!{suite.queue}.dead$).*">>')
    put(suite, "bad", *OTHERS)
    until(lambda: host.number("far", "acknowledged") == 40 and
          host.number("far", "buried") == 1, "the others", host)
    check("ACCESS_REFUSED - access to exchange" in host.read_log(), host.end_of_log())


def test_dead_letter_without_the_right_to_publish_is_made_by_the_queue(suite):
    host = consumer(suite)
    try:
        lose_the_right_to_dead_letters(suite, host)
        letter = suite.engine.dead(suite.queue, 1)[0]
        check(letter["headers"]["x-death"][0]["reason"] == "rejected", letter)
        until_settled(host, 41)
        check_once(host, 41)
    finally:
        set_rights(suite)


def test_dead_letter_of_a_foreign_queue_waits_for_the_right_to_publish(suite):
    suite.consumer("declares").start().stop()
    host = consumer(suite, ", declare: false")
    try:
        lose_the_right_to_dead_letters(suite, host)
        check(host.number("far", "put_later") == 1, "it stays unacknowledged")
    finally:
        set_rights(suite)
    check(suite.engine.dead(suite.queue, 1)[0]["reason"] == "rejected", "the dead letter")
    until_settled(host, 41)
    check_once(host, 41)


def dead_exchange(suite, channel, binds=True):
    name = f"{suite.queue}.dead"
    channel.exchange_declare(name, "direct", durable=True)
    if binds:
        channel.queue_bind(name, name, suite.queue)


def test_dead_letter_without_an_exchange_waits_for_it(suite):
    """With `declare` in the queue, whose arguments keep it there; otherwise unacknowledged."""
    suite.engine.server.control("eval", """
        application:set_env(rabbit, dead_letter_worker_publisher_confirm_timeout, 500).""")
    connection, channel = suite.engine.channel()
    for declares in ("true", "false"):
        host = consumer(suite, f", declare: {declares}")
        host.start()
        channel.exchange_delete(f"{suite.queue}.dead")
        put(suite, "bad", *OTHERS)
        until(lambda: host.number("far", "acknowledged") == 40, "the others", host)
        check("NOT_FOUND - no exchange" in host.read_log(), host.end_of_log())
        until(lambda: host.number("far", "buried") == 1, "the dead one", host)
        check_once(host, 41)
        dead_exchange(suite, channel)
        check(suite.engine.dead(suite.queue, 1)[0]["id"] == "bad-0", "the dead letter")
        until_settled(host, 41)
        check_once(host, 41)
        check(host.stop() in (0, 1), host.end_of_log())
    connection.close()


def test_dead_letter_that_no_queue_takes_waits_for_one(suite):
    suite.consumer("declares").start().stop()
    connection, channel = suite.engine.channel()
    host = consumer(suite, ", declare: false").start()
    channel.queue_unbind(f"{suite.queue}.dead", f"{suite.queue}.dead", suite.queue)
    put(suite, *OTHERS[:20], "bad", "bad", *OTHERS[20:])
    until(lambda: host.number("far", "put_later") == 2 and
          host.number("far", "acknowledged") == 40, "the others", host)
    check("no queue takes messages" in host.read_log(), host.end_of_log())
    dead_exchange(suite, channel)
    check({letter["id"] for letter in suite.engine.dead(suite.queue, 2)} == {"bad-20", "bad-21"},
          "dead letters")
    until_settled(host, 42)
    check_once(host, 42)
    connection.close()


def test_queue_for_retries_that_was_deleted_is_declared_again(suite):
    connection, channel = suite.engine.channel()
    host = consumer(suite).start()
    put(suite, "again")
    until_settled(host, 2)
    channel.queue_delete(f"{suite.queue}.retry.256")
    put(suite, *OTHERS, "again")
    until_settled(host, 44)
    check_once(host, 44)
    connection.close()


# --- connecting ----------------------------------------------------------------------------------

def set_password(suite, password):
    suite.engine.server.control("change_password", "guest", password)


def test_wrong_credentials_refuse_the_start_whether_it_must_connect_or_not(suite):
    queue = suite.queue
    for number, more in enumerate((", must_connect: true", ", must_connect: false")):
        suite.queue = f"{queue}{number}"
        more += ', password: "Mellon7"'
        for host in (publisher(suite, ["1"], f"producer{number}", more), consumer(suite, more)):
            check(host.start(waits=False).wait() == 69, host.end_of_log())
            check("ACCESS_REFUSED" in host.read_log(), host.end_of_log())
            check("Mellon7" not in host.read_log(), "the password is in the log")


def test_credentials_that_are_wrong_for_a_while_lose_nothing(suite):
    """The login concerns no single message: they wait, and each try comes later than the last."""
    suite.engine.survive()
    host = publisher(suite, [f"x {i}" for i in range(10)]).start()
    until(lambda: host.number("far#0", "confirmed") == 10, "all are published", host)
    set_password(suite, "changed")
    try:
        suite.engine.kill()
        suite.engine.restart()
        until(lambda: "ACCESS_REFUSED" in host.read_log(), "the login is refused", host)
        with open(os.path.join(suite.work, "producer.lines"), "a", encoding="utf-8") as stream:
            stream.writelines(f"x {i}\n" for i in range(10, 20))
    finally:
        set_password(suite, "guest")
    until(lambda: host.number("far#0", "confirmed") == 20, "the others", host)
    check(host.number("far#0", "rejected") == 0, host.items("far#0"))
    check(host.stop() == 0, host.end_of_log())


def test_queue_that_is_declared_otherwise_meanwhile_is_named_and_not_hammered(suite):
    host = consumer(suite).start()
    connection, channel = suite.engine.channel()
    host.freeze()
    channel.queue_delete(suite.queue)
    channel.queue_declare(suite.queue, durable=True, arguments={"x-max-length": 5})
    host.thaw()
    until(lambda: host.read_log().count("at the server") > 3, "it is named", host)
    check(host.number("far", "lost_connections") == 1, host.items("far"))
    waits = [int(wait) for wait in re.findall(r"trying again.*in_ms=(\d+)", host.read_log())]
    check(all(wait >= 50 << number for number, wait in enumerate(waits[:3])), waits)
    channel.queue_delete(suite.queue)
    until(lambda: host.items("far")["connection"] == "up", "it is good again", host)
    check(host.stop() == 0, host.end_of_log())
    connection.close()


def test_end_waits_for_no_dead_letter_that_is_refused(suite):
    suite.consumer("declares").start().stop()
    host = consumer(suite, ", declare: false")
    try:
        lose_the_right_to_dead_letters(suite, host)
        check(host.stop() in (0, 1), host.end_of_log())
    finally:
        set_rights(suite)
    host.start()
    check(suite.engine.dead(suite.queue, 1)[0]["reason"] == "rejected", "the dead letter")


def test_end_waits_for_no_server_that_is_stopped(suite):
    suite.engine.extra = ", heartbeat: 60s, new_queue: 0s, timeout: 10m"
    for host in (publisher(suite, ["1"]), consumer(suite)):
        host.start()
        unit = "far#0" if host.name == "producer" else "far"
        until(lambda host=host, unit=unit: host.items(unit)["connection"] == "up", "it is up", host)
        if host.name == "producer":
            until(lambda host=host: host.number("far#0", "confirmed") == 1, "published", host)
        suite.engine.server.freeze()
        try:
            check(host.stop() == 0, host.end_of_log())
        finally:
            suite.engine.server.thaw()


def end_without_server(suite, producer):
    until(lambda: int(producer.items("far#0")["unconfirmed"]) > 0 or
          int(producer.items("far#0")["queued"]) > 10, "some wait", producer)
    check(producer.stop() == 75, producer.end_of_log())
    log = producer.read_log()
    check('event="gives up what it waits with"' in log and "did not end in time" not in log and
          "misuses=1" not in log, producer.end_of_log())


def test_end_of_a_publisher_waits_for_no_server(suite):
    suite.engine.extra = ", heartbeat: 60s, new_queue: 0s, timeout: 10m"
    text = f"""
sources: {{numbers: {{use: gen.forever, rate: 500/s, to: far}}}}
pools: {{far: {{size: 1, {suite.engine.publish(suite.queue)}}}}}
"""
    server = suite.engine.server
    frozen = suite.host("frozen", text).start()
    until(lambda: frozen.number("far#0", "confirmed") > 50, "some are confirmed", frozen)
    server.freeze()
    try:
        end_without_server(suite, frozen)
    finally:
        server.thaw()
    blocked = suite.host("blocked", text).start()
    until(lambda: blocked.number("far#0", "confirmed") > 50, "some are confirmed", blocked)
    server.control("set_vm_memory_high_watermark", "absolute", "1")
    try:
        until(lambda: blocked.items("far#0")["connection"] == "blocked", "it is told", blocked)
        end_without_server(suite, blocked)
    finally:
        server.control("set_vm_memory_high_watermark", "0.4")


TESTS = [
    test_message_that_is_too_large_is_dead_and_the_others_come_once,
    test_message_without_the_right_to_publish_is_dead,
    test_culprit_among_unconfirmed_messages_is_found,
    test_back_off_grows_until_something_succeeds,
    test_retry_that_the_server_refuses_is_a_dead_letter,
    test_retry_whose_queue_cannot_be_declared_is_a_dead_letter,
    test_retry_without_the_right_to_declare_its_queue_is_a_dead_letter,
    test_dead_letter_without_the_right_to_publish_is_made_by_the_queue,
    test_dead_letter_of_a_foreign_queue_waits_for_the_right_to_publish,
    test_dead_letter_without_an_exchange_waits_for_it,
    test_dead_letter_that_no_queue_takes_waits_for_one,
    test_queue_for_retries_that_was_deleted_is_declared_again,
    test_wrong_credentials_refuse_the_start_whether_it_must_connect_or_not,
    test_credentials_that_are_wrong_for_a_while_lose_nothing,
    test_queue_that_is_declared_otherwise_meanwhile_is_named_and_not_hammered,
    test_end_waits_for_no_dead_letter_that_is_refused,
    test_end_waits_for_no_server_that_is_stopped,
    test_end_of_a_publisher_waits_for_no_server,
]
