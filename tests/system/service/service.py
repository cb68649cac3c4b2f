#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Goal: a host notifies the service manager when it is ready, reloads and stops, and sends a beat only
while its dispatchers make progress; the unit file is one that systemd takes. Shows promise R19.
Method: a stand-in for the manager's socket, by path and by an abstract name. A FIFO without a
writer blocks all threads of a dispatcher. systemd-analyze, where it is installed, reads the unit.

    service.py WEIR PLUGINS UNIT TEST_PLUGINS
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

WEIR, PLUGINS, UNIT, TEST_PLUGINS = sys.argv[1:5]
WATCHDOG_US = 400_000
TIMEOUT_S = 120

IDLE = """
pools: {rest: {use: sink.null, size: SIZE}}
"""
ENDING = """
sources: {numbers: {use: gen.numbers, args: {count: 3}, to: rest}}
pools: {rest: {use: sink.null}}
"""
COMMAND = """
sources: {lines: {use: stdin.lines, to: show}}
pools: {show: {use: exec.run, args: {command: ["env > FOLDER/variables"], shell: true}}}
"""
# The source waits in `produce` for a line, and keeps the only thread of the dispatcher.
BLOCKED = """
dispatchers: {default: {threads: 1}}
sources:
  lines: {use: unruly.lines, args: {path: "FOLDER/lines"}, to: rest, dispatcher: default}
pools: {rest: {use: sink.null}}
"""


class Manager:
    """The socket of a service manager."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address.replace("@", "\0", 1))
        self.socket.settimeout(TIMEOUT_S)
        self.address = address

    def take(self):
        text = self.socket.recv(4096).decode()
        return dict(line.split("=", 1) for line in text.split("\n"))

    def wait(self, key):
        """The next message with this key."""
        while True:
            message = self.take()
            if key in message:
                return message

    def beats_within(self, seconds):
        """How many beats come in this time; and those that waited already are dropped first."""
        self.drain()
        end = time.monotonic() + seconds
        count = 0
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                count += "WATCHDOG" in self.take()
            except TimeoutError:
                break
        self.socket.settimeout(TIMEOUT_S)
        return count

    def drain(self):
        self.socket.setblocking(False)
        try:
            while True:
                self.socket.recv(4096)
        except BlockingIOError:
            pass
        self.socket.settimeout(TIMEOUT_S)


class Service(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.manager = None
        self.process = None

    def tearDown(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        if self.manager:
            self.manager.socket.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, text, more=""):
        path = self.folder / "weir.yaml"
        new = self.folder / "new"
        new.write_text("version: 1\n"
                       f'host: {{plugins: ["{PLUGINS}", "{TEST_PLUGINS}"], '
                       f'control: "{self.folder}/control"{more}}}\n' + text)
        new.rename(path)
        return path

    def start(self, text, address=None, variables=None, more="", lines=""):
        self.manager = Manager(address or f"{self.folder}/notify")
        log = open(self.folder / "log", "wb")
        with log:
            self.process = subprocess.Popen(
                [WEIR, "run", str(self.write(text, more))], stdout=log, stderr=log,
                stdin=subprocess.PIPE,
                env={**os.environ, "NOTIFY_SOCKET": self.manager.address, **(variables or {})})
        self.process.stdin.write(lines.encode())
        self.process.stdin.close()

    def run_weir(self, *arguments):
        return subprocess.run([WEIR, *arguments, "--control", f"{self.folder}/control"],
                              capture_output=True, text=True, check=False)

    def test_start_reload_and_stop_are_reported(self):
        self.start(IDLE.replace("SIZE", "2"), more=", shutdown_timeout: 70s")
        ready = self.manager.wait("READY")
        self.assertEqual("generation 1, pools 1, sources 0", ready["STATUS"])
        self.assertEqual(0, self.run_weir("status").returncode, "it serves when it is ready")

        self.write(IDLE.replace("SIZE", "3"))
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.assertEqual(0, self.run_weir("reload").returncode)
        reloading = self.manager.wait("RELOADING")
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.assertTrue(before // 1000 <= int(reloading["MONOTONIC_USEC"]) <= after // 1000)
        self.assertEqual("generation 2, pools 1, sources 0",
                         self.manager.wait("READY")["STATUS"])

        self.write(IDLE.replace("SIZE", "none"))
        self.assertNotEqual(0, self.run_weir("reload").returncode)
        self.manager.wait("RELOADING")
        self.assertEqual("configuration refused; running on with generation 2, pools 1, sources 0",
                         self.manager.wait("READY")["STATUS"])

        self.write(IDLE.replace("SIZE", "3"), more=", shutdown_timeout: 70s")
        self.process.terminate()
        self.assertEqual("35000000", self.manager.wait("STOPPING")["EXTEND_TIMEOUT_USEC"])
        self.assertEqual(0, self.process.wait())

    def test_an_abstract_address_and_an_end_without_a_signal(self):
        self.start(ENDING, address=f"@weir-test-{os.getpid()}")
        self.manager.wait("READY")
        self.manager.wait("STOPPING")
        self.assertEqual(0, self.process.wait())

    def test_no_manager_and_a_wrong_address_do_no_harm(self):
        for address in ("", "relative", "/" + "x" * 200, f"{self.folder}/nobody"):
            done = subprocess.run([WEIR, "run", str(self.write(ENDING))], capture_output=True,
                                  env={**os.environ, "NOTIFY_SOCKET": address}, check=False)
            self.assertEqual(0, done.returncode, done.stderr)

    def test_commands_of_workers_do_not_speak_for_the_host(self):
        self.start(COMMAND.replace("FOLDER", str(self.folder)), lines="one\n")
        self.manager.wait("STOPPING")
        self.assertEqual(0, self.process.wait(), (self.folder / "log").read_text())
        variables = (self.folder / "variables").read_text()
        self.assertIn("PATH=", variables)
        self.assertNotIn("NOTIFY_SOCKET", variables)

    def test_a_callback_that_blocks_stops_no_beat(self):
        os.mkfifo(self.folder / "lines")
        # Opening for reading and writing does not wait; the source then waits for a line.
        pipe = os.open(self.folder / "lines", os.O_RDWR)
        self.start(BLOCKED.replace("FOLDER", str(self.folder)), more=", turn_warning: 10ms",
                   variables={"WATCHDOG_USEC": str(WATCHDOG_US)})
        self.manager.wait("READY")
        while "turn takes long" not in (self.folder / "log").read_text():
            time.sleep(0.01)
        # Another thread serves the dispatcher: the host goes on.
        self.manager.wait("WATCHDOG")
        self.assertEqual(0, self.run_weir("status").returncode)
        os.close(pipe)
        self.manager.wait("STOPPING")
        self.assertEqual(0, self.process.wait())

    def test_an_idle_host_beats(self):
        self.start(IDLE.replace("SIZE", "1"), variables={"WATCHDOG_USEC": str(WATCHDOG_US)})
        self.manager.wait("READY")
        for _ in range(10):
            self.manager.wait("WATCHDOG")

    def test_a_beat_that_another_process_owes_is_not_sent(self):
        self.start(ENDING.replace("numbers: {use: gen.numbers, args: {count: 3}",
                                  "numbers: {use: gen.forever"),
                   variables={"WATCHDOG_USEC": str(WATCHDOG_US), "WATCHDOG_PID": "1"})
        self.manager.wait("READY")
        self.assertEqual(0, self.manager.beats_within(WATCHDOG_US / 1e6))

    def test_a_socket_of_the_manager_is_served_and_stays(self):
        path = self.folder / "control"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, \
                socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            listener.bind(str(path))
            listener.listen()
            client.connect(str(path))
            client.sendall(b"GET /livez HTTP/1.1\r\nHost: weir\r\n\r\n")
            self.process = subprocess.Popen(
                ["sh", "-c", 'LISTEN_PID=$$ LISTEN_FDS=2 exec "$@" 3</dev/null 4<&0', "sh", WEIR,
                 "run", str(self.write(IDLE.replace("SIZE", "1")))], stdin=listener,
                stderr=subprocess.DEVNULL)
            client.settimeout(TIMEOUT_S)
            self.assertIn(b"200", client.recv(4096), "a client that came before the host")
        for _ in range(2):
            self.assertEqual(0, self.run_weir("reload").returncode)
        self.write(IDLE.replace("SIZE", "1")).write_text(
            (self.folder / "weir.yaml").read_text().replace("control\"", "other\""))
        self.assertEqual(0, self.run_weir("reload").returncode)
        done = subprocess.run([WEIR, "status", "--control", f"{self.folder}/other"],
                              capture_output=True, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        self.process.terminate()
        self.assertEqual(0, self.process.wait())
        self.assertTrue(path.is_socket(), "the manager's file stays")
        self.assertFalse((self.folder / "other").exists(), "the host's own is removed")

    def test_lines_for_the_journal_have_priorities(self):
        path = self.folder / "journal"
        with open(path, "wb") as log:
            status = os.fstat(log.fileno())
            stream = f"{status.st_dev}:{status.st_ino}"
            done = subprocess.run([WEIR, "run", str(self.write(ENDING))], stderr=log,
                                  env={**os.environ, "JOURNAL_STREAM": stream}, check=False)
        self.assertEqual(0, done.returncode)
        for line in path.read_text().splitlines():
            self.assertRegex(line, "^<[3-7]>")


@unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd")
class Unit(unittest.TestCase):
    """The unit file, with the program of this build."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        text = re.sub(r"=/\S+/weir (run|reload)", rf"={WEIR} \1", Path(UNIT).read_text())
        self.unit = self.folder / "weir@test.service"
        self.unit.write_text(text)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def analyze(self, *arguments):
        return subprocess.run(["systemd-analyze", *arguments, str(self.unit)], text=True,
                              capture_output=True, check=False)

    def test_systemd_takes_every_line(self):
        done = self.analyze("--man=no", "verify")
        said = [line for line in done.stderr.splitlines() if "weir" in line]
        self.assertEqual((0, []), (done.returncode, said), done.stderr)

    def test_exposure_is_low(self):
        done = self.analyze("security", "--offline=true", "--threshold=25", "--no-pager")
        self.assertEqual(0, done.returncode, done.stdout[-400:] + done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
