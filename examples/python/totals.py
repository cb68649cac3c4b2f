# SPDX-License-Identifier: MIT
"""Counts the lines of an access log for each status, and emits the numbers at each tick."""
import collections
import json

import weir

counts = collections.Counter()


@weir.worker
def count(message):
    words = message.data.decode(errors="replace").rpartition('" ')[2].split()
    if len(words) < 2 or not words[0].isdigit():
        weir.log.warning(f"no status in a line of {len(message.data)} bytes")
        raise weir.Reject("no line of an access log")
    counts[words[0]] += 1
    weir.inspect({"lines": sum(counts.values()), "statuses": len(counts)})


@count.on_tick
@count.on_close
def show():
    if counts:
        weir.label("totals")
        weir.emit(json.dumps(counts, sort_keys=True))
        counts.clear()


if __name__ == "__main__":
    weir.run(count)
