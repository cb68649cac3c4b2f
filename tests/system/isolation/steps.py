#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   the process of an isolated worker may end at any instruction: what it has begun and not
        settled is dead, at most one message for each end; every other one is handled once, and
        none is done that was not handled. Shows promise B151.
Method: a real host whose process waits for messages. The test traces the process, feeds a few
        messages, lets it take a number of single steps, and kills it by SIGKILL. The steps in
        between, from the bell to the next sleep, are those of the protocol: reads and writes of the
        ring, the word of what was begun, verdicts. Each turn ends at another step.

    steps.py WEIR PLUGINS TEST_PLUGINS [--turns N] [--stride N] [--seed N]
"""
import argparse
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import time

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("folders", nargs=3)
OPTIONS.add_argument("--turns", type=int, default=40)
OPTIONS.add_argument("--stride", type=int, default=0, help="between two ends; 0: drawn")
OPTIONS.add_argument("--seed", type=int, default=int(time.time()))
GIVEN = OPTIONS.parse_args()
sys.argv[1:] = GIVEN.folders

from isolation import LIBC, Host  # noqa: E402
from trials import DEADLINE, must, until  # noqa: E402
from window import FROM_STDIN, handled  # noqa: E402

SINGLE_STEP, SEIZE, INTERRUPT = 9, 0x4206, 0x4207
EACH = 3         # messages of a turn
STEPS = 12000    # about as many as these take, in a build without a sanitizer
WALL = 0x40000000


def ptrace(request, process):
    LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    must(LIBC.ptrace(request, process, None, None) == 0,
         f"ptrace: {os.strerror(ctypes.get_errno())}")


def step(process, count):
    """Lets it take so many steps. It may sleep before: then it is killed in its sleep."""
    for number in range(count):
        ptrace(SINGLE_STEP, process)
        due = time.monotonic() + 0.5
        while os.waitpid(process, WALL | os.WNOHANG)[0] == 0:
            if time.monotonic() > due:
                return number
    return count


def end_at(host, steps, first):
    """Feeds some messages, and kills the process behind so many steps."""
    worker = until(host.workers, "a process")[0]
    ptrace(SEIZE, worker)
    ptrace(INTERRUPT, worker)
    os.waitpid(worker, WALL)
    host.process.stdin.write(b"".join(b"calm-%d\n" % (first + i) for i in range(EACH)))
    host.process.stdin.flush()
    taken = step(worker, steps)
    os.kill(worker, signal.SIGKILL)
    while not os.WIFSIGNALED(os.waitpid(worker, WALL)[1]):
        pass  # a stop from before; the host hears of the end behind the tracer
    until(lambda: host.workers() not in ([], [worker]), "another process")
    return taken


def settled(host):
    answer = host.ask("status", "gulps", "-o", "json")
    found = json.loads(answer.stdout) if answer.returncode == 0 else {"done": 0, "dead": 0}
    return found["done"] + found["dead"]


def main():
    draw = random.Random(GIVEN.seed)
    print(f"steps: seed {GIVEN.seed}", flush=True)
    host = Host(FROM_STDIN, size=1, name="out", emits="false", to="none",
                keys="redeliver: 0, restart: {max: 1000, backoff: 1ms..1ms, then: keep_trying}")
    try:
        host.start(stdin=subprocess.PIPE)
        # A process that ends before it is open refuses the start.
        until(lambda: host.ask("status", "gulps").returncode == 0, "a host")
        farthest = 0
        for turn in range(GIVEN.turns):
            at = turn * GIVEN.stride if GIVEN.stride else draw.randrange(STEPS)
            farthest = max(farthest, end_at(host, at, turn * EACH))
            until(lambda n=(turn + 1) * EACH: settled(host) == n, "the end of all messages")
        count = GIVEN.turns * EACH
        host.process.stdin.close()
        host.process.wait(DEADLINE)
        ledger, rows = host.ledger("gulps"), handled(host)
        found = {text for text, _, _ in rows}
        must(ledger["balance"] == "exact" and ledger["done"] + ledger["dead"] == count, f"{ledger}")
        must(len(found) == len(rows), "a text was handled twice")
        must(all(attempt == 1 for _, attempt, _ in rows), "another attempt")
        must(ledger["dead"] <= GIVEN.turns, f"{ledger['dead']} are dead by {GIVEN.turns} ends")
        must(len(found) >= ledger["done"], f"{len(found)} were handled: {ledger}")
        print(f"steps: {GIVEN.turns} ends, up to step {farthest}, {ledger['dead']} dead, "
              f"{len(found) - ledger['done']} of them had been handled")
    finally:
        host.finish()


main()
