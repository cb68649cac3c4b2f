#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   over any number of reloads under load nothing is lost or doubled, and memory, descriptors
        and threads stay flat. Shows promise R5, promise R14, promise R15 and promise
        L1.
Method: sources count up without a pause, each in a range of its own, through two layers of pools to
        sinks that write down each number. Each reload changes some things at random, by a seed:
        sizes, limits, routes, names, nesting, args, behaviours, outputs, sources, the memory; some
        files are wrong. Now and then the host goes back to the first file and is measured there. In
        the end each source's numbers must have been written down once each, from the first to as
        many as the ledger says it sent.

    reloads.py WEIR PLUGINS TEST_PLUGINS [--count N] [--seed N] [--no-memory]
"""
import argparse
import collections
import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

RANGE = 10**10          # numbers of one source
MEASURED_EVERY = 20     # reloads
WRONG_EVERY = 13
LAYERS = 3              # each accepts a message once
GROWTH_MAX_KIB = 512    # of the resident memory, in the second half of a run
WAIT_LIMIT_S = 60
LOG_SHOWN = 20000  # characters: a report of a sanitizer fits
POOLS_MAX = 8


class Pool:
    spin = 4000  # steps of a sink for each message

    def __init__(self, layer, to=None):
        self.layer = layer
        self.to = to
        self.size = 2
        self.mailbox = 16
        self.route = "round_robin"
        self.dispatcher = "default"
        self.restart = 5
        self.args = 0
        self.live = 0
        self.behaviour = "pass"
        self.members = 0  # 0 = workers
        self.copies = False  # of one template, or each by its name

    def lines(self, name, indent="  "):
        members = self.members
        if not members:
            return [f"{indent}{name}: {{{self.worker()}}}"]
        route = "round_robin" if self.route == "pull" else self.route
        if self.copies:
            return [f"{indent}{name}: {{route: {route}, size: {members}, "
                    f"pool: {{{self.worker()}}}}}"]
        return [f"{indent}{name}:", f"{indent}  route: {route}", f"{indent}  members:"] + [
            f"{indent}    m{index}: {{{self.worker()}}}" for index in range(members)]

    def worker(self):
        common = (f"size: {self.size}, mailbox: {self.mailbox}, route: {self.route}, "
                  f"dispatcher: {self.dispatcher}, restart: {{max: {self.restart}}}")
        if self.layer == "sink":
            return (f'use: sink.record, args: {{path: "RECORD", batch: 64, '
                    f"spin: {self.spin + self.args}}}, {common}")
        # The present workers apply `live`; `fixed` needs others.
        output = "on" if self.behaviour == "through" else "out"
        return (f"use: changeling.{self.behaviour}, args: {{fixed: {self.args}, "
                f"live: {self.live}}}, outputs: {{{output}: {self.to}}}, {common}")


class Shape:
    """What a file says. Every pool is fed, and feeds the layer behind its own."""

    def __init__(self):
        self.pools = {"f0": Pool("front", "m0"), "m0": Pool("middle", "s0"), "s0": Pool("sink")}
        self.sources = {0: ("f0", False)}
        self.next_source = 1
        self.memory = 0

    def copy(self):
        other = type(self)()
        other.pools = {name: self.copy_of(pool) for name, pool in self.pools.items()}
        other.sources = dict(self.sources)
        other.next_source = self.next_source
        other.memory = self.memory
        return other

    @staticmethod
    def copy_of(pool):
        other = Pool(pool.layer)
        other.__dict__.update(pool.__dict__)
        return other

    def of(self, layer):
        return [name for name, pool in self.pools.items() if pool.layer == layer]

    def free_name(self, rng, pool):
        """What has a path stays in its layer: what waits in a worker follows its pool's outputs."""
        letter = pool.layer[0]
        return rng.choice([f"{letter}{number}" for number in range(POOLS_MAX + 1)
                           if f"{letter}{number}" not in self.pools])

    def rebind(self, old, new):
        for pool in self.pools.values():
            if pool.to == old:
                pool.to = new
        for number, (to, key) in self.sources.items():
            if to == old:
                self.sources[number] = (new, key)

    # --- what may change

    def resize(self, rng):
        rng.choice(list(self.pools.values())).size = rng.randint(1, 5)

    def limit(self, rng):
        rng.choice(list(self.pools.values())).mailbox = rng.choice([1, 4, 16, 64])

    def reroute(self, rng):
        pool = rng.choice(list(self.pools.values()))
        pool.route = rng.choice(["round_robin", "least_loaded", "random", "pull"])

    def nest(self, rng):
        """Members come and go, in place of workers too, and get other names."""
        pool = rng.choice(list(self.pools.values()))
        pool.members = rng.choice([0, 0, 1, 2, 3])
        pool.copies = rng.choice([False, True])

    def change_args(self, rng):
        rng.choice(list(self.pools.values())).args = rng.randint(0, 9)

    def change_live_args(self, rng):
        rng.choice(list(self.pools.values())).live = rng.randint(0, 9)

    def behave(self, rng):
        """By an output of another number, or of another name: see changeling.c."""
        pool = rng.choice(list(self.pools.values()))
        pool.behaviour = rng.choice(["pass", "turn", "through"])

    def remember(self, rng):
        self.memory = rng.choice(["0", "64MiB", "1GiB"])

    def restart(self, rng):
        rng.choice(list(self.pools.values())).restart = rng.randint(1, 9)

    def move(self, rng):
        rng.choice(list(self.pools.values())).dispatcher = rng.choice(["default", "side"])

    def rename(self, rng):
        if len(self.pools) == POOLS_MAX:
            return
        old = rng.choice(list(self.pools))
        new = self.free_name(rng, self.pools[old])
        self.pools[new] = self.pools.pop(old)
        self.rebind(old, new)

    def add(self, rng):
        if len(self.pools) == POOLS_MAX:
            return
        layer = rng.choice(["front", "middle", "sink"])
        behind = {"front": "middle", "middle": "sink"}.get(layer)
        pool = Pool(layer, rng.choice(self.of(behind)) if behind else None)
        pool.members = rng.choice([0, 0, 2])
        self.pools[self.free_name(rng, pool)] = pool
        self.lead_elsewhere(rng)

    def remove(self, rng):
        name = rng.choice(list(self.pools))
        others = [other for other in self.of(self.pools[name].layer) if other != name]
        if others:
            del self.pools[name]
            self.rebind(name, rng.choice(others))

    def lead_elsewhere(self, rng):
        for pool in self.pools.values():
            behind = {"front": "middle", "middle": "sink"}.get(pool.layer)
            if behind:
                pool.to = rng.choice(self.of(behind))
        for number, (_, key) in self.sources.items():
            self.sources[number] = (rng.choice(self.of("front")), key)

    def source_args(self, rng):
        number = rng.choice(list(self.sources))
        to, key = self.sources[number]
        self.sources[number] = (to, not key)

    def add_source(self, rng):
        if len(self.sources) < 4:
            self.sources[self.next_source] = (rng.choice(self.of("front")), False)
            self.next_source += 1

    def remove_source(self, rng):
        others = [number for number in self.sources if number]
        if others:
            del self.sources[rng.choice(others)]

    def reorder(self, rng):
        names = list(self.pools)
        rng.shuffle(names)
        self.pools = {name: self.pools[name] for name in names}

    CHANGES = (resize, resize, limit, reroute, nest, nest, change_args, change_live_args, behave,
               behave, remember, restart, move, rename, add, remove, lead_elsewhere, source_args,
               add_source, remove_source, reorder)

    def text(self, host):
        lines = ["version: 1", "host: {plugins: [%s], control: %s, memory: %s}" % (
            ", ".join(json.dumps(path) for path in host.plugins), json.dumps(host.socket),
            self.memory),
            "dispatchers: {default: {threads: 2}, side: {threads: 2, budget: 8}}", "sources:"]
        for number, (to, key) in self.sources.items():
            lines.append(f"  from{number}: {{use: gen.forever, to: {to}, "
                         f"args: {{first: {number * RANGE}, key: {str(key).lower()}}}}}")
        lines.append("pools:")
        for name, pool in self.pools.items():
            lines += pool.lines(name)
        return "\n".join(lines).replace("RECORD", host.record) + "\n"


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("weir")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Host:
    def __init__(self, weir, plugins, work):
        self.plugins = plugins
        self.file, self.socket = os.path.join(work, "weir.yaml"), os.path.join(work, "socket")
        self.record, self.log = os.path.join(work, "record"), os.path.join(work, "log")
        self.command = [weir, "run", self.file]
        self.process = None

    def write(self, text):
        with open(self.file + ".new", "w", encoding="utf-8") as stream:
            stream.write(text)
        os.rename(self.file + ".new", self.file)

    def start(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        until(self.has_started, "the host does not start")

    def has_started(self):
        if self.process.poll() is not None:
            fail("the host ended at once")
        return b'component=host event="started"' in open(self.log, "rb").read()

    def reload(self):
        return self.ask("POST", "/reload")

    def plan(self):
        return self.ask("GET", "/plan?file=" + urllib.parse.quote(self.file))

    def ask(self, method, path):
        connection = Connection(self.socket)
        try:
            connection.request(method, path)
            return json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException) as error:
            fail(f"{method} {path} has no answer: {error!r}")
        finally:
            connection.close()

    @staticmethod
    def descriptors(folder):
        """Without the host's reserve, which is closed while the host reloads and answers."""
        targets = []
        for name in os.listdir(folder):
            try:
                targets.append(os.readlink(f"{folder}/{name}"))
            except FileNotFoundError:
                pass  # closed since
        return [target for target in targets if target != "/dev/null"]

    def measure(self):
        """Descriptors, threads, resident KiB."""
        folder = f"/proc/{self.process.pid}"
        status = open(f"{folder}/status", encoding="ascii").read()
        return (len(self.descriptors(f"{folder}/fd")),
                int(re.search(r"Threads:\s+(\d+)", status)[1]),
                int(re.search(r"VmRSS:\s+(\d+)", status)[1]))


HOST = []


def fail(what):
    print(f"FAILED: {what}", flush=True)
    if HOST:
        print(open(HOST[0].log, encoding="utf-8", errors="replace").read()[-LOG_SHOWN:])
        if HOST[0].process and HOST[0].process.poll() is None:
            HOST[0].process.kill()
            HOST[0].process.wait()
    sys.exit(1)


def until(condition, what):
    """`what` is a text, or makes it in the end."""
    deadline = time.monotonic() + WAIT_LIMIT_S
    while not condition():
        if time.monotonic() > deadline:
            fail(what() if callable(what) else what)
        time.sleep(0.005)


class Storm:
    shape_type = Shape

    def __init__(self, host, options):
        self.host, self.options = host, options
        self.rng = random.Random(options.seed)
        self.shape = self.shape_type()
        self.results = collections.Counter()
        self.measured = []
        self.times = []

    @staticmethod
    def steps_of(answer):
        """Without the present size of a pool that scales itself: it changes at any time."""
        return [{key: re.sub(r" \(now \d+\)", "", str(value)) for key, value in step.items()}
                for step in answer["steps"]]

    def go_to(self, shape):
        self.host.write(shape.text(self.host))
        shown = self.host.plan()
        start = time.monotonic()
        answer = self.host.reload()
        self.times.append((time.monotonic() - start) * 1000)
        if self.steps_of(shown) != self.steps_of(answer) or self.host.plan()["steps"]:
            fail(f"not what the plan showed: {shown}, {answer}")
        if answer["result"] not in ("reloaded", "unchanged"):
            fail(f"refused: {answer['errors']}\n{shape.text(self.host)}")
        self.results[answer["result"]] += 1
        self.shape = shape

    def try_wrong(self):
        wrong = self.rng.choice(["pools: [", "x: 1", "pools2: {}", "version: 2"])
        self.host.write(self.shape.text(self.host) + wrong + "\n")
        answer = self.host.reload()
        if answer["result"] != "refused":
            fail(f"not refused: {wrong}")
        self.results["refused"] += 1

    def measure(self):
        base = self.shape_type()
        base.next_source = self.shape.next_source
        self.go_to(base)
        if self.measured:
            until(self.is_flat, lambda: f"descriptors and threads are {self.host.measure()[:2]}, "
                  f"not {self.measured[0][:2]}, in the same file")
        self.measured.append(self.host.measure())

    def is_flat(self):
        """What has left may still be closing: none more than in the beginning."""
        present, first = self.host.measure(), self.measured[0]
        return present[0] <= first[0] and present[1] <= first[1]

    def step(self, number):
        if number % MEASURED_EVERY == 0:
            self.measure()
            return
        if number % WRONG_EVERY == 0:
            self.try_wrong()
            return
        shape = self.shape.copy()
        for _ in range(self.rng.randint(1, 4)):
            self.rng.choice(self.shape_type.CHANGES)(shape, self.rng)
        self.go_to(shape)

    def run(self):
        self.host.write(self.shape.text(self.host))
        self.host.start()
        for number in range(self.options.count):
            self.step(number)
        self.measure()

    # --- afterwards

    def growth_kib(self):
        """In the second half: until then peaks of load fill the caches of messages, of which each
        thread keeps up to 1 MiB."""
        sizes = [size for _, _, size in self.measured]
        warm = max(1, len(sizes) // 2)
        few = max(1, len(sizes) // 10)
        middle = lambda part: sorted(part)[len(part) // 2]
        return middle(sizes[-few:]) - middle(sizes[warm:warm + few] or sizes)

    def ledger(self, component):
        log = open(self.host.log, encoding="utf-8", errors="replace").read()
        return dict(re.findall(r" (\w+)=(\w+)", re.findall(
            rf'component={component} event="ledger"(.*)', log)[-1]))

    def count_recorded(self, accepted):
        """How many there were, each of them once, as many as were `accepted` in all layers."""
        seen, doubled = {}, 0
        for line in open(self.host.record, "rb"):
            source, number = divmod(int(line), RANGE)
            marks = seen.setdefault(source, bytearray())
            if number >= len(marks):
                marks.extend(bytes(number + 1 - len(marks)))
            doubled += marks[number]
            marks[number] = 1
        total = sum(len(marks) for marks in seen.values())
        gaps = total - sum(sum(marks) for marks in seen.values())
        lost = accepted - LAYERS * total
        if lost or doubled or gaps:
            fail(f"lost {lost}, doubled {doubled}, gaps {gaps}")
        return total

    def check_numbers(self):
        ledger = self.ledger("host")
        others = {key: value for key, value in ledger.items()
                  if key in ("dead", "held", "dead_outside", "misuses") and value != "0"}
        if others or ledger["balance"] != "exact":
            fail(f"{others}, {ledger['balance']}")
        # Workers that join a pool accept what others hand to them once more.
        return self.count_recorded(int(ledger["accepted"]) - int(ledger["moved"]))

    def report(self):
        times = sorted(self.times)
        total = self.check_numbers()
        first, last = self.measured[0], self.measured[-1]
        print(f"reloads {sum(self.results.values())} ({dict(self.results)}), seed "
              f"{self.options.seed}")
        print(f"messages {total}, lost 0, doubled 0, ledger exact")
        print(f"descriptors {first[0]} -> {last[0]}, threads {first[1]} -> {last[1]}, resident "
              f"{first[2]} -> {last[2]} KiB, {self.growth_kib():+d} KiB in the second half")
        print(f"a reload under load, with its answer: median {times[len(times) // 2]:.1f} ms, "
              f"p99 {times[len(times) * 99 // 100]:.1f} ms, longest {times[-1]:.1f} ms")
        if not self.options.no_memory and self.growth_kib() > GROWTH_MAX_KIB:
            fail(f"memory grew by {self.growth_kib()} KiB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weir")
    parser.add_argument("plugins")
    parser.add_argument("test_plugins")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--no-memory", action="store_true",
                        help="the memory is a sanitizer's too")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as work:
        host = Host(options.weir, [options.plugins, options.test_plugins], work)
        HOST.append(host)
        storm = Storm(host, options)
        storm.run()
        host.process.terminate()
        if host.process.wait() != 0:  # what has no end is not unfinished
            fail(f"the host ended with {host.process.returncode}")
        storm.report()


if __name__ == "__main__":
    main()
