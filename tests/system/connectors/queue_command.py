#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   `weir queue` shows the pieces of a file, copies it and checks it, beside a host and
        without one; it replays and deletes pieces through the host that has the file, or with its
        lock. Mistakes are refused, and change nothing. Shows promises B107, B108 and B109.
Method: real hosts, real commands. `weir send` gives texts to queue.put; a pool rejects the
        pieces, and in the end records them. Another connection reads the file, and compares. Every
        wait is for a condition.

    queue_command.py WEIR PLUGINS TREE
"""
import base64
import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import sqlite3
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time

from control import PLUGINS, WEIR, Host, check, run_tests, until

PUT = "sources: {TAKE}\n" \
      "pools:\n  in: {use: queue.put, size: 1, args: {file: WORK/jobs, queue: t, min_free: 0}}\n"
TAKE = "taker: {use: queue.take, args: {file: WORK/jobs, queue: t}, to: work}"
REJECT = "  work: {use: relay.pass, size: 1, args: {rejects_each: 1}, outputs: {out: record}}\n" \
         "  record: {use: file.append, args: {path: WORK/record}}\n"
RECORD = "  work: {use: file.append, size: 1, args: {path: WORK/record}}\n"
STAY = "  work: {use: exec.run, size: 1, mailbox: unbuffered, route: pull," \
       " args: {command: [sleep, '1000']}}\n"
LATER = "  work: {use: exec.run, size: 1, args: {shell: true, command: [exit 75]," \
        " retry_after: 1h}}\n"


DELETE, REFUSED = 2, 1  # of order.h
RECEIVES = ("45", "47", "207", "212")  # recvfrom, recvmsg of x86_64 and arm64


class Fixture(Host):
    def __init__(self, work):
        super().__init__(work)
        self.path = os.path.join(work, "jobs")

    def configure(self, pools=None):
        text = PUT.replace("TAKE", TAKE if pools else "") + (pools or "")
        self.write(text.replace("WORK", self.work),
                   more=f', dead_letters: {{file: "{self.work}/dead"}}')

    def put(self, *texts, pools=None, binary=()):
        """Starts a host that puts these."""
        lines = b"".join(line + b"\n" for line in (*(text.encode() for text in texts), *binary))
        self.configure(pools)
        self.start()
        if lines:
            subprocess.run([WEIR, "send", "in", "--control", self.socket], input=lines, check=True,
                           capture_output=True)

    def ask(self, sql):
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as file:
            return file.execute(sql).fetchall()

    def has(self, count, state=None):
        """Until the file has so many pieces, of this state."""
        where = "" if state is None else f" WHERE state={state}"
        until(lambda: os.path.exists(self.path) and self.tables() and
              self.ask(f"SELECT count(*) FROM piece{where}") == [(count,)], f"{count} pieces")

    def tables(self):
        return self.ask("SELECT 1 FROM sqlite_schema WHERE name='seen_until'")

    def queue(self, *arguments, code=0):
        answer = self.run("queue", self.path, *arguments, "--plugins", PLUGINS)
        check(answer.returncode == code, f"{arguments}: {answer.returncode}, not {code}: "
              f"{answer.stdout[:300]} {answer.stderr[:300]}")
        return answer

    def told(self, *arguments):
        return json.loads(self.queue(*arguments, "-o", "json").stdout)

    def numbers(self):
        return [row[0] for row in self.ask("SELECT id FROM piece ORDER BY id")]

    def record(self):
        try:
            with open(os.path.join(self.work, "record"), encoding="utf-8") as stream:
                return stream.read().split()
        except FileNotFoundError:
            return []


@contextlib.contextmanager
def fixture():
    with tempfile.TemporaryDirectory() as work:
        host = Fixture(work)
        try:
            yield host
        finally:
            host.stop(9)


def look(host):
    """All that only looks."""
    list_ = host.told("list")["pieces"]
    dead = host.told("dead")["pieces"]
    exported = [json.loads(line) for line in host.queue("export").stdout.splitlines()]
    stats = host.told("stats")
    check(host.queue("check").stdout == "ok\n", "a check")
    check(host.told("check") == {"problems": []}, "a check as JSON")
    return list_, dead, exported, stats


def test_looks_beside_a_host_and_without_it():
    """promise B107"""
    with fixture() as host:
        host.put("one", "t\"w\\o\u2028", binary=(b"\xff\x00\x01",), pools=REJECT)
        host.has(3, state=2)
        beside = look(host)
        check(beside[3]["host"] == host.process.pid, "the process that has the file")
        check("process %d has it" % host.process.pid in host.queue("stats").stdout, "its PID")
        host.stop(9)
        for _ in range(2):  # with the WAL of a killed host, and after it was read
            without = look(host)
            check(without[:3] == beside[:3], "the same without a host")
            check(without[3]["host"] is None, "no process")
        list_, dead, exported, stats = beside
        check(list_ == dead and len(list_) == 3, "all are dead")
        check({p["reason"] for p in dead} == {"rejected"}, f"{dead}")
        check([p["detail"] for p in dead] == ["by its key"] * 3, f"{dead}")
        check([p["payload"] for p in exported[:2]] == ["one", "t\"w\\o\u2028"], f"{exported}")
        check(base64.b64decode(exported[2]["payload_base64"]) == b"\xff\x00\x01", f"{exported}")
        check(stats["queues"] == [{"pieces": 3, "queue": "t", "ready": 0, "later": 0, "dead": 3,
                                   "bytes": 14, "oldest": None}], f"{stats}")
        check(stats["file_bytes"] == os.path.getsize(host.path), "the size of the file")


def test_text_is_safe_and_has_all():
    """promise B107"""
    with fixture() as host:
        host.put("\x1b[31mred", "x" * 5000)
        host.has(2)
        first, second = host.numbers()
        shown = host.queue("show", str(first), str(second)).stdout
        check("\\x1b[31mred" in shown and "\x1b" not in shown, "an escape that is escaped")
        check(shown.count("x" * 2048) == 1 and "(2048 of 5000)" in shown, "the start of a payload")
        rows = host.queue("list").stdout.splitlines()
        check(len(rows) == 3 and rows[1].split()[:4] == [str(first), "ready", "1", "8"], f"{rows}")
        check("ready" in shown and "queue    t" in shown, "the fields")
        one = host.told("show", str(first))
        check(one["payload"] == "\x1b[31mred" and one["made"].endswith("Z"), f"{one}")
        check(host.queue("dead").stdout == "", "no dead pieces")
        check(host.told("list", "--state", "dead") == {"pieces": []}, "none of this state")
        check(len(host.told("list", "--state", "ready", "-q", "t")["pieces"]) == 2, "a queue")


def test_long_lists_hold_no_reader():
    """promise B107: more than a batch, into a pipe that nobody reads; the host goes on."""
    with fixture() as host:
        host.put(*(str(number) for number in range(3000)))
        host.has(3000)
        with subprocess.Popen([WEIR, "queue", host.path, "export", "-p", PLUGINS],
                              stdout=subprocess.PIPE, text=True) as command:
            first = command.stdout.readline()
            check(json.loads(first)["payload"] == "0", f"the first piece: {first}")
            host.queue("delete", str(host.numbers()[-1]))
            with contextlib.closing(sqlite3.connect(host.path)) as file:
                busy = file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                check(busy == 0, "a slow reader of the output holds the WAL")
            rest = command.stdout.read().splitlines()
        check([json.loads(line)["payload"] for line in rest] == [str(n) for n in range(1, 2999)],
              "all others, in order")


def replay_and_record(host, *numbers):
    host.queue("replay", *numbers)
    until(lambda: not host.ask("SELECT 1 FROM piece WHERE state=0"), "an end of all")


def test_replay_through_the_host():
    """promise B108: the pool is another one now, so what was rejected is recorded."""
    with fixture() as host:
        host.put(*(str(number) for number in range(20)), pools=REJECT)
        host.has(20, state=2)
        numbers = [str(number) for number in host.numbers()]
        host.configure(RECORD)
        check(host.run("reload").returncode == 0, "a reload")
        check(host.queue("replay", numbers[3]).stdout == "replayed 1 piece\n", "the answer")
        until(lambda: host.record() == ["3"], "the piece in the record")
        check(host.told("replay", numbers[7], numbers[5]) == {"replayed": 2}, "two pieces")
        until(lambda: sorted(host.record()) == ["3", "5", "7"], "pieces in the record")
        check(host.queue("replay", "--all").stdout == "replayed 17 pieces\n", "the rest")
        host.has(0)
        check(sorted(map(int, host.record())) == list(range(20)), "each number once")
        check(host.queue("replay", "--all").stdout == "replayed 0 pieces\n", "nothing is left")
        check(host.json("inspect", "taker")["items"]["queue_length"] == "0", "the figures")
        check(host.stop() == 0, "the exit code")


def test_replay_without_a_host():
    """promise B108: more than one order, as the first attempt"""
    with fixture() as host:
        host.put(*(str(number) for number in range(1500)), pools=REJECT)
        host.has(1500, state=2)
        host.stop(9)
        check(host.queue("replay", "--all", "-q", "t").stdout == "replayed 1500 pieces\n", "all")
        check(host.ask("SELECT count(*), state, attempt, reason, detail FROM piece") ==
              [(1500, 0, 1, None, None)], "ready pieces")
        check(sorted(os.listdir(host.work)).count("jobs.sock") <= 1, "files")
        host.configure(RECORD)
        host.start()
        host.has(0)
        check(sorted(map(int, host.record())) == list(range(1500)), "each number once")
        check(not host.stop() and not os.path.exists(host.path + ".sock"), "a socket is left")


def test_delete():
    """promise B108: through the host and without it; the queue has room again"""
    with fixture() as host:
        host.put(*"abcdef", pools=REJECT)
        host.has(6, state=2)
        numbers = [str(number) for number in host.numbers()]
        check(host.queue("delete", numbers[0], numbers[1]).stdout == "deleted 2 pieces\n", "two")
        until(lambda: host.json("inspect", "taker")["items"]["queue_length"] == "4", "the figures")
        host.stop()
        check(host.told("delete", numbers[2]) == {"deleted": 1}, "one without a host")
        figures = host.ask("SELECT pieces, bytes FROM queue")
        check(figures == [(3, 3)], f"the figures in the file: {figures}")
        check(host.queue("delete", "--all").stdout == "deleted 3 pieces\n", "the rest")
        check(host.queue("check").stdout == "ok\n" and not host.numbers(), "an empty file")


def test_piece_that_a_worker_has_is_not_deleted():
    """promise B108"""
    with fixture() as host:
        host.put("a", "b", pools=STAY)
        until(lambda: host.json("inspect", "taker")["items"]["taken"] == "1", "a piece in hand")
        until(lambda: host.json("inspect", "taker")["items"]["waiting"] == "1", "the next one")
        first, second = host.numbers()
        answer = host.queue("delete", str(first), str(second), code=65)
        check(f"in hand: piece {first}" in answer.stderr, answer.stderr)
        check("deleted 0 pieces" in answer.stdout and len(host.numbers()) == 2, "both are there")


def test_waiting_retry_is_seen_and_deleted():
    """promise B108"""
    with fixture() as host:
        host.put("a", pools=LATER)
        host.has(1, state=1)
        piece, = host.told("list")["pieces"]
        check(piece["state"] == "later" and piece["due"] and piece["attempt"] == 2, f"{piece}")
        answer = host.queue("replay", str(piece["number"]), code=65)
        check("not dead: piece" in answer.stderr, answer.stderr)
        host.queue("delete", str(piece["number"]))
        host.has(0)
        check(host.stop() == 0, "the exit code")


def test_backup_beside_a_host():
    """promise B109: a host can start with the copy."""
    with fixture() as host, fixture() as other:
        host.put(*"abc", pools=REJECT)
        host.has(3, state=2)
        host.queue("backup", other.path)
        check(stat.S_IMODE(os.stat(other.path).st_mode) == 0o600, "its mode")
        check(host.queue("backup", other.path, code=73).stderr.endswith("File exists\n"), "again")
        check(other.queue("export").stdout == host.queue("export").stdout, "the same pieces")
        check(host.stop() == 0, "the exit code")
        other.put(pools=RECORD)
        other.queue("replay", "--all")
        other.has(0)
        check(sorted(other.record()) == list("abc"), "the record of the other host")
        check(host.queue("backup", host.work + "/none/copy", code=73).stdout == "", "no folder")


def test_backup_to_a_name_that_means_more_to_the_library():
    with fixture() as host:
        host.put("a", pools=REJECT)
        host.has(1, state=2)
        check(host.stop() == 0, "the exit code")
        for name in (":memory:", "file:copy"):
            answer = subprocess.run([WEIR, "queue", "-p", PLUGINS, host.path, "backup", name],
                                    cwd=host.work, capture_output=True, text=True, check=False)
            copy = os.path.join(host.work, name)
            check(answer.returncode == 0 and os.path.getsize(copy) > 0, f"{name}: {answer}")


# A sanitizer maps terabytes, so that no program starts with a limit of addresses.
with open(WEIR, "rb") as program:
    HAS_SANITIZER = b"__asan_init" in program.read()
LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
os.execv(sys.argv[2], sys.argv[2:])
"""


def test_an_export_without_memory_fails():
    """No piece is missing where the exit code is 0. Shows promise B107."""
    codes = set()
    with fixture() as host:
        host.put(*"ab", pools=REJECT)
        host.has(2, state=2)
        check(host.stop() == 0, "the exit code")
        with contextlib.closing(sqlite3.connect(host.path)) as file, file:
            file.execute("UPDATE piece SET payload = zeroblob(?1) WHERE id = "
                         "(SELECT min(id) FROM piece)", (16 << 20,))
        for limit in range(16 << 20, 160 << 20, 8 << 20):
            answer = subprocess.run([sys.executable, "-c", LIMITED, str(limit), WEIR, "queue", "-p",
                                     PLUGINS, host.path, "export"], capture_output=True,
                                    check=False)
            codes.add(answer.returncode)
            check(answer.returncode != 0 or answer.stdout.count(b"\n") == 2,
                  f"{limit}: {len(answer.stdout)} bytes, {answer.stderr[:200]}")
    check(HAS_SANITIZER or {0, 70} <= codes, f"the limits meet no lack of memory: {codes}")


MISTAKES = (
    ((), 64, "takes a file and an action"),
    (("lisst",), 64, "did you mean list?"),
    (("list", "1"), 64, "takes nothing more"),
    (("list", "--all"), 64, "--all is not for list"),
    (("list", "-s", "lost"), 64, "ready, later or dead"),
    (("list", "-o", "xml"), 64, "text or json"),
    (("show",), 64, "needs numbers"),
    (("show", "one"), 64, "one is not the number of a piece"),
    (("show", "0"), 64, "not the number"),
    (("show", "-1"), 64, "no option"),
    (("show", "99999999999999999999"), 64, "not the number"),
    (("show", "12345"), 65, "there is no piece 12345"),
    (("replay",), 64, "numbers of pieces, or --all"),
    (("replay", "--all", "1"), 64, "numbers of pieces, or --all"),
    (("replay", "12345"), 65, "there is no piece 12345"),
    (("replay", "--all", "-q", "none"), 66, "there is no queue none"),
    (("list", "-q", "none"), 66, "there is no queue none"),
    (("dead", "-q", "none"), 66, "there is no queue none"),
    (("export", "-q", "none"), 66, "there is no queue none"),
    (("stats", "-q", "none"), 66, "there is no queue none"),
    (("delete",), 64, "numbers of pieces, or --all"),
    (("delete", "1x"), 64, "not the number"),
    (("delete", "-q", "t"), 64, "numbers of pieces, or --all"),
    (("backup",), 64, "needs one file"),
    (("check", "-q", "t"), 64, "--queue is not for check"),
)


def test_mistakes():
    """promises B107, B108: they change nothing, beside a host and without one."""
    with fixture() as host:
        host.put("a", pools=REJECT)
        host.has(1, state=2)
        for _ in range(2):
            for arguments, code, says in MISTAKES:
                answer = host.queue(*arguments, code=code)
                check(says in answer.stderr, f"{arguments}: {answer.stderr}")
            check(len(host.told("dead")["pieces"]) == 1, "the piece is as it was")
            host.stop()
        os.rename(host.path, host.path + ".away")
        for action in ("list", "check", "stats"):
            host.queue(action, code=66)
        host.queue("replay", "--all", code=66)
        check(not os.path.exists(host.path), "a file was made")
        with open(host.path, "w", encoding="utf-8") as stream:
            stream.write("text" * 100)
        for action in (("list",), ("check",), ("delete", "1")):
            check("no file of SQLite" in host.queue(*action, code=65).stderr, f"{action}")
        answer = subprocess.run([WEIR, "queue", host.path, "list"], check=False, text=True,
                                capture_output=True, env={**os.environ, "PATH": "/none"})
        check(answer.returncode in (65, 72), f"{answer}")


def test_damage_is_found():
    """promise B109"""
    with fixture() as host:
        host.put(*(str(number) * 50 for number in range(200)))
        host.has(200)
        check(host.stop() == 0, "the exit code")
        with contextlib.closing(sqlite3.connect(host.path)) as file, file:
            file.execute("UPDATE piece SET state=7 WHERE id=5")
        check(host.queue("check", code=65).stdout == "piece 5 has state 7\n", "a wrong state")
        check(host.queue("check", "-o", "json", code=65).stdout ==
              '{"problems": ["piece 5 has state 7"]}\n', "a wrong state as JSON")
        with open(host.path, "r+b") as stream:
            stream.seek(4096 * 6)
            stream.write(b"\xff" * 4096)
        answer = host.queue("check", code=65)
        check(answer.stdout or answer.stderr, "no word about the damage")


def test_process_that_does_not_answer():
    """promise B108: one has the lock of the file and no socket; or a socket without an answer."""
    with fixture() as host:
        host.put("a", pools=REJECT)
        host.has(1, state=2)
        check(host.stop() == 0, "the exit code")
        with open(host.path + ".lock", "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.truncate()
            lock.write(b"4711\n")
            lock.flush()
            answer = host.queue("replay", "--all", code=75)
            check("process 4711 has it" in answer.stderr, answer.stderr)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(host.path + ".sock")
            listener.listen()
            closer = threading.Thread(target=lambda: listener.accept()[0].close(), daemon=True)
            closer.start()
            answer = host.queue("replay", "--all", code=75)
            closer.join()
            check("did not answer" in answer.stderr, answer.stderr)
        check(host.ask("SELECT state FROM piece") == [(2,)], "the piece is as it was")
        host.queue("replay", "--all")
        check(host.ask("SELECT state FROM piece") == [(0,)], "the socket of a process that is gone")


def test_host_that_does_not_listen():
    """promise B108: its backlog is full."""
    with fixture() as host, contextlib.ExitStack() as stack:
        host.put("a", pools=REJECT)
        host.has(1, state=2)
        check(host.stop() == 0, "the exit code")
        listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        listener.bind(host.path + ".sock")
        listener.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                client = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
                client.setblocking(False)
                client.connect(host.path + ".sock")
        answer = host.queue("replay", "--all", code=75)
        check("does not listen" in answer.stderr and not answer.stdout, f"{answer}")


def test_order_of_a_client_that_went_is_dropped():
    """promise B108: the host is stopped while the command gives up."""
    with fixture() as host:
        host.put("a", "b", pools=REJECT)
        host.has(2, state=2)
        first, second = host.numbers()
        os.kill(host.process.pid, signal.SIGSTOP)
        try:
            with subprocess.Popen([WEIR, "queue", host.path, "delete", str(first), "-p", PLUGINS],
                                  stdout=subprocess.DEVNULL) as command:
                until(lambda: has_asked(command.pid), "an order at the socket")
                command.kill()
        finally:
            os.kill(host.process.pid, signal.SIGCONT)
        host.queue("delete", str(second))  # comes behind the first order
        check(host.numbers() == [first], "the order was carried out")


def has_asked(process):
    """It waits for the answer."""
    with open(f"/proc/{process}/syscall", encoding="ascii") as stream:
        call = stream.read().split()[0]
    return call in RECEIVES


def test_file_without_pieces():
    """promises B107, B108, B109: nothing is made of it, and its copy is a file as it is."""
    with fixture() as host, fixture() as other:
        with open(host.path, "w", encoding="ascii"):
            pass
        check(host.queue("replay", "--all").stdout == "replayed 0 pieces\n", "no pieces")
        for action in ("replay", "delete", "show", "export"):
            answer = host.queue(action, "1", code=65).stderr
            check("there is no piece 1" in answer, f"{action}: {answer}")
        for action in ("list", "dead", "export"):
            check("1" not in host.queue(action).stdout, f"{action}: a piece")
            check("there is no queue t" in host.queue(action, "-q", "t", code=66).stderr, action)
        check(host.told("stats")["queues"] == [], "a queue")
        check(host.queue("check").stdout == "ok\n", "a check")
        host.queue("backup", other.path)
        check(os.path.getsize(host.path) == 0, "a database was made")
        other.put("one")
        other.has(1)


def ask_socket(host, verb, until_ms, most=0, numbers=()):
    """Writes an order to the socket, as the command does. Returns status, pieces and error."""
    order = struct.pack("=4I3q136s1000q", 8176, verb, len(numbers), 0, 0, most, until_ms, b"t",
                        *numbers, *(0,) * (1000 - len(numbers)))
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        client.connect(host.path + ".sock")
        client.send(order)
        answer = struct.unpack("=4Iq256s", client.recv(4096)[:280])
    return answer[1], answer[2], answer[5].split(b"\0")[0].decode()


def now_ms():
    return int(time.monotonic() * 1000)


def test_order_that_comes_too_late_is_dropped():
    """promise B108"""
    with fixture() as host:
        host.put("a", pools=REJECT)
        host.has(1, state=2)
        number, = host.numbers()
        check(ask_socket(host, DELETE, now_ms() - 1, numbers=[number]) ==
              (REFUSED, 0, "nothing was done in time"), "an order of the past")
        check(host.numbers() == [number], "the order was carried out")
        check(ask_socket(host, DELETE, now_ms() + 60000, numbers=[number]) == (0, 1, ""), "another")
        check(not host.numbers(), "the piece is there")


def test_all_is_what_was_dead_at_the_beginning():
    """promise B108: the command names the last dead piece, and the host goes no further."""
    with fixture() as host:
        host.put("a", "b", pools=REJECT)
        host.has(2, state=2)
        first, second = host.numbers()
        check(ask_socket(host, DELETE, now_ms() + 60000, most=first) == (0, 1, ""), "one piece")
        check(host.numbers() == [second], "the second one died later")
        check(host.stop() == 0, "the exit code")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(host.path + ".sock")
            listener.listen()
            with subprocess.Popen([WEIR, "queue", host.path, "replay", "--all", "-p", PLUGINS],
                                  stdout=subprocess.PIPE) as command:
                client = listener.accept()[0]
                order = struct.unpack("=4I3q", client.recv(9000)[:40])
                client.send(struct.pack("=4Iq256s1000s", 1280, 0, 7, 0, 0, b"", b""))
                client.close()
                check(command.stdout.read() == b"replayed 7 pieces\n", "the answer")
        check(order[5] == second, f"the last dead piece: {order}, not {second}")


def ask_unprivileged(host, *arguments, limit=None):
    """Root does without its rights: the modes of files hold for it, too. LIMIT: bytes of a file."""
    words = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    limits = ["prlimit", f"--fsize={limit}"] if limit else []
    return subprocess.run([*words, *limits, WEIR, "queue", "-p", PLUGINS, host.path, *arguments],
                          capture_output=True, text=True, check=False)


def test_exit_codes_of_files():
    """promise B108: what keeps the command from a file is told apart; nothing is changed."""
    with fixture() as host:
        host.put("a", pools=REJECT)
        host.has(1, state=2)
        check(host.stop() == 0, "the exit code")
        check(not os.path.exists(host.path + "-wal"), "a WAL, which is there to be written")
        os.chmod(host.work, 0o500)
        answer = ask_unprivileged(host, "replay", "--all")
        look = ask_unprivileged(host, "list")
        os.chmod(host.work, 0o700)
        check(answer.returncode == 77, f"a folder that nobody may write to: {answer}")
        check(look.returncode == 77 and "nothing can be written beside" in look.stderr, f"{look}")
        os.link(host.path, host.path + ".too")
        for action in (("list",), ("replay", "--all")):
            answer = host.queue(*action, code=65)
            check("more than one name" in answer.stderr, f"{answer}")
        os.unlink(host.path + ".too")
        full = ask_unprivileged(host, "replay", "--all", limit=100)
        check(full.returncode == 74 and "File too large" in full.stderr, f"a full disk: {full}")
        os.chmod(host.path, 0)
        for action in (("list",), ("replay", "--all")):
            answer = ask_unprivileged(host, *action)
            check(answer.returncode == 77, f"{action}: {answer}")
        os.chmod(host.path, 0o600)
        check(host.ask("SELECT state FROM piece") == [(2,)], "the piece is as it was")


def test_plugin_without_its_program():
    with fixture() as host:
        shutil.copy(os.path.join(PLUGINS, "queue.so"), host.work)
        answer = subprocess.run([WEIR, "queue", "-p", host.work, host.path, "list"], check=False,
                                capture_output=True, text=True)
        check(answer.returncode == 72 and "weir-queue: No such file" in answer.stderr, f"{answer}")


def test_socket_is_for_its_user():
    """promise B108"""
    with fixture() as host:
        host.put("a")
        host.has(1)
        mode = stat.S_IMODE(os.stat(host.path + ".sock").st_mode)
        check(mode == 0o600, f"the mode {mode:o}")
        for packet in (b"", b"x", b"\0" * 9000, b"\xff" * 20000):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
                client.connect(host.path + ".sock")
                with contextlib.suppress(BrokenPipeError):
                    client.send(packet)
                if packet:
                    check(b"another version" in client.recv(9000), "a wrong order is refused")
        check(len(host.told("list")["pieces"]) == 1, "the host goes on")
        check(host.stop() == 0, "the exit code")


if __name__ == "__main__":
    os.environ["WEIR_PLUGIN_PATH"] = os.path.join(PLUGINS, "../tests/plugins")  # of relay
    sys.exit(run_tests(globals()))
