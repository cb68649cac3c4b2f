#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal: 512 workers that fail at every message, at full load, write little log, and each failure is
in it: written, or counted in a line `repeated=N`. Shows promise H3.

Method: a host whose source makes messages as fast as they are taken. As a test: a bounded number of
them, after which the host ends by itself; its log is held against a bound that ten minutes would
keep. With --seconds the host runs for so long before it is logged to stop, and the figures are
printed: `failing.py WEIR PLUGINS TEST_PLUGINS --seconds 600` measures what H3 says.

Usage: failing.py WEIR PLUGINS TEST_PLUGINS [--seconds N] [--workers N]
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

BYTES_MAX = 1_000_000  # of log, however long it takes up to ten minutes
MESSAGES = 50_000      # of the test: before, they wrote 10 MB
DEAD_LETTERS = 65  # the exit code of a finite run that has some

FILE = """\
version: 1
host: {{plugins: ["{plugins}", "{test_plugins}"], log: {{format: json}}}}
sources: {{numbers: {{use: {source}, to: work}}}}
pools:
  work: {{use: unruly.fail, size: {workers}, mailbox: 4,
    restart: {{max: 1000, within: 1ms}}}}
"""


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("weir", type=Path)
    parser.add_argument("plugins", type=Path)
    parser.add_argument("test_plugins", type=Path)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--workers", type=int, default=512)
    return parser.parse_args()


def run(options, folder):
    """The host's exit code; its log is in the folder."""
    source = "gen.forever" if options.seconds else \
        f"gen.numbers, args: {{count: {MESSAGES}}}"
    file = folder / "weir.yaml"
    file.write_text(FILE.format(plugins=options.plugins.resolve(), source=source,
                                test_plugins=options.test_plugins.resolve(),
                                workers=options.workers), encoding="utf-8")
    with open(folder / "log", "wb") as log:
        with subprocess.Popen([options.weir, "run", file], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=log) as host:
            if not options.seconds:
                return host.wait()
            try:
                return host.wait(options.seconds)
            except subprocess.TimeoutExpired:
                host.terminate()
                return host.wait()


def failures_logged(lines):
    """Written, or counted."""
    mine = [line for line in lines if line["event"] == "worker failed"]
    return sum(line.get("repeated", 1) for line in mine)


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="weir-failing.") as folder:
        code = run(options, Path(folder))
        text = (Path(folder) / "log").read_text(encoding="utf-8")
    try:
        lines = [json.loads(line) for line in text.splitlines()]
    except ValueError:
        sys.exit(f"the host cannot run:\n{text}")
    total = [line for line in lines if line["component"] == "host" and
             line["event"] == "ledger"][-1]
    logged = failures_logged(lines)
    print(f"workers={options.workers} accepted={total['accepted']} failures_logged={logged} "
          f"lines={len(lines)} bytes={len(text)} exit={code}")
    wrong = []
    if len(text) >= BYTES_MAX:
        wrong.append(f"the log has {BYTES_MAX} bytes or more")
    if logged != total["dead"] or logged == 0:
        wrong.append(f"{total['dead']} messages are dead, and {logged} failures are logged")
    if total["balance"] != "exact":
        wrong.append("the ledger does not balance")
    if code != (0 if options.seconds else DEAD_LETTERS):
        wrong.append("the exit code is another one")
    for line in wrong:
        print("FAIL:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
