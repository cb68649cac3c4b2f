# SPDX-License-Identifier: MIT
"""What the runs of a sitting say: medians, goals, the best peer; as text, as a table, as a plot."""
import json
import os
import re
import statistics
from dataclasses import dataclass, field
from typing import Optional

import peers
import plot
import rows as definition

STARVED_NS = 400  # a line that takes longer: one of the CPUs was taken away meanwhile
HEAD = (f"{'row':12} {'CPUs':4} {'Weir':>11} {'goal':>10} {'':4} {'x best':>7}  peers, the best "
        "first; how long a cache line took between the CPUs")


@dataclass
class Line:
    """A row with one CPU or with two."""
    row: definition.Row
    cpus: int
    weir: Optional[float] = None
    goal: Optional[float] = None
    peers: dict = field(default_factory=dict)    # name: figure, the best first
    failed: dict = field(default_factory=dict)   # name: why
    probe: Optional[float] = None

    @property
    def reached(self):
        if self.weir is None or self.goal is None:
            return None
        return self.weir <= self.goal * definition.MARGIN

    @property
    def best(self):
        return next(iter(self.peers.items()), None)

    @property
    def ratio(self):
        if self.weir is None or not self.peers:
            return None
        return self.weir / self.best[1]


class Figures:
    """The runs that are kept."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as stream:
            records = [json.loads(line) for line in stream]
        self.about, self.runs, sitting = [], {}, None
        for record in records:
            sitting = record.get("about", sitting)
            if "row" in record:
                if sitting not in self.about:  # one whose runs have been replaced is left out
                    self.about.append(sitting)
                key = (record["group"], record["row"], record["peer"], record["cpus"])
                self.runs.setdefault(key, []).append(record)

    def good(self, *key):
        """Those without an error, and without the starved ones if there are others."""
        found = [run for run in self.runs.get(key, []) if "error" not in run]
        calm = [run for run in found
                if not run["probe"] or max(one or 0 for one in run["probe"]) <= STARVED_NS]
        return calm or found

    def value(self, row, group, source, peer, cpus):
        """The median of a row's figure."""
        found = [run[row.figure] for run in self.good(group, source, peer, cpus)
                 if row.figure in run]
        return statistics.median(found) if found else None

    def spread(self, line):
        """How many times the slowest round of ours took what the fastest did."""
        row = line.row
        found = [run[row.figure] for run in self.good(row.group, row.source, "weir", line.cpus)
                 if run.get(row.figure, 0) > 0]
        return max(found) / min(found) if found else 1

    def base(self, row, goal, cpus):
        """What a goal is a multiple of."""
        if goal.base == "unit":
            return 1
        if goal.base == "one":
            return self.value(row, row.group, row.source, "weir", 1)
        if goal.base not in definition.BY_NAME:
            return self.value(row, row.group, row.source, goal.base, cpus)
        other = definition.BY_NAME[goal.base]
        return self.value(other, row.group, other.source, "weir", min(cpus, max(other.cpus)))

    def line(self, row, cpus):
        line = Line(row, cpus, self.value(row, row.group, row.source, "weir", cpus))
        goal = row.goal(cpus)
        base = goal and self.base(row, goal, cpus)
        line.goal = base and base * goal.factor
        found = {}
        for group, source, peer, their_cpus in self.runs:
            if (group, source, their_cpus) == (row.group, row.group, cpus) and peer != "weir":
                found[peer] = self.value(row, group, source, peer, cpus)
                if found[peer] is None:
                    line.failed[peer] = self.runs[group, source, peer, cpus][-1].get("error", "")
        line.peers = dict(sorted(((name, figure) for name, figure in found.items() if figure),
                                 key=lambda item: item[1]))
        probes = [run["probe"][1] for run in self.good(row.group, row.source, "weir", cpus)
                  if run["probe"] and run["probe"][1]]
        line.probe = statistics.median(probes) if probes else None
        return line

    def lines(self):
        every = [self.line(row, cpus) for row in definition.ROWS for cpus in row.cpus]
        return [line for line in every if line.weir is not None]


def number(value):
    if value is None:
        return "-"
    if value >= 100000:
        return f"{value / 1000:,.0f}k"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


VERDICT = {True: "yes", False: "NO", None: ""}


def text(line):
    weir = number(line.weir) + (" " + line.row.unit if line.row.unit != "ns" else "")
    ratio = f"{line.ratio:.2f}" if line.ratio else "-"
    others = [f"{name} {number(figure)}" for name, figure in line.peers.items()]
    others += [f"{name}: {why}" for name, why in line.failed.items()]
    probe = f"  [{line.probe:.0f} ns]" if line.probe else ""
    return (f"{line.row.name:12} {line.cpus:4} {weir:>11} {number(line.goal):>10} "
            f"{VERDICT[line.reached]:4} {ratio:>7}  {', '.join(others)}{probe}")


# --- the page

def goal_text(goal):
    if goal is None:
        return ""
    if goal.base == "unit":
        return f"≤ {number(goal.factor)}"
    of = {"one": "one thread", "spin": "a thread that spins"}.get(goal.base, goal.base)
    return f"≤ {goal.factor:.3g} × {of}"


def cells(line):
    """Weir, its goal, the best peer, the ratio."""
    if line is None:
        return ["", "", "", ""]
    mark = {True: "✓", False: "**no**", None: ""}[line.reached]
    goal = f"{number(line.goal)} {mark}" if line.goal else ""
    best = f"{line.best[0]} {number(line.best[1])}" if line.best else ""
    ratio = f"{line.ratio:.2f}" if line.ratio else ""
    if line.ratio and line.ratio > 1:
        ratio = f"**{ratio}**"
    return [number(line.weir), goal, best, ratio]


def table(lines):
    by_row = {}
    for line in lines:
        by_row.setdefault(line.row, {})[line.cpus] = line
    out = ["| row | 1 thread | goal | best peer | ratio | 2 threads | goal | best peer | ratio |",
           "|---|---|---|---|---|---|---|---|---|"]
    for row, found in by_row.items():
        unit = f" ({row.unit})" if row.unit != "ns" else ""
        out.append(f"| {row.name}{unit} | " +
                   " | ".join(cells(found.get(1)) + cells(found.get(2))) + " |")
    return out


def rows_table():
    out = ["| row | what it is | goal, 1 thread | goal, 2 threads |", "|---|---|---|---|"]
    for row in definition.ROWS:
        out.append(f"| {row.name} | {row.what} | {goal_text(row.one)} | {goal_text(row.two)} |")
    return out


def span(numbers, before=""):
    """One number, or the least and the largest."""
    low, high = (f"{before}{number:.0f}" for number in (min(numbers), max(numbers)))
    return low if low == high else f"{low} to {high}"


def preface(figures, lines):
    """Of which sittings the figures are, and how much they vary."""
    all_of = {name: [one[name] for one in figures.about] for name in figures.about[-1]}
    probes = [line.probe for line in lines if line.probe]
    spreads = {line.row.name: figures.spread(line) for line in lines}
    worst = max(spreads, key=spreads.get)
    absent = {name: why for one in all_of["absent"] for name, why in one.items()}
    smaller = max(all_of["divide"]) > 1
    of = f" of {span(all_of['divide'], '1/')} of the messages" if smaller else ""
    out = [f"{' and '.join(sorted(set(all_of['date'])))}, commit "
           f"{', '.join(sorted(set(all_of['commit'])))}, {all_of['cpus'][-1]} CPUs "
           f"({all_of['cpu'][-1]}), medians of {span(all_of['rounds'])} rounds{of}. Nanoseconds a "
           "message where the row says nothing else."]
    if probes:
        out += [f"A cache line crossed in {span(probes)} ns."]
    out += ["Our slowest round took "
            f"{statistics.median(spreads.values()):.2f} times as long as the fastest in the middle "
            f"row, {spreads[worst]:,.1f} times in the worst ({worst})."]
    if absent:
        out += ["", "Absent: " + "; ".join(f"{name} ({why})" for name, why in absent.items()) + "."]
    return out


def replace(page, name, lines):
    """What stands between the page's two comments of that name."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.S)
    if not pattern.search(page):
        raise SystemExit(f"docs/benchmarks.md has no comments for: {name}")
    return pattern.sub(lambda match: match[1] + "\n".join(lines) + "\n" + match[2], page)


def publish(figures, docs):
    """Writes the table and the plot into the folder `docs`."""
    lines = figures.lines()
    path = os.path.join(docs, "benchmarks.md")
    with open(path, encoding="utf-8") as stream:
        page = stream.read()
    page = replace(page, "figures", preface(figures, lines) + [""] + table(lines))
    page = replace(page, "rows", rows_table())
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(page)
    with open(os.path.join(docs, "benchmarks.svg"), "w", encoding="utf-8") as stream:
        stream.write(plot.svg(lines, peers.TITLES))
