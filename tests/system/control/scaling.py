#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   an operator sets the size of a pool that scales itself, and lets it go on; the command,
        the log, status, the plan and the metrics say so. Shows promise G6.
Method: real hosts, real commands. Every wait is for a condition.

    scaling.py WEIR PLUGINS TREE
"""
import os
import re
import sys

from control import busy, check, report_failures, running, until

SCALING = """
pools: {work: {use: sink.null, size: {min: 1, max: 6}, scale: SCALE}, fixed: {use: sink.null},
  above: {members: {one: {use: sink.null}}}}
"""


def scaling(scale="{wait: 100ms, idle: 1h}"):
    return SCALING.replace("SCALE", scale)


def planned(host, scale):
    """The steps and the laws of a plan to another law."""
    path = os.path.join(host.work, "next.yaml")
    with open(host.file, encoding="utf-8") as stream:
        text = stream.read()
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(re.sub(r"scale: \{[^}]*\}", f"scale: {scale}", text))
    answer = host.run("plan", path)
    check(answer.returncode == 0, f"plan: {answer.stderr}")
    return answer.stdout, host.json("plan", path)


def lines_of(host, text):
    with open(host.log, encoding="utf-8") as stream:
        return [line for line in stream if text in line]


def test_scale_is_suspended_and_goes_on():
    """promise G6: said by the command, the log, status, the plan and the metrics"""
    with running(scaling()) as host:
        check(host.json("status", "work")["scale"] == "auto", "it scales itself at first")
        check(host.json("status", "fixed")["scale"] == "none", "a pool without a law")
        check("note:" not in host.run("status").stdout, "no note at first")
        said = host.run("scale", "work", "3", "--wait").stdout
        check(said == "work: 3 workers, 2 changed; automatic scaling is suspended\n", said)
        status = host.json("status", "work")
        check(status["live"] == 3 and status["scale"] == "suspended" and
              status["resizes"]["operator"] == 1, f"suspended: {status}")
        check(host.run("scale", "work", "4", "--wait").returncode == 0, "4 workers")
        check(len(lines_of(host, "automatic scaling is suspended")) == 1, "one line of the log")
        check(len(lines_of(host, "by=operator")) == 2, "the requester, in the log")
        check("note: pool work does not scale itself: its size was set to 4; "
              "`weir scale work auto` ends that" in host.run("status").stdout, "the note")
        check("scale            suspended, wait 100ms, idle 1h" in
              host.run("status", "work").stdout, "one pool's table")
        check('weir_pool_resizes_total{pool="work",by="operator"} 2' in host.get("/metrics")[1],
              "the requester, in the metrics")
        text, plan = planned(host, "{wait: 100ms, idle: 1h}")
        check("pools.work.scale: suspended -> wait 100ms, idle 1h" in text, f"the plan: {text}")
        said = host.run("scale", "work", "auto").stdout
        check(said == "work: 4 workers, 0 changed; the pool scales itself\n", said)
        check(host.json("status", "work")["scale"] == "auto", "it scales itself again")
        check(len(lines_of(host, "automatic scaling goes on")) == 1, "a line of the log")
        text, plan = planned(host, "{wait: 200ms, idle: 1h}")
        check("pools.work.scale: wait 100ms, idle 1h -> wait 200ms, idle 1h" in text, text)
        check("note: pools.work.scale: stays at 4 now: it stays as it is\n" in text, text)
        check(plan.get("laws") == [{"path": "work", "now": 4, "target": 4,
                                "reason": "it stays as it is"}], f"the law: {plan}")
        check(host.run("scale", "work", "2").returncode == 0, "2 workers")
        check(host.run("reload").returncode == 0, "reload")
        check(host.json("status", "work")["scale"] == "auto", "a reload resumes the law")
        refused = host.run("scale", "fixed", "auto")
        check(refused.returncode == 65 and "fixed cannot scale itself: it has no `scale` in the "
              "file" in refused.stderr, refused.stderr)
        refused = host.run("scale", "above", "auto")
        check(refused.returncode == 65 and "its members are pools: scale one of them"
              in refused.stderr, refused.stderr)


def test_scale_waits():
    """`--wait` returns when the pool has its target, or says how many workers are missing."""
    with running(busy("1")) as host:
        check(host.run("scale", "work", "4", "--wait").returncode == 0, "wider")
        status = host.json("status", "work")
        check(status["live"] == 4 and status["starting"] == 0, f"4 are open: {status}")
        check(host.run("scale", "work", "1", "--wait").returncode == 0, "narrower")
        status = host.json("status", "work")
        check(status["live"] == 1 and status["retiring"] == 0, f"1 is left: {status}")
        check(host.run("scale", "work", "1", "--timeout", "x").returncode == 64, "no time")
    failing = "pools: {work: {use: sink.record, size: 0, args: {path: /nowhere/at/all}}}\n"
    with running(failing) as host:
        late = host.run("scale", "work", "1", "--wait", "--timeout", "1ms")
        check(late.returncode == 75 and "work has 0 of 1 workers open, 1 opening, 0 stopped" in
              late.stderr, f"not open: {late.stderr}")
    stopping = failing.replace("size: 0", "size: 0, restart: {max: 1, backoff: 1ms..1ms, "
                               "then: stop}")
    with running(stopping) as host: # never longer than until the worker has stopped
        late = host.run("scale", "work", "1", "--wait", "--timeout", "1h")
        check(late.returncode == 75 and "work has 0 of 1 workers open, 0 opening, 1 stopped" in
              late.stderr, f"stopped: {late.stderr}")


def test_maximum_is_reported_once():
    """The log says once that a pool has its maximum, not at each check."""
    line = "the pool has its maximum of workers, and messages still wait"
    with running(busy("{min: 1, max: 2}, scale: {wait: 0ms, idle: 1h}")) as host:
        until(lambda: lines_of(host, line), "the maximum is logged")
        check("component=work" in lines_of(host, line)[0] and "size=2" in lines_of(host, line)[0],
              lines_of(host, line)[0])
        done = host.json("status", "work")["done"]
        until(lambda: host.json("status", "work")["done"] > done + 5000, "it goes on")
        check(len(lines_of(host, line)) == 1, "it is logged once")


def test_growth_by_itself_is_counted_apart():
    """The requester of a resize is in the metrics, the status and the log."""
    with running(busy("{min: 1, max: 3}, scale: {wait: 0ms, idle: 1h}")) as host:
        until(lambda: host.json("status", "work")["live"] == 3, "it grows by itself")
        resizes = host.json("status", "work")["resizes"]["scale"]
        check(1 <= resizes <= 2, f"{resizes} changes by itself, from 1 to 3 workers")
        metrics = host.get("/metrics")[1]
        for by, count in (("scale", resizes), ("operator", 0)):
            check(f'weir_pool_resizes_total{{pool="work",by="{by}"}} {count}\n' in metrics,
                  f"by={by}: {metrics}")
        until(lambda: len(lines_of(host, "by=scale")) >= resizes, "the requester, in the log")
        check(len(lines_of(host, "by=scale")) == resizes, "a line for each change")


def test_limits_are_reported():
    """no number stands for a word"""
    with running("pools: {one: {use: sink.null, mailbox: unbuffered},\n"
                 "        two: {use: sink.null, mailbox: unlimited},\n"
                 "        all: {members: {three: {use: sink.null}}}}\n") as host:
        text = host.get("/metrics")[1]
        check('weir_pool_mailbox_limit_messages{pool="one"} 0\n' in text and
              'weir_pool_mailbox_limit_messages{pool="two"} +Inf\n' in text, "the limits")
        for pool, word in (("one", "unbuffered"), ("two", "unlimited")):
            check(f"limit            {word}" in host.run("status", pool).stdout, "status")
            found = [host.json("status", pool)]
            found += [one for one in host.json("status")["pools"] if one["path"] == pool]
            check([one["limit"] for one in found] == [word] * 2 and
                  [one["mailbox"] for one in found] == [word] * 2, f"status --json: {found}")
            inspected = [host.json("inspect", pool)["items"]["worker_mailbox_size"],
                         host.json("inspect", f"{pool}#1")["items"]["mailbox"]]
            check(inspected == [word] * 2, f"inspect: {inspected}")
        check(host.json("status", "all")["limit"] == 0 and
              "limit            0" in host.run("status", "all").stdout, "no limit of its own")


if __name__ == "__main__":
    test_scale_is_suspended_and_goes_on()
    test_scale_waits()
    test_maximum_is_reported_once()
    test_growth_by_itself_is_counted_apart()
    test_limits_are_reported()
    sys.exit(report_failures())
