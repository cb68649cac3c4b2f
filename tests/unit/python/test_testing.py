#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   weir_testing gives a worker what a host gives it, without one, and shows what the worker
        made of it.
Method: workers of all kinds, called through `weir_testing.Host` alone.
"""
import contextlib
import io
import sys
import unittest

import weir
from weir_testing import Host, Output


def upper(message):
    return message.data.upper()


class Testing(unittest.TestCase):
    def test_messages_and_requests(self):
        host = Host(upper)
        one, two = host.send("one", b"two", key=5)
        self.assertEqual(host.outputs, [b"ONE", b"TWO"])
        self.assertEqual((one.verdict, two.outputs, two.key), ("done", [b"TWO"], 5))
        asked = host.request("three")
        self.assertEqual((asked.reply, asked.outputs, asked.verdict), (b"THREE", [], "done"))

    def test_worker_sees_what_is_given(self):
        seen = []
        host = Host(lambda got: seen.append((got.data, got.key, got.tag, got.attempt)))
        host.send("ä", key=9, tag="a tag/1", attempt=2)
        self.assertEqual(seen, [("ä".encode(), 9, "a tag/1", 2)])

    def test_verdicts(self):
        errors = {b"reject": weir.Reject("no"), b"retry": weir.Retry("later", delay=2.5),
                  b"other": ValueError("x")}

        def handle(message):
            raise errors[message.data]

        with contextlib.redirect_stderr(io.StringIO()):
            given = Host(handle).send(*errors)
        self.assertEqual([(one.verdict, one.reason, one.delay) for one in given],
                         [("reject", "no", None), ("retry", "later", 2.5),
                          ("reject", "ValueError: x", None)])

    def test_stop_and_fail_end_the_worker(self):
        for error, verdict in ((weir.Stop(), "done"), (weir.Fail("disk"), "fail")):
            def handle(_, error=error):
                raise error
            host = Host(handle)
            first, second = host.send("a", "b")
            self.assertEqual((first.verdict, second.verdict), (verdict, None))
            self.assertTrue(host.has_ended)
            with self.assertRaises(RuntimeError):
                host.send("c")

    def test_batches(self):
        sizes = []

        @weir.worker(batch=3, wait="1h")
        def work(messages):
            sizes.append(len(messages))
            return [weir.Reject("b") if got.data == b"b" else got.data for got in messages]

        given = Host(work).send("a", "b", "c", "d")
        self.assertEqual(sizes, [3, 1])
        self.assertEqual([one.verdict for one in given], ["done", "reject", "done", "done"])
        self.assertEqual([one.outputs for one in given], [[b"a"], [], [b"c"], [b"d"]])

    def test_ticks_and_the_close(self):
        total = []

        @weir.worker
        def add(message):
            total.append(int(message.data))

        @add.on_tick
        def show():
            weir.label("total")
            weir.emit(str(sum(total)), key=1)

        add.on_close(show)
        host = Host(add)
        host.tick()
        host.send("1", "2")
        host.close()
        self.assertEqual(host.emitted, [Output(b"0", 1, "total", None),
                                        Output(b"3", 1, "total", None)])
        self.assertTrue(host.has_ended)

    def test_kept_messages(self):
        kept = []

        def handle(message):
            message.keep()
            kept.append(message)

        host = Host(handle)
        given = host.send("a", "b", "c")
        self.assertEqual([one.verdict for one in given], 3 * ["kept"])
        kept[2].done()
        kept[0].settle(weir.Retry("later"))
        host.cancel(given[1])
        self.assertTrue(kept[1].is_cancelled)
        kept[1].settle("x")
        self.assertEqual([one.verdict for one in given], ["retry", "done", "done"])
        self.assertEqual((given[0].delay, given[1].outputs), (1.0, [b"x"]))

    def test_output_is_chosen(self):
        def handle(message):
            message.emit(message.data, output="errors")
            return message.data
        host = Host(handle)
        given, = host.send("x")
        self.assertEqual(host.emitted, [Output(b"x", 0, None, given, "errors"),
                                        Output(b"x", 0, None, given)])

    def test_log_and_inspect(self):
        def handle(message):
            weir.log.warning("two\nlines")
            weir.inspect({"rows": 1, "state": "in order"})
        host = Host(handle)
        host.send("")
        self.assertEqual(host.log, [("warning", "two"), ("warning", "lines")])
        self.assertEqual(host.inspect, {"rows": "1", "state": "in order"})

    def test_large_payload(self):
        host = Host(upper)
        host.send(b"x" * 3_000_000, "y")
        self.assertEqual([len(data) for data in host.outputs], [3_000_000, 1])

    def test_two_hosts_do_not_mix(self):
        one, two = (Host(lambda got: weir.emit(got.data)) for _ in range(2))
        one.send("1")
        two.send("2")
        one.send("3")
        self.assertEqual((one.outputs, two.outputs), ([b"1", b"3"], [b"2"]))
        with self.assertRaises(RuntimeError):
            weir.emit("no host runs")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
