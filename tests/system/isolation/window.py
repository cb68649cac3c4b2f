#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a process that has many messages ahead may crash, hang, be stopped and replaced by a
        reload: only the message in hand is dead, each other one is handled once, at its first
        attempt, in the order of its worker; with the origin of a source and without, with outputs
        and without. Shows promise B145.
Method: real hosts, with a test plugin so quick that its window grows, which writes what it handles
        to a file by itself.

    window.py WEIR PLUGINS TEST_PLUGINS [SCENE ...]
"""
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time

from isolation import Feeder, Host
from trials import DEADLINE, Trouble, must, until

LINES, EACH, KILLS = 6000, 1000, 40
POOLS = """\
  gulps: {{use: gulp.texts, size: {size}, isolation: process, {keys}, outputs: {{out: {to}}},
    args: {{path: "{folder}/{name}", emits: {emits}}}}}
  writers: {{use: sink.null, size: 1}}
"""
FROM_FILE = """\
sources: {{lines: {{use: files.lines, to: gulps,
    args: {{paths: ["{folder}/texts"], position: "{folder}/position"}}}}}}
pools:
""" + POOLS
KEYED = """\
sources: {{lines: {{use: stdin.lines, to: gulps, args: {{key: true}}}}}}
pools:
  gulps: {{use: gulp.singles, size: {size}, isolation: process, route: hash, mailbox: 1000,
    remove: {{timeout: 1h}}, args: {{path: "{folder}/out"}}}}
"""
FROM_STDIN = "sources: {{lines: {{use: stdin.lines, to: gulps}}}}\npools:\n" + POOLS


def texts(word, count=LINES):
    """One in EACH lines has the word."""
    return [f"{word if number % EACH == EACH - 1 else 'calm'}-{number}" for number in range(count)]


def handled(host, name="out"):
    """Text, attempt and worker of what the processes have handled."""
    path = host.folder / name
    rows = path.read_text("ascii").split("\n")[:-1] if path.exists() else []
    return [(text, int(attempt), int(worker)) for text, attempt, worker in map(str.split, rows)]


def must_be_whole(rows, wanted):
    """Each text once, at its first attempt; in order, where there is one worker. Others may get
    what waits for a worker that has failed."""
    found = [text for text, _, _ in rows]
    must(len(found) == len(set(found)), "a text was handled twice")
    must(set(found) == set(wanted), f"{len(set(wanted) - set(found))} texts are missing: "
         f"{sorted(set(wanted) - set(found))[:5]}, {sorted(set(found) - set(wanted))[:5]}")
    must(all(attempt == 1 for _, attempt, _ in rows), "another attempt")
    numbers = [int(text.split("-")[1]) for text in found]
    must(len({worker for _, _, worker in rows}) > 1 or numbers == sorted(numbers), "the order")


def poison(rest, redeliver, emits, size):
    given = texts("SEGV")
    host = Host(rest, given, size=size, name="out", emits="true" if emits else "false",
                to="writers" if emits else "none",
                keys=f"redeliver: {redeliver}, restart: {{max: 1000, backoff: 1ms..1ms}}")
    try:
        with open(host.folder / "texts", "rb") as stdin:
            host.start(stdin=stdin).process.wait(DEADLINE)
        must_be_whole(handled(host), [text for text in given if text.startswith("calm")])
        dead = host.lines("dead letter")
        must(len(dead) == LINES // EACH and
             all(line["reason"] == "crashed" and line["attempt"] == redeliver + 1 for line in dead),
             f"dead letters: {dead}")
        ledger = host.ledger("gulps")
        must(ledger["balance"] == "exact" and ledger["done"] == LINES - len(dead), f"{ledger}")
    finally:
        host.finish()


def time_out():
    """A process that hangs with others ahead costs the one in hand."""
    given = texts("LOOP", 2 * EACH)
    host = Host(FROM_FILE, given, size=1, name="out", emits="false", to="none",
                keys="process: {timeout: 1s}, restart: {max: 1000, backoff: 1ms..1ms}")
    try:
        host.start().process.wait(DEADLINE)
        must_be_whole(handled(host), [text for text in given if text.startswith("calm")])
        reasons = [line["reason"] for line in host.lines("process of a worker ended")]
        must(reasons == ["timeout"] * 2, f"ends: {reasons}")
    finally:
        host.finish()


def pulls():
    """What is in the queue of a pool that routes by pull waits for no slow message."""
    others = 20
    given = texts("calm", 5 * EACH) + [f"LOOP-{5 * EACH}"]
    given += [f"calm-{5 * EACH + 1 + number}" for number in range(others)]
    host = Host(FROM_STDIN, size=1, name="out", emits="false", to="none", keys="route: pull")
    try:
        host.start(stdin=subprocess.PIPE)
        host.process.stdin.write("".join(f"{text}\n" for text in given).encode("ascii"))
        host.process.stdin.flush()
        until(lambda: len(handled(host)) >= 5 * EACH, "texts before the slow one")
        slow = host.workers()[0]
        host.write(FROM_STDIN, size=2, name="out", emits="false", to="none", keys="route: pull")
        must(host.ask("reload").returncode == 0, "a reload failed")
        until(lambda: len(handled(host)) == 5 * EACH + others, "texts behind the slow one")
        os.kill(slow, signal.SIGKILL)
        host.process.stdin.close()
        host.process.wait(DEADLINE)
        must_be_whole(handled(host), [text for text in given if text.startswith("calm")])
        must(len(host.lines("dead letter")) == 1, "dead letters")
    finally:
        host.finish()


def fails_with_a_kept_one():
    """A process begins no message behind one that lets a kept one fail. promise B146"""
    given = texts("calm")
    for number in range(0, LINES, EACH):
        given[number], given[number + EACH // 2] = f"KEEP-{number}", f"FAIL-{number + EACH // 2}"
    host = Host(FROM_FILE, given, size=1, name="out", emits="false", to="none",
                keys="restart: {max: 1000, backoff: 1ms..1ms}")
    try:
        host.start().process.wait(DEADLINE)
        must_be_whole(handled(host), given)
        must(len(host.lines("dead letter")) == LINES // EACH, "dead letters")
    finally:
        host.finish()


def holds():
    """Behind a change of the demand the process begins no message before the host has heard of
    it. promise B146"""
    given = texts("HOLD")
    host = Host(FROM_FILE, given, size=1, name="out", emits="false", to="none", keys="redeliver: 0")
    try:
        must(host.start().process.wait(DEADLINE) == 0, "the exit code")
        wanted = []
        for text in given:
            wanted += [text, f"woke-{text}"] if text.startswith("HOLD") else [text]
        must([text for text, _, _ in handled(host)] == wanted, "the order")
    finally:
        host.finish()


def stashes():
    """What is stashed comes right behind the message that brings it back. promise B146"""
    given = texts("calm")
    given[EACH], given[2 * EACH] = f"STASH-{EACH}", f"BACK-{2 * EACH}"
    host = Host(FROM_FILE, given, size=1, name="out", emits="false", to="none", keys="redeliver: 0")
    try:
        must(host.start().process.wait(DEADLINE) == 0, "the exit code")
        given.insert(2 * EACH, given.pop(EACH))
        must(handled(host) == [(text, 1, 0) for text in given], "the order")
    finally:
        host.finish()


def ahead():
    """A process has several messages at a time, and no more than `process.window`: the host's
    figure, while the process is stopped. promise B150"""
    for window in (64, 4, 1):
        host = Host(FROM_STDIN, size=1, name="out", emits="false", to="none",
                    keys=f"process: {{window: {window}}}")
        lines, counts = subprocess.Popen(["yes", "calm-0"], stdout=subprocess.PIPE), []

        def stopped(host=host, window=window, counts=counts):
            before = host.done("gulps")
            until(lambda: host.done("gulps") > before, "more texts")
            os.kill(host.workers()[0], signal.SIGSTOP)
            counts.append(json.loads(host.ask("status", "gulps", "-o", "json").stdout)["in_hand"])
            os.kill(host.workers()[0], signal.SIGCONT)
            must(counts[-1] <= window, f"{counts[-1]} messages in a window of {window}")
            return len(counts) >= 10 and max(counts) >= window // 2

        try:
            host.start(stdin=lines.stdout)
            until(lambda: host.done("gulps") > 0, "texts")
            until(stopped, f"a window of {window}: {counts}")
        finally:
            host.finish()
            lines.kill()
            lines.wait()


def kills():
    """Processes are killed while they have many messages ahead, between reloads. promise B151"""
    keys = "process: {{window: {0}}}, redeliver: 0, " \
           "restart: {{max: 1000, backoff: 1ms..1ms, then: keep_trying}}"
    host, ends, pauses = Host(FROM_STDIN, size=2, name="out", emits="false", to="none",
                              keys=keys.format(64)), 0, random.Random(KILLS)
    lines = subprocess.Popen(["seq", "-f", "calm-%.0f", "100000000"], stdout=subprocess.PIPE)
    try:
        host.start(stdin=lines.stdout)
        out = host.folder / "out"
        until(out.exists, "texts")
        while ends < KILLS:
            before = out.stat().st_size
            until(lambda b=before: out.stat().st_size > b, "more texts")
            time.sleep(pauses.random() * 0.002)
            for worker in host.workers()[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
                    ends += 1
            if ends % 8 == 7:
                host.write(FROM_STDIN, size=1 + ends % 3, name="out", emits="false", to="none",
                           keys=keys.format(64 >> ends % 5))
                host.ask("reload")
        lines.kill()
        host.process.wait(DEADLINE)
        rows, ledger = handled(host), host.ledger("gulps")
        must(len(rows) == len({text for text, _, _ in rows}), "a text was handled twice")
        must(all(attempt == 1 for _, attempt, _ in rows), "another attempt")
        must(ledger["balance"] == "exact" and ledger["dead"] <= ends and
             ledger["done"] <= len(rows) <= ledger["done"] + ledger["dead"],
             f"{ends} ends, {len(rows)} texts: {ledger}")
    finally:
        host.finish()
        lines.kill()
        lines.wait()


def stops():
    """A host that is stopped in the midst, and started again: nothing is lost or done twice."""
    given = texts("calm", 60000)
    host = Host(FROM_FILE, given, size=2, name="out", emits="false", to="none", keys="redeliver: 0")
    try:
        ended, turns = False, 0
        while not ended:
            before = len(handled(host))
            host.start()
            until(lambda b=before: len(handled(host)) >= b + 5000 or
                  host.process.poll() is not None, "more texts")
            host.process.send_signal(signal.SIGTERM)
            ended = host.process.wait(DEADLINE) == 0 and len(handled(host)) >= len(given)
            must(host.ledger("gulps")["balance"] == "exact", "the ledger")
            turns += 1
            must(turns < 100, "no end")
        must(turns > 1, "the first host has done all: it was not stopped in the midst")
        found = [text for text, _, _ in handled(host)]
        must(len(found) == len(given) and set(found) == set(given), f"{len(found)} texts")
    finally:
        host.finish()


def reloads():
    """New processes take over while the old ones have messages ahead."""
    host = Host(FROM_STDIN, size=2, name="0", emits="true", to="writers", keys="redeliver: 0")
    try:
        host.start(stdin=subprocess.PIPE)
        feeder = Feeder(host.process.stdin)
        for number in range(6):
            until(lambda n=number: len(handled(host, str(n))) > 300, "texts of new processes")
            if number % 2:
                must(host.ask("restart", "gulps").returncode == 0, "a restart failed")
            host.write(FROM_STDIN, size=2 + number % 2, name=str(number + 1), emits="true",
                       to="writers", keys=f"redeliver: 0, process: {{window: {64 >> number}}}")
            answer = host.ask("reload")
            must(answer.returncode == 0, f"a reload failed: {answer.stdout}{answer.stderr}")
        count = feeder.end()
        must(host.process.wait(DEADLINE) == 0, "the exit code")
        found = [row for number in range(7) for row in handled(host, str(number))]
        must(all(attempt == 1 for _, attempt, _ in found), "another attempt")
        must(sorted(text for text, _, _ in found) == sorted(f"calm-{i}" for i in range(count)),
             f"{len(found)} texts of {count}")
        must(host.ledger("gulps")["balance"] == "exact", "the ledger")
    finally:
        host.finish()


def grows():
    """A new worker of a pool with keys begins while the old one is busy with what came later.
    promise G9"""
    before, later = 4, 6
    host = Host(KEYED, size=1)

    def feed(count):
        host.process.stdin.write(b"".join(b"NAP-%d\n" % number for number in range(count)))
        host.process.stdin.flush()

    try:
        host.start(stdin=subprocess.PIPE)
        feed(before)
        until(lambda: handled(host), "a text that is done")
        host.write(KEYED, size=2)
        must(host.ask("reload").returncode == 0, "a reload failed")
        feed(1000)
        workers = until(lambda: (found := [worker for _, _, worker in handled(host)]) and
                        1 in found and found, "a text of the new worker")
        must(workers.index(1) < before + later, f"{workers.index(1)} texts of the old worker")
    finally:
        host.finish()


def main():
    failures = 0
    scenes = [(f"poison, redeliver {redeliver}, {name}{', outputs' if emits else ''}",
               lambda a=(rest, redeliver, emits, size): poison(*a))
              for redeliver in (0, 1)
              for rest, name, emits, size in ((FROM_FILE, "origins", True, 1),
                                              (FROM_FILE, "origins", False, 3),
                                              (FROM_STDIN, "no origins", True, 3),
                                              (FROM_STDIN, "no origins", False, 1))]
    for name, scene in scenes + [("time-out", time_out), ("pull", pulls),
                                 ("a kept one fails", fails_with_a_kept_one),
                                 ("demand", holds), ("stash", stashes), ("ahead", ahead),
                                 ("kills", kills), ("stops", stops), ("reloads", reloads),
                                 ("grows", grows)]:
        if sys.argv[4:] and name not in sys.argv[4:]:
            continue
        try:
            scene()
            print(f"{name}: ok", flush=True)
        except (Trouble, subprocess.TimeoutExpired) as trouble:
            failures += 1
            print(f"{name}: FAILED: {trouble}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
