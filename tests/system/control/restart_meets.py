#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   `weir restart 'POOL#N'` meets leases, groups, waiting retries, gaps in the numbers, a
        reload, a worker that has stopped and, with --now, `redeliver` as decision 418 says. Shows
        promise C14 and promise C22.
Method: one real host for each row. Workers that hold a lease, wait at a FIFO, retry or fail are
        plugins of the tests. Every wait is for a condition.

    restart_meets.py WEIR PLUGINS TREE TEST_PLUGINS
"""
import contextlib
import os
import re
import sys
import tempfile
import threading

from control import Host, check, report_failures, until

FEED = "numbers: {{use: gen.numbers, args: {{count: {count}}}, to: {to}}}"
ENDLESS = "endless: {use: gen.forever, to: nobody}"
NOBODY = "  nobody: {use: sink.null, size: {min: 0, max: 1}}\n"


@contextlib.contextmanager
def running(pools, to, count=1):
    """`pools` gets the folder of the host."""
    with tempfile.TemporaryDirectory() as folder:
        host = Host(folder)

        def write(more=""):
            host.write(f"sources:\n  {FEED.format(count=count, to=to)}\n  {ENDLESS}\npools:\n" +
                       NOBODY + pools(folder, more))
        write()
        host.start()
        try:
            yield host, folder, write
        finally:
            host.stop(9)


def members(host, pool):
    return host.json("status", "--members", pool)


def restarted(host, worker, what):
    answer = host.run("restart", worker)
    return check(answer.stdout == f"{worker}: 1 worker restarted\n", f"{what}: {answer}")


def test_a_leased_worker_serves_its_holder_first(group):
    """The pool with leases is `db`, or a group of two pools of that name."""
    node = "use: sink.null, size: 1, remove: {timeout: 300ms}"
    db = (f"  db: {{route: least_loaded, lease: {{}}, members: {{a: {{{node}}}, b: {{{node}}}}}}}\n"
          if group else "  db: {use: sink.null, size: 2, lease: {}, remove: {timeout: 300ms}}\n")

    def pools(_, keep):
        return (f"{db}  users: {{use: holder.worker, size: 1, args: {{pool: db, "
                f"keep: {keep or 'true'}}}}}\n")

    def leased(host):
        return [f"{member['pool']}#{member['worker']}" for member in members(host, "db")
                if "lease" in member]

    with running(pools, "users") as (host, _, write):
        worker = until(lambda: leased(host), "a lease")[0]
        answer = host.run("restart", worker)
        check(answer.returncode == 65 and f"{worker}: 0 workers restarted; 1 was not restarted" in
              answer.stderr, f"it is leased: {answer}")
        check(leased(host) == [worker] and host.json("status", "users")["done"] == 0, "as before")
        write("false")
        check(host.run("reload").returncode == 0, "the holder returns it")
        until(lambda: host.json("status", "users")["done"] == 1, "the end of the lease")
        restarted(host, worker, "it is free")
        check(host.json("status", "db")["dead"] == 0, "no message is dead")


def test_a_message_that_waits_for_a_retry_stays():
    with running(lambda *_: "  work: {use: wayward.put_off, size: 1}\n", "work") as (host, *_):
        until(lambda: members(host, "work")[0]["retrying"] == 1, "a retry")
        restarted(host, "work#0", "it only waits")
        check(members(host, "work")[0]["retrying"] == 1, "it waits as before")
        said = host.run("status").stdout
        check("\nnote: pool work: 1 message waits for a retry: not today\n" in said, said)
        said = host.run("status", "--members", "work").stdout
        check(re.search(r"^work#0 .*\n    1 message waits for a retry\n", said, re.M), said)
        said = str(host.get("/metrics")[1])
        check('weir_pool_retrying_messages{pool="work"} 1' in said, said[-2000:])
        check(host.json("status", "work")["dead"] == 0, "it is not dead")


def test_numbers_with_a_gap_are_named():
    """Idle workers leave first: the busy one stays, with its number."""
    def pools(folder, _):
        os.mkfifo(f"{folder}/gate")
        return ("  work: {use: slow_open.pass, size: 3,\n"
                f"         outputs: {{out: last}}, args: {{barrier: {folder}/gate}}}}\n"
                "  last: {use: sink.null, size: 1}\n")

    with running(pools, "work") as (host, folder, _):
        until(lambda: host.json("status", "work")["in_hand"] == 1, "a busy worker")
        host.run("scale", "work", "1", "--wait")
        number = until(lambda: [members(host, "work")[0]["worker"]]
                       if len(members(host, "work")) == 1 else [], "one is left")[0]
        for other in {0, 1, 2} - {number}:
            answer = host.run("restart", f"work#{other}")
            check(answer.returncode == 66 and f"work has 1 worker, #{number} to #{number}, and no "
                  f"#{other}" in answer.stderr, f"{answer}")
        asker = threading.Thread(
            target=lambda: restarted(host, f"work#{number}", "after its message"))
        asker.start()
        with open(f"{folder}/gate", "wb", buffering=0) as gate:
            gate.write(b"y")
        asker.join()
        check(host.json("status", "last")["done"] == 1, "its message has been handled")


def test_a_reload_gives_the_number_to_another_worker():
    def pools(_, spin):
        return f"  work: {{use: sink.null, size: 2, args: {{spin: {spin or 1}}}}}\n"

    with running(pools, "work") as (host, _, write):
        before = [member["pid"] for member in members(host, "work")]
        restarted(host, "work#1", "the old one")
        check([member["pid"] for member in members(host, "work")] == before, "in its place")
        write("2")
        check(host.run("reload").returncode == 0, "the reload")
        until(lambda: len(members(host, "work")) == 2, "the old ones have ended")
        after = {member["worker"]: member["pid"] for member in members(host, "work")}
        restarted(host, f"work#{max(after)}", "the new one")
        check(not set(after.values()) & set(before), "other workers")
        # One after the other: none of them fails, whatever their order.
        write("3")
        reload = threading.Thread(target=lambda: check(host.run("reload").returncode == 0, "both"))
        reload.start()
        answer = host.run("restart", f"work#{max(after)}")
        reload.join()
        check(answer.returncode == 0 or "work has " in answer.stderr or
              "is leaving" in answer.stderr, f"during a reload: {answer}")


def test_a_worker_that_has_stopped_opens_and_counts_from_0():
    def pools(*_):
        return ("  work: {use: wayward.fail, size: 2, redeliver: 0,\n"
                "         restart: {max: 1, within: 1h, backoff: 1ms..1ms, then: stop}}\n")

    def stopped(host):
        return [member for member in members(host, "work") if member["state"] == "stopped"]

    with running(pools, "work", count=1000) as (host, *_):
        until(lambda: len(stopped(host)) == 2, "both have failed too often")
        before = [member["restarts"] for member in members(host, "work")]
        restarted(host, "work#1", "it has stopped")
        until(lambda: members(host, "work")[1]["restarts"] > before[1] and len(stopped(host)) == 2,
              "it fails too often again")
        after = [member["restarts"] for member in members(host, "work")]
        check(after == [before[0], 2 * before[1]], f"as often as before: {before} {after}")


def test_now_gives_the_message_of_a_child_again_as_redeliver_says(redeliver):
    def pools(*_):
        return f"""  work:
    use: exec.pipe
    size: 1
    redeliver: {redeliver}
    args:
      shell: true
      command:
        - |
          echo "ready 0" >&4
          while read -r kind size attempt rest <&3; do
            head -c "$size" <&3 > /dev/null
            if [ "$attempt" = 1 ]; then exec sleep 1000; fi
            echo "done 0" >&4
          done
"""

    with running(pools, "work") as (host, *_):
        until(lambda: host.json("status", "work")["in_hand"] == 1, "the child has the message")
        answer = host.run("restart", "work#0", "--now")
        check(answer.stdout == "work#0: 1 worker restarted\n", f"{answer}")
        figures = until(lambda: [found for found in [host.json("status", "work")]
                                 if found["done"] + found["dead"] == 1], "the end of it")[0]
        check((figures["done"], figures["dead"]) == (redeliver, 1 - redeliver), f"{figures}")
        letters = [letter["reason"] for letter in host.json("dead", "work")]
        check(letters == ["crashed"] * (1 - redeliver), f"the reason: {letters}")

        def lines():
            with open(host.log, encoding="utf-8") as log:
                return re.findall(r'level=(\w+) component=work#0 event="(an operator kills|child '
                                  r'ended)[^"]*"\s+process=(\d+)', log.read())

        process = until(lambda: len(lines()) > 1, "the line of the end") and lines()[0][2]
        check(lines()[:2] == [("warning", "an operator kills", process),
                              ("error", "child ended", process)], f"the cause first: {lines()}")


def main():
    os.environ["WEIR_PLUGIN_PATH"] = sys.argv[4]
    for group in (False, True):
        test_a_leased_worker_serves_its_holder_first(group)
    test_a_message_that_waits_for_a_retry_stays()
    test_numbers_with_a_gap_are_named()
    test_a_reload_gives_the_number_to_another_worker()
    test_a_worker_that_has_stopped_opens_and_counts_from_0()
    for redeliver in (0, 1):
        test_now_gives_the_message_of_a_child_again_as_redeliver_says(redeliver)
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
