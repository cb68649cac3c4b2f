#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every promise of docs/promises.md is shown by a test, every test shows one that X
Usage: promises.py [--list] [ROOT]

A promise is a paragraph `S1. text`. A test cites it as `promise S1`, or `promises S1, S2 and L1`,
in any file of tests/ (this folder left out). --list prints each promise with those who cite it.
test_promises.py sees this fail where it must.
"""
import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "broken"))
import breaks  # noqa: E402

PROMISE = re.compile(r"^([A-Z]\d+)\.\s+(.*?)(?=\n\n|\n[A-Z]\d+\.|\Z)", re.M | re.S)
CITATION = re.compile(r"\bpromises?\s+([A-Z]\d+(?:(?:\s*,\s*|\s+and\s+)[A-Z]\d+)*)")
SUFFIXES = (".c", ".h", ".sh", ".py", ".yaml", ".txt")


def read_promises(text):
    """The promises in order as a list of (number, text)."""
    return [(match[1], " ".join(match[2].split())) for match in PROMISE.finditer(text)]


def read_citations(root):
    """number -> sorted paths of the tests that cite it."""
    cited = {}
    for path in sorted((root / "tests").rglob("*")):
        name = path.relative_to(root).as_posix()
        if not path.is_file() or not name.endswith(SUFFIXES) or name.startswith("tests/style/"):
            continue
        # A citation may go on behind the line's end and the star of a comment.
        text = re.sub(r"\n[ \t]*[*#]?", "\n", path.read_text(encoding="utf-8", errors="replace"))
        for match in CITATION.finditer(text):
            for number in re.findall(r"[A-Z]\d+", match[1]):
                paths = cited.setdefault(number, [])
                if name not in paths:
                    paths.append(name)
    return cited


def check(promises, cited):
    """What is wrong, one sentence each."""
    numbers = [number for number, _ in promises]
    for number in sorted({n for n in numbers if numbers.count(n) > 1}):
        yield f"docs/promises.md: {number} is there twice"
    for number, text in promises:
        if number not in cited:
            yield f"docs/promises.md: {number} is cited by no test: {text}"
    for number in sorted(set(cited) - set(numbers)):
        yield f"{', '.join(cited[number])}: promise {number} is not in docs/promises.md"
    if not promises:
        yield "docs/promises.md: there is no promise"


def main():
    arguments = [x for x in sys.argv[1:] if x != "--list"]
    root = Path(arguments[0] if arguments else Path(__file__).parents[2]).resolve()
    promises = read_promises((root / "docs/promises.md").read_text(encoding="utf-8"))
    cited = read_citations(root)
    if "--list" in sys.argv:
        for number, text in promises:
            print(f"{number}. {text}")
            for path in cited.get(number, ["NO TEST"]):
                print(f"      {path}")
    wrong = list(check(promises, cited))
    try:
        records = breaks.read_breaks(root)
        wrong += breaks.check_fits(root, promises, records)
        wrong += breaks.check_complete(promises, records)
    except breaks.BreakError as error:
        wrong.append(str(error))
    for sentence in wrong:
        print(sentence)
    good = f"{len(promises)}, all cited, each with one break"
    print(f"promises: {len(wrong)} wrong" if wrong else f"promises: {good}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
