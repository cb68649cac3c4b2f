# SPDX-License-Identifier: MIT
"""Counts the words of the body of a request."""
import json

import weir


def handle(message):
    head, _, body = message.data.partition(b"\n\n")
    line = head.decode().splitlines()[0]
    if not body:
        raise weir.Reject("the body is empty")
    return json.dumps({"request": line, "words": len(body.split())}) + "\n"


weir.run(handle)
