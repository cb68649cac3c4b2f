#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   what the READMEs show of a terminal is what a user gets.
Method: runs each block ```console of README.md, plugins/*/README.md and examples/*/README.md in a
        folder of its own with the examples, and compares. A line `...` stands for any lines, `...`
        in a line for any text. The log is not shown, and not compared. The test of an example with
        a plugin of its own names its README; it is left out otherwise.

With --session all blocks of the page are one session, for a Weir that is installed.

    transcripts.py WEIR PLUGINS TREE [README | --session PAGE]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WEIR, PLUGINS, TREE = sys.argv[1:4]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
MARK = "\x01"


def blocks():
    """(file, line number from 1, text) of each block."""
    root = Path(TREE)
    paths = (root / "README.md", *sorted(root.glob("plugins/*/README.md")),
             *(path for path in sorted(root.glob("examples/*/README.md"))
               if not (path.parent / "CMakeLists.txt").exists()))
    for path in [root / name for name in sys.argv[4:]] or paths:
        text = path.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            yield path.relative_to(root), text.count("\n", 0, block.start()) + 1, block[1]


def session(path):
    """As blocks, one for the whole page."""
    text = Path(TREE, path).read_text(encoding="utf-8")
    yield path, 1, "".join(block[1] for block in BLOCK.finditer(text))


def steps(text):
    """[[command, lines of its output]] of a block."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], ""])
        elif found and line.startswith("> "):
            found[-1][0] += "\n" + line[2:]
        elif found:
            found[-1][1] += line + "\n"
        else:
            raise SystemExit(f"a block begins without a command: {line}")
    return found


def pattern(output):
    lines = ["(?:.*\n)*" if line == "...\n" else re.escape(line).replace(r"\.\.\.", ".*")
             for line in output.splitlines(keepends=True)]
    return re.compile("".join(lines))


def run(commands):
    """What each command prints."""
    with tempfile.TemporaryDirectory() as work:
        shutil.copytree(Path(TREE, "examples"), Path(work, "examples"))
        Path(work, "sdk").symlink_to(Path(TREE, "sdk"))
        script = "".join(f"printf '{MARK}'\n{command}\n" for command in commands)
        made = subprocess.run(["bash", "-c", script], cwd=work, capture_output=True, text=True,
                              check=False, stdin=subprocess.DEVNULL,
                              env={**os.environ, "WEIR_PLUGIN_PATH": PLUGINS, "LC_ALL": "C.UTF-8",
                                   "PATH": f"{os.path.dirname(WEIR)}:{os.environ['PATH']}",
                                   "WEIR_CONTROL": f"{work}/control",
                                   "WEIR_PYTHON": str(Path(TREE, "sdk/python"))})
        return made.stdout.split(MARK)[1:], made.stderr


def main():
    failures = count = 0
    is_session = sys.argv[4:5] == ["--session"]
    for path, number, text in session(sys.argv[5]) if is_session else blocks():
        wanted = steps(text)
        got, log = run([command for command, _ in wanted])
        count += 1
        for (command, output), printed in zip(wanted, got):
            if not pattern(output).fullmatch(printed):
                failures += 1
                print(f"{path}:{number}: $ {command}\n--- shown\n{output}--- printed\n{printed}"
                      f"--- log\n{log}", flush=True)
    print(f"{count} transcripts, {failures} failures")
    return 1 if failures or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
