#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   people and scripts can send messages and requests to a pool of a running host, know what
        was accepted, and get the replies; wrong input changes nothing. Shows promise C16.
Method: a real host whose pools append to a file or run commands; a command that reads from a FIFO
        keeps its worker busy for as long as the test wants. Every wait is for a condition.

    sending.py WEIR PLUGINS TREE
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from control import TREE, WEIR, check, report_failures, running, until

POOLS = """
pools:
  file: {{use: file.append, size: 1, mailbox: 64, args: {{path: "{work}/file"}}}}
  upper: {{use: exec.run, size: 2, args: {{command: [tr, a-z, A-Z]}}}}
  same: {{use: exec.run, size: 2, args: {{command: [cat]}}}}
  tag: {{use: exec.run, size: 1, args: {{command: [printenv, WEIR_TAG]}}}}
  key: {{use: exec.run, size: 4, route: hash, args: {{command: [printenv, WEIR_INDEX, WEIR_KEY]}}}}
  even: {{use: exec.run, size: 1, args: {{command: [grep, "[02468]$"]}}}}
  refuse: {{use: exec.run, size: 1, args: {{command: ["false"]}}}}
  broken:
    use: exec.pipe
    size: 1
    args:
      command: [python3, -c, "import os, weir; weir.run(lambda message: os._exit(1))"]
      environment: {{PYTHONPATH: "{tree}/sdk/python"}}
  silent: {{use: sink.null, size: 1}}
  stuck: {{use: exec.run, size: 1, mailbox: 4, args: {{command: [cat, "{work}/fifo"]}}}}
  gate: {{use: sink.null, size: 1}}
  none: {{use: sink.null, size: 0}}
sources: {{numbers: {{use: gen.forever, to: none}}}}
"""


def call(host, *arguments, given=b"", socket=None):
    """A command with bytes as its standard input and output."""
    return subprocess.run([WEIR, *arguments], input=given, capture_output=True, check=False,
                          env={**os.environ, "WEIR_CONTROL": socket or host.socket})


def start(host, *arguments):
    return subprocess.Popen([WEIR, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE,
                            env={**os.environ, "WEIR_CONTROL": host.socket})


def accepted(host, pool):
    return host.json("status", pool)["accepted"]


def refused(host, pool):
    return host.json("status", pool)["refused"]


def is_done(host, pool):
    status = host.json("status", pool)
    return status["done"] == status["accepted"]


def lines_of(host):
    until(lambda: is_done(host, "file"), "the file")
    with open(os.path.join(host.work, "file"), "rb") as stream:
        return stream.read().split(b"\n")[:-1]


def test_messages_arrive_once_and_in_order(host):
    """promise C16"""
    answer = call(host, "send", "file", "--", "hello world", "", "-x")
    check(answer.returncode == 0 and answer.stdout == b"file: 3 messages accepted\n", f"{answer}")
    check(lines_of(host) == [b"hello world", b"", b"-x"], "arguments")
    before = len(lines_of(host))
    wanted = [b"%d %s" % (i, b"x" * (i % 500)) for i in range(20000)]
    given = b"\n".join(wanted)                      # the last line has no end
    answer = call(host, "send", "file", "-o", "json", given=given)
    check(answer.returncode == 0 and
          json.loads(answer.stdout) == {"path": "file", "accepted": 20000}, f"{answer}")
    check(lines_of(host)[before:] == wanted, "lines, once and in their order")
    before = len(lines_of(host))
    check(call(host, "send", "file").stdout == b"file: 0 messages accepted\n", "no input")
    check(call(host, "send", "file", "--whole", given=b"two\nlines").returncode == 0, "whole")
    check(lines_of(host)[before:] == [b"two", b"lines"], "one message of two lines")
    check(accepted(host, "file") == before + 1, f"one message: {accepted(host, 'file')}")


def test_what_is_too_large_is_refused(host):
    """The lines before it are sent."""
    before = accepted(host, "silent")
    answer = call(host, "send", "silent", given=b"a\nb\n" + b"c" * (2 << 20) + b"\nd\n")
    check(answer.returncode == 65 and b"line 3 is larger than 1 MiB" in answer.stderr and
          answer.stdout == b"silent: 2 messages accepted\n", f"{answer}")
    answer = call(host, "send", "silent", "--whole", given=b"c" * ((1 << 20) + 1))
    check(answer.returncode == 65 and b"larger than 1 MiB" in answer.stderr, f"{answer}")
    answer = call(host, "send", "silent", "--whole", given=b"c" * (1 << 20))
    check(answer.returncode == 0, f"{answer}")
    check(accepted(host, "silent") == before + 3, "what was accepted")
    largest = b"c" * (1 << 20)
    answer = call(host, "request", "same", given=largest + b"\nd\n")
    check(answer.returncode == 0 and answer.stdout == largest + b"\nd\n",
          f"a line of 1 MiB: {answer.returncode} {answer.stderr} {len(answer.stdout)}")
    answer = call(host, "send", "silent", given=b"a\n" + largest + b"\n" + largest + b"\nb\n")
    check(answer.stdout == b"silent: 4 messages accepted\n", f"lines of 1 MiB: {answer}")
    head = "POST /pools/silent/send HTTP/1.1\r\nHost: weir\r\nContent-Length: 1048577\r\n\r\n"
    check(host.http(head)[0] == 413, "a body that is announced too large")


def test_full_says_so_and_counts(host):
    """promise C16: a worker reads from a FIFO, so its mailbox fills up"""
    count = 0
    while count < 5:                                # one in the worker's hand, four in its mailbox
        answer = call(host, "send", "stuck", "--timeout", "0", given=b"a\n" * 100)
        check(answer.returncode == 75 and b"no worker has room\n" in answer.stderr, f"{answer}")
        count += int(re.match(rb"stuck: (\d+) messages? accepted\n$", answer.stdout)[1])
        check(accepted(host, "stuck") == count, f"{answer}")
    check(count == 5, f"no more than fit: {count}")
    answer = call(host, "request", "stuck", "--timeout", "50ms", "x")
    check(answer.returncode == 75 and b"no worker has room" in answer.stderr, f"{answer}")
    before = refused(host, "stuck")
    waiting = start(host, "send", "stuck", "--timeout", "10m", "late")
    until(lambda: refused(host, "stuck") > before, "a client that waits")
    done = threading.Event()

    def feed():
        """Ends each command as it opens the FIFO."""
        while not done.is_set():
            with open(os.path.join(host.work, "fifo"), "wb"):
                pass

    feeder = threading.Thread(target=feed)
    feeder.start()
    out, _ = waiting.communicate()
    check(waiting.returncode == 0 and out == b"stuck: 1 message accepted\n", f"{out}")
    until(lambda: is_done(host, "stuck"), "the stuck ones")
    done.set()
    # A feeder that waits for a reader finds one; one that has ended already is not waited for.
    reader = os.open(os.path.join(host.work, "fifo"), os.O_RDONLY | os.O_NONBLOCK)
    feeder.join()
    os.close(reader)
    check(accepted(host, "stuck") == count + 1, "the late one")


def test_a_paused_pool_is_waited_for(host):
    host.run("pause", "gate")
    answer = call(host, "send", "gate", "--timeout", "0", "x")
    check(answer.returncode == 75 and answer.stdout == b"gate: 0 messages accepted\n" and
          b"no worker has room: the pool is paused, or none" in answer.stderr, f"{answer}")
    answer = call(host, "request", "gate", "--timeout", "0", "x")
    check(answer.returncode == 75 and b"the pool is paused, or none" in answer.stderr, f"{answer}")
    waiting = start(host, "send", "gate", "--timeout", "10m", "x")
    host.run("resume", "gate")
    waiting.communicate()
    check(waiting.returncode == 0 and accepted(host, "gate") == 1, "sent after the pause")


def test_replies(host):
    check(call(host, "request", "upper", "hello").stdout == b"HELLO\n", "a reply")
    answer = call(host, "request", "upper", given=b"one\ntwo\nthree")
    check(answer.returncode == 0 and answer.stdout == b"ONE\nTWO\nTHREE\n", f"{answer}")
    every = bytes(range(256)) * 2048
    answer = call(host, "request", "same", "--whole", given=every)
    check(answer.returncode == 0 and answer.stdout == every, "all bytes, unchanged")
    answer = call(host, "request", "same", "--whole", given=b"")
    check(answer.returncode == 0 and answer.stdout == b"", f"an empty reply: {answer}")
    answer = host.json("request", "upper", "hello")
    check(answer == {"path": "upper", "replied": True, "size": 5, "text": "HELLO"}, f"{answer}")
    answer = call(host, "request", "same", "-o", "json", "--whole", given=b"\x00\xff")
    check(json.loads(answer.stdout)["hex"] == "00ff", f"{answer}")
    answer = call(host, "request", "silent", "x")
    check(answer.returncode == 0 and answer.stdout == b"", f"no reply: {answer}")
    check(host.json("request", "silent", "x") == {"path": "silent", "replied": False}, "no reply")
    check(call(host, "request", "tag", "--tag", "my.tag/1", "x").stdout == b"my.tag/1\n", "a tag")
    keys = {call(host, "request", "key", "--key", "a&b=c %", "x").stdout for _ in range(8)}
    check(len(keys) == 1 and not keys.pop().endswith(b"\n0\n"), "one key, one worker")


def test_requests_that_fail(host):
    answer = call(host, "request", "refuse", "x", "y")
    check(answer.returncode == 65 and answer.stdout == b"" and
          b"weir request: message 1: the worker rejected the message: " in answer.stderr,
          f"{answer}")
    check(accepted(host, "refuse") == 1, "the first that fails is the last")
    answer = call(host, "request", "even", given=b"2\n4\n5\n6\n")
    check(answer.returncode == 65 and answer.stdout == b"2\n4\n" and
          b"weir request: line 3: the worker rejected the message: " in answer.stderr, f"{answer}")
    answer = call(host, "request", "refuse", "x")
    check(b"weir request: the worker rejected the message: " in answer.stderr, f"one: {answer}")
    answer = call(host, "request", "refuse", "-o", "json", "x")
    check("rejected" in json.loads(answer.stderr)["error"], f"{answer}")
    answer = call(host, "request", "broken", "x")
    check(answer.returncode == 70 and answer.stdout == b"" and answer.stderr, f"a crash: {answer}")
    before = accepted(host, "stuck")
    answer = call(host, "request", "stuck", "--timeout", "100ms", "x")
    check(answer.returncode == 75 and
          b"the worker has sent no reply" in answer.stderr, f"{answer}")
    check(accepted(host, "stuck") == before + 1, "it was accepted")


def test_wrong_words(host):
    for wrong in ([], ["file", "--timeout", "soon"], ["file", "--timeout", "2h"],
                  ["file", "--whole", "x"], ["file", "-o", "xml", "x"], ["file", "--tag", "", "x"],
                  ["file", "--tag", "t" * 129, "x"]):
        for command in ("send", "request"):
            answer = call(host, command, *wrong)
            check(answer.returncode == 64 and answer.stderr, f"{command} {wrong}: {answer}")
    for command in ("send", "request"):
        answer = call(host, command, "nobody", "x")
        check(answer.returncode == 66 and b'there is no pool "nobody"' in answer.stderr,
              f"{answer}")
        answer = call(host, command, "numbers", "x")
        check(answer.returncode == 66 and b"it is a source" in answer.stderr,
              f"a source without `handle`: {answer}")
        answer = call(host, command, "file", "x", socket=host.work + "/nothing")
        check(answer.returncode == 69, f"no host: {answer}")
    answer = subprocess.run([WEIR, "send", "file"], stdin=os.open(host.work, os.O_RDONLY),
                            capture_output=True, check=False,
                            env={**os.environ, "WEIR_CONTROL": host.socket})
    check(answer.returncode == 66 and b"standard input" in answer.stderr, f"a folder: {answer}")
    for path, wanted in (("/pools/file/request", 400), ("/pools/file/request?timeout=x", 400),
                         ("/pools/nobody/send", 404), ("/pools/nobody/request?timeout=1", 404)):
        check(host.http(f"POST {path} HTTP/1.1\r\nHost: weir\r\n\r\n")[0] == wanted, path)


def test_a_client_that_is_killed_sends_no_part(host):
    """promise C16: the part of a line that was read is not a message"""
    before = len(lines_of(host))
    client = start(host, "send", "file")
    client.stdin.write(b"one\ntwo\nthr")
    client.stdin.flush()
    until(lambda: accepted(host, "file") >= before + 1, "two lines")
    client.send_signal(signal.SIGINT)
    client.communicate()
    check(client.returncode == -signal.SIGINT, f"{client.returncode}")
    check(lines_of(host)[-2:] == [b"one", b"two"], f"{lines_of(host)[-3:]}")


def test_the_host_ends_meanwhile(host):
    host.run("pause", "gate")
    before = refused(host, "gate")
    clients = [start(host, "send", "gate", "--timeout", "10m", "x"),
               start(host, "request", "stuck", "--timeout", "10m", "x")]
    until(lambda: refused(host, "gate") > before, "a client that waits")
    host.stop(9)
    for client in clients:
        client.communicate()
        check(client.returncode in (69, 75), f"the host was killed: {client.returncode}")


def test_the_example(work):
    """The file of docs/guide/sending.md."""
    shutil.copy(os.path.join(TREE, "examples/commands/sizes.yaml"), work)
    with subprocess.Popen([WEIR, "run", "sizes.yaml"], cwd=work, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as host:
        until(lambda: subprocess.run([WEIR, "status", "-c", "sizes.sock"], cwd=work, check=False,
                                     capture_output=True).returncode == 0, "the example")
        with open(os.path.join(work, "five"), "w", encoding="utf-8") as stream:
            stream.write("12345")
        answer = subprocess.run([WEIR, "request", "sizes", "-c", "sizes.sock", "five"], cwd=work,
                                check=False, capture_output=True)
        check(answer.stdout == b"5 bytes\n", f"{answer}")
        subprocess.run([WEIR, "send", "compress", "-c", "sizes.sock"], cwd=work, check=True,
                       input=b"five\n", capture_output=True)
        host.terminate()
        check(host.wait() == 0, f"a host that was asked to end: {host.returncode}")
        check(os.path.exists(os.path.join(work, "five.gz")), "the work was done")


def main():
    with running("pools: {gate: {use: sink.null, size: 1}}\n") as host:
        os.mkfifo(os.path.join(host.work, "fifo"))
        host.write(POOLS.format(work=host.work, tree=TREE))
        check(host.run("reload").returncode == 0, "the reload")
        test_messages_arrive_once_and_in_order(host)
        test_what_is_too_large_is_refused(host)
        test_full_says_so_and_counts(host)
        test_a_paused_pool_is_waited_for(host)
        test_replies(host)
        test_requests_that_fail(host)
        test_wrong_words(host)
        test_a_client_that_is_killed_sends_no_part(host)
        test_the_host_ends_meanwhile(host)
    with tempfile.TemporaryDirectory() as work:
        test_the_example(work)
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
