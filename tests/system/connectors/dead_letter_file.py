#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   dead letters that are stored in a file outlive `kill -9` of the host, and a source with a
        position goes past a dead message only when its dead letter is in that file. Shows promise
        L8, promise L9 and promise B18.
Method: real hosts with a worker that rejects. The file is read by `weir dead --file` while a host
        runs and after it was killed, is torn, filled, renamed, changed by a reload, and sent to a
        host again. In the end hosts are killed with -9 at random moments, with two stages and
        workers that fail and reject: each line must be recorded or be in the file. Every wait is
        for a condition.

    dead_letter_file.py WEIR PLUGINS TREE [--kills COUNT] [--seed SEED]
"""
import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from control import PLUGINS, WEIR, Host, check, report_failures, until

# The relay rejects by the bytes of a line: the same lines each time.
REJECTING = """
sources:
  lines:
    use: files.tail
    args: {{paths: ["{folder}/app.log"], position: "{folder}/position", poll: 20ms,
           save_every: 20ms, unsettled: 100}}
    to: relay
pools:
  relay:
    use: relay.pass
    size: 1
    args: {{rejects_each: {each}}}
    outputs: {{out: record}}
  record: {{use: file.append, size: 1, args: {{path: "{folder}/record"}}}}
"""

# Two stages; the first fails and rejects, the second rejects others.
STAGES = """
sources:
  lines:
    use: files.lines
    args: {{paths: ["{folder}/app.log"], position: "{folder}/position", save_every: 20ms,
           unsettled: 2000}}
    to: relay
pools:
  relay:
    use: relay.pass
    size: 2
    args: {{fails_each: 500, rejects_each: 101}}
    redeliver: 5
    restart: {{max: 1000, backoff: 1ms}}
    outputs: {{out: slow}}
  slow:
    use: relay.pass
    size: 1
    mailbox: 2000
    args: {{rejects_each: 97}}
    outputs: {{out: {{to: record, rate: 20000/s}}}}
  record: {{use: file.append, size: 1, mailbox: 256, args: {{path: "{folder}/record"}}}}
"""


# A worker that puts off each message for an hour.
PUTTING_OFF = """
sources: {{numbers: {{use: gen.numbers, args: {{count: 10}}, to: work}}}}
pools: {{work: {{use: wayward.put_off, size: 2, mailbox: 32, {remove}}}}}
"""


class Stored(Host):
    """A host with a file of dead letters, unless `stores` is false."""

    def __init__(self, work, stores=True, more=""):
        super().__init__(work)
        self.dead = os.path.join(work, "dead")
        self.stores = stores
        self.more = more

    def configure(self, text, **words):
        self.write(text.format(folder=self.work, **words),
                   more=f', dead_letters: {{file: "{self.dead}"{self.more}}}'
                   if self.stores else "")

    def letters(self, path=None):
        got = self.run("dead", "--file", path or self.dead, "-o", "json")
        check(got.returncode == 0, f"weir dead --file: {got.returncode} {got.stderr}")
        return json.loads(got.stdout)

    def payload(self, number):
        return subprocess.run([WEIR, "dead", "--file", self.dead, "--export", "-", str(number)],
                              capture_output=True, check=False).stdout

    def append(self, first, count):
        with open(os.path.join(self.work, "app.log"), "ab") as stream:
            stream.write(b"".join(b"%d\n" % i for i in range(first, first + count)))

    def logged(self, text):
        with open(self.log, encoding="utf-8") as stream:
            return text in stream.read()

    def unsettled(self):
        return int(self.items()["unsettled"])

    def is_through(self, count):
        """Whether this host has sent so many lines, and all are settled."""
        items = self.items()
        return int(items["lines"]) >= count and items["unsettled"] == "0"

    def items(self):
        return self.json("inspect", "lines")["items"]


@contextlib.contextmanager
def stored(text=REJECTING, stores=True, more="", each=10):
    with tempfile.TemporaryDirectory() as folder:
        host = Stored(folder, stores, more)
        host.configure(text, each=each, remove="")
        try:
            yield host
        finally:
            host.stop(9)


def text_of(payload):
    """The line in a payload of files.line/1."""
    name_size = int.from_bytes(payload[0:4], sys.byteorder)
    return payload[24 + name_size + 1:-1]


def recorded(host):
    path = os.path.join(host.work, "record")
    if not os.path.exists(path):
        return collections.Counter()
    with open(path, "rb") as stream:
        return collections.Counter(stream.read().split(b"\n")[:-1])


def test_dead_letters_outlive_the_host():
    """Shows promise L8."""
    with stored() as host:
        host.append(0, 500)
        host.start()
        until(lambda: host.is_through(500), "the lines")
        count = len(host.letters())
        check(0 < count < 500, f"{count} letters")
        check(host.json("status")["host"]["dead_letter_file"]["records"] == count, "status")
        host.stop(9)
        letters = host.letters()
        check(len(letters) == count, "letters after kill -9")
        first = letters[0]
        check(first["path"] == "relay" and first["reason"] == "rejected" and
              first["detail"].startswith("by its key; ") and first["tag"] == "files.line/1" and
              first["from_path"] == "lines" and first["to"] == "relay", f"{first}")
        lines = {text_of(host.payload(letter["number"])) for letter in letters}
        check(lines.isdisjoint(recorded(host)) and len(lines) + len(recorded(host)) == 500,
              "each line is recorded or a dead letter")


def test_position_passes_a_stored_dead_letter_only():
    """Shows promise B18."""
    for stores in (True, False):
        with stored(stores=stores, each=20) as host:
            host.append(0, 400)
            host.start()
            if stores:
                until(lambda h=host: h.is_through(400), "the end of all lines")
                host.stop()
                seen = sum(recorded(host).values())
                host.append(400, 1)
                host.start()
                until(lambda h=host: h.is_through(1), "the new line")
                check(sum(recorded(host).values()) <= seen + 1, "a line twice")
            else:
                until(lambda h=host: h.logged("position stops at a dead line"), "the log")
                stopped = int(host.items()["stopped"])
                check(stopped > 0, "stopped lines")
                until(lambda h=host: h.items()["unsettled"] == h.items()["stopped"],
                      "all that is not dead")
                # At most 100 lines lie between the position and the front.
                lines = {int(line) for line in recorded(host)}
                first = min(set(range(401)) - lines)
                check(max(lines, default=0) < first + 100, "it waits at the bound")
                host.stop(9)
                before = recorded(host)
                host.start()
                until(lambda h=host, n=before: sum(recorded(h).values()) > sum(n.values()),
                      "lines behind the dead one again")


def test_what_waits_for_a_retry_at_the_end_is_stored():
    """Shows promise H16: with the time-out of the host, and with that of the pool."""
    for remove in ("remove: {timeout: 5m}", "remove: {timeout: 200ms}"):
        with stored(PUTTING_OFF, more="", each=1) as host:
            host.write(PUTTING_OFF.format(remove=remove),
                       more=f', shutdown_timeout: 2s, dead_letters: {{file: "{host.dead}"}}')
            host.start()
            until(lambda: host.json("status")["pools"][0]["held"] == 10, "ten retries")
            code = host.stop()
            check(code == (75 if "5m" in remove else 65), f"{remove}: exit code {code}")
            letters = host.letters()
            check(len(letters) == 10, f"{remove}: {len(letters)} letters")
            check(all(letter["reason"] == "removed" for letter in letters), f"{letters[:1]}")


def test_torn_end_is_cut_off():
    """Shows promise L9."""
    with stored() as host:
        host.append(0, 200)
        host.start()
        until(lambda: host.is_through(200), "the lines")
        host.stop()
        count, size = len(host.letters()), os.path.getsize(host.dead)
        with open(host.dead, "rb") as stream:
            whole = stream.read()
        last = whole.rindex(b"\nletter ") + 1
        with open(host.dead, "ab") as stream:
            stream.write(whole[last:-7])  # a record without its end
        got = host.run("dead", "--file", host.dead)
        check("no whole record" in got.stderr and got.returncode == 0, got.stderr)
        host.start()
        check(host.logged("incomplete end of the file was cut off"), "the log")
        check(os.path.getsize(host.dead) == size and len(host.letters()) == count, "the rest")
        host.append(200, 200)
        until(lambda: host.is_through(200), "new lines")
        host.stop()
        # A damaged record in the middle is passed over, and stays.
        with open(host.dead, "r+b") as stream:
            stream.seek(whole.index(b"\nletter ") + 80)
            stream.write(b"\xff")
        left = len(host.letters())
        host.start()
        check(len(host.letters()) == left and left >= count, "letters after a damaged one")


def test_file_of_version_1_is_renamed_and_read():
    """Shows promise L9."""
    with stored() as host:
        host.append(0, 200)
        host.start()
        until(lambda: host.is_through(200), "the lines")
        host.stop()
        count = len(host.letters())
        with open(host.dead, "r+b") as stream:
            stream.seek(len("weir dead letters "))
            stream.write(b"1")  # no line of a number needs a quote
        check(len(host.letters()) == count, "letters of version 1")
        host.start()
        check(host.logged("a file of version 1 was renamed"), "the log")
        check(not host.letters(), "letters in the new file")
        older = host.dead + ".version-1"
        check(len(host.letters(older)) == count, "letters in the file that was renamed")
        host.configure(REJECTING, each=0)
        check(host.run("reload").returncode == 0, "the reload")
        got = host.json("dead", "--file", older, "--replay")
        check(got["replayed"] == count, f"a replay of version 1: {got}")
        until(lambda: len(recorded(host)) == 200, "every line")
        check(host.stop() == 0, "the exit code")


def test_fifo_is_no_file_of_dead_letters():
    with stored() as host:
        os.mkfifo(host.dead)
        got = host.run("dead", "--file", host.dead)
        check(got.returncode == 78 and "not a regular file" in got.stderr,
              f"{got.returncode} {got.stderr}")


def test_full_file_stops_positions_until_there_is_room():
    """Shows promise B18: not the disk but the bound is reached, which the host treats alike."""
    with stored(more=", file_size: 1", each=5) as host:
        host.append(0, 300)
        host.start()
        until(lambda: host.logged("dead letters cannot be stored"), "the log")
        state = host.json("status")["host"]["dead_letter_file"]
        check("largest size" in state["error"] and state["records"] == 0, f"{state}")
        check("cannot be written" in host.run("status").stdout, "the table")
        check(host.unsettled() > 0, "a message that is not stored is not settled")
        host.more = ""
        host.configure(REJECTING, each=5)
        check(host.run("reload").returncode == 0, "the reload")
        until(lambda: host.is_through(300), "the end of all lines")
        check(host.logged("dead letters are stored again"), "the log")
        check(len(host.letters()) + len(recorded(host)) == 300, "each line once")
        check(host.stop() == 0, "the exit code")


def test_rename_and_reload():
    with stored() as host:
        host.append(0, 100)
        host.start()
        until(lambda: host.is_through(100), "letters")
        first = len(host.letters())
        os.rename(host.dead, host.dead + ".1")
        host.process.send_signal(10)  # USR1
        until(lambda: os.path.exists(host.dead) and os.path.getsize(host.dead) > 0 and
              len(host.letters()) == 0, "a new file")
        host.append(100, 100)
        until(lambda: host.is_through(200) and host.letters(), "letters in the new one")
        check(len(host.letters(host.dead + ".1")) == first, "the old file")
        old = host.dead
        host.dead = os.path.join(host.work, "other")
        host.configure(REJECTING, each=10)
        check(host.run("reload").returncode == 0, "the reload")
        host.append(200, 100)
        until(lambda: host.is_through(300) and host.letters(), "letters after the reload")
        kept = len(host.letters(old))
        host.dead = host.file
        host.configure(REJECTING, each=10)
        got = host.run("reload")
        check(got.returncode == 78 and "not a file of dead letters" in got.stdout + got.stderr,
              f"{got.returncode} {got.stdout} {got.stderr}")
        check(len(host.letters(old)) == kept, "the file before the reload")
        check(host.stop() == 0, "the exit code")
        host.start()
        check(host.process.wait() == 78, "a start with a wrong file")


def test_replay():
    with stored(each=10) as host:
        host.append(0, 300)
        host.start()
        until(lambda: host.is_through(300), "letters")
        count = len(host.letters())
        host.configure(REJECTING, each=0)
        check(host.run("reload").returncode == 0, "the reload")
        got = host.json("dead", "--file", host.dead, "--replay")
        check(got == {"path": host.dead, "replayed": count, "left": 0, "unable": 0}, f"{got}")
        until(lambda: len(recorded(host)) == 300, "every line")
        check(all(letter["replayed"] for letter in host.letters()), "marks")
        got = host.json("dead", "--file", host.dead, "--replay")
        check(got["replayed"] == 0, "a second replay")
        got = host.json("dead", "--file", host.dead, "relay", "1", "--replay")
        check(got["replayed"] == 1, "a letter by its number")
        folder = os.path.join(host.work, "out")
        got = host.json("dead", "--file", host.dead, "--export", folder)
        check(got["exported"] == count and len(os.listdir(folder)) == count, f"{got}")
        host.stop(9)
        got = host.run("dead", "--file", host.dead, "1", "--replay")
        check(got.returncode == 69, f"without a host: {got.returncode} {got.stderr}")


# One worker that waits: its pool has room for one message, and none behind it.
NO_ROOM = """
pools:
  relay: {{use: relay.pass, size: 1, mailbox: 1, outputs: {{out: record}}}}
  record: {{use: file.append, size: 1, args: {{path: "{folder}/record"}}}}
"""


def test_replay_waits_for_room():
    with stored(each=2) as host:
        host.append(0, 200)
        host.start()
        until(lambda: host.is_through(200), "letters")
        count = len(host.letters())
        host.configure(NO_ROOM)
        check(host.run("reload").returncode == 0, "the reload")
        check(host.run("pause", "relay").returncode == 0, "a pause")
        got = host.run("dead", "--file", host.dead, "--replay", "--timeout", "0")
        check(got.returncode == 75 and got.stderr.count("no worker has room") == 1, got.stderr)
        check(f"0 dead letters sent again, {count} stay" in got.stdout, got.stdout)
        with subprocess.Popen([WEIR, "dead", "--file", host.dead, "--control", host.socket,
                               "--replay", "--timeout", "1h"],
                              stdout=subprocess.PIPE) as replay:
            check(host.run("resume", "relay").returncode == 0, "a resume")
            out = replay.communicate()[0]
        check(replay.returncode == 0, f"the exit code: {replay.returncode}")
        check(f"{count} dead letters sent again, 0 stay".encode() in out, f"{out}")
        until(lambda: len(recorded(host)) == 200, "every line")
        got = host.run("dead", "--file", host.dead, "--replay", "--timeout", "soon")
        check(got.returncode == 64 and "--timeout is a time" in got.stderr, got.stderr)


def test_no_line_is_lost(kills, seed):
    """Shows promise L8 and promise S14 over kill -9: recorded, or in the file."""
    dice = random.Random(seed)
    with stored(STAGES) as host:
        count = max(20000, 1500 * kills)
        host.append(0, count)
        killed = 0
        while killed < kills:
            host.start()
            moment = time.monotonic() + dice.random() * 0.2
            until(lambda: time.monotonic() > moment or host.process.poll() is not None, "a moment")
            if host.process.poll() is not None:  # it was through
                os.unlink(os.path.join(host.work, "position"))
                continue
            host.stop(9)
            killed += 1
        host.start()
        # 0: the host that was killed last had stored each dead letter.
        check(host.process.wait() in (0, 65), "the exit code of a host with dead letters")
        seen = recorded(host)
        dead = collections.Counter(read_lines(host))
        lost = [i for i in range(count) if b"%d" % i not in seen and b"%d" % i not in dead]
        check(not lost, f"lost: {len(lost)}: {lost[:5]}")
        wrong = [line for line in seen if not line.isdigit() or int(line) >= count]
        check(not wrong, f"lines that nobody wrote: {wrong[:5]}")
        print(f"{count} lines through two stages, {kills} kills: none lost; {len(seen)} recorded, "
              f"{sum(seen.values()) - len(seen)} of them again; {len(dead)} dead letters, "
              f"{sum(dead.values()) - len(dead)} of them again")


def read_lines(host):
    """The lines of all dead letters."""
    folder = os.path.join(host.work, "out")
    got = host.run("dead", "--file", host.dead, "--export", folder)
    check(got.returncode == 0, f"{got.returncode} {got.stderr}")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as stream:
            yield text_of(stream.read())
    shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs=3)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1000000)
    options = parser.parse_args()
    os.environ["WEIR_PLUGIN_PATH"] = os.path.join(PLUGINS, "../tests/plugins")  # of relay
    print(f"seed {options.seed}", flush=True)
    test_dead_letters_outlive_the_host()
    test_position_passes_a_stored_dead_letter_only()
    test_what_waits_for_a_retry_at_the_end_is_stored()
    test_torn_end_is_cut_off()
    test_file_of_version_1_is_renamed_and_read()
    test_fifo_is_no_file_of_dead_letters()
    test_full_file_stops_positions_until_there_is_room()
    test_rename_and_reload()
    test_replay()
    test_replay_waits_for_room()
    test_no_line_is_lost(options.kills, options.seed)
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
