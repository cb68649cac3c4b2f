#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   work crosses hosts through RabbitMQ: the conformance suite of engines, and what is
        RabbitMQ's own: arguments that differ, credentials, TLS, priorities, layouts, and the
        consumer time-out. The long form adds 100,000 pieces while hosts and the server are killed,
        and a cluster that loses one of three.
Method: servers of the test's own, killed with -9, and Weir hosts that are killed and stopped.
        Numbered pieces are written down by the workers. Another client, pika, reads and writes
        beside them.

    amqp.py BUILD [--long] [--seed N] [--only WORD]
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import pika  # noqa: E402

import amqp_jobs  # noqa: E402
import amqp_pieces  # noqa: E402
import amqp_refusals  # noqa: E402
import conformance  # noqa: E402
from hosts import check, until  # noqa: E402
from rabbitmq import Cluster, Server, other_user  # noqa: E402


class RabbitMQ:
    """The engine of the conformance suite."""

    def __init__(self, server, addresses=None):
        self.server = server
        self.addresses = addresses or [server.address]
        self.connection = f", heartbeat: {conformance.HEARTBEAT_S}s, backoff_max: 500ms"
        self.extra = self.connection + ", new_queue: 0s"  # tests that kill a server wait instead

    def args(self, queue, limit, more=""):
        servers = ", ".join(f'"{address}"' for address in self.addresses)
        return f"args: {{servers: [{servers}], queue: {queue}, limit: {limit}{self.extra}{more}}}"

    def publish(self, queue, limit=10000, more=""):
        return f"use: amqp.publish, {self.args(queue, limit, more)}"

    def consume(self, queue, limit=10000, more=""):
        return f"use: amqp.consume, {self.args(queue, limit, more)}"

    def survive(self):
        """From here on, queues are to survive the death of the server."""
        self.extra = self.connection

    def kill(self):
        self.server.kill()

    def restart(self):
        self.server.start()

    def channel(self):
        connection = pika.BlockingConnection(pika.URLParameters(self.addresses[0]))
        return connection, connection.channel()

    def dead(self, queue, count):
        connection, channel = self.channel()
        letters = []
        while len(letters) < count:
            method, properties, body = channel.basic_get(f"{queue}.dead", auto_ack=True)
            if method:
                headers = properties.headers
                letters.append({"reason": headers.get("weir-reason"), "headers": headers,
                                "detail": headers.get("weir-detail"), "body": body,
                                "id": properties.message_id})
        connection.close()
        return letters


# --- RabbitMQ's own ------------------------------------------------------------------------------

def test_argument_that_differs_is_named(suite):
    first = suite.consumer("first", limit=500).start()
    second = suite.consumer("second", limit=700).start(waits=False)
    check(second.wait() != 0, "it starts")
    check("x-max-length: 700 here, 500 at the server" in second.read_log(), second.end_of_log())
    connection, channel = suite.engine.channel()
    channel.queue_declare(f"{suite.queue}2", durable=True)
    suite.queue += "2"
    third = suite.consumer("third").start(waits=False)
    check(third.wait() != 0, "it starts with a classic queue")
    check("here, " in third.read_log() and "at the server" in third.read_log(), third.end_of_log())
    suite.engine.extra += f", declare: false, dead_letters: {suite.queue[:-1]}.dead"
    fourth = suite.consumer("fourth").start()
    channel.basic_publish("", suite.queue, b"7")
    until(lambda: fourth.number("far", "received") == 1, "a foreign piece", first, fourth)
    connection.close()


def test_wrong_password_is_refused_and_not_reported(suite):
    suite.engine.extra += ', user: guest, password: "Mellon7"'
    host = suite.consumer("host").start(waits=False)
    check(host.wait() != 0, "it starts")
    check("ACCESS_REFUSED" in host.read_log(), host.end_of_log())
    check("Mellon7" not in host.read_log(), "the password is in the log")


def test_foreign_and_mismatched_pieces(suite):
    host = suite.host("host", f"""
sources:
  far: {{{suite.engine.consume(suite.queue, more=', tags: ["amqp.bytes/1", "a/2"]')}, to: work}}
pools: {{work: {{use: exec.run, size: 1, args: {{shell: true,
         command: ['echo "$WEIR_TAG $WEIR_KEY $WEIR_ATTEMPT $(cat)" >>"$1"',
                   "{suite.work}/got"]}}}}}}
""").start()
    connection, channel = suite.engine.channel()

    def publish(body, identity, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        channel.basic_publish("", suite.queue, body,
                              pika.BasicProperties(message_id=identity, headers=headers))

    publish(b"plain", None)
    publish(b"tagged", "two", weir_tag="a/2", weir_layout="little-64", weir_key=5, weir_attempt=4)
    publish(b"other layout", "three", weir_tag="a/2", weir_layout="big-32")
    publish(b"other version", "four", weir_tag="a/1", weir_layout="little-64")
    letters = {letter["id"]: letter for letter in suite.engine.dead(suite.queue, 2)}
    check(set(letters) == {"three", "four"}, letters)
    check(letters["three"]["reason"] == "mismatch" and
          letters["three"]["detail"] == "layout big-32, here little-64", letters)
    check("tag a/1" in letters["four"]["detail"], letters)
    path = os.path.join(suite.work, "got")
    until(lambda: os.path.exists(path) and len(open(path, encoding="utf-8").readlines()) == 2,
          "both are handled", host)
    with open(path, encoding="utf-8") as stream:
        check(stream.read() == "amqp.bytes/1 0 1 plain\na/2 5 4 tagged\n", "what workers got")
    connection.close()


def test_priority_is_a_queue_of_its_own(suite):
    urgent = suite.queue + "_urgent"
    queue = suite.queue
    check(suite.producer(300, name="slow").start(waits=False).wait() == 0, "the producer ends")
    suite.queue = urgent
    check(suite.producer(100, first=1000, name="fast").start(waits=False).wait() == 0, "the other")
    suite.queue = queue
    host = suite.host("host", f"""
sources:
  far: {{{suite.engine.consume(queue, more=f", before: [{urgent}], window: 20")}, to: work}}
pools: {{work: {{use: sink.record, size: 1, args: {{path: "{suite.work}/out/all.txt", batch: 1}}}}}}
""").start()
    suite.until_some(400, host)
    with open(os.path.join(suite.work, "out", "all.txt"), encoding="utf-8") as stream:
        order = [int(line) for line in stream]
    before = order[:order.index(1099)]
    check(len([n for n in before if n < 1000]) <= 150, f"{len(before)} pieces came before it")


def make_certificates(folder):
    """A signer, a server's certificate for localhost, and another signer."""
    def openssl(*words):
        done = subprocess.run(["openssl", *words], cwd=folder, capture_output=True, text=True,
                              check=False)
        check(done.returncode == 0, done.stderr)
    for name in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2", "-subj",
                f"/CN={name}")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    with open(os.path.join(folder, "names"), "w", encoding="utf-8") as stream:
        stream.write("subjectAltName=DNS:localhost\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2",
            "-out", "server.pem", "-extfile", "names")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            "guest.key", "-out", "guest.csr", "-subj", "/CN=guest")
    openssl("x509", "-req", "-in", "guest.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2",
            "-out", "guest.pem")
    _, user, group = other_user()
    for name in os.listdir(folder):
        os.chown(os.path.join(folder, name), user, group)


def test_tls_with_credentials(suite):
    engine = suite.engine
    tls = f"amqps://localhost:{engine.server.tls_port}"
    secret = os.path.join(suite.work, "secret")
    with open(secret, "w", encoding="utf-8") as stream:
        stream.write("guest\n")
    extra, engine.addresses = engine.extra, [tls]
    engine.extra = extra + f', ca: "{suite.root}/tls/ca.pem", password: "${{file:{secret}}}"'
    worker = suite.consumer("worker").start()
    check(suite.producer(200).start(waits=False).wait() == 0, "the producer ends")
    suite.until_all(200, worker)
    engine.extra = extra + f', ca: "{suite.root}/tls/other.pem"'
    wrong = suite.consumer("wrong").start(waits=False)
    engine.addresses = [tls.replace("localhost", "127.0.0.1")]
    engine.extra = extra + f', ca: "{suite.root}/tls/ca.pem"'
    named = suite.consumer("named").start(waits=False)
    check(wrong.wait() != 0 and "verif" in wrong.read_log(), wrong.end_of_log())
    check(named.wait() != 0 and "verif" in named.read_log(), named.end_of_log())


def test_status_and_metrics_show_the_queue(suite):
    check(suite.producer(50).start(waits=False).wait() == 0, "the producer ends")
    suite.engine.extra += ", window: 20"
    host = suite.consumer("host", rate="1/s").start()
    until(lambda: host.number("far", "waiting") > 0, "it has pieces", host)
    items = host.items("far")
    check(items["server"] in suite.engine.addresses[0] and items["connection"] == "up", items)
    for item in ("queue_length", "redelivered", "received", "lost_connections"):
        check(int(items[item]) >= 0, items)

    def units():
        return host.ask("status")["sources"][0]["units"]

    until(lambda: units()["queue_length"] in range(1, 31), "the length of the queue", host)
    shown = units()
    check(shown["connected"] == 1 and 0 < shown["unacknowledged"] <= 20 and
          shown["received"] >= 20 and shown["redelivered"] == 0, shown)
    check(shown["server"] == items["server"], shown)
    check(f"far: server {items['server']}, connected 1, " in host.tell("status"),
          host.tell("status"))
    metrics = host.page("/metrics")
    for unit in ("connected", "queue_length", "unacknowledged", "redelivered"):
        check(f'weir_source_units{{source="far",unit="{unit}"}} ' in metrics, metrics)
    producer = suite.host("publisher", f"""
sources: {{numbers: {{use: gen.numbers, rate: 10/s, args: {{count: 1000}}, to: far}}}}
pools: {{far: {{size: 1, {suite.engine.publish(suite.queue)}}}}}
""").start()
    until(lambda: producer.ask("status", "far")["units"].get("published", 0) > 0, "units", producer)
    check(producer.ask("status", "far")["units"]["server"] == items["server"], "its server")
    check(f"server           {items['server']}\n" in producer.tell("status", "far"),
          producer.tell("status", "far"))
    check('unit="server"' not in producer.page("/metrics"), "a text among the metrics")
    check('weir_pool_units{pool="far",unit="unconfirmed"} ' in producer.page("/metrics"), "metrics")
    host.kill()
    host.start()
    until(lambda: units().get("redelivered", 0) > 0, "pieces of the killed host come again", host)


def test_examples_are_valid(suite):
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/machines")
    with tempfile.TemporaryDirectory() as work:
        password = os.path.join(work, "password")
        with open(password, "w", encoding="ascii") as file:
            file.write("x")
        for name in ("producer", "worker"):
            with open(os.path.join(folder, f"{name}.yaml"), encoding="utf-8") as file:
                text = file.read()
            there = f"/run/credentials/weir@{name}.service/amqp"
            check(there in text, f"{name} has another file")
            with open(os.path.join(work, name), "w", encoding="utf-8") as file:
                file.write(text.replace(there, password))
            done = subprocess.run([os.path.join(suite.build, "bin", "weir"), "check",
                                   os.path.join(work, name)], capture_output=True, text=True,
                                  check=False, env={**os.environ,
                                                    "WEIR_PLUGIN_PATH": f"{suite.build}/plugins"})
            check(done.returncode == 0, done.stderr)


OWN = [
    test_examples_are_valid,
    test_argument_that_differs_is_named,
    test_wrong_password_is_refused_and_not_reported,
    test_foreign_and_mismatched_pieces,
    test_priority_is_a_queue_of_its_own,
    test_tls_with_credentials,
    test_status_and_metrics_show_the_queue,
] + amqp_pieces.TESTS + amqp_refusals.TESTS + amqp_jobs.TESTS


# --- the long form -------------------------------------------------------------------------------

def test_hundred_thousand_pieces_survive_kills(suite):
    count = 100000
    suite.engine.survive()
    hosts = [suite.consumer(f"worker{i}", limit=5000, rate="1500/s").start() for i in range(3)]
    producer = suite.producer(count, limit=5000).start(waits=False)
    until(lambda: producer.process.poll() is not None or
          'event="started"' in producer.read_log(), "the producer starts")
    memory, largest = 0, 0
    while len(suite.handled()) < count:
        done = len(suite.handled())
        victim = suite.random.choice(hosts + [suite.engine])
        until(lambda done=done: len(suite.handled()) >= min(count, done + 5000), "5000 more")
        if producer.process and producer.process.poll() is None:
            memory = memory or producer.memory_kib()
            largest = max(largest, producer.memory_kib())
        victim.kill()
        if victim is suite.engine:
            suite.engine.restart()
        else:
            victim.start()
    check(producer.wait() == 0, "the producer ends")
    check(set(suite.handled()) == set(range(count)), "other numbers than were sent")
    print(f"    {sum(suite.handled().values()) - count} came twice or more; the producer had "
          f"{memory} KiB, at most {largest}")
    check(largest < memory + 4096, "the producer grew")


def test_server_reports_its_consumer_timeout(suite):
    check(suite.producer(1).start(waits=False).wait() == 0, "the producer ends")
    host = suite.host("host", f"""
sources: {{far: {{{suite.engine.consume(suite.queue)}, to: work}}}}
pools: {{work: {{use: exec.run, size: 1, args: {{command: [sleep, "1000"], input: none}}}}}}
""").start()
    until(lambda: host.number("far", "consumer_timeout_ms") == 5000, "the server says it", host)
    check("consumer time-out of 5000 ms" in host.read_log(), host.end_of_log())


LONG = [test_hundred_thousand_pieces_survive_kills]


def run_cluster(suite, folder):
    with Cluster(os.path.join(folder, "cluster")) as cluster:
        suite.engine = RabbitMQ(cluster.servers[0], cluster.addresses)

        def test_cluster_that_loses_one_of_three_loses_nothing(suite):
            suite.engine.survive()
            one = suite.consumer("one", rate="1000/s").start()
            two = suite.consumer("two", rate="1000/s").start()
            producer = suite.producer(10000).start(waits=False)
            for number, server in enumerate(cluster.servers):
                suite.until_some(2000 * (number + 1), one, two)
                server.kill()
                suite.until_some(2000 * (number + 1) + 1000, one, two)
                server.start()
                server.control("await_online_nodes", "3")
            suite.until_all(10000, one, two)
            check(producer.wait() == 0, "the producer ends")

        run_one(suite, test_cluster_that_loses_one_of_three_loses_nothing)


def give_up(*_):
    raise SystemExit("FAIL: this wait has no end")


def run_one(suite, test):
    """A test that fails does not keep the others from running."""
    began = time.monotonic()
    extra, addresses = suite.engine.extra, suite.engine.addresses
    signal.alarm(suite.limit_s)
    how = "passed"
    try:
        suite.run(test)
    except SystemExit as failure:
        how = str(failure)
        suite.failed.append(test.__name__)
    signal.alarm(0)
    suite.engine.extra, suite.engine.addresses = extra, addresses
    if not suite.engine.server.process:
        suite.engine.restart()
    print(f"  {test.__name__}: {time.monotonic() - began:.1f} s: {how}", flush=True)


def tls_settings(folder, port):
    return (f"listeners.ssl.1 = 127.0.0.1:{port}\n"
            f"ssl_options.cacertfile = {folder}/ca.pem\n"
            f"ssl_options.certfile = {folder}/server.pem\n"
            f"ssl_options.keyfile = {folder}/server.key\nssl_options.verify = verify_peer\n"
            "ssl_options.fail_if_no_peer_cert = false\nssl_cert_login_from = common_name\n"
            "auth_mechanisms.1 = PLAIN\nauth_mechanisms.2 = EXTERNAL\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=300, help="seconds, for a wait without an end")
    options = parser.parse_args()
    print(f"amqp: seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        os.makedirs(os.path.join(folder, "tls"))
        make_certificates(os.path.join(folder, "tls"))
        server = Server(os.path.join(folder, "server"))
        server.tls_port = server.spare_port
        server.write("enabled_plugins", "[rabbitmq_auth_mechanism_ssl].\n")
        server.settings = tls_settings(os.path.join(folder, "tls"), server.tls_port)
        suite = conformance.Suite(os.path.abspath(options.build), folder, RabbitMQ(server),
                                  options.long)
        suite.random = random.Random(options.seed)
        suite.failed, suite.limit_s = [], options.limit
        signal.signal(signal.SIGALRM, give_up)
        began = time.monotonic()
        with server:
            print(f"  the server is up after {time.monotonic() - began:.1f} s", flush=True)
            for test in conformance.TESTS + OWN + (LONG if options.long else []):
                if options.only in test.__name__:
                    run_one(suite, test)
        if options.long and options.only in "consumer_timeout":
            server = Server(os.path.join(folder, "hasty"), "hasty", "consumer_timeout = 5000\n")
            server.environment["RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS"] += \
                " -rabbit channel_tick_interval 1000"
            with server:
                suite.engine = RabbitMQ(server)
                run_one(suite, test_server_reports_its_consumer_timeout)
        if options.long and options.only in "cluster":
            run_cluster(suite, folder)
    check(not suite.failed, f"amqp: {', '.join(suite.failed)}")
    print("amqp: passed")


main()
