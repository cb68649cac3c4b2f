#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every piece of C, YAML, Python, awk, Perl and JavaScript in docs/guide stands word for word in a
file under examples/.

Usage: guide.py [ROOT]

Each block of such a language comes behind a line `<!-- from examples/NAME/FILE -->`, and its lines
stand in that file, one below the other. A ```sh block may do so; the others are for a terminal. A
page with a line `<!-- calls in examples/NAME -->` has tables of calls: each function, constant and
option in them stands in a C file of that folder. The examples are built and run by tests, so what
the guide shows compiles, and is checked by `weir check`. A `command:` in a page, a README or an
example has `--` before a payload, which may begin with `-`. Prints `file:line: what` for each that
does not, and for a page that the index does not name; ends with 1 if there was any. Shows promise
X4.
"""
import re
import sys
from pathlib import Path

GUIDE = "docs/guide"
FROM = re.compile(r"<!-- from (examples/\S+) -->")
CALLS = re.compile(r"<!-- calls in (examples/\S+) -->")
COMMAND = re.compile(r"command: *\[(.*?)\](?=[,}`\s]|$)")
PAYLOAD = re.compile(r'"?(\{\}|\$1|\\"\$1)')
# They know no `--`. `eval` has no options.
WITHOUT_OPTIONS = {"echo", "eval"}
NAME = re.compile(r"\b(?:(?:weir|WEIR)_\w+|(?:options|stats)\.\w+)")
SUFFIX = {"c": (".c", ".h"), "yaml": (".yaml",), "python": (".py",), "sh": (".sh",),
          "awk": (".awk",), "perl": (".pl",), "js": (".js",)}


def blocks(lines):
    """(line number from 1, language, lines, line before) of each fenced block."""
    start = None
    for number, line in enumerate(lines, 1):
        if not line.startswith("```"):
            continue
        if start is None:
            start = number
            continue
        before = lines[start - 2] if start > 1 else ""
        yield start, lines[start - 1][3:].strip(), lines[start:number - 1], before
        start = None
    if start is not None:
        yield start, "without an end", [], ""


def stands_in(wanted, lines):
    return any(lines[i:i + len(wanted)] == wanted for i in range(len(lines) - len(wanted) + 1))


def wrong_block(root, language, block, before):
    """What is wrong with a block; None when nothing is."""
    if language == "without an end":
        return "a block without an end"
    if language not in SUFFIX:
        return None
    source = FROM.fullmatch(before.strip())
    if not source and language == "sh":
        return None
    if not source:
        return f"a block of {language} that does not say `<!-- from examples/... -->`"
    path = root / source[1]
    if not source[1].endswith(SUFFIX[language]) or not path.is_file():
        return f"{source[1]} is no file of {language}"
    if not block:
        return "an empty block"
    if not stands_in(block, path.read_text(encoding="utf-8").split("\n")):
        return f"these lines do not stand in {source[1]}"
    return None


def unused_calls(root, lines):
    """(line number, mistake) for each name in a table that no example of the page uses."""
    folders = [found[1] for line in lines if (found := CALLS.fullmatch(line.strip()))]
    code = " ".join(path.read_text(encoding="utf-8")
                    for folder in folders for path in sorted((root / folder).glob("*.c")))
    used = set(NAME.findall(code))
    for number, line in enumerate(lines, 1):
        if folders and line.startswith("|"):
            for name in NAME.findall(line):
                if name not in used:
                    yield number, f"{name} stands in no C file of {', '.join(folders)}"


def is_open(words):
    """True when the payload, or `$1` of the shell, may be taken for an option."""
    for at, word in enumerate(words):
        if PAYLOAD.match(word) and at > 0:
            return "--" not in words[:at] and words[0] not in WITHOUT_OPTIONS
    return False


def open_commands(root):
    """(file, line number) of each command whose payload may be taken for an option."""
    for suffix in ("*.yaml", "*.md"):
        for path in sorted(found for top in ("docs", "examples", "plugins", "config")
                           for found in (root / top).rglob(suffix)):
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                for command in COMMAND.findall(line):
                    words = re.split(r", *", command)
                    text = words[0].strip('"').split(" ")
                    if is_open(text) if "$1" in command else is_open(words):
                        yield path.relative_to(root), number


def mistakes(root):
    for name, number in open_commands(root):
        yield f"{name}:{number}: a payload that begins with `-` is an option: put `--` before it"
    folder = root / GUIDE
    index = (folder / "README.md").read_text(encoding="utf-8")
    seen = 0
    for page in sorted(folder.glob("*.md")):
        name = f"{GUIDE}/{page.name}"
        if page.name != "README.md" and f"({page.name})" not in index:
            yield f"{name}:1: the index does not name it"
        lines = page.read_text(encoding="utf-8").split("\n")
        for number, language, block, before in blocks(lines):
            seen += language in SUFFIX
            what = wrong_block(root, language, block, before)
            if what:
                yield f"{name}:{number}: {what}"
        for number, what in unused_calls(root, lines):
            yield f"{name}:{number}: {what}"
    if seen == 0:
        yield f"{GUIDE}/README.md:1: no page shows any C or YAML"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    found = list(mistakes(root))
    for line in found:
        print(line)
    print(f"guide: {len(found)} breaches" if found else "guide: every block stands in an example")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
