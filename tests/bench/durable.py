#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./dev bench queue: pieces that a power failure does not lose, put into a queue with 10, 100 and
1,000 in flight, and put, taken and removed, by Weir hosts with `queue` and by clients in C of
beanstalkd, Redis, PostgreSQL, RabbitMQ and Gearman. All servers are started here, on one disk, and
sync before they answer. A put alone is compared with syncs of a block that is written again. Rows
are measured by turns. Time begins when a Weir host has started, and reads its first line, or when a
client is connected. Fails when a piece is missing, never by the clock.

    durable.py BUILD PEER SQL AMQP [--rounds N] [--seconds S] [--peers NAME,...] [--folder DIR]
"""
import argparse
import json
import os
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "servers"))

import postgres  # noqa: E402
import rabbitmq  # noqa: E402
from hosts import Host, check, until  # noqa: E402

FIRST = 200         # pieces of the run that finds out how fast a row is
CYCLE_WINDOW = 100
SYNC_COUNT = 2000   # of the row of one put
GOALS = {"put 10": 0.7, "put 100": 0.7, "put 1000": 0.9, "put, take and remove": 2.0}
SYNC_GOAL = 1.6


class Client:
    """A program that says when it is connected and begins, and when it has ended."""

    def __init__(self, words):
        self.process = subprocess.Popen(["setpriv", "--pdeathsig=KILL", *words],
                                        stdout=subprocess.PIPE, text=True)
        self.began = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"FAIL: {self.process.args}: {self.process.wait()}")
        return float(line)

    def wait(self):
        """When it has ended."""
        ended = self.read()
        self.process.communicate()
        return ended


def run(words):
    """Seconds."""
    client = Client(words)
    return client.wait() - client.began


def run_both(put, take):
    """Seconds from the first put until all is taken."""
    taker = Client(take)
    putter = Client(put)
    putter.wait()
    return taker.wait() - putter.began


def wait_for_port(port, process):
    def answers():
        check(process.poll() is None, f"a server ended with {process.returncode}")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    until(answers, f"port {port}")


def wait_for_all(count_now, count, began):
    """Reads the count seldom, since that costs the others time, and often only at the end."""
    done = 0
    while done < count:
        taken = time.monotonic() - began
        left = (count - done) * taken / done if done else 1
        time.sleep(min(0.25, max(0.01, left / 2)))  # between two looks at the count
        done = count_now()
    check(done == count, f"{done} pieces, not {count}")


class Weir:
    name = "Weir"

    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def work(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(path)
        return path

    def start(self, work, window, more_sources="", more_pools=""):
        """A host that has started, and reads lines."""
        queue = f'file: "{work}/jobs", queue: q'
        host = Host(self.options.build, work, "host", f"""
sources:
  lines: {{use: stdin.lines, to: in}}
{more_sources.format(queue=queue)}
pools:
  in: {{use: queue.put, size: 1, mailbox: {max(window, 64)},
       args: {{{queue}, window: {window}, limit: 1000000000, min_free: 0}}}}
{more_pools}
""")
        with open(host.log, "a", encoding="utf-8") as log:
            host.process = subprocess.Popen(["setpriv", "--pdeathsig=KILL", host.weir, "run",
                                             host.file], stdin=subprocess.PIPE, stdout=log,
                                            stderr=log)
        until(lambda: 'event="started"' in host.read_log(), "a start", host)
        return host

    @staticmethod
    def give(host, count):
        """Returns when it begins."""
        lines = b"".join(b"%08d\n" % number for number in range(count))
        began = time.monotonic()
        host.process.stdin.write(lines)
        host.process.stdin.close()
        return began

    def put(self, name, count, window):
        work = self.work(name)
        host = self.start(work, window)
        began = self.give(host, count)
        check(host.wait() == 0, host.end_of_log())
        took = time.monotonic() - began
        done = subprocess.run([host.weir, "queue", "-p", f"{self.options.build}/plugins",
                               f"{work}/jobs", "stats", "-o", "json"], capture_output=True,
                              text=True, check=True)
        check(json.loads(done.stdout)["queues"][0]["pieces"] == count, done.stdout)
        shutil.rmtree(work)
        return took

    def cycle(self, name, count, window):
        work = self.work(name)
        host = self.start(work, window, "  take: {{use: queue.take, args: {{{queue}, window: "
                         f"{window}}}}}, to: done}}}}", "  done: {use: sink.null, size: 1}")
        began = self.give(host, count)
        wait_for_all(lambda: host.number("take", "removed"), count, began)
        took = time.monotonic() - began
        check(host.stop() == 0, host.end_of_log())
        shutil.rmtree(work)
        return took


class Lines:
    """A server of peer.c."""

    def __init__(self, options, folder):
        self.options = options
        self.port = rabbitmq.free_port()
        os.makedirs(folder)
        with open(os.path.join(folder, "log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig=KILL", *self.command(str(self.port), folder)], stdout=log,
                stderr=log, stdin=subprocess.DEVNULL, cwd=folder)
        wait_for_port(self.port, self.process)

    def command(self, port, folder):
        raise NotImplementedError

    def client(self, verb, name, count, window):
        return [self.options.peer, self.name, verb, str(self.port), name, str(count), str(window)]

    def put(self, name, count, window):
        return run(self.client("put", name, count, window))

    def cycle(self, name, count, window):
        return run_both(self.client("put", name, count, window),
                        self.client("take", name, count, window))

    def stop(self):
        self.process.kill()
        self.process.wait()


class Beanstalkd(Lines):
    name = "beanstalkd"
    shown = "beanstalkd `-b -f0`"

    def command(self, port, folder):
        return ["beanstalkd", "-l", "127.0.0.1", "-p", port, "-b", folder, "-f0"]


class Redis(Lines):
    name = "redis"
    shown = "Redis `appendfsync always`"

    def command(self, port, folder):
        return ["redis-server", "--bind", "127.0.0.1", "--port", port, "--dir", folder, "--save",
                "", "--appendonly", "yes", "--appendfsync", "always"]


class Gearman(Lines):
    name = "gearman"
    shown = "Gearman `-q libsqlite3`"

    def command(self, port, folder):
        return ["gearmand", "--listen", "127.0.0.1", "--port", port, "-q", "libsqlite3",
                f"--libsqlite3-db={folder}/jobs", "-l", "stderr"]


class PostgreSQL:
    name = "postgresql"
    shown = "PostgreSQL `SKIP LOCKED`"

    def __init__(self, options, folder):
        self.options = options
        self.server = postgres.Server(folder, "fsync = on\nlog_statement = none\n"
                                      "max_connections = 128\n")
        self.server.start()

    def client(self, verb, name, count, window):
        return [self.options.sql, verb, self.server.folder, name, str(count), str(window)]

    def make(self, name):
        self.server.execute(f"CREATE TABLE {name}(id bigserial PRIMARY KEY, body text)")

    def put(self, name, count, window):
        self.make(name)
        return run(self.client("put", name, count, window))

    def cycle(self, name, count, window):
        self.make(name)
        return run_both(self.client("put", name, count, window),
                        self.client("take", name, count, window))

    def stop(self):
        self.server.stop(signal.SIGQUIT)


class RabbitMQ:
    name = "rabbitmq"
    shown = "RabbitMQ, quorum queue"

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.server = rabbitmq.Server(folder)
        self.server.start()

    def client(self, verb, name, what, window):
        return [self.options.amqp, verb, str(self.server.port), name, str(what), str(window)]

    def channel(self):
        import pika  # of Debian's Python, and only where the server is
        connection = pika.BlockingConnection(pika.URLParameters(self.server.address))
        return connection, connection.channel()

    def make(self, name):
        connection, channel = self.channel()
        channel.queue_declare(name, durable=True, arguments={"x-queue-type": "quorum"})
        connection.close()

    def remove(self, name):
        connection, channel = self.channel()
        channel.queue_delete(name)
        connection.close()

    def put(self, name, count, window):
        self.make(name)
        took = run(self.client("publish", name, count, window))
        self.remove(name)
        return took

    def cycle(self, name, count, window):
        path = os.path.join(self.folder, name)
        self.make(name)

        def removed():
            with open(path, "rb") as stream:
                return struct.unpack("Q", stream.read(8))[0]

        with subprocess.Popen(["setpriv", "--pdeathsig=KILL",
                               *self.client("consume", name, path, window)]) as taker:
            until(lambda: os.path.exists(path) and os.path.getsize(path) == 8, "a consumer")
            putter = Client(self.client("publish", name, count, window))
            putter.wait()
            wait_for_all(removed, count, putter.began)
            took = time.monotonic() - putter.began
            taker.kill()
        self.remove(name)
        return took

    def stop(self):
        self.server.kill()


PEERS = (Beanstalkd, Redis, PostgreSQL, RabbitMQ, Gearman)


class Row:
    """How often each program is measured, and what it took for a piece."""

    def __init__(self, name, measure, seconds):
        self.name, self.measure, self.seconds = name, measure, seconds
        self.counts, self.rates = {}, {}

    def find_count(self, program, number):
        """Pieces of about `seconds`: what is faster than thought takes more."""
        count, took = FIRST, self.measure(program, f"first{number}", FIRST)
        while took < self.seconds / 3:
            count *= 4
            took = self.measure(program, f"first{number}n{count}", count)
        return int(count / took * self.seconds)

    def turn(self, program, number):
        if program not in self.counts:
            self.counts[program] = self.find_count(program, number)
        count = self.counts[program]
        took = self.measure(program, f"run{number}", count)
        while took < self.seconds / 2:  # the disk was slow when the number was found
            count *= 2
            took = self.measure(program, f"run{number}n{count}", count)
        self.counts[program] = count
        self.rates.setdefault(program, []).append(count / took)

    def median(self, program):
        return statistics.median(self.rates[program])


def sync_us(folder, count):
    """Microseconds of a sync of a block of 4 KiB that is written again."""
    path = os.path.join(folder, "block")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.pwrite(descriptor, b"x" * 4096, 0)
    os.fsync(descriptor)
    began = time.monotonic()
    for number in range(count):
        os.pwrite(descriptor, b"%04096d" % number, 0)
        os.fdatasync(descriptor)
    took = time.monotonic() - began
    os.close(descriptor)
    os.unlink(path)
    return took / count * 1e6


def verdict(is_reached):
    return "✓" if is_reached else "**no**"


def print_rows(rows, weir, peers, rounds, seconds):
    print(f"pieces/s, medians of {rounds} rounds of about {seconds} s by turns\n")
    names = ["Weir", *(peer.shown for peer in peers), "Weir / best", "goal"]
    print("| row | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    for row in rows:
        best = max(row.median(peer) for peer in peers) if peers else float("nan")
        ratio, goal = row.median(weir) / best, GOALS[row.name]
        figures = " | ".join(f"{row.median(program):,.0f}" for program in (weir, *peers))
        print(f"| {row.name} | {figures} | {ratio:.2f} | {goal} {verdict(ratio >= goal)} |")


def measure_all(options, folder, weir, peers):
    seconds = options.seconds
    rows = [Row(f"put {window}", lambda program, name, count, window=window:
                program.put(name, count, window), seconds) for window in (10, 100, 1000)]
    rows.append(Row("put, take and remove", lambda program, name, count:
                    program.cycle(name, count, CYCLE_WINDOW), 3 * seconds))  # its end is polled
    ratios, number = [], 0
    for _ in range(options.rounds):
        for row in rows:
            for program in (weir, *peers):
                number += 1
                row.turn(program, number)
        number += 1
        before = sync_us(folder, options.syncs)
        put = weir.put(f"one{number}", options.syncs, 1) / options.syncs * 1e6
        ratios.append((put, (before + sync_us(folder, options.syncs)) / 2))
    print_rows(rows, weir, peers, options.rounds, seconds)
    put, sync = (statistics.median(column) for column in zip(*ratios))
    ratio = statistics.median(put / sync for put, sync in ratios)
    print(f"\none put {put:.0f} us, a sync of a block of 4 KiB that is written again {sync:.0f} us:"
          f" {ratio:.2f}; goal: at most {SYNC_GOAL} {verdict(ratio <= SYNC_GOAL)}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("build", "peer", "sql", "amqp"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--syncs", type=int, default=SYNC_COUNT)
    parser.add_argument("--peers", default=",".join(peer.name for peer in PEERS))
    parser.add_argument("--folder", help="on the disk that is measured; not in memory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        os.chmod(folder, 0o755)
        peers = []
        try:
            for peer in PEERS:
                if peer.name in options.peers.split(","):
                    peers.append(peer(options, os.path.join(folder, peer.name)))
            measure_all(options, folder, Weir(options, folder), peers)
        finally:
            for peer in peers:
                peer.stop()


main()
