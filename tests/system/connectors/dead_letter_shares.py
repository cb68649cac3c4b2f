#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   what one pool stores in the file of dead letters never stops the positions of another.
        Shows promise L11.
Method: real hosts with a small file. Strangers, that is messages which no position awaits, or a
        source with a position fill it as far as they can; another source with a position must come
        through. Every wait is for a condition.

    dead_letter_shares.py WEIR PLUGINS TREE
"""
import os
import sys

from control import PLUGINS, check, report_failures, until
from dead_letter_file import recorded, stored

SIZE = 200000

# Numbers without end, all of which are rejected.
STRANGERS = """
  strangers: {{use: gen.numbers, args: {{count: 20000}}, to: open}}
"""
OPEN = """
  open: {{use: relay.pass, size: 2, args: {{rejects_each: 1}}, outputs: {{out: record}}}}
"""
# All lines of another file, with a position, are rejected.
OTHERS = """
  others:
    use: files.tail
    args: {{paths: ["{folder}/others.log"], position: "{folder}/others", poll: 20ms,
           save_every: 20ms, unsettled: 5000}}
    to: open
"""
LINES = """
sources:
{more_sources}
  lines:
    use: files.tail
    args: {{paths: ["{folder}/app.log"], position: "{folder}/position", poll: 20ms,
           save_every: 20ms, unsettled: 100}}
    to: relay
pools:
{open}
  relay: {{use: relay.pass, args: {{rejects_each: {each}}}, outputs: {{out: record}}}}
  record: {{use: file.append, args: {{path: "{folder}/record"}}}}
"""


def text_with(sources):
    return LINES.replace("{more_sources}", sources).replace("{open}", OPEN)


def state_of(host):
    return host.json("status")["host"]["dead_letter_file"]


def dead_in(host, path):
    return [pool["dead"] for pool in host.json("status")["pools"] if pool["path"] == path][0]


def of_pool(host, path):
    return [letter for letter in host.letters() if letter["path"] == path]


def test_strangers_leave_room_for_positions():
    """Shows promise L11."""
    with stored(text_with(STRANGERS), more=f", file_size: {SIZE}", each=10) as host:
        host.start()
        until(lambda: dead_in(host, "open") == 20000, "the strangers")
        until(lambda: state_of(host)["waiting"] == 0, "the file")
        check(0 < len(of_pool(host, "open")) < 20000, "letters of strangers")
        check(os.path.getsize(host.dead) <= SIZE * 0.4, "what they take of the file")
        check(state_of(host)["lost"] + len(host.letters()) == 20000, f"{state_of(host)}")
        check(host.logged("dead letters are not stored"), "the log")
        host.append(0, 1000)
        until(lambda: host.is_through(1000), "the lines")
        check(len(of_pool(host, "relay")) + sum(recorded(host).values()) == 1000, "each line once")
        check(os.path.getsize(host.dead) <= SIZE, "the size")


def test_position_that_stops_stops_no_other():
    """Shows promise L11: and goes on in a new file."""
    with stored(text_with(OTHERS), more=f", file_size: {SIZE}", each=10) as host:
        with open(os.path.join(host.work, "others.log"), "ab") as stream:
            stream.write(b"".join(b"%d\n" % i for i in range(3000)))
        host.start()
        until(lambda: host.logged("dead letters cannot be stored"), "the log")
        check(state_of(host)["error"] != "" and state_of(host)["waiting"] > 0, f"{state_of(host)}")
        # So few that the share has room when all of them come again after the kill.
        host.append(0, 400)
        until(lambda: host.is_through(400), "the lines")
        check(0 < len(of_pool(host, "open")) < 3000, "letters of the others")
        check(os.path.getsize(host.dead) <= SIZE, "the size")
        count = len(of_pool(host, "relay"))
        host.stop(9)
        host.start()  # the sizes of the shares are known again
        until(lambda: host.logged("dead letters cannot be stored"), "the log after a start")
        host.append(400, 200)
        until(lambda: host.is_through(200), "more lines")
        check(len(of_pool(host, "relay")) >= count, "letters of the lines")
        while state_of(host)["waiting"] > 0:
            size = os.path.getsize(host.dead)
            os.rename(host.dead, f"{host.dead}.{size}.{state_of(host)['waiting']}")
            host.process.send_signal(10)  # USR1
            until(lambda: os.path.exists(host.dead) and
                  (state_of(host)["waiting"] == 0 or len(host.letters()) > 0), "a new file")
            until(lambda: state_of(host)["waiting"] == 0 or state_of(host)["error"] != "",
                  "what fits into it")
        until(lambda: host.logged("dead letters are stored again"), "the log of the new file")
        until(lambda: host.json("inspect", "others")["items"]["unsettled"] == "0", "the others")
        check(host.stop() == 0, "the exit code")


def main():
    os.environ["WEIR_PLUGIN_PATH"] = os.path.join(PLUGINS, "../tests/plugins")  # of relay
    test_strangers_leave_room_for_positions()
    test_position_that_stops_stops_no_other()
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
