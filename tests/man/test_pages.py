#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Goal: each command with each of its options, and each function of the public headers with its
comment, has a manual page, which man(1) shows without a warning.
Method: asks the program for its commands and options; looks for functions in the headers in another
way than docs/man/pages.py does.

    test_pages.py WEIR MAN
"""
import re
import shutil
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WEIR, MAN = sys.argv[1], Path(sys.argv[2])
TREE = Path(__file__).parents[2]
WRITTEN = [*TREE.glob("docs/man/*.[1-8]"), *MAN.glob("man5/*")]
HEADERS = [*TREE.glob("sdk/include/weir/*.h"), *TREE.glob("sdk/testkit/include/weir/*.h")]


def said(*arguments):
    return subprocess.run([WEIR, *arguments], check=True, capture_output=True, text=True).stdout


def shown(path):
    """The page as a reader sees it, with single spaces, and the warnings."""
    done = subprocess.run(["man", "--warnings", "-l", str(path)], capture_output=True, text=True,
                          check=False, cwd=MAN,
                          env={"PATH": "/usr/bin:/bin", "MANWIDTH": "200", "LC_ALL": "C.UTF-8"})
    return re.sub(r"\s+", " ", re.sub(r".\x08", "", done.stdout)), done.stderr


class Pages(unittest.TestCase):
    def test_each_command_has_a_page_with_its_options(self):
        names = re.findall(r"^  (\w+)", said("--help").partition("commands:")[2], re.M)
        self.assertIn("reload", names)
        pages = {path.name for path in MAN.glob("man1/*")}
        self.assertEqual({f"weir-{name}.1" for name in names}, pages)
        for name in names:
            text = (MAN / f"man1/weir-{name}.1").read_text(encoding="utf-8")
            for option in re.findall(r"^  -\w, (--[\w-]+)", said(name, "--help"), re.M):
                self.assertIn(option, text, name)
            self.assertRegex(text, r"\.SH DESCRIPTION\n\S", name)

    def test_each_function_has_a_page(self):
        found = 0
        for header in HEADERS:
            text = header.read_text(encoding="utf-8")
            page = (MAN / f"man3/weir_{header.name}.3").read_text(encoding="utf-8")
            text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
            for name in re.findall(r"^(?!typedef|#| )[^\n(;={]*?\b(weir_\w+)\(", text, re.M):
                found += 1
                self.assertEqual(f".so man3/weir_{header.name}.3\n",
                                 (MAN / f"man3/{name}.3").read_text(encoding="utf-8"))
                self.assertRegex(page, rf"\b{name}\(", header.name)
        self.assertGreater(found, 200)

    def test_comments_reach_the_page(self):
        page = (MAN / "man3/weir_timer.h.3").read_text(encoding="utf-8")
        self.assertIn(".B #include <weir/plugin.h>", page)
        self.assertIn("int weir_cancel_timer(struct weir_self *self, uint64_t timer);", page)
        self.assertIn("Cancels a timer and frees its message, if any", page)
        self.assertNotIn("return self->host", page, "no body of an inline function")

    def test_macros_of_two_fonts_join_no_words(self):
        """Such a macro prints its arguments without the spaces between them."""
        self.assertEqual(["weir.1", "weir.yaml.5"], sorted(path.name for path in WRITTEN))
        for path in [*WRITTEN, *MAN.glob("man1/*"), *MAN.glob("man3/*.h.3")]:
            text = path.read_text(encoding="utf-8")
            for line in re.findall(r"^\.(?:BR|RB|BI|IB|IR|RI) (.*)", text, re.M):
                arguments = [first or second for first, second in
                             re.findall(r'"([^"]*)"|(\S+)', line)]
                for left, right in zip(arguments, arguments[1:]):
                    self.assertFalse(left[-1:].isalnum() and right[:1].isalnum(),
                                     f"{path.name}: {line}")

    @unittest.skipUnless(shutil.which("man") and shutil.which("groff"), "no man(1)")
    def test_man_has_no_warning(self):
        paths = [*WRITTEN, *MAN.glob("man1/*"), *MAN.glob("man3/*.h.3")]
        with ThreadPoolExecutor(2) as pool:
            for path, (text, warnings) in zip(paths, pool.map(shown, paths)):
                self.assertEqual("", warnings, path.name)
                self.assertIn("NAME", text, path.name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
