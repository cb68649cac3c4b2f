#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   weir.py reads messages and writes frames as plugins/exec/frame.h says, and turns what the
        handler of one message does into a verdict. Shows promise B90.
Method: `run` on pipes of a fake host instead of the descriptors 3 and 4; what it wrote is read.
"""
import contextlib
import io
import os
import select
import subprocess
import sys
import threading
import unittest

import weir
from fake_host import CLOSE, TICK, FakeHost, many, message, play, request


def raising(error):
    def handle(_):
        raise error
    return handle


class Worker(unittest.TestCase):
    def test_result_goes_to_the_output_or_is_the_reply(self):
        def upper(got):
            return got.data.upper()
        self.assertEqual(play(upper, message(b"ab\n\0c")), b"result 5\nAB\n\0C")
        self.assertEqual(play(upper, request(b"ab")), b"reply 2 1\nABdone 0\n")
        self.assertEqual(play(lambda _: None, message(b"ab")), b"done 0\n")
        self.assertEqual(play(lambda _: b"", message(b"ab")), b"result 0\n")

    def test_result_that_is_no_bytes_is_named(self):
        for result, name in (({}, b"dict"), (5, b"int")):
            with contextlib.redirect_stderr(io.StringIO()):
                got = play(lambda _, result=result: result, message(b""))
            self.assertTrue(got.endswith(b"TypeError: bytes or text, not " + name), got)

    def test_program_that_is_started_by_hand_says_how(self):
        program = [sys.executable, "-c", "import weir; weir.run(print)"]
        got = subprocess.run(program, capture_output=True, text=True, check=False)
        self.assertEqual(got.returncode, 1)
        self.assertIn("exec.pipe starts this program", got.stderr)
        self.assertNotIn("Traceback", got.stderr)

    def test_reply_to_what_is_no_request_rejects_the_message(self):
        got = play(lambda got: got.reply(b"x"), message(b""))
        self.assertEqual(got, b"reject 37\nTypeError: only a request has a reply")

    def test_text_is_utf_8_and_other_bytes_are_taken(self):
        self.assertEqual(play(lambda _: "ü", message(b"")), b"out 2 0 1\n\xc3\xbcdone 0\n")
        self.assertEqual(play(lambda _: bytearray(b"x"), message(b"")), b"out 1 0 1\nxdone 0\n")
        self.assertEqual(play(lambda _: memoryview(b"x"), message(b"")), b"out 1 0 1\nxdone 0\n")

    def test_handler_sees_the_whole_message(self):
        seen = []
        play(lambda got: seen.append((got.data, got.tag, got.key, got.attempt, got.is_request)),
             message(b"one", key=2**64 - 1, attempt=3, tag="a tag/2"), request(b""))
        self.assertEqual(seen, [(b"one", "a tag/2", 2**64 - 1, 3, False),
                                (b"", "text/1", 0, 1, True)])

    def test_handler_may_emit_often(self):
        def handle(got):
            got.emit("a")
            got.emit(b"b", key=9)
            got.reply("c")
        self.assertEqual(play(handle, request(b"")),
                         b"out 1 0 1\naout 1 9 1\nbreply 1 1\ncdone 0\n")

    def test_exceptions_are_verdicts(self):
        self.assertEqual(play(raising(weir.Reject("no good")), message(b"")),
                         b"reject 7\nno good")
        self.assertEqual(play(raising(weir.Retry("later", delay=2.5)), message(b"")),
                         b"retry 5 2500\nlater")
        self.assertEqual(play(raising(weir.Retry()), message(b"")), b"retry 0 1000\n")

    def test_delay_is_one_that_the_host_reads(self):
        for delay, number in ((-1, 0), (float("nan"), 0), (float("inf"), 2**32 - 1),
                              (1e300, 2**32 - 1), (2**70, 2**32 - 1), (1, 1000)):
            self.assertEqual(play(raising(weir.Retry(delay=delay)), message(b"")),
                             b"retry 0 %d\n" % number, delay)

    def test_what_the_host_cannot_read_rejects_the_message(self):
        handlers = {
            b"TypeError": (lambda _: 5, lambda _: [1, 2], lambda got: got.emit("x", key="7"),
                           lambda got: got.emit("x", key=1.5),
                           lambda _: weir.Retry(delay=[])),
            b"ValueError": (lambda got: got.emit("x", key=-1),
                            lambda got: got.emit("x", key=2**64)),
            b"UnicodeEncodeError": (lambda _: "\udcff",),
        }
        for name, wrong in handlers.items():
            for handle in wrong:
                with contextlib.redirect_stderr(io.StringIO()):
                    got = play(handle, message(b""))
                self.assertRegex(got, rb"^reject [0-9]+\n" + name + b": ")

    def test_keys_have_64_bits(self):
        self.assertEqual(play(lambda got: got.emit("x", key=got.key), message(b"", key=2**64 - 1)),
                         b"out 1 18446744073709551615 1\nxdone 0\n")
        self.assertEqual(play(lambda got: got.emit("x", key=True), message(b"")),
                         b"out 1 1 1\nxdone 0\n")

    def test_reason_may_be_no_text_of_unicode(self):
        for error, word in ((weir.Reject, b"reject 3"), (weir.Fail, b"fail 3"),
                            (weir.Retry, b"retry 3 1000")):
            self.assertEqual(play(raising(error("a\udcffb")), message(b"")), word + b"\na?b")

    def test_fail_and_stop_end_the_worker(self):
        self.assertEqual(play(raising(weir.Fail("disk")), message(b""), message(b"")),
                         b"fail 4\ndisk")
        self.assertEqual(play(raising(weir.Stop()), message(b""), message(b"")),
                         b"done 0\nstop 0\n")

    def test_other_exceptions_reject_and_are_printed(self):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            got = play(raising(ValueError("x" * 1000)), message(b""))
        self.assertEqual(got, b"reject 200\n" + b"ValueError: ".ljust(200, b"x"))
        self.assertIn("Traceback", errors.getvalue())

    def test_message_that_is_cut_is_not_handled(self):
        self.assertEqual(play(lambda _: "x", message(b"abc")[:-1]), b"")

    def test_host_that_has_gone_ends_the_worker_without_a_word(self):
        for given in (b"", message(b"x")):
            reader, to_worker = os.pipe()
            from_worker, writer = os.pipe()
            os.write(to_worker, given)
            os.close(to_worker)
            os.close(from_worker)
            self.assertIsNone(weir.run(lambda got: got.data, reader, writer))

    def test_large_messages(self):
        data = os.urandom(1 << 20)
        head = len(b"message 1048576 1 1 0 text/1\n")
        # The second one also begins and ends at each edge of a read.
        for first in (data, data[:65536 - head], data[:65535 - head], data[:65537 - head],
                      data[:65536 - 2 * head]):
            self.assertEqual(
                play(lambda got: got.data, message(first), message(data, 2)),
                b"result %d\n" % len(first) + first + b"result %d\n" % len(data) + data)

    def test_verdict_does_not_wait_for_the_next_message(self):
        """Both come in one read. When the second one kills the process, the host knows that."""
        may_go_on = threading.Event()

        def handle(got):
            if got.data == b"two" and not may_go_on.wait(10):
                raise weir.Reject("the first verdict waits")

        with FakeHost(handle) as host:
            self.assertEqual(host.read_frame(), ("ready", "0", "3", b""))
            host.write(message(b"one", 1), message(b"two", 2))
            self.assertEqual(host.read_frame(), ("done", "0", b""))
            may_go_on.set()
            self.assertEqual(host.read_frame(), ("done", "0", b""))

    def test_output_does_not_wait_for_the_verdict(self):
        may_go_on = threading.Event()

        def handle(got):
            got.emit("early")
            if not may_go_on.wait(10):
                raise weir.Reject("the output waits")

        with FakeHost(handle) as host:
            host.read_frame()
            host.write(message(b"one"))
            self.assertEqual(host.read_frame(), ("out", "5", "0", "1", b"early"))
            may_go_on.set()
            self.assertEqual(host.read_frame(), ("done", "0", b""))

    def test_one_frame_has_many_messages(self):
        seen = []

        def handle(got):
            seen.append((got.data, got.tag, got.key, got.attempt, got.is_request))
            got.emit(b"")

        payloads = [b"", b"one\n", b"12", 300 * b"x"]
        got = play(handle, message(b"first", 6), many(7, *payloads, key=5), many(11, b"last"))
        self.assertEqual(seen, [(b"first", "text/1", 0, 1, False),
                                *((data, "text/1", 5, 1, False) for data in payloads),
                                (b"last", "text/1", 0, 1, False)])
        self.assertEqual(got, b"".join(b"out 0 0 %d\ndone 0\n" % number
                                       for number in range(6, 12)))

    def test_frame_of_many_may_come_in_pieces(self):
        frame = many(1, b"one", b"two", b"three")
        for cut in range(1, len(frame)):
            with FakeHost(lambda got: got.data) as host:
                host.read_frame()
                host.write(frame[:cut])
                host.write(frame[cut:])
                self.assertEqual([host.read_frame()[-1] for _ in range(3)],
                                 [b"one", b"two", b"three"], cut)

    def test_bell_rings_when_several_messages_are_done(self):
        """The host does not wait for each verdict of several messages. promise B125"""
        with FakeHost(lambda got: got.data) as host:
            host.read_frame()
            host.write(message(b"alone"))
            host.read_frame()
            host.write(many(2, b"a", b"b", b"c"))
            self.assertEqual(host.to_worker.read(1), b"\n")
            # It rings after the last verdict.
            self.assertEqual(os.read(host.from_worker.fileno(), 100),
                             b"result 1\naresult 1\nbresult 1\nc")

    def test_bell_rings_when_input_was_looked_for_meanwhile(self):
        """promise B125"""
        began, ticked = threading.Event(), threading.Event()

        def handle(got):
            began.set()
            ticked.wait(10)
            threading.Event().wait(0.002)  # a long one: it looks for input
            return got.data

        with FakeHost(handle) as host:
            host.read_frame()
            host.write(many(1, b"a", b"b"))
            began.wait(10)
            host.write(TICK)
            ticked.set()
            self.assertEqual([host.read_frame()[-1] for _ in range(2)], [b"a", b"b"])
            self.assertTrue(select.select([host.to_worker], [], [], 10)[0])

    def test_reader_that_cannot_be_written_to_is_no_error(self):
        with FakeHost(lambda got: got.data, is_pipe=True) as host:
            host.read_frame()
            for first in range(1, 400, 2):
                host.write(many(first, b"a", b"b"))
                self.assertEqual([host.read_frame()[-1] for _ in range(2)], [b"a", b"b"])

    def test_many_messages_in_one_read(self):
        got = play(lambda got: got.data, *(message(b"%d" % n, n) for n in range(10, 60)), CLOSE)
        self.assertEqual(got, b"".join(b"result 2\n%d" % n for n in range(10, 60)))


if __name__ == "__main__":
    # `run` sets the buffering of standard output, which must be a file of the system.
    assert isinstance(sys.stdout, io.TextIOWrapper)
    unittest.main(argv=sys.argv[:1])
