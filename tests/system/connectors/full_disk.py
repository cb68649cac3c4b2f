#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a full disk loses nothing: positions, dead letters and the output of file.append are
        written when there is room again, the log says each once, and a host that could not save a
        position ends with 74. Shows promises B15, B18 and B25.
Method: real hosts with small disks in memory, which the test fills and empties. Every wait is for
        a condition.

    full_disk.py WEIR PLUGINS TREE
"""
import contextlib
import os
import sys
import tempfile

import disks

disks.enter()

from control import PLUGINS, Host, check, run_tests, until  # noqa: E402

TAIL = """
sources:
  lines: {use: files.tail, to: POOL,
          args: {paths: [WORK/app.log], position: PLACE/position, poll: 20ms, save_every: 20ms}}
pools:
  record: {use: file.append, args: {path: WHERE/record}}
  rejects: {use: relay.pass, args: {rejects_each: 1}, outputs: {out: record}}
"""


class Fixture(Host):
    def __init__(self, work, pool="record", place="WORK", where="WORK"):
        super().__init__(work)
        self.disk, self.count = disks.Disk(os.path.join(work, "disk"), "1m"), 0
        text = TAIL.replace("POOL", pool).replace("PLACE", place).replace("WHERE", where)
        self.more = ', dead_letters: {file: "%s/dead"}, shutdown_timeout: 1s' % place
        self.write(text.replace("WORK", work), more=self.more.replace("WORK", work))

    def lines(self, count):
        with open(os.path.join(self.work, "app.log"), "ab") as stream:
            stream.write(b"".join(b"line %d.\n" % number
                                  for number in range(self.count, self.count + count)))
        self.count += count

    def read(self, name):
        try:
            with open(os.path.join(self.work, name), "rb") as stream:
                return stream.read()
        except FileNotFoundError:
            return b""

    def logged(self, text):
        with open(self.log, encoding="utf-8") as stream:
            return stream.read().count(text)

    def has_all(self, name):
        """Each line once, and nothing else."""
        return self.read(name) == b"".join(b"line %d.\n" % number for number in range(self.count))


@contextlib.contextmanager
def fixture(**places):
    with tempfile.TemporaryDirectory() as work:
        host = Fixture(work, **places)
        try:
            yield host
        finally:
            host.stop(9)
            host.disk.unmount()


def test_position_is_saved_when_there_is_room_again():
    """promise B15"""
    with fixture(place="WORK/disk") as host:
        host.lines(10)
        host.start()
        until(lambda: host.has_all("record"), "the first lines")
        until(lambda: host.read("disk/position"), "a position")
        host.disk.fill()
        host.lines(10)
        until(lambda: host.logged("position cannot be saved"), "an error in the log")
        held = host.read("disk/position")
        for _ in range(10):
            host.lines(10)
            until(lambda: host.has_all("record"), "lines while the disk is full")
        check(held and host.read("disk/position") == held, "the position is not as it was")
        host.disk.free()
        until(lambda: host.logged("position is saved again"), "the position")
        check(host.logged("position cannot be saved") == 1, "the log says it once")
        check(not os.path.exists(f"{host.work}/disk/position.new"), "a file is left")
        check(host.stop() == 0, "the exit code")
        host.start()
        host.lines(1)
        until(lambda: host.has_all("record"), "only the new line")
        check(host.stop() == 0, "the exit code")


def test_position_that_could_not_be_saved_ends_with_74():
    """promise B15"""
    with fixture(place="WORK/disk") as host:
        host.lines(1)
        host.start()
        until(lambda: host.read("disk/position") and host.has_all("record"), "the first line")
        host.disk.fill()
        host.lines(5)
        until(lambda: host.has_all("record") and host.logged("position cannot be saved"), "lines")
        check(host.stop() == 74, "the exit code")
        check(host.logged("position cannot be saved") == 1, "the log says it once")
        host.disk.free()
        host.start()
        until(lambda: b"line 5.\n" in host.read("record")[60:], "the lines again")
        check(host.stop() == 0, "the exit code with room")


def test_first_position_on_a_full_disk():
    """promise B15: no file is there before."""
    with fixture(place="WORK/disk") as host:
        host.disk.fill()
        with open(host.file, encoding="utf-8") as stream:
            text = stream.read()
        with open(host.file, "w", encoding="utf-8") as stream:
            stream.write(text.replace(f"{host.work}/disk/dead", f"{host.work}/dead"))
        host.lines(5)
        host.start()
        until(lambda: host.has_all("record") and host.logged("position cannot be saved"), "lines")
        check(host.stop() == 74, "the exit code")
        check(not os.path.exists(f"{host.work}/disk/position"), "a position that is none")


def test_dead_letters_are_stored_when_there_is_room_again():
    """promise B18: until then the position stays before them."""
    with fixture(pool="rejects", place="WORK/disk") as host:
        host.lines(1)
        host.start()
        until(lambda: b"line 0." in host.read("disk/dead"), "a dead letter")
        host.disk.fill()
        host.lines(100)
        until(lambda: host.logged("dead letters cannot be stored"), "an error in the log")
        host.disk.free()
        until(lambda: all(b"line %d." % number in host.read("disk/dead") for number in range(101)),
              "all dead letters")
        check(host.logged("dead letters cannot be stored") == 1, "the log says it once")
        until(lambda: host.json("status")["pools"][1]["dead"] == 101, "their ends")
        check(host.stop() in (0, 65), "the exit code")
        before = host.read("disk/dead")
        host.start()
        host.lines(1)
        until(lambda: b"line 101." in host.read("disk/dead"), "the new line")
        check(host.read("disk/dead").count(b"line 50.") == before.count(b"line 50."), "twice")


def test_output_waits_for_room():
    """promise B25"""
    with fixture(where="WORK/disk") as host:
        host.lines(10)
        host.start()
        until(lambda: host.has_all("disk/record"), "the first lines")
        host.disk.fill()
        with open(f"{host.work}/disk/record", "ab") as stream:
            room = -stream.tell() % 4096  # the rest of its page
        host.lines(room // 8 + 1000)
        until(lambda: host.logged("file cannot be written") > 0, "an error in the log")
        host.disk.free()
        until(lambda: host.has_all("disk/record"), "each line once")
        check(host.logged("file cannot be written") == 1, "the log says it once")
        check(host.stop() == 0, "the exit code")


if __name__ == "__main__":
    os.environ["WEIR_PLUGIN_PATH"] = os.path.join(PLUGINS, "../tests/plugins")  # of relay
    sys.exit(run_tests(globals()))
