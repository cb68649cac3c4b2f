# SPDX-License-Identifier: MIT
"""Peer: a loop over the lines of the standard input.

    filter.py WORK
"""
import importlib
import sys

work = importlib.import_module(sys.argv[1]).work

for line in sys.stdin.buffer:
    sys.stdout.buffer.write(work(line))
