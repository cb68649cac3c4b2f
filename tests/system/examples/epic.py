#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The test of examples/epic: see epic.sh. Hosts with a real database: the pool has no workers, gets
some, loses all; another connection locks the database, so workers and master fail; the host is
killed, stopped and reloaded in the middle. The results are compared with a fingerprint of our own.
Every wait is for a condition.

    epic.py WEIR WORK
"""
import collections
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time

WEIR, WORK = sys.argv[1:3]
DOCUMENTS, RATE, BATCH = 4000, 400, 20
EMPTY = (7, 1000, DOCUMENTS)  # no words: these fail
DATABASE = os.path.join(WORK, "documents.db")
ALL = "all: SELECT id FROM documents"
LONGEST = "10m"               # of a request: never reached


def check(holds, what):
    if not holds:
        sys.exit(f"FAIL: {what}")


def until(condition, what):
    limit = float(os.environ.get("WEIR_TEST_WAIT_LIMIT_MS") or 0) / 1000
    begun = time.monotonic()
    while not condition():
        if limit and time.monotonic() - begun > limit:
            with open(os.path.join(WORK, "host.log"), encoding="utf-8") as log:
                sys.exit(f"FAIL: this wait has no end: {what}: {log.read()[-4000:]}")
        time.sleep(0.02)


# --- the database --------------------------------------------------------------------------------

def text_of(number):
    if number in EMPTY:
        return " \n " if number == 7 else ""
    return f"the pond {number % 97} " * (2000 if number % 200 == 0 else 7) + f"of weir {number}"


def hash_of(word):
    value = 14695981039346656037
    for byte in word.encode():
        value = (value ^ byte) * 1099511628211 % 2**64
    return value


def fingerprint(text):
    words = collections.Counter(text.split())
    hashes = {word: hash_of(word) for word in words}
    bits = (sum(count if hashes[word] >> bit & 1 else -count for word, count in words.items())
            for bit in range(64))
    value = sum((one > 0) << bit for bit, one in enumerate(bits))
    return value - 2**64 if value >= 2**63 else value


def make_database():
    with sqlite3.connect(DATABASE) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE documents (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
        database.execute("CREATE TABLE fingerprints (id INTEGER PRIMARY KEY, fingerprint INTEGER)")
        database.executemany("INSERT INTO documents VALUES (?, ?)",
                             ((number, text_of(number)) for number in range(1, DOCUMENTS + 1)))


def select(sql):
    database = sqlite3.connect(DATABASE, timeout=60)
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


def is_finished(name):
    return select(f"SELECT finished FROM epics WHERE name = '{name}'") == [(1,)]


# --- the host ------------------------------------------------------------------------------------

class Host:
    """With the example's file, changed; `rate` 0 = none."""

    def __init__(self, size, rate, batch=BATCH):
        self.file = os.path.join(WORK, "epic.yaml")
        self.log = os.path.join(WORK, "host.log")
        self.socket = os.path.join(WORK, "sock")
        self.write(size, rate, batch)
        self.environment = {**os.environ, "EPIC_DATABASE": DATABASE, "EPIC_CONTROL": self.socket,
                            "WEIR_CONTROL": self.socket}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([WEIR, "run", self.file], env=self.environment,
                                            stdout=log, stderr=log)
        until(lambda: self.has_logged('event="started"'), "the start")

    def write(self, size, rate, batch):
        with open(os.path.join(WORK, "epic", "epic.yaml"), encoding="utf-8") as stream:
            text = stream.read()
        text = re.sub("size: 4", f"size: {size}", text)
        text = text.replace("args: {database", "args: {busy: 100ms, database")
        text = re.sub(r'(use: epic.master\n +args: \{.*")\}', rf"\1, batch: {batch}}}", text)
        text += f'    rate: "{rate}/1s"\n' if rate else ""
        check(f"batch: {batch}" in text and f"size: {size}" in text, text)
        with open(self.file + ".new", "w", encoding="utf-8") as stream:
            stream.write(text)
        os.rename(self.file + ".new", self.file)

    def has_logged(self, pattern):
        check(self.process.poll() is None, f"the host ended: {self.text()}")
        return re.search(pattern, self.text())

    def text(self):
        with open(self.log, encoding="utf-8") as stream:
            return stream.read()

    def run(self, *arguments):
        return subprocess.run([WEIR, *arguments], env=self.environment, capture_output=True,
                              text=True, check=False)

    def ask(self, epic):
        """A client that waits in the background."""
        return subprocess.Popen([WEIR, "request", "master", "--timeout", LONGEST, epic],
                                env=self.environment, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def master(self):
        return json.loads(self.run("inspect", "master", "-o", "json").stdout)["items"]

    def work(self):
        return json.loads(self.run("status", "work", "-o", "json").stdout)

    def done(self):
        """0 also while a new master opens."""
        return int(self.master().get("epic_done", 0))

    def reaches(self, done):
        until(lambda: self.done() >= done, f"{done} pieces")
        check(not is_finished("all"), f"the Epic is over before a step of the test: {self.text()}")

    def end(self, number, code):
        self.process.send_signal(number)
        check(self.process.wait() == code, f"exit code {self.process.returncode}: {self.text()}")
        check("balance=wrong" not in self.text(), self.text())


def expect(client, code, text):
    out, err = client.communicate()
    check(client.returncode == code and text in out + err,
          f"exit code {client.returncode}, not {code}: {out}{err}")


def test_it_refuses_what_it_cannot_do(host):
    answer = host.run("request", "master", ALL)
    check(answer.returncode == 65 and "NoWorkers" in answer.stderr, f"{answer}")
    check(host.run("scale", "work", "2", "--wait").returncode == 0, "two workers register")
    host.run("pause", "work")
    clients = [host.ask(ALL)]
    until(lambda: host.master()["epic"] == "all", "the Epic")
    answer = host.run("request", "master", "other: SELECT id FROM documents")
    check(answer.returncode == 65 and "CurrentlyBusy with all" in answer.stderr, f"{answer}")
    clients.append(host.ask(ALL))
    until(lambda: host.master()["waiting"] == "2", "the same Epic again")
    host.run("resume", "work")
    return clients


def test_workers_come_and_go(host):
    host.reaches(2 * BATCH)
    host.run("scale", "work", "5")
    host.run("scale", "work", "0", "--wait")
    until(lambda: host.work()["live"] == 0 and host.work()["in_hand"] == 0, "the last has left")
    check(not is_finished("all"), "the Epic is over")
    check(host.run("scale", "work", "3", "--wait").returncode == 0, "three workers register")
    for size in (2, 5, 0, 3):
        check(host.has_logged(rf'component=work event="resized" .*size={size} .*by=operator'),
              f"the log does not say who asked for {size} workers: {host.text()}")


def has_failed(host, component):
    return host.has_logged(rf'component={component} event="worker failed" '
                           r'reason="database is locked"')


def have_both_failed(host):
    return has_failed(host, "master") and has_failed(host, r"work#\d")


def lock_for_some_failures(host):
    """The workers fail at once; the master only when it has something to write."""
    before = host.work()["restarts"]
    lock = sqlite3.connect(DATABASE, timeout=60, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    until(lambda: have_both_failed(host) or host.work()["restarts"] >= before + 9, "failures")
    lock.close()


def test_a_locked_database_loses_no_piece(host, clients):
    """The workers and the master fail. A waiting requester gets an error, and tries again."""
    host.reaches(10 * BATCH)
    while not have_both_failed(host):
        lock_for_some_failures(host)
        host.reaches(host.done() + 1)
    for client in clients:
        expect(client, 70, "failed")
    again = host.ask(ALL)
    until(lambda: host.master().get("waiting") == "1", "a client that asks again")
    return again


def test_results():
    failed = len(EMPTY)
    check(select("SELECT done, failed FROM epics WHERE name = 'all'") ==
          [(DOCUMENTS - failed, failed)], select("SELECT * FROM epics"))
    check(select("SELECT id, reason FROM failures WHERE epic = 'all' ORDER BY id") ==
          [(number, "no words") for number in EMPTY], select("SELECT * FROM failures"))
    found = dict(select("SELECT * FROM fingerprints"))
    wanted = {number: fingerprint(text_of(number)) for number in range(1, DOCUMENTS + 1)
              if number not in EMPTY}
    check(found == wanted, f"{len(found)} fingerprints of {len(wanted)}")


def test_a_stop_leaves_the_rest_to_the_next_host(host):
    """The client gets an error, and the next host goes on by itself."""
    host.run("pause", "work")
    client = host.ask("rest: SELECT id FROM documents WHERE id % 2")
    until(lambda: host.master()["waiting"] == "1", "the Epic")
    host.end(signal.SIGTERM, 0)
    expect(client, 65, "the master leaves")
    host = Host(2, 0)
    until(lambda: is_finished("rest"), "the next host")
    return host


def test_a_reload_of_the_master_goes_on(host):
    host.run("pause", "work")
    client = host.ask("last: SELECT id FROM documents WHERE id < 300")
    until(lambda: host.master()["waiting"] == "1", "the Epic")
    host.write(2, 0, BATCH + 1)
    check(host.run("reload").returncode == 0, f"the reload: {host.text()}")
    expect(client, 65, "the master leaves")
    host.run("resume", "work")
    expect(host.ask("last: SELECT id FROM documents WHERE id < 300"), 0, "last: 298 done, 1 failed")


def main():
    make_database()
    host = Host(0, RATE)
    clients = test_it_refuses_what_it_cannot_do(host)
    test_workers_come_and_go(host)
    client = test_a_locked_database_loses_no_piece(host, clients)
    host.reaches(20 * BATCH)
    host.end(signal.SIGKILL, -signal.SIGKILL)
    client.communicate()
    check(client.returncode != 0, "a client of a host that was killed")
    host = Host(3, 0)
    expect(host.ask(ALL), 0, f"all: {DOCUMENTS - len(EMPTY)} done, {len(EMPTY)} failed")
    test_results()
    expect(host.ask(ALL), 0, "all: ")  # it is over: nothing is done again
    host = test_a_stop_leaves_the_rest_to_the_next_host(host)
    test_a_reload_of_the_master_goes_on(host)
    host.end(signal.SIGTERM, 0)


if __name__ == "__main__":
    main()
