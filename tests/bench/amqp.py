#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./dev bench amqp: pieces from one producer through a queue of RabbitMQ to two consumers: Weir
hosts, and by turns a plain loop in C on the same library with the same windows. A round lasts from
the start of the producer to the last acknowledgement. Prints the median of each and their ratio.
Fails when a piece is missing, never by the clock.

    amqp.py BUILD PLAIN [--count N] [--rounds N] [--window N]
"""
import argparse
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "servers"))

from hosts import Host, check, until  # noqa: E402
from rabbitmq import Server  # noqa: E402

ARGS = 'args: {{servers: ["{address}"], queue: bench, limit: 1000000, window: {window}}}'


class Weir:
    name = "two Weir hosts"

    def __init__(self, options, work, server):
        args = ARGS.format(address=server.address, window=options.window)
        self.producer = Host(options.build, work, "producer", f"""
sources: {{numbers: {{use: gen.numbers, args: {{count: {options.count}}}, to: far}}}}
pools: {{far: {{size: 1, use: amqp.publish, {args}}}}}
""")
        self.consumers = [Host(options.build, work, f"consumer{i}", f"""
sources: {{far: {{use: amqp.consume, {args}, to: work}}}}
pools: {{work: {{use: sink.null, size: 2}}}}
""") for i in range(2)]

    def start_consumers(self):
        for host in self.consumers:
            host.start()

    def start_producer(self):
        self.producer.start(waits=False)

    def count(self):
        return sum(host.number("far", "acknowledged") for host in self.consumers)

    def finish(self):
        check(self.producer.wait() == 0, self.producer.end_of_log())
        for host in self.consumers:
            check(host.stop() == 0, host.end_of_log())


class Plain:
    name = "plain C"

    def __init__(self, options, work, server):
        self.words = [os.path.abspath(options.plain)]
        self.options, self.port = options, str(server.port)
        self.files = [os.path.join(work, f"count{i}") for i in range(2)]
        self.consumers, self.producer = [], None

    def start(self, how, what):
        return subprocess.Popen(["setpriv", "--pdeathsig=KILL", *self.words, how, self.port,
                                 "bench", what, str(self.options.window)],
                                stdout=subprocess.DEVNULL)

    def start_consumers(self):
        self.consumers = [self.start("consume", path) for path in self.files]
        until(lambda: all(os.path.exists(path) for path in self.files), "they connect")

    def start_producer(self):
        self.producer = self.start("publish", str(self.options.count))

    def count(self):
        total = 0
        for path in self.files:
            with open(path, "rb") as stream:
                total += struct.unpack("Q", stream.read(8))[0]
        return total

    def finish(self):
        check(self.producer.wait() == 0, "the plain producer failed")
        for process in self.consumers:
            check(process.poll() is None, "a plain consumer failed")
            process.kill()
            process.wait()


def wait_for_all(row, count, began):
    """Reads the count seldom, since a reading costs the hosts time, and often only at the end."""
    done = 0
    while done < count:
        taken = time.monotonic() - began
        left = (count - done) * taken / done if done else 1
        time.sleep(min(0.5, max(0.02, left / 2)))  # between two looks at the count
        done = row.count()


def measure(options, make, folder, server):
    with tempfile.TemporaryDirectory(dir=folder) as work:
        row = make(options, work, server)
        row.start_consumers()
        began = time.monotonic()
        row.start_producer()
        wait_for_all(row, options.count, began)
        took = time.monotonic() - began
        check(row.count() == options.count, f"{row.name}: {row.count()} pieces")
        row.finish()
    return took


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("plain")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--window", type=int, default=100)
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    times = {Weir: [], Plain: []}
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        with Server(os.path.join(folder, "server")) as server:
            for _ in range(options.rounds):
                for make, taken in times.items():
                    taken.append(measure(options, make, folder, server))
    print(f"{options.count} pieces of 8 bytes, window {options.window}, {options.rounds} rounds by "
          "turns\n\n| | s | pieces/s |\n|---|---|---|")
    for make, taken in times.items():
        median = statistics.median(taken)
        print(f"| {make.name} | {median:.2f} | {options.count / median:.0f} |")
    ratio = statistics.median(times[Plain]) / statistics.median(times[Weir])
    print(f"\nWeir has {ratio:.2f} of the throughput of the plain loop; goal: at least 0.8")


main()
