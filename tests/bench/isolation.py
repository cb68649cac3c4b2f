#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./dev bench isolation: what `isolation: process` costs. Each row runs the same messages through
one worker on a thread and in a process, by turns, and prints the time of a message in each, their
ratio, and the goal. Then the start of a worker's process beside that of a program that ends at
once. Fails when a message is missing, never by the clock.

    isolation.py WEIR PLUGINS BENCH_PLUGINS [--rounds N] [--divide N]
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

# The name, steps of work with each message (900 take about 1 us), messages on a thread and in a
# process, the goal of the ratio. They take about two seconds each.
ROWS = (
    ("no work", 0, (10000000, 60000), 8.0),
    ("1 us", 900, (1500000, 60000), 1.6),
    ("10 us", 9000, (200000, 50000), 1.1),
    ("1 ms", 900000, (2000, 2000), 1.1),
)
WORKERS, START_GOAL = 50, 5.0
FILE = """version: 1
host: {{plugins: ["{plugins}", "{bench}"], log: {{level: info}}}}
sources: {{numbers: {{use: gen.numbers, to: work, args: {{count: {count}}}}}}}
pools: {{work: {{use: load.work, size: {size}, isolation: {isolation}, args: {{steps: {steps}}}}}}}
"""


def seconds(options, work, **keys):
    file = os.path.join(work, "weir.yaml")
    with open(file, "w", encoding="ascii") as stream:
        stream.write(FILE.format(plugins=options.plugins, bench=options.bench_plugins, **keys))
    begun = time.monotonic()
    done = subprocess.run([options.weir, "run", file], capture_output=True, text=True, check=False)
    took = time.monotonic() - begun
    found = re.search(r'component=work event="ledger" accepted=\d+ done=(\d+)', done.stderr)
    if done.returncode != 0 or not found or int(found[1]) != keys["count"]:
        sys.exit(f"isolation: exit code {done.returncode}: {done.stderr}")
    return took


def message_us(options, work, steps, count, isolation):
    """Without the start and the end of the host."""
    keys = {"steps": steps, "size": 1, "isolation": isolation}
    return (seconds(options, work, count=count, **keys) -
            seconds(options, work, count=1, **keys)) * 1e6 / count


def measure(options, work, row):
    name, steps, counts, goal = row
    pairs = [[message_us(options, work, steps, max(100, count // options.divide), isolation)
              for count, isolation in zip(counts, ("thread", "process"))]
             for _ in range(options.rounds)]
    thread, process = (statistics.median(column) for column in zip(*pairs))
    ratio = statistics.median(pair[1] / pair[0] for pair in pairs)
    print(f"{name:10} {thread:10.2f} us {process:10.2f} us {ratio:8.2f} times, goal {goal}: "
          f"{'met' if 0 < ratio <= goal else 'missed'}", flush=True)


def start_ms(options, work):
    keys = {"steps": 0, "count": 1, "isolation": "process"}
    return (seconds(options, work, size=1 + WORKERS, **keys) -
            seconds(options, work, size=1, **keys)) * 1e3 / WORKERS


def spawn_ms():
    begun = time.monotonic()
    for _ in range(WORKERS):
        os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
    return (time.monotonic() - begun) * 1e3 / WORKERS


def main():
    parser = argparse.ArgumentParser()
    for name in ("weir", "plugins", "bench_plugins"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--divide", type=int, default=1)
    options = parser.parse_args()
    print(f"{'':10} {'thread':>13} {'process':>13}")
    with tempfile.TemporaryDirectory() as work:
        for row in ROWS:
            measure(options, work, row)
        pairs = [(spawn_ms(), start_ms(options, work)) for _ in range(options.rounds)]
    spawn, start = (statistics.median(column) for column in zip(*pairs))
    ratio = statistics.median(pair[1] / pair[0] for pair in pairs)
    print(f"start: {start:.2f} ms for each worker, {spawn:.2f} ms for a program that ends at once: "
          f"{ratio:.2f} times, goal {START_GOAL}: {'met' if ratio <= START_GOAL else 'missed'}")


main()
