#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   under a supervisor that starts a host again whenever it crashes, a message that has
        crashed it N times is a dead letter of the pool that crashed, each other message is done,
        and the source moves on: with a position, with a queue in a file, and through a pool
        between. Whatever is no fault of a message blames none. Shows promise B110, promise B111
        and promise B112.
Method: real hosts, whose workers crash on what the texts of their messages say. The supervisor is a
        loop, which counts the starts.

    quarantine.py WEIR PLUGINS TEST_PLUGINS
"""
import contextlib
import ctypes
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from trials import DEADLINE, Trouble, must, until

WEIR, PLUGINS, TEST_PLUGINS = map(os.path.abspath, sys.argv[1:4])
STARTS_MAX = 40
# A sanitizer maps terabytes, so that no host starts with a limit of addresses.
HAS_SANITIZER = any(name in Path(WEIR).read_bytes() for name in (b"__asan_init", b"__tsan_init"))
TGKILL = {"x86_64": 234, "aarch64": 131}  # number of the call

FILE = """\
version: 1
host: {{plugins: ["{plugins}", "{test_plugins}"], control: "{folder}/control",
  dead_letters: {{file: "{folder}/dead"}}, log: {{format: json}}, {host}}}
sources: {sources}
pools:
  eaters: {{use: poison.eat, size: {size}, {keys}, outputs: {{out: writers}}}}
  writers: {{use: file.append, size: 1, args: {{path: "{folder}/out"}}}}
{more}
"""
CRASHES = 'crash_file: "{folder}/crashes"'
LINES = '{{lines: {{use: files.lines, to: {to}, args: {{paths: ["{folder}/in"], ' \
        'position: "{folder}/position"}}}}}}'
RELAY = "  between: {use: relay.pass, size: 1, outputs: {out: eaters}}\n"


class Service:
    """A folder with a file, and a host that is started again."""

    def __init__(self, folder, **keys):
        self.folder = Path(folder)
        self.starts = 0
        self.write(**keys)

    def write(self, sources=None, more="", keys="quarantine: 2", size=1, to="eaters",
              host=CRASHES):
        """SOURCES None: the lines of a file."""
        sources = LINES.format(folder=self.folder, to=to) if sources is None else sources
        (self.folder / "weir.yaml").write_text(
            FILE.format(plugins=PLUGINS, test_plugins=TEST_PLUGINS, folder=self.folder,
                        sources=sources, more=more, keys=keys, size=size,
                        host=host.format(folder=self.folder)), encoding="utf-8")

    def texts(self, texts):
        (self.folder / "in").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")

    def launch(self, limit=None):
        """LIMIT: bytes of address space."""
        def confine():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if limit:
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        self.starts += 1
        with open(self.folder / "log", "ab") as log:
            return subprocess.Popen([WEIR, "run", self.folder / "weir.yaml"], preexec_fn=confine,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=log)

    def start(self, **keys):
        """Runs it to its end. Returns its code; a signal is negative."""
        return self.launch(**keys).wait(DEADLINE)

    def supervise(self):
        """Starts it until it does not crash."""
        for _ in range(STARTS_MAX):
            code = self.start()
            if code >= 0 and code != 70:
                return code
        raise Trouble(f"it crashes for ever: {self.log()[-2000:]}")

    def log(self):
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def events(self, event):
        return [json.loads(line) for line in self.log().splitlines() if f'"{event}' in line]

    def blamed(self):
        """The labels of the crashes."""
        lines = (self.folder / "crashes").read_text(encoding="utf-8").splitlines()
        must(lines[0] == "weir crashes 1", f"the first line: {lines[0]}")
        return [line.split(" ", 4)[4] for line in lines[1:]]

    def dead(self):
        """Reason and label of the dead letters, each once."""
        answer = subprocess.run([WEIR, "dead", "--file", self.folder / "dead", "-o", "json"],
                                capture_output=True, text=True, check=True)
        return {(letter["reason"], letter["detail"].rsplit("; ")[-1].rsplit("/")[-1])
                for letter in json.loads(answer.stdout)}

    def done(self):
        """The texts that were written."""
        return set((self.folder / "out").read_text(encoding="utf-8").split("\n")) - {""}

    def ask(self, *arguments, text=None):
        return subprocess.run([WEIR, *arguments, "--control", self.folder / "control"],
                              capture_output=True, text=True, check=False, input=text)


def fresh(**keys):
    scratch = tempfile.TemporaryDirectory(prefix="weir-quarantine.")
    service = Service(scratch.name, **keys)
    service.scratch = scratch
    return service


def texts_with(poison, count=40):
    return [f"{poison[number]} {number}" if number in poison else f"good {number}"
            for number in range(count)]


def is_moved_on(service, good):
    must(service.done() == set(good), f"done: {service.done() ^ set(good)}")


def test_lines_of_each_kind_of_crash():
    poison = {7: "SEGV", 13: "ABORT", 20: "STACK", 31: "EXIT"}
    texts = texts_with(poison)
    with fresh_scratch(size=4) as service:
        service.texts(texts)
        service.supervise()
        is_moved_on(service, [text for text in texts if text.startswith("good")])
        must(service.dead() == {("poison", f"in:{number + 1}") for number in poison},
             f"dead: {service.dead()}")
        # One thread may fault while another one ends the host by `exit`.
        must(service.starts <= 2 * len(poison) + 1, f"starts: {service.starts}")
        must(sorted(service.blamed()) == sorted(2 * [f"{service.folder}/in:{number + 1}"
                                                     for number in poison]),
             f"blamed: {service.blamed()}")
        before = service.starts
        must(service.supervise() == 0 and service.starts == before + 1, "the position moved on")


def test_blame_goes_to_the_origin():
    texts = texts_with({3: "SEGV"}, 10)
    with fresh_scratch(to="between", more=RELAY) as service:
        service.texts(texts)
        service.supervise()
        is_moved_on(service, [text for text in texts if text.startswith("good")])
        must(service.dead() == {("poison", "in:4")}, f"dead: {service.dead()}")
        letters = service.events("dead letter: it has crashed the host")
        must([letter["component"] for letter in letters] == ["eaters"], f"{letters}")


def test_pieces_of_a_queue():
    """One that crashes the host among a hundred good ones, which lose no attempt."""
    good = [f"good {number}" for number in range(100)]
    queue = '{{take: {{use: queue.take, to: eaters, args: {{file: "{0}/jobs", queue: t}}}}}}'
    put = '  in: {{use: queue.put, size: 1, args: {{file: "{0}/jobs", queue: t, min_free: 0}}}}\n'
    with fresh_scratch() as service:
        folder = service.folder
        service.write(sources=queue.format(folder), more=put.format(folder))
        # They are in the file before one of them is taken.
        service.write(sources="{}", more=put.format(folder))
        process = service.launch()
        until(lambda: service.ask("send", "in", "first good").returncode == 0, "a host")
        must(service.ask("send", "in", text="\n".join([*good[:50], "SEGV here", *good[50:]]))
             .returncode == 0, "the pieces")
        until(lambda: json.loads(service.ask("status", "in", "-o", "json").stdout)["done"] == 102,
              "all pieces")
        process.send_signal(signal.SIGTERM)
        process.wait(DEADLINE)
        service.write(sources=queue.format(folder), more=put.format(folder))
        for crash in range(2):
            code = service.start()
            must(code == -signal.SIGSEGV, f"crash {crash}: {code}")
            with contextlib.closing(sqlite3.connect(folder / "jobs")) as file:
                left = file.execute("SELECT DISTINCT state, attempt FROM piece").fetchall()
            must(left == [(0, 1)], f"all are ready, as the first attempt: {left}")
        process = service.launch()
        until(lambda: service.done() == {"first good", *good}, "the good ones")
        until(lambda: service.dead(), "the dead letter")
        process.send_signal(signal.SIGTERM)
        must(process.wait(DEADLINE) >= 0, "it stays up")
        must({reason for reason, _ in service.dead()} == {"poison"}, f"{service.dead()}")
        process = service.launch()
        until(lambda: len(service.events("started")) == 5, "one more start")
        process.send_signal(signal.SIGTERM)
        process.wait(DEADLINE)
        must(len(service.events("dead letter")) == 1, "the piece is dead in the queue, too")
        answer = subprocess.run([WEIR, "queue", folder / "jobs", "replay", "--all", "--plugins",
                                 PLUGINS], capture_output=True, text=True, check=False)
        must(answer.returncode == 0, f"replay: {answer}")
        must(service.start() == -signal.SIGSEGV, "a piece that is replayed is handled again")


def test_same_place_with_another_text():
    with fresh_scratch(keys="quarantine: 1") as service:
        service.texts(["SEGV one"])
        must(service.start() == -signal.SIGSEGV, "a crash")
        service.texts(["good one"])  # as long
        code = service.start()
        must(code == 1, f"a line at the same place, of a changed file: {code} {service.log()}")
        is_moved_on(service, ["good one"])


def test_five_crashes_are_named():
    with fresh_scratch(keys="redeliver: 0") as service:
        service.texts(["SEGV one"])
        for _ in range(5):
            must(service.start() == -signal.SIGSEGV, "a crash")
        must(not service.events("a message has crashed the host often"), "too early")
        service.start()
        lines = service.events("a message has crashed the host often")
        must(len(lines) == 1 and lines[0]["crashes"] == 5 and lines[0]["component"] == "eaters" and
             lines[0]["label"].endswith("/in:1"), f"{lines}")
        # The key in a file, and the message is dead.
        service.write(keys="quarantine: 6")
        service.supervise()
        must(service.dead() == {("poison", "in:1")}, f"{service.dead()}")


def test_a_secret_in_a_label():
    """promise C17"""
    name = "private-4f5d2c8b71"
    with fresh_scratch(keys="quarantine: 6") as service:
        folder = service.folder
        (folder / "secret").write_text(f"{folder}/{name}", encoding="utf-8")
        (folder / "secret").chmod(0o600)
        service.write(sources='{lines: {use: files.lines, to: eaters, args: {paths: ["${file:' +
                              f'{folder}/secret' + '}"], position: "' + f'{folder}/position"}}}}}}',
                      keys="quarantine: 6")
        for text, code in (("SEGV", -signal.SIGSEGV), ("EXIT", 70)):
            (folder / name).write_text(f"good one\n{text} two\n", encoding="utf-8")
            for _ in range(5):
                must(service.start() == code, f"{text}: {service.log()}")
            service.start()
        must(len(service.events("a message has crashed the host often")) >= 2, service.log())
        must(set(service.blamed()) == {"${file:...}:2"}, f"blamed: {service.blamed()}")
        must(name not in service.log(), service.log())


def thread_in_handle(service):
    """The kernel's number of the thread whose worker is stuck; None: not yet."""
    answer = service.ask("status", "eaters", "--members", "-o", "json")
    members = json.loads(answer.stdout) if answer.returncode == 0 else []
    return next((member["stuck"]["thread"] for member in members if "stuck" in member), None)


def signal_to_thread(process, thread, number):
    must(ctypes.CDLL(None).syscall(TGKILL[os.uname().machine], process, thread, number) == 0,
         f"signal {number} to a thread")


def test_other_ends_blame_none():
    with fresh_scratch(host=f"{CRASHES}, turn_warning: 10ms") as service:
        for number in (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV, signal.SIGSYS,
                       signal.SIGXCPU):
            service.texts(["LOOP one"])
            process = service.launch()
            thread = until(lambda: thread_in_handle(service), "a worker in hand")
            signal_to_thread(process.pid, thread, number)
            must(process.wait(DEADLINE) in (-number, 70), f"the end by {number}")
            must(service.blamed() == [], f"signal {number}: {service.blamed()}")


def test_manager_that_crashes_blames_none():
    more = "  raisers: {use: poison.raise, size: 1}\n"
    with fresh_scratch(to="raisers", more=more,
                       keys="quarantine: 1, manager: poison.eat") as service:
        service.texts(["SEGV one"])
        for _ in range(2):
            must(service.start() == -signal.SIGSEGV, "a manager that crashes")
        must(service.blamed() == [], f"{service.blamed()}")


def test_lack_of_memory_blames_none():
    if HAS_SANITIZER:
        return
    with fresh_scratch() as service:
        service.texts(["HUNGER one"])
        code = service.start(limit=3 << 30)
        must(code < 0, f"a crash: {code}")
        must(service.blamed() == [], f"{service.blamed()}")


def test_reload_of_the_key():
    more = '{{tail: {{use: files.tail, to: eaters, args: {{paths: ["{0}/in"], from: begin, ' \
           'position: "{0}/position"}}}}}}'
    with fresh_scratch(keys="redeliver: 0") as service:
        service.texts(["SEGV one"])
        service.write(sources=more.format(service.folder), keys="redeliver: 0")
        must(service.start() == -signal.SIGSEGV, "a crash")
        text = (service.folder / "in").read_text(encoding="utf-8")
        # No rename: a position that was saved before the crash leads to the file under any name.
        os.unlink(service.folder / "in")
        process = service.launch()
        until(lambda: service.ask("status", "eaters").returncode == 0, "a host")
        service.write(sources=more.format(service.folder), keys="quarantine: 1")
        answer = service.ask("reload")
        must("pools.eaters.quarantine: 0 -> 1" in answer.stdout, f"{answer}")
        must(text.startswith("SEGV"), text)
        (service.folder / "in").write_text(text, encoding="utf-8")
        until(lambda: service.dead() == {("poison", "in:1")}, "dead after the reload")
        service.write(sources=more.format(service.folder), keys="quarantine: 1",
                      host=CRASHES.replace("crashes", "others"))
        answer = service.ask("reload")
        must("host.crash_file" in answer.stdout, f"{answer}")
        process.send_signal(signal.SIGTERM)
        must(process.wait(DEADLINE) >= 0, "it stays up")


def test_a_file_that_is_none():
    with fresh_scratch() as service:
        service.texts(["good one"])
        (service.folder / "crashes").write_text("something else\n", encoding="utf-8")
        must(service.start() == 78 and "it is no file of crashes" in service.log(), service.log())
        # Half a line, as of a full disk, and lines of nothing.
        (service.folder / "crashes").write_text("weir crashes 1\nx\n\n1 2 3 4\n1 SIG", "utf-8")
        must(service.start() == 0, service.log())
        many = "".join(f"1 SIGSEGV {number:016x} eaters l\n" for number in range(1, 1502))
        (service.folder / "crashes").write_text(f"weir crashes 1\n{many}", encoding="utf-8")
        must(service.start() == 0, service.log())
        must(len(service.blamed()) == 1000, f"{len(service.blamed())} lines are kept")


def fresh_scratch(**keys):
    class Scope:
        def __enter__(self):
            self.service = fresh(**keys)
            return self.service

        def __exit__(self, *_):
            self.service.scratch.cleanup()

    return Scope()


def main():
    wanted = sys.argv[4:]
    for name, test in list(globals().items()):
        if name.startswith("test_") and (not wanted or name in wanted):
            begun = time.monotonic()
            test()
            print(f"{name}: {time.monotonic() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    main()
