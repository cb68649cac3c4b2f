#!/usr/bin/env python3
"""Goal:   a pool with `lease` in its file gives workers out. A reload changes time-out and queue
        while workers are leased, and no lease ends; a reload that takes `lease` away, or adds it,
        replaces the workers, and a leased one leaves after its return. Shows promise R18.
Method: a real host; users take a worker for each message, and return it; keepers keep it until a
        reload says otherwise. The worker that is leased for a message writes it down. Every wait
        is for a condition.

    leases.py WEIR PLUGINS TEST_PLUGINS
"""
import tempfile

from cases import BLOCKING, Host

USERS, KEEPERS = 6, 2
LEASE = ", lease: {timeout: 1h, queue: 6}"
OTHER_LEASE = ", lease: {timeout: 2h, queue: 9}"


def source(name, numbers, pool):
    return (f"  {name}: {{use: gen.numbers, to: {pool},"
            f" args: {{first: {numbers.start}, count: {len(numbers)}}}}}\n")


def holders(name, size, keep):
    keep = str(keep).lower()
    return f"  {name}: {{use: holder.worker, size: {size}, args: {{pool: db, keep: {keep}}}}}\n"


def file(numbers, lease=LEASE, keepers=None):
    """`keepers`: whether they keep what they take; None: there are none."""
    text = (BLOCKING + "sources:\n  never: {use: gen.forever, to: sink, rate: 1/d}\n" +
            source("some", numbers, "users"))
    if keepers is not None:
        text += source("few", range(100, 100 + KEEPERS), "keepers")
    text += ("pools:\n  sink: {use: sink.null, size: 1}\n" + holders("users", USERS, False) +
             f"  db: {{use: sink.record, size: {KEEPERS}, dispatcher: blocking{lease},\n"
             "    args: {path: RECORD, batch: 1}, remove: {timeout: 1h}}\n")
    return text + (holders("keepers", KEEPERS, keepers) if keepers is not None else "")


def all_of(host, numbers, what):
    host.until(lambda: len(host.recorded()) >= len(numbers), f"{what}: not all are written down")
    host.until(lambda: host.pool("db")["busy"] == 0, f"{what}: a worker is still leased")
    host.check(sorted(host.recorded()) == numbers, f"{what}: {sorted(host.recorded())}")


def leases_over_reloads(host):
    numbers = list(range(40))
    host.start(file(range(40)))
    all_of(host, numbers, "at the start")

    # All members are leased, and stay so.
    numbers += [100, 101]
    host.reload("reloaded", file(range(40), keepers=True))
    host.until(lambda: len(host.recorded()) >= len(numbers), "nobody takes a worker")
    host.reload("reloaded", file(range(40), OTHER_LEASE, True))
    host.check(host.pool("db")["busy"] == KEEPERS, f"a lease has ended: {host.pool('db')}")

    # Without leases: new workers, and the leased ones leave after their return.
    host.reload("reloaded", file(range(40), "", True))
    host.check(host.pool("db")["retiring"] == KEEPERS, f"a leased worker left: {host.pool('db')}")
    host.reload("reloaded", file(range(40), "", False))
    host.until(lambda: host.pool("db")["retiring"] == 0, "a returned worker does not leave")
    host.check("lease is revoked" not in host.log(), "a lease was revoked")

    # With leases again.
    numbers += range(200, 240)
    host.reload("reloaded", file(range(200, 240), keepers=False))
    all_of(host, sorted(numbers), "at the end")
    host.stop()
    host.check("balance=wrong" not in host.log() and "balance=exact" in host.log(), "the ledger")


def main():
    with tempfile.TemporaryDirectory() as work:
        leases_over_reloads(Host(work, "case"))
    print("leases_over_reloads: as promised", flush=True)


main()
