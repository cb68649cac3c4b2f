# SPDX-License-Identifier: MIT
"""The smallest work with a line: its number, squared."""


def work(line):
    number = int(line)
    return b"%d\n" % (number * number)
