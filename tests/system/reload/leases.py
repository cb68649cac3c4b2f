#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a pool with `lease` in its file gives workers out. A reload changes time-out and queue
        while workers are leased, and no lease ends; a reload that takes `lease` away, or adds it,
        replaces the workers, and a leased one leaves after its return. Pages and metrics show the
        leases. Under load no message is lost. A deadlock of holders is shown, and ends. Shows
        promise R18, promise P36 and promise P37.
Method: a real host; users take a worker for each message, and return it; keepers keep it until a
        reload says otherwise. The worker that is leased for a message writes it down. Every wait
        is for a condition.

    leases.py WEIR PLUGINS TEST_PLUGINS
"""
import os
import re
import subprocess
import tempfile

from cases import BLOCKING, WEIR, Connection, Host

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


def metric(host, line):
    connection = Connection(host.path["socket"])
    try:
        connection.request("GET", "/metrics")
        return line in connection.getresponse().read().decode().split("\n")
    finally:
        connection.close()


def leases_are_shown(host):
    """All members are leased, and each earlier lease was returned."""
    shown = host.pool("db")["leases"]
    expected = {"free": 0, "leased": KEEPERS, "waiting": 0, "begun": 40 + KEEPERS, "returned": 40}
    host.check(shown.pop("takers") == [], shown)
    items = host.ask("GET", "/inspect/db?items=leased,takers,leases,leases.returned")["items"]
    host.check(items == {"leased": str(KEEPERS), "takers": "0", "leases": str(40 + KEEPERS),
                         "leases.returned": "40"}, f"weir inspect: {items}")
    unserved, failed = shown.pop("unserved"), shown.pop("failed")
    waits, holds = shown.pop("wait_us"), shown.pop("hold_us")
    host.check(set(unserved) == {"full", "expired", "cancelled", "refused"} and
               not any(unserved.values()), f"takes without a lease: {unserved}")
    host.check(failed == {"free": 0, "leased": 0}, f"workers failed: {failed}")
    host.check(waits["count"] == 40 + KEEPERS and holds["count"] == 40, f"{waits}, {holds}")
    for figures in (waits, holds):
        host.check(figures["p50"] <= figures["p99"] <= figures["longest"], figures)
        host.check(figures["mean"] <= figures["longest"], figures)
    host.check(expected.items() <= shown.items() and sum(shown.values()) == sum(expected.values()),
               f"the figures of leases: {shown}")
    page = subprocess.run([WEIR, "status", "db", "--control", host.path["socket"]],
                          capture_output=True, check=True, text=True).stdout
    for words in (rf"workers +0 free, {KEEPERS} leased, 0 takers wait", r"leases returned +40",
                  r"takers waited +half within \d+ us, 99 % within \d+ us, longest \d+ us",
                  r"leases lasted +half within \d+ us, 99 % within \d+ us, longest \d+ us"):
        host.check(re.search(words, page), f"no {words!r} in {page}")
    for line in (f'weir_pool_leases{{pool="db",state="leased"}} {KEEPERS}',
                 f'weir_pool_takes_total{{pool="db",result="served"}} {40 + KEEPERS}',
                 'weir_pool_takes_total{pool="db",result="full"} 0',
                 'weir_pool_lease_failures_total{pool="db",state="leased"} 0',
                 'weir_pool_lease_hold_seconds_bucket{pool="db",le="+Inf"} 40',
                 f'weir_pool_lease_wait_seconds_count{{pool="db"}} {40 + KEEPERS}',
                 'weir_pool_leases_ended_total{pool="db",how="returned"} 40'):
        host.check(metric(host, line), f"no metric {line}")
    host.check("leases" not in host.pool("users"), "a pool without leases has figures of them")


def leases_over_reloads(host):
    numbers = list(range(40))
    host.start(file(range(40)))
    all_of(host, numbers, "at the start")

    # All members are leased, and stay so.
    numbers += [100, 101]
    host.reload("reloaded", file(range(40), keepers=True))
    host.until(lambda: len(host.recorded()) >= len(numbers), "nobody takes a worker")
    host.reload("reloaded", file(range(40), OTHER_LEASE, True))
    leases_are_shown(host)

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


CHANGES = 40


def leases_come_and_go_under_load(host):
    """Sources send to the pool without a pause, and users take its workers, while reloads add
    leases and take them away."""
    plain, taken = 1000000, 2000000

    def text(lease, use="gen.forever", end=""):
        return (BLOCKING + "sources:\n" +
                "".join(f"  {name}: {{use: {use}, to: {to}, args: {{first: {first}{end}}}}}\n"
                        for name, to, first in (("plain", "db", plain), ("users", "users", taken)))
                + "pools:\n" + holders("users", USERS, False)
                + f"  db: {{use: sink.record, size: 2, dispatcher: blocking, mailbox: 4{lease},\n"
                "    args: {path: RECORD, batch: 1}, remove: {timeout: 1h}}\n")

    host.start(text(LEASE))
    for number in range(CHANGES):
        enough = host.size() + 2000
        host.until(lambda: host.size() > enough, "nothing is written down")
        host.reload("reloaded", text("" if number % 2 == 0 else LEASE))
    host.reload("reloaded", text(LEASE, "gen.numbers", ", count: 1"))
    code = host.process.wait()
    os.close(host.gate)
    # A take that waits when a reload takes the leases away is no dead message.
    host.check(code == 0, f"exit code {code}")
    numbers = sorted(host.recorded())
    for first, following in ((plain, [n for n in numbers if n < taken]),
                             (taken, [n for n in numbers if n >= taken])):
        host.check(following == list(range(first, first + len(following))),
                   f"numbers from {first} are lost or doubled")
        host.check(len(following) > CHANGES, f"few numbers from {first}: {len(following)}")
    host.check("balance=wrong" not in host.log() and "balance=exact" in host.log(), "the ledger")


def group(numbers, names, keep, lease="{timeout: 1h, queue: 12}"):
    """A group of pools of one worker each; keepers take two workers of the group. `numbers`: the
    messages of users; None: no source of them."""
    record = ("use: sink.record, size: 1, dispatcher: blocking, remove: {timeout: 1h},"
              " args: {path: RECORD, batch: 1}")
    return (BLOCKING + "sources:\n  never: {use: gen.forever, to: sink, rate: 1/d}\n" +
            (source("some", numbers, "users") if numbers else "") +
            source("few", range(100, 102), "keepers") +
            "pools:\n  sink: {use: sink.null, size: 1}\n" + holders("users", USERS, False) +
            holders("keepers", KEEPERS, keep) +
            f"  db:\n    route: least_loaded\n    lease: {lease}\n    members:\n" +
            "".join(f"      {name}: {{{record}}}\n" for name in names))


def a_group_over_reloads(host):
    """Takers of a group wait until one of its pools has a free worker, also one that a reload adds.
    A pool that a reload removes keeps its leased worker until the return."""
    host.start(group(None, "ab", True))
    host.until(lambda: host.pool("db")["leases"]["leased"] == KEEPERS, "nobody keeps a worker")
    host.reload("reloaded", group(range(40), "ab", True))
    host.until(lambda: host.pool("db")["leases"]["waiting"] == USERS, "the users do not wait")
    answer = host.reload("reloaded", group(range(40), "abc", True))
    host.check([step["path"] for step in answer["steps"]] == ["pools.db/c"], f"{answer}")
    host.until(lambda: len(host.recorded()) == 40 + KEEPERS, "the users do not get the new one")
    host.until(lambda: host.pool("db")["leases"]["returned"] == 40, "the new one is not returned")
    host.check(host.pool("db")["leases"]["leased"] == KEEPERS, "a keeper has lost its worker")

    # A pool that is removed has a leased worker, which leaves after its return.
    host.reload("reloaded", group(range(200, 240), "bc", False, "{timeout: 2h, queue: 9}"))
    host.check("lease is revoked" not in host.log(), "a lease was revoked")
    numbers = list(range(40)) + [100, 101] + list(range(200, 240))
    all_of(host, numbers, "at the end")
    host.stop()
    host.check("balance=wrong" not in host.log() and "balance=exact" in host.log(), "the ledger")


def members(host):
    return subprocess.run([WEIR, "status", "--members", "--control", host.path["socket"]],
                          capture_output=True, check=True, text=True).stdout


def holders_and_takers_are_named(host):
    """Keepers have all members; then users wait for them."""
    numbers = list(range(40)) + [100, 101]
    host.start(file(range(40)))
    all_of(host, numbers[:40], "at the start")
    host.reload("reloaded", file(range(40), keepers=True))
    host.until(lambda: host.pool("db")["leases"]["leased"] == KEEPERS, "nobody takes a worker")
    leases = [member["lease"] for member in host.ask("GET", "/members/db")]
    host.check(sorted(lease["holder"] for lease in leases) == ["keepers#0", "keepers#1"], leases)
    host.check(all(lease["holder_pid"] > 0 and lease["age_ms"] >= 0 for lease in leases), leases)
    host.check(not any("lease" in member for member in host.ask("GET", "/members/users")),
               "a worker of a pool without leases is leased")
    lines = re.findall(r"^db#\d .*\n +leased to keepers#\d for \d\S*m?s$", members(host), re.M)
    host.check(len(lines) == KEEPERS, members(host))
    host.check("takers wait" not in members(host), members(host))

    host.reload("reloaded", file(range(200, 202), keepers=True))
    host.until(lambda: re.search(r"^db: takers wait: users#\d, users#\d$", members(host), re.M),
               "the takers are not named")
    host.check(metric(host, 'weir_pool_leases{pool="db",state="waiting"} 2'), "no metric")
    takers = host.pool("db")["leases"]["takers"]
    host.check(len(takers) == 2 and all(re.match(r"users#\d$", taker) for taker in takers), takers)
    host.reload("reloaded", file(range(200, 202), keepers=False))
    all_of(host, numbers + [200, 201], "at the end")
    host.stop()


def a_revoked_lease_is_logged_with_its_holder(host):
    host.start(file(range(1), ", lease: {timeout: 200ms, queue: 6}", keepers=True))
    host.until(lambda: re.search(r'component=db event="lease is revoked" reason="its time-out has '
                                 r'passed" holder=keepers#\d age_ms=', host.log()),
               "the log does not name the holder")
    host.process.kill()
    host.process.wait()


def crossed(keep, timeout="1h"):
    """Each of two holders takes a worker of one pool, then one of the other. The time-out is that
    of pool a."""
    record = "use: sink.record, size: 1, dispatcher: blocking, args: {path: RECORD, batch: 1}"
    return (BLOCKING + "sources:\n" + source("first", range(1), "left") +
            source("second", range(1, 2), "right") + "pools:\n" +
            "".join(f"  {name}: {{use: holder.worker, size: 1,"
                    f" args: {{pool: {pool}, then: {then}, keep: {str(keep).lower()}}}}}\n"
                    for name, pool, then in (("left", "a", "b"), ("right", "b", "a"))) +
            "".join(f"  {name}: {{{record}, lease: {{timeout: {time}, queue: 2}}}}\n"
                    for name, time in (("a", timeout), ("b", "1h"))))


def a_deadlock_of_holders_is_shown_and_ends(host):
    """Two holders have one worker each, and wait for that of the other: each stands in both lists.
    The time-out ends one lease, and the log names its holder; then the other one goes on."""
    host.start(crossed(True))
    for pool in "ab":
        host.until(lambda: host.pool(pool)["leases"]["leased"] == 1, f"nobody keeps {pool}")
    host.reload("reloaded", crossed(False))
    for line in (r"^a#0 .*\n +leased to left#0 for \d\S*m?s$", r"^b: takers wait: left#0$",
                 r"^b#0 .*\n +leased to right#0 for \d\S*m?s$", r"^a: takers wait: right#0$"):
        host.until(lambda: re.search(line, members(host), re.M), lambda: f"{line}: {members(host)}")
    host.check("lease is revoked" not in host.log(), "a lease was revoked")
    host.reload("reloaded", crossed(False, "50ms"))
    host.reload("reloaded", crossed(True, "50ms"))  # the holders renew their leases: 50 ms now
    code = host.process.wait()
    os.close(host.gate)
    host.check(code == 65, f"exit code {code}")  # the holder whose lease ended rejects its message
    told = re.findall(r'component=a event="lease is revoked" reason="its time-out has passed" '
                      r'holder=left#0 age_ms=', host.log())
    host.check(len(told) == 1 and host.log().count("lease is revoked") == 1, f"it tells {told}")
    host.check(sorted(host.recorded()) == [0, 1], f"{host.recorded()}")
    host.check("balance=wrong" not in host.log() and "balance=exact" in host.log(), "the ledger")


def a_holder_that_never_returns_does_not_keep_the_host(host):
    """A graceful end waits for `shutdown_timeout`, then the host ends."""
    text = host.text(file(range(1), keepers=True))
    host.start_with(text.replace("host: {", "host: {shutdown_timeout: 300ms, ", 1))
    host.until(lambda: host.pool("db")["leases"]["leased"] == KEEPERS, "nobody keeps a worker")
    host.process.terminate()
    code = host.process.wait()
    host.check(code == 75, f"exit code {code}")


def main():
    with tempfile.TemporaryDirectory() as work:
        for story in (leases_over_reloads, leases_come_and_go_under_load, a_group_over_reloads,
                      holders_and_takers_are_named,
                      a_revoked_lease_is_logged_with_its_holder,
                      a_deadlock_of_holders_is_shown_and_ends,
                      a_holder_that_never_returns_does_not_keep_the_host):
            story(Host(work, story.__name__))
            print(f"{story.__name__}: as promised", flush=True)


main()
