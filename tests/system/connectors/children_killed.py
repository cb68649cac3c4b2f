#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a child of exec.pipe that is killed with messages in its window harms one of them: each
        message is done once, or dead because it was blamed twice; each kill blames the message in
        hand, and what was behind it comes again, in order, as the same attempt. Each output that
        the child wrote whole is there once. Shows promise B14 and promise B65.
Method: children of each revision kill themselves with -9 before a frame or inside one, which a
        seed draws. They write down what they get, write and settle; the test walks through that.

    children_killed.py WEIR PLUGINS TREE [--messages COUNT] [--seed SEED]
"""
import argparse
import collections
import json
import os
import re
import sys
import tempfile
import time

from control import Host, check, report_failures

BATCH, WINDOW, SIZE, REDELIVER = 16, 256, 3, 1

# The arguments: the words of its first frame, the seed, and the journal of each worker.
CHILD = r"""
import contextlib, os, random, sys
announced, seed, journals = sys.argv[1:]
index = os.environ["WEIR_INDEX"]
journal = os.open(journals + index, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
before = os.pread(journal, 1 << 24, 0).count(b"start")
dice = random.Random(f"{seed} {announced} {index} {before}")
left = 0 if dice.random() < 0.1 else dice.randrange(60)


def note(*words):
    os.write(journal, (" ".join(map(str, words)) + "\n").encode())


def write(frame):
    global left
    if left == 0:
        cut = 0 if dice.random() < 0.5 else dice.randrange(1, len(frame))
        os.write(4, frame[:cut])
        note("killed", cut)
        os.kill(os.getpid(), 9)
    left -= 1
    os.write(4, frame)


def give(window, number, identity, attempt):
    note("given", number, attempt)
    window.append((number, identity))


def give_many(window, first, attempt, text):
    sizes, _, payloads = text.partition(b"\n")
    for index, size in enumerate(map(int, sizes.split())):
        give(window, int.from_bytes(payloads[:size], sys.byteorder), first + index, attempt)
        payloads = payloads[size:]
    note("many", len(sizes.split()))


def take(buffer, window):
    # What is left of the bytes after the whole frames.
    while b"\n" in buffer:
        head, _, rest = buffer.partition(b"\n")
        kind, size, *words = head.decode().split(" ")
        if len(rest) < int(size):
            break
        if kind == "message":
            number = int.from_bytes(rest[:int(size)], sys.byteorder)
            give(window, number, *(words[:2] if announced else ("", words[0])))
        elif kind == "messages":
            give_many(window, int(words[0]), words[1], rest[:int(size)])
        buffer = rest[int(size):]
    return buffer


def result(window):
    # The output and the verdict in one frame.
    number, _ = window.pop(0)
    write(b"result %d\n%d" % (len(str(number)), number))
    note("out", number)
    note("done", number)


def settle(window):
    if announced.startswith("3") and dice.random() < 0.4:
        result(window)
        return
    count = dice.randint(1, len(window)) if announced and dice.random() < 0.5 else 1
    for number, identity in window[:count]:
        if dice.random() < 0.7:
            text = str(number)
            write(f"out {len(text)} 0 {identity}".strip().encode() + b"\n" + text.encode())
            note("out", number)
    write(b"batch 0 %d\n" % count if count > 1 else b"done 0\n")
    for number, _ in window[:count]:
        note("done", number)
    del window[:count]


note("start")
try:
    os.write(4, f"ready 0 {announced}".strip().encode() + b"\n")
except BrokenPipeError:
    sys.exit()  # the last message is dead meanwhile
buffer, window = b"", []
while block := os.read(3, 65536):
    buffer = take(buffer + block, window)
    rings = announced == "3" and len(window) > 1
    while window:
        settle(window)
    if rings:
        with contextlib.suppress(OSError):  # the host has ended
            os.write(3, b"!")
"""

TEXT = """
sources: {{numbers: {{use: gen.numbers, args: {{count: {count}, key: {key}}}, to: work}}}}
pools:
  work:
    use: exec.pipe
    size: {size}
    route: {route}
    redeliver: {redeliver}
    restart: {{max: 1000, within: 10s}}
    args: {{command: {command}}}
    outputs: {{out: record}}
  record: {{use: file.append, size: 1, args: {{path: "{record}"}}}}
"""


class Account:
    """What the journals of all workers say."""

    def __init__(self):
        self.done, self.dead, self.outs = [], [], collections.Counter()
        self.blamed, self.kills, self.inside, self.widest = collections.Counter(), 0, 0, 0
        self.many = 0  # frames of several messages

    def read(self, path):
        """One worker: `again` is what must come first, in this order."""
        window, again, last = [], collections.deque(), -1
        with open(path, encoding="ascii") as stream:
            events = [line.split() for line in stream]
        for kind, *words in events:
            number = int(words[0]) if words else None
            if kind == "given":
                wanted = again.popleft() if again else None
                check(number == wanted if wanted is not None else number > last,
                      f"{number} comes after {last}, not {wanted}")
                check(int(words[1]) == 1 + self.blamed[number],
                      f"{number}: attempt {words[1]}, blamed {self.blamed[number]} times before")
                last = max(last, number)
                window.append(number)
                self.widest = max(self.widest, len(window))
            elif kind == "out":
                self.outs[number] += 1
            elif kind == "done":
                check(window[0] == number, f"{number} is done, and {window[0]} in hand")
                self.done.append(window.pop(0))
            elif kind == "many":
                self.many += number > 1
            elif kind == "killed":
                self.kill(window, again, cut=number)

    def kill(self, window, again, cut):
        self.kills += 1
        self.inside += cut > 0
        self.blamed[window[0]] += 1
        if self.blamed[window[0]] > REDELIVER:
            self.dead.append(window.pop(0))
        again.extendleft(reversed(window))
        window.clear()


def kill_children(announced, route, key, options):
    with tempfile.TemporaryDirectory() as folder:
        program, record, journals = (os.path.join(folder, name)
                                     for name in ("child.py", "record", "journal"))
        with open(program, "w", encoding="ascii") as stream:
            stream.write(CHILD)
        host = Host(folder)
        command = [sys.executable, "-I", "-S", program, announced, str(options.seed), journals]
        host.write(TEXT.format(count=options.messages, key=key, size=SIZE, route=route,
                               record=record, redeliver=REDELIVER, command=json.dumps(command)))
        host.start()
        code = host.process.wait()
        account = Account()
        for index in range(SIZE):
            account.read(journals + str(index))
        with open(record, encoding="ascii") as stream:
            recorded = collections.Counter(int(line) for line in stream)
        with open(host.log, encoding="utf-8") as stream:
            compare(account, options.messages, code, recorded, stream.read())
        least, most = (2, 2 * BATCH) if str(BATCH) in announced else (1, WINDOW if announced else 1)
        check((account.many > 0) == (announced[:1] == "3" and key == "false"),
              f"{account.many} frames of several messages")
        check(least <= account.widest <= most, f"{account.widest} messages in a window")
    return account


def compare(account, messages, code, recorded, log):
    check(sorted(account.done + account.dead) == list(range(messages)),
          f"{len(account.done)} done, {len(account.dead)} dead, not {messages} different ones")
    check(recorded == account.outs, f"{recorded - account.outs} were recorded too often, "
                                    f"{account.outs - recorded} too seldom")
    check(code == (65 if account.dead else 0), f"exit code {code}, {len(account.dead)} dead")
    ledger = re.search(r'component=work event="ledger" accepted=(\d+) done=(\d+) dead=(\d+)', log)
    wanted = (messages, len(account.done), len(account.dead))
    check(ledger and tuple(map(int, ledger.groups())) == wanted, f"not {wanted}: {log[-2000:]}")
    check("balance=wrong" not in log, log[-2000:])
    check(f"({len(account.dead)} crashed)" in log or not account.dead, log[-2000:])


def main():
    parser = argparse.ArgumentParser()
    for name in ("weir", "plugins", "tree"):
        parser.add_argument(name)
    parser.add_argument("--messages", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1000000)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    # Messages with keys of their own come one by one.
    for announced, route, key in ((f"3 {BATCH}", "pull", "false"), ("3", "pull", "false"),
                                  ("3", "hash", "true"), (f"2 {BATCH}", "hash", "true"),
                                  (f"2 {BATCH}", "pull", "true"), ("2", "hash", "true"),
                                  ("2", "pull", "true"), ("", "hash", "true")):
        begun = time.monotonic()
        found = kill_children(announced, route, key, options)
        print(f"ready 0 {announced}, {route}: {found.kills} kills, {found.inside} in a frame, "
              f"{found.many} frames of many, {len(found.dead)} dead, "
              f"up to {found.widest} in a window, "
              f"{time.monotonic() - begun:.1f} s", flush=True)
    sys.exit(report_failures())


if __name__ == "__main__":
    main()
