#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal: the report of ./dev bench is right: medians, goals, the best peer, no starved runs, names
of absent peers; and a wrong result of ours makes it fail. ./dev bench http finds answers that are
wrong.

Method: runs that are written by hand, and a program that prints a line that the test chooses.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import gateway
import report
import rows as definition

ABOUT = {"date": "2026-01-01", "cpu": "any", "cpus": 2, "commit": "abc", "rounds": 3, "divide": 1,
         "kernel": "1", "absent": {"caf": "there is no g++"}}
PAGE = "<!-- figures -->\nold\n<!-- end of figures -->\n<!-- rows -->\n<!-- end of rows -->\n"


class Report(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        self.records = [{"about": ABOUT}]

    def tearDown(self):
        self.work.cleanup()

    def runs(self, row, peer, cpus, *ns, probe=None, group=None):
        for one in ns:
            self.records.append({"group": group or row, "row": row, "peer": peer, "cpus": cpus,
                                 "ns": one, "probe": probe, "round": 0})

    def figures(self):
        path = os.path.join(self.work.name, "runs.jsonl")
        with open(path, "w", encoding="utf-8") as stream:
            stream.writelines(json.dumps(record) + "\n" for record in self.records)
        return report.Figures(path)

    def line(self, name, cpus):
        return self.figures().line(definition.BY_NAME[name], cpus)

    def test_three_rounds_give_their_median_and_the_goal_of_their_floor(self):
        self.runs("pingpong", "weir", 1, 39, 30, 90)
        self.runs("F1", "weir", 1, 36, 30, 31, group="pingpong")
        line = self.line("pingpong", 1)
        self.assertEqual(line.weir, 39)
        self.assertAlmostEqual(line.goal, 1.1 * 31)
        self.assertFalse(line.reached)

    def test_within_the_margin_a_goal_is_reached(self):
        self.runs("pingpong", "weir", 1, 100)
        self.runs("pingpong", "weir", 2, 115, probe=[50, 50])
        self.assertTrue(self.line("pingpong", 2).reached)
        self.runs("pingpong", "weir", 2, 117, 117, probe=[50, 50])
        self.assertFalse(self.line("pingpong", 2).reached)

    def test_the_fastest_peer_is_the_best(self):
        self.runs("pingpong", "weir", 1, 50)
        self.runs("pingpong", "go", 1, 200)
        self.runs("pingpong", "erlang", 1, 100)
        line = self.line("pingpong", 1)
        self.assertEqual(line.best, ("erlang", 100))
        self.assertEqual(line.ratio, 0.5)

    def test_a_waiting_output_stands_beside_the_same_peers(self):
        self.runs("pool0wait", "weir", 1, 50, group="pool0")
        self.runs("pool0", "go", 1, 100)
        self.assertEqual(self.line("pool0wait", 1).best, ("go", 100))

    def test_starved_runs_are_left_out_when_there_are_others(self):
        self.runs("count", "weir", 2, 900, 901, probe=[50, 5000])
        self.assertEqual(self.line("count", 2).weir, 900.5)
        self.runs("count", "weir", 2, 70, probe=[50, 60])
        self.assertEqual(self.line("count", 2).weir, 70)

    def test_a_run_that_failed_is_named_and_not_counted(self):
        self.runs("count", "weir", 1, 50)
        self.records.append({"group": "count", "row": "count", "peer": "go", "cpus": 1,
                             "probe": None, "error": "took more than 120 s"})
        line = self.line("count", 1)
        self.assertEqual(line.peers, {})
        self.assertIn("took more than 120 s", report.text(line))

    def test_publishing_writes_the_table_the_plot_and_who_is_absent(self):
        self.runs("pingpong", "weir", 1, 50)
        self.runs("pingpong", "go", 1, 40)
        path = os.path.join(self.work.name, "benchmarks.md")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(PAGE)
        report.publish(self.figures(), self.work.name)
        page = open(path, encoding="utf-8").read()
        self.assertNotIn("old", page)
        self.assertIn("| pingpong | 50.0 |", page)
        self.assertIn("**1.25**", page)
        self.assertIn("caf (there is no g++)", page)
        plot = xml.dom.minidom.parse(os.path.join(self.work.name, "benchmarks.svg"))
        self.assertEqual(plot.documentElement.tagName, "svg")
        self.assertIn("Go, channels: 0.80", plot.toxml())


class Runner(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.work.cleanup()

    def bench(self, line):
        """The exit status of bench.py with a program that prints this line for every row."""
        program = os.path.join(self.work.name, "program")
        with open(program, "w", encoding="utf-8") as stream:
            stream.write(f"#!/bin/sh\necho '{line}'\n")
        os.chmod(program, 0o755)
        return subprocess.run(
            [sys.executable, os.path.join(HERE, "bench.py"), "--weir", program, "--folder",
             self.work.name, "--peers", "none", "--rounds", "1", "--cpus",
             "1", "ring"], check=False).returncode

    def test_right_results_pass(self):
        self.assertEqual(self.bench("RESULT messages=10 ns=100 ok=1"), 0)

    def test_a_wrong_result_fails(self):
        self.assertEqual(self.bench("RESULT messages=10 ns=100 ok=0"), 1)

    def test_no_result_fails(self):
        self.assertEqual(self.bench("nothing"), 1)


class Tasks(unittest.TestCase):
    """The same job for ours and for libuv: an author writes fewer lines."""

    def lines(self, name):
        with open(os.path.join(HERE, "tasks", name), encoding="utf-8") as file:
            return sum(1 for _ in file)

    def test_our_program_has_fewer_lines_than_the_one_on_libuv(self):
        self.assertLess(self.lines("weir.c"), self.lines("libuv.c"))


class Gateway(unittest.TestCase):
    TEXT = ("Running 1s test\nFIGURES requests=3000 us=1500000 broken=0 failed=20 answers=2980 "
            "refusals=20 bare=0 others=0 p50=100 p90=200 p99=300 p999=400 max=500\n")

    def test_what_the_load_printed_becomes_numbers(self):
        figures = gateway.read_figures(self.TEXT)
        self.assertEqual(figures["rate"], 2000)
        self.assertEqual((figures["p99"], figures["p999"]), (300, 400))
        self.assertEqual(gateway.overload_problem(figures), "")

    def test_a_load_without_requests_has_a_rate(self):
        text = self.TEXT.replace("requests=3000", "requests=0")
        self.assertGreater(gateway.read_figures(text)["rate"], 0)

    def test_a_load_without_figures_fails(self):
        with self.assertRaises(SystemExit):
            gateway.read_figures("unable to connect")

    def test_an_answer_that_is_no_truthful_refusal_fails(self):
        def problem(**changes):
            return gateway.overload_problem({**gateway.read_figures(self.TEXT), **changes})
        self.assertIn("without Retry-After", problem(bare=1))
        self.assertIn("neither 200 nor 503", problem(others=2))


if __name__ == "__main__":
    unittest.main()
