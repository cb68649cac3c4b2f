# SPDX-License-Identifier: MIT
"""Weir hosts that a test starts, stops and kills."""
import glob
import json
import os
import signal
import subprocess
import time


def check(condition, what):
    if not condition:
        raise SystemExit(f"FAIL: {what}")


def until(condition, what, *hosts):
    """Waits without a limit, but not for a host that has ended: CI ends a wait that has no end."""
    while not condition():
        for host in hosts:
            if host.process and host.process.poll() is not None:
                raise SystemExit(f"FAIL: {what}: {host.name} ended: {host.end_of_log()}")
        time.sleep(0.02)  # between two looks at a condition


class Host:
    def __init__(self, build, work, name, text):
        self.weir = os.path.join(build, "bin", "weir")
        self.name = name
        self.file = os.path.join(work, f"{name}.yaml")
        self.log = os.path.join(work, f"{name}.log")
        self.process = None
        with open(self.file, "w", encoding="utf-8") as stream:
            stream.write("version: 1\nhost: {plugins: [\"" + os.path.join(build, "plugins") +
                         f'"], control: "{os.path.join(work, name)}.sock", '
                         'shutdown_timeout: 20s}\n' + text)

    def start(self, waits=True):
        starts = self.read_log().count('event="started"')
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig=KILL", self.weir, "run",
                                             self.file], stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL)
        if waits:
            until(lambda: self.read_log().count('event="started"') > starts or
                  self.process.poll() is not None, f"{self.name} starts")
            check(self.process.poll() is None or self.process.returncode == 0,
                  f"{self.name}: {self.end_of_log()}")
        return self

    def change(self, old, new):
        """Changes its file, which a host that runs reads again."""
        with open(self.file, encoding="utf-8") as stream:
            text = stream.read()
        check(old in text, f"{self.name}: {old} is not in its file")
        with open(self.file, "w", encoding="utf-8") as stream:
            stream.write(text.replace(old, new))
        if self.process:
            done = subprocess.run([self.weir, "reload", "--file", self.file], capture_output=True,
                                  text=True, check=False)
            check(done.returncode == 0, f"{self.name}: reload: {done.stderr}{self.end_of_log()}")

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self):
        """Ends it in order; returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self):
        code = self.process.wait()
        self.process = None
        return code

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def read_log(self):
        if not os.path.exists(self.log):
            return ""
        with open(self.log, encoding="utf-8", errors="replace") as stream:
            return stream.read()

    def end_of_log(self):
        return self.read_log()[-3000:]

    def ask(self, *words):
        done = subprocess.run([self.weir, words[0], "--file", self.file, *words[1:], "-o", "json"],
                              capture_output=True, text=True, check=False)
        check(done.returncode == 0, f"{self.name}: {words}: {done.stderr}{self.end_of_log()}")
        return json.loads(done.stdout)

    def page(self, path):
        """A page of the control socket, as text."""
        done = subprocess.run(["curl", "-sf", "--unix-socket", self.file[:-5] + ".sock",
                               f"http://host{path}"], capture_output=True, text=True, check=False)
        check(done.returncode == 0, f"{self.name}: {path}: {done.stderr}")
        return done.stdout

    def tell(self, *words):
        """What a command prints for people."""
        done = subprocess.run([self.weir, words[0], "--file", self.file, *words[1:]],
                              capture_output=True, text=True, check=False)
        check(done.returncode == 0, f"{self.name}: {words}: {done.stderr}")
        return done.stdout

    def items(self, path):
        return self.ask("inspect", path)["items"]

    def number(self, path, item):
        return int(self.items(path)[item])

    def memory_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as stream:
            for line in stream:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1])
        raise SystemExit("FAIL: no VmRSS")


def numbers_in(folder):
    """How often each number was written down by sink.record."""
    counts = {}
    for path in glob.glob(os.path.join(folder, "*.txt")):
        with open(path, encoding="utf-8") as stream:
            for line in stream:
                if line.endswith("\n"):
                    counts[int(line)] = counts.get(int(line), 0) + 1
    return counts
