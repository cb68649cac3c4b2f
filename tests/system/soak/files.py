#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   files.tail loses no line while logs are renamed and copied and truncated, its host is
        killed, and the disks of its position, its dead letters and its output are full, by turns
        and at once. Shows promises B15, B18 and B23.
Method: a thread writes numbered lines to two logs, and rotates them by rename and by logrotate.
        Hosts run for a moment each, and are killed or ended. Between two hosts the oracle takes
        what was written and what is dead: each number must come at least once, nothing else may
        come, and after an end in order that could save everything nothing comes again. Disks are
        small file systems in memory. Random moments come from a seed that is printed.

    files.py WEIR PLUGINS TREE [--seconds N | --count N] [--seed N]
"""
import argparse
import collections
import glob
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

import disks

disks.enter()

from control import FAILURES, Host, check, report_failures, until  # noqa: E402

LOGS = ("a", "b")          # rotated by rename, and by copytruncate
LINE = re.compile(rb"([ab])(\d{9})\.")
BATCH, PAUSE = 40, 0.01    # lines, and seconds between them
ROTATED_MAX = 12           # files that wait to be read
LOST_AFTER = 30            # seconds without any of the lines that are missing
DEAD_SHARE = 200           # one line of so many is rejected
CONFIG = """
sources:
  lines:
    use: files.tail
    args: {{paths: ["{work}/logs/*"], exclude: ["*.tmp"], position: "{work}/state/position",
           poll: 20ms, save_every: 30ms, rotate_wait: 300ms, unsettled: 2000}}
    to: relay
pools:
  relay:
    use: relay.pass
    size: 2
    args: {{fails_each: 3000, rejects_each: {share}}}
    redeliver: 16
    restart: {{max: 1000, backoff: 1ms}}
    outputs: {{out: record}}
  record:
    use: file.append
    size: 1
    args: {{path: "{work}/out/record", rotate_size: 64KiB, keep: 1000}}
"""


class Log:
    """Numbered lines, and their rotation. Each line ends; it may be written in two pieces."""

    def __init__(self, folder, name, rotations):
        self.name, self.path, self.rotations = name, os.path.join(folder, name), rotations
        self.count = 0
        self.stream = open(self.path, "ab", buffering=0)

    def write(self, dice):
        text = b"".join(b"%s%09d.\n" % (self.name.encode(), number)
                        for number in range(self.count, self.count + BATCH))
        half = dice.randrange(len(text))
        self.stream.write(text[:half])
        self.stream.write(text[half:])
        self.count += BATCH

    def rotated(self):
        return glob.glob(f"{glob.escape(self.path)}.*")

    def open_again(self):
        self.stream.close()
        self.stream = open(self.path, "ab", buffering=0)


def rename(log, folder):
    """Without logrotate: a name that no file had before."""
    os.rename(log.path, f"{log.path}.at{time.monotonic_ns()}")
    log.open_again()


def logrotate(mode):
    def rotate(log, folder):
        rules = os.path.join(folder, f"rules.{log.name}")
        with open(rules, "w", encoding="utf-8") as stream:
            stream.write(f'"{log.path}" {{\n  rotate 1000\n  size 1\n  {mode}\n}}\n')
        os.chmod(rules, 0o600)
        subprocess.run(["logrotate", "-f", "-s", os.path.join(folder, "rotated"), rules],
                       check=True, timeout=60)
        log.open_again()
    return rotate


class Writer(threading.Thread):
    """`turn` is held while lines are written and files rotated."""

    def __init__(self, work, dice):
        super().__init__(daemon=True)
        folder = os.path.join(work, "logs")
        os.mkdir(folder)
        self.work, self.dice = work, dice
        self.logs = [Log(folder, "a", (rename, logrotate("create"))),
                     Log(folder, "b", (logrotate("copytruncate"), rename))]
        self.rotations = collections.Counter()
        self.turn, self.ends, self.copied = threading.Lock(), threading.Event(), False

    def rotate(self, log):
        number = self.dice.randrange(len(log.rotations))
        log.rotations[number](log, self.work)
        self.rotations[f"{log.name}{number}"] += 1
        self.copied |= log.name == "b" and number == 0

    def run(self):
        while not self.ends.wait(PAUSE):
            with self.turn:
                for log in self.logs:
                    log.write(self.dice)
                    if self.dice.random() < 0.01 and len(log.rotated()) < ROTATED_MAX:
                        self.rotate(log)


class Oracle:
    """What came of each log, by numbers."""

    def __init__(self):
        self.seen = {name: bytearray() for name in LOGS}
        self.repeats, self.torn, self.dead = 0, 0, 0

    def take_line(self, line):
        found = LINE.fullmatch(line)
        if not found:
            self.torn += 1  # a host was killed in the middle of it
            return
        seen, number = self.seen[found.group(1).decode()], int(found.group(2))
        seen.extend(bytes(max(0, number + 1 - len(seen))))
        self.repeats += seen[number]
        seen[number] = 1

    def take_record(self, folder):
        """Takes and removes what was recorded. The lines."""
        came = set()
        for path in glob.glob(os.path.join(folder, "record*")):
            with open(path, "rb") as stream:
                lines = [line for line in stream.read().split(b"\n") if line]
            for line in lines:
                self.take_line(line)
            came.update(lines)
            os.unlink(path)
        return came

    def take_dead(self, path):
        if not os.path.exists(path):
            return
        with open(path, "rb") as stream:
            found = LINE.findall(stream.read())
        for name, number in found:
            self.take_line(name + number + b".")
        self.dead += len(found)
        os.unlink(path)

    def has(self, name, number):
        return number < len(self.seen[name]) and self.seen[name][number]

    def missing(self, log):
        return [number for number in range(log.count) if not self.has(log.name, number)]


class Soak:
    def __init__(self, work, options):
        self.options, self.work = options, work
        self.dice = random.Random(options.seed)
        self.state = disks.Disk(os.path.join(work, "state"), "2m")
        self.out = disks.Disk(os.path.join(work, "out"), "4m")
        self.writer = Writer(work, random.Random(options.seed + 1))
        self.oracle, self.results = Oracle(), collections.Counter()
        self.host = Host(work)
        self.dead = os.path.join(work, "state/dead")
        more = f', dead_letters: {{file: "{self.dead}"}}, shutdown_timeout: 2s'
        self.host.write(CONFIG.format(work=work, share=DEAD_SHARE), more=more)

    def wait(self, most):
        """Nothing depends on how long it is."""
        self.writer.ends.wait(self.dice.random() * most)

    def step(self):
        """Fills a disk, or makes room on it."""
        disk = self.dice.choice([self.state, self.out])
        if disk.is_full():
            disk.free()
        elif self.dice.random() < 0.5:
            disk.fill()
            self.results[f"{os.path.basename(disk.path)} full"] += 1

    def end(self):
        """Kills the host, or ends it. True: everything it has settled is saved."""
        if self.dice.random() < 0.6:
            self.host.stop(9)
            self.results["killed"] += 1
            return False
        was_full = self.state.is_full() or self.out.is_full()
        code = self.host.stop()
        self.results[f"ended with {code}"] += 1
        allowed = (0, 1, 65, 74, 75) if was_full else (0, 1, 75)  # 75: a slow machine
        if not check(code in allowed, f"the host ended with {code}, disks full: {was_full}"):
            self.show()
        return code == 0

    def show(self):
        """The log of the last host, and the files that are left."""
        with open(self.host.log, encoding="utf-8") as stream:
            print(stream.read()[-4000:])
        for log in self.writer.logs:
            for path in log.rotated() + [log.path]:
                with open(path, "rb") as stream:
                    lines = stream.read().split(b"\n")
                print(path, os.stat(path).st_ino, len(lines), lines[0], lines[-2:])

    def take(self, is_saved):
        """Between two hosts: what came, and which files are not needed any more."""
        with self.writer.turn:
            self.copied = self.copied[1:] + [self.writer.copied]
            self.writer.copied = False
            before, self.recorded = self.recorded, self.oracle.take_record(self.out.path)
            self.oracle.take_dead(self.dead)
            if self.was_saved and not any(self.copied):
                again = before & self.recorded
                check(not again, f"came again, although saved: {len(again)}, {sorted(again)[:3]}")
            self.was_saved = is_saved
            for log in self.writer.logs:
                for path in log.rotated():
                    self.prune(path)

    def prune(self, path):
        """Removes a rotated file all of whose lines came."""
        with open(path, "rb") as stream:
            found = LINE.findall(stream.read())
        if all(self.oracle.has(name.decode(), int(number)) for name, number in found):
            os.unlink(path)

    def is_over(self, start):
        if self.options.count:
            return self.results["hosts"] >= self.options.count
        return time.monotonic() - start >= self.options.seconds

    def run(self):
        start = time.monotonic()
        self.was_saved, self.copied = False, [False, False]  # of the last two hosts
        self.recorded = set()  # by the last host
        self.writer.start()
        while not self.is_over(start) and not FAILURES:
            self.host.start()
            self.results["hosts"] += 1
            for _ in range(self.dice.randrange(6)):
                self.wait(0.4)
                self.step()
            self.wait(0.4)
            self.take(self.end())
        if not FAILURES:
            self.finish()

    def missing(self):
        return {log.name: missing for log in self.writer.logs
                if (missing := self.oracle.missing(log))}

    def not_yet(self):
        """How many lines are missing while the host runs. What is renamed meanwhile is found by the
        next look."""
        look = Oracle()
        for path in glob.glob(os.path.join(self.out.path, "record*")) + [self.dead]:
            try:
                with open(path, "rb") as stream:
                    for name, number in LINE.findall(stream.read()):
                        look.take_line(name + number + b".")
            except FileNotFoundError:
                pass
        return sum(not look.has(name, number) for name, numbers in self.missing().items()
                   for number in numbers)

    def wait_for_all(self):
        """Until all lines came, or none has come for long: then they are lost."""
        least, since = self.not_yet(), time.monotonic()
        while least > 0 and time.monotonic() - since < LOST_AFTER:
            time.sleep(0.2)
            left = self.not_yet()
            if left < least:
                least, since = left, time.monotonic()
        check(least == 0, f"{least} lines are lost")

    def finish(self):
        """With room on all disks every line comes, and then none again."""
        self.writer.ends.set()
        self.writer.join()
        for disk in (self.state, self.out):
            disk.free()
        self.host.start()
        self.wait_for_all()
        code = self.host.stop()
        check(code in (0, 1, 75), f"the last host ended with {code}")
        self.take(True)
        lost = {name: numbers[:5] for name, numbers in self.missing().items()}
        if not check(not lost, f"the first that are lost: {lost}"):
            self.show()
            return
        self.host.start()
        until(lambda: self.checks() > 1, "checks of all files")
        code = self.host.stop()
        check(code in (0, 1), f"the host without work ended with {code}")  # 1: files are gone
        self.take(True)

    def checks(self):
        found = re.search(r"checks\D+(\d+)", self.host.run("inspect", "lines").stdout)
        return int(found.group(1)) if found else 0

    def report(self):
        rows = (("lines", sum(log.count for log in self.writer.logs)),
                ("lost", sum(map(len, self.missing().values()))),
                ("came again", self.oracle.repeats),
                ("dead letters", self.oracle.dead),
                ("cut by a kill", self.oracle.torn),
                ("rotations", dict(self.writer.rotations)),
                ("hosts", dict(self.results)))
        for name, value in rows:
            print(f"{name:16}{value}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("weir", "plugins", "tree"):
        parser.add_argument(name)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    os.environ["WEIR_PLUGIN_PATH"] = os.path.join(options.plugins, "../tests/plugins")  # of relay
    with tempfile.TemporaryDirectory() as work:
        soak = Soak(work, options)
        try:
            soak.run()
        finally:
            soak.host.stop(9)
            soak.report()
            soak.state.unmount()
            soak.out.unmount()
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
