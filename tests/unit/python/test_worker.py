#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   weir.py does for a worker all that revision 2 of the frames has: batches, ticks, the
        close, kept messages, cancelled ones, outputs of no message, log, labels, inspect. Shows
        promise B90.
Method: as test_weir.py. What must be handled together is written to the worker by one write.
"""
import contextlib
import io
import sys
import threading
import unittest

import weir
from fake_host import CLOSE, TICK, FakeHost, cancel, many, message, play, request


def three(kind=message):
    return [kind(b"a", 1), kind(b"b", 2), kind(b"c", 3)]


def batch(function, wait="1h"):
    return weir.worker(batch=3, wait=wait)(function)


def play_batch(function, *frames, wait="1h"):
    return play(batch(function, wait), *frames, CLOSE, ready=b"ready 0 3 3\n")


def raising(error):
    def handle(_):
        raise error
    return handle


@contextlib.contextmanager
def quiet():
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        yield errors


class Batch(unittest.TestCase):
    def test_each_result_is_sent_with_its_verdict(self):
        def upper(messages):
            return [got.data.upper() for got in messages]
        self.assertEqual(play_batch(upper, *three()),
                         b"result 1\nAresult 1\nBresult 1\nC")
        self.assertEqual(play_batch(upper, *three(request)),
                         b"reply 1 1\nAdone 0\nreply 1 2\nBdone 0\nreply 1 3\nCdone 0\n")
        self.assertEqual(play_batch(lambda _: None, *three()), b"batch 0 3\n")
        self.assertEqual(play_batch(lambda _: (None, "x", None), *three()),
                         b"done 0\nout 1 0 2\nxdone 0\ndone 0\n")

    def test_batch_of_one_is_done(self):
        self.assertEqual(play_batch(lambda _: ["x"], message(b"")), b"out 1 0 1\nxdone 0\n")

    def test_result_may_be_a_verdict(self):
        def handle(_):
            return ["x", weir.Reject("no"), weir.Retry("later", delay=2)]
        self.assertEqual(play_batch(handle, *three()),
                         b"out 1 0 1\nxdone 0\nreject 2\nnoretry 5 2000\nlater")

    def test_result_that_cannot_be_sent_rejects_its_message(self):
        with quiet():
            got = play_batch(lambda _: [None, 5, None], *three())
        self.assertEqual(got, b"done 0\nreject 33\nTypeError: bytes or text, not intdone 0\n")

    def test_exception_is_the_verdict_of_all(self):
        self.assertEqual(play_batch(raising(weir.Reject("no")), *three()), 3 * b"reject 2\nno")
        self.assertEqual(play_batch(raising(weir.Retry("x")), *three()), 3 * b"retry 1 1000\nx")
        with quiet() as errors:
            got = play_batch(raising(ValueError("x")), *three())
        self.assertEqual(got, 3 * b"reject 13\nValueError: x")
        self.assertEqual(errors.getvalue().count("Traceback"), 1)

    def test_stop_ends_after_the_batch_and_fail_blames_its_first(self):
        self.assertEqual(play_batch(raising(weir.Stop()), *three(), message(b"", 4)),
                         b"batch 0 3\nstop 0\n")
        self.assertEqual(play_batch(raising(weir.Fail("x")), *three(), message(b"", 4)),
                         b"fail 1\nx")

    def test_results_of_another_number_reject_all(self):
        for results, text in (([], b"ValueError: 0 results for 3 messages"),
                              ("abc", b"TypeError: a list of results, not str")):
            with quiet():
                got = play_batch(lambda _, results=results: results, *three())
            self.assertEqual(got, 3 * (b"reject %d\n" % len(text) + text))

    def test_list_is_full_or_has_what_came(self):
        sizes = []

        def handle(messages):
            sizes.append(len(messages))

        seven = [message(b"", n) for n in range(1, 8)]
        self.assertEqual(play_batch(handle, *seven), b"batch 0 3\nbatch 0 3\ndone 0\n")
        self.assertEqual(sizes, [3, 3, 1])
        with FakeHost(batch(handle, wait=0)) as host:
            host.read_frame()
            for number in (1, 2):
                host.write(message(b"", number))
                self.assertEqual(host.read_frame(), ("done", "0", b""))

    def test_wait_ends_with_the_missing_message_or_the_time(self):
        with FakeHost(batch(lambda messages: [b"%d" % len(messages)] * len(messages))) as host:
            host.read_frame()
            for number in (1, 2, 3):
                host.write(message(b"", number))
            self.assertEqual([host.read_frame()[-1] for _ in range(3)], 3 * [b"3"])
        with FakeHost(batch(lambda messages: None, wait="5ms")) as host:
            host.read_frame()
            host.write(message(b""))
            self.assertEqual(host.read_frame(), ("done", "0", b""))

    def test_tick_does_not_wait_until_the_list_is_full(self):
        worker = batch(lambda messages: None)
        worker.on_tick(lambda: weir.emit("tick"))
        with FakeHost(worker) as host:
            host.read_frame()
            host.write(message(b"", 1))
            host.write(TICK)
            self.assertEqual(host.read_frame(), ("out", "4", "0", "0", b"tick"))
            host.write(message(b"", 2), message(b"", 3))
            self.assertEqual(host.read_frame(), ("batch", "0", "3", b""))

    def test_output_of_a_batch_belongs_to_its_first_message(self):
        def handle(messages):
            weir.emit("sum", key=7)
            messages[1].emit("own")
        self.assertEqual(play_batch(handle, *three()),
                         b"out 3 7 1\nsumout 3 0 2\nownbatch 0 3\n")

    def test_cancelled_ones_are_left_out(self):
        def upper(messages):
            return [got.data.upper() for got in messages]
        self.assertEqual(play_batch(upper, *three(), cancel(2)),
                         b"result 1\nAdone 0\nresult 1\nC")
        self.assertEqual(play_batch(raising(weir.Reject("x")), *three(), cancel(1)),
                         b"done 0\nreject 1\nxreject 1\nx")
        self.assertEqual(play_batch(upper, *three(), cancel(1), cancel(2), cancel(3)),
                         b"batch 0 3\n")

    def test_some_may_be_kept(self):
        def handle(messages):
            messages[1].keep()
            return ["x", None, None]
        self.assertEqual(play_batch(handle, *three()), b"out 1 0 1\nxdone 0\nkeep 0 2\ndone 0\n")

    def test_size_and_time_are_checked(self):
        for size in (0, 1025, -1):
            with self.assertRaises(ValueError):
                weir.worker(batch=size)(print)
        for wait in ("5", "ms", "5 ms", "-5ms"):
            with self.assertRaises(ValueError):
                weir.worker(batch=2, wait=wait)(print)
        for wait, seconds in (("5ms", 0.005), ("1.5s", 1.5), ("2m", 120), (0.25, 0.25), (-1, 0)):
            self.assertAlmostEqual(weir.worker(batch=2, wait=wait)(print).wait_s, seconds)


class Life(unittest.TestCase):
    def setUp(self):
        self.calls = []
        self.worker = weir.worker(lambda got: self.calls.append(got.data.decode()))

    def test_decorated_function_is_still_one(self):
        @weir.worker
        def double(text):
            """Twice."""
            return 2 * text
        self.assertEqual((double("a"), double.__name__, double.__doc__), ("aa", "double", "Twice."))

    def test_tick_and_close_emit_outputs_of_no_message(self):
        self.worker.on_tick(lambda: weir.emit("tick", key=5))
        self.worker.on_close(lambda: weir.emit("close"))
        self.assertEqual(play(self.worker, message(b"a"), TICK, CLOSE),
                         b"out 4 5 0\ntickdone 0\nout 5 0 0\nclose")

    def test_tick_without_a_function_is_nothing(self):
        self.assertEqual(play(self.worker, TICK, message(b"a"), TICK, CLOSE), b"done 0\n")

    def test_close_is_called_once_and_not_for_a_host_that_has_gone(self):
        self.worker.on_close(lambda: self.calls.append("closed"))
        play(self.worker, message(b"a"), CLOSE)
        play(self.worker, message(b"b"))
        self.assertEqual(self.calls, ["a", "closed", "b"])

    def test_messages_before_the_close_are_handled(self):
        self.worker.on_close(lambda: self.calls.append("closed"))
        self.assertEqual(play(self.worker, *three(), CLOSE), 3 * b"done 0\n")
        self.assertEqual(self.calls, ["a", "b", "c", "closed"])

    def test_stop_closes_and_fail_does_not(self):
        for error, end in ((weir.Stop(), b"out 5 0 0\nclosedone 0\nstop 0\n"),
                           (weir.Fail(), b"fail 0\n")):
            worker = weir.worker(raising(error))
            worker.on_close(lambda: weir.emit("close"))
            self.assertEqual(play(worker, message(b"")), end)

    def test_stop_in_a_tick_ends_in_peace_and_fail_does_not(self):
        self.worker.on_close(lambda: weir.emit("close"))
        for error, end in ((weir.Stop(), b"out 5 0 0\nclosestop 0\n"),
                           (weir.Fail("disk"), b"fail 4 0\ndisk")):
            self.worker.on_tick(lambda error=error: raising(error)(0))
            with FakeHost(self.worker) as host:
                host.read_frame()
                host.write(TICK)
                self.assertEqual(host.from_worker.read(), end)
            self.assertIsNone(host.ended)

    def test_exception_of_a_tick_or_the_close_is_printed(self):
        self.worker.on_tick(lambda: raising(ValueError("tick"))(0))
        self.worker.on_close(lambda: raising(ValueError("close"))(0))
        with quiet() as errors:
            self.assertEqual(play(self.worker, TICK, message(b"a"), CLOSE), b"done 0\n")
        self.assertIn("ValueError: tick", errors.getvalue())
        self.assertIn("ValueError: close", errors.getvalue())

    def test_output_in_a_message_belongs_to_it(self):
        self.assertEqual(play(lambda got: weir.emit(got.data), message(b"x", 77)),
                         b"out 1 0 77\nxdone 0\n")

    def test_label_is_that_of_the_next_output(self):
        def handle(_):
            weir.label("first")
            weir.emit("a")
            return "b"
        self.assertEqual(play(handle, message(b"")),
                         b"label 5\nfirstout 1 0 1\naout 1 0 1\nbdone 0\n")

    def test_output_is_chosen_by_its_name(self):
        def handle(got):
            weir.label("first")
            weir.emit("a", output="errors")
            got.emit("b", 5, "out8")
            got.emit("c", output="out")
            for wrong in ("Errors", "out1", "out9", "", None, 2):
                for emit in (weir.emit, got.emit):
                    with self.assertRaisesRegex(ValueError, "one of out, errors, out2, .*, out8, "):
                        emit("d", output=wrong)
        self.assertEqual(play(handle, message(b"")),
                         b"label 5\nfirstto 6\nerrorsout 1 0 1\nato 4\nout8out 1 5 1\nb"
                         b"out 1 0 1\ncdone 0\n")

    def test_log_has_levels_and_a_frame_for_each_line(self):
        def handle(_):
            weir.log.debug("a")
            weir.log.info(5)
            weir.log.warning("two\nlines")
            weir.log.error("\udcff")
        self.assertEqual(play(handle, message(b"")),
                         b"log 1 debug\nalog 1 info\n5log 3 warning\ntwolog 5 warning\nlines"
                         b"log 1 error\n?done 0\n")

    def test_inspect_has_lines(self):
        def handle(_):
            weir.inspect({"rows": 5, "state": "in order"})
        self.assertEqual(play(handle, message(b"")),
                         b"inspect 22\nrows 5\nstate in order\ndone 0\n")
        for wrong in ({"a b": 1}, {"": 1}, {"a": "1\n2"}, {"a\n": 1}):
            with self.assertRaises(ValueError):
                weir.inspect(wrong)

    def test_cancelled_message_is_not_begun(self):
        self.assertEqual(play(self.worker, *three(), cancel(2), cancel(9)), 3 * b"done 0\n")
        self.assertEqual(self.calls, ["a", "c"])

    def test_cancel_is_seen_by_a_message_that_came_in_one_frame_with_others(self):
        self.assertEqual(play(self.worker, many(7, b"a", b"b", b"c"), cancel(8), cancel(9)),
                         3 * b"done 0\n")
        self.assertEqual(self.calls, ["a"])

    def test_cancel_that_comes_during_a_long_message_is_seen(self):
        cancelled = threading.Event()

        def handle(got):
            self.calls.append(got.data)
            cancelled.wait(10)
            # The pipe has the frame of the host now. This makes the message a long one.
            threading.Event().wait(0.002)

        with FakeHost(handle) as host:
            host.read_frame()
            host.write(message(b"a", 1), message(b"b", 2))
            host.write(cancel(2))
            cancelled.set()
            self.assertEqual([host.read_frame() for _ in range(2)], 2 * [("done", "0", b"")])
        self.assertEqual(self.calls, [b"a"])


class Kept(unittest.TestCase):
    """Messages without a verdict when their function returns."""

    def setUp(self):
        self.kept = []

        def handle(got):
            got.keep()
            self.kept.append(got)
        self.worker = weir.worker(handle)

    def settle_at_tick(self, *results):
        def tick():
            for got, result in zip(self.kept, results):
                got.settle(result)
        self.worker.on_tick(tick)
        with FakeHost(self.worker) as host:
            host.read_frame()
            host.write(*three())
            self.assertEqual([host.read_frame()[:3] for _ in range(3)],
                             [("keep", "0", n) for n in "123"])
            host.write(TICK, CLOSE)
            return host.from_worker.read()

    def test_tick_settles_them(self):
        self.assertEqual(self.settle_at_tick(None, weir.Reject("no"), weir.Retry("later", 2)),
                         b"settle 0 1 done\nsettle 2 2 reject\nnosettle 5 3 retry 2000\nlater")

    def test_result_is_sent_before_the_verdict(self):
        self.assertEqual(self.settle_at_tick("x", b"y"),
                         b"out 1 0 1\nxsettle 0 1 done\nout 1 0 2\nysettle 0 2 done\n")

    def test_kept_request_is_answered_later(self):
        self.worker.on_tick(lambda: self.kept[0].settle("answer"))
        with FakeHost(self.worker) as host:
            host.read_frame()
            host.write(request(b"", 8))
            self.assertEqual(host.read_frame(), ("keep", "0", "8", b""))
            host.write(TICK, CLOSE)
            self.assertEqual(host.from_worker.read(), b"reply 6 8\nanswersettle 0 8 done\n")

    def test_thread_settles_and_emits(self):
        with FakeHost(self.worker) as host:
            host.read_frame()
            host.write(message(b"", 5))
            self.assertEqual(host.read_frame(), ("keep", "0", "5", b""))
            self.kept[0].emit("own")
            weir.emit("of none")
            self.kept[0].done()
            self.assertEqual(host.read_frame(), ("out", "3", "0", "5", b"own"))
            self.assertEqual(host.read_frame(), ("out", "7", "0", "0", b"of none"))
            self.assertEqual(host.read_frame(), ("settle", "0", "5", "done", b""))

    def test_verdict_before_the_function_returns_is_in_order(self):
        def handle(got):
            got.keep()
            got.settle(weir.Reject("early"))
        self.assertEqual(play(handle, *three()), 3 * b"reject 5\nearly")

    def test_exception_after_keep_counts(self):
        def handle(got):
            got.keep()
            raise weir.Reject("no")
        self.assertEqual(play(handle, message(b"")), b"reject 2\nno")
        stopping = batch(lambda messages: (messages[0].keep(), raising(weir.Stop())(0)))
        self.assertEqual(play(stopping, *three(), ready=b"ready 0 3 3\n"), b"batch 0 3\nstop 0\n")

    def test_second_verdict_is_an_error(self):
        errors = []

        def handle(got):
            self.kept.append(got)
            first = self.kept[0]
            for call in (first.done, first.keep, lambda: first.emit("x")):
                try:
                    if len(self.kept) == 2 or call == first.done:
                        call()
                except RuntimeError as error:
                    errors.append(str(error))

        self.assertEqual(play(handle, message(b"", 1), message(b"", 2)), 2 * b"done 0\n")
        self.assertEqual(errors, 2 * ["the message is not kept"] +
                         2 * ["the message has its verdict"])

    def test_cancelled_kept_message_says_so(self):
        seen = threading.Event()

        def tick():
            if self.kept[0].is_cancelled:
                seen.set()
                self.kept[0].done()

        self.worker.on_tick(tick)
        with FakeHost(self.worker) as host:
            host.read_frame()
            host.write(message(b"", 3))
            host.read_frame()
            host.write(TICK, cancel(3), TICK, CLOSE)
            self.assertEqual(host.from_worker.read(), b"settle 0 3 done\n")
        self.assertTrue(seen.is_set())

    def test_thread_that_settles_when_the_host_has_gone_ends_without_a_word(self):
        play(self.worker, message(b""))
        with quiet() as errors:
            thread = threading.Thread(target=self.kept[0].done)
            thread.start()
            thread.join()
        self.assertEqual(errors.getvalue(), "")


if __name__ == "__main__":
    assert isinstance(sys.stdout, io.TextIOWrapper)
    unittest.main(argv=sys.argv[:1])
