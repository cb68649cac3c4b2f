#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   `retry` of a pool decides about the messages of a source with a position, of a queue in a
        file and of messages without an origin: the number of tries, the dead letter, and a reload
        of each key without a new worker. At TERM a retry that is not due is a dead letter that is
        stored, and one with an origin is tried again by the next host. Shows promises B75 and B76.
Method: real hosts. A command writes down the number of the try of each line, and asks for it
        again. Every wait is for a condition.

    retry.py WEIR PLUGINS TREE
"""
import contextlib
import os
import re
import tempfile

from control import Host, check, run_tests, until

LINES = """
sources:
  lines: {use: files.tail, to: work,
          args: {paths: [WORK/in], from: begin, position: WORK/position}}
"""
QUEUE = """
sources:
  feed: {use: files.tail, to: in, args: {paths: [WORK/in], from: begin}}
  take: {use: queue.take, args: {file: WORK/jobs, queue: t, backoff: 1ms}, to: work}
"""
PUT = "  in: {use: queue.put, size: 1, args: {file: WORK/jobs, queue: t, min_free: 0}}\n"
NONE = ""
POOL = """pools:
MORE  work:
    use: exec.run
    size: 1
    dispatcher: default
    args: {command: [/bin/sh, -c, 'echo $WEIR_ATTEMPT >> WORK/tries; exit 75'], retry: [75],
           retry_after: 1ms}
    retry: {RETRY}
    remove: {timeout: 5s}
"""


class Fixture(Host):
    def __init__(self, work, sources, more=""):
        super().__init__(work)
        self.sources, self.more = sources, more

    def configure(self, retry):
        text = self.sources + POOL.replace("MORE", self.more)
        self.write(text.replace("RETRY", retry).replace("WORK", self.work),
                   more=f', dead_letters: {{file: "{self.work}/dead"}}')

    def add(self, text="one\n"):
        with open(os.path.join(self.work, "in"), "a", encoding="utf-8") as stream:
            stream.write(text)

    def tries(self):
        with contextlib.suppress(FileNotFoundError):
            with open(os.path.join(self.work, "tries"), encoding="utf-8") as stream:
                return [int(line) for line in stream]
        return []

    def dead_file(self):
        with open(os.path.join(self.work, "dead"), encoding="utf-8", errors="replace") as stream:
            return stream.read()

    def text(self):
        with open(self.log, encoding="utf-8") as stream:
            return stream.read()

    def logged(self, text):
        return text in self.text()


@contextlib.contextmanager
def fixture(sources, retry, more=""):
    with tempfile.TemporaryDirectory() as work:
        host = Fixture(work, sources, more)
        host.configure(retry)
        host.add()
        host.start()
        try:
            yield host
        finally:
            host.stop(9)


def tried_to_the_end(host, count):
    until(lambda: host.logged("reason=retries"), "a dead letter")
    check(host.tries() == list(range(1, count + 1)), f"the tries: {host.tries()}")


def test_source_with_a_position():
    with fixture(LINES, "max: 5, backoff: 1ms..2ms") as host:
        tried_to_the_end(host, 6)
        host.add("two\n")
        until(lambda: len(host.tries()) == 12, "the position goes on past the dead one")


def test_queue_in_a_file():
    with fixture(QUEUE, "max: 2, backoff: 1ms..2ms", PUT) as host:
        tried_to_the_end(host, 3)


def test_reload_of_each_key():
    with fixture(LINES, "max: unlimited, backoff: 1ms..1ms") as host:
        until(lambda: len(host.tries()) > 5, "tries without end")
        host.configure("max: 0, backoff: 1ms..1ms")
        answer = host.run("reload")
        check(answer.returncode == 0 and "retry.max" in answer.stdout, f"{answer}")
        until(lambda: host.logged("reason=retries"), "a dead letter after the reload")
        check(host.tries() == list(range(1, len(host.tries()) + 1)), "one after the other")
        text = host.run("inspect", "work").stdout
        check("1ms..1ms" in text and "retry.for" not in text, f"inspect: {text}")
        count = len(host.tries())
        host.configure("backoff: 1h..1h, for: 1h")
        answer = host.run("reload")
        check("retry.backoff" in answer.stdout and "retry.for" in answer.stdout, f"{answer}")
        host.add("two\n")
        until(lambda: len(host.tries()) == count + 1, "the next line")
        until(lambda: re.search(r"after_ms=\d{7}", host.text()), "a pause of an hour")
        check(host.logged("after_ms=1 ") or host.logged("after_ms=1\n"), "a pause of 1 ms")
        check(re.search(r"worker_restarts\s+0", host.run("inspect", "work").stdout), "a restart")
        check(not host.logged("worker is replaced"), "a new worker")


def test_end_with_an_origin():
    with fixture(LINES, "max: unlimited, backoff: 1h..1h") as host:
        until(lambda: host.logged("message is given again"), "the first try")
        check(host.stop() == 0, "the end")
        host.configure("max: 0")
        host.start()
        until(lambda: len(host.tries()) == 2, "the next host tries it")


def test_end_while_a_retry_waits():
    with fixture(NONE, "max: 1, backoff: 1s..1s") as host:
        host.run("send", "work", "soon")
        until(lambda: host.logged("message is given again"), "the first try")
        host.stop()
        check(host.tries() == [1, 2], f"a retry that is due in time: {host.tries()}")
        check("retries" in host.dead_file(), "its dead letter")


def test_end_before_a_retry_is_due():
    with fixture(NONE, "max: 1, backoff: 1h..1h") as host:
        host.run("send", "work", "late")
        until(lambda: host.logged("message is given again"), "the first try")
        host.stop()
        check(host.tries() == [1], f"a retry that is not due: {host.tries()}")
        check("removed" in host.dead_file(), "its dead letter")


if __name__ == "__main__":
    run_tests(globals())
