#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rows of `weir run`, as a program of row.h: sources of numbers to one pool of workers.

    weir_run.py WEIR PLUGINS LOAD_PLUGINS ROW THREADS SENDERS RECEIVERS EACH LIMIT STEPS

The figure is the time beyond that of a run with one message a source: the start and the end of the
program are no part of the row. Their times vary, so a run has so many messages that it takes
several times as long. On the small counts of a test only the result counts.
"""
import os
import subprocess
import sys
import tempfile
import time

UNKNOWN = 3
EACH_MEASURED = 1000    # with fewer messages the time does not count
EACH_MAX = 10_000_000
START_TIMES = 5         # a run takes so many times as long as start and end


def configuration(folders, threads, senders, receivers, each, limit, steps):
    source = f"{{use: gen.numbers, to: work, args: {{count: {each}}}}}"
    return "\n".join([
        "version: 1",
        f"host: {{plugins: {list(folders)}}}",
        f"dispatchers: {{default: {{threads: {threads}}}}}",
        "sources:", *(f"  numbers{number}: {source}" for number in range(senders)),
        f"pools: {{work: {{use: load.work, size: {receivers}, mailbox: {limit}, "
        f"args: {{steps: {steps}}}}}}}", ""])


def run_ns(weir, work, text):
    path = os.path.join(work, "weir.yaml")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
    start = time.monotonic_ns()
    done = subprocess.run([weir, "run", path], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"weir run ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return time.monotonic_ns() - start


def main():
    weir, *folders = sys.argv[1:4]
    if sys.argv[4] not in ("run0", "run1us"):
        sys.exit(UNKNOWN)
    threads, senders, receivers, each, limit, steps = (int(text) for text in sys.argv[5:11])
    with tempfile.TemporaryDirectory() as work:
        def run(count):
            return run_ns(weir, work, configuration(folders, threads, senders, receivers, count,
                                                    limit, steps))
        few, many = run(1), run(each)
        while each >= EACH_MEASURED and many < START_TIMES * few and each < EACH_MAX:
            each *= 4
            few, many = min(few, run(1)), run(each)
    # The host ends with 0 only when each message was done.
    print(f"RESULT messages={senders * each} ns={max(many - few, 1)} ok=1")


main()
