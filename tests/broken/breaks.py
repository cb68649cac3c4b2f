# SPDX-License-Identifier: MIT
"""The breaks of tests/broken/*.breaks.

For each promise one change of the source under which it is not kept any more, and the test that
must then fail.

A file holds records, with blank lines between them and `#` for comments:

    S5 unit.message_mailbox core/message/mailbox.c
    -if (waiting >= limit)
    +if (waiting > limit)

The first line names the promise, the CTest test that shows it, and the file. The lines behind `-`
stand in the file one below the other, exactly once (indentation does not count); those behind `+`
take their place. A record may hold several such pairs, one behind the other.
"""
import re
from dataclasses import dataclass, field
from pathlib import Path

HEAD = re.compile(r"^([A-Z]\d+)\s+(\S+)\s+(\S+)$")


class BreakError(Exception):
    """A record that cannot be read or does not fit the source any more."""


@dataclass
class Break:
    promise: str
    test: str
    path: str
    where: str
    edits: list = field(default_factory=list)  # of (old lines, new lines)

    def apply(self, text):
        """The text of the file with the promise broken."""
        lines = text.split("\n")
        for old, new in self.edits:
            at = [i for i in range(len(lines) - len(old) + 1)
                  if [line.strip() for line in lines[i:i + len(old)]] == old]
            if len(at) != 1:
                raise BreakError(f"{self.where}: the lines to replace, from `{old[0]}` on, stand "
                                 f"{len(at)} times in {self.path}; they must stand there once")
            lines[at[0]:at[0] + len(old)] = new
        return "\n".join(lines)


def read_record(block, where):
    """A record out of its lines."""
    head = HEAD.match(block[0])
    if not head:
        raise BreakError(f"{where}: `{block[0]}` is not `PROMISE TEST FILE`")
    record = Break(head[1], head[2], head[3], where)
    for line in block[1:]:
        if line[0] == "-":
            if not record.edits or record.edits[-1][1]:
                record.edits.append(([], []))
            record.edits[-1][0].append(line[1:].strip())
        elif line[0] == "+" and record.edits:
            record.edits[-1][1].append(line[1:])
        else:
            raise BreakError(f"{where}: `{line}` begins neither with - nor, below that, with +")
    if not record.edits:
        raise BreakError(f"{where}: nothing is to be replaced")
    return record


def read_breaks(root):
    """All records, in the order of files and lines. BreakError at the first that is none."""
    records = []
    for path in sorted((Path(root) / "tests/broken").glob("*.breaks")):
        lines = path.read_text(encoding="utf-8").split("\n") + [""]
        block, start = [], 0
        for number, line in enumerate(lines, 1):
            if line.startswith("#"):
                continue
            if line.strip():
                start = start if block else number
                block.append(line)
            elif block:
                records.append(read_record(block, f"{path.relative_to(root)}:{start}"))
                block = []
    return records


def check_complete(promises, records):
    """A sentence for each promise without a break, and for each second break of a promise."""
    first = {}
    for record in records:
        if record.promise in first:
            yield (f"{record.where}: a second break of promise {record.promise}, after "
                   f"{first[record.promise].where}; one is enough")
        first.setdefault(record.promise, record)
    for number in sorted({n for n, _ in promises} - set(first)):
        yield f"tests/broken: no break of promise {number}"


def check_fits(root, promises, records):
    """What is wrong with the records, one sentence each; without building anything."""
    numbers = {number for number, _ in promises}
    for record in records:
        if record.promise not in numbers:
            yield f"{record.where}: promise {record.promise} is not in docs/promises.md"
        path = Path(root) / record.path
        if not path.is_file():
            yield f"{record.where}: there is no file {record.path}"
            continue
        try:
            record.apply(path.read_text(encoding="utf-8"))
        except BreakError as error:
            yield str(error)
