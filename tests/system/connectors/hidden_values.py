#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   no message, no line of the log, no page, no dead letter and no answer of http.server
        shows a value that came from `${file:...}`. Shows promise C17 and promise C28.
Method: files with a word in them that must be nowhere; plugins that quote them in their checks, in
        the reasons why they do not open, and in their log lines; `weir check`, a start, a reload,
        and each page of the control socket. `${file:...}` must be in its place. A child that has a
        value in its environment quotes it in reasons and labels.

    hidden_values.py WEIR PLUGINS TREE
"""
import http.client
import os
import socket
import sys
import tempfile

from control import TREE, Host, check, report_failures, until

WORD = "T0P-S3CRET"
SHOWN = "${file:...}"
HOOK = """
sources: {{beats: {{use: timer.cron, args: {{every: 1h}}, to: hook}}}}
pools: {{hook: {{use: http.client, args: {{url: "{url}"}}}}}}
"""
APPEND = """
sources: {{beats: {{use: timer.cron, args: {{every: 1h}}, to: out}}}}
pools: {{out: {{use: file.append, args: {{path: "{path}"}}}}}}
"""
CHILD = """
import os, weir
def handle(message):
    if message.data == b"label":
        weir.label("piece of " + os.environ["VALUE"])
        return b"piece"
    if message.data == b"long":  # the cut of a reason leaves a part of it
        raise weir.Reject("the login of this service was refused: " + os.environ["VALUE"])
    raise weir.Reject("no " + os.environ["VALUE"])
weir.run(handle)
"""
REJECTING = """
sources:
  lines: {{use: files.lines, args: {{paths: ["{folder}/lines"]}}, to: work}}
  web: {{use: http.server, args: {{listen: "unix:{folder}/web", mode: stored}}, to: work}}
  asked: {{use: http.server, args: {{listen: "unix:{folder}/asked"}}, to: work}}
pools:
  work:
    use: exec.pipe
    size: 1
    args: {{command: [python3, "{folder}/child.py"],
           environment: {{PYTHONPATH: "{tree}/sdk/python", VALUE: "{value}"}}}}
    outputs: {{out: next}}
  next: {{use: exec.run, args: {{command: ["false"]}}, outputs: {{out: nowhere}}}}
  nowhere: {{use: sink.null}}
"""


class Files:
    """A host, and files of values."""

    def __init__(self, folder):
        self.host = Host(folder)
        self.folder = folder

    def value(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as stream:
            stream.write(text + "\n")
        return "${file:" + os.path.join(self.folder, name) + "}"


def check_hides(text, where, shows=True):
    check(WORD not in text, f"{where} shows it: {text}")
    check(not shows or SHOWN in text, f"{where} does not say where it is from: {text}")


def test_check():
    """Shows promise C17."""
    for url in (f"ftp://hooks.example/{WORD}", f"{WORD} {WORD}", "x" * 200 + WORD + "y" * 200):
        with tempfile.TemporaryDirectory() as folder:
            files = Files(folder)
            files.host.write(HOOK.format(
                url=files.value("url", url)))
            got = files.host.run("check", files.host.file)
            check(got.returncode == 78, f"check: {got.returncode}")
            check_hides(got.stdout + got.stderr, "check")


def test_start_that_fails():
    """Shows promise C17: a reason of open, and the lines of the plugin."""
    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder)
        files.host.write(APPEND.format(
            path=files.value("path", f"/nonexistent-{WORD}/out.log")))
        files.host.start()
        check(files.host.process.wait() == 69, "the exit code")
        check_hides(log_of(files.host), "the log")


def log_of(host):
    with open(host.log, encoding="utf-8") as stream:
        return stream.read()


def test_running_host():
    """Shows promise C17: also after a reload with another value, and one that is refused."""
    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder)
        host = files.host
        os.mkdir(os.path.join(folder, WORD))
        text = APPEND.format(
            path=files.value("path", os.path.join(folder, WORD, "out.log")))
        host.write(text)
        host.start()
        check_pages(host)
        files.value("path", f"/elsewhere/{WORD}/nonexistent/out.log")
        got = host.run("reload")
        check(got.returncode == 78, f"the reload: {got.returncode}")
        check_hides(got.stdout + got.stderr, "the reload")
        until(lambda: "configuration refused" in log_of(host), "the log")
        check_pages(host)
        check(host.stop() == 0, "the exit code")
        check_hides(log_of(host), "the log")


def answer_of(path):
    client = http.client.HTTPConnection("localhost")
    client.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.sock.connect(path)
    client.request("POST", "/", b"")
    answer = client.getresponse()
    text = answer.read().decode()
    client.close()
    return answer.status, text


def bytes_of(path):
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except FileNotFoundError:
        return ""


def test_reasons_of_a_child():
    """Shows promise C28: what a child says of its messages goes to dead letters and to clients."""
    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder)
        host, dead = files.host, os.path.join(folder, "dead")
        for name, text in (("child.py", CHILD), ("lines", f"the payload is {WORD}\nlabel\nlong\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
                stream.write(text)
        host.write(REJECTING.format(folder=folder, tree=TREE, value=files.value("value", WORD)),
                   more=f', dead_letters: {{file: "{dead}"}}')
        host.start()
        for name in ("web", "asked"):
            status, text = answer_of(os.path.join(folder, name))
            check(status in (422, 500), f"{name}: {status} {text}")
            check_hides(text, f"the answer of {name}")
        until(lambda: bytes_of(dead).count("\ndetail: ") == 5,
              "three lines and two requests")
        shown = [host.run("dead", *more) for more in (["work"], ["--file", dead], ["next"])]
        check(host.stop() == 0, "the exit code")
        for got in shown:
            check(got.returncode == 0, f"{got.args}: {got.returncode} {got.stderr}")
            check_hides(got.stdout, " ".join(got.args))
        text = bytes_of(dead)
        check(text.count(WORD[:6]) == 1 and f"the payload is {WORD}" in text, f"the file: {text}")
        check(text.count(SHOWN[:8]) == 5, f"the file: {text}")
        check_hides(log_of(host), "the log")


def check_pages(host):
    for command in (["status"], ["status", "-o", "json"], ["inspect", "out"], ["inspect", "beats"],
                    ["inspect", "out", "-o", "json"], ["plan", host.file], ["dead"]):
        got = host.run(*command)
        check(got.returncode == 0, f"{command}: {got.returncode} {got.stderr}")
        check_hides(got.stdout + got.stderr, " ".join(command), shows=False)


def main():
    test_check()
    test_start_that_fails()
    test_running_host()
    test_reasons_of_a_child()
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
