# SPDX-License-Identifier: MIT
"""The peer of examples/batches: listens at PATH, sends batches, and checks each answer.

Usage: batches.py PATH STEP...

  serve   accepts a connection, reads a line from standard input, and has batches checked
  close   closes the connection
  give-up accepts a connection whose time for a batch is too short
  busy    sends a batch that takes hours
  end     waits for the end of the connection

Prints the name of each step after it. Waits on the socket only: a check that is not cancelled
takes hours, so the test ends by its time limit.
"""
import socket
import sys

PRIMES = [1000003, 1000033, 1000037, 1000039]
LARGE = "18446744073709551557"  # prime; thousands of millions of divisions


def ask(peer, batch, wanted):
    client, answers = peer
    client.sendall((batch + "\n").encode())
    check(answers, wanted)


def check(answers, wanted):
    found = answers.readline().decode().rstrip("\n")
    if found != wanted:
        sys.exit(f"batches.py: {found!r}, not {wanted!r}")


def converse(peer):
    client, answers = peer
    ask(peer, " ".join(map(str, PRIMES)), "all prime")
    ask(peer, " ".join(["2"] * 511), "all prime")
    ask(peer, "", "all prime")
    ask(peer, "1000003 1000001 1000033", "1000001 is not prime")
    # The first composite number stops the checks that run, and those that wait never begin.
    ask(peer, " ".join([LARGE] * 3 + ["1000001"] + [LARGE] * 40), "1000001 is not prime")
    # Lines that come together, and a line in two pieces.
    client.sendall(b"4\n1000")
    check(answers, "4 is not prime")
    client.sendall(b"003\n6\n")
    check(answers, "all prime")
    check(answers, "6 is not prime")


def connect(listener):
    client, _ = listener.accept()
    return client, client.makefile("rb")


def main(path, steps):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    print("listens", flush=True)
    for step in steps:
        if step == "serve":
            peer = connect(listener)
            print("accepted", flush=True)
            sys.stdin.readline()
            converse(peer)
        elif step == "close":
            for end in peer:
                end.close()
        elif step == "give-up":
            peer = connect(listener)
            ask(peer, LARGE, "not known")
        elif step == "busy":
            peer[0].sendall((" ".join([LARGE] * 40) + "\n").encode())
        elif step == "end":
            peer[1].read()
        print(step, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
