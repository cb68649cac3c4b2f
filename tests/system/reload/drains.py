#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   what a reload removes works on beside the host: the answer comes at the commit, further
        reloads are in force at once, also ones that bring the path back; and a pool ends after its
        users, at TERM and whatever reloads remove. Shows promise O5 and promise R20.
Method: a real host, asked by its socket; workers that go on when a byte comes through a FIFO;
        users that take a worker of another pool for each message. Each number must be written
        down, and none is dead. Every wait is for a condition.

    drains.py WEIR PLUGINS TEST_PLUGINS
"""
import os
import re
import tempfile

from cases import BLOCKING, Host

JOBS = 134
NEVER = "  never: {use: gen.forever, to: rest, rate: 1/d}\n"
RECORD = ("use: sink.record, size: 1, dispatcher: blocking, remove: {timeout: 1h},\n"
          "    args: {path: RECORD, batch: 1, spin: 1000000}")


def numbers(first, count, to):
    return f"  n{first}: {{use: gen.numbers, to: {to}, args: {{first: {first}, count: {count}}}}}\n"


def ledger_is_exact(host):
    line = re.findall(r'component=host event="ledger"(.*)', host.log())[-1]
    ledger = dict(re.findall(r" (\w+)=(\w+)", line))
    host.check(ledger["balance"] == "exact" and ledger["dead"] == "0", line)


def end(host, expected):
    host.process.terminate()
    code = host.process.wait()
    host.check(code in (0, 75), f"exit code {code}")
    ledger_is_exact(host)
    host.check(sorted(host.recorded()) == expected, f"{sorted(host.recorded())}")
    os.close(host.gate)


def draining(host):
    return [part["path"] for part in host.ask("GET", "/status")["draining"]
            if part["kind"] == "pool"]


# --- beside the host

def barred(first=None, other=2):
    """`first`: of six numbers that come to workers that wait; None: without that pool."""
    text = BLOCKING + "sources:\n" + NEVER
    if first is not None:
        text += numbers(first, 6, "middle")
    text += f"pools:\n  rest: {{use: sink.null}}\n  sink: {{{RECORD}}}\n"
    text += f"  other: {{use: changeling.pass, size: {other}, outputs: {{out: sink}}}}\n"
    if first is not None:
        text += ("  middle: {use: slow_open.pass, dispatcher: blocking, size: 2, mailbox: 4,\n"
                 "    args: {barrier: GATE}, outputs: {out: sink}, remove: {timeout: 1h}}\n")
    return text


def has_six(host):
    middle = host.pool("middle")
    return middle["in_hand"] == 2 and middle["queued"] == 4


def now(host, text):
    """Reloads without a wait for what drains."""
    host.write(text)
    answer = host.ask("POST", "/reload")
    host.check(answer["result"] == "reloaded", f"{answer}")
    return answer["draining"]


def removed_pools_work_on(host):
    """The path comes back while the old pool drains, and goes again: both finish."""
    host.start(barred(0))
    host.until(lambda: has_six(host), "nothing waits")
    host.check(now(host, barred()) >= 1, "nothing drains")
    host.check(draining(host) == ["middle"], f"{draining(host)}")
    now(host, barred(other=3))
    host.check(host.pool("other")["target"] == 3, "the next reload is not in force")
    now(host, barred(10, other=3))
    host.until(lambda: has_six(host), "the new pool does not work beside the old one")
    host.check(host.pool("middle")["accepted"] == 6, "the old pool took messages of the new one")
    now(host, barred(other=1))
    host.check(draining(host) == ["middle", "middle"], f"{draining(host)}")
    os.write(host.gate, b"y" * 12)
    host.until(lambda: not draining(host), "they do not end")
    host.until(lambda: 'event="removed parts have ended"' in host.log(), "no line tells the end")
    end(host, [*range(6), *range(10, 16)])


def the_end_finishes_what_drains(host):
    host.start(barred(0))
    host.until(lambda: has_six(host), "nothing waits")
    now(host, barred())
    host.process.terminate()
    host.until(lambda: 'event="stopping"' in host.log() or "stopping" in host.log(), "no end")
    os.write(host.gate, b"y" * 6)
    end(host, [*range(6)])


# --- users first

def used(jobs=True, pool="db", db=True, db2=False):
    """The users take a worker of `pool` for each message."""
    text = BLOCKING + "sources:\n" + NEVER
    if jobs:
        text += numbers(0, JOBS, "users")
    text += "pools:\n  rest: {use: sink.null}\n"
    for path in ["db"] * db + ["db2"] * db2:
        text += f"  {path}: {{{RECORD}, lease: {{timeout: 1h, queue: 64}}}}\n"
    if jobs:
        text += (f"  users: {{use: holder.worker, size: 8, args: {{pool: {pool}}},\n"
                 "    remove: {timeout: 1h}}\n")
    return text


def start_used(host):
    host.start(used())
    host.until(lambda: host.pool("users")["accepted"] == JOBS and host.size() > 0, "no job")


def users_end_before_what_they_use(host):
    start_used(host)
    end(host, [*range(JOBS)])


def users_go_with_what_they_use(host):
    start_used(host)
    host.reload("reloaded", used(jobs=False, db=False))
    end(host, [*range(JOBS)])


def users_go_before_what_they_use(host):
    start_used(host)
    now(host, used(jobs=False))
    now(host, used(jobs=False, db=False))
    host.until(lambda: not draining(host), "they do not end")
    end(host, [*range(JOBS)])


def former_users_keep_what_they_use(host):
    start_used(host)
    host.reload("reloaded", used(pool="db2", db=False, db2=True))
    host.until(lambda: len(host.recorded()) == JOBS, "jobs are lost")
    end(host, [*range(JOBS)])


def main():
    for case in (removed_pools_work_on, the_end_finishes_what_drains,
                 users_end_before_what_they_use, users_go_with_what_they_use,
                 users_go_before_what_they_use, former_users_keep_what_they_use):
        with tempfile.TemporaryDirectory() as work:
            case(Host(work, "case"))
        print(f"{case.__name__}: as promised", flush=True)


main()
