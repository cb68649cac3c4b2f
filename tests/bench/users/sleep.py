# SPDX-License-Identifier: MIT
"""Work that takes a second of waiting."""
import time


def work(line):
    time.sleep(1)
    return line + b"\n"
