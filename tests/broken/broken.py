#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks each promise on purpose and sees its test fail.

Usage: broken.py [-j N] [PROMISE...]

Works on copies of the tree under build/broken. First every test that a record names must pass;
then each record of tests/broken/*.breaks is applied to a copy, the copy is built, and the test must
fail. Prints a line for each, and at the end: promises / tests / seen to fail. Exit code 1 when a
promise has no test that was seen to fail.
"""
import argparse
import concurrent.futures
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/style"), str(ROOT / "tests/broken")]
sys.dont_write_bytecode = True

import breaks  # noqa: E402
import promises  # noqa: E402

TEST_SECONDS = 60  # a broken runtime may hang: then that is how the test fails
WAIT_LIMIT_MS = 3000  # what the tests wait for a condition, see tests/unit/support/wait_limit.h
HUNG = "seen to hang"
FLAGS = "-O1 -g -w"  # what a break leaves unused is no mistake here


def run(command, seconds=None, **options):
    """Runs a command in a group of its own; after `seconds` the whole group is killed."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, errors="replace",
                          start_new_session=True, **options) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
        return subprocess.CompletedProcess(command, process.returncode, output)


class Copy:
    """A copy of the tree with a build of its own."""

    def __init__(self, number):
        self.tree = ROOT / f"build/broken/{number}/tree"
        self.build = ROOT / f"build/broken/{number}/build"
        self.hung = False  # the last test did not end by itself

    def update(self):
        """Brings the copy up to date; what has not changed is not touched, so not built again."""
        listed = run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"])
        wanted = {name for name in listed.stdout.split("\n") if name and (ROOT / name).is_file()}
        for name in sorted(wanted):
            source, target = ROOT / name, self.tree / name
            if not target.is_file() or source.read_bytes() != target.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        for path in sorted(self.tree.rglob("*")):
            name = path.relative_to(self.tree).as_posix()
            if path.is_file() and name not in wanted and not name.startswith("build/"):
                path.unlink()

    def prepare(self):
        """Updates the copy and builds it."""
        self.update()
        done = run(["cmake", "-S", str(self.tree), "-B", str(self.build), "-G", "Ninja",
                    "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_C_FLAGS={FLAGS}"])
        if done.returncode == 0:
            done = self.make("all")
        if done.returncode != 0:
            sys.exit(f"broken: the copy does not build:\n{done.stdout[-4000:]}")

    def make(self, target):
        return run(["cmake", "--build", str(self.build), "-j", "2", "--target", target])

    def tests(self):
        """Name of each test -> what to build for it."""
        shown = run(["ctest", "--test-dir", str(self.build), "--show-only=json-v1"])
        targets = {}
        for test in json.loads(shown.stdout)["tests"]:
            program = Path(test["command"][0]).name
            targets[test["name"]] = program if program.startswith("test_") else "all"
        return targets

    def passes(self, test):
        done = run(["ctest", "--test-dir", str(self.build), "-R", f"^{test}$",
                    "--no-tests=error"], TEST_SECONDS,
                   env=os.environ | {"WEIR_TEST_WAIT_LIMIT_MS": str(WAIT_LIMIT_MS)})
        self.hung = done.returncode == -signal.SIGKILL
        return done.returncode == 0

    def see(self, record, target):
        """Whether the test fails with the promise broken; a sentence when this is unknown."""
        path = self.tree / record.path
        whole = path.read_text(encoding="utf-8")
        path.write_text(record.apply(whole), encoding="utf-8")
        try:
            built = self.make(target)
            if built.returncode != 0:
                return f"does not build: {built.stdout[-1500:]}"
            failed = not self.passes(record.test)
            return HUNG if self.hung else failed
        finally:
            path.write_text(whole, encoding="utf-8")


def take_turns(copies, records, targets):
    """Yields (record, seen, seconds) as they come."""
    free = queue.Queue()
    for copy in copies:
        free.put(copy)

    def one(record):
        copy, start = free.get(), time.monotonic()
        try:
            return record, copy.see(record, targets[record.test]), time.monotonic() - start
        finally:
            free.put(copy)

    with concurrent.futures.ThreadPoolExecutor(len(copies)) as pool:
        for future in concurrent.futures.as_completed([pool.submit(one, r) for r in records]):
            yield future.result()


def summary(known, cited, records, seen):
    """Prints promises / tests / seen to fail; the number of promises not seen."""
    unseen = [n for n, _ in known if n not in {record.promise for record in seen}]
    for number in unseen:
        print(f"NOT SEEN TO FAIL: {number}")
    print(f"promises {len(known)} / tests that cite them {len(set(sum(cited.values(), [])))} / "
          f"breaks {len(records)}, seen to fail {len(seen)}; "
          f"promises seen broken {len(known) - len(unseen)}")
    return len(unseen)


def main():
    parser = argparse.ArgumentParser(description="Breaks each promise and sees its test fail.")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, help="copies at once")
    parser.add_argument("promise", nargs="*", help="only these, such as S5 or P")
    chosen = parser.parse_args()
    known = promises.read_promises((ROOT / "docs/promises.md").read_text(encoding="utf-8"))
    cited = promises.read_citations(ROOT)
    try:
        records = breaks.read_breaks(ROOT)
    except breaks.BreakError as error:
        sys.exit(str(error))
    if chosen.promise:
        wanted = {n for n, _ in known for p in chosen.promise if n == p or n[0] == p}
        known = [(n, text) for n, text in known if n in wanted]
        records = [r for r in records if r.promise in wanted]
        cited = {n: paths for n, paths in cited.items() if n in wanted}
    copies = [Copy(number) for number in range(max(1, min(chosen.j, len(records))))]
    for copy in copies:
        copy.prepare()
    targets = copies[0].tests()
    for record in records:
        if record.test not in targets:
            sys.exit(f"{record.where}: there is no test {record.test}")
    for test in sorted({record.test for record in records}):
        if not copies[0].passes(test):
            sys.exit(f"broken: {test} fails with nothing broken")
    seen, wrong = [], 0
    for record, failed, seconds in take_turns(copies, records, targets):
        word = {True: "seen to fail", False: "STILL PASSES"}.get(failed, failed)
        print(f"{record.promise:4} {record.test:32} {word}  ({record.where}, {seconds:.0f} s)",
              flush=True)
        if failed in (True, HUNG):
            seen.append(record)
        else:
            wrong += 1
    return 1 if summary(known, cited, records, seen) + wrong else 0


if __name__ == "__main__":
    sys.exit(main())
