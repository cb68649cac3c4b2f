#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times reloads of a host at full load, for 10, 100 and 1,000 pools: the time of each part (check,
prepare, commit, drain) by the host's log, the time that `weir reload` waits, and the longest time
in which no message was finished meanwhile. Fails when a reload is refused, never by the clock.

    reload.py WEIR PLUGINS TEST_PLUGINS [POOLS...] [--rounds N]
"""
import argparse
import http.client
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time

PARTS = ("check", "prepare", "commit")


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("weir")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def median(values):
    return sorted(values)[len(values) // 2]


class Bench:
    def __init__(self, options, work, pools):
        self.options, self.pools = options, pools
        self.path = {name: os.path.join(work, name) for name in ("yaml", "socket", "gap", "log")}
        with open(self.path["gap"], "wb") as stream:
            stream.write(bytes(16))
        self.process = None

    def write(self, limit, args):
        """One pool works; its limit changes, or the args of all the others."""
        folders = json.dumps([self.options.plugins, self.options.test_plugins])
        lines = ["version: 1", f'host: {{plugins: {folders}, control: {self.path["socket"]}}}',
                 "sources: {numbers: {use: gen.forever, to: busy}}", "pools:",
                 f"  busy: {{use: changeling.mark, size: 4, mailbox: {limit}, "
                 f'args: {{path: {self.path["gap"]}}}}}']
        lines += [f"  idle{number}: {{use: changeling.worker, size: 1, args: {{fixed: {args}}}}}"
                  for number in range(self.pools - 1)]
        with open(self.path["yaml"] + ".new", "w", encoding="ascii") as stream:
            stream.write("\n".join(lines) + "\n")
        os.rename(self.path["yaml"] + ".new", self.path["yaml"])

    def log(self):
        return open(self.path["log"], encoding="utf-8", errors="replace").read()

    def start(self):
        self.write(64, 1)
        with open(self.path["log"], "wb") as log:
            self.process = subprocess.Popen([self.options.weir, "run", self.path["yaml"]],
                                            stdout=log, stderr=log)
        while 'component=host event="started"' not in self.log():
            if self.process.poll() is not None:
                sys.exit(f"the host ended at once:\n{self.log()}")
            time.sleep(0.01)

    def set_gap(self):
        with open(self.path["gap"], "r+b") as stream:
            stream.seek(8)
            stream.write(bytes(8))

    def gap_ms(self):
        with open(self.path["gap"], "rb") as stream:
            return struct.unpack("QQ", stream.read(16))[1] / 1e6

    def reload(self):
        start = time.monotonic()
        connection = Connection(self.path["socket"])
        connection.request("POST", "/reload")
        answer = json.loads(connection.getresponse().read())
        connection.close()
        if answer["result"] != "reloaded":
            sys.exit(f"not reloaded: {answer}")
        return (time.monotonic() - start) * 1000

    def rest(self):
        """The longest gap while nobody reloads, over half a second."""
        self.set_gap()
        time.sleep(0.5)
        return self.gap_ms()

    def run(self, files):
        """Medians of the parts and of the whole, the longest whole, the longest of the gaps."""
        before = len(self.log())
        whole, gaps = [], []
        for file in files:
            self.write(*file)
            self.set_gap()
            whole.append(self.reload())
            gaps.append(self.gap_ms())
        found = []
        while len(found) < len(files):  # the last line comes a moment after the answer
            found = re.findall(r"configuration reloaded.*commit_ms.*\n", self.log()[before:])
        parts = {part: [float(re.search(rf"{part}_ms=([0-9.e+-]+)", line)[1]) for line in found]
                 for part in PARTS}
        return ([median(parts[part]) for part in PARTS] +
                [median(whole), max(whole), max(parts["commit"]), max(gaps)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weir")
    parser.add_argument("plugins")
    parser.add_argument("test_plugins")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("sizes", type=int, nargs="*", default=[10, 100, 1000])
    options = parser.parse_args()
    print("milliseconds: medians; longest whole and commit; longest time without a completion")
    print(f"{'pools':>6} {'changed':8}" + "".join(
        f"{title:>9}" for title in PARTS + ("whole", "longest", "commit", "gap", "at rest")))
    for pools in options.sizes:
        with tempfile.TemporaryDirectory() as work:
            bench = Bench(options, work, pools)
            bench.start()
            rest = bench.rest()
            limits = [(65 + number % 2, 1) for number in range(options.rounds)]
            args = [(limits[-1][0], 2 + number % 2) for number in range(options.rounds)]
            for name, files in (("1 limit", limits), ("all args", args)):
                figures = bench.run(files) + [rest]
                print(f"{pools:6} {name:8}" + "".join(f"{figure:9.3f}" for figure in figures),
                      flush=True)
            bench.process.terminate()
            bench.process.wait()


main()
