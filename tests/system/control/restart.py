#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   `weir restart POOL` gives every worker of a pool another incarnation while messages come,
        and none of them is lost or handled twice. Shows promise P20.
Method: a real host whose workers write down what they handled, restarted again and again; then one
        whose workers cannot open any more. Every wait is for a condition.

    restart.py WEIR PLUGINS TREE
"""
import json
import os
import sys
import tempfile

from control import Host, check, recorded, report_failures, running, until

RECORD = """
dispatchers: {{blocking: {{threads: 4, budget: 4}}}}
sources:
  numbers: {{use: gen.numbers, args: {{count: {count}}}, to: shelf}}
  endless: {{use: gen.forever, to: nobody}}
pools:
  nobody: {{use: sink.null, size: {{min: 0, max: 1}}}}
  shelf:
    members:
      left: {{use: sink.record, size: 2, dispatcher: blocking,
             args: {{path: "{work}/out.%i", batch: 1000}}}}
      right: {{use: sink.record, size: 2, dispatcher: blocking,
              args: {{path: "{work}/out.%i", batch: 1000}}}}
"""


def test_nothing_is_lost():
    count, times = 300000, 0
    with tempfile.TemporaryDirectory() as work:
        host = Host(work)
        host.write(RECORD.format(count=count, work=work))
        host.start()
        pids = {member["pid"] for member in host.json("status", "shelf", "--members")}
        while times < 3 or host.json("status", "shelf")["done"] < count:
            answer = host.json("restart", "shelf")
            check(answer == {"path": "shelf", "restarted": 4, "busy": 0, "failed": 0,
                             "opening": 0}, f"{answer}")
            times += 1
        check(host.run("restart", "shelf/left").stdout == "shelf/left: 2 workers restarted\n",
              "one pool of a nested one")
        check({member["pid"] for member in host.json("status", "shelf", "--members")} == pids,
              "the workers have their PIDs")
        check(host.json("status", "shelf")["dead"] == 0, "no dead letters")
        check(host.stop() == 0, "the exit code")
        numbers = recorded(work)
        check(sorted(numbers) == list(range(count)), f"{len(numbers)} numbers, "
              f"{len(set(numbers))} different, of {count}, after {times} restarts")
        with open(host.log, encoding="utf-8") as log:
            check('event="pool restarted" path=shelf restarted=4 busy=0' in log.read(),
                  "the log")


def test_workers_that_cannot_open_are_reported():
    text = """
sources: {{numbers: {{use: gen.forever, to: nobody}}}}
pools:
  nobody: {{use: sink.null, size: {{min: 0, max: 1}}}}
  work: {{use: sink.record, size: 2, args: {{path: "{path}/out.%i"}},
         restart: {{backoff: 10ms..20ms}}}}
"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out")
        os.mkdir(path)
        with running(text.format(path=path)) as host:
            for name in os.listdir(path):
                os.unlink(os.path.join(path, name))
            os.rmdir(path)
            answer = host.run("restart", "work")
            check(answer.returncode == 65 and answer.stdout == "" and
                  "work: 0 workers restarted; 2 could not open" in answer.stderr, f"{answer}")
            answer = host.run("restart", "work", "-o", "json")
            check(answer.returncode == 65 and json.loads(answer.stderr)["failed"] == 2, f"{answer}")
            os.mkdir(path)
            until(lambda: host.json("status", "work")["live"] == 2, "opened again")
            check(host.json("restart", "work")["restarted"] == 2, "all of them")


def test_wrong_calls_are_refused():
    with running("sources: {numbers: {use: gen.forever, to: work}}\n"
                 "pools: {work: {use: sink.null, size: 1}}\n") as host:
        check(host.run("restart").returncode == 64, "no pool")
        check(host.run("restart", "work", "work").returncode == 64, "two pools")
        check(host.run("restart", "nobody").returncode == 66, "no such pool")
        answer = host.run("restart", "numbers")
        check(answer.returncode == 66 and "it is a source" in answer.stderr, f"{answer}")
        check(host.get("/pools/work/restart")[0] == 404, "only a POST restarts")


def main():
    test_nothing_is_lost()
    test_workers_that_cannot_open_are_reported()
    test_wrong_calls_are_refused()
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
