#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./dev bench exec: the same small jobs as commands of exec.run, of `xargs -P` and of GNU parallel,
by turns in one run. A job is /bin/true, or /bin/echo, whose output is collected and counted. Prints
the median time of a round, jobs per second, and the ratio to Weir. Fails when a job is missing,
never by the clock. A peer that is not installed is left out.

    exec.py WEIR PLUGINS [--quick] [--fast] [--count N] [--rounds N] [--at-once N]
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

CONFIGURATION = """
version: 1
host: {{plugins: ["{plugins}"], control: "{work}/socket", log: {{level: warning}}}}
sources: {{lines: {{use: files.lines, args: {{paths: ["{work}/jobs"]}}, to: run}}}}
pools:
  run: {{use: exec.run, size: {at_once}, route: pull, mailbox: 16,
        args: {{command: ["{program}", "{{}}"]}}, outputs: {{out: print}}}}
  print: {{use: stdout.write, size: 1, args: {{end: none}}}}
"""


def commands(options, work, program):
    """What runs the jobs: a name, the command, and its standard input."""
    at_once, jobs = str(options.at_once), os.path.join(work, "jobs")
    file = os.path.join(work, "weir.yaml")
    with open(file, "w", encoding="utf-8") as stream:
        stream.write(CONFIGURATION.format(plugins=os.path.abspath(options.plugins), work=work,
                                          at_once=at_once, program=program))
    yield "exec.run", [options.weir, "run", file], None
    yield "xargs -P", ["xargs", "-P", at_once, "-n", "1", program], jobs
    if shutil.which("parallel") and not options.fast:
        yield "GNU parallel", ["parallel", "--will-cite", "-j", at_once, program, "{}"], jobs


def run(command, jobs, work):
    """Seconds; the lines that were printed."""
    output = os.path.join(work, "output")
    with open(output, "wb") as to, open(jobs or os.devnull, "rb") as source:
        before = time.monotonic()
        subprocess.run(command, stdin=source, stdout=to, check=True)
        seconds = time.monotonic() - before
    with open(output, "rb") as stream:
        return seconds, stream.read().split(b"\n")[:-1]


def measure(options, work, program, echoes):
    """Seconds of each round, by name."""
    each = max(options.count // options.rounds, 1)
    wanted = sorted(b"%d" % i for i in range(each)) if echoes else []
    with open(os.path.join(work, "jobs"), "w", encoding="ascii") as stream:
        stream.write("".join(f"{i}\n" for i in range(each)))
    found = {}
    for turn in range(options.rounds):
        present = list(commands(options, work, program))
        for name, command, jobs in present[turn % len(present):] + present[:turn % len(present)]:
            seconds, lines = run(command, jobs, work)
            if sorted(lines) != wanted:
                sys.exit(f"{name}: {len(lines)} lines of {len(wanted)}")
            found.setdefault(name, []).append(seconds)
    return each, found


def print_row(program, each, found):
    ours = statistics.median(found["exec.run"])
    print(f"\n{program}, {each} jobs a round\n")
    print("| | s | jobs/s | beside exec.run |\n|---|---|---|---|")
    for name, seconds in found.items():
        median = statistics.median(seconds)
        print(f"| {name} | {median:.2f} | {each / median:.0f} | {median / ours:.2f} |")
    peers = [statistics.median(s) for name, s in found.items() if name != "exec.run"]
    print(f"\nexec.run needs {ours / min(peers):.2f} of the time of the faster peer")


def main():
    parser = argparse.ArgumentParser(prog="./dev bench exec")
    parser.add_argument("weir")
    parser.add_argument("plugins")
    parser.add_argument("--quick", action="store_true", help="4,000 jobs")
    parser.add_argument("--fast", action="store_true",
                        help="without GNU parallel, which takes most of the time")
    parser.add_argument("--count", type=int, help="jobs of each kind (100,000)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at-once", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    options.weir = os.path.abspath(options.weir)
    options.count = options.count or (4000 if options.quick else 100000)
    print(f"{options.at_once} at a time, {options.rounds} rounds by turns", flush=True)
    with tempfile.TemporaryDirectory() as work:
        for program, echoes in (("/bin/true", False), ("/bin/echo", True)):
            print_row(program, *measure(options, work, program, echoes))


if __name__ == "__main__":
    main()
