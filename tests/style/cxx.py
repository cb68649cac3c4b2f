#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Goal: what an author copies, the examples and the templates of `weir new`, names the fields of a
struct in the order of their declaration, as C++20 demands.
Method: g++ reads each file as C++20. Other differences between the languages, such as a conversion
from `void *`, are no breach. Headers of other libraries are replaced by empty ones, so that g++
reaches the end of the file wherever the test runs.
"""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BREACH = "designator order"
EMPTY = ("CUnit/Basic.h", "CUnit/CUnit.h", "libpq-fe.h", "sqlite3.h", "stdatomic.h",
         "vips/vips.h", "zlib.h")


def make_headers(folder):
    """The headers of other libraries, and those of plugins where an installation has them."""
    for name in EMPTY:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    messages = folder / "weir" / "messages"
    messages.mkdir(parents=True)
    for plugin in ("files", "gen", "http"):
        (messages / f"{plugin}.h").symlink_to(ROOT / "plugins" / plugin / f"{plugin}.h")


class CxxTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.headers = Path(self.folder.name)
        make_headers(self.headers)

    def read(self, text, beside):
        """What g++ says of the text, as of a file in the folder `beside`."""
        includes = [self.headers, beside, ROOT / "sdk/include", ROOT / "sdk/testkit/include"]
        command = ["g++", "-std=c++20", "-D_GNU_SOURCE", "-fpermissive", "-w", "-fsyntax-only",
                   "-fmax-errors=0", *(f"-I{folder}" for folder in includes), "-xc++", "-"]
        done = subprocess.run(command, input=text, text=True, capture_output=True, check=False,
                              env={**os.environ, "LC_ALL": "C"})
        return done.stderr

    def test_wrong_order_is_found(self):
        text = '#include <weir/plugin.h>\nstruct weir_output out = { .help = "h", .name = "n" };\n'
        self.assertIn(BREACH, self.read(text, self.headers))

    def test_examples_and_templates_are_in_order(self):
        files = sorted([*ROOT.glob("examples/*/*.c"), *ROOT.glob("sdk/template/*/*.c.in")])
        self.assertGreater(len(files), 40)
        for path in files:
            text = path.read_text(encoding="utf-8")
            with self.subTest(path=str(path.relative_to(ROOT))):
                said = self.read(text.replace("@NAME@", "name"), path.parent)
                self.assertNotIn("No such file or directory", said)
                self.assertEqual([line for line in said.splitlines() if BREACH in line], [])


if __name__ == "__main__":
    unittest.main()
