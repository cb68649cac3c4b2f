# SPDX-License-Identifier: MIT
"""A worker of Weir in Python: the child of the behaviour `exec.pipe`.

    import weir

    def handle(message):
        return message.data.upper()

    weir.run(handle)

`handle` gets one message after the other. Returning settles the message as done; Retry, Reject and
Fail settle it otherwise. Any other exception rejects the message, and its traceback goes to the log
of the host, as everything does that the program prints.
"""
import contextlib
import operator
import os
import sys
import traceback

DELAY_MAX_MS = 2**32 - 1


class Reject(Exception):
    """The message cannot be handled: it becomes a dead letter, with this reason."""


class Fail(Exception):
    """This process cannot go on: another one replaces it. The option `redeliver` of the pool says
    how often the message is delivered again."""


class Stop(Exception):
    """The message is done; this process ends, and another one replaces it."""


class Retry(Exception):
    """The message is delivered again after `delay` seconds, at most three times. A negative delay
    counts as 0, and a delay of more than 49 days as 49 days."""

    def __init__(self, reason="", delay=1.0):
        super().__init__(reason)
        self.delay = float(min(max(0, delay), DELAY_MAX_MS))


class Message:
    """data: bytes. tag: str. key: int, 0 = none. attempt: int, 1 = the first. is_request: bool."""

    def __init__(self, kind, attempt, key, tag, data, write):
        self.is_request = kind == "request"
        self.attempt, self.key, self.tag, self.data = int(attempt), int(key), tag, data
        self._write = write

    def emit(self, data, key=0):
        """Sends bytes or text to the output. `key`: an int of 64 bits, not negative; 0: that of the
        message. TypeError and ValueError: nothing is sent."""
        key = operator.index(key)
        if not 0 <= key < 2**64:
            raise ValueError(f"a key is from 0 to 2**64 - 1, not {key}")
        self._write("out", data, key)

    def reply(self, data):
        """Answers a request with bytes or text. The verdict still settles it. TypeError: it is no
        request."""
        if not self.is_request:
            raise TypeError("only a request has a reply")
        self._write("reply", data)


def run(handle, reader=3, writer=4):
    """Calls `handle` for each message until the host needs this worker no longer. A result other
    than None, bytes or text, is the reply to a request, and otherwise goes to the output."""
    try:
        os.set_inheritable(reader, False)
        os.set_inheritable(writer, False)
    except OSError:
        sys.exit("weir: nothing to read messages from: exec.pipe starts this program")
    sys.stdout.reconfigure(line_buffering=True)
    # The host may close its end at any time; this worker is not needed then.
    with contextlib.suppress(BrokenPipeError), \
            os.fdopen(reader, "rb") as messages, os.fdopen(writer, "wb") as frames:

        def write(word, data=b"", *number):
            data = _bytes(data)
            frames.write(" ".join(map(str, (word, len(data), *number))).encode() + b"\n" + data)
            frames.flush()

        write("ready")
        while line := messages.readline():
            kind, size, *rest = line.decode(errors="replace").rstrip("\n").split(" ", 4)
            data = messages.read(int(size))
            if len(data) == int(size) and not _settle(handle, Message(kind, *rest, data, write)):
                return


def _bytes(data):
    try:
        return data.encode() if isinstance(data, str) else bytes(memoryview(data))
    except TypeError:
        raise TypeError(f"bytes or text, not {type(data).__name__}") from None


def _reason(error):
    return str(error)[:200].encode(errors="replace")


def _settle(handle, message):
    """Returns False after Stop and Fail."""
    write = message._write
    try:
        result = handle(message)
        if result is not None:
            (message.reply if message.is_request else message.emit)(result)
        write("done")
    except Retry as error:
        write("retry", _reason(error), int(min(error.delay * 1000, DELAY_MAX_MS)))
    except Reject as error:
        write("reject", _reason(error))
    except (Stop, Fail) as error:
        write(*(("fail", _reason(error)) if isinstance(error, Fail) else ("stop",)))
        return False
    except Exception as error:
        traceback.print_exc()
        write("reject", _reason(f"{type(error).__name__}: {error}"))
    return True
