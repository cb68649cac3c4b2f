#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./dev bench tasks: one job with libweir, GLib, libuv, oneTBB and a C11 atomic index, by turns in
one run: a thread submits many tasks, and waits for all. Prints the time to submit a task, the whole
time of a task, and the ratio of the peers to Weir. The submitting thread shares the CPUs with the
threads of the pool, so its time to submit contains some of theirs; `cpu` is its own CPU time. Fails
when a task has not run, never by the clock.

    tasks.py LIBRARY INCLUDE FOLDER [--rounds N] [--count N] [--threads N] [--peers A,B]
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import peers
import rows

SOURCES = os.path.join(HERE, "tasks")
FIGURES = ("submit", "cpu", "whole")
STEPS = (0, rows.WORK_US)  # nothing, and a microsecond


def commands(options):
    """name: the command that builds it, without its output."""
    library = os.path.abspath(options.library)
    weir = ["-I", os.path.abspath(options.include), "-L", library, "-lweir",
            f"-Wl,-rpath,{library}"]
    return {"weir": peers.C + ["weir.c", *weir],
            "glib": peers.C + ["glib.c", *peers.glib_flags()],
            "libuv": peers.C + ["libuv.c", "-luv", "-pthread"],
            "tbb": peers.CPP + ["tbb.cpp", "-ltbb"],
            "atomic": peers.C + ["atomic.c", "-pthread"]}


def build(options):
    """The names of those that could be built, and {name: program}."""
    programs = {}
    os.makedirs(options.folder, exist_ok=True)
    for name, command in commands(options).items():
        if name != "weir" and name not in options.peers.split(","):
            continue
        out = os.path.join(os.path.abspath(options.folder), f"tasks-{name}")
        done = None
        if shutil.which(command[0]):
            done = subprocess.run(command + ["-o", out], cwd=SOURCES, capture_output=True,
                                  text=True, check=False)
        if done and done.returncode == 0:
            programs[name] = out
        elif name == "weir":
            sys.exit(f"weir cannot be built: {done.stderr if done else command[0]}")
        else:
            print(f"absent: {name} cannot be built here")
    return programs


def run(program, options, steps):
    done = subprocess.run([program, str(options.threads), str(options.count), str(steps)],
                          capture_output=True, text=True, check=False, timeout=300)
    found = re.fullmatch(r"submit=([\d.]+) cpu=([\d.]+) whole=([\d.]+) ok=1\n", done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(f"{program}: exit code {done.returncode}: {done.stdout}{done.stderr}")
    return tuple(float(figure) for figure in found.groups())


def median(values):
    return sorted(values)[len(values) // 2]


def compare(programs, options, steps):
    figures = {name: [] for name in programs}
    for _ in range(options.rounds):
        for name, program in programs.items():
            figures[name].append(run(program, options, steps))
    print(f"{steps} steps of work, {options.threads} threads, {options.count} tasks, median of "
          f"{options.rounds} rounds")
    ours = [median(one) for one in zip(*figures["weir"])]
    for name, runs in figures.items():
        figures_of_name = zip(FIGURES, (median(one) for one in zip(*runs)), ours)
        print(f"  {name:8}" + "".join(f" {figure} {ns:8.1f} ns ({ns / our:5.2f} x)  "
                                      for figure, ns, our in figures_of_name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("include")
    parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=300000)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--peers", default="glib,libuv,tbb,atomic")
    options = parser.parse_args()
    programs = build(options)
    for steps in STEPS:
        compare(programs, options, steps)


if __name__ == "__main__":
    main()
