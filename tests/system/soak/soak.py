#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a host at full load that is reloaded, with good and bad files, and scaled, while workers
        fail, goes on as on its first day: the ledger is exact against what sources sent and sinks
        wrote down, and memory, descriptors, threads and what each reload logs are flat.
        Shows promise R5 and promise L1.
Method: the storm of tests/system/reloads, and beside it a source that feeds workers of which one
        fails at each thousandth message, and workers that take workers of a group of pools that
        scale themselves. Between reloads pools are scaled at random, and pools of the group are
        paused; a reader looks at all figures ten times a second. It ends after so many seconds, or
        after so many steps, by which no result depends on the clock.

    soak.py WEIR PLUGINS TEST_PLUGINS [--seconds N | --count N] [--seed N]
"""
import argparse
import os
import random
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reloads"))

import reloads  # noqa: E402
from reloads import HOST, RANGE, Connection, Host, Pool, Shape, Storm, fail  # noqa: E402

SCALES, PAUSES = 3, 2      # of ten steps
LOG_GROWTH_MAX = 2.0       # bytes for a step, in the last half against the first
DOOMED = ("  doomed: {use: changeling.stumble, size: 3, "
          "restart: {max: 5, within: 10ms, backoff: 1ms..20ms}}\n")


READS_PER_SECOND = 10
MEMBERS = ("a", "b")


class Lent:
    """A member of the group that gives leases."""

    def __init__(self):
        self.most, self.queue, self.idle_ms, self.args = 2, 4, 20, 0

    def redraw(self, rng):
        self.most, self.queue = rng.randint(1, 4), rng.choice([1, 4, 16])
        self.idle_ms, self.args = rng.choice([1, 20, 200]), rng.randint(0, 3)

    def line(self, name):
        return (f"      {name}: {{use: changeling.pass, args: {{fixed: {self.args}}}, "
                f"outputs: {{out: end}}, size: {{min: 0, max: {self.most}}}, "
                f"scale: {{wait: 0ms, idle: {self.idle_ms}ms}}, "
                f"lease: {{timeout: 1h, queue: {self.queue}}}}}\n")


class SoakShape(Shape):
    def __init__(self):
        super().__init__()
        self.lent = {name: Lent() for name in MEMBERS}
        self.borrowers = 4

    def copy(self):
        other = super().copy()
        other.lent = {name: self.copy_of_lent(lent) for name, lent in self.lent.items()}
        other.borrowers = self.borrowers
        return other

    @staticmethod
    def copy_of_lent(lent):
        other = Lent()
        other.__dict__.update(lent.__dict__)
        return other

    def lend(self, rng):
        rng.choice(list(self.lent.values())).redraw(rng)

    def borrow(self, rng):
        self.borrowers = rng.randint(1, 8)

    CHANGES = Shape.CHANGES + (lend, lend, borrow)

    def group(self):
        return ("  lent:\n    route: least_loaded\n    lease: {timeout: 1h, queue: 8}\n"
                "    members:\n" + "".join(lent.line(name) for name, lent in self.lent.items()) +
                f"  borrowers: {{use: holder.worker, size: {self.borrowers}, mailbox: 4, "
                "args: {pool: lent}}\n  end: {use: sink.null}\n")

    def text(self, host):
        sources = "".join(f"  {name}: {{use: gen.forever, to: {pool}, "
                          f"args: {{first: {RANGE * first}}}}}\n"
                          for name, pool, first in (("fated", "doomed", 1000),
                                                    ("needy", "borrowers", 1001)))
        return super().text(host).replace("\npools:\n",
                                          f"\n{sources}pools:\n{DOOMED}{self.group()}")


class Reader(threading.Thread):
    """Reads all figures again and again."""

    def __init__(self, host):
        super().__init__(daemon=True)
        self.host, self.reads, self.ends = host, 0, threading.Event()

    def read(self, path):
        connection = Connection(self.host.socket)
        connection.request("GET", path)
        answer = connection.getresponse()
        if answer.status != 200 or not answer.read():
            fail(f"{path} answers {answer.status}")
        connection.close()

    def run(self):
        while not self.ends.wait(1 / READS_PER_SECOND):
            for path in ("/metrics", "/status"):
                self.read(path)
            self.reads += 1

    def end(self):
        self.ends.set()
        self.join()


class Soak(Storm):
    shape_type = SoakShape

    def __init__(self, host, options):
        super().__init__(host, options)
        self.steps = 0
        self.log_sizes = []
        self.reads = 0

    def scale(self):
        """Not to nothing: a reload that then removes the pool would wait until its time-out."""
        flat = [name for name, pool in self.shape.pools.items() if not pool.members]
        if not flat:
            return
        path = urllib.parse.quote(self.rng.choice(flat))
        self.host.ask("POST", f"/pools/{path}/scale?size={self.rng.randint(1, 6)}")
        self.results["scaled"] += 1

    def pause(self):
        """A pool of the group, while takers wait and the rest goes on; then it goes on, too."""
        path = urllib.parse.quote(f"lent/{self.rng.choice(MEMBERS)}", safe="")
        self.host.ask("POST", f"/pools/{path}/pause")
        self.scale()
        self.host.ask("POST", f"/pools/{path}/resume")
        self.results["paused"] += 1

    def is_over(self, start):
        if self.options.count:
            return self.steps >= self.options.count
        return time.monotonic() - start >= self.options.seconds

    def run(self):
        start = time.monotonic()
        self.host.write(self.shape.text(self.host))
        self.host.start()
        reader = Reader(self.host)
        reader.start()
        while not self.is_over(start):
            drawn = self.rng.randrange(10)
            if drawn < SCALES:
                self.scale()
            elif drawn < SCALES + PAUSES:
                self.pause()
            else:
                self.step(self.steps)
            self.steps += 1
            self.log_sizes.append(os.path.getsize(self.host.log))
        reader.end()
        self.reads = reader.reads
        self.measure()

    # --- afterwards

    def log_growth(self):
        half = len(self.log_sizes) // 2
        first = self.log_sizes[half] - self.log_sizes[0]
        return (self.log_sizes[-1] - self.log_sizes[half]) / max(first, 1)

    def figures(self, component):
        return {key: int(value) for key, value in self.ledger(component).items()
                if value.isdigit()}

    def check_leases(self):
        """Each message of a borrower was a take and a message of the group, and one behind it. How
        many there were, at the three places."""
        borrowed, lent, behind = (self.figures(name)["done"]
                                  for name in ("borrowers", "lent", "end"))
        if not 0 < borrowed == lent / 2 == behind:
            fail(f"borrowers did {borrowed}, the group {lent}, and {behind} came out of it")
        self.borrowed = borrowed
        return borrowed + lent + behind

    def check_numbers(self):
        """What the doomed accepted was done or is dead, once each; what was neither theirs nor
        about leases was written down."""
        doomed, whole = self.figures("doomed"), self.figures("host")
        emitted = doomed["accepted"] - doomed["moved"]
        if emitted != doomed["done"] + doomed["dead"]:
            fail(f"the doomed: {doomed}")
        # At the end one that waits to be opened again finishes nothing: its rest is dead, too.
        if not 0 < doomed["restarts"] <= doomed["dead"] == whole["dead"]:
            fail(f"the dead: {doomed}, in all {whole}")
        if self.ledger("host")["balance"] != "exact":
            fail(f"the ledger: {whole}")
        self.doomed = doomed
        return self.count_recorded(whole["accepted"] - whole["moved"] - emitted -
                                   self.check_leases())

    def report(self):
        total = self.check_numbers()
        first, last = self.measured[0], self.measured[-1]
        times = sorted(self.times)
        rows = (("steps", f"{self.steps} {dict(self.results)}"),
                ("numbers sent and written down", f"{total}, lost 0, doubled 0"),
                ("failures", f"{self.doomed['dead']} of {self.doomed['done']} messages"),
                ("leases", f"{self.borrowed}, none lost"),
                ("reads of all figures", self.reads),
                ("descriptors", f"{first[0]} -> {last[0]}"),
                ("threads", f"{first[1]} -> {last[1]}"),
                ("resident KiB",
                 f"{first[2]} -> {last[2]}, {self.growth_kib():+d} in the second half"),
                ("log, second half to first", f"{self.log_growth():.2f}"),
                ("a reload, ms", f"median {times[len(times) // 2]:.1f}, longest {times[-1]:.1f}"))
        for name, value in rows:
            print(f"{name:32}{value}")
        if self.options.count:
            return  # too short a time to be judged by its growth
        if self.growth_kib() > reloads.GROWTH_MAX_KIB:
            fail(f"memory grew by {self.growth_kib()} KiB")
        if self.log_growth() > LOG_GROWTH_MAX:
            fail("the log grows faster and faster")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weir")
    parser.add_argument("plugins")
    parser.add_argument("test_plugins")
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    options.no_memory = False
    print(f"seed {options.seed}", flush=True)
    Pool.spin = 4000 if options.count else 100000  # an hour of numbers is to fit on the disk
    with tempfile.TemporaryDirectory() as work:
        host = Host(options.weir, [options.plugins, options.test_plugins], work)
        HOST.append(host)
        soak = Soak(host, options)
        soak.run()
        host.process.terminate()
        if host.process.wait() != 0:
            fail(f"the host ended with {host.process.returncode}")
        soak.report()


if __name__ == "__main__":
    main()
