#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   exec.pipe makes a pool of programs of any language: nothing is lost when they are killed,
        a message that kills them is named and ends as a dead letter, a reload replaces them while
        they work, and none is left when the host ends, however it ends. Shows promise B14.
Method: real hosts with children of Python that use sdk/python/weir.py, and one of the shell. The
        children are killed with -9 under load, one hundred times. Every wait is for a condition.

    python.py WEIR PLUGINS TREE
"""
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile

from control import PLUGINS, TREE, WEIR, Host, check, run_tests, until

MODULE = os.path.join(TREE, "sdk/python")
KILLS = 100

# A worker that writes down the number of a message, in text.
NUMBERS = """
import sys, weir
def handle(message):
    return str(int.from_bytes(message.data, sys.byteorder))
weir.run(handle)
"""

POOL = """
sources: {{numbers: {{use: {source}, to: work}}}}
pools:
  work:
    use: exec.pipe
    size: {size}
    redeliver: {redeliver}
    restart: {{max: 1000, within: 10s}}
    args: {{command: [python3, "{program}"], environment: {{PYTHONPATH: "{module}"}}{more}}}
    outputs: {{out: record}}
  record: {{use: file.append, size: 1, args: {{path: "{record}"}}}}
"""


class Work:
    """A folder with a program, and a host that runs it."""

    def __init__(self, work, program):
        self.folder = work
        self.host = Host(work)
        self.program = os.path.join(work, "program.py")
        self.record = os.path.join(work, "record")
        self.write(program)

    def write(self, program):
        with open(self.program, "w", encoding="utf-8") as stream:
            stream.write(program)

    def configure(self, source, size=4, redeliver=16, more="", program=None):
        self.host.write(POOL.format(source=source, size=size, redeliver=redeliver, more=more,
                                    program=program or self.program, module=MODULE,
                                    record=self.record))

    def recorded(self):
        if not os.path.exists(self.record):
            return []
        with open(self.record, encoding="ascii") as stream:
            return [int(line) for line in stream if line.endswith("\n")]

    def recorded_bytes(self):
        return os.path.getsize(self.record) if os.path.exists(self.record) else 0

    def log(self):
        with open(self.host.log, encoding="utf-8") as stream:
            return stream.read()


@contextlib.contextmanager
def working(program):
    with tempfile.TemporaryDirectory() as folder:
        work = Work(folder, program)
        try:
            yield work
        finally:
            work.host.stop(9)


def children(process):
    """The child processes of a host, whichever of its threads started them."""
    found = []
    for task in os.listdir(f"/proc/{process}/task"):
        try:
            with open(f"/proc/{process}/task/{task}/children", encoding="ascii") as stream:
                found += [int(word) for word in stream.read().split()]
        except OSError:
            pass
    return found


def is_alive(process):
    """A zombie is not alive."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as stream:
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ready_process(host, worker):
    """The child of a worker, when it is ready; otherwise None."""
    answer = host.run("inspect", worker, "process", "ready", "-o", "json")
    if answer.returncode != 0:
        return None
    items = json.loads(answer.stdout)["items"]
    return int(items["process"]) if items.get("ready") == "yes" else None


def test_children_are_killed_and_nothing_is_lost():
    with working(NUMBERS) as work:
        work.configure("gen.forever")
        work.host.start()
        killed = set()
        for turn in range(KILLS):
            # Another child each time, and one that has messages.
            child = until(lambda: ready_process(work.host, f"work#{random.randrange(4)}"), "one")
            before = work.recorded_bytes()
            until(lambda: work.recorded_bytes() > before, "work")
            check(child not in killed, f"{child} was killed before")
            killed.add(child)
            os.kill(child, signal.SIGKILL)
            until(lambda: not is_alive(child), "its end")
        check(work.host.process.poll() is None, "the host lives")
        check(work.host.stop() == 0, "the exit code")
        numbers = work.recorded()
        check(sorted(set(numbers)) == list(range(len(set(numbers)))),
              f"{len(set(numbers))} numbers, the last one is {max(numbers)}")
        log = work.log()
        check("dead=0" in log and "balance=exact" in log, log[-2000:])
        check("child ended with a message in hand" in log, "nobody was killed at work")
        print(f"{KILLS} kills, {len(numbers)} messages, {len(numbers) - len(set(numbers))} twice")
        check(not any(is_alive(child) for child in killed), "a child is left")


POISON = """
import os, sys, weir
def handle(message):
    number = int.from_bytes(message.data, sys.byteorder)
    print("attempt", message.attempt, "of", number)
    if number == 7:
        os.kill(os.getpid(), 9)
    return str(number)
weir.run(handle)
"""


def test_message_that_kills_is_named_and_dies_alone():
    with working(POISON) as work:
        work.configure("gen.numbers, args: {count: 50, key: true}", size=1, redeliver=2,
                       more=", log_lines: 1000")
        work.host.start()
        check(work.host.process.wait() == 65, "the exit code")
        check(sorted(work.recorded()) == [n for n in range(50) if n != 7], f"{work.recorded()}")
        log = work.log()
        for attempt in (1, 2, 3):
            check(f'line="attempt {attempt} of 7"' in log, f"attempt {attempt}")
            check(f'reason="signal 9 (KILL)" tag=gen.number/1 key=8 attempt={attempt}' in log or
                  f"attempt={attempt} bytes=8" in log, f"the blame of attempt {attempt}")
        blamed = [line for line in log.splitlines()
                  if 'event="child ended with a message in hand"' in line]
        keys = {line.partition(" key=")[2].split()[0] for line in blamed}
        check(len(blamed) == 3 and len(keys) == 1, f"{blamed}")
        check("1 message is dead (1 crashed)" in log, log[-1000:])


VERSION = """
import os, sys, weir
def handle(message):
    return str({version})
weir.run(handle)
"""


def test_program_is_replaced_by_a_reload_while_it_works():
    with working(VERSION.format(version=1)) as work:
        work.configure("gen.forever", size=2, redeliver=0)
        work.host.start()
        until(lambda: work.recorded()[-1:] == [1], "the first version")
        other = os.path.join(work.folder, "other.py")
        with open(other, "w", encoding="utf-8") as stream:
            stream.write(VERSION.format(version=2))
        work.configure("gen.forever", size=2, redeliver=0, program=other)
        check(work.host.run("reload").returncode == 0, "the reload")
        until(lambda: work.recorded()[-1:] == [2], "the second version")
        check(work.host.stop() == 0, "the exit code")
        log = work.log()
        check("dead=0" in log and "balance=exact" in log and "level=error" not in log, log[-2000:])


BROKEN = (("echo a mistake; exit 3", "exit code 3 before it was ready"),
          ("echo a mistake; sleep 2; exit 3", "exit code 3 before it was ready"),
          ("echo a mistake; echo hello >&4; exec sleep 1000", "the child wrote no frame"))


def test_reload_to_a_program_that_is_broken_is_refused():
    """promise B99: the first time, although the new workers have other numbers, and however long
    the program takes; the children of before go on."""
    for command, reason in BROKEN:
        expect_refused_reload(command, reason)


def expect_refused_reload(command, reason):
    with working(VERSION.format(version=1)) as work:
        work.configure("gen.forever", size=2, redeliver=0, more=", open_wait: 1h")
        work.host.start()
        until(lambda: work.recorded()[-1:] == [1], "work")
        with open(work.host.file, encoding="utf-8") as stream:
            text = stream.read().split("\n", 2)[2]  # without the lines of `write`
        broken = text.replace("command: [python3,", f"command: [sh, -c, '{command}',")
        work.host.write(broken)
        answer = work.host.run("reload")
        check(answer.returncode == 78, f"{answer}")
        check(reason in answer.stdout + answer.stderr, f"{answer}")
        check('line="a mistake"' in work.log(), work.log()[-2000:])
        seen = len(work.recorded())
        until(lambda: len(work.recorded()) > seen, "work after the refusal")


LEAVING = """
import atexit, weir
atexit.register(print, "goes in peace")
weir.run(lambda message: None)
"""


def test_children_end_with_their_host():
    for number in (signal.SIGTERM, signal.SIGKILL):
        with working(LEAVING) as work:
            work.configure("gen.forever", size=3)
            work.host.start()
            until(lambda: all(ready_process(work.host, f"work#{i}") for i in range(3)), "children")
            present = children(work.host.process.pid)
            check(len(present) == 3, f"children: {present}")
            work.host.stop(number)
            until(lambda: not any(is_alive(child) for child in present), "their end")
            if number == signal.SIGTERM:
                check(work.log().count('line="goes in peace"') == 3, work.log()[-2000:])


def test_requests_and_time_outs_of_a_child_leave_no_process():
    """A worker that forks: when it is too slow, none of its processes is left."""
    program = ("import subprocess, weir\n"
               "def handle(message):\n"
               "    sleeper = subprocess.Popen(['sleep', '1000'])\n"
               f"    print('sleeper', sleeper.pid)\n"
               "    sleeper.wait()\n"
               "weir.run(handle)\n")
    with working(program) as work:
        work.configure("gen.numbers, args: {count: 1}", size=1, redeliver=0,
                       more=", timeout: 300ms, grace: 100ms")
        work.host.start()
        check(work.host.process.wait() == 65, "the exit code")
        log = work.log()
        check("detail=time-out" in log, log[-2000:])
        sleeper = int(log.partition('line="sleeper ')[2].partition('"')[0])
        until(lambda: not is_alive(sleeper), "the end of the process in the background")


SHELL = r"""
sources: {lines: {use: stdin.lines, to: count}}
pools:
  count:
    use: exec.pipe
    size: 1
    args:
      shell: true
      command:
        - |
          printf 'ready 0\n' >&4
          while read -r kind size attempt key tag <&3; do
            words=$(head -c "$size" <&3 | wc -w)
            printf 'out %d\n%s' "$(printf %s "$words" | wc -c)" "$words" >&4
            printf 'done 0\n' >&4
          done
    outputs: {out: print}
  print: {use: stdout.write, size: 1}
"""


def filtered(file, text, variables=None, cwd=TREE):
    return subprocess.run([WEIR, "run", file], input=text, capture_output=True, text=True,
                          check=False, cwd=cwd,
                          env={**os.environ, "WEIR_PLUGIN_PATH": PLUGINS, **(variables or {})})


def test_worker_of_the_shell():
    with tempfile.TemporaryDirectory() as folder:
        host = Host(folder)
        host.write(SHELL)
        got = filtered(host.file, "one\ntwo words\n\nand these are four\n")
        check(got.stdout == "1\n2\n0\n4\n", got.stdout + got.stderr)


LINES = [
    '10.0.0.1 - ann [23/Nov/2026:13:00:00 +0000] "GET /a?b=\\"c HTTP/1.1" 200 512 "-" "curl"',
    '10.0.0.2 - - [23/Nov/2026:13:00:01 +0000] "POST /form HTTP/1.1" 404 -',
    'this is no such line',
]


def test_example_turns_lines_into_json():
    with tempfile.TemporaryDirectory() as folder:
        got = filtered(os.path.join(TREE, "examples/python/python.yaml"),
                       "".join(f"{line}\n" for line in LINES) * 200,
                       {"WEIR_CONTROL": os.path.join(folder, "socket")})
        objects = [json.loads(line) for line in got.stdout.splitlines()]
        check(len(objects) == 400, f"{len(objects)} objects: {got.stderr[-1000:]}")
        check({o["client"]: (o["status"], o["bytes"], o["user"]) for o in objects} ==
              {"10.0.0.1": (200, 512, "ann"), "10.0.0.2": (404, 0, "-")}, f"{objects[:2]}")
        check(got.returncode == 65 and "200 messages are dead (200 rejected)" in got.stderr,
              f"{got.returncode}: {got.stderr[-1000:]}")
        check('detail="no line of an access log; ' in got.stderr, "the reason")


if __name__ == "__main__":
    run_tests(globals())
