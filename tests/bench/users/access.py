# SPDX-License-Identifier: MIT
"""The work of docs/guide/python.md with a line: the fields of an access log, as JSON."""
import json
import re

LINE = re.compile(r'(?P<client>\S+) \S+ (?P<user>\S+) \[(?P<time>[^]]+)\] '
                  r'"(?P<method>\S+) (?P<path>\S+)[^"]*" (?P<status>\d{3}) (?P<bytes>\d+|-)')


def work(line):
    fields = LINE.match(line.decode(errors="replace")).groupdict()
    fields["status"] = int(fields["status"])
    fields["bytes"] = 0 if fields["bytes"] == "-" else int(fields["bytes"])
    return json.dumps(fields).encode() + b"\n"
