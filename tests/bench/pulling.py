#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./dev bench pulling: one job of uneven pieces, which a source produces faster than four workers
do them: pushed in the ways that people try first, and pulled. Each row is a host with its own
file. Prints the time, the most messages that waited, the most memory, what was lost when workers
failed, and the longest time in which the producer did not answer a request. Fails when the figures
of a host do not add up, never by the clock.

    pulling.py WEIR PLUGINS [--divide N]
"""
import argparse
import http.client
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

PIECES, FAILS_ONE_IN = 8000, 500

# What differs: keys of the pool, keys of the source, and the source's arguments.
UNLIMITED, PULL = "size: 4, mailbox: unlimited", "size: 4, route: pull, mailbox: unbuffered"
ROWS = (
    ("push, round robin, no limit", UNLIMITED, "", ", push: true"),
    ("push, least loaded, no limit", f"{UNLIMITED}, route: least_loaded", "", ", push: true"),
    ("1. 4,000 workers, mailbox 1", "size: 4000, mailbox: 1", "", ""),
    ("2. mailbox 64, sender waits", "size: 4, mailbox: 64", "", ""),
    ("2. mailbox 64, dead letters", "size: 4, mailbox: 64", "when_full: dead_letter, ",
     ", push: true"),
    ("3. pressure: producer sleeps", UNLIMITED, "", ", push: true, pressure: true"),
    ("4. only ids, no limit", UNLIMITED, "", ", push: true, bytes: 8"),
    ("5. throttled to 2,000/s", UNLIMITED, "rate: 2000/s, ", ", push: true"),
    ("5. throttled to 6,000/s", UNLIMITED, "rate: 6000/s, ", ", push: true"),
    ("pull", PULL, "", ""),
    ("pull, redeliver", f"{PULL}, redeliver: 2", "", ""),
)
# Four threads are four connections to the database, whatever the number of workers.
FILE = """version: 1
host: {{plugins: ["{plugins}"], control: "{socket}", dead_letters: {{count: 0}}}}
dispatchers: {{database: {{threads: 4}}}}
pools:
  work: {{use: uneven.worker, dispatcher: database, restart: {{max: 1000}}, {pool}}}
sources:
  master: {{use: uneven.master, to: work, {source}args: {{pieces: {pieces}{args}}}}}
"""


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("weir", timeout=300)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def ask(path, method, target):
    """The body of an answer; None when the host is not there."""
    connection = Connection(path)
    try:
        connection.request(method, target)
        return connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


class Watch(threading.Thread):
    """Asks a host again and again, and keeps the greatest answer, until the host has ended."""

    def __init__(self, look):
        super().__init__(daemon=True)
        self.look, self.greatest, self.over = look, 0, False
        self.start()

    def run(self):
        while not self.over:
            self.greatest = max(self.greatest, self.look())
            time.sleep(0.005)

    def stop(self):
        self.over = True
        self.join()
        return self.greatest


def queued(path):
    found = re.search(rb'"queued": ?(\d+)', ask(path, "GET", "/pools/work") or b"")
    return int(found[1]) if found else 0


def answer_ms(path):
    begun = time.monotonic()
    answered = ask(path, "POST", "/pools/master/request?timeout=300000") is not None
    return (time.monotonic() - begun) * 1000 if answered else 0


def peak_mb(process):
    """The most memory so far."""
    try:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as stream:
            found = re.search(r"VmHWM:\s+(\d+) kB", stream.read())
    except OSError:
        return 0
    return int(found[1]) / 1024 if found else 0


def run(row, options, work):
    name, pool, source, args = row
    pieces = max(10, PIECES // options.divide)
    file, path = os.path.join(work, "weir.yaml"), os.path.join(work, "socket")
    text = FILE.format(plugins=options.plugins, socket=path, pool=pool, source=source,
                       pieces=pieces, args=args)
    with open(file, "w", encoding="ascii") as stream:
        stream.write(text)
    with open(os.path.join(work, "log"), "w+", encoding="utf-8") as log:
        begun = time.monotonic()
        process = subprocess.Popen([options.weir, "run", file], stdout=log, stderr=log)
        watches = [Watch(lambda: queued(path)), Watch(lambda: peak_mb(process)),
                   Watch(lambda: answer_ms(path))]
        process.wait()
        seconds = time.monotonic() - begun
        most, memory, answer = (watch.stop() for watch in watches)
        log.seek(0)
        said = log.read()
    found = re.search(r'component=work event="ledger" accepted=(\d+) done=(\d+)', said)
    if process.returncode not in (0, 65) or not found or "balance=wrong" in said:
        sys.exit(f"{name}: exit code {process.returncode}: {said}")
    lost = pieces - int(found[2])
    failed = (pieces + FAILS_ONE_IN - 1) // FAILS_ONE_IN
    wanted = 0 if "redeliver" in pool else failed
    if lost != wanted and not ("dead_letter" in source and lost > wanted):
        sys.exit(f"{name}: {lost} pieces are lost, not {wanted}: {said}")
    print(f"{name:30} {seconds:7.2f} s {most:8d} waited {memory:8.1f} MB {lost:6d} lost "
          f"{answer:9.1f} ms without an answer", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weir")
    parser.add_argument("plugins")
    parser.add_argument("--divide", type=int, default=1)
    options = parser.parse_args()
    print(f"{PIECES // options.divide} pieces; each hundredth takes 50 ms, the others 0.5 ms; "
          f"the worker of each {FAILS_ONE_IN}th fails", flush=True)
    for row in ROWS:
        with tempfile.TemporaryDirectory(prefix="weir-pulling-") as work:
            run(row, options, work)


if __name__ == "__main__":
    main()
