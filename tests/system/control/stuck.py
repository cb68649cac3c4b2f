#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a worker that is in one callback for longer than `turn_warning` is named, with its
        callback, message, thread and stack, by `weir status --members` and by a `weir restart` that
        cannot restart it; when the callback returns it goes on, and is named no more. Shows promise
        C23. With `--now` a worker that is stuck in `handle` is left behind: its message is dead
        `stuck`, and a new worker has its number. Shows promise C24.
Method: a real host whose workers wait at a FIFO, in `handle` and in `open`, on a dispatcher that
        may block and on one that may not. Every wait is for a condition.

    stuck.py WEIR PLUGINS TREE TEST_PLUGINS
"""
import contextlib
import json
import os
import re
import sys
import tempfile

from control import Host, check, report_failures, until

POOLS = ("hog", "pass")  # the second may block


def text(folder):
    pools = "".join(f"""
  {name}: {{use: slow_open.{name}, size: 2, remove: {{timeout: 300ms}}, outputs: {{out: last}},
            args: {{barrier: {folder}/{name}}}}}""" for name in POOLS)
    return f"""
sources:
  {" ".join(f"to_{name}: {{use: gen.numbers, args: {{count: 1}}, to: {name}}}" + chr(10) + " "
            for name in POOLS)}
  endless: {{use: gen.forever, to: last}}
pools:{pools}
  door: {{use: slow_open.hog, size: {{min: 0, max: 1}}, outputs: {{out: last}},
         args: {{gate: {folder}/door}}}}
  last: {{use: sink.null, size: 1}}
"""


def stuck(host, pool):
    """The workers of a pool that are named, by their numbers."""
    return {member["worker"]: member["stuck"]
            for member in host.json("status", "--members", pool) if "stuck" in member}


def await_stuck(host, pool):
    return until(lambda: stuck(host, pool), f"{pool} is stuck")


def let_go(folder, name, count=1):
    """So many threads together: when a writer closes, every reader sees the end of the file."""
    with open(f"{folder}/{name}", "wb", buffering=0) as gate:
        gate.write(count * b"y")


def test_named(host, pool):
    named = await_stuck(host, pool)
    check(len(named) == 1, f"one worker of two: {named}")
    index, turn = next(iter(named.items()))
    check(turn["callback"] == "handle" and turn["message"] == "gen.number/1" and turn["ms"] >= 50,
          f"{turn}")
    check(re.search(r"wait_at \(\w+\.so\+0x[0-9a-f]+\) < pass_on \(\w+\.so\+0x", turn["stack"]),
          f"{turn}")
    check("weir+0x" not in turn["stack"], f"frames of the host below the plugin: {turn}")
    check(os.path.exists(f"/proc/{host.process.pid}/task/{turn['thread']}"), f"its thread: {turn}")
    shown = host.run("status", "--members", pool).stdout
    check("    in handle for " in shown and "with gen.number/1, in thread " in shown, shown)
    return index


def test_now_says_why_not(host, pool, index):
    answer = host.run("restart", f"{pool}#{1 - index}", "--now")
    check("without --now it is restarted after its message" in answer.stderr, f"idle: {answer}")


def test_restart_waits_and_names(host, pool, index):
    answer = host.run("restart", f"{pool}#{index}")
    said = answer.stdout + answer.stderr
    check(answer.returncode == 65 and "1 was not restarted: it had messages in hand" in said and
          f"\n{pool}#{index} is in handle for " in said, f"{answer}")
    answer = host.run("restart", f"{pool}#{index}", "-o", "json")
    answer = json.loads(answer.stdout or answer.stderr)
    check(answer["busy"] == 1 and answer["stuck"]["callback"] == "handle", f"{answer}")
    check(stuck(host, pool).keys() == {index}, "still there")


def test_goes_on(host, folder, pool, index):
    let_go(folder, pool)
    until(lambda: host.json("status", pool)["done"] == 1, f"{pool} goes on")
    until(lambda: not stuck(host, pool), f"{pool} is stuck no more")
    answer = host.run("restart", f"{pool}#{index}")
    check(answer.stdout == f"{pool}#{index}: 1 worker restarted\n", f"{answer}")
    check(host.json("status", pool)["dead"] == 0, "no message was lost")


def figures(host, pool):
    status = host.json("status", pool)
    return {name: status[name] for name in ("done", "dead", "queued", "live")}


def test_left_behind(host, folder, pool):
    """The message of the old worker is dead, and the one behind it is handled by the new one."""
    before = figures(host, pool)
    host.run("send", pool, "first")
    index = next(iter(await_stuck(host, pool)))
    old = stuck(host, pool)[index]["thread"]
    answer = host.run("restart", f"{pool}#{index}", "--now")
    said = answer.stdout + answer.stderr
    check(answer.returncode == 0 and f"{pool}#{index}: 1 worker restarted\n" in said and
          "is dead `stuck`, and its thread is left behind: it is in handle for " in said,
          f"{answer}")
    with open(host.log, encoding="utf-8") as log:
        line = [line for line in log if f"restarted\" path={pool}#{index} " in line][-1]
    check("restarted=1 " in line and "killed=nothing" in line, f"no process was killed: {line}")
    check(figures(host, pool) == {**before, "dead": before["dead"] + 1}, f"{figures(host, pool)}")
    rows = [member for member in host.json("status", "--members", pool)
            if member["worker"] == index]
    check([("stuck" in row, row["state"]) for row in rows] == [(False, "open"), (True, "leaving")],
          f"the old one is named, and the new one is not: {rows}")
    letters = host.json("dead", pool)
    check([letter["reason"] for letter in letters].count("stuck") == before["dead"] + 1,
          f"{letters}")
    check(host.run("reload").returncode == 0, "a reload with one left behind")
    check(stuck(host, pool)[index]["thread"] == old, "it stays")
    let_go(folder, pool)
    until(lambda: not stuck(host, pool), f"{pool} has no thread that is left behind")
    until(lambda: len(host.json("status", "--members", pool)) == 2, "the old one has ended")
    check(figures(host, pool) == {**before, "dead": before["dead"] + 1}, "once")


def test_left_behind_twice(host, folder, pool):
    """The second while the first is still stuck; after both have returned the pool works."""
    before = figures(host, pool)
    for count in (1, 2):
        host.run("send", pool, "again")
        index = next(iter(until(lambda: {member["worker"]: member
                                         for member in host.json("status", "--members", pool)
                                         if "stuck" in member and member["state"] == "open"},
                                "one more is stuck")))
        answer = host.run("restart", f"{pool}#{index}", "--now", "-o", "json")
        answer = json.loads(answer.stdout or answer.stderr)
        check(answer["restarted"] == 1 and answer["left_behind"] and
              answer["stuck"]["callback"] == "handle", f"{answer}")
        check(figures(host, pool)["dead"] == before["dead"] + count, "its message is dead")
    let_go(folder, pool, count=2)
    until(lambda: len(host.json("status", "--members", pool)) == 2, "both have ended")
    host.run("send", pool, "last")
    let_go(folder, pool)
    until(lambda: host.json("status", pool)["done"] == before["done"] + 1, f"{pool} works")


def test_open_is_named(host, folder):
    host.run("scale", "door", "1")
    named = await_stuck(host, "door")
    check(named[0]["callback"] == "open" and named[0]["message"] == "" and
          re.search(r"wait_at \(.*\) < open_gate \(", named[0]["stack"]), f"{named}")
    answer = host.run("restart", "door#0", "--now")
    check(answer.returncode == 65 and answer.stderr.startswith(
        "error: door#0 has no process that could be killed, and its thread is not left behind: "
        "only a thread in `handle` is left behind; it is in open for "), f"{answer}")
    let_go(folder, "door")
    until(lambda: not stuck(host, "door"), "the door is open")


IDLE = """
pools:
  pass: {use: slow_open.pass, size: 6, outputs: {out: last}, args: {barrier: FOLDER/many}}
  last: {use: sink.null, size: 1}
"""


def test_named_soon_in_a_host_without_sources():
    """Such a host looks once a second while nothing lasts. More than one thread is asked."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(f"{folder}/many")
        host = Host(folder)
        host.write(IDLE.replace("FOLDER", folder), more=", turn_warning: 50ms")
        host.start()

        def is_soon():
            host.run("send", "pass", *"abcdef")
            until(lambda: len(stuck(host, "pass")) == 6, "all are named")
            with open(host.log, encoding="utf-8") as log:
                found = [int(ms) for ms in re.findall(r'event="turn takes long" ms=(\d+)',
                                                      log.read())]
            let_go(folder, "many", 6)
            until(lambda: not stuck(host, "pass"), "they go on")
            return max(found[-6:]) < 900

        until(is_soon, "a long turn is reported before a second has passed")
        host.stop(9)


@contextlib.contextmanager
def one_left_behind(more):
    """A host with a pool whose only worker was left behind at a FIFO, and another one in it."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(f"{folder}/many")
        host = Host(folder)
        host.write(IDLE.replace("FOLDER", folder).replace("size: 6", "size: 1"),
                   more=", turn_warning: 50ms" + more)
        host.start()
        host.run("send", "pass", "first")
        await_stuck(host, "pass")
        check(host.run("restart", "pass#0", "--now").returncode == 0, "it is left behind")
        try:
            yield host, folder
        finally:
            host.stop(9)


def test_the_end_waits_for_a_thread_that_is_left_behind():
    """It comes back in time: nothing is unfinished. Meanwhile nobody else is left behind."""
    with one_left_behind("") as (host, folder):
        host.process.send_signal(15)
        until(lambda: host.json("status")["host"]["state"] == "stopping", "the order to end")
        answer = host.run("restart", "pass#0", "--now")
        check(answer.returncode != 0 and "the host is ending" in answer.stderr, f"{answer}")
        let_go(folder, "many")
        check(host.process.wait() == 0, "the exit code")


def test_the_end_leaves_a_thread_that_does_not_come_back():
    with one_left_behind(", shutdown_timeout: 300ms") as (host, _):
        check(host.stop() == 75, "the exit code")
        with open(host.log, encoding="utf-8") as log:
            said = log.read()
        check(re.search(r'level=\w+ component=\S+ event="[^"]*" [^\n]*pass', said) and
              "left behind" in said, said[-2000:])


def main():
    os.environ["WEIR_PLUGIN_PATH"] = sys.argv[4]
    with tempfile.TemporaryDirectory() as folder:
        for name in (*POOLS, "door"):
            os.mkfifo(f"{folder}/{name}")
        host = Host(folder)
        host.write(text(folder), more=", turn_warning: 50ms")
        host.start()
        for pool in POOLS:
            index = test_named(host, pool)
            test_now_says_why_not(host, pool, index)
            test_restart_waits_and_names(host, pool, index)
            test_goes_on(host, folder, pool, index)
        test_left_behind(host, folder, "hog")
        test_left_behind_twice(host, folder, "hog")
        test_open_is_named(host, folder)
        host.stop(9)
    test_named_soon_in_a_host_without_sources()
    test_the_end_waits_for_a_thread_that_is_left_behind()
    test_the_end_leaves_a_thread_that_does_not_come_back()
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
