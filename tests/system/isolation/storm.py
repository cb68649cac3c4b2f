#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   workers in processes of their own are killed at any moment, while messages flow and the
        pool is reloaded and resized: each message is done or dead, at most one is dead for each
        kill, all others are done once, and the host's memory, descriptors and processes stay as
        they were. Shows promise B96.
Method: a real host that is fed lines; SIGKILL at times drawn at random, and a message on which a
        worker crashes among each hundred.

    storm.py WEIR PLUGINS TEST_PLUGINS [--kills N] [--seed N]
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("folders", nargs=3)
OPTIONS.add_argument("--kills", type=int, default=300)
OPTIONS.add_argument("--seed", type=int, default=int(time.time()))
GIVEN = OPTIONS.parse_args()
sys.argv[1:] = GIVEN.folders

from isolation import FED, Feeder, Host  # noqa: E402
from trials import DEADLINE, must, until  # noqa: E402

KEYS = "isolation: process, redeliver: 0, args: {{mark: m{0}, wait: 2ms}}, " \
       "restart: {{max: 1000, backoff: 1ms..1ms, then: keep_trying}}"


class Poisoner(Feeder):
    """Among each hundred lines there is one on which a worker crashes."""

    def run(self):
        while not self.is_over:
            word = b"SEGV" if self.count % 100 == 99 else b"calm"
            self.stream.write(b"%s-%d\n" % (word, self.count))
            self.stream.flush()
            self.count += 1
            while self.count > self.allowed and not self.is_over:
                time.sleep(0.001)  # until the next kill

    allowed = 0


PROGRAM = Path(sys.argv[1]).read_bytes()
# TSan's memory grows with the work: only descriptors count. ASan keeps some of what was freed.
MEMORY_MIB = None if b"__tsan_init" in PROGRAM else 64 if b"__asan_init" in PROGRAM else 16


def figures(process):
    """Descriptors and memory of the host."""
    memory = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    return len(os.listdir(f"/proc/{process}/fd")), memory * os.sysconf("SC_PAGESIZE")


def change(host, number):
    """A reload that makes new processes, or another number of workers."""
    size = 3 + number % 2
    host.write(FED, size=size, keys=KEYS.format(number // 2))
    answer = host.ask("reload")
    must(answer.returncode == 0, f"a reload: {answer.stdout}{answer.stderr}")


def kill_one(host, draw):
    workers = host.workers()
    time.sleep(draw.random() * 0.004)
    try:
        os.kill(draw.choice(workers), signal.SIGKILL)
    except (IndexError, ProcessLookupError):
        return 0
    return 1


def main():
    draw = random.Random(GIVEN.seed)
    print(f"storm: seed {GIVEN.seed}", flush=True)
    host = Host(FED, size=3, keys=KEYS.format(0))
    try:
        host.start(stdin=subprocess.PIPE)
        feeder = Poisoner(host.process.stdin)
        kills, first = 0, None
        for number in range(GIVEN.kills):
            before = host.done("eaters")
            feeder.allowed = feeder.count + 20
            kills += kill_one(host, draw)
            if number % 20 == 19:
                change(host, number // 20)
            if number == GIVEN.kills // 3:
                first = figures(host.process.pid)
            until(lambda: host.done("eaters") > before, "more that is done")
        until(lambda: len(host.workers()) in (3, 4), "the last processes")
        last = figures(host.process.pid)
        must(last[0] <= first[0] + 12, f"descriptors: {first[0]} before, {last[0]} after")
        must(not MEMORY_MIB or last[1] <= first[1] + (MEMORY_MIB << 20),
             f"memory: {first[1]} before, {last[1]} after")
        count = feeder.end()
        host.process.wait(DEADLINE)
        done, poison = host.out(), count // 100
        ledger = host.ledger("eaters")
        must(ledger["balance"] == "exact" and ledger["done"] + ledger["dead"] == count,
             f"{count} lines: {ledger}")
        must(poison <= ledger["dead"] <= poison + kills,
             f"{poison} poison, {kills} kills: {ledger}")
        must(len(done) == len(set(done)), "a line is done once")
        must(ledger["done"] <= len(done) <= count - poison, f"{len(done)} texts: {ledger}")
        print(f"storm: {kills} kills, {count} lines, {ledger['dead']} dead, "
              f"{poison} of them poison")
    finally:
        host.finish()


main()
