# SPDX-License-Identifier: MIT
"""Runs a worker of weir.py without a host, for its tests.

    import weir_testing

    def test_upper():
        host = weir_testing.Host(upper)
        host.send("one", "two")
        assert host.outputs == [b"ONE", b"TWO"]

The calls of a `Host` return when the worker has handled what it was given. A worker with `batch`
gets the messages of one `send` in lists, and never waits for more.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Optional, Union

import weir


@dataclass
class Output:
    """What was emitted, and at which output. `of`: the message to which it belongs; None: it
    belongs to none."""

    data: bytes
    key: int
    label: Optional[str]
    of: Optional[Given]
    output: str = "out"


@dataclass(eq=False)
class Given:
    """A message or a request that was given to the worker, and what the worker made of it.

    `verdict`: "done", "retry", "reject", "fail", "kept", or None, when the worker ended
    before. `reason`: of a verdict that is not done. `delay`: seconds, of a retry."""

    data: bytes
    key: int
    outputs: list[bytes] = field(default_factory=list)
    reply: Optional[bytes] = None
    verdict: Optional[str] = None
    reason: str = ""
    delay: Optional[float] = None


class Host:
    """Plays the host for a worker, or for a function of a message. `outputs`: the bytes of all
    outputs. `emitted`: the same with key, label and message. `log`: pairs of level and text.
    `inspect`: what the worker said last. `has_ended`: after Stop, Fail and `close`."""

    def __init__(self, handle: Union[weir.Worker, weir.Handler]) -> None:
        self.emitted: list[Output] = []
        self.log: list[tuple[str, str]] = []
        self.inspect: dict[str, str] = {}
        self.has_ended = False
        self._worker = handle if isinstance(handle, weir.Worker) else weir.Worker(handle)
        self._given: dict[int, Given] = {}
        self._in_hand: list[int] = []
        self._label: Optional[str] = None
        self._to = "out"
        self._input = b""
        self._session = weir._Session(self._worker, self._read, self._write, lambda _: False,
                                      lambda: None)

    @property
    def outputs(self) -> list[bytes]:
        return [output.data for output in self.emitted]

    def send(self, *data: Union[str, bytes], key: int = 0, tag: str = "text/1",
             attempt: int = 1) -> list[Given]:
        """Gives messages to the worker."""
        return self._give("message", data, key, tag, attempt)

    def request(self, data: Union[str, bytes], key: int = 0, tag: str = "text/1",
                attempt: int = 1) -> Given:
        """Gives a request to the worker."""
        return self._give("request", (data,), key, tag, attempt)[0]

    def tick(self) -> None:
        """Calls what is decorated with `on_tick`."""
        self._feed(b"tick 0\n")

    def cancel(self, given: Given) -> None:
        """Says that the result of a kept message is not wanted any more."""
        number = next(number for number, one in self._given.items() if one is given)
        self._feed(b"cancel 0 %d\n" % number)

    def close(self) -> None:
        """Ends the worker, which calls what is decorated with `on_close`."""
        self._feed(b"close 0\n")

    def _give(self, kind: str, data: tuple[Union[str, bytes], ...], key: int, tag: str,
              attempt: int) -> list[Given]:
        given, frames = [], b""
        for one in data:
            payload = one.encode() if isinstance(one, str) else bytes(one)
            number = len(self._given) + 1
            self._given[number] = Given(payload, key)
            given.append(self._given[number])
            self._in_hand.append(number)
            frames += f"{kind} {len(payload)} {number} {attempt} {key} {tag}\n".encode() + payload
        self._feed(frames)
        return given

    def _feed(self, frames: bytes) -> None:
        if self.has_ended:
            raise RuntimeError("the worker has ended")
        self._input = frames
        before, weir._session = weir._session, self._session
        self.has_ended = True
        try:
            while self._input:
                self._session.fill()
            self.has_ended = not self._session.work()
        finally:
            weir._session = before

    def _read(self, size: int) -> bytes:
        block, self._input = self._input[:size], self._input[size:]
        return block

    def _write(self, data: bytes) -> int:
        at = 0
        while at < len(data):
            end = data.index(b"\n", at)
            word, size, *words = data[at:end].decode().split(" ")
            at = end + 1 + int(size)
            self._take(word, data[end + 1:at], words)
        return len(data)

    def _take(self, word: str, data: bytes, words: list[str]) -> None:
        take: Optional[Callable[..., Any]] = getattr(self, f"_take_{word}", None)
        if take:
            take(data, *words)
        else:
            self._end(self._given[self._in_hand.pop(0)], word, data, *words)

    def _take_fail(self, reason: bytes, number: Optional[str] = None) -> None:
        if number is None:
            self._end(self._given[self._in_hand[0]], "fail", reason)
        self._in_hand.clear()

    def _take_stop(self, _: bytes) -> None:
        self._in_hand.clear()

    @staticmethod
    def _end(given: Given, verdict: str, reason: bytes, delay_ms: Optional[str] = None) -> None:
        given.verdict, given.reason = verdict, reason.decode()
        given.delay = int(delay_ms) / 1000 if delay_ms else None

    def _take_out(self, data: bytes, key: str = "0", number: Optional[str] = None) -> None:
        of = self._given.get(self._in_hand[0] if number is None else int(number))
        self.emitted.append(Output(data, int(key), self._label, of, self._to))
        self._label, self._to = None, "out"
        if of:
            of.outputs.append(data)

    def _take_result(self, data: bytes) -> None:
        self._take_out(data)
        self._take_batch(b"", "1")

    def _take_to(self, data: bytes) -> None:
        self._to = data.decode()

    def _take_label(self, data: bytes) -> None:
        self._label = data.decode()

    def _take_reply(self, data: bytes, number: str) -> None:
        self._given[int(number)].reply = data

    def _take_batch(self, _: bytes, count: str) -> None:
        for _number in range(int(count)):
            self._end(self._given[self._in_hand.pop(0)], "done", b"")

    def _take_keep(self, _: bytes, number: str) -> None:
        self._in_hand.remove(int(number))
        self._given[int(number)].verdict = "kept"

    def _take_settle(self, reason: bytes, number: str, verdict: str, *delay_ms: str) -> None:
        self._end(self._given[int(number)], verdict, reason, *delay_ms)

    def _take_log(self, data: bytes, level: str) -> None:
        self.log.append((level, data.decode()))

    def _take_inspect(self, data: bytes) -> None:
        self.inspect = dict(line.split(" ", 1) for line in data.decode().splitlines())
