#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   `weir restart 'POOL#N'` restarts one worker, whatever else its pool is set to do, and
        says why when it cannot; with --now the process of the worker is killed. Shows promise C22.
Method: a real host with a pool of each kind, and a table of what is asked and what is answered.
        Every wait is for a condition.

    restart_one.py WEIR PLUGINS TREE
"""
import os
import signal
import sys
import tempfile

from control import Host, check, report_failures, until

ROUTES = ("round_robin", "least_loaded", "random", "hash", "pull", "broadcast")
PIPE = """{use: exec.pipe, size: 2, args: {shell: true,
           command: ['echo "ready 0" >&4; read x <&3; exec sleep 1000']}}"""
FILE = f"""
sources:
  numbers: {{use: gen.numbers, args: {{count: 2}}, to: busy}}
  number: {{use: gen.numbers, args: {{count: 1}}, to: held}}
  endless: {{use: gen.forever, to: r_pull}}
pools:
  {"".join(f"r_{route}: {{use: sink.null, size: 4, route: {route}}}" + chr(10) + "  "
           for route in ROUTES)}
  nest: {{members: {{left: {{use: sink.null, size: 2}}, right: {{use: sink.null, size: 1}}}}}}
  elastic: {{use: sink.null, size: {{min: 1, max: 3}}, scale: {{}}}}
  none: {{use: sink.null, size: {{min: 0, max: 1}}}}
  rests: {{use: sink.null, size: 2}}
  peers: {PIPE}
  busy: {{use: exec.run, size: 2, redeliver: 1, args: {{command: [sleep, "1000"]}}}}
  held: {{use: exec.run, size: 1, remove: {{timeout: 300ms}},
         args: {{command: [sleep, "1000"]}}}}
"""
HELD = "0 workers restarted; 1 was not restarted: it had messages in hand for too long\n"

# worker, options, exit code, what is said
ROWS = (
    *((f"r_{route}#{index}", (), 0, f"r_{route}#{index}: 1 worker restarted\n")
      for route in ROUTES for index in (0, 3)),
    ("nest/left#1", (), 0, "nest/left#1: 1 worker restarted\n"),
    ("elastic#0", (), 0, "elastic#0: 1 worker restarted\n"),
    ("rests#1", (), 0, "rests#1: 1 worker restarted\n"),  # paused
    ("peers#0", (), 0, "peers#0: 1 worker restarted\n"),
    ("held#0", (), 65, f"held#0: {HELD}"),
    ("r_pull#4", (), 66, "error: r_pull has 4 workers, #0 to #3, and no #4\n"),
    ("nest/right#1", (), 66, "error: nest/right has 1 worker, #0 to #0, and no #1\n"),
    ("none#0", (), 66, "error: none has no workers\n"),
    ("nest#0", (), 65, "error: the members of nest are pools: name a worker of one of them\n"),
    ("r_pull#", (), 66, "error: there is no r_pull#\n"),
    ("r_pull#-1", (), 66, "error: there is no r_pull#-1\n"),
    ("r_pull#1x", (), 66, "error: there is no r_pull#1x\n"),
    ("r_pull#4294967295", (), 66, "error: there is no r_pull#4294967295\n"),
    ("r_pul#1", (), 66, 'error: there is no pool "r_pul"; did you mean "r_pull"?\n'),
    ("numbers#0", (), 66, 'error: there is no pool "numbers": it is a source, which `weir inspect` '
                          "shows\n"),
    ("elastic#0", ("--now",), 65, "error: elastic#0 has no process that could be killed: without "
                                 "--now it is restarted after its message in hand\n"),
    ("r_pull", ("--now",), 64, "weir restart: --now takes one worker, such as 'r_pull#0'\n"),
)


def processes(host, pool):
    """The process of each worker; 0: none now."""
    return [member.get("process", {"pid": 0})["pid"]
            for member in host.json("status", "--members", pool)]


def ready(host, pool):
    """When all its workers have a process."""
    return until(lambda: [found for found in [processes(host, pool)] if all(found)], pool)[0]


def test_each_row(host):
    host.run("pause", "rests")
    ready(host, "held")
    before = ready(host, "peers")
    for worker, options, code, words in ROWS:
        answer = host.run("restart", worker, *options)
        said = answer.stdout + answer.stderr
        check(answer.returncode == code and words in said, f"{worker}: {answer}")
    after = ready(host, "peers")
    check(after[0] != before[0] and after[1] == before[1], "one worker, and no other")
    check(host.json("status", "rests")["paused"] == 1, "still paused")
    check(host.get("/pools/r_pull/restart")[0] == 404, "only a POST restarts")
    check(host.http("POST /pools/r_pull/restart?now=1 HTTP/1.1\r\nHost: x\r\n\r\n")[0] == 400,
          "now for a whole pool")
    check(host.json("restart", "r_pull#2") == {"path": "r_pull#2", "restarted": 1, "busy": 0,
                                               "failed": 0, "opening": 0}, "as JSON")
    check(host.json("status", "busy")["dead"] == 0 and host.json("status", "r_pull")["dead"] == 0,
          "no message was lost")


NOBODY = "there is no pool, source, worker or actor"
# What `weir inspect` says of what there is not.
LOOKS = (
    ("r_pull#4", "error: r_pull has 4 workers, #0 to #3, and no #4\n"),
    ("none#0", "error: none has no workers\n"),
    ("nest#0", "error: the members of nest are pools: name a worker of one of them\n"),
    ("r_pul", f'error: {NOBODY} "r_pul"; did you mean "r_pull"?\n'),
    ("left", f'error: {NOBODY} "left"; did you mean "nest/left"?\n'),
)


def test_what_is_not_there_is_named(host):
    for path, words in LOOKS:
        answer = host.run("inspect", path)
        check(answer.returncode == 66 and answer.stderr == words, f"{path}: {answer}")
    for command in ("send", "request"):
        answer = host.run(command, "r_hash", "x")
        check(answer.returncode != 0 and
              "r_hash routes by hash: give a key, --key TEXT" in answer.stderr, f"{answer}")
    answer = host.run("request", "r_broadcast", "x")
    check(answer.returncode != 0 and "--key" not in answer.stderr, f"no key helps: {answer}")


def test_now_kills_the_process(host):
    before = ready(host, "peers")
    answer = host.run("restart", "peers#1", "--now")
    check(answer.stdout == "peers#1: 1 worker restarted\n", f"{answer}")
    after = ready(host, "peers")
    check(after[0] == before[0] and after[1] != before[1], "the process of that worker")
    check(not os.path.exists(f"/proc/{before[1]}"), "it has gone")
    # A command that is killed fares as one that another hand has killed: it is rejected.
    first = ready(host, "busy")
    answer = host.run("restart", "busy#0", "--now")
    check(answer.stdout == "busy#0: 1 worker restarted\n", f"{answer}")
    letters = host.json("dead", "busy")
    check([(letter["reason"], letter["detail"]) for letter in letters] ==
          [("rejected", "signal 9 (KILL)")], f"{letters}")
    check(processes(host, "busy")[1] == first[1], "the other command runs")
    check(host.json("status", "busy")["in_hand"] == 1, "and its message is in hand")


def test_leaving_worker_and_ending_host_refuse(host):
    host.run("scale", "busy", "0")
    until(lambda: [m["state"] for m in host.json("status", "--members", "busy") if m["worker"] == 1]
          in (["leaving"], []), "one leaves")
    answer = host.run("restart", "busy#1")
    check(answer.returncode in (65, 66) and
          ("busy#1 is leaving: it ends when" in answer.stderr or
           "busy has no workers" in answer.stderr), f"{answer}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        host = Host(folder)
        host.write(FILE)
        host.start()
        test_what_is_not_there_is_named(host)
        test_each_row(host)
        test_now_kills_the_process(host)
        test_leaving_worker_and_ending_host_refuse(host)
        host.stop(signal.SIGKILL)
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
