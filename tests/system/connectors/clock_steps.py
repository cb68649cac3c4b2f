#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   timer.cron follows a clock that is set, in a real host, and repeats no fixed time.
Method: a clock that the test steps (stepped_clock.c). A source looks at the clock each 30 seconds,
        so this takes two minutes: ./dev servers runs it, beside its other tests.

    clock_steps.py WEIR PLUGINS TREE CLOCK
"""
import os
import struct
import sys
import tempfile
import time

from control import Host, check, run_tests, until
from schedules import lines_of, stopping

STEPS = """
sources:
  minutes: {{use: timer.cron, args: {{cron: "* * * * *", zone: UTC, payload: minute}}, to: record}}
  noon: {{use: timer.cron, args: {{cron: "1 12 * * *", zone: UTC, payload: noon}}, to: record}}
pools: {{record: {{use: file.append, args: {{path: "{record}"}}}}}}
"""


class SteppedClock:
    """The time of day of a host. It goes on between two steps."""

    def __init__(self, work):
        self.path = os.path.join(work, "clock")
        self.day = int(time.time()) // 86400 * 86400
        with open(self.path, "wb") as stream:
            stream.write(bytes(8))
        os.environ["WEIR_TEST_CLOCK"], os.environ["LD_PRELOAD"] = self.path, sys.argv[4]

    def set(self, hours, minutes, seconds):
        wanted = self.day + hours * 3600 + minutes * 60 + seconds
        with open(self.path, "r+b", buffering=0) as stream:
            stream.write(struct.pack("=q", wanted - int(time.time())))

    def end(self):
        del os.environ["WEIR_TEST_CLOCK"], os.environ["LD_PRELOAD"]


def test_clock_that_is_set_repeats_no_fixed_time():
    """As cron(8): a line for each minute follows the clock, a line for one time of day does not
    come twice."""
    with tempfile.TemporaryDirectory() as work, stopping(Host(work)) as host:
        record = os.path.join(work, "record")
        host.write(STEPS.format(record=record))
        clock = SteppedClock(work)
        clock.set(12, 0, 55)
        try:
            host.start()
        finally:
            clock.end()

        def count(word):
            return lines_of(record).count(word)

        until(lambda: count("minute") and count("noon"), "both")
        before = count("minute")
        clock.set(10, 30, 58)
        until(lambda: count("minute") > before, "a minute of the clock that was set back")
        before = count("minute")
        clock.set(12, 1, 10)
        until(lambda: count("minute") > before + 1, "the first minutes after noon came again")
        check(count("noon") == 1, f"{lines_of(record)}")
        check(host.stop() == 0, "the exit code")


if __name__ == "__main__":
    run_tests(globals())
