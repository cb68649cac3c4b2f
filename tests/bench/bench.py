#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the rows of rows.py, ours and the peers' by turns, and prints each beside its goal and the
best peer. Fails when a result of ours is wrong, never by the clock.

    bench.py [--weir BENCH] [--run WEIR PLUGINS LOAD_PLUGINS] --folder BUILD/bench [--quick]
        [--rounds N] [--divide N] [--cpus 1|2] [--peers NAME,...|none] [--budget N] [--more]
        [ROW...]
    bench.py --folder BUILD/bench --publish DOCS

A round runs each program of a row once, with one CPU and with two, and the rows and floors that are
units of the row's goals: A B C A B C. FOLDER/runs.jsonl keeps each run. --more adds to the runs
there, and replaces those of the same rows. --publish writes the table and the plot of these runs.
"""
import argparse
import datetime
import json
import os
import platform
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import peers
import report
import rows as definition


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def ours(options):
    """Our programs: the rows of core, and those of `weir run`."""
    if not options.weir:
        return []
    names = {row.source for row in definition.ROWS}
    of_run = tuple(name for name in ("run0", "run1us") if options.run)
    found = [peers.Program("weir", [options.weir], tuple(names - {"run0", "run1us"}),
                           arguments=[str(options.budget)] if options.budget else [])]
    if of_run:
        script = os.path.join(HERE, "weir_run.py")
        found.append(peers.Program("weir", [sys.executable, script, *options.run], of_run))
    return found


def is_check(options):
    """Only the results count; peers must be right, too."""
    return options.divide >= peers.CHECK_DIVISOR


def probes(options):
    return 2 in options.cpus and not is_check(options)


def of_peers(options, folder):
    wanted = None if options.peers is None else options.peers.split(",")
    found = [program for program in peers.programs(folder)
             if wanted is None or program.name in wanted]
    sources = {peers.SOURCE_OF.get(program.name, program.name) for program in found}
    if probes(options):
        sources.add("probe")
    absent = peers.build_all(folder, sources, say)
    if absent.get("probe"):
        say(f"no probe of the machine: {absent['probe']}")
    for program in found:
        program.absent = absent[peers.SOURCE_OF.get(program.name, program.name)]
        if program.absent:
            say(f"the peer {program.name} is absent: {program.absent}")
    return found


class Sitting:
    def __init__(self, options):
        self.options = options
        self.folder = os.path.join(options.folder, "peers")
        self.path = os.path.join(options.folder, "runs.jsonl")
        self.all_peers = of_peers(options, self.folder)
        self.programs = ours(options) + [one for one in self.all_peers if not one.absent]
        self.probe = self.probe_now(2)
        self.work_ns = 1000.0
        self.ok = True
        os.makedirs(options.folder, exist_ok=True)
        self.forget()
        self.keep({"about": about(options, self.all_peers)})

    def forget(self):
        """Earlier measurements: all rows, or with --more the runs of the same rows."""
        names = self.options.rows or definition.BY_NAME
        again = {definition.BY_NAME[name].group for name in names}
        kept = []
        if self.options.more and os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as stream:
                kept = [line for line in stream if json.loads(line).get("group") not in again]
        with open(self.path, "w", encoding="utf-8") as stream:
            stream.writelines(kept)

    def keep(self, record):
        with open(self.path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")

    def probe_now(self, cpus):
        """How far the CPUs are from each other; None when nobody asks."""
        return peers.probe_ns(self.folder) if cpus == 2 and probes(self.options) else None

    def run_one(self, group, program, row, cpus, round_):
        """One run, between two probes when it has both CPUs."""
        figures = peers.run(program, row, cpus, self.options.divide, self.work_ns)
        before, self.probe = self.probe, self.probe_now(cpus) or self.probe
        if "error" in figures and (program.is_ours or is_check(self.options)):
            self.ok = False
            say(f"{program.name}: {row.source} with {cpus} threads: {figures['error']}")
        self.keep({"group": group, "row": row.source, "peer": program.name, "cpus": cpus,
                   "round": round_, "probe": [before, self.probe] if cpus == 2 else None,
                   **figures})
        if row.name == "work" and "error" not in figures:
            self.work_ns = figures["ns"]

    def run_round(self, group, rows, round_):
        mine = {row.source: row for row in definition.bases(rows) + rows}
        theirs = {group: definition.shape_of(group)}
        for cpus in self.options.cpus:
            for program in self.programs:
                for row in (mine if program.is_ours else theirs).values():
                    if (cpus in row.cpus and row.source in program.rows and
                            (row.source, cpus) not in program.never):
                        self.run_one(group, program, row, cpus, round_)

    def run_group(self, group, rows):
        count = 1 if all(row.rare for row in rows) else self.options.rounds
        for round_ in range(count):
            self.run_round(group, rows, round_)


def about(options, programs):
    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
           if line.startswith("model name")]
    commit = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"],
                            capture_output=True, text=True, check=False).stdout.strip()
    return {"date": datetime.date.today().isoformat(), "cpu": cpu[0] if cpu else "unknown",
            "cpus": os.cpu_count(), "kernel": platform.release(), "commit": commit,
            "rounds": options.rounds, "divide": options.divide,
            "absent": {program.name: program.absent for program in programs if program.absent}}


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench", add_help=True)
    parser.add_argument("--weir", help=argparse.SUPPRESS)
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--folder", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--publish", metavar="DOCS", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="three rounds of a tenth each")
    parser.add_argument("--rounds", type=int, help="5 by default")
    parser.add_argument("--divide", type=int, help="so many times fewer messages")
    parser.add_argument("--cpus", type=int, choices=(1, 2), help="with so many CPUs only")
    parser.add_argument("--peers", help="names with commas between them, or none")
    parser.add_argument("--budget", type=int, help="of our dispatcher")
    parser.add_argument("--more", action="store_true",
                        help="keep what was measured before of other rows")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="all that there are")
    options = parser.parse_args()
    options.folder = os.path.abspath(options.folder)
    options.rounds = options.rounds or (3 if options.quick else 5)
    options.divide = options.divide or (10 if options.quick else 1)
    options.cpus = (options.cpus,) if options.cpus else (1, 2)
    unknown = set(options.rows) - set(definition.BY_NAME)
    if unknown:
        parser.error(f"no such row: {' '.join(sorted(unknown))}; there are: "
                     f"{' '.join(definition.BY_NAME)}")
    return options


def main():
    options = parse()
    if options.publish:
        report.publish(report.Figures(os.path.join(options.folder, "runs.jsonl")), options.publish)
        return 0
    sitting = Sitting(options)
    wanted = {definition.BY_NAME[name].group for name in options.rows}
    print(report.HEAD)
    for group, rows in definition.groups().items():
        rows = [row for row in rows if not options.rows or row.name in options.rows]
        rows = [row for row in rows if not (options.quick and row.rare) or row.name in options.rows]
        if not rows or (wanted and group not in wanted):
            continue
        sitting.run_group(group, rows)
        figures = report.Figures(sitting.path)
        for row in rows:
            for cpus in options.cpus:
                if cpus in row.cpus:
                    print(report.text(figures.line(row, cpus)), flush=True)
    return 0 if sitting.ok else 1


sys.exit(main())
