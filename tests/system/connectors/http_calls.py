#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a request to http.server costs 2.5 system calls at most, with 64 connections: one to
        receive, one to send, and a share of what all pay together. Shows promise B43.
Method: the host is stopped while a request goes to each of 64 connections, then it goes on. So each
        round is one burst, whatever the speed of the machine. `strace -c` counts the calls of all
        threads over the rounds, those between the rounds included.

    http_calls.py WEIR PLUGINS TREE
"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile

from control import PLUGINS, Host, check, run_tests, until

CONNECTIONS, ROUNDS = 64, 100
CALLS_MAX = 2.5
FILE = """
dispatchers: {{default: {{threads: 1}}}}
sources:
  web: {{use: http.server, to: work, args: {{listen: "127.0.0.1:{port}", idle: 10m}}}}
pools: {{work: {{use: answer.now, size: 1, mailbox: 4096, route: pull}}}}
"""
# A browser's ten lines.
REQUEST = (b"GET /index.html?a=b HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: Mozilla/5.0 (X11)\r\n"
           b"Accept: text/html,application/xhtml+xml\r\nAccept-Language: en-US,en;q=0.5\r\n"
           b"Accept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\nCookie: a=b; c=d\r\n"
           b"Upgrade-Insecure-Requests: 1\r\nSec-Fetch-Dest: document\r\n"
           b"Sec-Fetch-Mode: navigate\r\n\r\n")


class Counted:
    """`strace -c` of a process, from the `with` to its end."""

    def __init__(self, process, folder):
        self.process, self.out = process, os.path.join(folder, "calls")
        self.calls = {}

    def __enter__(self):
        self.strace = subprocess.Popen(["strace", "-f", "-c", "-o", self.out, "-p",
                                        str(self.process.pid)], stderr=subprocess.DEVNULL)
        tasks = f"/proc/{self.process.pid}/task"
        until(lambda: all(f"TracerPid:\t{self.strace.pid}\n" in
                          open(f"{tasks}/{task}/status", encoding="ascii").read()
                          for task in os.listdir(tasks)), "strace at all threads")
        return self

    def __exit__(self, *_):
        self.strace.send_signal(signal.SIGINT)
        self.strace.wait()
        with open(self.out, encoding="ascii") as stream:
            for line in stream:
                found = re.match(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", line)
                if found and found[2] != "total":
                    self.calls[found[2]] = int(found[1])


def read_answer(client):
    answer = b""
    while not answer.endswith(b"\r\n\r\nhello\n"):
        piece = client.recv(4096)
        if not piece:
            return False
        answer += piece
    return answer.startswith(b"HTTP/1.1 200 ")


def burst(host, clients):
    """A request from each client, all before the host goes on; true: all are answered."""
    host.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, host.process.pid, os.WSTOPPED)
    for client in clients:
        client.sendall(REQUEST)
    host.process.send_signal(signal.SIGCONT)
    return all([read_answer(client) for client in clients])


def test_calls_of_a_request():
    """promise B43"""
    with tempfile.TemporaryDirectory() as folder:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        host = Host(folder)
        bench = os.path.join(os.path.dirname(PLUGINS), "tests", "bench", "plugins")
        host.write(FILE.format(port=port))
        with open(host.file, encoding="utf-8") as stream:
            text = stream.read().replace("plugins: [", f'plugins: ["{bench}", ', 1)
        with open(host.file, "w", encoding="utf-8") as stream:
            stream.write(text)
        host.start()
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(CONNECTIONS)]
        try:
            check(all([burst(host, clients) for _ in range(3)]), "all are answered")
            with Counted(host.process, folder) as counted:
                check(all([burst(host, clients) for _ in range(ROUNDS)]), "all are answered")
            calls = sum(counted.calls.values()) / (ROUNDS * CONNECTIONS)
            print({name: count for name, count in counted.calls.items() if count > ROUNDS},
                  f"{calls:.2f} a request", file=sys.stderr)
            check(counted.calls.get("recvfrom", 0) >= ROUNDS * CONNECTIONS, f"{counted.calls}")
            check(calls <= CALLS_MAX, f"{calls:.2f} calls a request: {counted.calls}")
        finally:
            for client in clients:
                client.close()
            host.stop(9)


if __name__ == "__main__":
    run_tests(globals())
