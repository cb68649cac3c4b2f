#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   files.tail loses no line while its files are renamed, and its host is killed with -9,
        again and again; a truncated file is read from its start; a position is a regular file,
        and one that cannot be saved is no silent success; two hosts never have the same one.
        Shows promises B15, B26 and B156.
Method: a thread writes numbered lines and rotates under a host that records them, beside a real
        `tail -F`, whose losses are printed. In the end each number must have been recorded. Random
        moments come from a seed that is printed. Every wait is for a condition.

    tail.py WEIR PLUGINS TREE [--kills COUNT] [--seed SEED]
"""
import argparse
import collections
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

from control import PLUGINS, TREE, WEIR, Host, check, report_failures, until

TAIL = """
sources:
  lines:
    use: files.tail
    args: {{paths: ["{folder}/app.log", "{folder}/app.log.*"], position: "{folder}/position",
           poll: 20ms, save_every: 50ms, rotate_wait: 1s, unsettled: 5000}}
    to: record
pools:
  record: {{use: file.append, size: 1, mailbox: 256, args: {{path: "{folder}/record"}}}}
"""


# The lines go through a pool whose workers fail, each twice in 500 messages, and wait for a slow
# one.
RELAYED = """
sources:
  lines:
    use: files.tail
    args: {{paths: ["{folder}/app.log", "{folder}/app.log.*"], position: "{folder}/position",
           poll: 20ms, save_every: 50ms, rotate_wait: 1s, unsettled: 5000}}
    to: relay
pools:
  relay:
    use: relay.pass
    size: 2
    args: {{fails_each: 500}}
    redeliver: 5
    restart: {{max: 1000, backoff: 1ms}}
    outputs: {{out: slow}}
  slow:
    use: relay.pass
    size: 1
    mailbox: 2000
    outputs: {{out: {{to: record, rate: 20000/s}}}}
  record: {{use: file.append, size: 1, mailbox: 256, args: {{path: "{folder}/record"}}}}
"""


# Files that are there, read to their end.
LISTED = RELAYED.replace("files.tail", "files.lines").replace(
    'poll: 20ms, save_every: 50ms, rotate_wait: 1s, unsettled: 5000', 'save_every: 50ms').replace(
        '"{folder}/app.log", ', "")


# Commands that wait for a file.
WAITING = """
sources:
  {name}:
    use: files.{use}
    args: {{paths: ["{folder}/app.log"], position: "{folder}/{spelling}position", save_every: 20ms}}
    to: record
pools:
  record:
    use: exec.run
    size: 1
    mailbox: 4
    args: {{command: [sh, -c, 'until [ -e $1/go ]; do sleep 0.02; done; echo $2 >>$1/record', sh,
                      "{folder}", "{{}}"]}}
"""
WITHOUT = "sources:\n  tick: {{use: timer.cron, to: record, args: {{every: 10h}}}}\n"


class Writer(threading.Thread):
    """Writes numbered lines in pieces, half lines too, and rotates at random."""

    def __init__(self, folder, dice):
        super().__init__()
        self.path = os.path.join(folder, "app.log")
        self.dice = dice
        self.ends = threading.Event()
        self.count = 0
        self.rotations = 0

    def run(self):
        stream = open(self.path, "ab", buffering=0)
        while not self.ends.is_set():
            text = b"".join(b"%d\n" % i for i in range(self.count, self.count + 200))
            half = self.dice.randrange(len(text))
            stream.write(text[:half])
            stream.write(text[half:])
            self.count += 200
            if self.dice.random() < 0.1:
                self.rotations += 1
                os.rename(self.path, f"{self.path}.{self.rotations}")
                stream.close()
                stream = open(self.path, "ab", buffering=0)
            self.ends.wait(0.005)
        stream.close()


@contextlib.contextmanager
def hosted(text=TAIL):
    with tempfile.TemporaryDirectory() as folder:
        host = Host(folder)
        host.write(text.format(folder=folder))
        try:
            yield host
        finally:
            host.stop(9)


def recorded(host):
    path = os.path.join(host.work, "record")
    if not os.path.exists(path):
        return collections.Counter()
    with open(path, "rb") as stream:
        return collections.Counter(stream.read().split(b"\n")[:-1])


def missing(host, count):
    seen = recorded(host)
    return [i for i in range(count) if b"%d" % i not in seen]


def test_no_line_is_lost(kills, seed):
    lose_none(TAIL, kills, seed)


def test_no_line_is_lost_behind_a_second_pool(kills, seed):
    """Shows promise S14, over kill -9 of the host and failures of workers."""
    lose_none(RELAYED, kills, seed)


def lose_none(text, kills, seed):
    dice = random.Random(seed)
    with hosted(text) as host:
        writer = Writer(host.work, dice)
        writer.start()
        peer_path = os.path.join(host.work, "peer")
        with open(peer_path, "wb") as stream:
            peer = subprocess.Popen(["tail", "-n", "+1", "-F", writer.path], stdout=stream,
                                    stderr=subprocess.DEVNULL)
        for _ in range(kills):
            host.start()
            moment = time.monotonic() + dice.random() * 0.3
            until(lambda: time.monotonic() > moment, "a moment")
            host.stop(9)
        host.start()
        writer.ends.set()
        writer.join()
        until(lambda: not missing(host, writer.count), "every line")
        check(host.stop() == 0, "the exit code")
        seen = recorded(host)
        wrong = [line for line in seen if not line.isdigit() or int(line) >= writer.count]
        check(not wrong, f"lines that nobody wrote: {wrong[:5]}")
        peer.terminate()
        peer.wait()
        with open(peer_path, "rb") as stream:
            of_peer = set(stream.read().split(b"\n")[:-1])
        print(f"{writer.count} lines, {writer.rotations} rotations, {kills} kills: none lost, "
              f"{sum(seen.values()) - len(seen)} twice; tail -F, which nobody killed, lost "
              f"{writer.count - len(of_peer)}")


def test_list_of_files_is_read_to_its_end(kills, seed):
    """Shows promise B15 for files.lines; the host ends by itself when every line is settled."""
    dice = random.Random(seed)
    with hosted(LISTED) as host:
        count = 20000
        for number, first in enumerate(range(0, count, 8000)):
            with open(os.path.join(host.work, f"app.log.{number}"), "wb") as stream:
                stream.write(b"\n".join(b"%d" % i for i in range(first, min(first + 8000, count))))
        for _ in range(kills):
            host.start()
            moment = time.monotonic() + dice.random() * 0.1
            until(lambda: time.monotonic() > moment, "a moment")
            host.stop(9)
        host.start()
        check(host.process.wait() == 0, "the exit code")
        check(not missing(host, count), f"missing: {missing(host, count)[:5]}")
        host.start()
        seen = sum(recorded(host).values())
        check(host.process.wait() == 0, "the exit code when nothing is left")
        check(sum(recorded(host).values()) == seen, "a line after the end")
        print(f"{count} lines of files.lines, {kills} kills: none lost, {seen - count} twice")


def test_file_that_is_copied_and_truncated():
    """As logrotate does with copytruncate."""
    with hosted() as host:
        path = os.path.join(host.work, "app.log")
        host.start()
        for turn in range(10):
            with open(path, "ab") as stream:
                stream.write(b"".join(b"%d\n" % i for i in range(turn * 100, turn * 100 + 100)))
            until(lambda: not missing(host, turn * 100 + 100), f"the lines of turn {turn}")
            os.truncate(path, 0)
        check(host.stop() == 0, "the exit code")
        check(max(recorded(host).values()) == 1, "a line twice")


def rotate(folder, mode):
    rules = os.path.join(folder, "rules")
    with open(rules, "w", encoding="utf-8") as stream:
        stream.write(f'"{folder}/app.log" {{\n  rotate 20\n  size 1\n  {mode}\n}}\n')
    os.chmod(rules, 0o600)
    subprocess.run(["logrotate", "-f", "-s", os.path.join(folder, "rotated"), rules], check=True,
                   timeout=60)


def test_rotation_by_logrotate():
    """Under the host, and while none runs; nobody writes while logrotate copies. A host that reads
    while the copy is made may send lines twice."""
    text = TAIL.replace('"{folder}/app.log", "{folder}/app.log.*"], ',
                        '"{folder}/app*"], exclude: ["*.gz"], ')
    for mode in ("copytruncate", "create", "create\n  compress\n  delaycompress"):
        codes = (0, 1) if "compress\n" in mode else (0,) # a file of the position may be gone
        with hosted(text) as host:
            for turn in range(6):
                with open(os.path.join(host.work, "app.log"), "ab") as stream:
                    stream.write(b"".join(b"%d\n" % i for i in range(turn * 500, turn * 500 + 500)))
                if turn % 3 == 0:
                    host.start()
                if turn % 3 == 1: # what is compressed is read no more
                    until(lambda: not missing(host, turn * 500 + 500), f"every line, {mode}")
                    check(host.stop() in codes, f"the exit code, {mode}")
                rotate(host.work, mode)
            host.start()
            until(lambda: not missing(host, 3000), f"every line, {mode}")
            check(host.stop() in codes, f"the exit code, {mode}")
            check(mode == "copytruncate" or max(recorded(host).values()) == 1,
                  f"a line twice, {mode}")


def test_end_in_order_and_another_start_repeat_nothing():
    with hosted() as host:
        path = os.path.join(host.work, "app.log")
        for turn in range(3):
            with open(path, "ab") as stream:
                stream.write(b"".join(b"%d\n" % i for i in range(turn * 1000, turn * 1000 + 1000)))
            host.start()
            until(lambda: not missing(host, turn * 1000 + 1000), f"the lines of turn {turn}")
            check(host.stop() == 0, "the exit code")
        check(max(recorded(host).values()) == 1, "a line twice")


def test_position_that_cannot_be_saved_at_the_end_ends_with_74():
    text = TAIL.replace("{folder}/position", "{folder}/state/position").replace("50ms", "1h")
    with hosted(text) as host:
        state = os.path.join(host.work, "state")
        os.mkdir(state)
        with open(os.path.join(host.work, "app.log"), "wb") as stream:
            stream.write(b"0\n1\n")
        host.start()
        until(lambda: not missing(host, 2), "the lines")
        # In one step, since the host may save a position at this moment.
        os.rename(state, os.path.join(host.work, "moved"))
        with open(os.path.join(host.work, "app.log"), "ab") as stream:
            stream.write(b"2\n")
        until(lambda: not missing(host, 3), "the last line")
        check(host.stop() == 74, "the exit code without a position")


def test_position_that_is_no_regular_file_is_refused():
    """Whatever stands there, and wherever it leads, stays as it is."""
    def link(path, victim):
        os.symlink(victim, path)

    def fifo(path, _):
        os.mkfifo(path)

    for make in (link, fifo):
        with hosted() as host:
            victim, position = (os.path.join(host.work, name) for name in ("victim", "position"))
            with open(victim, "wb") as stream:
                stream.write(b"of another user")
            make(position, victim)
            kind = os.lstat(position).st_mode
            got = subprocess.run([WEIR, "run", os.path.join(host.work, "weir.yaml")],
                                 capture_output=True, text=True, check=False, timeout=60,
                                 env={**os.environ, "WEIR_PLUGIN_PATH": PLUGINS})
            check(got.returncode == 78, f"{make.__name__}: exit code {got.returncode}")
            check(f"args.position: {position}: it is " in got.stderr, got.stderr)
            check(os.lstat(position).st_mode == kind, f"{make.__name__} was replaced")
            with open(victim, "rb") as stream:
                check(stream.read() == b"of another user", "the victim was written")


def test_file_beside_the_position_is_made_anew():
    with hosted() as host:
        victim, beside = (os.path.join(host.work, name) for name in ("victim", "position.new"))
        with open(victim, "wb") as stream:
            stream.write(b"of another user")
        os.symlink(victim, beside)
        with open(os.path.join(host.work, "app.log"), "wb") as stream:
            stream.write(b"0\n1\n")
        host.start()
        until(lambda: not missing(host, 2), "the lines")
        check(host.stop() == 0, "the exit code")
        check(os.path.isfile(os.path.join(host.work, "position")), "there is no position")
        with open(victim, "rb") as stream:
            check(stream.read() == b"of another user", "the victim was written")


def test_position_of_a_source_that_drains_is_not_read():
    """A source that was removed saves last: another one, under its name or a new one, begins when
    it has ended."""
    for use, name, is_removed in (("tail", "lines", True), ("lines", "lines", True),
                                  ("tail", "others", False)):
        with hosted("") as host:
            words = {"folder": host.work, "use": use, "name": "lines", "spelling": ""}
            with open(os.path.join(host.work, "app.log"), "wb") as stream:
                stream.write(b"".join(b"%d\n" % i for i in range(20)))
            without = WITHOUT + WAITING[WAITING.index("pools:"):]
            host.write(WAITING.format(**words))
            host.start()
            until(lambda h=host: h.json("status")["pools"][0]["accepted"] > 3, "messages")
            if is_removed:
                host.write(without.format(**words))
                check(host.run("reload").returncode == 0, f"{use} {name}: the removal")
            words.update(name=name, spelling="./")
            host.write(WAITING.format(**words))
            got = host.run("reload")
            check(got.returncode == 78 and "another source or host has the position" in got.stderr,
                  f"{use} {name}: {got.returncode} {got.stderr}")
            open(os.path.join(host.work, "go"), "wb").close()
            if not is_removed:
                host.write(without.format(**words))
                check(host.run("reload").returncode == 0, f"{use} {name}: the removal")
                host.write(WAITING.format(**words))
            until(lambda h=host: h.run("reload").returncode == 0, f"{use} {name}: the other one")
            until(lambda h=host: len(recorded(h)) == 20, f"{use} {name}: all lines")
            host.stop()
            check(set(recorded(host).values()) == {1}, f"{use} {name}: {recorded(host)}")


def test_source_with_other_arguments_goes_on_at_the_position():
    """Its predecessor ends first: both have one position, also spelt otherwise. promise B156"""
    lines = TAIL.replace("files.tail", "files.lines").replace("poll: 20ms, ", "").replace(
        "rotate_wait: 1s, ", "").replace(', "{folder}/app.log.*"', "").replace(
            "    to:", "    rate: 10000/s\n    to:")
    for text in (TAIL, lines):
        with hosted(text) as host:
            with open(os.path.join(host.work, "app.log"), "wb") as stream:
                stream.write(b"".join(b"%d\n" % i for i in range(20000)))
            host.start()
            for position, unsettled in (("/position", 4000), ("/./position", 3000)):
                until(lambda h=host: os.path.exists(os.path.join(h.work, "position")), "a position")
                host.write(text.format(folder=host.work).replace("5000", str(unsettled)).replace(
                    "/position", position))
                got = host.run("reload")
                check(got.returncode == 0, f"{unsettled}: {got.stdout}{got.stderr}")
            until(lambda h=host: not missing(h, 20000), "every line")
            code = host.process.wait() if text == lines else host.stop()
            check(code == 0, f"the exit code: {code}")
            check(set(recorded(host).values()) == {1}, "a line twice")


def test_position_of_another_host_is_not_read():
    """Two hosts with one file. The second one begins when the first one is gone. promise B26"""
    with hosted() as host, tempfile.TemporaryDirectory() as second:
        other = Host(second)
        other.write(TAIL.format(folder=host.work).replace("/record", "/other"))
        host.start()
        position = os.path.join(host.work, "position")
        until(lambda: os.path.exists(position), "the position")
        got = other.run("run", other.file)
        check(got.returncode == 69 and "another source or host has the position" in got.stderr,
              f"{got.returncode} {got.stderr}")
        made = os.path.join(host.work, "other")
        check(not os.path.exists(made) or os.path.getsize(made) == 0, "the second host sent lines")
        host.stop(9)
        other.start()
        check(other.stop() == 0, "the exit code")


def test_one_file_under_two_names_is_a_mistake():
    """State files are compared by device and inode."""
    two = """
sources:
  one: {{use: files.tail, args: {{paths: [a.log], position: "{folder}/one"}}, to: end}}
  two: {{use: files.lines, args: {{paths: [a.log], position: "{folder}/two"}}, to: end}}
pools: {{end: {{use: sink.null}}}}
"""
    with hosted(two) as host:
        got = host.run("check", host.file)
        check(got.returncode == 0, f"two files: {got}")
        for name in ("one", "two"):
            open(os.path.join(host.work, name), "wb").close()
        check(host.run("check", host.file).returncode == 0, "two files that are there")
        os.unlink(os.path.join(host.work, "two"))
        os.link(os.path.join(host.work, "one"), os.path.join(host.work, "two"))
        got = host.run("check", host.file)
        check(got.returncode == 78 and "is the file of sources.one.args.position" in got.stderr,
              f"one file: {got}")


def test_example_is_valid():
    got = subprocess.run([WEIR, "check", os.path.join(TREE, "examples/commands/follow.yaml")],
                         capture_output=True, text=True, check=False,
                         env={**os.environ, "WEIR_PLUGIN_PATH": PLUGINS})
    check(got.returncode == 0, got.stdout + got.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs=3)
    parser.add_argument("--kills", type=int, default=15)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1000000)
    options = parser.parse_args()
    os.environ["WEIR_PLUGIN_PATH"] = os.path.join(PLUGINS, "../tests/plugins")  # of relay
    print(f"seed {options.seed}", flush=True)
    test_no_line_is_lost(options.kills, options.seed)
    test_no_line_is_lost_behind_a_second_pool(options.kills, options.seed)
    test_list_of_files_is_read_to_its_end(min(options.kills, 20), options.seed)
    test_file_that_is_copied_and_truncated()
    test_rotation_by_logrotate()
    test_end_in_order_and_another_start_repeat_nothing()
    test_position_that_cannot_be_saved_at_the_end_ends_with_74()
    test_position_that_is_no_regular_file_is_refused()
    test_file_beside_the_position_is_made_anew()
    test_position_of_a_source_that_drains_is_not_read()
    test_source_with_other_arguments_goes_on_at_the_position()
    test_position_of_another_host_is_not_read()
    test_one_file_under_two_names_is_a_mistake()
    test_example_is_valid()
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
