# SPDX-License-Identifier: MIT
"""Turns lines of an access log of a web server into JSON."""
import json
import re

import weir

LINE = re.compile(r'(?P<client>\S+) \S+ (?P<user>\S+) \[(?P<time>[^]]+)\] '
                  r'"(?P<method>\S+) (?P<path>\S+)[^"]*" (?P<status>\d{3}) (?P<bytes>\d+|-)')


def handle(message):
    found = LINE.match(message.data.decode(errors="replace"))
    if not found:
        raise weir.Reject("no line of an access log")
    fields = found.groupdict()
    fields["status"] = int(fields["status"])
    fields["bytes"] = 0 if fields["bytes"] == "-" else int(fields["bytes"])
    return json.dumps(fields)


weir.run(handle)
