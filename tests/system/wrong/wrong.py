#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal: a plugin that is wrong harms nobody but itself: `weir check` says what is wrong with it, a
host at work says the same at a reload and serves the next message as it did the one before, and
a fault at work is reported with the plugin while the ledger balances. Shows promise
B9; also promise B1, promise B2, promise B7, promise C5, promise R2 and promise V3.

Method: one row for each fault. `weir check` looks at a file that names the plugin; a host that
reads lines from a FIFO gets a HUP for the new file, is given a line that the plugin must handle, if
it came so far, and then a line for a plugin with nothing wrong, which must be heard. Plugins that
never return, or end the host, have a host of their own. Nothing waits for time, but where Weir
itself is to reach a time-out. The table of what was said is docs/wrong-plugins.md.

Usage: wrong.py WEIR TEST_PLUGINS [--write]
"""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "wrong-plugins.md"
WEIR, TEST_PLUGINS = (Path(argument).resolve() for argument in sys.argv[1:3])
WRITE = "--write" in sys.argv

EX_SOFTWARE = 70
EX_CONFIG = 78
E_MACHINE = 18  # offset in an ELF header
EM_S390 = 22

PAGE_HEAD = """\
<!-- Written by tests/system/wrong/wrong.py --write from its results. -->

# Plugins that are wrong

This page shows the effect of each fault of a plugin. `weir check` reports a fault before anything
runs. A running host that reloads (`HUP`) a file with such a plugin refuses the whole file and keeps
its configuration. A fault that shows only at run time is logged once, with pool, worker, plugin and
consequence, and then counted as `misuses` in the lines of the ledger. In each row the host then
served the next message, unless the last column says otherwise, and its ledger balanced.

A new plugin is first loaded in a process of its own, and every `check` is called in such a process.
So a constructor or a `check` may crash, end the program or never return (`WEIR_PLUGIN_TIMEOUT`, 5
seconds) without harm to a running host. A crash in another callback ends the host, because plugins
share its memory and the extent of the damage is unknown; the last line of the log names the plugin.
When a plugin has overwritten memory of the host, and the host's own code crashes later, the line
says `in the host itself` and names the last callback of the thread, which may be that of another
plugin.

| fault | `weir check` | a running host | served on |
|---|---|---|---|
"""


# --- the rows -------------------------------------------------------------------------------------

class Row:
    """A fault: what the file says of the pool `bad`, and what must be said, as a pattern."""

    def __init__(self, fault, use, check=None, host=None, more="", marked=False, apart=False):
        self.fault = fault
        self.use = use          # of the pool; the plugin's name is its first part
        self.check = check      # what check must say; None: it finds nothing
        self.host = host        # what a host must say; None: what check says
        self.more = more        # further keys of the pool
        self.marked = marked    # the plugin is given a message
        self.apart = apart      # has a host of its own
        self.said_check = ""
        self.said_host = ""
        self.served = ""


# Refused by check and reload alike.
LOADING = [
    Row("is not there", "is_not_there.run",
        r"no plugin called is_not_there: there is no is_not_there\.so"),
    Row("is no ELF file", "text.run", r"text\.so: is no shared object"),
    Row("is built for another machine", "foreign.run", r"is built for S/390, this host is "),
    Row("is only half there", "half.run", r"half\.so: is not whole"),
    Row("is built for another major version of the ABI", "other_major.run",
        r"is built for SDK 2, this host speaks 1; rebuild the plugin or upgrade the host"),
    Row("is built for a later minor version of the ABI", "too_new.run",
        r"is built for SDK 1\.7, this host speaks 1\.N; upgrade the host"),
    Row("has a descriptor that is too small", "too_small.run", r"its descriptor has \d+ bytes"),
    Row("has a descriptor that is too large", "too_large.run", r"its descriptor has \d+ bytes"),
    Row("exports no descriptor", "no_symbol.run", r"does not export weir_plugin_v1"),
    Row("calls itself other than its file", "other_name.run", r"calls itself another"),
    Row("needs a function that does not exist", "undefined_symbol.run",
        r"cannot be loaded: undefined symbol: function_of_nobody"),
    Row("has a table without its end", "no_end.run", r"or no row of zeros after them"),
    Row("has a table without a row of zeros at its end", "unended.run",
        r"its tables cannot be read \(killed by SIGSEGV\): does each of them, of behaviours, "
        r"options and outputs, end with a row of zeros"),
    Row("has neither `handle` nor `produce`", "no_callback.run",
        r"has neither handle nor produce"),
    Row("has an option outside of its settings", "bad_offset.run", r"behaviour run: "),
    Row("has two options of one name", "two_options.run", r"behaviour run: "),
    Row("has a default that its own bounds refuse", "bad_default.run", r"behaviour run: "),
    Row("ends the program in a constructor", "constructor_exits.run",
        r"its constructor ended the program with exit code 3; it said: no licence was found"),
    Row("crashes in a constructor", "constructor_crashes.run",
        r"killed by SIGSEGV while it was loaded"),
    Row("ends the program in `check`", "rash.exits",
        r"pools\.bad\.args: its check ended the program with exit code 3; it said: the licence "
        r"has run out"),
    Row("crashes in `check`", "rash.crashes",
        r"pools\.bad\.args: its check was killed by SIGSEGV"),
]

# In a host of its own: it takes the whole time-out.
HANGING = Row("has a constructor that never returns", "constructor_hangs.run",
              r"its constructor did not return within 5s", apart=True)

# Found by opening the workers.
OPENING = [
    Row("fails in `open`", "unruly.open",
        host=r"pools\.bad\.use: bad#0 failed to open: .*: the camera is not there"),
    Row("fails in `open` of the third worker", "unruly.third",
        host=r"pools\.bad\.use: bad#2 failed to open: .*: the camera is not there"),
]
SLOW = Row("is too slow in `open`", "slow_open.pass",
           host=r"pools\.bad\.open_timeout: 1 of the workers of bad did not open in time",
           more=", open_timeout: 300ms, outputs: {out: talk}, args: {gate: %s}")

# Found by giving it a message.
AT_WORK = [
    Row("returns an unknown verdict", "unruly.verdict",
        host=r"handle returned an unknown verdict.* value=77 ", marked=True),
    Row("settles a kept message twice", "unruly.settle",
        host=r"settled a message that it does not keep", marked=True),
    Row("emits on an output that it does not declare", "unruly.emit",
        host=r"emitted on an output that its behaviour does not declare.* value=5 ", marked=True),
]
FORGETFUL = Row("never settles what it keeps", "unruly.keep",
                host=r"ended before it settled a kept message", marked=True,
                more=", remove: {timeout: 100ms}")
LATE = Row("sends after `close` from a thread of its own", "late.run",
           host=r"the sender gets CLOSED", marked=True)
OVERWRITTEN = Row("is overwritten in place while it runs", "sample.bare",
                  r"sample\.so: is no shared object", marked=True)
CLASHING = Row("brings functions of zlib of its own, which others use", "own_zlib.run",
               marked=True, more=", outputs: {next: real}")
CRASHING = Row("crashes in `handle`", "unruly.crash", marked=True, apart=True,
               host=r"crash signal=SIGSEGV .* in=handle "
                    r"plugin=unruly/1\.0\.0 generation=1 behaviour=crash worker=0 "
                    r"message=unruly\.line/1 attempt=1 effect=the host ends")

OVERWRITING = Row("overwrites its message, then aborts", "unruly.overwrite", marked=True,
                  apart=True,
                  host=r"crash signal=SIGABRT in=handle "
                       r"plugin=unruly/1\.0\.0 generation=1 behaviour=overwrite worker=0 "
                       r"message=unruly\.line/1 effect=the host ends")
WHOSE = r" in=handle plugin=unruly/1\.0\.0 generation=1 behaviour=%s worker=0 " \
        r"message=unruly\.line/1 attempt=1 effect=the host ends with 70"
LEAVING = [
    Row("calls `exit(3)` in `handle`", "unruly.exit", marked=True, apart=True,
        host=r"exit was called code=3" + WHOSE % "exit"),
    Row("raises SIGALRM in `handle`", "unruly.alarm", marked=True, apart=True,
        host=r"a signal was raised signal=SIGALRM" + WHOSE % "alarm"),
    Row("calls `pthread_exit` in `handle`", "unruly.thread", marked=True, apart=True,
        host=r"a thread of the host was ended" + WHOSE % "thread"),
]

ROWS = (LOADING + [HANGING] + OPENING + [SLOW] + AT_WORK +
        [FORGETFUL, LATE, OVERWRITTEN, CLASHING, CRASHING, OVERWRITING] + LEAVING)


# --- the stage ------------------------------------------------------------------------------------

class Pipe:
    """Keeps the lines of a stream as they come; a line wakes the test that waits for it."""

    def __init__(self, stream):
        self.changed = threading.Condition()
        self.lines = []
        self.ended = False
        self.thread = threading.Thread(target=self.read, args=(stream,), daemon=True)
        self.thread.start()

    def read(self, stream):
        with stream:
            for line in stream:
                with self.changed:
                    self.lines.append(line.rstrip("\n"))
                    self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def find(self, pattern, start):
        for index in range(start, len(self.lines)):
            if re.search(pattern, self.lines[index]):
                return index
        return None

    def await_line(self, pattern, start=0):
        """The index of the first line from `start` on that matches."""
        with self.changed:
            self.changed.wait_for(lambda: self.ended or self.find(pattern, start) is not None)
            index = self.find(pattern, start)
        if index is None:
            raise AssertionError("the host ended without saying: %s\n%s" %
                                 (pattern, "\n".join(self.lines[-20:])))
        return index


def environment(**changes):
    """For programs under test: a crash is to be a crash, also under sanitizers."""
    result = dict(os.environ)
    for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
        result[name] = ":".join(filter(None, [result.get(name, ""),
                                              "handle_segv=0:handle_abort=0"]))
    result.update(changes)
    return {name: value for name, value in result.items() if value is not None}


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Host:
    """A host that hears lines, in a folder of its own."""

    def __init__(self, folder, plugins, **changes):
        self.folder = folder
        self.plugins = plugins
        self.number = 0
        self.environment = environment(**changes)
        folder.mkdir()
        self.file = folder / "weir.yaml"
        self.fifo = folder / "lines"
        os.mkfifo(self.fifo)
        self.configure("")
        # For reading, too: then nobody waits for the other to open it.
        self.writer = os.open(self.fifo, os.O_RDWR | os.O_CLOEXEC)
        self.process = subprocess.Popen(
            [WEIR, "run", self.file], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace", env=self.environment,
            preexec_fn=no_core)
        self.out = Pipe(self.process.stdout)
        self.log = Pipe(self.process.stderr)
        self.log.await_line('"started"')

    def configure(self, pools, outputs=""):
        new = self.folder / "new.yaml"
        new.write_text(f"""\
version: 1
host: {{plugins: ["{self.plugins}"], log: {{format: json}},
  turn_warning: 3s}}
dispatchers: {{default: {{threads: 4}}, blocking: {{threads: 4}}}}
x-reached: [bad]
sources: {{lines: {{use: unruly.lines, args: {{path: "{self.fifo}"}}, to: talk,
  dispatcher: blocking}}}}
pools:
  talk: {{use: unruly.talk, size: 1, mailbox: 16{outputs}}}
{pools}""", encoding="utf-8")
        new.rename(self.file)

    def configure_row(self, row, more="", size=1):
        if row.use == "unruly.third":
            size = 3
        outputs = ", outputs: {out: bad}" if row.marked else ""
        self.configure(f"  bad: {{use: {row.use}, size: {size}{row.more}}}\n{more}", outputs)

    def check(self):
        """What `weir check` says of the file, line by line, and its exit code."""
        done = subprocess.run([WEIR, "check", self.file], stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, env=self.environment, preexec_fn=no_core)
        return done.stderr.splitlines(), done.returncode

    def hang_up(self):
        """Asks for a reload; from which line of the log on the answer will stand."""
        start = len(self.log.lines)
        self.process.send_signal(signal.SIGHUP)
        return start

    def answer(self, start):
        """The lines of the log up to the answer, as dictionaries."""
        end = self.log.await_line(
            '"configuration (reloaded|refused)"|"nothing to do"', start)
        return [json.loads(line) for line in self.log.lines[start:end + 1]]

    def reload(self):
        return self.answer(self.hang_up())

    def say(self, line):
        os.write(self.writer, line.encode() + b"\n")

    def serves(self):
        """Sends a line and waits until it is heard, so it was accepted, routed and handled."""
        self.number += 1
        line = f"line {self.number}"
        self.say(line)
        self.out.await_line(f"^heard {line}$")
        return True

    def finish(self):
        """The end of the input is the end of the host. Its exit code."""
        os.close(self.writer)
        return self.process.wait()


def corrupt(plugins):
    """Files that are wrong by their bytes."""
    whole = (plugins / "unruly.so").read_bytes()
    (plugins / "text.so").write_text("this is no plugin\n" * 40, encoding="utf-8")
    (plugins / "half.so").write_bytes(whole[:len(whole) // 2])
    foreign = bytearray(whole)
    foreign[E_MACHINE:E_MACHINE + 2] = EM_S390.to_bytes(2, sys.byteorder)
    (plugins / "foreign.so").write_bytes(foreign)


def cell(text):
    """What was said, without what differs from machine to machine and from version to version."""
    text = re.sub(r"\S*/weir\.yaml:\d+:\d+: ", "", text)
    text = re.sub(r"; looked in .*|\(looked in [^)]*\)| in /[^,\s]*(, /[^,\s]*)*", "", text)
    text = re.sub(r"/\S*/(\w+\.so)", r"\1", text)
    text = re.sub(r"this host speaks 1\.\d+", "this host speaks 1.N", text)
    text = re.sub(r"SDK 1\.0 to 1\.\d+ have \d+ to \d+", "SDK 1.0 to 1.N have A to B", text)
    text = re.sub(r"its descriptor has \d+ bytes", "its descriptor has 0 bytes", text)
    text = re.sub(r"more than the \d+ bytes", "more than the N bytes", text)
    text = re.sub(r"this host is \S+", "this host is HERE", text)
    text = re.sub(r"address=0x[0-9a-f]+", "address=0xADDRESS", text)
    return text.replace("|", "\\|").strip()


def event_of(line):
    """A line of the log as in the table: what happened, and all its fields."""
    fields = [f"{key}={value}" for key, value in line.items()
              if key not in ("ts", "level", "component", "event")]
    return " ".join([line["event"]] + fields)


# --- the tests ------------------------------------------------------------------------------------

class Wrong(unittest.TestCase):
    """All share one host; each leaves it as it was."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="weir-wrong."))
        cls.plugins = cls.work / "plugins"
        cls.plugins.mkdir()
        for plugin in TEST_PLUGINS.glob("*.so"):
            shutil.copy(plugin, cls.plugins)
        corrupt(cls.plugins)
        cls.hanging = Host(cls.work / "hanging", cls.plugins, WEIR_PLUGIN_TIMEOUT=None)
        cls.hanging.configure_row(HANGING)
        cls.hanging_check = subprocess.Popen(
            [WEIR, "check", cls.hanging.file], stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=cls.hanging.environment)
        cls.hanging.process.send_signal(signal.SIGHUP)
        cls.host = Host(cls.work / "host", cls.plugins)

    @classmethod
    def tearDownClass(cls):
        for host in (cls.host, cls.hanging):
            if host.process.poll() is None:
                host.process.kill()
                host.process.wait()
        shutil.rmtree(cls.work)

    # In the order of their names: the page and the ledger come last.

    def refuse(self, row):
        """Check and the host refuse the row for the same reasons."""
        said, code = self.host.check()
        self.assertEqual(code, EX_CONFIG, row.fault)
        lines = self.host.reload()
        self.assertEqual(lines[-1]["event"], "configuration refused", row.fault)
        events = [line["event"] for line in lines[:-1] if line["component"] == "reload"]
        self.assertEqual(said, events, row.fault)
        self.assertEqual(len(said), 1, row.fault)
        row.said_check = cell(said[0])
        row.said_host = "the same"
        self.assertRegex(row.said_check, row.check)

    def served(self, row):
        row.served = "yes" if self.host.serves() else "no"

    def test_1_loading(self):
        for row in LOADING:
            with self.subTest(row.fault):
                self.host.configure_row(row)
                self.refuse(row)
                self.served(row)

    def fail_to_open(self, row, reload):
        self.assertEqual(self.host.check(), ([], 0), row.fault)
        row.said_check = "ok"
        lines = reload()
        self.assertEqual(lines[-1]["event"], "configuration refused", row.fault)
        row.said_host = cell(lines[-2]["event"])
        self.assertRegex(row.said_host, row.host)

    def test_2_opening(self):
        for row in OPENING:
            with self.subTest(row.fault):
                self.host.configure_row(row)
                self.fail_to_open(row, self.host.reload)
                self.served(row)

    def test_2_slow_opening(self):
        gate = self.host.folder / "gate"
        os.mkfifo(gate)
        SLOW.more = SLOW.more % gate
        self.host.configure_row(SLOW)

        def reload():
            """Work goes on meanwhile; `open` is let go long after there is no time left."""
            start = self.host.hang_up()
            self.host.log.await_line('"at the gate"', start)
            self.served(SLOW)
            slow = self.host.log.await_line('"bad#0","event":"turn takes long"', start)
            self.assertRegex(json.loads(self.host.log.lines[slow])["stack"],
                             r"wait_at \(\w+\.so\+0x[0-9a-f]+\)")
            with open(gate, "wb", buffering=0) as opened:
                opened.write(b"n")
            return self.host.answer(start)

        self.fail_to_open(SLOW, reload)
        self.served(SLOW)

    def take_on(self, row, more=""):
        """The host runs the plugin, with which check finds nothing wrong, and gives it a line."""
        self.host.configure_row(row, more)
        self.assertEqual(self.host.check(), ([], 0), row.fault)
        row.said_check = "ok"
        start = len(self.host.log.lines)
        self.accept()
        self.host.say("!" + row.use)
        return start

    def accept(self, host=None):
        lines = (host or self.host).reload()
        self.assertEqual(lines[-1]["event"], "configuration reloaded", lines)

    def put_back(self):
        self.host.configure("")
        self.accept()

    def hear_misuse(self, row, start):
        event = row.host.split(".*")[0]
        index = self.host.log.await_line(f'"{event}"', start)
        row.said_host = cell(event_of(json.loads(self.host.log.lines[index])))
        self.assertRegex(row.said_host, row.host)
        self.assertRegex(row.said_host, r" pool=bad worker=0 plugin=unruly version=1\.0\.0 "
                                        r"generation=1 ")

    def test_3_at_work(self):
        for row in AT_WORK:
            with self.subTest(row.fault):
                start = self.take_on(row)
                self.hear_misuse(row, start)
                self.served(row)
                self.put_back()

    def test_3_forgetful(self):
        start = self.take_on(FORGETFUL)
        self.host.out.await_line("^heard !unruly.keep$")
        self.host.configure_row(FORGETFUL, size=0)
        self.accept()
        self.hear_misuse(FORGETFUL, start)
        self.served(FORGETFUL)
        self.put_back()

    def test_3_late(self):
        self.take_on(LATE)
        self.host.out.await_line("^late began$")
        self.host.configure_row(LATE, size=0)
        self.accept()
        said = self.host.out.lines[self.host.out.await_line("^late [A-Z]+$")]
        LATE.said_host = "the sender gets " + said.split()[1]
        self.assertRegex(LATE.said_host, LATE.host)
        self.served(LATE)
        self.put_back()

    def test_4_overwritten(self):
        file = self.plugins / "sample.so"
        whole = file.read_bytes()
        self.take_on(OVERWRITTEN)
        with open(file, "r+b") as opened:
            opened.write(bytes(len(whole)))
        self.host.say("!again")
        self.host.out.await_line("^heard !again$")
        self.refuse(OVERWRITTEN)
        self.served(OVERWRITTEN)
        file.write_bytes(whole)
        self.put_back()

    def test_4_clashing(self):
        real = zlib.crc32(b"weir")
        self.take_on(CLASHING, "  real: {use: real_zlib.run, size: 1}\n")
        own = self.host.out.await_line("^own_zlib ")
        other = self.host.out.await_line("^real_zlib ")
        self.assertEqual(self.host.out.lines[own], "own_zlib 0badcafe own")
        self.assertEqual(self.host.out.lines[other], f"real_zlib {real:08x} 1")
        CLASHING.said_host = "each uses the one that it was linked with"
        self.served(CLASHING)
        self.put_back()

    def test_5_hanging(self):
        said = self.hanging_check.communicate()[1].splitlines()
        self.assertEqual(self.hanging_check.returncode, EX_CONFIG)
        self.assertEqual(len(said), 1)
        HANGING.said_check = cell(said[0])
        self.assertRegex(HANGING.said_check, HANGING.check)
        index = self.hanging.log.await_line('"configuration refused"')
        self.assertEqual(json.loads(self.hanging.log.lines[index - 1])["event"], said[0])
        HANGING.said_host = "the same"
        HANGING.served = "yes" if self.hanging.serves() else "no"
        self.assertEqual(self.hanging.finish(), 0)

    def end_of(self, row, name):
        """Runs the row in a host of its own, which it ends; the host's last words are the row's."""
        host = Host(self.work / name, self.plugins)
        host.configure_row(row)
        self.assertEqual(host.check(), ([], 0), row.fault)
        row.said_check = "ok"
        self.accept(host)
        host.say("!")
        last = json.loads(host.log.lines[host.log.await_line('"effect":"the host ends')])
        self.assertEqual((last["component"], last["level"]), ("bad", "error"))
        row.said_host = cell(event_of(last))
        self.assertRegex(row.said_host, row.host)
        return host

    def test_5_crashing(self):
        """Shows promise B91."""
        host = self.end_of(CRASHING, "crashing")
        stack = json.loads(host.log.lines[host.log.await_line("stack of the crash")])
        self.assertEqual((stack["component"], stack["level"]), ("bad", "error"))
        place = re.match(r"(?:sanitizer.* < )?crash \(unruly\.so\+(0x[0-9a-f]+)\)", stack["stack"])
        self.assertTrue(place, stack["stack"])
        named = subprocess.run(["addr2line", "-ifCe", self.plugins / "unruly.so", place[1]],
                               capture_output=True, text=True, check=True).stdout
        self.assertRegex(named, r"^crash\n.*unruly\.c:\d+")
        self.assertEqual(host.process.wait(), -signal.SIGSEGV)
        CRASHING.served = "no: it ended by SIGSEGV"

    def test_5_overwriting(self):
        host = self.end_of(OVERWRITING, "overwriting")
        self.assertEqual(host.process.wait(), -signal.SIGABRT)
        OVERWRITING.served = "no: it ended by SIGABRT"

    def test_5_leaving(self):
        for row in LEAVING:
            with self.subTest(row.fault):
                host = self.end_of(row, row.use)
                self.assertEqual(host.process.wait(), EX_SOFTWARE)
                total = host.log.lines[host.log.await_line('"host","event":"ledger"')]
                self.assertEqual(json.loads(total)["balance"], "exact")
                self.assertEqual(json.loads(total)["in_hand"], 1)
                row.served = "no: it ended with 70, and its log says what was accepted"

    def test_8_ledger(self):
        """All that was done wrong is counted, and every message is accounted for."""
        self.assertEqual(self.host.finish(), 65)  # there are dead letters
        last = [json.loads(line) for line in self.host.log.lines if '"ledger"' in line]
        total = [line for line in last if line["component"] == "host"][-1]
        self.assertEqual(total["balance"], "exact")
        self.assertEqual(total["misuses"], len(AT_WORK) + 1)
        self.assertEqual(total["queued"] + total["in_hand"] + total["held"], 0)

    def test_9_page(self):
        page = PAGE_HEAD + "".join(
            f"| {row.fault} | {row.said_check} | {row.said_host} | {row.served} |\n"
            for row in ROWS)
        print(page[len(PAGE_HEAD):])
        if WRITE:
            PAGE.write_text(page, encoding="utf-8")
        self.assertEqual(PAGE.read_text(encoding="utf-8"), page,
                         "docs/wrong-plugins.md differs: run wrong.py with --write")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
