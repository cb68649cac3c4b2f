# SPDX-License-Identifier: MIT
"""A worker of Weir in Python: the child of the behaviour `exec.pipe`.

    import weir

    @weir.worker
    def upper(message):
        return message.data.upper()

    if __name__ == "__main__":
        weir.run(upper)

The function gets one message after the other; with `@weir.worker(batch=64)` it gets lists of them.
Returning settles the message as done; Retry, Reject and Fail settle it otherwise. Any other
exception rejects the message, and its traceback goes to the log of the host, as everything does
that the program prints. `weir_testing` runs a worker without a host.
`emit`, `label`, `log`, `inspect` and the methods of a message may be called from any thread.
"""
from __future__ import annotations

# A pool starts as many interpreters as it has workers: what is not needed by all is imported late.
import _thread
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Optional, Union, overload

    Data = Union[bytes, bytearray, memoryview, str]
    Result = Union[Data, "Reject", "Retry", None]
    Handler = Callable[["Message"], Result]
    _Head = tuple[str, int, int, bool]  # tag, key, attempt and whether it is a request
    _Answer = Union[bytes, tuple[bytes, "_Verdict"]]  # frames with a verdict, or beside one
else:
    Data = Result = Handler = object  # for annotations of users that are evaluated

DELAY_MAX_MS = 2**32 - 1
BATCH_MAX = 1024  # the host allows as many kept messages and those of a window together
# The key `outputs` of the pool says where they lead.
OUTPUTS = ("out", "errors", *(f"out{number}" for number in range(2, 9)))
_BLOCK, _LARGE = 1 << 16, 1 << 20  # bytes of one read, and of one of a large payload
_LONG_S = 0.001  # after a longer message, what came meanwhile is read: it may cancel the next
_RESULTS = [b"result %d\n" % size for size in range(256)]  # the first lines of short ones
_UNITS_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}

# A message is in hand until its function has returned. Then it has ended, or it is kept.
_IN_HAND, _TO_KEEP, _KEPT, _ENDED = range(4)


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

    def __init__(self, reason: str = "", delay: float = 1.0) -> None:
        super().__init__(reason)
        self.delay = float(min(max(0, delay), DELAY_MAX_MS))


class _Gone(BaseException):
    """The host has closed its end."""


class Message:
    """data: bytes. tag: str. key: int, 0 = none. attempt: int, 1 = the first. is_request: bool.
    is_cancelled: bool, nobody wants the result any more; it can change while a message is kept."""

    def __init__(self, session: _Session, number: int, head: _Head, data: bytes) -> None:
        self.data, self._session, self._number = data, session, number
        self.tag, self.key, self.attempt, self.is_request = head
        self.is_cancelled, self._state = False, _IN_HAND

    def emit(self, data: Data, key: int = 0, output: str = "out") -> None:
        """Sends bytes or text to an output, one of OUTPUTS, at once. `key`: an int of 64 bits, not
        negative; 0: that of the message. TypeError and ValueError: nothing is sent."""
        self._write(self._session.output(self._number, data, key, output))

    def reply(self, data: Data) -> None:
        """Answers a request with bytes or text, at once. The verdict still settles it. TypeError:
        it is no request."""
        if not self.is_request:
            raise TypeError("only a request has a reply")
        self._write(_frame(b"reply", _bytes(data), b"%d" % self._number))

    def keep(self) -> None:
        """The message has no verdict when the function returns: `settle` gives it later, from
        another message, a tick, or another thread. An exception of the function still counts."""
        with self._session.lock:
            if self._state == _IN_HAND:
                self._state = _TO_KEEP
            elif self._state == _ENDED:
                raise RuntimeError("the message has its verdict")

    def settle(self, result: Result = None) -> None:
        """The verdict for a kept message. `result` is what a function may return. TypeError: the
        message is still kept."""
        sent, verdict = self._session.answer(self, result)
        with self._session.lock:
            self._session.settle(self, sent, verdict)

    def done(self) -> None:
        """`settle()`: the kept message is done."""
        self.settle()

    def _write(self, frame: bytes) -> None:
        with self._session.lock:
            if self._state == _ENDED:
                raise RuntimeError("the message has its verdict")
            self._session.write(frame)


class Worker:
    """A function that handles messages, made by `@weir.worker`."""

    def __init__(self, handle: Callable[[Any], Any], batch: Optional[int] = None,
                 wait: Union[str, float] = 0) -> None:
        if batch is not None and not 1 <= batch <= BATCH_MAX:
            raise ValueError(f"a batch is from 1 to {BATCH_MAX}, not {batch}")
        self.handle, self.batch, self.wait_s = handle, batch, _seconds(wait)
        self.tick: Optional[Callable[[], object]] = None
        self.close: Optional[Callable[[], object]] = None
        self.__wrapped__ = handle
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(handle, name, None))

    def __call__(self, given: Any) -> Any:
        return self.handle(given)

    def on_tick(self, function: Callable[[], object]) -> Callable[[], object]:
        """Decorator: the function is called each `tick` of the `args` of the pool, between
        messages. An exception goes to the log."""
        self.tick = function
        return function

    def on_close(self, function: Callable[[], object]) -> Callable[[], object]:
        """Decorator: the function is called once, when the host needs this process no longer, and
        before Stop ends it. It may emit. It has the time `grace` of the `args` of the pool."""
        self.close = function
        return function


if TYPE_CHECKING:
    @overload
    def worker(handle: Handler) -> Worker: ...

    @overload
    def worker(*, batch: None = None) -> Callable[[Handler], Worker]: ...

    @overload
    def worker(*, batch: int, wait: Union[str, float] = 0) -> Callable[
        [Callable[[list[Message]], Optional[Sequence[Result]]]], Worker]: ...


def worker(handle: Any = None, *, batch: Optional[int] = None,
           wait: Union[str, float] = 0) -> Any:
    """Decorator: makes a function of a message, or of a list of messages, a worker.

    `batch`: the function gets a list of 1 to `batch` messages, and returns None, when all are done,
    or a list with a result for each. A result that is an instance of Reject or Retry is the verdict
    of its message. An exception of the function is the verdict of all of them.
    `wait`: how long to wait until a list is full, in seconds or as text, such as "5ms". With 0 the
    list has what has come.
    """
    return Worker(handle) if handle is not None else lambda function: Worker(function, batch, wait)


def run(handle: Union[Worker, Handler], reader: int = 3, writer: int = 4) -> None:
    """Gives the messages to `handle`, a worker or a function of a message, until the host needs
    this process no longer. A result other than None, bytes or text, is the reply to a request, and
    otherwise goes to the output."""
    global _session
    try:
        os.set_inheritable(reader, False)
        os.set_inheritable(writer, False)
    except OSError:
        sys.exit("weir: nothing to read messages from: exec.pipe starts this program")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)
    ready = select.poll()
    ready.register(reader, select.POLLIN)
    _session = _Session(handle if isinstance(handle, Worker) else Worker(handle),
                        lambda size: os.read(reader, size), lambda data: os.write(writer, data),
                        lambda wait_s: bool(ready.poll(wait_s * 1000)),
                        lambda: os.write(reader, b"\n"))
    try:
        _session.run()
    except (_Gone, ConnectionError):  # the host has closed its end, perhaps behind a bell
        pass
    finally:
        with _session.lock:  # another thread may get the number of this one, when it has ended
            _session.is_open, _session.thread = False, 0
        _session = None
        os.close(reader)
        os.close(writer)


def emit(data: Data, key: int = 0, output: str = "out") -> None:
    """Sends bytes or text to an output, one of OUTPUTS, at once. In the function of a message, it
    belongs to that message; in that of a batch, to the first one. In a tick, at the close, and in
    another thread, it belongs to none."""
    session = _running()
    message = session.current if _thread.get_ident() == session.thread else None
    with session.lock:
        session.write(session.output(message._number if message else 0, data, key, output))


def label(text: str) -> None:
    """The name of what is emitted next, in the log and in dead letters."""
    _running().label = _bytes(text)


def inspect(items: Mapping[str, object]) -> None:
    """What `weir inspect` shows of this process, until the next call."""
    lines = [(str(name), str(value)) for name, value in items.items()]
    for name, value in lines:
        if name.split() != [name] or "\n" in value:
            raise ValueError(f"a name without blanks and a value of one line, not {name!r}")
    frame = _frame(b"inspect", "".join(f"{n} {v}\n" for n, v in lines).encode(errors="replace"))
    with (session := _running()).lock:
        session.write(frame)


class _Log:
    """Writes lines to the log of the host, with a level. Before `run` they go to standard error."""

    def debug(self, text: object) -> None:
        self._write(b"debug", text)

    def info(self, text: object) -> None:
        self._write(b"info", text)

    def warning(self, text: object) -> None:
        self._write(b"warning", text)

    def error(self, text: object) -> None:
        self._write(b"error", text)

    def _write(self, level: bytes, text: object) -> None:
        if (session := _session) is None:
            print(text, file=sys.stderr)
            return
        lines = str(text).encode(errors="replace").split(b"\n")
        with session.lock:
            session.write(b"".join(_frame(b"log", line, level) for line in lines))


log = _Log()
_session: Optional[_Session] = None


def _running() -> _Session:
    if _session is None:
        raise RuntimeError("weir.run has not been called")
    return _session


def _bytes(data: Data) -> bytes:
    try:
        return data.encode() if isinstance(data, str) else bytes(memoryview(data))
    except TypeError:
        raise TypeError(f"bytes or text, not {type(data).__name__}") from None


def _reason(error: object) -> bytes:
    return str(error)[:200].encode(errors="replace")


def _seconds(wait: Union[str, float]) -> float:
    if isinstance(wait, str):
        unit = wait.lstrip("0123456789.")
        whole, point, part = wait[:len(wait) - len(unit)].partition(".")
        if unit not in _UNITS_S or not whole or bool(point) != bool(part) or "." in part:
            raise ValueError(f"a time is a number with us, ms, s, m or h, not {wait!r}")
        return float(whole + point + part) * _UNITS_S[unit]
    return max(0.0, float(wait))


def _frame(word: bytes, data: bytes, *words: bytes) -> bytes:
    return b" ".join((word, b"%d" % len(data), *words)) + b"\n" + data


# The word of a verdict, its reason, and the words that follow.
_Verdict = tuple[bytes, ...]
_DONE: _Verdict = (b"done", b"")
_DONE_FRAME = b"done 0\n"


def _joined(frames: list[bytes]) -> bytes:
    done = frames.count(_DONE_FRAME)  # one verdict for all when there is nothing else
    return b"batch 0 %d\n" % done if 1 < done == len(frames) else b"".join(frames)


class _Session:
    """The frames between a host and a worker. `read`, `write`: as of os, on an open descriptor.
    `wait`: whether anything can be read within so many seconds. `ring`: the host reads now."""

    def __init__(self, served: Worker, read: Callable[[int], bytes],
                 write: Callable[[bytes], int], wait: Callable[[float], bool],
                 ring: Callable[[], object]) -> None:
        self._worker, self._handle = served, served.handle
        self._read, self._write, self._wait, self._ring = read, write, wait, ring
        self.is_open, self._ticks = True, 0
        self._rest, self._missing = b"", 1  # a frame that is not complete; bytes until it is
        self._waiting: list[Message] = []  # not begun
        self._looked, self._rings = 0.0, False  # when input was looked for; the host awaits a ring
        self._kept: dict[int, Message] = {}
        self._early: dict[int, _Verdict] = {}  # of messages whose function has not returned
        self._words, self._head = (b"", b""), ("", 0, 0, False)  # of the last message
        self._is_closing = self._is_ending = False  # `close` has come; nothing comes any more
        # Guards what is written, and the state of each message.
        self.lock, self.thread = _thread.allocate_lock(), _thread.get_ident()
        self.current: Optional[Message] = None
        self.label: Optional[bytes] = None

    def run(self) -> None:
        batch = self._worker.batch
        self.write(b"ready 0 3 %d\n" % batch if batch else b"ready 0 3\n")
        while self.fill() and self.work():
            pass

    def fill(self) -> bool:
        """Reads until there is another frame. False: there is none any more."""
        blocks, missing = [self._rest], self._missing
        if self._rings and not self._waiting and self._worker.batch is None and not self._wait(0):
            self._rings = False
            try:
                self._ring()
            except OSError:  # the reader is a pipe, or the host has closed its end
                pass
        while missing > 0:
            if not (block := self._read(min(max(missing, _BLOCK), _LARGE))):
                self._is_ending = True
                return False
            blocks.append(block)
            missing -= len(block)
        self._parse(b"".join(blocks))
        self._looked, self._rings = time.monotonic(), self._rings or len(self._waiting) > 1
        return True

    def _parse(self, data: bytes) -> None:
        at, size, self._missing = 0, len(data), 1
        cancelled: set[int] = set()
        while (end := data.find(b"\n", at)) >= 0:
            words = data[at:end].split(b" ", 3)
            end += 1
            if len(words) == 4:
                kind, length, number, rest = words
                self._missing = max(1, end + int(length) - size)
                if end + int(length) > size:
                    break
                if self._words != (kind, rest):
                    attempt, key, tag = rest.split(b" ", 2)
                    self._words, self._head = (kind, rest), (
                        tag.decode(errors="replace"), int(key), int(attempt), kind == b"request")
                sizes = [length]
                if kind == b"messages":  # a line of their sizes, and their bytes
                    at, end = end, data.index(b"\n", end) + 1
                    sizes = data[at:end].split()
                for which, one in enumerate(map(int, sizes), int(number)):
                    at, end = end, end + one
                    self._waiting.append(Message(self, which, self._head, data[at:end]))
            elif words[0] == b"cancel":
                cancelled.add(int(words[2]))
            elif words[0] == b"tick":
                self._ticks += 1
            else:
                self._is_closing = True
            at = end
        self._rest = data[at:]
        for known in (*self._waiting, *self._kept.values()) if cancelled else ():
            known.is_cancelled |= known._number in cancelled

    def work(self) -> bool:
        """Handles what was read. False: this process must end."""
        go_on = self._ones if self._worker.batch is None else self._many
        while self._ticks or self._waiting:
            if not (self._tick() if self._ticks else go_on()):
                return False
        if self._is_closing:
            self._call(self._worker.close)
        return not self._is_closing and not self._is_ending

    def _comes(self, wait_s: float) -> bool:
        return not self._is_closing and not self._is_ending and self._wait(wait_s)

    def _tick(self) -> bool:
        """Calls `on_tick` when a tick has come. False: it raised Stop."""
        ticks, self._ticks = self._ticks, 0
        if ticks == 0 or self._call(self._worker.tick):
            return True
        self._call(self._worker.close)
        with self.lock:
            self.write(b"stop 0\n")
        return False

    def _call(self, function: Optional[Callable[[], object]]) -> bool:
        """Calls what handles no message. False: it raised Stop."""
        try:
            if function:
                function()
        except Stop:
            return False
        except Fail as error:
            with self.lock:
                self.write(_frame(b"fail", _reason(error), b"0"))
            raise _Gone from None
        except Exception as error:
            sys.__excepthook__(type(error), error, error.__traceback__)
        return True

    def _ones(self) -> bool:
        """Handles one message after the other, until a tick has come."""
        waiting, handle, write, now = self._waiting, self._handle, self._write, time.monotonic
        while waiting and not self._ticks:
            message = self.current = waiting.pop(0)
            try:
                result = None if message.is_cancelled else handle(message)
                if type(result) is bytes and self.label is None and not message.is_request:
                    answer: _Answer = (_RESULTS[size] if (size := len(result)) < 256
                                       else b"result %d\n" % size) + result
                else:
                    answer = self._answer_in_hand(message, result)
            except Exception as error:
                answer = b"", self._verdict(error)
            self.current = None
            # When the next message kills this process, the host must know that this one has ended.
            with self.lock:
                if message._state == _IN_HAND and isinstance(answer, bytes):
                    message._state = _ENDED
                    if (sent := write(answer)) < len(answer):
                        self.write(answer[sent:])
                elif not self._write_answers([message], [answer]):
                    return False
            if now() - self._looked > _LONG_S:
                self._looked = now()
                if self._comes(0):
                    self.fill()
        return True

    def _many(self) -> bool:
        waiting, batch = self._waiting, self._worker.batch or 1
        until = time.monotonic() + self._worker.wait_s
        while len(waiting) < batch and self._comes(max(0.0, until - time.monotonic())):
            self.fill()
            if not self._tick():
                return False
        messages = waiting[:batch]
        del waiting[:batch]
        wanted = [message for message in messages if not message.is_cancelled]
        answers: list[_Answer] = []
        if wanted:
            self.current = wanted[0]
            try:
                answers = self._answers(wanted, self._handle(wanted))
            except Exception as error:
                answers = [(b"", self._verdict(error))] * len(wanted)
            self.current = None
        if len(wanted) < len(messages):
            rest = iter(answers)
            answers = [_DONE_FRAME if message.is_cancelled else next(rest) for message in messages]
        with self.lock:
            return self._write_answers(messages, answers)

    def _write_answers(self, messages: list[Message], answers: list[_Answer]) -> bool:
        """Ends the messages. False: this process must end. The caller has the lock."""
        frames: list[bytes] = []
        for message, answer in zip(messages, answers):
            if isinstance(answer, bytes):
                if message._state == _IN_HAND:
                    message._state = _ENDED
                    frames.append(answer)
                    continue
                sent = answer.replace(b"result", b"out", 1) if answer != _DONE_FRAME else b""
                answer = sent, _DONE
            sent, verdict = answer
            if verdict[0] in (b"stop", b"fail"):
                self.write(b"".join(frames) + self._last(messages[len(frames):], verdict))
                return False
            frames.append(sent + self._end(message, verdict))
        self.write(_joined(frames))
        return True

    def _last(self, messages: list[Message], verdict: _Verdict) -> bytes:
        """The frames of Stop, after which all are done, or of Fail. The caller has the lock."""
        if verdict[0] == b"fail":
            return self._end(messages[0], verdict)
        for message in messages:
            if message._state == _TO_KEEP:
                message._state = _IN_HAND
        return _joined([self._end(message, _DONE) for message in messages]) + b"stop 0\n"

    def _answers(self, messages: list[Message], results: Any) -> list[_Answer]:
        """The answers that the results of a batch give."""
        if results is None:
            return [_DONE_FRAME] * len(messages)
        if not isinstance(results, (list, tuple)):
            raise TypeError(f"a list of results, not {type(results).__name__}")
        if len(results) != len(messages):
            raise ValueError(f"{len(results)} results for {len(messages)} messages")
        return [(_RESULTS[size] if (size := len(result)) < 256 else b"result %d\n" % size) + result
                if type(result) is bytes and self.label is None and not message.is_request
                else self._answer_in_hand(message, result)
                for message, result in zip(messages, results)]

    def _answer_in_hand(self, message: Message, result: Result) -> _Answer:
        if result is None:
            return _DONE_FRAME
        try:
            return self.answer(message, result)
        except (TypeError, ValueError) as error:
            return b"", self._verdict(error)

    def answer(self, message: Message, result: Result) -> tuple[bytes, _Verdict]:
        """What a result sends, and its verdict."""
        if result is None:
            return b"", _DONE
        if isinstance(result, (Reject, Retry)):
            return b"", self._verdict(result)
        if message.is_request:
            return _frame(b"reply", _bytes(result), b"%d" % message._number), _DONE
        return self.output(message._number, result, 0, "out"), _DONE

    def output(self, number: int, data: Data, key: int, name: str) -> bytes:
        """The frame of an output, behind those of its name and its label."""
        key = range(key).stop  # an int, or TypeError
        if not 0 <= key < 2**64:
            raise ValueError(f"a key is from 0 to 2**64 - 1, not {key}")
        if name not in OUTPUTS:
            raise ValueError(f"an output is one of {', '.join(OUTPUTS)}, not {name!r}")
        data = data if isinstance(data, bytes) else _bytes(data)
        frame = b"out %d %d %d\n%b" % (len(data), key, number, data)
        if name != "out":
            frame = _frame(b"to", name.encode()) + frame
        if self.label is not None:
            frame, self.label = _frame(b"label", self.label) + frame, None
        return frame

    def _verdict(self, error: Exception) -> _Verdict:
        if isinstance(error, Retry):
            return b"retry", _reason(error), b"%d" % min(error.delay * 1000, DELAY_MAX_MS)
        if isinstance(error, (Reject, Fail)):
            return b"reject" if isinstance(error, Reject) else b"fail", _reason(error)
        if isinstance(error, Stop):
            self.current = None  # the last outputs belong to no message
            self._call(self._worker.close)
            return b"stop", b""
        sys.__excepthook__(type(error), error, error.__traceback__)
        return b"reject", _reason(f"{type(error).__name__}: {error}")

    def _end(self, message: Message, verdict: _Verdict) -> bytes:
        """Ends what was in hand, and returns the frame. The caller has the lock."""
        state = message._state
        if state == _TO_KEEP and verdict is _DONE:
            message._state = _KEPT
            self._kept[message._number] = message
            return b"keep 0 %d\n" % message._number
        message._state = _ENDED
        if state == _ENDED:
            verdict = self._early.pop(message._number)
        return _DONE_FRAME if verdict is _DONE else _frame(*verdict)

    def settle(self, message: Message, sent: bytes, verdict: _Verdict) -> None:
        """The verdict of what is kept. The caller has the lock."""
        number, state = message._number, message._state
        if state not in (_TO_KEEP, _KEPT):
            raise RuntimeError("the message is not kept")
        message._state = _ENDED
        if state == _TO_KEEP:
            self._early[number] = verdict
            self.write(sent)
            return
        del self._kept[number]
        word, reason, *words = verdict
        self.write(sent + _frame(b"settle", reason, b"%d" % number, word, *words))

    def write(self, data: bytes) -> None:
        """The caller has the lock, or is the only thread."""
        try:
            while data and self.is_open:
                data = data[self._write(data):]
        except BrokenPipeError:
            self.is_open = False
        if not self.is_open:  # SystemExit ends another thread without a word
            raise _Gone if _thread.get_ident() == self.thread else SystemExit
