#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   what a reload meets besides a changed file: an open that never returns, a file that is no
        file, feeders that wait for the pool that is replaced, a pool that is removed behind workers
        of another behaviour, other directories of plugins and another cap on memory, descriptors of
        what does not change.
        Shows promise R2, promise R3, promise R13, promise R14 and promise R16.
Method: real hosts, asked by their socket; workers that open, or go on, when a byte comes through a
        FIFO. What was first and what came then is read off the log. Every wait is for a condition.

    cases.py WEIR PLUGINS TEST_PLUGINS
"""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

WEIR, PLUGINS, TEST_PLUGINS = sys.argv[1:4]
WAIT_LIMIT_S = int(os.environ.get("WEIR_TEST_WAIT_LIMIT_MS", "60000")) / 1000


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("weir")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Host:
    plugins, test_plugins = PLUGINS, TEST_PLUGINS

    def __init__(self, work, name):
        self.path = {what: os.path.join(work, f"{name}.{what}")
                     for what in ("yaml", "socket", "log", "gate", "record")}
        os.mkfifo(self.path["gate"])
        self.gate = os.open(self.path["gate"], os.O_RDWR)
        self.process = None
        self.folders = [PLUGINS, TEST_PLUGINS]
        self.memory = "0"

    def write(self, text):
        self.write_as_it_is(self.text(text))

    def write_as_it_is(self, whole):
        with open(self.path["yaml"] + ".new", "w", encoding="ascii") as stream:
            stream.write(whole)
        os.rename(self.path["yaml"] + ".new", self.path["yaml"])

    def text(self, text):
        for what, path in self.path.items():
            text = text.replace(what.upper(), path)
        return (f"version: 1\nhost: {{plugins: {json.dumps(self.folders)}, memory: {self.memory}, "
                f"control: {self.path['socket']}}}\n{text}")

    def start(self, text, before=None):
        """`before` is called in the new process."""
        self.start_with(self.text(text), before)

    def start_with(self, whole, before=None):
        self.write_as_it_is(whole)
        with open(self.path["log"], "wb") as log:
            self.process = subprocess.Popen([WEIR, "run", self.path["yaml"]], stdout=log,
                                            stderr=log, preexec_fn=before)
        self.until(lambda: 'component=host event="started"' in self.log(), "it does not start")

    def log(self):
        return open(self.path["log"], encoding="utf-8", errors="replace").read()

    def until(self, condition, what):
        """Waits until `condition` holds; else fails with `what`, a text or what makes one."""
        deadline = time.monotonic() + WAIT_LIMIT_S
        while not condition():
            if time.monotonic() > deadline or (self.process and self.process.poll() is not None):
                self.fail(what() if callable(what) else what)
            time.sleep(0.005)

    def pool_steps(self):
        """The changes of pools that reloads logged; reports of progress name pools, too."""
        return self.log().count('component=reload event="pool')

    def fail(self, what):
        print(f"FAILED: {what}\n{self.log()[-5000:]}", flush=True)
        self.process.kill()
        sys.exit(1)

    def check(self, holds, what):
        if not holds:
            self.fail(what)

    def ask(self, method, path):
        connection = Connection(self.path["socket"])
        try:
            connection.request(method, path)
            return json.loads(connection.getresponse().read())
        except OSError as error:
            self.fail(f"{method} {path}: {error}")
        finally:
            connection.close()

    def reload(self, expected, text=None):
        if text is not None:
            self.write(text)
        answer = self.ask("POST", "/reload?wait=yes")
        self.check(answer["result"] == expected, f"not {expected}: {answer}")
        return answer

    def pool(self, path):
        return self.ask("GET", f"/pools/{path}")

    def recorded(self):
        try:
            return [int(line) for line in open(self.path["record"], encoding="ascii")]
        except FileNotFoundError:
            return []

    def works_on(self):
        before = self.size()
        self.until(lambda: self.size() > before, "nothing is recorded any more")

    def size(self):
        try:
            return os.path.getsize(self.path["record"])
        except FileNotFoundError:
            return 0

    def stop(self):
        self.process.terminate()
        code = self.process.wait()
        self.check(code == 0, f"exit code {code}")
        os.close(self.gate)


NUMBERS = "sources: {numbers: {use: gen.forever, to: TO}}\n"
BLOCKING = "dispatchers: {blocking: {threads: 8, budget: 1}}\n"
SINK = ("  sink: {use: sink.record, size: SIZE, dispatcher: blocking,\n"
        "    args: {path: RECORD, batch: 1, spin: 1000000}}\n")


def base(size=1):
    return BLOCKING + NUMBERS.replace("TO", "sink") + "pools:\n" + SINK.replace("SIZE", str(size))


def passing(more):
    return (f"  new: {{use: slow_open.pass, dispatcher: blocking, size: 2, outputs: {{out: sink}}, "
            f"open_timeout: 1h, restart: {{backoff: 10m..10m}}{more}}}\n")


def an_open_that_never_returns(host):
    """The refusal comes before the wait for its worker; the name is free for the next file."""
    host.start(base())
    host.write(base() + passing(", args: {gate: GATE}"))
    host.process.send_signal(signal.SIGHUP)
    host.until(lambda: host.log().count('event="at the gate"') == 2, "nobody opens")
    host.works_on()
    os.write(host.gate, b"n")  # for one of the two
    host.until(lambda: 'event="configuration refused"' in host.log(), "it is not refused")
    host.reload("reloaded", base() + passing(""))
    found = host.log().find('event="configuration refused"')
    left = re.search(r'component=new event="did not end in time"', host.log())
    host.check(left, "who was left behind is not named")
    host.check(found < left.start(), "the refusal was logged after the wait")
    host.check(len(re.findall('event="did not end in time"', host.log())) == 1,
               "the next reload waited for it again")
    status = host.ask("GET", "/status")
    host.check([pool["path"] for pool in status["pools"]] == ["sink", "new"], str(status))
    host.works_on()
    os.write(host.gate, b"y")
    host.stop()


def a_file_that_is_no_file(host):
    """Whatever is there instead: refused with its name, and the old one goes on."""
    host.start(base())
    file = host.path["yaml"]
    good = host.path["record"] + ".yaml"

    def dangle():
        os.symlink(file + ".nowhere", file)

    def truncate():
        with open(file, "w", encoding="ascii") as stream:
            stream.write(host.text(base(2))[:60])

    def write_nothing():
        open(file, "w", encoding="ascii").close()

    for instead in (lambda: None, truncate, write_nothing, lambda: os.mkdir(file),
                    lambda: os.mkfifo(file), dangle):
        os.rename(file, good) if os.path.isfile(file) and not os.path.exists(good) else None
        instead()
        answer = host.reload("refused")
        host.check(file in answer["errors"][0].get("file", "") + answer["errors"][0]["reason"],
                   f"the file is not named: {answer}")
        if os.path.isdir(file):
            os.rmdir(file)
        elif os.path.lexists(file):
            os.unlink(file)
        host.works_on()
    # A link that leads elsewhere from one moment to the next.
    os.symlink(good, file)
    host.reload("unchanged")
    with open(good + ".2", "w", encoding="ascii") as stream:
        stream.write(host.text(base(3)))
    os.symlink(good + ".2", file + ".link")
    os.rename(file + ".link", file)
    host.reload("reloaded")
    host.check(host.pool("sink")["size_in_file"] == 3, "the link's new file does not count")
    host.works_on()
    host.stop()


def feeders_that_wait_for_the_pool_that_is_replaced(host):
    """Waiting messages go to the new workers; the old workers finish the messages in hand."""
    def file(args):
        return (BLOCKING + NUMBERS.replace("TO", "feeder") + "pools:\n"
                "  feeder: {use: changeling.pass, size: 2, mailbox: 2, outputs: {out: middle}}\n"
                "  middle: {use: slow_open.pass, dispatcher: blocking, size: 2, mailbox: 2,\n"
                f"    args: {{{args}}}, outputs: {{out: sink}}}}\n" + SINK.replace("SIZE", "1"))

    host.start(file("barrier: GATE"))
    host.until(lambda: host.pool("feeder")["held"] > 0, "no feeder waits for room")
    host.reload("reloaded", file(""))
    host.works_on()
    host.check(host.pool("middle")["in_hand"] >= 2, "the old workers are not at it")
    ending = file("").replace("gen.forever", "gen.numbers")
    host.reload("reloaded", ending.replace("to: feeder", "to: feeder, args: {count: 1}"))
    os.write(host.gate, b"y" * 64)
    code = host.process.wait()
    host.check(code == 0, f"exit code {code}")
    numbers = sorted(host.recorded())
    host.check(numbers == list(range(len(numbers))), "numbers are lost or doubled")
    os.close(host.gate)


def a_pool_that_is_removed_behind_former_workers(host):
    """It is there until they have ended, though no file says any more that they lead there."""
    def file(middle, more=""):
        return (BLOCKING + NUMBERS.replace("TO", "middle") + "pools:\n"
                f"  middle: {{{middle}}}\n{more}" + SINK.replace("SIZE", "1"))

    between = "  between: {use: changeling.pass, outputs: {out: sink}}\n"
    host.start(file("use: slow_open.pass, dispatcher: blocking, size: 2, mailbox: 2, "
                    "args: {barrier: GATE}, outputs: {out: between}", between))
    host.until(lambda: host.log().count('event="at the barrier"') == 2, "nobody is at the barrier")
    host.write(file("use: changeling.through, size: 2, outputs: {on: sink}"))
    host.process.send_signal(signal.SIGHUP)
    host.until(lambda: '"path": "between"' not in json.dumps(host.ask("GET", "/status")["pools"]),
               "nothing is committed")
    for _ in range(3):
        host.works_on()
    host.check('event="removed parts have ended"' not in host.log(), "it has not been waited for")
    os.write(host.gate, b"y" * 64)
    host.until(lambda: 'event="removed parts have ended"' in host.log(),
               "it waits for an ended part")
    ending = file("use: changeling.through, size: 2, outputs: {on: sink}")
    host.reload("reloaded", ending.replace("gen.forever", "gen.numbers").replace(
        "to: middle", "to: middle, args: {count: 1}"))
    code = host.process.wait()
    host.check(code == 0, f"exit code {code}")
    numbers = sorted(host.recorded())
    host.check(numbers == list(range(len(numbers))), "numbers are lost or doubled")
    os.close(host.gate)


def other_directories_and_another_cap(host):
    """Plugins are looked up where the new file says; the cap on memory is another at once."""
    def has_cap(bytes_):
        return f'"memory_limit": {bytes_},' in json.dumps(host.ask("GET", "/status"))

    wanted = base() + "  new: {use: changeling.worker, size: 1}\n"
    host.folders = [PLUGINS]
    host.start(base())
    answer = host.reload("refused", wanted)
    host.check("changeling" in answer["errors"][0]["reason"], f"another reason: {answer}")
    host.folders, host.memory = [PLUGINS, TEST_PLUGINS], "64MiB"
    host.reload("reloaded", wanted)
    host.check(host.pool("new")["live"] == 1 and has_cap(64 << 20), "it is not there")
    host.works_on()
    host.folders, host.memory = [PLUGINS], "0"
    host.reload("reloaded", base())
    host.check(has_cap(0), "there still is a cap")
    host.works_on()
    host.stop()


def what_does_not_change(host):
    """Its listener and its files are the same descriptors, its pools the same PIDs and workers."""
    def descriptors():
        folder = f"/proc/{host.process.pid}/fd"
        found = {}
        for name in os.listdir(folder):
            try:
                found[name] = os.readlink(os.path.join(folder, name))
            except FileNotFoundError:
                pass
        return {name: path for name, path in found.items()
                if path == host.path["record"] or path.startswith("socket:")}

    host.start(base(2))
    host.until(lambda: sum(path == host.path["record"] for path in descriptors().values()) == 2,
               "the sinks have not opened their file")
    # Nobody has asked yet: its sockets are the listener and those of its own.
    before = descriptors()
    for size in (1, 2, 3):
        more = f"  other: {{use: sink.null, size: {size}}}\n"
        host.reload("reloaded", base(2) + more)
    host.works_on()
    # The connection of an answered request goes a moment later than its answer.
    host.until(lambda: descriptors() == before, "not the same descriptors")
    host.until(lambda: host.log().count('event="configuration reloaded"') == 3, "not three reloads")
    host.check(host.pool_steps() == 3, "something else has changed")
    host.stop()


def main():
    for case in (an_open_that_never_returns, a_file_that_is_no_file,
                 feeders_that_wait_for_the_pool_that_is_replaced,
                 a_pool_that_is_removed_behind_former_workers, other_directories_and_another_cap,
                 what_does_not_change):
        with tempfile.TemporaryDirectory() as work:
            case(Host(work, "case"))
        print(f"{case.__name__}: as promised", flush=True)


if __name__ == "__main__":
    main()
