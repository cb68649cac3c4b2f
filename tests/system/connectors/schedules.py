#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   timer.cron beats in a real host: at its period, not while a job is at work, over a
        reload, and with an end in order. The example of the guide is a valid file.
Method: real hosts with a short period, whose beats run commands. Every wait is for a condition.

    schedules.py WEIR PLUGINS TREE
"""
import contextlib
import os
import subprocess
import sys
import tempfile

from control import PLUGINS, TREE, WEIR, Host, check, run_tests, until

BEATS = """
sources: {{clock: {{use: timer.cron, args: {{every: {every}, payload: beat}}, to: work}}}}
pools:
  work: {{use: exec.run, size: 2, args: {{shell: true, command: ['{command}']}},
         outputs: {{out: record}}}}
  record: {{use: file.append, size: 1, args: {{path: "{record}"}}}}
"""


@contextlib.contextmanager
def stopping(host):
    try:
        yield host
    finally:
        host.stop(9)


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as stream:
        return stream.read().split("\n")[:-1]


def test_beats_arrive_over_a_reload():
    with tempfile.TemporaryDirectory() as work, stopping(Host(work)) as host:
        record = os.path.join(host.work, "record")
        host.write(BEATS.format(every="20ms", command="cat", record=record))
        host.start()
        until(lambda: len(lines_of(record)) >= 5, "beats")
        host.write(BEATS.format(every="10ms", command="cat", record=record))
        check(host.run("reload").returncode == 0, "the reload")
        before = len(lines_of(record))
        until(lambda: len(lines_of(record)) >= before + 5, "beats after the reload")
        check(set(lines_of(record)) == {"beat"}, f"{set(lines_of(record))}")
        check(host.stop() == 0, "the exit code")
        with open(host.log, encoding="utf-8") as stream:
            log = stream.read()
        check("dead=0" in log and "balance=exact" in log, log[-1000:])


def test_job_never_runs_twice_at_the_same_time():
    with tempfile.TemporaryDirectory() as work, stopping(Host(work)) as host:
        record = os.path.join(host.work, "record")
        lock = os.path.join(host.work, "lock")
        host.write(BEATS.format(
            every="5ms", record=record,
            command=f"mkdir {lock} && sleep 0.03 && rmdir {lock} && echo alone || echo twice"))
        host.start()
        until(lambda: len(lines_of(record)) >= 10, "beats")
        items = host.json("inspect", "clock")["items"]
        check(int(items["left_out"]) > 0, f"{items}")
        check(host.stop() == 0, "the exit code")
        check(set(lines_of(record)) == {"alone"}, f"{lines_of(record)}")


def test_example_is_valid():
    got = subprocess.run([WEIR, "check", os.path.join(TREE, "examples/commands/nightly.yaml")],
                         capture_output=True, text=True, check=False,
                         env={**os.environ, "WEIR_PLUGIN_PATH": PLUGINS})
    check(got.returncode == 0, got.stdout + got.stderr)


if __name__ == "__main__":
    run_tests(globals())
