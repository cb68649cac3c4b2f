#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Goal: each kind of mutant is made, and nothing else; a mutant that a test notices is killed, one
that none notices survives, and a run that is started again does nothing twice.
Method: small sources, and a small tree with tests of its own.
"""
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/mutants"), str(ROOT / "tests/broken")]

import broken  # noqa: E402
import covered  # noqa: E402
import equivalent  # noqa: E402
import mutants  # noqa: E402
import mutate  # noqa: E402
import report  # noqa: E402

SUM = """#include "sum.h"

/* if (a == b) is no code here */
int sum_below(const int *values, int limit)
{
    int sum = 0;

    assert(limit != 7);
    for (int i = 0; values[i] < limit; i++)
        sum += values[i];
    seen(sum);
    return sum;
}

void unseen(int *out)
{
    *out = 0;
}
"""
PRESETS = {
    "version": 6,
    "configurePresets": [
        {"name": name, "generator": "Ninja", "binaryDir": "${sourceDir}/build/${presetName}",
         "cacheVariables": {"CMAKE_BUILD_TYPE": "None", "CMAKE_C_FLAGS": flags}}
        for name, flags in (("dev", "-g"), ("asan", "-g -fsanitize=address"),
                            ("tsan", "-g -fsanitize=thread"),
                            ("coverage", "-O0 -g --coverage"))],
    "testPresets": [{"name": "coverage", "configurePreset": "coverage"}],
}
TREE = {
    "CMakePresets.json": json.dumps(PRESETS),
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(small LANGUAGES C)\n"
                      "enable_testing()\n"
                      "set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)\n"
                      "add_executable(test_sum core/sum.c tests/test_sum.c)\n"
                      "target_include_directories(test_sum PRIVATE core)\n"
                      "add_test(NAME unit.sum COMMAND test_sum)\n",
    ".gitignore": "/build/\n",
    "core/sum.h": "#include <assert.h>\nint sum_below(const int *values, int limit);\n"
                  "void unseen(int *out);\nvoid seen(int sum);\n",
    "core/sum.c": SUM,
    "config/none.c": "", "host/none.c": "", "plugins/none.c": "",
    # It does not look at what sum_below reports by seen().
    "tests/test_sum.c": "#include \"sum.h\"\nvoid seen(int sum) { (void)sum; }\nint main(void)\n{\n"
                        "    const int values[] = { 1, 2, 3 };\n    int none = 5;\n\n"
                        "    unseen(&none);\n"
                        "    return sum_below(values, 3) == 3 && sum_below(values, 2) == 1 ? 0 : 1;"
                        "\n}\n",
}


def changes(text, kind):
    """The changes of this kind in a body, without line ends."""
    whole = f"void f(void)\n{{\n{text}\n}}\n"
    return [mutant.apply(whole).removeprefix("void f(void)\n{\n").removesuffix("\n}\n")
            for mutant in mutate.mutants_of("x.c", whole) if mutant.kind == kind]


class MutateTest(unittest.TestCase):
    def test_conditions_are_exchanged_and_negated(self):
        self.assertEqual(changes("if (a == b)\n;", "condition"),
                         ["if (!(a == b))\n;", "if (a != b)\n;"])
        self.assertEqual(changes("x = a <= b || c->d;", "condition"),
                         ["x = a < b || c->d;", "x = a <= b && c->d;"])

    def test_calls_and_assignments_are_left_out(self):
        self.assertEqual(changes("f(a,\n  b);\nint c = g();\nx->y = g();", "statement"),
                         ["\n;\nint c = g();\nx->y = g();", "f(a,\n  b);\nint c = g();\n;"])
        self.assertEqual(changes("if (a)\n(void)f();\nelse\ni++;", "statement"),
                         ["if (a)\n;\nelse\ni++;", "if (a)\n(void)f();\nelse\n;"])

    def test_declarations_and_returns_stay(self):
        self.assertEqual(changes("struct s *p = f();\nuint32_t n = 1;\nreturn f(p);", "statement"),
                         [])

    def test_numbers_grow_by_one(self):
        self.assertEqual(changes("x = y - 1;", "number"), ["x = y - 2;"])
        self.assertEqual(changes("return 10U;", "number"), ["return 11U;"])

    def test_sizes_cleared_structs_and_other_bases_stay(self):
        self.assertEqual(changes("char text[64];\nstruct s a = { 0 };\nx = 0x10 + 1.5;", "number"),
                         [])

    def test_memory_orders_are_weakened(self):
        self.assertEqual(changes("load(&a, memory_order_acquire, memory_order_relaxed);", "order"),
                         ["load(&a, memory_order_relaxed, memory_order_relaxed);"])

    def test_lock_is_left_out_with_its_releases(self):
        self.assertEqual(changes("lock_acquire(&a);\nif (b) {\nlock_release(&a);\nreturn;\n}\n"
                                 "lock_release(&a);", "lock"),
                         [";\nif (b) {\n;\nreturn;\n}\n;"])

    def test_last_statement_moves_behind_the_release(self):
        self.assertIn("lock_acquire(&a);\nlock_release(&a);\nx = 1;",
                      changes("lock_acquire(&a);\nx = 1;\nlock_release(&a);", "lock"))

    def test_two_locks_are_exchanged(self):
        self.assertIn("lock_acquire(&b);\nlock_acquire(&a);\nf();",
                      changes("lock_acquire(&a);\nlock_acquire(&b);\nf();", "lock"))

    def test_assertions_comments_and_texts_stay(self):
        text = "assert(a == 1);\n/* b == 1; */\n\"c == 1\";\n#if d == 1\n#endif"
        self.assertEqual([changes(text, kind) for kind in mutate.KINDS], [[]] * 5)

    def test_line_and_function_are_known(self):
        mutant = next(mutate.mutants_of("x.c", SUM))
        self.assertEqual((mutant.line, mutant.function), (9, "sum_below"))
        self.assertEqual(mutant.change(SUM)[1],
                         ["for (int i = 0; values[i] <= limit; i++)"])


class EquivalentTest(unittest.TestCase):
    def test_record_is_found_by_its_lines(self):
        records = equivalent.read_text("# about\n\n# only a hint\nx.c f\n-  a = 1;\n+  a = 2;\n",
                                       "here")
        text = "void f(void)\n{\n    a = 1;\n}\n"
        found = [m for m in mutate.mutants_of("x.c", text) if equivalent.find(records, m, text)]
        self.assertEqual([mutant.kind for mutant in found], ["number"])

    def test_record_without_reason_is_refused(self):
        for text in ("x.c f\n-a\n+b\n", "# why\nx.c f\n-a\n", "# why\nx.c\n-a\n+b\n"):
            with self.assertRaises(equivalent.RecordError):
                equivalent.read_text(text, "here")

    def test_records_of_the_tree_fit_its_sources(self):
        for record in equivalent.read_records(ROOT):
            text = (ROOT / record.path).read_text(encoding="utf-8")
            self.assertTrue(any((list(record.old), list(record.new)) == mutant.change(text)
                                for mutant in mutate.mutants_of(record.path, text)
                                if mutant.function == record.function), record)


class RunTest(unittest.TestCase):
    """On a tree in a temporary folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name, text in TREE.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text, encoding="utf-8")
        (self.root / "tests/mutants").mkdir()
        # No mutant of this tree does harm, so that no fence is needed, which some machines refuse.
        (self.root / "tests/mutants/fence.sh").write_text('#!/bin/sh\nshift\nexec "$@"\n',
                                                          encoding="utf-8")
        (self.root / "tests/mutants/fence.sh").chmod(0o755)
        (self.root / "tests/mutants/equivalent.txt").write_text("", encoding="utf-8")
        subprocess.run(["git", "init", "-q", self.root], check=True)
        for module, name, value in ((mutants, "ROOT", self.root), (broken, "ROOT", self.root),
                                    (mutants, "FOLDER", self.root / "build/mutants")):
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, value)
        for command in (["cmake", "--preset", "coverage"], ["ninja", "-C", "build/coverage"]):
            subprocess.run(command, cwd=self.root, check=True, stdout=subprocess.DEVNULL)

    def run_all(self, *arguments):
        """(exit code, what was printed)"""
        output, before = io.StringIO(), sys.argv
        sys.argv = ["mutants.py", *arguments]
        self.addCleanup(setattr, sys, "argv", before)
        with contextlib.redirect_stdout(output):
            code = mutants.main()
        return code, output.getvalue()

    def results(self):
        lines = (self.root / "build/mutants/results.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def test_what_no_test_notices_survives_and_nothing_is_tried_twice(self):
        code, output = self.run_all()
        self.assertEqual(code, 1, output)
        found = {(record["line"], record["outcome"]) for record in self.results()}
        self.assertIn((9, "killed"), found)
        self.assertIn((10, "killed"), found)
        self.assertIn((11, "survived"), found)
        # The line behind it runs, and its value is not looked at.
        self.assertIn((17, "survived"), found)
        self.assertEqual((self.root / "build/mutants/tree/core/sum.c").read_text(encoding="utf-8"),
                         SUM)
        count = len(self.results())
        self.assertIn("survived", self.run_all()[1])
        self.assertEqual(len(self.results()), count)

    def test_survivor_is_killed_by_a_new_test_or_has_a_reason(self):
        self.run_all("--sample", "0")
        path = self.root / "tests/mutants/equivalent.txt"
        path.write_text("# nobody looks\ncore/sum.c sum_below\n-seen(sum);\n+;\n", encoding="utf-8")
        before = self.run_all()[1]
        self.assertIn("core/sum.c:17", before)
        test = TREE["tests/test_sum.c"].replace("int main", "int dummy; int main").replace(
            "    return sum", "    if (none != 0)\n        return 1;\n    return sum")
        (self.root / "tests/test_sum.c").write_text(test, encoding="utf-8")
        code, output = self.run_all("--again")
        self.assertEqual(code, 0, output)
        self.assertNotIn("SURVIVED", output)

    def test_lines_that_no_test_runs_have_no_mutants(self):
        covered.make_map(self.root, 1)
        lines, _ = covered.read_map(self.root)
        self.assertEqual(set(lines), {"core/sum.c"})
        longer = {"core/sum.c": SUM + "void g(void)\n{\n    a = 1;\n}\n"}
        drawn = list(mutants.draw(longer, lines, 1))
        self.assertEqual(sorted(mutant.line for mutant in drawn), [6, 9, 10, 11, 17])
        self.assertEqual(drawn, list(mutants.draw({"core/sum.c": SUM}, lines, 1)))


class FenceTest(unittest.TestCase):
    def test_nothing_outside_is_written_or_killed(self):
        folder = Path.home() if str(ROOT).startswith(("/tmp/", "/var/tmp/")) else ROOT / "build"
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory() as tree, subprocess.Popen(["sleep", "100"]) as other, \
                tempfile.NamedTemporaryFile(dir=folder, prefix=".fence") as outside:
            done = subprocess.run([str(ROOT / "tests/mutants/fence.sh"), tree, "bash", "-c",
                                   'echo x >"$0/inside"; echo x >"$1"; kill -9 "$2"; kill -9 -1',
                                   tree, outside.name, str(other.pid)],
                                  capture_output=True, text=True, check=False)
            self.assertIsNone(other.poll())
            other.kill()
            self.assertEqual(Path(outside.name).read_bytes(), b"")
            # Where no fence can be made, nothing was run.
            self.assertEqual((Path(tree) / "inside").exists(), done.returncode != 99, done.stderr)


class ReportTest(unittest.TestCase):
    def test_share_leaves_out_equivalents(self):
        records = [{"outcome": "killed", "path": "core/a/x.c", "kind": "order"},
                   {"outcome": "survived", "path": "core/a/x.c", "kind": "order", "reason": "so"},
                   {"outcome": "not built", "path": "core/a/x.c", "kind": "order"}]
        with contextlib.redirect_stdout(io.StringIO()) as output:
            self.assertEqual(report.print_tables(records), 100.0)
        self.assertIn("core/a                         1           0           1           1      "
                      "100.0", output.getvalue())


if __name__ == "__main__":
    unittest.main()
