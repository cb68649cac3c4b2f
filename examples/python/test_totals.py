#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of totals.py, which need no host.

    PYTHONPATH=sdk/python python3 examples/python/test_totals.py
"""
import unittest

import weir_testing
from totals import count

FOUND = '10.0.0.1 - - [23/Nov/2026:13:00:00 +0000] "GET /a HTTP/1.1" 200 512'
MISSED = '10.0.0.1 - - [23/Nov/2026:13:00:00 +0000] "GET /b HTTP/1.1" 404 -'


class Totals(unittest.TestCase):
    def test_lines_are_counted_until_a_tick(self):
        host = weir_testing.Host(count)
        host.send(FOUND, MISSED, FOUND)
        self.assertEqual(host.outputs, [])
        self.assertEqual(host.inspect, {"lines": "3", "statuses": "2"})
        host.tick()
        self.assertEqual(host.outputs, [b'{"200": 2, "404": 1}'])
        host.send(MISSED)
        host.close()
        self.assertEqual(host.outputs[1:], [b'{"404": 1}'])

    def test_other_lines_are_rejected(self):
        host = weir_testing.Host(count)
        line, = host.send("nonsense")
        self.assertEqual((line.verdict, line.reason), ("reject", "no line of an access log"))
        self.assertEqual(host.log, [("warning", "no status in a line of 8 bytes")])


if __name__ == "__main__":
    unittest.main()
