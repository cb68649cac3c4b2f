# SPDX-License-Identifier: MIT
"""A host of exec.pipe on a socket and a pipe: writes messages to weir.py and reads its frames."""
import contextlib
import os
import socket
import threading

import weir

CLOSE = b"close 0\n"
TICK = b"tick 0\n"


def message(data, number=1, kind="message", attempt=1, key=0, tag="text/1"):
    return f"{kind} {len(data)} {number} {attempt} {key} {tag}\n".encode() + data


def many(first, *payloads, key=0):
    """One frame for messages whose IDs count up."""
    body = b" ".join(b"%d" % len(data) for data in payloads) + b"\n" + b"".join(payloads)
    return message(body, first, "messages", key=key)


def request(data, number=1):
    return message(data, number, "request")


def cancel(number):
    return b"cancel 0 %d\n" % number


class FakeHost:
    """A worker that runs on a thread; `write` and `read_frame` are the host's side."""

    def __init__(self, handle, is_pipe=False):
        ours, theirs = socket.socketpair()
        reader, to_worker = os.pipe() if is_pipe else (theirs.detach(), ours.detach())
        ours.close()
        theirs.close()
        from_worker, writer = os.pipe()
        self.to_worker = os.fdopen(to_worker, "wb" if is_pipe else "r+b", buffering=0)
        self.from_worker = os.fdopen(from_worker, "rb")
        self.ended = None
        self.thread = threading.Thread(target=self._run, args=(handle, reader, writer))
        self.thread.start()

    def _run(self, handle, reader, writer):
        try:
            weir.run(handle, reader, writer)
        except BaseException as error:
            self.ended = error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.to_worker.close()
        self.from_worker.close()
        self.thread.join()

    def write(self, *frames):
        """One write, which one read of the worker gets when it is small."""
        self.to_worker.write(b"".join(frames))

    def read_frame(self):
        """Words of the line, and the bytes; None: the worker has ended."""
        line = self.from_worker.readline()
        if not line:
            return None
        words = line.decode().split()
        return (*words, self.from_worker.read(int(words[1])))


def play(handle, *messages, ready=b"ready 0 3\n"):
    """What the worker writes when it gets these bytes, after `ready`."""
    with FakeHost(handle) as host:
        def feed():
            with contextlib.suppress(BrokenPipeError), host.to_worker:
                data = memoryview(b"".join(messages))
                while data:
                    data = data[host.to_worker.write(data):]

        feeder = threading.Thread(target=feed)
        feeder.start()
        written = host.from_worker.read()
        feeder.join()
    assert written.startswith(ready), written
    return written.removeprefix(ready)
