#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   what a reload takes away ends as it should, and what it says again in other words is not
        touched: a file that may not be read is refused; a pool is removed while it is full and fed;
        a handler that never returns holds nothing up; another spelling changes nothing; a route
        changes under load. Shows promise R2, promise P6, promise R13, promise R4 and promise P14.
Method: real hosts, asked by their socket; workers that go on when a byte comes through a FIFO. Each
        number that the source has sent must be written down, or be among the dead. Every wait is
        for a condition.

    changes.py WEIR PLUGINS TEST_PLUGINS
"""
import collections
import ctypes
import json
import os
import random
import re
import signal
import tempfile

import yaml

from cases import BLOCKING, NUMBERS, SINK, Host, base

PR_CAPBSET_DROP = 24
READS_ANYTHING = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


# --- a file that may not be read

def give_up_rights():
    """Root reads everything, whatever a file's mode, but for these two capabilities."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in READS_ANYTHING if os.geteuid() == 0 else ():
        if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "cannot give up a capability")


def a_file_that_may_not_be_read(host):
    """The file itself, one that it includes, one that it takes a value from."""
    part, secret = host.path["record"] + ".part", host.path["record"] + ".secret"
    for path, text in ((part, "x-part: 1\n"), (secret, "word\n")):
        with open(path, "w", encoding="ascii") as stream:
            stream.write(text)
    host.start(base() + f"include: [{json.dumps(part)}]\nx-secret: ${{file:{secret}}}\n",
               give_up_rights)
    status = open(f"/proc/{host.process.pid}/status", encoding="ascii").read()
    rights = int(re.search(r"CapEff:\s+([0-9a-f]+)", status)[1], 16)
    host.check(not any(rights >> capability & 1 for capability in READS_ANYTHING),
               "the host may read everything")
    for path in (host.path["yaml"], part, secret):
        mode = os.stat(path).st_mode
        os.chmod(path, 0)
        error = host.reload("refused")["errors"][0]
        host.check("Permission denied" in error["reason"], str(error))
        host.check(path in error.get("file", "") + error["reason"], f"no name in {error}")
        before = host.log().count('event="configuration refused"')
        host.process.send_signal(signal.SIGHUP)
        host.until(lambda: host.log().count('event="configuration refused"') > before,
                   "not refused by a signal")
        host.works_on()
        os.chmod(path, mode)
        host.reload("unchanged")
    host.stop()


# --- a pool that is removed

MIDDLE = ("  middle: {use: slow_open.pass, dispatcher: blocking, size: 2, mailbox: 4,\n"
          "    args: {barrier: GATE}, outputs: {out: sink}, remove: {REMOVE}}\n")
OTHER = "  other: {use: changeling.pass, size: 2, mailbox: 4, outputs: {out: sink}}\n"
QUEUED = 8  # in the mailboxes of middle


def fed(to, more, source="gen.forever"):
    return (BLOCKING + NUMBERS.replace("gen.forever", source).replace("TO", "feeder") + "pools:\n"
            f"  feeder: {{use: changeling.pass, size: 3, mailbox: 4, outputs: {{out: {to}}}}}\n"
            + more + SINK.replace("SIZE", "1"))


def start_full(host, remove):
    """Two in hand, the mailboxes full, and three senders that wait for room."""
    host.start(fed("middle", MIDDLE.replace("REMOVE", remove) + OTHER))

    def is_full():
        middle, feeder = host.pool("middle"), host.pool("feeder")
        return middle["queued"] == QUEUED and middle["in_hand"] == 2 and feeder["held"] > 0
    host.until(is_full, "the pool does not get full")


def end(host, text):
    """The source comes to its end, and with it the host. The numbers, and the sum of ledgers."""
    ending = text.replace("gen.forever", "gen.numbers")
    host.reload("reloaded", ending.replace("to: feeder", "to: feeder, args: {count: 1}"))
    code = host.process.wait()
    os.close(host.gate)
    line = re.findall(r'component=host event="ledger"(.*)', host.log())[-1]
    ledger = dict(re.findall(r" (\w+)=(\w+)", line))
    host.check(ledger["balance"] == "exact", line)
    wanted = 0 if ledger["dead"] == "0" else 65
    host.check(code == wanted, f"exit code {code}, wanted {wanted}")
    return host.recorded(), ledger


def release_at_barrier(host, released):
    """Lets each worker that waits at the barrier go on. The number that have gone on so far."""
    waiting = host.log().count('event="at the barrier"')
    os.write(host.gate, b"y" * (waiting - released))
    return waiting


def a_full_pool_that_is_removed(host, mode, most_dead=0):
    """A pool that goes as a whole finishes what it accepted, or lets it die, as its mode says.
    Workers handle what they take before the order to leave reaches them."""
    start_full(host, f"mode: {mode}, timeout: 1h")
    text = fed("other", OTHER)
    host.write(text)
    host.process.send_signal(signal.SIGHUP)
    host.works_on()  # by the other pool: what the feeders hold goes there
    host.check('event="removed parts have ended"' not in host.log(), "the old is not waited for")
    released = 0

    def has_drained():
        nonlocal released
        released = release_at_barrier(host, released)
        return 'event="removed parts have ended"' in host.log()
    host.until(has_drained, "it does not drain")
    numbers, ledger = end(host, text)
    missing = set(range(max(numbers) + 1)) - set(numbers)
    dead = int(ledger["dead"])
    host.check(len(missing) == dead and len(numbers) == len(set(numbers)),
               f"lost {sorted(missing)}, of {len(numbers)} {len(set(numbers))}")
    host.check(min(most_dead, 1) <= dead <= most_dead, f"{ledger}")


def a_full_pool_that_drains(host):
    a_full_pool_that_is_removed(host, "drain")


def a_full_pool_that_discards(host):
    a_full_pool_that_is_removed(host, "discard", most_dead=QUEUED)


def a_full_pool_that_hands_on(host):
    """To nobody: there is no pool above it. So it finishes."""
    a_full_pool_that_is_removed(host, "reroute")


def a_handler_that_never_returns(host):
    """It is named, and left behind; the reload is over, and so are the next ones."""
    start_full(host, "mode: drain, timeout: 100ms")
    host.reload("reloaded", fed("other", OTHER))
    left = re.findall(r'component=middle event="did not end in time".* in_hand=(\d+)', host.log())
    host.check(left == ["2"], f"who was left behind is not named: {left}")
    host.works_on()
    host.reload("reloaded", fed("other", OTHER.replace("size: 2", "size: 3")))
    host.reload("reloaded", fed("other", OTHER + MIDDLE.replace("REMOVE", "mode: drain")))
    host.check(host.pool("middle")["size_in_file"] == 2, "its name is not free")
    host.reload("refused", fed("other", OTHER) + "wrong: 1\n")
    host.check(len(re.findall('event="did not end in time"', host.log())) == 1,
               "another reload waited for it")
    host.works_on()
    os.write(host.gate, b"y" * 64)
    numbers, ledger = end(host, fed("other", OTHER))
    lost = set(range(max(numbers) + 1)) - set(numbers)
    host.check(len(numbers) == len(set(numbers)), "numbers are doubled")
    host.check(len(lost) == int(ledger["dead"]) <= QUEUED, f"lost {sorted(lost)}, {ledger}")


# --- the same in other words

def meaning(host):
    return {
        "version": 1,
        "host": {"plugins": [host.plugins, host.test_plugins], "control": host.path["socket"],
                 "shutdown_timeout": "30s"},
        "dispatchers": {"blocking": {"threads": 8, "budget": 1}, "default": {"threads": 2}},
        "sources": {"numbers": {"use": "gen.forever", "to": "front"}},
        "pools": {
            "front": {"use": "changeling.pass", "size": 2, "mailbox": 8, "args": {"fixed": 3},
                      "outputs": {"out": {"to": "nest", "when_full": "wait"}},
                      "restart": {"max": 4, "within": "1m", "backoff": "100ms..10s"}},
            "nest": {"route": "least_loaded", "members": {
                "left": {"use": "changeling.pass", "size": 1, "outputs": {"out": "sink"}},
                "right": {"use": "changeling.pass", "size": 2, "outputs": {"out": "sink"}}}},
            "sink": {"use": "sink.record", "size": 1, "dispatcher": "blocking",
                     "mailbox_bytes": "64KiB", "args": {"path": host.path["record"], "batch": 1,
                                                        "spin": 200000}}}}


OTHER_WORDS = {"1m": "60s", "100ms..10s": "100ms..10000ms", "64KiB": "65536", "30s": "30000ms"}


def say_otherwise(rng, node):
    """The same with keys in another order, values in another unit, and long or short forms."""
    if isinstance(node, list):
        return node
    if not isinstance(node, dict):
        return OTHER_WORDS.get(node, node) if rng.random() < 0.5 else node
    keys = list(node)
    rng.shuffle(keys)
    return {key: node[key]["to"] if key == "out" and isinstance(node[key], dict)
                 and rng.random() < 0.5 else say_otherwise(rng, node[key]) for key in keys}


def spell(rng, node):
    style = rng.choice(["block", "flow", "json", "quoted", "comments"])
    if style == "json":
        return json.dumps(node, indent=rng.choice([None, 1, 7])) + "\n"
    if style == "quoted":
        return yaml.dump(node, default_style=None, default_flow_style=None, width=20,
                         sort_keys=False, indent=rng.randint(2, 9))
    text = yaml.dump(node, default_flow_style=style == "flow", sort_keys=False)
    if style == "comments":
        text = "".join(line + rng.choice(["", "  # a word", "\n", "\n# p: {x\n"]) + "\n"
                       for line in text.splitlines())
    return "---\n" + text


def the_same_in_other_words(host):
    """Nothing is opened, and the workers are those of before. The first check may see a descriptor
    or a thread that the host needs for a moment, so fewer of them are the same."""
    rng = random.Random(7)

    def opened():
        folder = f"/proc/{host.process.pid}"
        files = set()
        for name in os.listdir(f"{folder}/fd"):
            try:
                path = os.readlink(f"{folder}/fd/{name}")
            except FileNotFoundError:
                continue
            if path == os.devnull:  # the reserve, which a reload opens again: not their numbers
                name = sum(path == os.devnull for _, path in files)
            if not path.startswith("socket:"):  # one of those that ask
                files.add((name, path))
        return files | set(os.listdir(f"{folder}/task"))

    def workers():
        return sorted((pool["path"], pool["live"], pool["restarts"])
                      for pool in host.ask("GET", "/status")["pools"])

    host.start_with(spell(rng, meaning(host)))
    host.works_on()
    workers_before = workers()  # first: libuv keeps a descriptor once a client has asked
    opened_before = opened()
    for _ in range(12):
        host.write_as_it_is(spell(rng, say_otherwise(rng, meaning(host))))
        host.reload("unchanged")
    host.until(lambda: not opened() - opened_before,
               lambda: f"opened: {opened() - opened_before}")
    host.until(lambda: workers() == workers_before, lambda: f"changed: {workers()}")
    host.check(host.pool_steps() == 0, "a pool has changed")
    host.works_on()
    host.stop()


# --- a route that changes under load

def a_route_that_changes_under_load(host):
    """With broadcast each of three workers gets a number, with every other one of them does."""
    def file(route):
        fan = ("  feeder: {use: changeling.pass, size: 3, mailbox: 8, outputs: {out: sink},\n"
               f"    route: {route}}}\n")
        return (BLOCKING + NUMBERS.replace("TO", "feeder") + "pools:\n" + fan
                + SINK.replace("SIZE", "1").replace("1000000", "20000"))

    host.start(file("round_robin"))
    for route in ("broadcast", "pull", "broadcast", "random", "broadcast", "least_loaded"):
        enough = host.size() + 500
        host.until(lambda: host.size() > enough, "nothing is recorded")
        host.reload("reloaded", file(route))
    numbers, ledger = end(host, file("least_loaded"))
    times = collections.Counter(numbers)
    host.check(set(times) == set(range(max(times) + 1)), "numbers are lost")
    host.check(set(times.values()) == {1, 3}, f"{collections.Counter(times.values())}")
    host.check(ledger["dead"] == "0", f"{ledger}")


def main():
    for case in (a_file_that_may_not_be_read, a_full_pool_that_drains, a_full_pool_that_discards,
                 a_full_pool_that_hands_on, a_handler_that_never_returns,
                 the_same_in_other_words, a_route_that_changes_under_load):
        with tempfile.TemporaryDirectory() as work:
            case(Host(work, "case"))
        print(f"{case.__name__}: as promised", flush=True)


main()
