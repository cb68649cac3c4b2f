#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a worker of a pool with `isolation: process` may crash in every way, or be killed: only
        the message in hand is dead, the others are handled once, in order; reloads from thread to
        process and back under load lose nothing; no process outlives the host, however it ends; and
        what is not carried over is refused. Shows promise B95, promise B96,
        promise B97, promise B115 and promise B116.
Method: real hosts with a test plugin that does what the texts of its messages say.

    isolation.py WEIR PLUGINS TEST_PLUGINS
"""
import ctypes
import errno
import json
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from trials import DEADLINE, Trouble, must, until

WEIR, PLUGINS, TEST_PLUGINS = map(os.path.abspath, sys.argv[1:4])
LINES = 200
POISON = {17: "SEGV", 51: "ABORT", 90: "EXIT", 91: "STACK", 160: "SEGV"}
# A sanitizer maps terabytes, so that no process has a bound of memory.
HAS_SANITIZER = any(name in Path(WEIR).read_bytes() for name in (b"__asan_init", b"__tsan_init"))
FCHMODAT2 = 452
CREATE_RULESET = 444
LIBC = ctypes.CDLL(None, use_errno=True)
# Landlock of Linux 6.10 or later: `strict` refuses an older one.
BOUNDS_ALL = LIBC.syscall(CREATE_RULESET, None, 0, 1) >= 5
STRICT = "true" if BOUNDS_ALL else "false"
REASONS = {"SEGV": "killed by SIGSEGV", "ABORT": "killed by SIGABRT", "EXIT": "exit code 3",
           "STACK": "killed by SIGSEGV"}

FILE = """\
version: 1
host: {{plugins: ["{plugins}", "{test_plugins}"], control: "{folder}/control",
  log: {{format: json}}}}
{rest}
"""
EATING = """\
sources: {{lines: {{use: files.lines, args: {{paths: ["{folder}/texts"]}}, to: eaters}}}}
pools:
  eaters: {{use: poison.eat, size: {size}, {keys}, outputs: {{out: writers}}}}
  writers: {{use: sink.null, size: 1}}
"""
FED = EATING.replace('files.lines, args: {{paths: ["{folder}/texts"]}}', "stdin.lines")


class Host:
    """A host with a folder of its own."""

    def __init__(self, rest, texts=(), **keys):
        self.scratch = tempfile.TemporaryDirectory(prefix="weir-isolation.")
        self.folder = Path(self.scratch.name)
        (self.folder / "texts").write_text("".join(f"{text}\n" for text in texts),
                                           encoding="utf-8")
        self.write(rest, **keys)
        self.process = None

    def write(self, rest, **keys):
        rest = rest.format(folder=self.folder, **keys)
        (self.folder / "weir.yaml").write_text(
            FILE.format(plugins=PLUGINS, test_plugins=TEST_PLUGINS, folder=self.folder, rest=rest),
            encoding="utf-8")

    def start(self, *options, stdin=subprocess.DEVNULL, limit=None):
        """LIMIT: descriptors of the host."""
        def confine():
            if limit:
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

        with open(self.folder / "log", "wb") as log, open(self.folder / "said", "wb") as said:
            self.process = subprocess.Popen([WEIR, "run", *options, self.folder / "weir.yaml"],
                                            preexec_fn=confine, stdin=stdin, stdout=said,
                                            stderr=log)
        return self

    def ask(self, command, *arguments):
        return subprocess.run([WEIR, command, *arguments, "--control",
                               str(self.folder / "control")], capture_output=True, text=True,
                              check=False)

    def done(self, pool):
        answer = self.ask("status", pool, "-o", "json")
        return json.loads(answer.stdout)["done"] if answer.returncode == 0 else 0

    def lines(self, event):
        found = []
        for line in (self.folder / "log").read_text(encoding="utf-8").splitlines():
            if f'"{event}' in line:
                found.append(json.loads(line))
        return found

    def printed(self):
        return (self.folder / "said").read_text(encoding="utf-8").split("\n")[:-1]

    def said(self):
        return [line for line in self.printed() if not line.startswith("ate ")]

    def out(self):
        """The texts that the workers have handled."""
        return [line[4:] for line in self.printed() if line.startswith("ate ")]

    def ledger(self, component):
        return [line for line in self.lines("ledger") if line["component"] == component][-1]

    def workers(self):
        """The PIDs of the processes of its workers."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                words = (path / "cmdline").read_bytes().split(b"\0")
                parent = int((path / "stat").read_text("latin1").rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
            if words[:2] == [b"weir", b"worker"] and parent == self.process.pid:
                found.append(int(path.name))
        return found

    def finish(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.scratch.cleanup()


class Feeder(threading.Thread):
    """Writes lines until it is told to end."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.stream, self.count, self.is_over = stream, 0, False
        self.start()

    def run(self):
        while not self.is_over:
            self.stream.write(b"calm-%d\n" % self.count)
            self.stream.flush()
            self.count += 1

    def end(self):
        """The number of lines."""
        self.is_over = True
        self.join()
        self.stream.close()
        return self.count


def is_alive(process):
    try:
        return not Path(f"/proc/{process}/stat").read_text("latin1").rpartition(")")[2].split()[0] \
            in "ZX"
    except OSError:
        return False


def texts(poison):
    return [f"{poison.get(number, 'calm')}-{number}" for number in range(LINES)]


def crashes(redeliver):
    """Only poison is dead; each other text is there once, in order, at its first attempt."""
    host = Host(EATING, texts(POISON), size=1, keys=f"isolation: process, redeliver: {redeliver}, "
                "restart: {max: 1000}")
    try:
        host.start().process.wait(DEADLINE)
        calm = [text for text in texts(POISON) if text.startswith("calm")]
        must(host.out() == calm, f"other texts, or another order: {host.out()}")
        must(host.said() == ["closed"], f"a worker said {host.said()}")
        ended = host.lines("process of a worker ended")
        wanted = [REASONS[word] for _, word in sorted(POISON.items())
                  for _ in range(redeliver + 1)]
        must([line["reason"] for line in ended] == wanted, f"reasons of the ends: {ended}")
        must(all(line["plugin"] == "poison" and line["callback"] == "handle" for line in ended),
             f"lines of the ends: {ended}")
        dead = host.lines("dead letter")
        must([line["reason"] for line in dead] == ["crashed"] * len(POISON) and
             all(line["attempt"] == redeliver + 1 for line in dead), f"dead letters: {dead}")
        must(host.ledger("eaters")["balance"] == "exact", "the ledger is not exact")
    finally:
        host.finish()


def crash_lines():
    """A process writes what a host writes: whose code ran, with which message, and where.
    promise B141"""
    for isolation, effect in (("process", "the process of the worker ends"),
                              ("thread", "the host ends")):
        for text, callback in (("SEGV-1", "handle"), ("TIMER-1", "timer")):
            host = Host(EATING, [text, *["calm"] * 1000], size=1, keys=f"isolation: {isolation}, "
                        "restart: {max: 1000}, args: {wait: 10ms}")
            try:
                host.start()
                until(lambda: host.lines("stack of the crash"), f"{isolation} {text}: a stack")
                line = [line for line in host.lines("crash") if line["event"] == "crash"][0]
                wanted = {"component": "eaters", "signal": "SIGSEGV", "in": callback,
                          "plugin": "poison/1.0.0", "generation": 1, "behaviour": "eat",
                          "worker": 0, "effect": effect}
                must(wanted.items() <= line.items(), f"{line}")
                must(int(line["address"], 16) < 4096, f"the address: {line}")
                if callback == "handle":
                    must((line["message"], line["attempt"]) == ("files.line/1", 1),
                         f"the message: {line}")
                stack = host.lines("stack of the crash")[0]
                named = re.match(r"(sanitizer.* < )?(crash_later|suffer|eat_handle) "
                                 r"\(poison\.so\+0x[0-9a-f]+\)", stack["stack"])
                must(stack["component"] == "eaters" and named, f"{stack}")
            finally:
                host.finish()


def back_off():
    """The log says when a worker that fails too often opens again."""
    host = Host(EATING, ["SEGV-1", "SEGV-2", "SEGV-3", "calm-4"], size=1,
                keys="isolation: process, restart: {max: 1, within: 1m, "
                "backoff: 300ms..1100ms, then: keep_trying}")
    try:
        host.start().process.wait(DEADLINE)
        effects = [line["effect"] for line in host.lines("worker failed")]
        must(effects[0] == "replaced" and
             re.fullmatch(r"opens again in (2[4-9]\d|300)ms", effects[1]) and
             re.fullmatch(r"opens again in (4[89]\d|5\d\d|600)ms", effects[2]), f"{effects}")
        must(host.out() == ["calm-4"], f"{host.out()}")
    finally:
        host.finish()


def debugged():
    """With --debug a debugger finds the file of the plugin in the process."""
    host = Host(FED, size=1, keys="isolation: process")
    try:
        host.start("--debug", stdin=subprocess.PIPE)
        worker = until(host.workers, "a process")[0]
        until(lambda: f"{TEST_PLUGINS}/poison.so\n" in Path(f"/proc/{worker}/maps").read_text(
            encoding="utf-8"), "the file of the plugin in the process")
        host.process.stdin.close()
        must(host.process.wait(DEADLINE) == 0, "the exit code")
    finally:
        host.finish()


def time_out():
    """A callback that does not return is killed, also when it wakes the host all the time."""
    host = Host(EATING, ["calm-1", "LOOP-2", "calm-3", "RING-4", "calm-5"], size=1,
                keys="isolation: process, process: {timeout: 2s}")
    try:
        host.start().process.wait(DEADLINE)
        must(host.out() == ["calm-1", "calm-3", "calm-5"], f"other texts: {host.out()}")
        ended = host.lines("process of a worker ended")
        must([line["reason"] for line in ended] == ["timeout"] * 2, f"ends: {ended}")
    finally:
        host.finish()


def memory():
    """A process beyond its memory costs one message, and the log says so. promise B115"""
    if HAS_SANITIZER:
        return
    keys = "isolation: process, process: {{memory: {0}}}"
    host = Host(EATING, ["calm-1", "HUNGER-2", "calm-3", "SHARED-4", "SEGV-5", "calm-6"], size=1,
                keys=keys.format("64MiB"))
    try:
        host.start().process.wait(DEADLINE)
        must(host.out() == ["calm-1", "calm-3", "calm-6"], f"other texts: {host.out()}")
        wanted = ["killed by SIGSEGV, out of memory (64MiB)",
                  "memory above process.memory, 64MiB", "killed by SIGSEGV"]
        ended = host.lines("process of a worker ended")
        must([line["reason"] for line in ended] == wanted, f"ends: {ended}")
        dead = host.lines("dead letter")
        must([line["detail"].split("; ")[0] for line in dead] == wanted, f"dead letters: {dead}")
    finally:
        host.finish()


def too_large():
    """A message larger than the memory of a process ends it, and is dead. promise B145"""
    if HAS_SANITIZER:
        return
    rest = FED.replace("stdin.lines", "stdin.lines, args: {{line_max: 64MiB}}")
    texts = ["calm-1", "L" * (48 << 20), "calm-3", "L" * (30 << 20), "calm-5"]
    host = Host(rest, texts, size=1, keys="isolation: process, process: {memory: 64MiB}")
    try:
        with open(host.folder / "texts", "rb") as stdin:
            host.start(stdin=stdin).process.wait(DEADLINE)
        must(host.out() == ["calm-1", "calm-3", "calm-5"], f"other texts: {host.out()}")
        ended = [line["reason"] for line in host.lines("process of a worker ended")]
        must(len(ended) == 2 and all("out of memory (64MiB)" in reason for reason in ended),
             f"ends: {ended}")
        must([line["reason"] for line in host.lines("dead letter")] == ["crashed"] * 2,
             f"dead letters: {host.lines('dead letter')}")
    finally:
        host.finish()


def files():
    """A process has as many descriptors as `process.files` says, from the reload of the key on."""
    host = Host(FED, size=1, keys="isolation: process, process: {files: 20}")
    try:
        host.start(stdin=subprocess.PIPE)
        for count, bound in ((1, 20), (2, 30)):
            if count > 1:
                host.write(FED, size=1, keys=f"isolation: process, process: {{files: {bound}}}")
                must(host.ask("reload").returncode == 0, "a reload failed")
            host.process.stdin.write(b"OPENS-%d\n" % count)
            host.process.stdin.flush()
            until(lambda: len(host.out()) == count, "a text")
            worker = host.workers()[0]
            until(lambda: len(list(Path(f"/proc/{worker}/fd").iterdir())) == bound,
                  f"{bound} descriptors")
        host.process.stdin.close()
        must(host.process.wait(DEADLINE) == 0, "the exit code")
    finally:
        host.finish()


def reloads():
    """thread -> process -> thread -> process under load: each text once."""
    args = 'args: {{mark: {mark}, words: ["a b", c], wait: 1ms}}'
    host = Host(FED, size=2, keys=args.format(mark="first"))
    try:
        host.start(stdin=subprocess.PIPE)
        feeder = Feeder(host.process.stdin)
        for turn, isolation in enumerate(["process", "thread", "process"]):
            before = len(host.out())
            until(lambda: len(host.out()) > before + 100, "texts between two reloads")
            host.write(FED, size=2, keys=args.format(mark=f"turn{turn}") +
                       f", isolation: {isolation}")
            answer = host.ask("reload")
            must(answer.returncode == 0, f"a reload failed: {answer.stderr}{answer.stdout}")
            wanted = 2 if isolation == "process" else 0
            until(lambda: len(host.workers()) == wanted, f"{wanted} processes")
        host.write(FED, size=2, keys=args.format(mark="live") + ", isolation: process")
        before = host.workers()
        must(host.ask("reload").returncode == 0, "a live reload failed")
        until(lambda: host.said().count("live") == 2, "live options in both processes")
        must(host.workers() == before, "live options made other processes")
        count = feeder.end()
        host.process.wait(DEADLINE)
        must(host.ledger("eaters")["balance"] == "exact", "the ledger is not exact")
        must(not host.lines("dead letter"), f"dead letters: {host.lines('dead letter')[:3]}")
        must(sorted(host.out()) == sorted(f"calm-{number}" for number in range(count)),
             f"{len(host.out())} texts of {count}")
        must(host.said().count("a b") == 8, f"lists of options: {host.said()}")
        must(host.said().count("closed") == 8, f"ends: {host.said()}")
    finally:
        host.finish()


def idle_kill():
    """A process that is killed between two messages costs no message."""
    host = Host('pools: {{eaters: {{use: poison.eat, size: 1, isolation: process, '
                'outputs: {{out: writers}}}}, writers: {{use: sink.null, size: 1}}}}')
    try:
        host.start()
        for number in range(3):
            worker = until(host.workers, "a process")[0]
            until(lambda: host.ask("send", "eaters", f"calm-{number}\n").returncode == 0, "a send")
            until(lambda: host.done("eaters") == number + 1, "a text that is done")
            os.kill(worker, signal.SIGKILL)
            until(lambda: host.workers() not in ([], [worker]), "another process")
        ended = host.lines("process of a worker ended")
        must([line["callback"] for line in ended] == ["none"] * 3, f"ends: {ended}")
        must(not host.lines("dead letter"), "a dead letter")
        host.process.terminate()
        must(host.process.wait(DEADLINE) == 0, "the exit code")
    finally:
        host.finish()


def host_killed():
    """SIGKILL of the host, in the midst of its work, ends the processes and what they started."""
    host = Host(EATING, texts({}), size=4, keys="isolation: process, args: {wait: 60s}")
    try:
        workers = until(lambda: len(found := host.workers()) == 4 and found,
                        "four processes") if host.start() else []
        host.process.kill()
        host.process.wait()
        until(lambda: not any(map(is_alive, workers)), "the end of the processes")
    finally:
        host.finish()


def hostile():
    """A process that writes nonsense all the time harms no one else, and ends no message as done.
    promise B95"""
    host = Host('sources: {{lines: {{use: files.lines, args: {{paths: ["{folder}/texts"]}}, '
                'to: bad}}}}\npools:\n  bad: {{use: poison.hostile, size: 2, isolation: process, '
                'process: {{timeout: 500ms}}, restart: {{max: 1000, backoff: 1ms..1ms, '
                'then: keep_trying}}}}\n', texts({}))
    try:
        host.start().process.wait(DEADLINE)
        must(host.process.returncode == 65, f"the exit code {host.process.returncode}")
        ledger = host.ledger("bad")
        must((ledger["accepted"], ledger["done"], ledger["dead"], ledger["balance"]) ==
             (LINES + ledger["moved"], 0, LINES, "exact"), f"{ledger}")
        # A line that stands for several has no reason.
        must("wrote nonsense" in {line.get("reason") for line in
                                  host.lines("process of a worker ended")}, "no nonsense was met")
    finally:
        host.finish()


def has_call(number):
    """Whether this kernel has a call, whose first argument is no descriptor here."""
    return LIBC.syscall(number, -1, b"", 0, 0) == 0 or ctypes.get_errno() != errno.ENOSYS


def allowed(rules, lines, fails=False):
    """What `poison.reach` could do, by its own words."""
    rest = 'sources: {{lines: {{use: files.lines, args: {{paths: ["{folder}/texts"]}}, ' \
           'to: reach}}}}\npools:\n  reach: {{use: poison.reach, size: 1, isolation: ' \
           'process, process: {rules}}}\n'
    host = Host(rest, rules="{}")
    try:
        host.write(rest, rules=rules.replace("FOLDER", str(host.folder)))
        for name in ("in", "out"):
            (host.folder / name).mkdir()
            (host.folder / name / "file").write_text("text", encoding="utf-8")
        (host.folder / "texts").write_text(
            "".join(line.format(host.folder) + "\n" for line in lines), encoding="utf-8")
        host.start().process.wait(DEADLINE)
        must((host.process.returncode != 0) == fails, (host.folder / "log").read_text("utf-8"))
        return [line.replace(str(host.folder), "") for line in host.said()]
    finally:
        host.finish()


def sandbox():
    """promise B116"""
    lines = ["read {0}/in/file", "write {0}/in/file", "read {0}/out/file", "write {0}/out/file",
             "write {0}/out/new", "remove {0}/out/new", "read {0}/texts", "read /etc/passwd",
             "read /proc/self/maps", "chmod {0}/out/file", "truncate {0}/in/file", "socket -",
             "host -", "owner -", "setsid -", "limit -", "pair -", "shm -", "schedule -",
             "sibling -", "clone3 -", "self -"]
    if has_call(FCHMODAT2):
        lines.insert(0, "chmod2 {0}/out/file")
    rules = '{sandbox: {strict: ' + STRICT + \
        ', read: ["FOLDER/in"], write: ["FOLDER/out"]'
    wanted = ["read /in/file", "read /out/file", "write /out/file", "write /out/new",
              "remove /out/new", "self -"]
    done = allowed(rules + "}}", lines)
    must(done == wanted, f"in a sandbox: {done}")
    done = allowed(rules + ", network: true}}", lines)
    must(sorted(done) == sorted(wanted + ["socket -", "pair -"]),
         f"in a sandbox with network: {done}")
    done = allowed("{sandbox: {}}", lines)
    must(done == ["self -"], f"in an empty sandbox: {done}")
    done = allowed("{timeout: 1m}", lines)
    must(len(done) == len(lines), f"without a sandbox: {done}")
    must(allowed('{sandbox: {read: ["/nowhere"]}}', lines, fails=True) == [], "no such path")


def sandbox_changes():
    """promise B116: a reload of the sandbox makes new processes. Threads of `open` are refused."""
    host = Host(FED, size=1, keys="isolation: process")
    try:
        host.start(stdin=subprocess.PIPE)
        before = until(host.workers, "a process")
        host.write(FED, size=1, keys="isolation: process, process: {sandbox: {}}")
        answer = until(lambda: (done := host.ask("reload")).returncode == 0 and done, "a reload")
        must("process.sandbox: off -> no network" in answer.stdout, f"{answer.stdout}")
        until(lambda: host.workers() and not set(host.workers()) & set(before), "a new process")
        host.process.stdin.close()
        must(host.process.wait(DEADLINE) == 0, "the exit code")
    finally:
        host.finish()
    host = Host("pools: {{p: {{use: poison.hostile, isolation: process, process: {rules}}}}}",
                rules="{sandbox: {strict: true}}")
    said = "has started threads" if BOUNDS_ALL else "landlock of this kernel"
    try:
        host.start().process.wait(DEADLINE)
        must(host.process.returncode != 0 and said in
             (host.folder / "log").read_text("utf-8"), "threads of `open`")
    finally:
        host.finish()


def without_landlock():
    """The kernel has no landlock for this process, and for those that it starts."""
    numbers = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x00050000 | 38),
               (0x06, 0, 0, 0x7fff0000)]
    code = b"".join(struct.pack("=HBBI", *number) for number in numbers)
    keep = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("@HP", len(numbers), ctypes.addressof(keep)))
    must(LIBC.prctl(38, 1, 0, 0, 0) == 0 and LIBC.prctl(22, 2, program, 0, 0) == 0, "a filter")


def sandbox_of_the_machine():
    """promise B116: check says what the kernel cannot enforce; `strict` refuses it."""
    for strict, code in ((False, 0), (True, 78)):
        host = Host("pools: {{p: {{use: poison.answer, isolation: process, process: {rules}}}}}",
                    rules="{sandbox: {strict: " + ("true" if strict else "false") + "}}")
        try:
            for prepare, said in ((None, False), (without_landlock, True)):
                answer = subprocess.run([WEIR, "check", host.folder / "weir.yaml"], check=False,
                                        capture_output=True, text=True, preexec_fn=prepare)
                text = answer.stdout + answer.stderr
                must(answer.returncode == (code if said or not BOUNDS_ALL else 0) and
                     ("this kernel has no landlock" in text) == said, f"check: {text}")
        finally:
            host.finish()


def tour():
    """Calls of every kind."""
    host = Host('sources: {{lines: {{use: files.lines, args: {{paths: ["{folder}/texts"]}}, '
                'to: tours}}}}\npools:\n'
                '  tours: {{use: poison.tour, size: 1, isolation: process, outputs: '
                '{{out: writers}}}}\n  answers: {{use: poison.answer, size: 1, isolation: process}}'
                '\n  writers: {{use: sink.null, size: 1}}',
                ["one", "two"])
    try:
        host.start()
        until(lambda: "tour ended" in host.said() or host.process.poll() is not None, "the end")
        must(host.said() == ["tour ended"], f"said {host.said()}")
        host.process.wait(DEADLINE)
        must(len(host.lines("call is not supported")) == 4, "lines of what is not supported")
        must(host.ledger("tours")["balance"] == "exact", "the ledger is not exact")
    finally:
        host.finish()


def late():
    """A message that the host has settled is not there for the process either."""
    host = Host('sources: {{lines: {{use: files.lines, args: {{paths: ["{folder}/texts"]}}, '
                'to: late}}}}\npools: {{late: {{use: poison.late, size: 1, isolation: process, '
                'remove: {{timeout: 100ms}}}}}}', ["one"])
    try:
        host.start()
        until(lambda: host.said() == ["kept"], "the message")
        host.process.terminate()
        host.process.wait(DEADLINE)
        must(host.said() == ["kept", "closed"], f"said {host.said()}")
        must(host.process.returncode >= 0, f"the exit code {host.process.returncode}")
    finally:
        host.finish()


def shortage():
    """A process that cannot be started harms no other one."""
    host = Host(EATING, texts({}), size=40, keys="isolation: process")
    try:
        host.start(limit=100)
        host.process.wait(DEADLINE)
        log = (host.folder / "log").read_text(encoding="utf-8")
        must(host.process.returncode > 0 and "Too many open files" in log,
             f"{host.process.returncode}: {log[-1000:]}")
        until(lambda: not host.workers(), "the end of the processes")
    finally:
        host.finish()


def refusals():
    """What cannot be isolated is refused, with the reason."""
    for keys, reason in (
            ("use: poison.origin", "poison.origin is the origin of messages (settled)"),
            ("use: poison.answer, lease: {{}}", "in a pool with `lease`"),
            ("use: poison.answer, manager: poison.answer", "in a pool with `manager`")):
        host = Host("pools: {{p: {{" + keys + ", isolation: process}}}}")
        try:
            answer = subprocess.run([WEIR, "check", host.folder / "weir.yaml"], check=False,
                                    capture_output=True, text=True)
            must(answer.returncode == 78 and reason in answer.stdout + answer.stderr,
                 f"check of {keys}: {answer.returncode} {answer.stdout}{answer.stderr}")
        finally:
            host.finish()


def main():
    failures = 0
    for name, scene in (("crashes", lambda: crashes(0)), ("crashes again", lambda: crashes(1)),
                        ("crash lines", crash_lines), ("debug", debugged), ("back-off", back_off),
                        ("time-out", time_out), ("memory", memory), ("large", too_large),
                        ("files", files),
                        ("hostile", hostile), ("sandbox", sandbox),
                        ("sandbox changes", sandbox_changes),
                        ("sandbox of the machine", sandbox_of_the_machine), ("tour", tour),
                        ("refusals", refusals), ("late", late), ("shortage", shortage),
                        ("idle kill", idle_kill), ("host killed", host_killed),
                        ("reloads", reloads)):
        try:
            scene()
            print(f"{name}: ok")
        except (Trouble, subprocess.TimeoutExpired) as trouble:
            failures += 1
            print(f"{name}: FAILED: {trouble}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
