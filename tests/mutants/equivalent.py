# SPDX-License-Identifier: MIT
"""The mutants of tests/mutants/equivalent.txt that no test need kill, each with its reason.

A record; between records stand blank lines:

    # why the program does the same, or nobody can tell
    core/pool/route.c function
    -    old line
    +    new line

Indentation does not count. The lines are those that differ, within this function.
"""
from dataclasses import dataclass
from pathlib import Path


class RecordError(Exception):
    """A record that cannot be read."""


@dataclass(frozen=True)
class Record:
    path: str
    function: str
    old: tuple
    new: tuple
    reason: str


def read_record(block, where):
    reason = " ".join(line[1:].strip() for line in block if line.startswith("#"))
    rest = [line for line in block if not line.startswith("#")]
    head = rest[0].split() if rest else []
    old = tuple(line[1:].strip() for line in rest[1:] if line[0] == "-")
    new = tuple(line[1:].strip() for line in rest[1:] if line[0] == "+")
    if not reason or len(head) != 2 or not old or len(old) != len(new) \
            or len(old) + len(new) != len(rest) - 1:
        raise RecordError(f"{where}: not a reason, `FILE FUNCTION`, and as many lines with - as "
                          "with +")
    return Record(head[0], head[1], old, new, reason)


def read_text(text, where):
    blocks, number = [], 1
    for block in text.split("\n\n"):
        lines = [line for line in block.split("\n") if line.strip()]
        if any(not line.startswith("#") for line in lines):
            blocks.append(read_record(lines, f"{where}:{number}"))
        number += block.count("\n") + 2
    return blocks


def read_records(root):
    path = Path(root) / "tests/mutants/equivalent.txt"
    return read_text(path.read_text(encoding="utf-8"), "tests/mutants/equivalent.txt")


def find(records, mutant, text):
    """The reason why this mutant need not be killed, or None."""
    old, new = mutant.change(text)
    return next((r.reason for r in records if (r.path, r.function) == (mutant.path, mutant.function)
                 and (list(r.old), list(r.new)) == (old, new)), None)
