#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a host that has too few descriptors for its plugins loses nothing: what finds none
        waits, and is done later. Shows promise B25 and promise H17.
Method: real hosts with a small `ulimit -n`, and with plugins that want more than that: commands,
        fetches, and files behind a glob. Every wait is for a condition.

    shortage.py WEIR PLUGINS TREE
"""
import collections
import contextlib
import http.server
import os
import re
import subprocess
import tempfile
import threading

from control import PLUGINS, WEIR, Host, check, run_tests, until

DESCRIPTORS = 64


class SmallHost(Host):
    """A host that may have DESCRIPTORS open descriptors."""
    def start(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                ["sh", "-c", f'ulimit -n {DESCRIPTORS}; exec "$@"', "sh", WEIR, "run", self.file],
                stdout=log, stderr=log,
                env={**os.environ,
                     "WEIR_PLUGIN_PATH": os.path.join(os.path.dirname(PLUGINS), "tests/plugins")})
        until(lambda: b'event="started"' in self.read_log() or self.process.poll() is not None,
              "the start")

    def read_log(self):
        with open(self.log, "rb") as log:
            return log.read()

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


@contextlib.contextmanager
def small(text, prepare=lambda work: None):
    with tempfile.TemporaryDirectory() as work:
        host = SmallHost(work)
        prepare(work)
        host.write(text.replace("WORK", work))
        host.start()
        try:
            yield host
        finally:
            host.stop(9)


def check_done(host, pool, count):
    """The host ends by itself, and has finished `count` messages of the pool."""
    code = host.process.wait()
    log = host.read_log().decode()
    done = re.search(rf'component={pool} event="ledger".*\bdone=(\d+)', log)
    check(code == 0, f"exit code {code}: {log[-2000:]}")
    check(done and int(done.group(1)) == count, f"{done} of {count}: {log[-2000:]}")


# --- commands ----------------------------------------------------------------------------------

COMMANDS = """
sources: {numbers: {use: gen.numbers, to: work, args: {count: 200}}}
pools: {work: {use: exec.run, size: 40, args: {command: [sleep, "0.05"]}}}
"""


def test_commands_wait_for_descriptors():
    """promise B25"""
    with small(COMMANDS) as host:
        check_done(host, "work", 200)


# --- fetches -----------------------------------------------------------------------------------

FETCHES = """
sources: {numbers: {use: gen.numbers, to: work, args: {count: 200}}}
pools: {work: {use: http.client, mailbox: 100,
               args: {url: "http://127.0.0.1:PORT/{key}", parallel: 100, timeout: 60s}}}
"""


class Slow(http.server.BaseHTTPRequestHandler):
    """Answers after a while, so that many requests wait at a time."""
    asked = collections.Counter()

    def do_GET(self):
        Slow.asked[self.path] += 1
        threading.Event().wait(0.05)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def test_fetches_wait_for_descriptors():
    """promise B25"""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with small(FETCHES.replace("PORT", str(server.server_address[1]))) as host:
                check_done(host, "work", 200)
        finally:
            server.shutdown()


# --- files -------------------------------------------------------------------------------------

FILES = """
sources: {lines: {use: SOURCE, to: work, args: {paths: ["WORK/d/*"]MORE}}}
pools: {work: {use: file.append, args: {path: "WORK/out"}}}
"""


def write_files(work):
    os.mkdir(f"{work}/d")
    for number in range(200):
        with open(f"{work}/d/{number}", "w", encoding="ascii") as file:
            file.write("".join(f"{number} {line}\n" for line in range(10)))


def lines_of(host):
    with open(f"{host.work}/out", encoding="ascii") as file:
        return collections.Counter(file.read().split("\n")[:-1])


WHOLE = collections.Counter(f"{number} {line}" for number in range(200) for line in range(10))


def test_files_behind_a_glob_have_their_turn():
    """promise B25"""
    with small(FILES.replace("SOURCE", "files.lines").replace("MORE", ", position: WORK/place"),
               write_files) as host:
        check(host.process.wait() == 0, f"the exit code: {host.read_log()[-2000:]}")
        check(lines_of(host) == WHOLE, "lines are missing, or came twice")
        check(host.read_log().count(b"files wait") == 1, "one warning")


def test_followed_files_have_their_turn_and_grow():
    """promise B25"""
    with small(FILES.replace("SOURCE", "files.tail").replace("MORE", ", poll: 50ms"),
               write_files) as host:
        until(lambda: lines_of(host) == WHOLE, "all lines")
        for number in range(0, 200, 7):
            os.rename(f"{host.work}/d/{number}", f"{host.work}/d/{number}.old")
            with open(f"{host.work}/d/{number}.old", "a", encoding="ascii") as file:
                file.write(f"{number} 10\n")
        more = collections.Counter(f"{number} 10" for number in range(0, 200, 7))
        until(lambda: lines_of(host) == WHOLE + more, "the lines that were appended")
        check(host.stop() == 0, f"the exit code: {host.read_log()[-2000:]}")


# --- dead letters ------------------------------------------------------------------------------

DEAD = """
sources:
  hoard: {use: hoarder.all, to: other}
  numbers: {use: gen.numbers, to: work, args: {count: 3}}
pools:
  work: {use: exec.run, outputs: {out: none}, args: {command: ["true", "{}"]}}
  other: {use: sink.null}
"""


def test_replay_marks_the_file_while_a_plugin_takes_all_descriptors():
    """promise H17: else a replay of the file sends the same messages once more. A payload with a
    NUL is rejected before anything is opened."""
    with tempfile.TemporaryDirectory() as work:
        host = SmallHost(work)
        host.write(DEAD, more=f', dead_letters: {{file: "{work}/dead"}}')
        host.start()
        try:
            until(lambda: b"the hoard is complete" in host.read_log(), "the whole hoard")
            until(lambda: host.descriptors() == DESCRIPTORS, "a host without descriptors")
            until(lambda: host.run("dead", "work").stdout.count("rejected") == 3, "dead letters")
            answer = host.run("dead", "work", "--replay")
            check("3 sent again" in answer.stdout, f"{answer}")
            listed = host.run("dead", "--file", f"{work}/dead").stdout
            check(listed.count("(sent again)") == 3, listed)
        finally:
            host.stop(9)


# --- the host itself ---------------------------------------------------------------------------

HOARD = """
sources:
  hoard: {use: hoarder.all, to: work}
  lines: {use: files.tail, to: work,
          args: {paths: ["WORK/d/*"], position: WORK/place, save_every: 1h}}
pools: {work: {use: sink.null, size: SIZE}}
"""


def test_host_answers_reloads_and_saves_while_a_plugin_takes_all_descriptors():
    """promise H17"""
    with tempfile.TemporaryDirectory() as work:
        host = SmallHost(work)
        os.mkdir(f"{work}/d")
        host.write(HOARD.replace("WORK", work).replace("SIZE", "1"))
        host.start()
        try:
            # From here on it takes nothing that the host gives free.
            until(lambda: b"the hoard is complete" in host.read_log(), "the whole hoard")
            until(lambda: host.descriptors() == DESCRIPTORS, "a host without descriptors")
            until(lambda: b"descriptors are used up" in host.read_log(), "a warning")
            for _ in range(20):
                status = host.run("status")
                check(status.returncode == 0 and "work" in status.stdout, f"{status}")
            for size in range(2, 5):
                host.write(HOARD.replace("WORK", work).replace("SIZE", str(size)))
                reloaded = host.run("reload")
                check(reloaded.returncode == 0, f"weir reload: {reloaded}")
                until(lambda: host.json("status")["pools"][0]["live"] == size, "the new size")
        finally:
            check(host.stop() == 0, f"the exit code: {host.read_log()[-2000:]}")
        check(os.path.exists(f"{work}/place"), "the position")


if __name__ == "__main__":
    run_tests(globals())
