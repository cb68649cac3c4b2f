#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   http.server with `mode: stored` answers when the message has ended, and not before: 202
        done, 422 dead, 503 no room, 504 too late. What was answered with 504, or whose client has
        left, is worked on all the same. Shows promise B70.
Method: a host with workers in Python that wait for a gate; curl.

    http_stored.py WEIR PLUGINS TREE
"""
import contextlib
import http.client
import os
import socket
import tempfile
import threading

from control import TREE, Host, check, run_tests, until

WORKER = """
import os, time, weir
def handle(message):
    head, _, body = message.data.partition(b"\\n\\n")
    path = head.split()[1].decode()
    open("begun", "a").write(path + "\\n")
    if path == "/wait":
        # The folder of a test that has ended is gone.
        while not os.path.exists("gate") and os.path.exists("begun"):
            time.sleep(0.005)
    elif path == "/reject":
        raise weir.Reject("no such picture")
    elif path == "/die":
        os._exit(1)
    elif path == "/later" and message.attempt < 3:
        raise weir.Retry("not yet", delay=0.001)
    elif path == "/never":
        raise weir.Retry("not yet", delay=0.001)
    elif path == "/reply":
        message.reply(b"nobody asked")
    elif path in ("/two", "/bad"):
        message.emit(path[1:].encode())
        return
    open("done", "ab").write(path.encode() + b" " + body + b"\\n")
weir.run(handle)
"""

SECOND = """
import os, time, weir
def handle(message):
    while not os.path.exists("gate") and os.path.exists("begun"):
        time.sleep(0.005)
    if message.data == b"bad":
        raise weir.Reject("the second stage")
    open("done", "ab").write(message.data + b"\\n")
weir.run(handle)
"""

FILE = """
sources:
  web:
    use: http.server
    args: {{listen: "unix:{path}", mode: stored{more}}}
    to: work
pools:
  work:
    use: exec.pipe
    size: 1
    mailbox: {mailbox}
    redeliver: 0
    restart: {{max: 1000, within: 10s}}
    args: {{command: [python3, "{folder}/worker.py"], directory: "{folder}",
           environment: {{PYTHONPATH: "{module}"}}}}
    outputs: {{out: second}}
  second:
    use: exec.pipe
    size: 1
    args: {{command: [python3, "{folder}/second.py"], directory: "{folder}",
           environment: {{PYTHONPATH: "{module}"}}}}
"""


class Storing:
    """A host behind a Unix socket."""

    def __init__(self, folder):
        self.folder = folder
        self.host = Host(folder)
        self.path = os.path.join(folder, "web.sock")
        for name, text in (("worker.py", WORKER), ("second.py", SECOND)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
                stream.write(text)

    def write(self, more="", mailbox=4):
        self.host.write(FILE.format(path=self.path, more=more, mailbox=mailbox,
                                    folder=self.folder, module=os.path.join(TREE, "sdk/python")))

    def ask(self, path, body=b"", wait=60):
        """The status and the body; 0: there was no answer."""
        with contextlib.closing(Connection(self.path, wait)) as connection:
            try:
                connection.request("POST", path, body)
                answer = connection.getresponse()
                return answer.status, answer.read().decode()
            except TimeoutError:
                return 0, ""

    def lines(self, name):
        try:
            with open(os.path.join(self.folder, name), encoding="utf-8") as stream:
                return stream.read().splitlines()
        except FileNotFoundError:
            return []

    def items(self):
        return {key: int(value) for key, value in
                self.host.json("inspect", "web", "asking", "connections", "body_bytes")
                ["items"].items()}

    def open_gate(self):
        with open(os.path.join(self.folder, "gate"), "wb"):
            pass


class Connection(http.client.HTTPConnection):
    """Over a Unix socket."""

    def __init__(self, path, wait):
        super().__init__("weir", timeout=wait)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Waiting(threading.Thread):
    """A request whose answer comes later."""

    def __init__(self, web, path, body=b""):
        super().__init__()
        self.web, self.path, self.body, self.answer = web, path, body, None
        self.start()

    def run(self):
        self.answer = self.web.ask(self.path, self.body)

    def end(self):
        self.join()
        return self.answer


@contextlib.contextmanager
def storing(more="", mailbox=4):
    with tempfile.TemporaryDirectory() as folder:
        web = Storing(folder)
        web.write(more, mailbox)
        web.host.start()
        try:
            yield web
        finally:
            web.host.stop(9)


def ends_empty(web):
    until(lambda: web.items() == {"asking": 0, "connections": 0, "body_bytes": 0}, "nothing waits")


ENDS = [
    ("/done", 202, "done"),
    ("/reply", 422, "only a request has a reply"),
    ("/reject", 422, "rejected: no such picture"),
    ("/die", 422, "crashed"),
    ("/later", 202, "done"),
    ("/never", 422, "retries"),
]


def test_answer_says_how_the_message_ended():
    """promise B70"""
    with storing() as web:
        for path, status, words in ENDS:
            got = web.ask(path, b"body")
            check(got[0] == status and words in got[1], f"{path}: {got}")
        check(web.lines("begun").count("/later") == 3, f"three attempts: {web.lines('begun')}")
        check(web.lines("done") == ["/done body", "/later body"],
              f"{web.lines('done')}")
        ends_empty(web)


def test_answer_waits_for_the_end():
    """promise B70"""
    with storing() as web:
        waits = Waiting(web, "/wait")
        until(lambda: web.lines("begun") == ["/wait"], "the worker")
        check(web.items()["asking"] == 1 and waits.is_alive(), "no answer before the end")
        web.open_gate()
        check(waits.end()[0] == 202, "done")


def test_answer_waits_for_what_was_emitted():
    with storing() as web:
        good, bad = Waiting(web, "/two"), Waiting(web, "/bad")
        until(lambda: web.host.json("status", "work")["done"] == 2, "the first stage")
        check(web.items()["asking"] == 2, "the second stage has both")
        web.open_gate()
        check(good.end()[0] == 202, f"{good.answer}")
        check(bad.end() == (422, "rejected: the second stage\n"), f"{bad.answer}")
        ends_empty(web)


def test_full_pool_is_503():
    with storing(mailbox=1) as web:
        waits = [Waiting(web, "/wait")]
        until(lambda: web.lines("begun") == ["/wait"], "the worker")
        waits.append(Waiting(web, "/wait"))
        until(lambda: web.items()["asking"] == 2, "the mailbox")
        check(web.ask("/done")[0] == 503, "no room")
        web.open_gate()
        check([one.end()[0] for one in waits] == [202, 202], "the two that were accepted")


def test_what_is_late_is_done_all_the_same():
    """promise B70"""
    with storing(", timeout: 100ms") as web:
        check(web.ask("/wait", b"a")[0] == 504, "too late")
        check(web.ask("/later", b"b")[0] == 504, "it waits in the mailbox")
        web.open_gate()
        until(lambda: "/wait a" in web.lines("done"), "the one in hand")
        ends_empty(web)
        until(lambda: web.ask("/done", b"c")[0] == 202, "the next one")


def test_client_that_leaves_cancels_nothing():
    """promise B70"""
    with storing() as web:
        check(web.ask("/wait", b"a", wait=0.2)[0] == 0, "the client leaves")
        check(web.ask("/done", b"b", wait=0.2)[0] == 0, "and another one")
        web.open_gate()
        until(lambda: web.lines("done") == ["/wait a", "/done b"], "both are done")
        ends_empty(web)


def test_reload_and_end_answer_what_was_accepted():
    with storing() as web:
        waits = [Waiting(web, "/wait", b"a")]
        until(lambda: web.lines("begun") == ["/wait"], "the worker")
        waits.append(Waiting(web, "/done", b"b"))
        until(lambda: web.items()["asking"] == 2, "two requests")
        web.write(", retry_after: 3s")
        reload = threading.Thread(target=web.host.run, args=("reload",))
        reload.start()
        web.host.process.send_signal(15)
        web.open_gate()
        check([one.end()[0] for one in waits] == [202, 202], "both have their answers")
        check(web.host.process.wait() == 0, "the host ends in order")
        reload.join()


if __name__ == "__main__":
    run_tests(globals())
