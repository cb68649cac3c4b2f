#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   an operator sees at a glance where a running host makes no progress: pools that accept no
        messages, waiting messages with the reason, and the workers. Shows promise C13, promise C14,
        promise C31 and promise H11.
Method: hosts whose workers (wayward.so) do not open or do not return; the test asks the socket and
        the commands until they report it. Every wait is for a condition.

    unserved.py WEIR PLUGINS FAULTY
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

WEIR, PLUGINS, FAULTY = sys.argv[1:4]
WAIT_LIMIT_S = float(os.environ.get("WEIR_TEST_WAIT_LIMIT_MS", "inf")) / 1000
FAILURES = []


def check(holds, what):
    if not holds:
        FAILURES.append(what)
        print(f"FAILED: {what}", flush=True)


class Host:
    """A running host; `host.more` are further keys of `host`."""
    def __init__(self, text, more=""):
        self.work = tempfile.TemporaryDirectory()
        self.socket, self.log_path = self.path("socket"), self.path("log")
        with open(self.path("yaml"), "w", encoding="utf-8") as stream:
            stream.write(f'version: 1\nhost: {{plugins: ["{PLUGINS}", "{FAULTY}"], '
                         f'control: "{self.socket}"{more}}}\n{text}')
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([WEIR, "run", self.path("yaml")], stdout=log,
                                            stderr=log)
        self.until(lambda: 'event="started"' in self.log())

    def path(self, name):
        return os.path.join(self.work.name, name)

    @staticmethod
    def read(path):
        with open(path, encoding="utf-8") as stream:
            return stream.read()

    def log(self):
        return self.read(self.log_path)

    def until(self, condition, more_s=0):
        """Looks again and again. The test's own time-out is the only clock, unless a promise is
        broken on purpose (tests/broken): then the trace says which wait has no end, and the log
        why. A host that has ended fulfils nothing any more."""
        began = time.monotonic()
        while True:
            over = self.process.poll() is not None or \
                time.monotonic() - began > WAIT_LIMIT_S + more_s
            if condition():
                return
            if over:
                print(self.log(), flush=True)
                self.end()
                raise TimeoutError("this wait has no end")
            time.sleep(0.01)

    def weir(self, *arguments):
        return subprocess.run([WEIR, *arguments], stdout=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, "WEIR_CONTROL": self.socket}).stdout

    def reload(self, old, new):
        text = self.read(self.path("yaml"))
        check(text.count(old) == 1, f"the file: {text}")
        with open(self.path("yaml"), "w", encoding="utf-8") as stream:
            stream.write(text.replace(old, new))
        self.weir("reload")
        check(self.json("status")["host"]["generation"] == 2, f"no reload: {self.log()}")

    def json(self, *arguments):
        return json.loads(self.weir(*arguments, "-o", "json"))

    def get(self, path):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.connect(self.socket)
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: weir\r\n\r\n".encode())
            answer = b""
            while piece := client.recv(65536):
                answer += piece
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), body.decode()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.work.cleanup()


FOREVER = "sources: {numbers: {use: gen.forever, to: work}}\n"


def a_stopped_pool():
    """promise C13"""
    host = Host(FOREVER + "pools: {work: {use: wayward.fail, size: 2, "
                          "restart: {max: 0, within: 1s, backoff: 1ms..1ms, then: stop}}}\n")
    host.until(lambda: host.json("status", "work")["stopped"] == 2)
    status, body = host.get("/readyz")
    check(status == 503 and body == "not ready: pool work accepts no messages: 2 of its 2 workers "
          "failed too often and are stopped until a reload or `weir restart`\n",
          f"/readyz: {status} {body}")
    table = host.weir("status")
    check("\nwarning: pool work accepts no messages: 2 of its 2" in table, f"no warning: {table}")
    host.until(lambda: accepts_none(host, "work", "numbers", "2 of its 2 workers failed"))
    host.end()


def accepts_none(host, pool, feeder, why):
    """How often the log reports it for the pool."""
    return len(re.findall(f'level=error component={pool} event="pool accepts no messages" '
                          f'fed_by={feeder} reason="{why}', host.log()))


def pools_that_become_empty():
    """promise H14: fed by a source, by an output, and below a pool that is fed; one is not fed."""
    host = Host("sources: {numbers: {use: gen.forever, to: first}}\n"
                "pools:\n  first: {use: changeling.pass, size: 1, outputs: {out: tree}}\n"
                "  tree: {members: {leaf: {use: sink.null, size: 1},"
                " range: {use: sink.null, size: {min: 0, max: 2}}}}\n"
                "  apart: {use: sink.null, size: 0}\n")
    goes_on(host, "tree")
    host.weir("scale", "tree/leaf", "0")
    host.until(lambda: accepts_none(host, "tree/leaf", "first", "it has no workers"))
    host.weir("scale", "first", "0")
    host.until(lambda: accepts_none(host, "first", "numbers", "it has no workers"))
    for pool in ("first", "tree/leaf"):
        host.weir("scale", pool, "1")
        again = f'level=info component={pool} event="pool has workers again" live=1'
        host.until(lambda again=again: again in host.log())
    host.weir("scale", "tree/leaf", "0")
    host.until(lambda: accepts_none(host, "tree/leaf", "first", "it has no workers") == 2)
    check(accepts_none(host, "first", "numbers", "") == 1, f"logged twice: {host.log()}")
    check(accepts_none(host, "tree/range", "first", "it has no workers") == 1, "the other leaf")
    check(host.log().count("accepts no messages") == 4, f"logged for others: {host.log()}")
    host.end()


def pools_that_are_empty_or_paused():
    """promise C13"""
    host = Host("pools:\n  work: {use: sink.null, size: 1}\n  none: {use: sink.null, size: 0}\n"
                "  range: {use: sink.null, size: {min: 0, max: 4}}\n"
                "  group: {members: {part: {use: sink.null, size: {min: 0, max: 4}}}}\n")
    check(host.get("/readyz") == (503, "not ready: pool none accepts no messages: "
                                       "it has no workers\n"),
          f"a pool without workers: {host.get('/readyz')}")
    host.weir("scale", "none", "1")
    host.until(lambda: host.get("/readyz") == (200, "running\n"))
    host.weir("pause", "work")
    check(host.get("/readyz") == (503, "not ready: pool work accepts no messages: it is paused\n"),
          f"a pool that is paused: {host.get('/readyz')}")
    host.weir("resume", "work")
    check(host.get("/readyz")[0] == 200, "a pool that goes on")
    host.end()


def stuck(host):
    return host.json("status")["host"]["threads_stuck"]


def goes_on(host, pool):
    before = host.json("status", pool)["done"]
    host.until(lambda: host.json("status", pool)["done"] > before + 10000)


def threads_that_are_stuck():
    """promise C15, promise D6 and promise D15: two threads, and callbacks that do not return."""
    for hogs, status, word in ((2, 200, "warning"), (4, 503, "not ready")):
        text = ("dispatchers: {default: {threads: 2}}\n"
                "sources: {ones: {use: gen.forever, to: hog}, twos: {use: gen.forever, to: work}}\n"
                "pools:\n"
                f"  hog: {{use: slow_open.hog, size: {hogs}, outputs: {{out: last}},\n"
                "        args: {barrier: BARRIER}}\n"
                "  work: {use: sink.null, size: 2}\n  last: {use: sink.null, size: 1}\n")
        barrier = tempfile.mkdtemp() + "/barrier"
        os.mkfifo(barrier)
        host = Host(text.replace("BARRIER", barrier), ", turn_warning: 20ms")
        host.until(lambda: stuck(host) == hogs)
        if hogs == 2:
            goes_on(host, "work")
        line = (f"{word}: dispatcher default: threads in a callback that takes longer than "
                f"turn_warning: {hogs}; spare threads in their place: 2")
        answer = host.get("/readyz")
        check(answer[0] == status and line in answer[1], f"/readyz: {answer}")
        unbroken = host.weir("status").replace("\n    ", " ")  # a line has 100 columns
        check(line.split(": ", 1)[1] in unbroken, "weir status does not show it")
        check(f"\nweir_threads_stuck {hogs}\n" in host.get("/metrics")[1], "the metrics")
        host.end()
        os.unlink(barrier)
        os.rmdir(os.path.dirname(barrier))


def retries_that_wait():
    """promise C14"""
    host = Host(FOREVER + "pools: {work: {use: wayward.put_off, size: 2, mailbox: 4}}\n")
    host.until(lambda: host.json("status", "work")["retrying"] == 32)  # 16 for each worker
    host.until(lambda: host.json("status", "work")["queued"] == 8)
    row = re.search(r"^work .*$", host.weir("status"), re.M)[0].split()
    head = re.search(r"^POOL .*$", host.weir("status"), re.M)[0].replace("IN HAND", "IN_HAND")
    cell = dict(zip(head.split(), row))
    parts = ("DONE", "DEAD", "QUEUED", "IN_HAND", "HELD")
    check(int(cell["ACCEPTED"]) == sum(int(cell[part]) for part in parts) == 40,
          f"the row does not add up: {cell}")
    check(int(cell["HELD"]) == 32, f"the retries: {cell}")
    members = host.json("status", "--members", "work")
    check([(m["worker"], m["state"], m["queued"]) for m in members] ==
          [(0, "open", 4), (1, "open", 4)], f"the members: {members}")
    check(all(m["held"] == m["retrying"] == 16 for m in members), f"the members: {members}")
    check(re.search(r"^work#1 +open +0 +- +4 +16 +0 +- +- +-$", host.weir("status", "-m"), re.M),
          f"the table of members: {host.weir('status', '-m')}")
    pool = host.json("status", "work")
    check("size_max" not in pool, "a fixed size has a largest one")
    check(host.weir("scale", "work", "3").startswith("work: 3 workers"), "a fixed size is scaled")
    host.end()


def an_outage_behind_a_pool():
    """promise C31: the program fails until the test opens the gate. A reload ends no outage."""
    with tempfile.TemporaryDirectory() as folder:
        gate = os.path.join(folder, "gate")
        host = Host(FOREVER +
                    "pools: {work: {use: exec.run, size: 2, retry: {max: unlimited, "
                    "backoff: 50ms..100ms}, args: {command: [test, -e, "
                    f"{gate}], retry: [1], retry_after: 20ms}}}}}}\n")
        begin = 'level=warning component=work event="messages are only given again" reason="'
        host.until(lambda: begin in host.log(), more_s=6)  # OUTAGE_MS and a look
        said = host.weir("status").replace("\n    ", " ")
        check(re.search(r"^note: pool work: \d+ messages? waits? for a retry: \S", said, re.M),
              f"the reason: {said}")
        host.reload("size: 2", "size: 3")
        open(gate, "wb").close()
        host.until(lambda: re.search(r'level=info component=work event="messages are done again" '
                                     r"after_ms=\d{4,} retries=\d+", host.log()))
        check(host.log().count(begin) == 1, f"more than one line: {host.log()}")
        host.end()


def opens_that_fail():
    """promise H11"""
    shut = 'event="open failed" status=INVALID reason="no key to the door" effect='
    host = Host("pools: {work: {use: wayward.shut, size: 0}}\n")
    text = Host.read(host.path("yaml")).replace("size: 0}", "size: 0}, more: {use: wayward.shut}")
    with open(host.path("yaml"), "w", encoding="utf-8") as stream:
        stream.write(text)
    host.process.send_signal(signal.SIGHUP)
    host.until(lambda: "keeping the running configuration" in host.log())
    effect = ("tried again; unless as many workers as min_ready open in time, the reload is refused"
            "; the running parts go on")
    check(f'component=more#0 {shut}"{effect}"' in host.log(), f"a reload: {host.log()}")
    host.weir("scale", "work", "1")
    host.until(lambda: "component=work#0 " in host.log())
    check(f'component=work#0 {shut}"closed until an open succeeds"' in host.log(),
          f"a worker at run time: {host.log()}")
    host.end()


for test in (opens_that_fail, a_stopped_pool, pools_that_become_empty,
             pools_that_are_empty_or_paused,
             threads_that_are_stuck, retries_that_wait, an_outage_behind_a_pool):
    test()
print("FAILED" if FAILURES else "all as expected")
sys.exit(bool(FAILURES))
