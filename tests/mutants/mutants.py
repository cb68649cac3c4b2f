#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutants of core, config, host and plugins, each tried with the tests that run its line.

Draws lines that tests run, a mutant of each (mutate.py), builds it in a copy of the tree under
build/mutants, and runs tests until one fails: with preset `dev`; a survivor again with `asan`, or,
when locks or memory orders are what changed, with `tsan`. A time-out is a failure. The results are
kept, and a second run goes on where the first one ended. Exit code 1: less than GOAL killed.

"""
import argparse
import hashlib
import itertools
import json
import os
import random
import re
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/broken"), str(ROOT / "tests/style"), str(ROOT / "tests/mutants")]
sys.dont_write_bytecode = True

import broken  # noqa: E402
import covered  # noqa: E402
import equivalent  # noqa: E402
import mutate  # noqa: E402
import report  # noqa: E402

GOAL = 92  # percent
# In which order kinds have their turn: there are many conditions and few locks.
TURNS = ("condition", "statement", "number", "condition", "statement", "order", "condition",
         "statement", "number", "lock")
SECOND = {"order": "tsan", "lock": "tsan"}  # of others: asan
SLOWER = {"dev": 1, "asan": 4, "tsan": 10}
WAIT_LIMIT_MS = 5000  # what a test waits for a condition, times SLOWER up to a minute
SETTINGS = {
    "dev": {},
    "asan": {"ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:"
                             "strict_string_checks=1"},
    "tsan": {"TSAN_OPTIONS": f"halt_on_error=1:second_deadlock_stack=1:suppressions={ROOT}/"
                             "tests/tsan.suppressions"},
}
FOLDER = ROOT / "build/mutants"
NO_FENCE = 99  # exit code of fence.sh


class Build:
    """The copy of the tree, built with one preset."""

    def __init__(self, tree, preset, jobs):
        self.tree, self.preset, self.jobs = tree, preset, jobs
        self.fence = [str(ROOT / "tests/mutants/fence.sh"), str(tree)]
        self.folder = tree / "build" / preset
        self.environment = os.environ | {"WEIR_PLUGIN_TIMEOUT": "60s", "CCACHE_NOHASHDIR": "1",
                                         "CCACHE_BASEDIR": str(tree), "CCACHE_IGNOREOPTIONS": "-w",
                                         "WEIR_TEST_WAIT_LIMIT_MS": str(self.wait_limit()),
                                         **SETTINGS[preset]}
        if shutil.which("ccache"):
            self.environment["CMAKE_C_COMPILER_LAUNCHER"] = "ccache"
        self.tests = None
        self.programs = None

    def wait_limit(self):
        return min(WAIT_LIMIT_MS * SLOWER[self.preset], 60000)

    def run(self, command, seconds=None):
        return broken.run(command, seconds, cwd=self.tree, env=self.environment)

    def configure(self):
        """What a mutant leaves unused is no mistake: -w."""
        presets = json.loads((self.tree / "CMakePresets.json").read_text(encoding="utf-8"))
        flags = next(p["cacheVariables"]["CMAKE_C_FLAGS"] for p in presets["configurePresets"]
                     if p["name"] == self.preset)
        done = self.run(["cmake", "--preset", self.preset, f"-DCMAKE_C_FLAGS={flags} -w"])
        if done.returncode:
            sys.exit(f"mutants: the copy cannot be configured:\n{done.stdout[-4000:]}")
        self.tests = covered.list_tests(self.folder)
        shown = self.run(["ninja", "-C", str(self.folder), "-t", "targets", "all"]).stdout
        self.programs = [name for name in re.findall(r"^(\S+): C_\w*LINKER", shown, re.M)
                         if not re.search(r"(^|/)(test_|bench|fuzz)[^/]*$", name)]

    def targets(self, test):
        """A test of hosts may run anything that is no other test."""
        command = self.tests[test]["command"]
        own = [Path(word).name for word in command if Path(word).name.startswith("test_")
               and Path(word).parent == self.folder / "bin"]
        return own if own and own[0] == Path(command[0]).name else self.programs + own

    def make(self, test):
        return self.run(["ninja", "-C", str(self.folder), "-j", str(self.jobs),
                         *self.targets(test)])

    def passes(self, test, seconds):
        limit = (3 * seconds + 10) * SLOWER[self.preset] ** 0.5 + self.wait_limit() / 1000
        done = self.run([*self.fence, "ctest", "--test-dir", str(self.folder), "-R",
                         f"^{re.escape(test)}$", "--no-tests=error"], min(limit, 300))
        if done.returncode == NO_FENCE:
            sys.exit(f"mutants: {done.stdout}")
        return done.returncode == 0


class Trial:
    """Tries mutants, and remembers what became of them and of the tests."""

    def __init__(self, jobs, budget, lines, seconds):
        self.budget, self.lines, self.seconds = budget, lines, seconds
        self.copy = broken.Copy("mutants")
        self.copy.tree = FOLDER / "tree"
        self.copy.update()
        self.builds = {name: Build(self.copy.tree, name, jobs) for name in SETTINGS}
        self.results = {}
        self.fit = {}  # (preset, test): of this run alone, since sources and tests change
        self.kept = FOLDER / "results.jsonl"
        if self.kept.exists():
            for line in self.kept.read_text(encoding="utf-8").splitlines():
                record = json.loads(line)
                self.results[record["key"]] = record

    def keep(self, record):
        self.results[record["key"]] = record
        with self.kept.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")

    def build(self, preset):
        build = self.builds[preset]
        if build.tests is None:
            build.configure()
        return build

    def tests_of(self, mutant, build):
        """Tests of the file's room first, then the fastest."""
        known = self.lines.get(mutant.path, {}).get(mutant.line, ())
        names = {Path(mutant.path).stem, Path(mutant.path).parent.name}
        new = [test for test in build.tests if test not in self.seconds]
        chosen = [t for t in [*known, *new] if t in build.tests
                  and (build.preset != "tsan" or "concurrent" in build.tests[t]["labels"])]
        return sorted(chosen, key=lambda t: (not names & set(re.split(r"[._]", t)),
                                             self.seconds.get(t, 0), t))

    def is_fit(self, build, test, restored):
        """Whether the test passes here when nothing is changed."""
        if (build.preset, test) not in self.fit:
            with restored:
                done = build.make(test)
                self.fit[build.preset, test] = done.returncode == 0 and \
                    build.passes(test, self.seconds.get(test, 10))
        return self.fit[build.preset, test]

    def try_with(self, preset, mutant, restored):
        """(outcome, test, tests tried, tests there are)"""
        build = self.build(preset)
        tests = [t for t in self.tests_of(mutant, build) if self.fit.get((preset, t), True)]
        start = time.monotonic()
        for number, test in enumerate(tests, 1):
            done = build.make(test)
            if done.returncode != 0:
                return "not built", done.stdout[-300:], number, len(tests)
            if build.passes(test, self.seconds.get(test, 10)):
                self.fit[preset, test] = True
            elif self.is_fit(build, test, restored):
                return "killed", f"{test} ({preset})", number, len(tests)
            if time.monotonic() - start > self.budget:
                return "survived", "", number, len(tests)
        return "survived", "", len(tests), len(tests)

    def attempt(self, mutant, text, key):
        path = self.copy.tree / mutant.path
        restored = Restored(path, text, mutant.apply(text))
        start, tried = time.monotonic(), []
        restored.change()
        try:
            for preset in ("dev", SECOND.get(mutant.kind, "asan")):
                outcome, test, number, there = self.try_with(preset, mutant, restored)
                tried.append(f"{preset} {number}/{there}")
                if outcome != "survived":
                    break
        finally:
            restored.restore()
        old, new = mutant.change(text)
        record = {"key": key, "path": mutant.path, "line": mutant.line, "kind": mutant.kind,
                  "function": mutant.function, "old": old, "new": new, "outcome": outcome,
                  "by": test, "tried": tried, "seconds": round(time.monotonic() - start)}
        self.keep(record)
        return record


class Restored:
    """The changed file; within `with` it is as it was."""

    def __init__(self, path, whole, changed):
        self.path, self.whole, self.changed = path, whole, changed

    def change(self):
        self.path.write_text(self.changed, encoding="utf-8")

    def restore(self):
        self.path.write_text(self.whole, encoding="utf-8")

    def __enter__(self):
        self.restore()

    def __exit__(self, *_):
        self.change()


def draw(sources, lines, seed):
    """All mutants of lines that ran, at most one of a line, in the order of the seed."""
    chance, found = random.Random(seed), {kind: [] for kind in mutate.KINDS}
    for path in sorted(sources):
        for mutant in mutate.mutants_of(path, sources[path]):
            if mutant.line in lines.get(path, ()):
                found[mutant.kind].append(mutant)
    for mutants in found.values():
        chance.shuffle(mutants)
    taken = set()
    for kind in itertools.cycle(TURNS):
        while found[kind]:
            mutant = found[kind].pop()
            if (mutant.path, mutant.line) not in taken:
                taken.add((mutant.path, mutant.line))
                yield mutant
                break
        if not any(found.values()):
            return


def key_of(mutant, text):
    """A mutant of another text of the file is another one."""
    what = repr((mutant, hashlib.sha256(text.encode()).hexdigest()))
    return hashlib.sha256(what.encode()).hexdigest()[:16]


def read_sources(folders):
    """The files that have not changed since the map was made; names those that have."""
    at_map = json.loads((FOLDER / "sources.json").read_text(encoding="utf-8"))
    sources, changed = {}, []
    for path in sorted(p for folder in folders for p in (ROOT / folder).rglob("*.[ch]")):
        name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        if at_map.get(name) == hashlib.sha256(text.encode()).hexdigest():
            sources[name] = text
        else:
            changed.append(name)
    if changed:
        print(f"mutants: {len(changed)} files changed since the map and are left out (--map): "
              f"{', '.join(changed[:5])}")
    return sources


def renew_map(jobs, again):
    """Without `again`, goes on with a map that is not complete."""
    written = FOLDER / "sources.json"
    if again:
        shutil.rmtree(FOLDER / "map", ignore_errors=True)
        written.unlink(missing_ok=True)
    if not written.exists():
        hashes = {p.relative_to(ROOT).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
                  for folder in covered.FOLDERS for p in (ROOT / folder).rglob("*.[ch]")}
        FOLDER.mkdir(parents=True, exist_ok=True)
        written.write_text(json.dumps(hashes), encoding="utf-8")
        again = True
    if again or not (FOLDER / "mapped").exists():
        (FOLDER / "mapped").unlink(missing_ok=True)
        covered.make_map(ROOT, jobs)
        (FOLDER / "mapped").touch()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="of the draw; %(default)s")
    parser.add_argument("--sample", type=int, default=300, help="mutants; %(default)s")
    parser.add_argument("--folder", action="append",
                        help="only files below it, such as core/pool; may be repeated")
    parser.add_argument("--again", action="store_true",
                        help="survivors, too; a test that is not in the map is tried with each")
    parser.add_argument("--map", action="store_true",
                        help="find out again which tests run which lines (covered.py)")
    parser.add_argument("--jobs", type=int, default=1,
                        help="compilers at once, and tests while the map is made; others run one "
                             "by one")
    parser.add_argument("--budget", type=int, default=240, metavar="SECONDS",
                        help="what the tests of one mutant may take with one preset; %(default)s")
    return parser.parse_args()


def main():
    chosen = arguments()
    renew_map(chosen.jobs, chosen.map)
    lines, seconds = covered.read_map(ROOT)
    sources = read_sources(chosen.folder or covered.FOLDERS)
    same = equivalent.read_records(ROOT)
    trial, records = Trial(chosen.jobs, chosen.budget, lines, seconds), []
    drawn = list(itertools.islice(draw(sources, lines, chosen.seed), chosen.sample))
    for number, mutant in enumerate(drawn, 1):
        text = sources[mutant.path]
        key = key_of(mutant, text)
        record = trial.results.get(key)
        if record is None or (chosen.again and record["outcome"] == "survived"
                              and not equivalent.find(same, mutant, text)):
            record = trial.attempt(mutant, text, key)
            print(f"{number}/{len(drawn)} {report.describe(record)}", flush=True)
        records.append(record | {"reason": equivalent.find(same, mutant, text)})
    share = report.print_tables(records)
    return 1 if share < GOAL else 0


if __name__ == "__main__":
    sys.exit(main())
