#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   an `open` that never returns takes nothing from the pools that run, however often a
        reload meets one; what a refused reload has not begun to open is never opened; when too many
        opens have not returned the reload says so. Shows promise R13 and promise R12.
Method: real hosts with two threads, asked by their socket; workers, more of them than threads, that
        open when a byte comes through a FIFO, and do not say that they may block. Every wait is for
        a condition.

    openings.py WEIR PLUGINS TEST_PLUGINS
"""
import json
import os
import re
import tempfile

from cases import Host

THREADS = 2
REFUSALS = 3
STUCK_MAX = 64
MANY = 3000
DISPATCHERS = "dispatchers: {default: {threads: 2}}\n"
HEALTHY = ("sources: {numbers: {use: gen.forever, to: healthy}}\n"
           "pools:\n  healthy: {use: sink.null, size: 2}\n")


def hogs(size, name="new", where=""):
    return (f"  {name}: {{use: slow_open.hog, size: {size}, open_timeout: 200ms,\n"
            f"    args: {{gate: GATE}}, outputs: {{out: healthy}}{where}}}\n")


def patient(pools):
    """Without a gate, and on a machine as busy as it likes."""
    pools = pools.replace("args: {gate: GATE}, ", "")
    return pools.replace("open_timeout: 200ms", "open_timeout: 60s")

    return (pools.replace("args: {gate: GATE}, ", "")
            .replace("open_timeout: 200ms", "open_timeout: 60s"))


def plain(size):
    return f"  new: {{use: sink.null, size: {size}}}\n"


def done(host):
    return host.pool("healthy")["done"]


def goes_on(host):
    """More than what may have been on its way."""
    before = done(host)
    host.until(lambda: done(host) > before + 10000, "the healthy pool stands still")


def begun(host):
    return host.log().count('event="at the gate"')


def opens_that_never_return(host):
    host.start(DISPATCHERS + HEALTHY)
    goes_on(host)
    size = 3
    while begun(host) < REFUSALS * THREADS:  # how many a busy machine begins in time is its affair
        answer = host.reload("refused", DISPATCHERS + HEALTHY + hogs(2 * THREADS))
        host.check("of the workers of new did not open in time" in json.dumps(answer), str(answer))
        goes_on(host)
        host.reload("reloaded", DISPATCHERS + HEALTHY + plain(size))
        host.check(host.pool("new")["live"] == size, "the next reload has not opened its workers")
        goes_on(host)
        size += 1
    stuck = begun(host)
    os.write(host.gate, b"y" * stuck)
    host.until(lambda: not [pool for pool in host.ask("GET", "/status")["pools"]
                            if pool["path"] not in ("healthy", "new")], "they do not end")
    host.stop()


def opens_that_have_not_begun(host):
    """Thousands wait for two threads: the reload is refused, and the rest is never opened."""
    host.start(DISPATCHERS + HEALTHY + hogs(1).replace("args: {gate: GATE}, ", ""))
    host.reload("refused", DISPATCHERS + HEALTHY + hogs(MANY))
    stuck = begun(host)
    host.check(stuck <= THREADS, f"{stuck} opens have begun")
    host.reload("reloaded", DISPATCHERS + HEALTHY + patient(hogs(3)))
    host.check(host.pool("new")["live"] == 3, "the next reload has not opened its workers")
    goes_on(host)
    os.write(host.gate, b"y" * stuck)
    host.stop()
    host.check(begun(host) == stuck, "one was opened that nobody wants")


def too_many_that_never_return(host):
    """Then no reload is made that opens anything, and it says why, until one has returned."""
    more = STUCK_MAX // 2 - THREADS
    file = f"dispatchers: {{default: {{threads: 2}}, side: {{threads: {more}}}}}\n" + HEALTHY
    host.start(file)
    answer = "did not open in time"
    while "did not open in time" in answer:
        answer = json.dumps(host.reload("refused", file + hogs(STUCK_MAX // 2)))
    answer = json.dumps(host.reload("refused", file + plain(1)))
    found = re.search(r"(\d+) opens of refused reloads have not returned", answer)
    host.check(found, answer)
    stuck = int(found.group(1))
    host.check(STUCK_MAX <= stuck <= STUCK_MAX * 3 // 2, f"{stuck} opens have begun")
    goes_on(host)
    os.write(host.gate, b"y" * stuck)
    host.until(lambda: host.ask("POST", "/reload")["result"] == "reloaded",
               "nothing is opened any more")
    goes_on(host)
    host.stop()


def main():
    for case in (opens_that_never_return, opens_that_have_not_begun, too_many_that_never_return):
        with tempfile.TemporaryDirectory() as work:
            case(Host(work, "case"))
        print(f"{case.__name__}: as promised", flush=True)


if __name__ == "__main__":
    main()
