#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a reload begins nothing again that it does not change: a finite source that has ended and
        a size that was set at work within the file's range; a size that the file fixes is set
        again, and the plan shows both. Shows promise R3 and promise R4.
Method: a real host, asked by its socket; what a source has sent is written down. Every wait is for
        a condition.

    stays.py WEIR PLUGINS TEST_PLUGINS
"""
import tempfile

from cases import BLOCKING, SINK, Host

COUNT = 5


def file(size="1", few=""):
    return (BLOCKING + "sources:\n"
            f"  few: {{use: gen.numbers, to: sink, args: {{count: {COUNT}{few}}}}}\n"
            "  many: {use: gen.forever, to: other}\n"
            "pools:\n"
            f"  other: {{use: sink.null, args: {{spin: 100000}}, size: {size}}}\n"
            + SINK.replace("SIZE", "1"))


def few_of(host):
    return next(source for source in host.ask("GET", "/status")["sources"]
                if source["name"] == "few")


def a_source_that_has_ended_is_not_begun_again(host):
    """Not by reloads that change others, nor by one that moves its pool's workers."""
    host.start(file())
    host.until(lambda: few_of(host)["state"] == "ended" and len(host.recorded()) == COUNT,
               "it does not end")
    for size in ("2", "{min: 1, max: 3}", "3"):
        host.reload("reloaded", file(size))
        host.check(few_of(host)["state"] == "ended", "it has begun again")
    host.reload("reloaded", file("3").replace("batch: 1,", "batch: 2,"))
    done = host.pool("other")["done"]
    host.until(lambda: host.pool("other")["done"] > done, "nothing goes on")
    host.check(few_of(host)["state"] == "ended", "it has begun again")
    host.check(host.recorded() == list(range(COUNT)), f"numbers are doubled: {host.recorded()}")
    # One that is changed goes on where it was: one more.
    host.reload("reloaded", file("3", ", key: true").replace(f"count: {COUNT}",
                                                             f"count: {COUNT + 1}"))
    host.until(lambda: few_of(host)["state"] == "ended" and len(host.recorded()) == COUNT + 1,
               "it does not go on")
    host.check(host.recorded() == list(range(COUNT + 1)), f"numbers: {host.recorded()}")
    host.stop()


def a_size_that_was_set_at_work(host):
    """It stays where the file has a range, and goes where the file has a number."""
    def scale(size):
        answer = host.ask("POST", f"/pools/other/scale?size={size}")
        host.check(answer["size"] == size, f"{answer}")

    def step():
        found = [one for one in answer["steps"] if one["path"] == "pools.other"]
        return [(one["field"], one["from"], one["to"]) for one in found]

    host.start(file("{min: 1, max: 6}"))
    scale(4)
    host.reload("unchanged")
    answer = host.reload("reloaded", file("{min: 2, max: 6}"))
    host.check(step() == [("size", "1..6 (now 4)", "2..6")], f"the plan: {step()}")
    host.check(host.pool("other")["target"] == 4, "the size within the range has changed")
    answer = host.reload("reloaded", file("{min: 2, max: 3}"))
    host.check(host.pool("other")["target"] == 3, "it is over the new bounds")
    answer = host.reload("reloaded", file("2"))
    host.check(host.pool("other")["target"] == 2, "not the number of the file")
    scale(5)
    answer = host.reload("reloaded")
    host.check(step() == [("size", "2 (now 5)", "2")], f"the plan: {step()}")
    host.check(host.pool("other")["target"] == 2, "a fixed size does not win")
    host.stop()


def main():
    for case in (a_source_that_has_ended_is_not_begun_again, a_size_that_was_set_at_work):
        with tempfile.TemporaryDirectory() as work:
            case(Host(work, "case"))
        print(f"{case.__name__}: as promised", flush=True)


main()
