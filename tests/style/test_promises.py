#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Goal: promises.py fails for a promise that no test cites and for a citation of none.
Method: small trees in a temporary folder.
"""
import tempfile
import unittest
from pathlib import Path

import promises


class PromisesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)

    def wrong(self, document, test, path="tests/unit/test_x.c"):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(test, encoding="utf-8")
        return list(promises.check(promises.read_promises(document),
                                   promises.read_citations(self.root)))

    def test_cited_promise_passes(self):
        self.assertEqual(self.wrong("S1. Truth.\n", "/* promise S1 */"), [])

    def test_citation_of_several_counts(self):
        text = "S1. a\n\nS2. b\n\nL12. c\n\nL13. d\n"
        self.assertEqual(self.wrong(text, "/* promises S1, S2, L12\n * and L13 */"), [])

    def test_uncited_promise_is_found(self):
        self.assertIn("S2 is cited by no test", self.wrong("S1. a\nS2. b\n", "promise S1")[0])

    def test_longer_number_is_no_citation(self):
        self.assertIn("S1 is cited by no test", self.wrong("S1. a\nS12. b\n", "promise S12")[0])

    def test_unknown_citation_is_found(self):
        wrong = self.wrong("S1. a\n", "promises S1, S9")
        self.assertEqual(wrong, ["tests/unit/test_x.c: promise S9 is not in docs/promises.md"])

    def test_number_twice_is_found(self):
        self.assertIn("twice", self.wrong("S1. a\nS1. b\n", "promise S1")[0])

    def test_no_promise_is_found(self):
        self.assertIn("no promise", self.wrong("", "")[0])

    def test_citation_in_this_folder_does_not_count(self):
        self.assertIn("no test", self.wrong("S1. a\n", "promise S1", "tests/style/x.py")[0])


if __name__ == "__main__":
    unittest.main()
