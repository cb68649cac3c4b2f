#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./dev bench threads: rows of rows.py with more threads than the machine has CPUs, each beside the
same row with one thread on one CPU, and with a thread for each CPU: with too many threads nothing
may collapse. Prints ns a message (an actor), and the ratio to a thread for each CPU. Fails when a
result is wrong, never by the clock.

    threads.py BENCH [--rounds N] [--divide N] [--threads N,N,...] [ROW...]
"""
import argparse
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers
import rows as definition

THREADS = (1, 2, 4, 8, 16)
ROWS = ("pingpong", "ring", "request", "count", "fjthrput", "contend", "big", "pool0", "pool0wait",
        "pool1us", "pool1uswait", "fjcreate", "skynet", "overload")


def measure(program, row, options):
    """{threads: the median}; None for a result that is wrong."""
    runs = {threads: [] for threads in options.threads}
    for _ in range(options.rounds):
        for threads, found in runs.items():
            figures = peers.run(program, row, threads, options.divide, 1000.0)
            if "error" in figures:
                print(f"{row.name} with {threads} threads: {figures['error']}", file=sys.stderr)
                return None
            found.append(figures["ns"])
    return {threads: statistics.median(found) for threads, found in runs.items()}


def text(row, figures, base):
    ratios = "".join(f"{ns:10,.1f} ({ns / figures[base]:5.2f})" for ns in figures.values())
    return f"{row.name:12}{ratios}"


def main():
    parser = argparse.ArgumentParser(prog="./dev bench threads")
    parser.add_argument("bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--divide", type=int, default=10, help="so many times fewer messages")
    parser.add_argument("--threads", default=",".join(str(one) for one in THREADS))
    parser.add_argument("rows", nargs="*", metavar="ROW", default=ROWS)
    options = parser.parse_intermixed_args()
    options.threads = [int(one) for one in options.threads.split(",")]
    cpus = os.cpu_count()
    base = max((one for one in options.threads if one <= cpus), default=options.threads[0])
    program = peers.Program("weir", [options.bench], tuple(options.rows))
    ok = True
    print(f"ns, median of {options.rounds} rounds on {cpus} CPUs; in brackets the ratio to {base} "
          f"threads")
    print(f"{'row':12}" + "".join(f"{threads:10}        " for threads in options.threads))
    for name in options.rows:
        row = definition.BY_NAME[name]
        figures = measure(program, row, options)
        ok = ok and figures is not None
        if figures:
            print(text(row, figures, base), flush=True)
    return 0 if ok else 1


sys.exit(main())
