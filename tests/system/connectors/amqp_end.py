#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   the end of a host waits for no server of amqp.publish: what cannot be published is dead,
        and stored. Shows promise H16.
Method: hosts with a server that is not there, one that accepts and says nothing, and one that ends
        each connection; a `shutdown_timeout` longer than the time-out of this test.

    amqp_end.py WEIR PLUGINS TREE
"""
import json
import os
import socket
import sys
import tempfile
import threading

from control import PLUGINS, Host, check, report_failures, until

TEXT = """
sources: {{numbers: {{use: gen.forever, to: far}}}}
pools:
  far: {{use: amqp.publish, size: 2, mailbox: 50,
         args: {{servers: ["amqp://127.0.0.1:{port}"], queue: q, must_connect: false,
                 timeout: 1s}}}}
"""


def absent(listener):
    listener.close()


def silent(listener):
    listener.listen()


def leaving(listener):
    listener.listen()

    def serve():
        while True:
            try:
                listener.accept()[0].close()
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()


def queued(host):
    return host.json("status", "far")["queued"]


def test_end_waits_for_no_server(server):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    server(listener)
    with tempfile.TemporaryDirectory() as work:
        host = Host(work)
        host.write(TEXT.format(port=port),
                   more=f', shutdown_timeout: 1h, dead_letters: {{file: "{work}/dead"}}')
        host.start()
        until(lambda: queued(host) == 100, "full mailboxes")
        code = host.stop()
        log = open(host.log, encoding="utf-8").read()
        check(code == 75, f"{server.__name__}: {code} {log[-500:]}")
        check("balance=exact" in log and "misuse" not in log.replace("misuses=0", ""), log[-500:])
        check('event="gives up what it waits with"' in log, log[-500:])
        letters = json.loads(host.run("dead", "--file", f"{work}/dead", "-o", "json").stdout)
        check(len(letters) == 100 and {letter["reason"] for letter in letters} == {"removed"},
              f"{server.__name__}: {len(letters)} {letters[:1]}")
    listener.close()


POSITION = """
sources:
  lines: {{use: files.tail, to: {first},
          args: {{paths: ["{work}/a.log"], position: "{work}/position", poll: 20ms}}}}
pools:
  near: {{use: relay.pass, size: 1, outputs: {{out: far}}}}
  far: {{use: {far}}}
"""
PUBLISH = """amqp.publish, size: 2, mailbox: 50,
        args: {{servers: ["amqp://127.0.0.1:{port}"], queue: q, must_connect: false,
               timeout: 1s}}"""
LINES = [f"line {number}" for number in range(80)]


def lines_of(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read().split("\n")[:-1]


def test_source_with_a_position_waits_for_no_server(first, has_file):
    """The source waits for its messages, which the pool keeps: that gives up before its turn to
    close, and the next host begins at these lines."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    publish = PUBLISH.format(port=listener.getsockname()[1])
    listener.close()
    with tempfile.TemporaryDirectory() as work:
        with open(f"{work}/a.log", "w", encoding="utf-8") as stream:
            stream.writelines(line + "\n" for line in LINES)
        host = Host(work)
        dead = f', dead_letters: {{file: "{work}/dead"}}' if has_file else ""
        host.write(POSITION.format(work=work, first=first, far=publish),
                   more=f", shutdown_timeout: 1h{dead}")
        host.start()
        until(lambda: queued(host) == len(LINES), "all lines")
        code = host.stop()
        log = open(host.log, encoding="utf-8").read()
        what = f"{first} {has_file}: {code} {log[-1500:]}"
        check(code == 75 and "balance=exact" in log, what)
        check('event="gives up what it waits with"' in log, what)
        stored = json.loads(host.run("dead", "--file", f"{work}/dead", "-o", "json").stdout) \
            if has_file else []
        host.write(POSITION.format(
            work=work, first="far", far=f'file.append, args: {{path: "{work}/out"}}'))
        host.start()
        with open(f"{work}/a.log", "a", encoding="utf-8") as stream:
            stream.write("last\n")
        until(lambda: os.path.exists(f"{work}/out") and "last" in lines_of(f"{work}/out"),
              "the last line")
        host.stop()
        check(len(stored) == (len(LINES) if has_file else 0), f"{len(stored)} stored: {what}")
        check(lines_of(f"{work}/out") == [*LINES, "last"], f"{lines_of(f'{work}/out')[:3]}: {what}")


def main():
    os.environ["WEIR_PLUGIN_PATH"] = os.path.join(PLUGINS, "../tests/plugins")  # of relay
    for server in (absent, silent, leaving):
        test_end_waits_for_no_server(server)
    for first in ("far", "near"):
        for has_file in (True, False):
            test_source_with_a_position_waits_for_no_server(first, has_file)
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
