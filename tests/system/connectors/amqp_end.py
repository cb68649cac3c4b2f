#!/usr/bin/env python3
"""Goal:   the end of a host waits for no server of amqp.publish: what cannot be published is dead,
        and stored. Shows promise H16.
Method: hosts with a server that is not there, one that accepts and says nothing, and one that ends
        each connection; a `shutdown_timeout` longer than the time-out of this test.

    amqp_end.py WEIR PLUGINS TREE
"""
import json
import socket
import sys
import tempfile
import threading

from control import Host, check, report_failures, until

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


def main():
    for server in (absent, silent, leaving):
        test_end_waits_for_no_server(server)
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
