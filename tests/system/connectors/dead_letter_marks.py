#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a dead letter is sent again once, wherever it is read: by a replay of the pool, from the
        memory of the host, or by a replay of the file. Shows promise L12.
Method: real hosts with a worker that rejects until a reload. Both replays in both orders; with
        records that are not in the file yet, that are in a file that was renamed, and with a host
        that was killed between the replays. Every line must be recorded once.

    dead_letter_marks.py WEIR PLUGINS TREE
"""
import contextlib
import os
import sys

from control import PLUGINS, check, report_failures, until
from dead_letter_file import REJECTING, recorded, stored

COUNT = 300
TEXT = REJECTING.replace("unsettled: 100", "unsettled: 1000")  # it need not wait for the file


@contextlib.contextmanager
def rejected(more=""):
    """A host that no longer rejects, and how many dead letters it has."""
    with stored(TEXT, more=more, each=10) as host:
        host.append(0, COUNT)
        host.start()
        if more:
            until(lambda: host.logged("dead letters cannot be stored"), "the log")
            until(lambda: dead_in_memory(host) + sum(recorded(host).values()) == COUNT, "the lines")
        else:
            until(lambda: host.is_through(COUNT), "the lines")
        count = dead_in_memory(host)
        check(count > 10, f"{count} dead letters")
        host.configure(TEXT, each=0)
        check(host.run("reload").returncode == 0, "the reload")
        yield host, count


def dead_in_memory(host):
    return [line["kept"] for line in host.json("dead") if line["path"] == "relay"][0]


def replay_memory(host):
    return host.json("dead", "relay", "--replay")["replayed"]


def replay_file(host, path=None):
    return host.json("dead", "--file", path or host.dead, "--replay")["replayed"]


def is_saved(host):
    """Whether the position in the file is behind the last line."""
    with open(os.path.join(host.work, "position"), encoding="ascii") as stream:
        saved = stream.read().split("\n")[1].split(" ")[2]
    return int(saved) == os.path.getsize(os.path.join(host.work, "app.log"))


def check_once(host):
    until(lambda: sum(recorded(host).values()) >= COUNT, "every line")
    check(host.stop() == 0, "the exit code")
    check(len(recorded(host)) == COUNT and set(recorded(host).values()) == {1}, "each line once")


def test_memory_then_file():
    """Shows promise L12."""
    with rejected() as (host, count):
        check(replay_memory(host) == count, "a replay from memory")
        check(all(letter["replayed"] for letter in host.letters()), "marks")
        check(replay_file(host) == 0, "a replay of the file")
        check_once(host)


def test_file_then_memory():
    """Shows promise L12."""
    with rejected() as (host, count):
        check(replay_file(host) == count, "a replay of the file")
        check(dead_in_memory(host) == 0, "dead letters in memory")
        check(replay_memory(host) == 0, "a replay from memory")
        check_once(host)


def test_one_from_the_file_and_the_rest_from_memory():
    """Shows promise L12."""
    with rejected() as (host, count):
        got = host.json("dead", "--file", host.dead, "relay", "3", "7", "--replay")
        check(got["replayed"] == 2, f"{got}")
        check(replay_memory(host) == count - 2, "a replay from memory")
        check(replay_file(host) == 0, "a replay of the file")
        check_once(host)


def test_memory_then_kill_then_file():
    """Shows promise L12."""
    with rejected() as (host, count):
        check(replay_memory(host) == count, "a replay from memory")
        until(lambda: sum(recorded(host).values()) == COUNT, "every line")
        until(lambda: is_saved(host), "the position")
        host.stop(9)
        host.start()
        check(replay_file(host) == 0, "a replay of the file")
        check_once(host)


def test_renamed_file():
    """Shows promise L12."""
    with rejected() as (host, count):
        os.rename(host.dead, host.dead + ".1")
        host.process.send_signal(10)  # USR1
        until(lambda: os.path.exists(host.dead) and not host.letters(), "a new file")
        check(replay_memory(host) == count, "a replay from memory")
        check(replay_file(host, host.dead + ".1") == 0, "a replay of the file that was renamed")
        check_once(host)
    with rejected() as (host, count):
        os.rename(host.dead, os.path.join(host.work, "elsewhere"))
        host.process.send_signal(10)  # USR1
        until(lambda: os.path.exists(host.dead) and not host.letters(), "a new file")
        check(replay_memory(host) == count, "a replay from memory")
        check(host.logged("that were sent again are not marked"), "the log")
        check_once(host)


def test_records_that_wait():
    """Shows promise L12: the share of the pool is used up until a reload."""
    with rejected(more=", file_size: 5000") as (host, count):
        check(len(host.letters()) < count, "letters that wait")
        check(replay_memory(host) == count, "a replay from memory")
        host.more = ""
        host.configure(TEXT, each=0)
        check(host.run("reload").returncode == 0, "the second reload")
        until(lambda: len(host.letters()) == count, "all letters in the file")
        check(replay_file(host) == 0, "a replay of the file")
        check_once(host)


def main():
    os.environ["WEIR_PLUGIN_PATH"] = os.path.join(PLUGINS, "../tests/plugins")  # of relay
    test_memory_then_file()
    test_file_then_memory()
    test_one_from_the_file_and_the_rest_from_memory()
    test_memory_then_kill_then_file()
    test_renamed_file()
    test_records_that_wait()
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
