#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   while a reload has ended an exclusive source and opens the next one, that one obeys
        `weir pause` and `weir resume`. Shows promise P45.
Method: a real host. The next source waits at a FIFO in `open` until the order was given.

    pause_meets.py WEIR PLUGINS TREE TEST_PLUGINS
"""
import os
import sys
import tempfile
import threading

from control import Host, check, report_failures, until

FILE = """
sources:
  lone: {{use: slow_open.lone, args: {args}, to: work}}
  beside: {{use: gen.forever, to: rest}}
pools:
  work: {{use: sink.null, size: 1}}
  rest: {{use: sink.null, size: 1}}
"""


def done(host, pool):
    return host.json("status", pool)["done"]


def state(host):
    return host.json("status")["sources"][0]["state"]


def reload_with(host, folder, order):
    """A reload, with an order while the next source opens."""
    gate = os.path.join(folder, order)
    os.mkfifo(gate)
    host.write(FILE.format(args=f"{{gate: {gate}}}"))
    answers = []
    reload = threading.Thread(target=lambda: answers.append(host.run("reload")))
    reload.start()
    with open(gate, "wb") as stream:  # it waits there
        answer = host.run(order, "lone")
        check(answer.returncode == 0, f"{order}: {answer}")
        stream.write(b"y")
    reload.join()
    check(answers[0].returncode == 0, f"the reload: {answers}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        host = Host(folder)
        host.write(FILE.format(args="{}"))
        host.start()
        until(lambda: done(host, "work") > 0, "it sends")
        reload_with(host, folder, "pause")
        check(state(host) == "paused", state(host))
        before, rest = done(host, "work"), done(host, "rest")
        until(lambda: done(host, "rest") > rest, "the other one sends")
        check(done(host, "work") == before, "a paused source sends")
        reload_with(host, folder, "resume")
        check(state(host) in ("open", "waiting"), state(host))
        until(lambda: done(host, "work") > before, "it sends again")
        check(host.stop() == 0, "the exit code")
    return report_failures()


if __name__ == "__main__":
    os.environ["WEIR_PLUGIN_PATH"] = sys.argv[4]
    sys.exit(main())
