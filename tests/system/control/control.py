#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a running host answers and obeys by its socket, by the commands and by HTTP, and
        nothing that anybody does there harms it. Shows promise R6, promise C6, promise C7,
        promise C8, promise C9, promise R17, promise L3 and promise L4.
Method: real hosts, real commands. Dead letters are made by removing workers that must discard
        their mailboxes, and sent again; in the end each number must have been recorded once.
        Every wait is for a condition.

    control.py WEIR PLUGINS TREE
"""
import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

WEIR, PLUGINS, TREE = sys.argv[1:4]
# What follows on the method and the path of a request.
REST = " HTTP/1.1\r\nHost: weir\r\n\r\n"
FAILURES = []
# No outcome of a passing test depends on it: see tests/system/support/wait.sh.
WAIT_LIMIT_S = float(os.environ.get("WEIR_TEST_WAIT_LIMIT_MS") or "inf") / 1000


def check(holds, what):
    if not holds:
        FAILURES.append(what)
        print(f"FAILED: {what}", flush=True)
    return holds


def once(pairs):
    """An object of JSON, none of whose keys comes twice."""
    check(len(dict(pairs)) == len(pairs), f"a key twice: {[key for key, _ in pairs]}")
    return dict(pairs)


def until(condition, what):
    """Looks again and again; the test's own time-out is the only clock, unless a limit is set."""
    begun = time.monotonic()
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() - begun > WAIT_LIMIT_S:
            sys.exit(f"FAILED: this wait has no end: {what}")
        time.sleep(0.01)


class Host:
    def __init__(self, work, name="weir"):
        self.work = work
        self.file = os.path.join(work, f"{name}.yaml")
        self.socket = os.path.join(work, f"{name}.sock")
        self.log = os.path.join(work, f"{name}.log")
        self.process = None

    def write(self, text, control=None, more=""):
        with open(self.file + ".new", "w", encoding="utf-8") as stream:
            stream.write("version: 1\n"
                         f'host: {{name: "test", plugins: ["{PLUGINS}"], '
                         f'control: "{control or self.socket}"{more}}}\n' + text)
        os.rename(self.file + ".new", self.file)

    def start(self, stdin=None):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([WEIR, "run", self.file], stdin=stdin, stdout=log,
                                            stderr=log)
        until(lambda: b'event="started"' in open(self.log, "rb").read() or
              self.process.poll() is not None, "the start")

    def stop(self, number=15):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait() if self.process else None

    def run(self, *arguments, variables=None):
        return subprocess.run([WEIR, *arguments], capture_output=True, text=True, check=False,
                              env={**os.environ, "WEIR_CONTROL": self.socket,
                                   **(variables or {})})

    def json(self, *arguments):
        answer = self.run(*arguments, "-o", "json")
        check(answer.returncode == 0, f"{arguments}: {answer.returncode} {answer.stderr}")
        return json.loads(answer.stdout, object_pairs_hook=once)

    def http(self, text, connection=None):
        """The status and the body of an answer to a request as it stands."""
        with connection or self.connect() as client:
            client.sendall(text.encode())
            answer = b""
            while piece := client.recv(65536):
                answer += piece
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), body.decode()

    def get(self, path):
        return self.http(f"GET {path}" + REST)

    def connect(self):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.connect(self.socket)
        return client


@contextlib.contextmanager
def running(text, name="weir"):
    with tempfile.TemporaryDirectory() as work:
        host = Host(work, name)
        host.write(text)
        host.start()
        try:
            yield host
        finally:
            host.stop(9)


BUSY = """
sources: {numbers: {use: gen.forever, to: work}}
pools: {work: {use: sink.null, size: SIZE, mailbox: 8, args: {spin: 20000}}}
"""


def busy(size="2"):
    return BUSY.replace("SIZE", size)


# --- looking -----------------------------------------------------------------------------------

def balance(pool):
    return pool["accepted"] - sum(pool[key] for key in
                                  ("done", "dead", "moved", "queued", "in_hand", "held"))


def fields_of_stats():
    with open(os.path.join(TREE, "sdk/include/weir/pool.h"), encoding="utf-8") as stream:
        body = re.search(r"struct weir_pool_stats \{(.*?)\};", stream.read(), re.S).group(1)
    names = re.findall(r"uint(?:32|64)_t (\w+);", re.sub(r"/\*.*?\*/", "", body, flags=re.S))
    return [name for name in names if name != "size"]


def test_status():
    """promise C6"""
    nested = busy() + "  \n"
    nested = nested.replace("pools: {work:", "pools: {many: {size: 2, pool: {use: sink.null, "
                            "size: 3}}, work:")
    with running(nested) as host:
        until(lambda: host.json("status")["pools"][0] is not None, "an answer")
        status = host.json("status")
        check(status["host"]["state"] == "running" and status["host"]["name"] == "test" and
              status["host"]["pid"] == host.process.pid and status["host"]["generation"] == 1,
              f"the host: {status['host']}")
        check([p["path"] for p in status["pools"]] == ["many", "many/0", "many/1", "work"],
              "the pools of status")
        check(status["sources"][0]["name"] == "numbers" and
              status["sources"][0]["state"] in ("open", "waiting"), "the sources of status")
        for pool in status["pools"]:
            missing = [name for name in fields_of_stats() if name not in pool]
            check(not missing and len(fields_of_stats()) >= 15, f"keys that are missing: {missing}")
            check(balance(pool) == 0, f"{pool['path']} does not balance")
        check(host.json("status", "many/1")["live"] == 3, "a nested pool by its path")
        host.run("pause", "many/1")
        rows = [line.split()[:3] for line in host.run("status").stdout.splitlines()]
        check(["many", "open", "6"] in rows, f"a pool above a paused one: {rows}")
        host.run("resume", "many/1")
        text = host.run("status").stdout
        check("numbers" in text and re.search(r"^work +open +2 ", text, re.M), f"the table: {text}")
        check(host.run("status", "work").stdout.startswith("pool work\n"), "one pool's table")
        for path, wanted in (("/livez", 200), ("/readyz", 200), ("/nothing", 404), ("/reload", 405),
                             ("/pools/", 404), ("/pools/nobody", 404), ("/dead/nobody", 404),
                             ("/plan", 400), ("/plan?file=relative", 400)):
            check(host.get(path)[0] == wanted, f"{path} is not {wanted}")
        by_file = host.run("status", "--file", host.file, variables={"WEIR_CONTROL": ""})
        check(by_file.returncode == 0, f"the socket of a file: {by_file.stderr}")


def items_of(host, *arguments):
    return host.json("inspect", *arguments)["items"]


def test_inspect():
    """promise A9: pools, workers and sources, while every mailbox is full"""
    with running(busy()) as host:
        until(lambda: int(items_of(host, "work", "queued")["queued"]) >= 14, "a backlog")
        pool = items_of(host, "work")
        check(pool["kind"] == "pool" and pool["pool_size"] == "2" and
              pool["worker_behavior"] == "sink.null" and pool["worker_mailbox_size"] == "8",
              f"the pool: {pool}")
        check("dead.crashed" in pool and "messages_unhandled" in pool, f"the pool: {pool}")
        worker = items_of(host, "work#1")
        check(worker["path"] == "work#1" and worker["state"] == "open" and
              worker["mailbox"] == "8" and worker["incarnation"] == "1", f"a worker: {worker}")
        check(items_of(host, worker["pid"], "path") == {"path": "work#1"}, "a worker by its PID")
        source = items_of(host, "numbers")
        check(source["kind"] == "source" and int(source["next"]) > 0, f"the source: {source}")
        check(items_of(host, "numbers", "finished", "kind") == {"finished": "0", "kind": "source"},
              "two items")
        text = host.run("inspect", "work", "busy", "target").stdout
        check(re.fullmatch(r"target +2\nbusy +[012]\n", text), f"the text: {text!r}")
        for nobody in ("nobody", "work#7", "work#x", "nobody#0", "99999999999999"):
            check(host.run("inspect", nobody).returncode == 66, f"inspect {nobody}")
        check(host.run("inspect").returncode == 64, "inspect without a path")
        many = [f"item{i}" for i in range(65)]
        check(host.run("inspect", "work", *many).returncode == 64, "too many items")


SAMPLE = re.compile(r'^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)+)\})? (-?[0-9.e+]+)$')


def test_metrics():
    """promise P16: there too"""
    with running(busy()) as host:
        status, text = host.get("/metrics")
        types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
        samples = {}
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            found = SAMPLE.match(line)
            if check(found is not None, f"no sample: {line}"):
                check(found[1] in types, f"no type: {line}")
                check(found[1].endswith("_total") == (types[found[1]] == "counter"),
                      f"the name of a counter: {line}")
                check((found[1], found[2]) not in samples, f"twice: {line}")
                samples[found[1], found[2]] = float(found[3])
        check(status == 200 and samples["weir_config_generation", None] == 1, "the generation")
        check(samples["weir_pool_workers", 'pool="work",state="target"'] == 2, "workers")
        check(samples["weir_pool_mailbox_limit_messages", 'pool="work"'] == 8, "the limit")
        check(1 <= samples["process_open_fds", None] <= 100, "descriptors")
        check(('weir_pool_dead_total', 'pool="work",reason="crashed"') in samples, "reasons")


# --- changing ----------------------------------------------------------------------------------

def test_scale():
    with running(busy("{min: 1, max: 6}")) as host:
        answer = host.json("scale", "work", "5")
        check(answer["size"] == 5 and answer["changed"] == 4, f"scale: {answer}")
        check(host.json("status", "work")["target"] == 5, "the target after scale")
        refused = host.run("scale", "work", "7")
        check(refused.returncode == 65, "more than the file allows")
        check("cannot have 7 workers: its bounds are 1..6" in refused.stderr, refused.stderr)
        check(host.run("scale", "nobody", "2").returncode == 66, "a pool that is not there")
        check('did you mean "work"?' in host.run("scale", "wrok", "2").stderr, "a misspelt pool")
        check("it is a source" in host.run("scale", "numbers", "2").stderr, "a source")
        for wrong in ("-1", "x", "65537", "", "1.5"):
            check(host.run("scale", "--", "work", wrong).returncode == 64, f"size {wrong!r}")
        check(host.http("POST /pools/work/scale?size=x" + REST)[0] == 400, "size=x")
        check(host.json("status", "work")["target"] == 5, "the target after refusals")


def test_pause():
    with running(busy()) as host:
        check(host.json("pause", "work")["paused"] is True, "pause")
        until(lambda: host.json("status", "work")["queued"] +
              host.json("status", "work")["in_hand"] == 0, "what was accepted")
        before = host.json("status", "work")
        check(before["paused"] == 1 and before["idle"] == 2, f"paused: {before}")
        check(host.json("status", "work")["accepted"] == before["accepted"], "nothing comes in")
        rows = [line.split()[:2] for line in host.run("status").stdout.splitlines()]
        check(["work", "paused"] in rows, f"the state in the table: {rows}")
        check(host.run("resume", "work").stdout == "work: resumed\n", "resume")
        rows = [line.split()[:2] for line in host.run("status").stdout.splitlines()]
        check(["work", "open"] in rows, f"the state after resume: {rows}")
        until(lambda: host.json("status", "work")["done"] > before["done"], "work after resume")
        check(host.run("pause", "nobody").returncode == 66, "a pool that is not there")


def test_keys_of_the_host():
    """A reload takes them on, and says so by name; for control see test_socket_moves."""
    with running(busy()) as host:
        for more in (", dead_letters: {count: 3}", ", turn_warning: 2s", ", shutdown_timeout: 5s",
                     ", log: {level: debug}", ", memory: 4MiB"):
            key = re.search(r"\w+", more)[0]
            host.write(busy(), more=more)
            answer = host.run("reload")
            check(answer.returncode == 0 and f"host.{key}" in answer.stdout, f"{key}: {answer}")


def test_keys_of_the_host_are_in_force():
    """promise C12: the reload that sets them already uses them; turns last seconds"""
    long_turns = busy().replace("spin: 20000", "spin: 4000000000")
    with tempfile.TemporaryDirectory() as work:
        host = Host(work)

        def log_text():
            return open(host.log, encoding="utf-8", errors="replace").read()

        host.write(long_turns, more=", turn_warning: 1h")
        host.start()
        until(lambda: host.json("status", "work")["in_hand"] == 2, "the turns")
        for keys in ("turn_warning: 1h, log: {level: error}", "turn_warning: 1h, log: "
                     "{format: json}", "turn_warning: 10ms, log: {format: json}"):
            check("turn takes long" not in log_text(), "a turn may last")
            host.write(long_turns, more=f", {keys}")
            check(host.run("reload").returncode == 0, f"reload to {keys}")
        until(lambda: "turn takes long" in log_text(), "a turn that lasts too long")
        until(lambda: re.search(r'"configuration reloaded".*\n?.*generation\D+4\b', log_text()),
              "the line of the last reload")
        check('event="configuration reloaded"' not in log_text(), f"as it was before: {log_text()}")
        host.stop(9)


def test_memory_is_reported():
    with tempfile.TemporaryDirectory() as work:
        host = Host(work)
        host.write(busy().replace("mailbox: 8", "mailbox: unlimited"), more=", memory: 1MiB")
        host.start()
        found = until(lambda: (lambda h: h if h["memory_bytes"] > 0 else None)(
            host.json("status")["host"]), "messages")
        check(0 < found["memory_bytes"] <= found["memory_limit"] == 1 << 20, f"memory: {found}")
        until(lambda: host.json("status")["host"]["memory_bytes"] > 700000, "the source to wait")
        check(host.json("status", "work")["queued"] > 1000, "what waits in a quarter less")
        host.stop(9)


def test_reload():
    """promise R6"""
    with running(busy()) as host:
        host.write(busy("3"))
        plan = host.json("plan", host.file)
        check(plan["result"] == "planned" and plan["steps"][0]["field"] == "size", f"plan: {plan}")
        check(host.json("status", "work")["target"] == 2, "a plan changes nothing")
        answer = host.run("reload")
        check(answer.returncode == 0 and "pools.work.size: 2 -> 3" in answer.stdout and
              "generation 2" in answer.stdout, f"reload: {answer}")
        check(host.json("status", "work")["live"] == 3, "it is done when reload answers")
        check(host.json("reload")["result"] == "unchanged", "a second reload")

        host.write(busy("3").replace("mailbox: 8", "mailbox: -8"))
        answer = host.run("reload")
        check(answer.returncode == 78 and answer.stdout == "" and
              re.search(r"weir\.yaml:\d+:\d+: pools\.work\.mailbox: ", answer.stderr),
              f"a wrong file: {answer}")
        answer = host.run("plan", host.file, "--control", host.socket)
        check(answer.returncode == 78 and "pools.work.mailbox" in answer.stderr, f"plan: {answer}")
        status = host.json("status")["host"]
        check(status["generation"] == 2 and status["reloads_refused"] == 1, f"refused: {status}")

        host.write(busy("4"))
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(host.json("reload")))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(len(answers) == 8 and all(a["generation"] == 3 for a in answers) and
              any(a["result"] == "reloaded" for a in answers), f"many at once: {answers}")


def test_socket_moves():
    """promise R17: the client that requested the new socket is answered at the old one."""
    with running(busy()) as host:
        former, other = host.socket, os.path.join(host.work, "other.sock")
        waiting = host.connect()
        waiting.sendall(b"GET /sta")
        crowd = []
        asking = threading.Event()

        def ask():
            while not asking.is_set():
                with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                    client = host.connect()
                    crowd.append(host.http("GET /livez" + REST, client)[0])

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        until(lambda: len(crowd) > 20, "a crowd at the old socket")
        host.write(busy(), control=other)
        answer = host.run("reload")
        check(answer.returncode == 0 and "host.control" in answer.stdout and
              "generation 2" in answer.stdout, f"moved: {answer}")
        until(lambda: not os.path.exists(former), "the old file to go")
        asking.set()
        for thread in threads:
            thread.join()
        check(set(crowd) == {200}, f"those who connected: {set(crowd)}")
        check(host.http("tus" + REST, waiting)[0] == 200, "half a request")
        host.socket = other
        check(host.json("status")["host"]["generation"] == 2, "the new socket")

        link = os.path.join(host.work, "link")
        os.symlink(host.work, link)
        host.write(busy(), control=os.path.join(link, "other.sock"))
        check(host.run("reload").returncode == 0, "by another name")
        check(host.run("status").returncode == 0, "it stays")

        with open(os.path.join(host.work, "plain"), "w", encoding="utf-8"):
            pass
        host.write(busy("3"), control=os.path.join(host.work, "plain"))
        answer = host.run("reload")
        check(answer.returncode == 78 and re.search(
            r"weir\.yaml:2:\d+: host\.control: cannot listen at .*/plain: there is a file that is "
            r"no socket", answer.stderr), f"refused: {answer}")
        check(host.json("status", "work")["live"] == 2, "nothing of the refused file")

        host.write(busy("3"), control=None)
        with open(host.file, encoding="utf-8") as stream:
            text = re.sub(r', control: "[^"]*"', "", stream.read())
        with open(host.file, "w", encoding="utf-8") as stream:
            stream.write(text)
        check(host.run("reload").returncode == 0, "none any more")
        until(lambda: not os.path.exists(other), "the file to go")
        host.socket = former
        host.write(busy("3"))
        host.process.send_signal(1)
        # The file is there before the host listens at it, and before the pool has its size.
        until(lambda: host.run("status").returncode == 0, "a socket again")
        until(lambda: host.json("status", "work")["live"] == 3, "the size of the file")
        check(host.stop() == 0 and not os.path.exists(former), "the end")


def test_removed_socket_is_made_again():
    """promise R17: HUP makes a socket again whose file is gone, whatever else changes."""
    with running(busy()) as host:
        for text, live in ((busy(), 2), (busy("3"), 3)):
            os.unlink(host.socket)
            check(host.run("status").returncode == 69, "no socket")
            host.write(text)
            host.process.send_signal(1)
            until(lambda: os.path.exists(host.socket), "a socket again")
            until(lambda: host.run("status").returncode == 0, "asked again")
            until(lambda: host.json("status", "work")["live"] == live, "the size")
        check("nothing to do" in host.run("reload").stdout, "nothing is made twice")
        check(host.stop() == 0 and not os.path.exists(host.socket), "the end")


RECORD = """
dispatchers: {{blocking: {{threads: 4, budget: 4}}}}
sources:
  numbers: {{use: gen.numbers, args: {{count: {count}}}, to: work}}
  endless: {{use: gen.forever, to: nobody}}
pools:
  nobody: {{use: sink.null, size: {{min: 0, max: 1}}}}
  work: {{use: sink.record, size: {{min: 0, max: 4}}, mailbox: 16, remove: {{mode: discard}},
          dispatcher: blocking, args: {{path: "{work}/out.%i", batch: 1, spin: {spin}}}}}
"""


def recorded(work):
    numbers = []
    for name in sorted(os.listdir(work)):
        if name.startswith("out."):
            with open(os.path.join(work, name), encoding="utf-8") as stream:
                numbers += [int(line.split()[0]) for line in stream]
    return numbers


def test_dead_letters_are_sent_again():
    """promise L3, promise L4: what was discarded is handled after all, each once. The endless
    source, which never finds room, keeps the host from ending before that."""
    count = 2000
    with tempfile.TemporaryDirectory() as work:
        host = Host(work)
        host.write(RECORD.format(count=count, work=work, spin=300000))
        host.start()
        host.json("scale", "work", "4")
        until(lambda: host.json("status", "work")["queued"] > 8, "full mailboxes")
        host.json("scale", "work", "0")
        until(lambda: host.json("status", "work")["retiring"] == 0, "the leavers")
        pool = host.json("status", "work")
        letters = host.json("dead", "work")
        check(len(letters) == pool["dead"] > 0, f"{len(letters)} letters of {pool['dead']} dead")
        check(all(letter["reason"] == "removed" and letter["tag"] == "gen.number/1" and
                  letter["payload_kept"] and letter["size"] > 0 for letter in letters),
              f"the letters: {letters[:1]}")
        check([letter["number"] for letter in letters] == list(range(1, len(letters) + 1)),
              "the numbers of the letters")
        answer = host.json("dead", "work", "--replay")
        check(answer["replayed"] == 0 and answer["left"] == len(letters) and
              answer["status"] == "FULL", f"replay into no workers: {answer}")
        host.json("scale", "work", "4")
        replayed = 0
        while True:
            answer = host.json("dead", "work", "--replay")
            replayed += answer["replayed"]
            if answer["left"] == 0:
                break
        check(replayed == len(letters), f"{replayed} of {len(letters)} were sent again")
        check(host.run("dead", "work").stdout.count("\n") == 1, "letters after the replay")
        check(re.search(r"^work .* removed:", host.run("dead").stdout, re.M), "the summary")
        check(host.run("dead", "--replay").returncode == 64, "a replay of nothing in particular")
        until(lambda: host.json("status", "work")["done"] == count, "the last number")
        check(host.stop() == 0, "the exit code")
        numbers = recorded(work)
        check(sorted(numbers) == list(range(count)), f"{len(numbers)} numbers, "
              f"{len(set(numbers))} different, of {count}")


# --- the socket --------------------------------------------------------------------------------

def test_life_of_the_socket():
    """promise C7, promise C8"""
    with running(busy()) as host:
        check(os.stat(host.socket).st_mode & 0o7777 == 0o660, "the mode")
        second = Host(host.work, "second")
        second.write(busy(), control=host.socket)
        second.start()
        check(second.process.wait() == 78 and
              b"another host listens there" in open(second.log, "rb").read(), "two hosts")
        check(host.run("status").returncode == 0, "the first of two hosts")
        host.stop(9)
        check(os.path.exists(host.socket), "a killed host leaves its socket")
        check(host.run("status").returncode == 69, "nobody listens")
        host.start()
        check(host.run("status").returncode == 0, "a stale socket is replaced")
        check(host.stop() == 0 and not os.path.exists(host.socket), "the socket is removed")
        check(host.run("reload").returncode == 69, "no socket")
        check(host.run("status", "--control", "/x" * 100).returncode == 69, "a path too long")
        check(host.run("status", variables={"WEIR_CONTROL": ""}).returncode == 64, "which host?")
        check(host.run("status", "-o", "xml").returncode == 64, "an unknown format")
        host.write(busy(), control="/x" * 100)
        host.start()
        check(host.process.wait() == 78 and b"107 bytes" in open(host.log, "rb").read(),
              "a path too long in the file")


def status_as_nobody(path):
    """The refusal of another user's request: a process that has given up being root."""
    program = ("import os, socket, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534);"
               "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
               "print(s.recv(100).split()[1].decode())")
    return subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True,
                          check=False)


def test_strangers_are_refused():
    """promise C7: also when the file's mode would let them in. Only root can be somebody else."""
    if os.geteuid() != 0:
        return
    with running(busy()) as host:
        os.chmod(host.work, 0o755)
        check("Permission denied" in status_as_nobody(host.socket).stderr, "the mode")
        copy = shutil.copy(WEIR, host.work)  # nobody may not be allowed to see the tree
        found = []
        for mode in (0o660, 0o666):
            os.chmod(host.socket, mode)
            answer = subprocess.run([copy, "status", "--control", host.socket], user=65534,
                                    group=65534, extra_groups=[], capture_output=True, text=True,
                                    check=False)
            check(answer.returncode == 77, f"mode {mode:o}: {answer}")
            found.append("only the host's own user and root may ask" in answer.stderr and
                         "ask as user root, or as root, for example by sudo" in answer.stderr)
        check(all(found), "why another user is refused")
        answer = status_as_nobody(host.socket)
        check(answer.stdout == "403\n", f"somebody else: {answer}")


def test_crowds_and_nonsense_do_no_harm():
    """promise C9"""
    with running(busy()) as host:
        directory = f"/proc/{host.process.pid}"
        threads = len(os.listdir(f"{directory}/task"))
        crowd = []
        for _ in range(1000):
            crowd.append(host.connect())
        check(len(os.listdir(f"{directory}/fd")) < 200, "descriptors in a crowd")
        check(len(os.listdir(f"{directory}/task")) == threads, "threads in a crowd")
        check(host.run("status").returncode == 75, "busy")
        for client in crowd:
            client.close()
        until(lambda: host.run("status").returncode == 0, "the crowd to go")

        check(host.http("\0\1\2\r\n\r\n")[0] == 400, "bytes")
        check(host.http("GET /" + "a" * 3000 + REST)[0] == 414, "a long path")
        check(host.http("PUT /status" + REST)[0] == 405, "another method")
        slow = host.connect()
        slow.sendall(b"GET /sta")
        check(host.run("status").returncode == 0, "beside a slow client")
        check(host.http("tus" + REST, slow)[0] == 200, "a slow client")
        check(host.stop() == 0, "the exit code")


def run_tests(names):
    """Runs the functions test_... of a script, given its globals. Ends it: 1 after a failure."""
    for name, test in sorted(names.items()):
        if name.startswith("test_"):
            before = time.monotonic()
            print(f"{name} begins", flush=True)  # which one hangs
            test()
            print(f"{name}: {time.monotonic() - before:.2f} s", flush=True)
    sys.exit(report_failures())


def report_failures():
    print(f"{len(FAILURES)} failures")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    run_tests(globals())
