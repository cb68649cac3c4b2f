#!/usr/bin/env python3
"""
Goal: docs/sentences.md names tests that are there, and promises that are.
Method: every test_... in it is a function of a test in C; every promise stands in
docs/promises.md. A page that names a test of no name is found.
"""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (?P<sentence>[^|]+) \| (?P<promises>[^|]+) \| `(?P<test>test_\w+)` \|$")


def rows(text):
    """Those of all tables, without their heads."""
    return [line for line in text.split("\n")
            if line.startswith("|") and not line.startswith(("|---", "| sentence"))]


def wrong_in(text, tests, promises):
    """What is wrong with each row."""
    for line in rows(text):
        row = ROW.match(line)
        if not row:
            yield f"not a sentence, promises and a test: {line}"
            continue
        if row["test"] not in tests:
            yield f"there is no {row['test']}"
        for number in re.findall(r"[A-Z]\d+", row["promises"]):
            if number not in promises:
                yield f"there is no promise {number}"


class SentencesTest(unittest.TestCase):
    def setUp(self):
        self.tests = set()
        for path in (ROOT / "tests").rglob("*.c"):
            text = path.read_text(encoding="utf-8")
            self.tests.update(re.findall(r"^static void (test_\w+)\(", text, re.MULTILINE))
        page = (ROOT / "docs/promises.md").read_text(encoding="utf-8")
        self.promises = set(re.findall(r"^([A-Z]\d+)\. ", page, re.MULTILINE))

    def test_page_is_right(self):
        text = (ROOT / "docs/sentences.md").read_text(encoding="utf-8")
        self.assertGreater(len(rows(text)), 50)
        self.assertEqual(list(wrong_in(text, self.tests, self.promises)), [])

    def test_wrong_rows_are_found(self):
        text = "| a | S1 | `test_that_is_not_there` |\n| b | S999 | `test_x` |\n| c | S1 | none |\n"
        wrong = list(wrong_in(text, {"test_x"}, {"S1"}))
        self.assertEqual(wrong[:2], ["there is no test_that_is_not_there",
                                     "there is no promise S999"])
        self.assertEqual(len(wrong), 3)


if __name__ == "__main__":
    unittest.main()
