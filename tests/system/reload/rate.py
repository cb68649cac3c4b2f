#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   outputs and sources with a rate let no more messages pass than it allows, an operator
        sees that they wait for it, and a reload changes it while messages wait: none is lost, and a
        reload that keeps the rate lets none pass. Under load, rates change both ways and go away,
        and nothing stands still for ever. Shows promise O9 and promise R4.
Method: a real host with rates of one message a day, so that the time that the test takes lets
        nothing pass; what has passed is written down. Then an endless source, whose rate and that
        of the workers are changed by signals. Every wait is for a condition.

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


# --- under load

def rate_of(rate):
    return f", rate: {rate}" if rate else ""


def loaded(of_source, of_output):
    return (BLOCKING + f"sources: {{all: {{use: gen.forever, to: work{rate_of(of_source)}}}}}\n"
            "pools:\n  work: {use: changeling.pass, size: 3, outputs: {out: "
            f"{{to: sink{rate_of(of_output)}}}}}}}\n" + SINK.replace("SIZE", "1"))


def signal_reload(host, text):
    before = host.log().count('event="configuration reloaded"')
    host.write(text)
    host.process.send_signal(signal.SIGHUP)
    host.until(lambda: host.log().count('event="configuration reloaded"') > before,
               "not reloaded by a signal")


def goes_on(host, what):
    emitted, size = source(host, "all")["emitted"], host.size()
    host.until(lambda: source(host, "all")["emitted"] > emitted + 20, f"{what}: no more emitted")
    host.until(lambda: host.size() > size + 40, f"{what}: no more arrives")


def stands_still(host):
    """A source that waits for a token, or workers that do, behind which it waits for room."""
    return source(host, "all")["state"] == "throttled" or host.pool("work")["throttled"] > 0


def rates_that_change_under_load(host):
    """Up, down, away and back, of the source, the output and both."""
    steps = (("100/s", None), (None, "100/s"), ("500/s", "20/100ms"), ("50/s", "500/s"),
             ("500/s", "50/s"), (None, None), (FAST, FAST),
             ("10/100ms", "{messages: 100, burst: 1}"))
    host.start(loaded("500/s", "500/s"))
    goes_on(host, "at the start")
    for step in steps + steps[::-1]:
        signal_reload(host, loaded(*step))
        goes_on(host, f"with {step}")
        for still in ((SLOW, None), (None, SLOW), (SLOW, SLOW)):
            signal_reload(host, loaded(*still))
        host.until(lambda: stands_still(host), f"{step}: nothing waits for a token")
    signal_reload(host, loaded(None, None))
    goes_on(host, "without rates")
    host.stop()
    host.check(sorted(host.recorded()) == list(range(len(host.recorded()))), "lost or doubled")
    host.check("balance=wrong" not in host.log() and "balance=exact" in host.log(), "the ledger")
    host.check("dead letter" not in host.log(), "dead letters")


def main():
    for case in (a_rate_that_changes_at_work, rates_that_change_under_load):
        with tempfile.TemporaryDirectory() as work:
            case(Host(work, "case"))
        print(f"{case.__name__}: as promised", flush=True)


main()
