#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Goal: a break that cannot be read, or does not fit the source any more, is reported.
Method: small trees in a temporary folder.
"""
import tempfile
import unittest
from pathlib import Path

import breaks

SOURCE = "int f(void)\n{\n    if (full)\n        return 1;\n    return 0;\n}\n"


class BreaksTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        (self.root / "tests/broken").mkdir(parents=True)
        (self.root / "x.c").write_text(SOURCE, encoding="utf-8")

    def read(self, text):
        (self.root / "tests/broken/x.breaks").write_text(text, encoding="utf-8")
        return breaks.read_breaks(self.root)

    def wrong(self, text, *numbers):
        records, known = self.read(text), [(n, "") for n in numbers]
        return [*breaks.check_fits(self.root, known, records),
                *breaks.check_complete(known, records)]

    def test_record_is_applied(self):
        records = self.read("# why\nS1 unit.x x.c\n-    if (full)\n-return 1;\n+    if (0)\n+;\n")
        self.assertEqual([(r.promise, r.test, r.path) for r in records],
                         [("S1", "unit.x", "x.c")])
        self.assertEqual(records[0].apply(SOURCE),
                         SOURCE.replace("if (full)\n        return 1;", "if (0)\n;"))

    def test_two_edits_of_a_record_are_both_applied(self):
        record = self.read("S1 unit.x x.c\n-if (full)\n+if (0)\n-return 0;\n+return 2;\n")[0]
        self.assertEqual(record.apply(SOURCE),
                         SOURCE.replace("    if (full)", "if (0)")
                         .replace("    return 0", "return 2"))

    def test_lines_that_are_not_there_are_reported(self):
        self.assertIn("stand 0 times", self.wrong("S1 unit.x x.c\n-if (empty)\n+if (0)\n", "S1")[0])

    def test_lines_that_are_there_twice_are_reported(self):
        (self.root / "x.c").write_text(SOURCE * 2, encoding="utf-8")
        self.assertIn("stand 2 times", self.wrong("S1 unit.x x.c\n-if (full)\n+if (0)\n", "S1")[0])

    def test_promise_without_a_break_is_reported(self):
        wrong = self.wrong("S1 unit.x x.c\n-if (full)\n+if (0)\n", "S1", "S2")
        self.assertEqual(wrong, ["tests/broken: no break of promise S2"])

    def test_second_break_of_a_promise_is_reported(self):
        wrong = self.wrong("S1 unit.x x.c\n-if (full)\n+if (0)\n\nS1 unit.x x.c\n-return 0;\n+;\n",
                           "S1")
        self.assertEqual(len(wrong), 1)
        self.assertIn("x.breaks:5: a second break of promise S1, after", wrong[0])

    def test_break_of_no_promise_is_reported(self):
        self.assertIn("S9 is not in", self.wrong("S9 unit.x x.c\n-if (full)\n+if (0)\n")[0])

    def test_file_that_is_not_there_is_reported(self):
        self.assertIn("no file y.c", self.wrong("S1 unit.x y.c\n-a\n+b\n", "S1")[0])

    def test_text_that_is_no_record_is_reported(self):
        for text in ("S1 unit.x\n-a\n+b\n", "S1 unit.x x.c\n", "S1 unit.x x.c\n+b\n"):
            with self.assertRaises(breaks.BreakError):
                self.read(text)


if __name__ == "__main__":
    unittest.main()
