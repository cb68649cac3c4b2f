#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a reader of standard output that does not read holds up only those that print: they
        wait, little is kept, and it gets every line in order when it reads; at the end it is waited
        for as long as the end may take, and the log reports the lost bytes.
        Shows promise H10 and promise H7.
Method: real hosts with one thread, asked by their socket, whose standard output is a pipe that the
        test reads, or does not. Every wait is for a condition.

    stalled.py WEIR PLUGINS TEST_PLUGINS
"""
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

WEIR, PLUGINS, TEST_PLUGINS = sys.argv[1:4]
WAIT_LIMIT_S = 60
MANY = 500000           # lines: more than is kept
FEW = 20000             # no more than is kept, but than the pipe holds
KEPT_MAX = 2 * (1 << 20)  # the bound, the pipe, and text that is printed meanwhile
IOERR, TEMPFAIL = 74, 75


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("weir")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Host:
    def __init__(self, work, count, more="", timeout="60s"):
        self.socket, self.log = os.path.join(work, "socket"), os.path.join(work, "log")
        file = os.path.join(work, "weir.yaml")
        with open(file, "w", encoding="ascii") as stream:
            stream.write(f"version: 1\nhost: {{plugins: [{PLUGINS}, {TEST_PLUGINS}], "
                         f"control: {self.socket}, shutdown_timeout: {timeout}}}\n"
                         "dispatchers: {default: {threads: 1}}\nsources:\n"
                         f"  numbers: {{use: gen.numbers, to: talker, args: {{count: {count}}}}}\n"
                         + more.replace("{source}", "  forever: {use: gen.forever, to: other}\n") +
                         "pools:\n  talker: {use: talker.numbers, size: 1}\n"
                         "  other: {use: sink.null, size: 1}\n")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([WEIR, "run", file], stdout=subprocess.PIPE, stderr=log)

    def done(self, pool):
        connection = Connection(self.socket)
        connection.request("GET", f"/pools/{pool}")
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer["done"]

    def until(self, condition, what):
        deadline = time.monotonic() + WAIT_LIMIT_S
        while not condition():
            self.check(time.monotonic() < deadline, what)
            time.sleep(0.005)

    def starts(self):
        self.until(lambda: 'event="started"' in self.text(), "it does not start")

    def text(self):
        return open(self.log, encoding="utf-8").read()

    def check(self, holds, what):
        if not holds:
            print(f"FAILED: {what}\n{self.text()[-4000:]}", flush=True)
            self.process.kill()
            sys.exit(1)

    def check_lines(self, text, count):
        self.check(text == "".join(f"{i}\n" for i in range(count)).encode(), "lines are wrong")


def the_others_go_on(work):
    host = Host(work, MANY, "{source}")
    host.starts()
    host.until(lambda: host.done("talker") > FEW, "nothing is printed")
    printed = None
    while printed != host.done("talker"):  # until it waits for the reader
        printed, before = host.done("talker"), host.done("other")
        host.until(lambda: host.done("other") > before + 5 * FEW, "the other pool stands still")
    host.check(printed * len(f"{MANY}\n") < KEPT_MAX, f"{printed} lines are kept")
    host.process.terminate()
    text = host.process.stdout.read()
    code = host.process.wait()
    lines = text.count(b"\n")
    host.check_lines(text, lines)
    host.check(code in (0, TEMPFAIL) and lines > printed, f"exit code {code}, {lines} lines")


def it_is_waited_for(work):
    host = Host(work, MANY)
    host.starts()
    host.check_lines(host.process.stdout.read(), MANY)
    code = host.process.wait()
    host.check(code == 0, f"exit code {code}")


def not_for_ever(work):
    host = Host(work, FEW, timeout="200ms")
    code = host.process.wait()
    host.check(code == IOERR, f"exit code {code}")
    lost = re.search(r'"printed text was lost" bytes=(\d+)', host.text())
    host.check(lost, "it does not say that text was lost")
    text = host.process.stdout.read()
    every = "".join(f"{i}\n" for i in range(FEW)).encode()
    host.check(every.startswith(text) and len(text) + int(lost[1]) >= len(every),
               f"{len(text)} were written, {lost[1]} reported as lost of {len(every)}")


def main():
    for case in (the_others_go_on, it_is_waited_for, not_for_ever):
        with tempfile.TemporaryDirectory() as work:
            case(work)
        print(f"{case.__name__}: as promised", flush=True)


if __name__ == "__main__":
    main()
