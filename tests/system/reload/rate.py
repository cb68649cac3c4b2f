#!/usr/bin/env python3
"""Goal:   outputs and sources with a rate let no more messages pass than it allows, an operator
        sees that they wait for it, and a reload changes it while messages wait: none is lost, and a
        reload that keeps the rate lets none pass. Shows promise O9 and promise R4.
Method: a real host with rates of one message a day, so that the time that the test takes lets
        nothing pass; what has passed is written down. Every wait is for a condition.

    rate.py WEIR PLUGINS TEST_PLUGINS
"""
import signal
import tempfile

from cases import BLOCKING, Connection, SINK, Host

COUNT = 20
SLOW = "{messages: 1, per: 1d, burst: 3}"
FAST = "1000000/s"


def file(rate=SLOW, use="changeling.pass", size=2, first=0):
    """A finite source through workers with a rate, and an endless one with a rate of its own."""
    return (BLOCKING + "sources:\n"
            f"  few: {{use: gen.numbers, to: work, args: {{count: {COUNT}}}}}\n"
            f"  many: {{use: gen.forever, to: other, args: {{first: {first}}}, rate: {rate}}}\n"
            "pools:\n"
            f"  work: {{use: {use}, size: {size}, outputs: {{out: {{to: sink, rate: {rate}}}}},\n"
            "    remove: {timeout: 1h}}\n"
            "  other: {use: sink.null, size: 1}\n" + SINK.replace("SIZE", "1"))


def source(host, name):
    return next(one for one in host.ask("GET", "/status")["sources"] if one["name"] == name)


def metric(host, line):
    connection = Connection(host.path["socket"])
    try:
        connection.request("GET", "/metrics")
        return line in connection.getresponse().read().decode().split("\n")
    finally:
        connection.close()


def only_the_bursts_have_passed(host, what):
    host.until(lambda: host.pool("work")["throttled"] > 0 and len(host.recorded()) >= 3,
               f"{what}: nothing waits for a token")
    host.until(lambda: source(host, "many")["state"] == "throttled", f"{what}: the source goes on")
    host.check(len(host.recorded()) == 3, f"{what}: {host.recorded()}")
    host.check(source(host, "many")["emitted"] == 3, f"{what}: {source(host, 'many')}")


def a_rate_that_changes_at_work(host):
    host.start(file())
    only_the_bursts_have_passed(host, "at the start")
    host.check(metric(host, 'weir_source_throttled{source="many"} 1'), "no metric of the source")
    host.check(not metric(host, 'weir_pool_throttled_messages{pool="work"} 0'), "no metric")
    host.reload("reloaded", file(size=3))
    only_the_bursts_have_passed(host, "with another size")
    # Another behaviour whose output of that name has another number, and another source.
    host.reload("reloaded", file(use="changeling.turn", size=3, first=7))
    only_the_bursts_have_passed(host, "with another behaviour")
    host.write(file(rate=FAST, use="changeling.turn", size=3, first=7))
    host.process.send_signal(signal.SIGHUP)
    host.until(lambda: len(host.recorded()) >= COUNT, "the rest does not pass")
    host.until(lambda: source(host, "many")["emitted"] > 3, "the source does not go on")
    host.until(lambda: host.pool("work")["throttled"] == 0, "it still waits")
    host.check(sorted(host.recorded()) == list(range(COUNT)), f"{sorted(host.recorded())}")
    host.stop()
    host.check("balance=wrong" not in host.log() and "balance=exact" in host.log(), "the ledger")


def main():
    with tempfile.TemporaryDirectory() as work:
        a_rate_that_changes_at_work(Host(work, "case"))
    print("a_rate_that_changes_at_work: as promised", flush=True)


main()
