#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   children that do not end stop no other pool of the host: while the workers of exec.pipe
        leave, restart or end with it, commands of exec.run on the same dispatcher go on; and the
        children of a pool end together. Shows promise D20 and promise O11.
Method: real hosts with children that write a file when their input ends, and never end by
        themselves. They end when the test kills them, or after `grace`. Every wait is for a
        condition.

    blocking.py WEIR PLUGINS TREE
"""
import contextlib
import os
import signal
import subprocess
import tempfile

from control import WEIR, Host, check, run_tests, until

CHILDREN = 32
THREADS = 16  # of the dispatcher `blocking`

FILE = """
sources: {{beats: {{use: gen.forever, rate: 50/s, to: live}}}}
pools:
  dead:
    use: exec.pipe
    size: {children}
    args:
      command: [sh, "-c", 'cat <&3 >/dev/null; : >"$0/$$"; exec sleep 1000', "{folder}"]
      grace: {grace}
      start_timeout: 1h
  live: {{use: exec.run, size: 4, args: {{command: ["true"]}}}}
"""


class Hanging:
    """A host, and the children of its pool `dead`."""

    def __init__(self, work, grace, children, more):
        self.ended = os.path.join(work, "ended")  # a file for each child whose input has ended
        os.mkdir(self.ended)
        self.host = Host(work)
        self.host.write(FILE.format(grace=grace, children=children, folder=self.ended), more=more)
        self.host.start()
        until(lambda: len(self.children()) == children, "the children")

    def children(self):
        """Whichever thread of the host started them."""
        found = []
        for task in os.listdir(f"/proc/{self.host.process.pid}/task"):
            with contextlib.suppress(OSError):
                with open(f"/proc/{self.host.process.pid}/task/{task}/children",
                          encoding="ascii") as stream:
                    words = stream.read().split()
                for word in words:
                    with open(f"/proc/{word}/comm", encoding="ascii") as stream:
                        found += [int(word)] if stream.read() in ("sh\n", "sleep\n") else []
        return found

    def are_to_end(self):
        return len(os.listdir(self.ended))

    def kill_children(self):
        with contextlib.suppress(OSError):  # the host may have ended
            for child in self.children():
                os.kill(child, signal.SIGKILL)

    def goes_on(self):
        before = self.host.json("status", "live")["done"]
        until(lambda: self.host.json("status", "live")["done"] >= before + 20, "commands")


@contextlib.contextmanager
def hanging(grace, children=CHILDREN, more=""):
    with tempfile.TemporaryDirectory() as work:
        hangs = Hanging(work, grace, children, more)
        try:
            yield hangs
        finally:
            hangs.host.process.terminate()
            until(lambda: hangs.host.process.poll() is not None or hangs.kill_children(), "the end")


def test_workers_that_leave_stop_no_other_pool():
    with hanging("1h") as hangs:
        check(hangs.host.run("scale", "dead", "1").returncode == 0, "scale")
        until(lambda: hangs.are_to_end() == CHILDREN - 1, "the end of their input")
        hangs.goes_on()
        check(len(hangs.children()) == CHILDREN, "a child has ended")


def test_workers_that_restart_stop_no_other_pool():
    with hanging("1h") as hangs:
        with subprocess.Popen([WEIR, "restart", "dead"], stdout=subprocess.DEVNULL,
                              env={**os.environ, "WEIR_CONTROL": hangs.host.socket}) as restart:
            until(lambda: hangs.are_to_end() >= THREADS // 2, "the end of their input")
            hangs.goes_on()
            check(len(hangs.children()) == CHILDREN, "a child has ended")
            until(lambda: restart.poll() is not None or hangs.kill_children(), "the restart")


def test_children_that_do_not_end_are_killed_together():
    """One `grace` for each group of as many children as threads would take too long."""
    with hanging("2s", 4 * THREADS, more=", shutdown_timeout: 7s") as hangs:
        hangs.goes_on()
        check(hangs.host.stop() == 0, "the exit code")
        with open(hangs.host.log, encoding="utf-8") as stream:
            log = stream.read()
        check("balance=exact" in log, log[-2000:])
        check(hangs.are_to_end() == 4 * THREADS, f"{hangs.are_to_end()} were asked to end")


if __name__ == "__main__":
    run_tests(globals())
