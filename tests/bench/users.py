#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./dev bench users: what users do with scripts, beside what they would use instead, by turns in
one run. Prints the median time of each row, its CPU time, and its ratio to the peer with the goal.
Fails when a result is wrong, never by the clock. A peer that is not installed is left out.

    users.py WEIR PLUGINS [--quick] [--count N] [--rounds N] [ROW...]
"""
import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Callable, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
SDK = os.path.join(HERE, "..", "..", "sdk", "python")
# All programs in Python run in Debian's, where it is: another one may start by way of a script.
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
PROCESSES, CHUNK, JOBS = 4, 64, 8

CONFIGURATION = """
version: 1
host: {{plugins: ["{plugins}"], control: "{folder}/socket", log: {{level: warning}}}}
sources: {{lines: {{use: files.lines, args: {{paths: ["{folder}/lines"]}}, to: work}}}}
pools:
  work: {{use: exec.pipe, size: {size}, route: pull, args: {{command: {command}}},
         outputs: {{out: print}}}}
  print: {{use: stdout.write, size: 1, args: {{end: none}}}}
"""


STREAM = """
version: 1
host: {{plugins: ["{plugins}"], control: "{folder}/socket", log: {{level: warning}}}}
sources: {{lines: {source}}}
pools: {{print: {{use: stdout.write, size: 1}}}}
"""


# --- work: what is done with each line ------------------------------------------------------------

@dataclass(frozen=True)
class Work:
    """A module of the folder users. The results hold numbers, which add up to `total`."""
    module: str
    line: Callable      # the line of a number
    number: Callable    # the number in a result
    total: Callable     # the sum of them, for so many lines
    count: Optional[int] = None
    factor: int = 1

    def lines(self, options):
        return self.count or options.count * self.factor

    def problem(self, options, results):
        """What is wrong with the results; empty: nothing."""
        count = self.lines(options)
        if len(results) != count or len(set(results)) != count:
            return f"{len(set(results))} different results of {len(results)}, not {count}"
        total = sum(self.number(result) for result in results)
        if total != self.total(count):
            return f"the numbers add up to {total}, not to {self.total(count)}"
        return ""


class Copy(Work):
    """The results are the lines, in their order."""

    def problem(self, options, results):
        wrong = sum(result != self.line(i).encode() for i, result in enumerate(results))
        if wrong or len(results) != self.lines(options):
            return f"{wrong} wrong results of {len(results)}, not {self.lines(options)}"
        return ""


ACCESS = '10.0.0.1 - - [23/Nov/2026:13:00:00 +0000] "GET /a/{0} HTTP/1.1" 200 {0}'
SQUARE = Work("square", str, int, lambda n: (n - 1) * n * (2 * n - 1) // 6)
LOG = Work("access", ACCESS.format, lambda result: int(re.search(rb'"bytes": (\d+)', result)[1]),
           lambda n: (n - 1) * n // 2)
COPY = Copy("copy", "line number {} of the file".format, int, int, factor=20)
SLEEP = Work("sleep", str, int, lambda n: (n - 1) * n // 2, count=JOBS)


# --- ways: the programs that do it ----------------------------------------------------------------

@dataclass(frozen=True)
class Way:
    name: str
    command: Callable   # of the options, the folder and the work: the words
    tool: str = ""      # what must be installed


def script(name, *words):
    return [PYTHON, os.path.join(HERE, "users", name), *words]


def weir(name, size):
    def command(options, folder, work):
        file = os.path.join(folder, f"{work.module}-{name}-{size}.yaml")
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(CONFIGURATION.format(plugins=options.plugins, folder=folder, size=size,
                                              command=script(name, work.module)))
        return [options.weir, "run", file]
    return command


def stream(name, source):
    """Weir as a copier of lines; a source of standard input gets them from `cat`."""
    def command(options, folder, _):
        file = os.path.join(folder, f"{name}.yaml")
        with open(file, "w", encoding="utf-8") as out:
            out.write(STREAM.format(plugins=options.plugins, folder=folder,
                                    source=source.format(folder=folder)))
        words = [options.weir, "run", file]
        return cat(folder, words) if name == "stdin" else words
    return command


def cat(folder, words):
    return ["sh", "-c", 'cat "$0" | "$@"', os.path.join(folder, "lines"), *words]


def piped(words):
    """The lines of the folder, written to a program by `cat`."""
    return lambda _, folder, work: cat(folder, [*words, *script("filter.py", work.module)])


ONE = Way(f"exec.pipe, {PROCESSES} Pythons, one by one", weir("one.py", PROCESSES))
BATCH = Way(f"exec.pipe, {PROCESSES} Pythons, `batch={CHUNK}`", weir("batch.py", PROCESSES))
ALONE = Way(f"exec.pipe, one Python, `batch={CHUNK}`", weir("batch.py", 1))
POOL = Way(f"`Pool({PROCESSES}).imap_unordered(chunksize={CHUNK})`",
           lambda _, folder, work: script("pool.py", work.module, str(PROCESSES), str(CHUNK),
                                          os.path.join(folder, "lines")))
# Each Python gets blocks as it reads them: with the usual block of 1 MiB one has all lines.
PARALLEL = Way(f"`parallel -j {PROCESSES} --pipe --round-robin`",
               piped(["parallel", "--will-cite", "-j", str(PROCESSES), "--pipe", "--round-robin",
                      "--block", "64k"]), tool="parallel")
FILTER = Way("`cat \\| python3`", piped([]))
FILES = Way("files.lines, stdout.write",
            stream("files", '{{use: files.lines, args: {{paths: ["{folder}/lines"]}}, to: print}}'))
STDIN = Way("stdin.lines, stdout.write", stream("stdin", "{{use: stdin.lines, to: print}}"))
AWK = Way("`awk '{print}'`",
          lambda _, folder, work: ["awk", "{print}", os.path.join(folder, "lines")], tool="awk")
CAT = Way("`cat \\| cat`", lambda _, folder, work: cat(folder, ["cat"]))


# --- rows -----------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Row:
    """`goal`: at most so many times what the peer takes; without a peer, seconds."""
    name: str
    what: str
    work: Work
    ours: Way
    peer: Optional[Way] = None
    goal: Optional[float] = None


SMALL, ENTRIES = "{:,} numbers squared", "{:,} lines of an access log to JSON"
ROWS = (
    Row("items", SMALL, SQUARE, ONE, POOL, 2.0),
    Row("items-batch", SMALL, SQUARE, BATCH, POOL, 1.3),
    Row("lines", SMALL, SQUARE, ONE, PARALLEL, 1.2),
    Row("lines-batch", SMALL, SQUARE, ALONE, FILTER, 2.0),
    Row("log-items", ENTRIES, LOG, ONE, POOL, 2.0),
    Row("log-items-batch", ENTRIES, LOG, BATCH, POOL, 1.3),
    Row("log-lines", ENTRIES, LOG, ONE, PARALLEL, 1.2),
    Row("log-lines-batch", ENTRIES, LOG, ALONE, FILTER, 2.0),
    Row("files-stdout", "{:,} lines of a file copied", COPY, FILES, AWK, 2.0),
    Row("stdin-stdout", "{:,} lines of a pipe copied", COPY, STDIN, CAT, 6.0),
    Row("seconds", "{} jobs of a second", SLEEP, ONE, goal=2.3),
)


class Runs:
    """Seconds and CPU seconds of each round, and what was wrong."""

    def __init__(self):
        self.seconds, self.cpu, self.problem = [], [], ""

    def __str__(self):
        if self.problem:
            return f"**wrong**: {self.problem} | "
        return f"{self.median():.2f} | {statistics.median(self.cpu):.2f}"

    def median(self):
        return statistics.median(self.seconds)


def cpu_seconds():
    """Of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_once(options, folder, work, way, runs):
    command = way.command(options, folder, work)
    output = os.path.join(folder, "output")
    # A module is compiled in the first round, as for users at their first start.
    environment = dict(os.environ, PYTHONPATH=SDK, PYTHONDONTWRITEBYTECODE="", PARALLEL_HOME=folder,
                       PYTHONPYCACHEPREFIX=os.path.join(folder, "compiled"))
    with open(output, "wb") as to:
        cpu, before = cpu_seconds(), time.monotonic()
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=to, env=environment,
                              check=False)
        runs.seconds.append(time.monotonic() - before)
        runs.cpu.append(cpu_seconds() - cpu)
    with open(output, "rb") as stream:
        problem = work.problem(options, stream.read().split(b"\n")[:-1])
    if done.returncode != 0:
        problem = f"exit code {done.returncode}; {problem}"
    runs.problem = runs.problem or problem


def write_lines(options, folder, work):
    with open(os.path.join(folder, "lines"), "w", encoding="ascii") as stream:
        stream.writelines(f"{work.line(i)}\n" for i in range(work.lines(options)))


def measure(options, rows):
    """The runs of each work and way, all ways of a work by turns."""
    found = {(row.work, way): Runs() for row in rows for way in (row.ours, row.peer)
             if way and (not way.tool or shutil.which(way.tool))}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.rounds):
            for work in dict.fromkeys(work for work, _ in found):
                write_lines(options, folder, work)
                ways = [way for of, way in found if of is work]
                first = turn % len(ways)
                for way in ways[first:] + ways[:first]:
                    run_once(options, folder, work, way, found[work, way])
    return found


def beside(row, ours, peer):
    """The figure that the goal is for, and whether it is reached."""
    if not ours or ours.problem or (row.peer and (not peer or peer.problem)):
        return ""
    figure = ours.median() / peer.median() if peer else ours.median()
    text = f"{figure:.2f}" if peer else f"{figure:.2f} s"
    if row.goal is None:
        return text
    return f"{text} (goal {row.goal}: {'reached' if figure <= row.goal else '**not reached**'})"


def cells(way, runs):
    """The name of a way with its times, or with what it lacks."""
    if not way:
        return " | | "
    return f"{way.name} | {runs}" if runs else f"{way.name} | needs `{way.tool}` | "


def print_row(options, row, found):
    ours, peer = (found.get((row.work, way)) for way in (row.ours, row.peer))
    print(f"| {row.name} | {row.what.format(row.work.lines(options))} | {cells(row.ours, ours)} | "
          f"{cells(row.peer, peer)} | {beside(row, ours, peer)} |", flush=True)


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench users")
    parser.add_argument("weir")
    parser.add_argument("plugins")
    parser.add_argument("--quick", action="store_true", help="10,000 lines")
    parser.add_argument("--count", type=int, help="lines (100,000)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=" ".join(row.name for row in ROWS))
    options = parser.parse_intermixed_args()
    options.weir, options.plugins = map(os.path.abspath, (options.weir, options.plugins))
    options.count = options.count or (10_000 if options.quick else 100_000)
    unknown = set(options.rows) - {row.name for row in ROWS}
    if unknown:
        parser.error(f"no row {' '.join(unknown)}; the rows are {' '.join(r.name for r in ROWS)}")
    return options


def main():
    options = parse()
    rows = [row for row in ROWS if not options.rows or row.name in options.rows]
    print(f"{options.rounds} rounds by turns, {len(os.sched_getaffinity(0))} CPUs; medians\n",
          flush=True)
    found = measure(options, rows)
    print("| row | work | Weir | s | CPU s | beside | s | CPU s | ratio |\n" + "|---" * 9 + "|")
    for row in rows:
        print_row(options, row, found)
    if any(runs.problem for runs in found.values()):
        sys.exit("a result is wrong")


if __name__ == "__main__":
    main()
