# SPDX-License-Identifier: MIT
"""Connects COUNT times to the socket PATH at once, sends lines in pieces, and checks each answer.

Usage: lines.py PATH COUNT. Then one sends 4 MB without reading, and reads it all; one sends a line
that is too long, and is cut off. Waits on the sockets only.
"""
import socket
import sys
import threading

LONG = b"0123456789" * 100


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    return client, client.makefile("rb")


def check(found, wanted):
    if found != wanted:
        sys.exit(f"lines.py: {found[:60]!r}, not {wanted[:60]!r}")


def ask_many(path, count):
    clients = [connect(path) for _ in range(count)]
    for number, (client, _) in enumerate(clients):
        client.sendall(b"line %d\nlast of it" % number)
    for number, (client, answers) in enumerate(clients):
        check(answers.readline(), (b"line %d" % number)[::-1] + b"\n")
        client.sendall(b"\n\n")
    for _, answers in clients:
        check(answers.readline(), b"last of it"[::-1] + b"\n")
        check(answers.readline(), b"\n")
    return clients


def flood(path, lines):
    client, answers = connect(path)
    sender = threading.Thread(target=client.sendall, args=((LONG + b"\n") * lines,))
    sender.start()
    for _ in range(lines):
        check(answers.readline(), LONG[::-1] + b"\n")
    sender.join()
    client.close()


def send_too_long(path):
    client, answers = connect(path)
    client.sendall(b"x" * 1024)
    try:
        check(answers.readline(), b"")
    except ConnectionResetError:
        pass


if __name__ == "__main__":
    held = ask_many(sys.argv[1], int(sys.argv[2]))
    flood(sys.argv[1], 4000)
    send_too_long(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.read()  # the connections stay open until then
