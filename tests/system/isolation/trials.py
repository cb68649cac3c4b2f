# SPDX-License-Identifier: MIT
"""What the tests of crashes share: waits, and ends by a signal that no sanitizer catches."""
import os
import time

DEADLINE = 120  # seconds that a condition may take

# A signal ends a process by itself, and not in a report of a sanitizer. What is freed is not kept
# for long, so that a test can see whether memory grows.
for sanitizer in ("ASAN", "TSAN", "UBSAN"):
    given = os.environ.get(f"{sanitizer}_OPTIONS", "")
    more = "handle_segv=0:handle_abort=0" + (":quarantine_size_mb=1" if sanitizer == "ASAN" else "")
    os.environ[f"{sanitizer}_OPTIONS"] = f"{given}:{more}".lstrip(":")


class Trouble(Exception):
    """What was found."""


def must(holds, what):
    if not holds:
        raise Trouble(what)


def until(condition, what):
    due = time.monotonic() + DEADLINE
    while not (answer := condition()):
        must(time.monotonic() < due, f"never: {what}")
        time.sleep(0.01)
    return answer
