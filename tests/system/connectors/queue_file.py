#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   what a queue in a file has answered to is on the disk and comes out: after kill -9 at any
        time, on a full disk, when the WAL is unlinked or the file is away, and through reloads. Two
        hosts never share a file, and a file of somebody else stays as it is. Shows promises B80,
        B81, B82, B83, B84 and B87.
Method: real hosts. Clients of http.server put numbers; 204 says that the worker is done, so the
        list of these numbers is an oracle outside of the host. queue.take gives the numbers to a
        file, which is compared with the list. Small disks are in memory. Every wait is for a
        condition.

    queue_file.py WEIR PLUGINS TREE
"""
import contextlib
import hashlib
import os
import random
import re
import socket
import sqlite3
import sys
import tempfile
import threading
import time

import disks

disks.enter()

from control import PLUGINS, Host, check, run_tests, until  # noqa: E402

PUT = """
sources:
  web: {use: http.server, args: {listen: "unix:WORK/http", pass: body}, to: in}
TAKEpools:
  in: {use: queue.put, size: 1, args: {file: PLACE/jobs, queue: t, min_free: FREEMORE}}
"""
TAKE = "  work: {use: queue.take, args: {file: PLACE/TAKEFILE, queue: tTAKEN}, to: record}\n"
RECORD = "  record: {use: file.append, args: {path: WORK/record}}\n"
REFUSE = "  record: {use: relay.pass, args: {rejects_each: 2}, outputs: {out: good}}\n" \
         "  good: {use: file.append, args: {path: WORK/record}}\n"


class Fixture(Host):
    def __init__(self, work, place="WORK", takes=True, pools=RECORD):
        super().__init__(work)
        self.place, self.takes, self.pools = place.replace("WORK", work), takes, pools
        self.answered, self.number, self.take_file = [], 0, "jobs"
        self.configure()

    def configure(self, more="", taken="", free="0"):
        text = PUT.replace("TAKE", TAKE if self.takes else "") + (self.pools if self.takes else "")
        text = text.replace("TAKEFILE", self.take_file)
        text = text.replace("PLACE", self.place).replace("WORK", self.work)
        self.write(text.replace("MORE", more).replace("FREE", free).replace("TAKEN", taken),
                   more=f', dead_letters: {{file: "{self.work}/dead"}}')

    def post(self, client, body):
        """The status of the answer; None: the host is gone."""
        client.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s" %
                       (len(body), body))
        answer = b""
        while b"\r\n\r\n" not in answer:
            piece = client.recv(4096)
            if not piece:
                return None
            answer += piece
        return int(answer.split()[1])

    def put(self, count=1, size=0):
        """Puts numbers, one after the other, until one has no answer of 204."""
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(os.path.join(self.work, "http"))
                for _ in range(count):
                    self.number += 1
                    status = 503  # while workers are exchanged
                    while status == 503:
                        status = self.post(client, b"%08d" % self.number + b"." * size)
                    if status != 204:
                        return False
                    self.answered.append(self.number)
        except OSError:
            return False
        return True

    def record(self):
        try:
            with open(os.path.join(self.work, "record"), "rb") as stream:
                return [int(line[:8]) for line in stream.read().split(b"\n") if len(line) >= 8]
        except FileNotFoundError:
            return []

    def has_all(self):
        return set(self.answered) <= set(self.record())

    def logged(self, text):
        with open(self.log, encoding="utf-8") as stream:
            return stream.read().count(text)

    def stored(self):
        """The numbers in the file."""
        return {int(row[0][:8]) for row in self.ask("SELECT payload FROM piece")}

    def ask(self, sql):
        with contextlib.closing(sqlite3.connect(f"file:{self.place}/jobs?mode=ro",
                                                uri=True)) as file:
            return file.execute(sql).fetchall()


@contextlib.contextmanager
def fixture(**options):
    with tempfile.TemporaryDirectory() as work:
        host = Fixture(work, **options)
        try:
            yield host
        finally:
            host.stop(9)


@contextlib.contextmanager
def small_disk(size, **options):
    with tempfile.TemporaryDirectory() as work:
        disk = disks.Disk(os.path.join(work, "disk"), size)
        host = Fixture(work, place="WORK/disk", **options)
        try:
            yield host, disk
        finally:
            host.stop(9)
            disk.unmount()


def firsts(numbers):
    """Each number where it stands first."""
    return list(dict.fromkeys(numbers))


def check_order(host):
    seen = [number for number in firsts(host.record()) if number in set(host.answered)]
    check(seen == host.answered, "the order in which the numbers were put")


def kill_after(host, answers, seconds):
    until(lambda: len(host.answered) >= answers, "answers")
    time.sleep(seconds)
    host.process.kill()


def test_killed_at_any_time():
    """promise B80: 30 hosts"""
    seed = int(os.environ.get("WEIR_SEED", "0")) or random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    chance = random.Random(seed)
    with fixture() as host:
        for _ in range(30):
            host.start()
            before = len(host.answered)
            killer = threading.Thread(target=kill_after, daemon=True, args=(
                host, before + chance.randrange(20), chance.uniform(0, 0.01)))
            killer.start()
            while host.put(100):
                pass
            host.process.wait()
            killer.join()
            check(set(host.answered) <= set(host.record()) | host.stored(), "all that was answered")
            print(f"{len(host.answered) - before} answers", end=" ", flush=True)
        print()
        host.start()
        until(lambda: not host.ask("SELECT 1 FROM piece"), "an empty file")
        check(host.has_all(), "all that was answered")
        check_order(host)
        check(len(host.answered) > 100, f"too few answers: {len(host.answered)}")
        check(host.stop() == 0, "the exit code")


def test_nothing_taken_is_removed_before_it_is_done():
    """promise B81: the pool takes pieces and cannot write them."""
    with tempfile.TemporaryDirectory() as work:
        disk = disks.Disk(os.path.join(work, "disk"), "1m")
        host = Fixture(work, pools=RECORD.replace("WORK/record", "WORK/disk/record"))
        try:
            disk.fill()
            host.start()
            check(host.put(50), "puts")
            until(lambda: host.logged("file cannot be written"), "a worker that waits")
            host.stop(9)
            check(set(host.answered) <= host.stored(), "all pieces")
            disk.free()
            host.start()
            with_disk = os.path.join(work, "disk/record")
            until(lambda: not host.ask("SELECT 1 FROM piece"), "an empty file")
            check(len(set(open(with_disk, "rb").read().split())) >= 50, "all numbers")
            check(host.stop() == 0, "the exit code")
        finally:
            host.stop(9)
            disk.unmount()


def test_full_disk():
    """promise B82: 6 MiB"""
    with small_disk("6m") as (host, disk):
        host.start()
        check(host.put(10, size=1000), "puts with room")
        until(host.has_all, "the first numbers")
        disk.fill()
        os.truncate(disk.fill_path, os.path.getsize(disk.fill_path) // 4096 * 4096 - 16384)
        putter = threading.Thread(target=host.put, args=(3000, 10000), daemon=True)
        putter.start()
        until(lambda: host.logged("pieces cannot be stored"), "an error in the log")
        answers = len(host.answered)
        check(answers < 3000, "answers on a full disk")
        disk.free()
        putter.join()
        until(host.has_all, "all numbers")
        check(len(host.answered) == 3010, f"{len(host.answered)} answers")
        check_order(host)
        check(len(host.record()) == len(set(host.record())), "a number twice")
        check(host.logged("pieces are stored again") > 0, "the log has the end of it")
        check(host.json("status", "in")["dead"] == 0, "a dead message")
        check(host.stop() == 0, "the exit code")


def test_disk_down_to_min_free():
    """promise B82: nothing is tried, so no write fails, and the log says it all the same."""
    with fixture() as host:
        host.configure(free="1024TiB")
        host.start()
        putter = threading.Thread(target=host.put, args=(20,), daemon=True)
        putter.start()
        until(lambda: host.logged("pieces cannot be stored"), "an error in the log")
        until(lambda: host.logged("no room above `min_free`"), "its reason")
        check(host.json("inspect", "in#0")["items"]["store"] == "trouble", "the item")
        check(not host.answered, "answers")
        host.configure()
        check(host.run("reload").returncode == 0, "a reload")
        putter.join()
        until(host.has_all, "all numbers")
        until(lambda: host.logged("pieces are stored again"), "the log has the end of it")
        check(host.record() == list(range(1, 21)), "each number once, in order")
        check(host.stop() == 0, "the exit code")


def test_disk_that_is_full_of_its_own_file():
    """promise B82: the room of what was removed goes back to the disk."""
    with small_disk("24m", takes=False) as (host, _disk):
        host.configure(free="12MiB")
        host.start()
        putter = threading.Thread(target=host.put, args=(2000, 10000), daemon=True)
        putter.start()
        until(lambda: host.logged("no room above `min_free`"), "an error in the log")
        host.takes = True
        host.configure(free="12MiB")
        check(host.run("reload").returncode == 0, "a reload with a take")
        until(lambda: len(host.answered) == 2000, "all answers")
        until(host.has_all, "all numbers")
        check(host.stop() == 0, "the exit code")


def test_full_queue():
    """promise B82"""
    with small_disk("6m", takes=False) as (host, _disk):
        host.configure(more=", bytes: 1MiB, piece_max: 1MiB")
        host.start()
        putter = threading.Thread(target=host.put, args=(1000, 10000), daemon=True)
        putter.start()
        until(lambda: host.json("inspect", "in#0")["items"]["store"] == "full", "a full queue")
        check(host.ask("SELECT sum(length(payload)) <= 1048576 FROM piece") == [(1,)], "bytes")
        host.configure(more=", bytes: 1MiB, piece_max: 1MiB, limit: 1")
        check(host.run("reload").returncode == 0, "a reload")
        host.takes = True
        host.configure(more=", limit: 5")
        check(host.run("reload").returncode == 0, "a reload with a take")
        until(lambda: len(host.answered) == 1000, "all answers")
        until(host.has_all, "all numbers")
        check(host.stop() == 0, "the exit code")


def test_lost_files():
    """promise B82: the WAL is unlinked, and the file is away for a while."""
    with fixture() as host:
        host.start()
        check(host.put(10), "puts")
        os.unlink(f"{host.work}/jobs-wal")
        check(host.put(10), "puts after the WAL was unlinked")
        until(host.has_all, "all numbers")
        os.rename(f"{host.work}/jobs", f"{host.work}/away")
        putter = threading.Thread(target=host.put, daemon=True)
        putter.start()
        until(lambda: host.logged("the file was removed or replaced"), "an error in the log")
        check(len(host.answered) == 20, "an answer without the file")
        os.rename(f"{host.work}/away", f"{host.work}/jobs")
        putter.join()
        until(host.has_all, "all numbers")
        until(lambda: not host.ask("SELECT 1 FROM piece"), "an empty file")
        check(host.record() == host.answered, "each number once, in order")
        check(host.stop() == 0, "the exit code")


def test_two_hosts():
    """promise B83"""
    with fixture() as host, fixture() as other:
        host.start()
        other.place = host.place
        other.configure()
        other.start()
        check(other.process.wait() != 0, "a second host starts")
        check(other.logged(f"process {host.process.pid} has it"), "the PID of the first host")
        check(host.put(), "the first host works on")
        until(host.has_all, "its number")


def make_foreign(path, statements):
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.executescript(statements)


FOREIGN = {
    "it is no file of SQLite": lambda path: open(path, "wb").write(b"text" * 100),
    "it is a file of another program": lambda path: make_foreign(path, "CREATE TABLE t(x);"),
    "it has format 3, of a newer version than this": lambda path: make_foreign(
        path, "PRAGMA application_id=0x57656972; PRAGMA user_version=3; CREATE TABLE t(x);"),
    "it has format 1, of an older version than this": lambda path: make_foreign(
        path, "PRAGMA application_id=0x57656972; PRAGMA user_version=1; CREATE TABLE t(x);"),
    "it is a symbolic link": lambda path: os.symlink("/nowhere", path),
    "it is no plain file": os.mkfifo,
    "it has more than one name": lambda path: (open(path, "wb").close(),
                                               os.link(path, path + ".too")),
}


def digest(path):
    if not os.path.isfile(path):
        return os.lstat(path).st_mode
    with open(path, "rb") as stream:
        return hashlib.sha256(stream.read()).hexdigest()


def check_refused(host, path, reason):
    before = digest(path)
    host.start()
    check(host.process.wait() != 0 and host.logged(reason), f"refused: {reason}")
    check(digest(path) == before, f"unchanged: {reason}")
    wal = path + "-wal"
    check(not os.path.exists(wal) or not os.path.getsize(wal), f"a WAL: {reason}")


def test_foreign_files():
    """promise B83"""
    for reason, make in FOREIGN.items():
        with fixture() as host:
            make(f"{host.work}/jobs")
            check_refused(host, f"{host.work}/jobs", reason)
            check(host.logged(f"an argument is not valid: {reason}\n"), f"in full: {reason}")
    with fixture() as host:
        os.mkdir(f"{host.work}/jobs.lock")
        host.start()
        check(host.process.wait() != 0, "a host without a lock")
        check(host.logged("an argument is not valid: its lock: Is a directory\n"), "the reason")
    with fixture(takes=False) as host:
        host.start()
        check(host.put(200), "puts")
        check(host.stop() == 0, "the exit code")
        check(os.stat(f"{host.work}/jobs").st_mode & 0o777 == 0o600, "the mode")
        with open(f"{host.work}/jobs", "r+b") as stream:
            for page in range(1, os.path.getsize(f"{host.work}/jobs") // 4096):
                stream.seek(page * 4096)
                stream.write(b"\xff" * 64)
        check_refused(host, f"{host.work}/jobs", "it is damaged")


def test_file_that_another_program_locks():
    """promise B83"""
    with fixture(takes=False) as host:
        host.start()
        check(host.put(), "puts")
        check(host.stop() == 0, "the exit code")
        with contextlib.closing(sqlite3.connect(f"{host.work}/jobs")) as file:
            file.execute("PRAGMA locking_mode=EXCLUSIVE")
            file.execute("BEGIN EXCLUSIVE")
            host.start()
            check(host.process.wait() != 0, "a host without the file")
        check(host.logged("an argument is not valid: SQLite: database is locked"), "the reason")
        host.start()
        check(host.put(), "it puts again")


def test_dead_pieces():
    """promise B84"""
    with fixture(pools=REFUSE) as host:
        host.start()
        check(host.put(60), "puts")
        until(lambda: not host.ask("SELECT 1 FROM piece WHERE state<>2"), "settled pieces")
        dead = host.ask("SELECT CAST(payload AS TEXT), reason, detail, attempt, name FROM piece")
        check({int(row[0]) for row in dead} == set(host.answered) - set(host.record()) and dead,
              "a number is either dead or recorded")
        check({row[1:4] for row in dead} == {("rejected", "by its key", 1)}, f"{dead[:1]}")
        host.stop()
        with open(f"{host.work}/dead", encoding="utf-8") as stream:
            letters = stream.read()
        check(all(f"piece {row[4]} of queue t in" in letters for row in dead), "the labels")


def test_reloads_under_load():
    """promise B80: live options, and those for which workers are opened again"""
    with small_disk("24m") as (host, _disk):
        is_over = threading.Event()

        def put():
            while not is_over.is_set():
                check(host.put(10), "puts")

        host.start()
        putter = threading.Thread(target=put, daemon=True)
        putter.start()
        for turn in range(12):
            options = (", limit: %d" % (100 + turn), ", window: %d" % (1 + turn),
                       ", sync: %s" % ("normal" if turn % 2 else "full"))[turn % 3]
            host.configure(more=options, taken=", window: %d" % (10 + turn // 2))
            answer = host.run("reload")
            check(answer.returncode == 0, f"reload: {answer.stdout} {answer.stderr}")
        is_over.set()
        putter.join()
        until(host.has_all, "all numbers")
        check(host.record() == host.answered, "each number once, in order")
        check(host.stop() == 0, "the exit code")


def reload(host, taken="", take_file="jobs"):
    host.take_file = take_file
    host.configure(taken=taken)
    answer = host.run("reload")
    check(answer.returncode == 0, f"reload: {answer.stdout} {answer.stderr}")


def test_reload_of_what_a_take_reads():
    """promise B80: the old source ends with its messages settled, and the new one goes on"""
    with fixture() as host:
        host.start()
        for taken, take_file in (("", "jobs"), (", sync: normal", "jobs"), ("2", "jobs"),
                                 ("", "jobs"), ("", "other"), ("", "jobs")):
            reload(host, taken, take_file)
            check(host.put(20), "puts")
            elsewhere = taken == "2" or take_file != "jobs"
            if elsewhere:
                check(set(host.answered[-20:]) <= host.stored(), "nobody takes from the queue")
            else:
                until(host.has_all, "all numbers")
        check(os.path.exists(f"{host.work}/other"), "the other file")
        check(host.record() == host.answered, "each number once, in order")
        check(host.stop() == 0, "the exit code")


def test_retry_waits_over_a_restart():
    """promise B87: also while the host is not there"""
    pools = "  record: {use: exec.run, size: 1, args: {shell: true, command: [exit 75]," \
            " retry_after: 1h}}\n"
    with fixture(pools=pools) as host:
        host.start()
        check(host.put(), "a put")
        until(lambda: host.ask("SELECT attempt, delay FROM piece WHERE state=1") == [(2, 3600000)],
              "a retry that waits")
        due = host.ask("SELECT due FROM piece")
        for how in (9, 15):
            host.stop(how)
            host.start()
            until(lambda: host.json("inspect", "work")["items"]["queue_length"] == "1", "a start")
            check(host.ask("SELECT state, attempt, due FROM piece") == [(1, 2, due[0][0])],
                  "it waits for the same time")
        check(host.stop() == 0, "the exit code")


def test_options_that_are_missing_are_refused():
    """As `weir check` says."""
    with fixture() as host:
        host.configure(more=", crashes: 3")
        answer = host.run("check", host.file)
        check(answer.returncode != 0 and re.search(r"\bcrashes\b", answer.stderr + answer.stdout),
              f"{answer}")


if __name__ == "__main__":
    os.environ["WEIR_PLUGIN_PATH"] = os.path.join(PLUGINS, "../tests/plugins")  # of relay
    sys.exit(run_tests(globals()))
