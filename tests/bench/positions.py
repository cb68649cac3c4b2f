#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./dev bench positions: what a position and the file of dead letters cost, as lines of a file that
go through two pools, by turns in one run. Prints the median of the lines per second, and the ratio
to the first row. Fails when a line is missing, never by the clock.

    positions.py WEIR PLUGINS TEST_PLUGINS [--quick] [--count N] [--rounds N]
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

CONFIGURATION = """
version: 1
host: {{plugins: ["{plugins}", "{test_plugins}"], log: {{level: error}}{stores}}}
sources: {{lines: {{use: files.lines, args: {{paths: ["{work}/lines"]{position}}}, to: relay}}}}
pools:
  relay: {{use: relay.pass, size: 2, mailbox: 1024, args: {{rejects_each: {each}}},
          outputs: {{out: null}}}}
  "null": {{use: sink.null, size: 2, mailbox: 1024}}
"""

# A name; whether there is a position, and a file of dead letters; one in so many lines is dead.
ROWS = [
    ("neither", False, False, 0),
    ("file of dead letters", False, True, 0),
    ("position", True, False, 0),
    ("position and file", True, True, 0),
    ("1 % dead", False, False, 100),
    ("1 % dead, file", False, True, 100),
    ("1 % dead, position and file", True, True, 100),
    ("all dead, position and file", True, True, 1),
]


def run(options, work, row):
    """Lines per second of one run."""
    _, has_position, stores, each = row
    file = os.path.join(work, "weir.yaml")
    for name in ("position", "dead"):
        if os.path.exists(os.path.join(work, name)):
            os.unlink(os.path.join(work, name))
    with open(file, "w", encoding="utf-8") as stream:
        stream.write(CONFIGURATION.format(
            plugins=os.path.abspath(options.plugins), work=work, each=each,
            test_plugins=os.path.abspath(options.test_plugins),
            stores=f', dead_letters: {{file: "{work}/dead"}}' if stores else "",
            position=f', position: "{work}/position"' if has_position else ""))
    before = time.monotonic()
    got = subprocess.run([options.weir, "run", "--allow-dead", file], capture_output=True,
                         check=False)
    seconds = time.monotonic() - before
    if got.returncode != 0:
        sys.exit(f"{row[0]}: {got.returncode} {got.stderr.decode()}")
    if stores and each == 1:
        with open(os.path.join(work, "dead"), "rb") as stream:
            stored = stream.read().count(b"\nletter - ")
        if stored != options.count:
            sys.exit(f"{row[0]}: {stored} of {options.count} are stored")
    return options.count / seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weir")
    parser.add_argument("plugins")
    parser.add_argument("test_plugins")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--count", type=int, default=400000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.quick:
        options.count, options.rounds = options.count // 4, 3
    found = {row[0]: [] for row in ROWS}
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(options.weir))) as work:
        with open(os.path.join(work, "lines"), "w", encoding="ascii") as stream:
            stream.write("".join(f"line {i} of the file\n" for i in range(options.count)))
        for _ in range(options.rounds):
            for row in ROWS:
                found[row[0]].append(run(options, work, row))
    first = statistics.median(found[ROWS[0][0]])
    print(f"{options.count} lines through two pools, median of {options.rounds} rounds")
    for name, rates in found.items():
        rate = statistics.median(rates)
        print(f"{name:30} {rate:12,.0f} lines/s {rate / first:7.2f}")


if __name__ == "__main__":
    main()
