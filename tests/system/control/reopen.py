#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   after USR1 and after HUP a sink writes to another file of the same name, and what it
        wrote before and after is whole. Shows promise H12.
Method: a real host whose worker writes numbers down without end; its file is renamed twice, as
        logrotate does. Every wait is for a condition.

    reopen.py WEIR PLUGINS TREE
"""
import os
import signal
import sys
import tempfile

from control import Host, check, report_failures, until

RECORD = """
dispatchers: {{blocking: {{threads: 1, budget: 1}}}}
sources: {{numbers: {{use: gen.forever, to: work}}}}
pools:
  work: {{use: sink.record, size: 1, dispatcher: blocking,
         args: {{path: "{path}", batch: 1, spin: 200000}}}}
"""


def numbers_of(path):
    with open(path, encoding="utf-8") as stream:
        return [int(line) for line in stream]


def rotate(host, path, name, number):
    os.rename(path, path + name)
    host.process.send_signal(number)
    until(lambda: os.path.exists(path) and os.path.getsize(path) > 0, "another file")


def main():
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "numbers")
        host = Host(work)
        host.write(RECORD.format(path=path))
        host.start()
        until(lambda: os.path.exists(path) and os.path.getsize(path) > 0, "the first file")
        rotate(host, path, ".1", signal.SIGUSR1)
        with open(host.log, encoding="utf-8") as log:
            check('event="files are opened again"' in log.read(), "the log")
        rotate(host, path, ".2", signal.SIGHUP)
        check(host.stop() == 0, "the exit code")
        numbers = [numbers_of(path + name) for name in (".1", ".2", "")]
        check(all(numbers), f"{[len(part) for part in numbers]} numbers")
        total = sum(numbers, [])
        check(total == list(range(len(total))), f"{len(total)} numbers, in order, each once")
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
