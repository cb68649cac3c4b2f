#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   examples/thumbs behind HTTP: each picture that is sent gets its thumbnail, another file
        gets the reason, and a full pool gives 503 with Retry-After. While clients send more than
        the pool can do, it is scaled up and down and the file is reloaded: each request is
        answered with 200 or 503, and the pool's figures agree with the answers. Shows promise X7.
Method: the file of the example itself; curl, and clients of Python's library; pictures are read by
        pictures.py, which shares no code with the library that makes them.

    thumbs_web.py WEIR; the current folder holds thumbs/, the example, and build/thumbs
"""
import collections
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True

import pictures  # noqa: E402

WEIR = sys.argv[1]
CLIENTS = 12
JPEG = Path("/usr/share/backgrounds/xfce/xfce-teal.jpg")


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")


def until(condition, what):
    """The test's own time-out is the only clock."""
    del what  # for the reader
    while not condition():
        time.sleep(0.01)


class Service:
    """The example as `weir run web.yaml` starts it; behind a Unix socket without an address."""

    def __init__(self, folder, listen=None):
        self.socket = os.path.join(folder, "web.sock")
        self.log = os.path.join(folder, "log")
        self.file = os.path.join(folder, "web.yaml")
        self.text = Path("thumbs/web.yaml").read_text(encoding="utf-8")
        self.control = os.path.join(folder, "control.sock")
        self.variables = {**os.environ, "THUMBS_LISTEN": listen or f"unix:{self.socket}",
                          "THUMBS_PAGE": "thumbs/page.html", "THUMBS_CONTROL": self.control,
                          "WEIR_CONTROL": self.control}
        self.write(128)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([WEIR, "run", self.file], stderr=log,
                                            env=self.variables)
        self.logged('event="listening"')

    def write(self, edge):
        text = self.text.replace("edge: 128", f"edge: {edge}")
        check(f"edge: {edge}" in text, "web.yaml has no edge of 128 pixels")
        Path(self.file + ".new").write_text(text, encoding="utf-8")
        os.rename(self.file + ".new", self.file)

    def logged(self, part, count=1):
        def is_there():
            text = Path(self.log).read_text(encoding="utf-8")
            check(self.process.poll() is None, f"the host ended: {text}")
            return text.count(part) >= count
        until(is_there, part)

    def run(self, *words):
        made = subprocess.run([WEIR, *words], capture_output=True, text=True, check=False,
                              env=self.variables)
        check(made.returncode == 0, f"{words}: {made.stdout}{made.stderr}")
        return made.stdout

    def pool(self):
        return json.loads(self.run("status", "thumbs", "-o", "json"))

    def inspect(self, path):
        return json.loads(self.run("inspect", path, "-o", "json"))["items"]

    def curl(self, path, *more):
        """The status, the content type and the body."""
        made = subprocess.run(["curl", "-sS", "--unix-socket", self.socket, "-w",
                               "\\n%{http_code} %{content_type}", *more, f"http://weir{path}"],
                              capture_output=True, check=True)
        body, _, end = made.stdout.rpartition(b"\n")
        status, _, kind = end.decode().partition(" ")
        return int(status), kind, body


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("weir")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self.path)


@contextlib.contextmanager
def serving(listen=None):
    with tempfile.TemporaryDirectory() as folder:
        service = Service(folder, listen)
        try:
            yield service
        finally:
            service.process.kill()
            service.process.wait()


# --- one after the other -------------------------------------------------------------------------

def expect_thumb(service, path, edge=128):
    status, kind, thumb = service.curl("/thumb", "--data-binary", f"@{path}")
    check((status, kind) == (200, "image/png"), f"{path}: {status} {kind}")
    wrong = pictures.wrong_size(pictures.size_of(path), pictures.png_size(thumb), edge)
    check(not wrong, f"{path}: {wrong}")
    return thumb


def test_answers(service, folder):
    for name in pictures.MADE:
        wrong = pictures.wrong_colours(expect_thumb(service, folder / name))
        check(not wrong, f"{name}: {wrong}")
    expect_thumb(service, JPEG)
    page = Path("thumbs/page.html").read_bytes()
    check(service.curl("/") == (200, "text/html; charset=utf-8", page), "the page")
    check(service.curl("/none")[0] == 404, "no such page")
    check(service.curl("/thumb")[0] == 405, "GET of a thumbnail")
    check(service.curl("/thumb", "-d", "no picture")[::2] == (422, b"not a picture\n"),
          "a body that is no picture")
    large = folder / "large"
    with open(large, "wb") as stream:
        stream.truncate((16 << 20) + 1)
    check(service.curl("/thumb", "--data-binary", f"@{large}")[0] == 413, "a large file")


# --- under load ----------------------------------------------------------------------------------

class Client(threading.Thread):
    """Sends a picture again and again, and counts the answers by status and edge."""

    def __init__(self, service, picture, ends):
        super().__init__()
        self.service, self.picture, self.ends = service, picture, ends
        self.counts = collections.Counter()
        self.sent = 0
        self.wrong = None
        self.start()

    def run(self):
        try:
            while not self.ends.is_set():
                self.ask()
        except Exception as error:  # noqa: BLE001: the main thread says it
            self.wrong = repr(error)

    def ask(self):
        connection = Connection(self.service.socket)
        self.sent += 1
        connection.request("POST", "/thumb", self.picture)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        if answer.status == 200:
            self.counts[max(pictures.png_size(body))] += 1
        elif answer.status == 503 and answer.headers["Retry-After"] == "1":
            self.counts["503"] += 1
        else:
            self.wrong = f"{answer.status}: {body!r}"
            self.ends.set()


class Load:
    def __init__(self, service, picture):
        self.ends = threading.Event()
        self.clients = [Client(service, picture, self.ends) for _ in range(CLIENTS)]

    def count(self, what):
        return sum(client.counts[what] for client in self.clients)

    def goes_on(self, *edges):
        """Waits for 30 more thumbnails of one of these edges."""
        def thumbs():
            return sum(self.count(edge) for edge in edges)
        before = thumbs()
        until(lambda: thumbs() >= before + 30 or self.ends.is_set(), "thumbnails")

    def end(self):
        self.ends.set()
        for client in self.clients:
            client.join()
        check(not any(client.wrong for client in self.clients),
              f"answers: {[client.wrong for client in self.clients]}")


def test_resize_under_load(service, picture):
    done = service.pool()["done"]
    load = Load(service, picture)
    until(lambda: load.count("503") > 0 or load.ends.is_set(), "a full pool")
    for size in (5, 16, 2, 3, 8):
        service.run("scale", "thumbs", str(size))
        check(service.pool()["target"] == size, f"scaled to {size}")
        load.goes_on(128)
    for number, edge in enumerate((64, 32, 96)):
        service.write(edge)
        service.process.send_signal(signal.SIGHUP)
        service.logged('event="configuration reloaded"', number + 1)
        load.goes_on(edge)
    load.end()
    answers = sum((client.counts for client in load.clients), collections.Counter())
    check(sum(answers.values()) == sum(client.sent for client in load.clients),
          f"an answer for each request: {answers}")
    check(set(answers) == {128, 64, 32, 96, "503"}, f"answers: {answers}")
    # A client has its answer before the worker has returned.
    until(lambda: service.pool()["in_hand"] == 0, "the last worker")
    pool = service.pool()
    thumbs = sum(answers.values()) - answers["503"]
    check(pool["done"] - done == thumbs, f"{thumbs} thumbnails, the pool says {pool}")
    print(f"{sum(answers.values())} requests, {thumbs} thumbnails, {answers['503']} times 503")


def main():
    with serving() as service, tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, size in pictures.MADE.items():
            pictures.write_png(folder / name, *size)
        test_answers(service, folder)
        pictures.write_png(folder / "load.png", 1200, 800)
        test_resize_under_load(service, (folder / "load.png").read_bytes())
        service.process.terminate()
        check(service.process.wait() == 0, "the end")
        log = Path(service.log).read_text(encoding="utf-8")
        check("balance=wrong" not in log, "the ledger does not balance")


if __name__ == "__main__":
    main()
