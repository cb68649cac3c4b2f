#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the tests of ./dev coverage ran, a row for each folder, beside the goals.

    coverage.py SUMMARY [--goals]

SUMMARY is a file of `gcovr --json-summary`. With --goals a share below its goal is an error.
"""
import collections
import json
import sys

DEPTH = {"core": 2, "plugins": 2, "host": 2}  # of other folders the first name is a row
# In percent: lines, branches.
GOALS = {"core": (98, 91), "all": (96, 88)}
FIELDS = ("line_covered", "line_total", "branch_covered", "branch_total")


def folders_of(name):
    """The rows that a file counts in."""
    parts = name.split("/")[:-1]
    yield "all"
    yield parts[0]
    if len(parts) > 1 and parts[0] in DEPTH:
        yield "/".join(parts[:DEPTH[parts[0]]])


def add_up(files):
    rows = collections.defaultdict(lambda: dict.fromkeys(FIELDS, 0))
    for file in files:
        for folder in folders_of(file["filename"]):
            for field in FIELDS:
                rows[folder][field] += file[field]
    return rows


def share(covered, total):
    return 100.0 * covered / total if total else 100.0


def main():
    with open(sys.argv[1], encoding="utf-8") as stream:
        rows = add_up(json.load(stream)["files"])
    missed = []
    print(f"{'folder':<24}{'lines':>8}{'%':>8}{'branches':>10}{'%':>8}  goal")
    for folder in sorted(rows, key=lambda name: (name == "all", name)):
        row = rows[folder]
        lines = share(row["line_covered"], row["line_total"])
        branches = share(row["branch_covered"], row["branch_total"])
        goal = GOALS.get(folder)
        text = "{} / {}".format(*goal) if goal else ""
        if goal and (lines < goal[0] or branches < goal[1]):
            missed.append(folder)
            text += ", missed"
        print(f"{folder:<24}{row['line_total']:>8}{lines:>8.1f}{row['branch_total']:>10}"
              f"{branches:>8.1f}  {text}")
    if missed and "--goals" in sys.argv[2:]:
        sys.exit(f"coverage: below the goal: {', '.join(missed)}")


if __name__ == "__main__":
    main()
