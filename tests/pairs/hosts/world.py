# SPDX-License-Identifier: MIT
"""A folder, and hosts that run in it one after another, for a pair of features. hosts.py"""
import collections
import glob
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.parse

from rows import Plan, dice_of, leaves_of

LINES = 60           # in each of two parts
LIMIT_S = 60         # of any wait
PLAIN = "plain"
LINE = re.compile(r"L(\d{4}) ([a-z]+)")
SUM = ("done", "dead", "moved", "queued", "in_hand", "held")
EX_TEMPFAIL = 75
AT_REST = ("queued", "in_hand", "held")


class Trouble(Exception):
    """What was found."""


def must(holds, what):
    if not holds:
        raise Trouble(what)


def until(condition, what):
    due = time.monotonic() + LIMIT_S
    while not (found := condition()):
        must(time.monotonic() < due, f"never: {what}")
        time.sleep(0.002)
    return found


def pools_of(status):
    """Each pool of /status, also those in pools."""
    for pool in status:
        yield pool
        yield from pools_of(pool.get("members") or pool.get("pools") or [])


class World:
    def __init__(self, build, work, pair, seed):
        self.build, self.work, self.pair = build, work, pair
        self.dice = dice_of(seed, pair[0].name, pair[1].name)
        self.plan = Plan(self.dice)
        for row in dict.fromkeys(pair):
            if row.shape:
                row.shape(self.plan)
        self.changes = {}      # index of a row -> seed of its last change
        self.config = None
        self.lines = []
        self.process, self.hosts = None, 0
        self.is_over = False   # the present host ends, or has ended
        for folder in ("in", "state"):
            os.mkdir(f"{work}/{folder}", 0o700)
        open(f"{work}/out", "w", encoding="ascii").close()

    # --- the file

    def leaf(self):
        to = "takers" if self.plan.lends else "record"
        return self.plan.leaf | {"args": dict(self.plan.leaf["args"]),
                                 "outputs": {"out": {"to": to} | self.plan.output}}

    def main(self):
        if not self.plan.parent:
            return self.leaf()
        if self.plan.is_copied:
            return {"route": self.plan.parent, "size": 2, "pool": self.leaf()}
        return {"route": self.plan.parent, "members": {"a": self.leaf(), "b": self.leaf()}}

    def lent(self):
        pool = {"use": "relay.pass", "size": 2, "outputs": {"out": "record"}}
        lease = {"lease": {"timeout": "1h"}}
        if self.plan.lends == "pool":
            return pool | lease
        member = pool | lease | {"size": {"min": 0, "max": 2}, "scale": {"wait": "0ms",
                                                                        "idle": "2ms"}}
        return lease | {"route": "least_loaded", "members": {"a": member, "b": member}}

    def add_queue(self, config):
        place = {"file": f"{self.work}/state/jobs", "queue": "jobs", "sync": "normal"}
        config["sources"]["take"] = {"use": "queue.take", "to": "main",
                                     "args": place | {"backoff": "1ms"}}
        config["pools"]["put"] = {"use": "queue.put", "size": 1,
                                  "args": place | {"min_free": "0B"}}

    def make_config(self):
        plan = self.plan
        args = plan.source_args | {"paths": [f"{self.work}/in/lines"]}
        if plan.has_positions:
            args |= {"position": f"{self.work}/state/position", "save_every": "2ms"}
        elif plan.source["use"] == "files.lines":
            del args["unsettled"]
        if plan.source["use"] == "files.tail":
            args["poll"] = "2ms"
        config = {
            "version": 1,
            "host": {"name": "pair", "control": f"{self.work}/control",
                     "plugins": [f"{self.build}/plugins", f"{self.build}/tests/plugins"],
                     "dead_letters": {"file": f"{self.work}/state/dead"},
                     "log": {"format": "logfmt"}},
            "dispatchers": {"blocking": {"threads": 8}, "side": {"threads": 2, "budget": 2}},
            "sources": {
                "in": plan.source | {"to": "put" if plan.has_queue else "main", "args": args},
                # The host waits for lines of it, and does not end by itself.
                "more": {"use": "files.tail", "to": "record",
                         "args": {"paths": [f"{self.work}/in/none"]}}},
            "pools": {"main": self.main(),
                      "answers": {"use": "doer.answer", "size": 1},
                      "record": {"use": "file.append", "size": 1,
                                 "args": {"path": f"{self.work}/out"}}}}
        if plan.has_queue:
            self.add_queue(config)
        if plan.lends:
            config["pools"] |= {"lent": self.lent(), "takers": {
                "use": "holder.worker", "size": 3, "args": {"pool": "lent"}}}
        for index, seed in self.changes.items():
            self.pair[index].change(config, dice_of(seed))
        return config

    def write_config(self):
        """JSON is YAML."""
        self.config = self.make_config()
        with open(f"{self.work}/weir.yaml.new", "w", encoding="utf-8") as stream:
            json.dump(self.config, stream, indent=1)
        os.rename(f"{self.work}/weir.yaml.new", f"{self.work}/weir.yaml")

    def leaf_paths(self):
        main = self.config["pools"]["main"]
        names = list(main.get("members", ())) or \
            [str(i) for i in range(main["size"])] if "pool" in main or "members" in main else []
        return [urllib.parse.quote(f"main/{name}", safe="") for name in names] or ["main"]

    def is_elastic(self):
        return isinstance(leaves_of(self.config)[0]["size"], dict)

    # --- lines

    def append(self, number=LINES):
        """More lines: plain ones, and those of the features."""
        words = [PLAIN] + [row.word for row in self.pair if row.word]
        new = [f"L{len(self.lines) + i:04} {self.dice.choice(words)}" for i in range(number)]
        with open(f"{self.work}/in/lines", "a", encoding="ascii") as stream:
            stream.writelines(f"{line}\n" for line in new)
        self.lines += new

    def recorded(self):
        with open(f"{self.work}/out", encoding="ascii", errors="replace") as stream:
            return collections.Counter(stream.read().split("\n")[:-1])

    def dead(self):
        found = collections.Counter()
        for path in glob.glob(f"{self.work}/state/dead*"):
            with open(path, "rb") as stream:
                found.update(match.group() for match in
                             LINE.finditer(stream.read().decode("latin-1")))
        return found

    def unended(self):
        recorded, dead = self.recorded(), self.dead()
        return [line for line in self.lines if recorded[line] + dead[line] < self.plan.copies]

    # --- the host

    def start(self):
        self.hosts += 1
        self.write_config()
        with open(f"{self.work}/log.{self.hosts}", "wb") as log:
            self.process = subprocess.Popen(
                [f"{self.build}/bin/weir", "run", f"{self.work}/weir.yaml"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(lambda: self.process.poll() is not None or self.ask("GET", "readyz")[0] == 200,
              "started")
        must(self.process.poll() is None, f"no start: {self.log()[-600:]}")
        self.is_over = False

    def log(self):
        with open(f"{self.work}/log.{self.hosts}", encoding="utf-8", errors="replace") as stream:
            return stream.read()

    def ask(self, method, path):
        """The status and the body of an answer; 0: none."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
                client.settimeout(LIMIT_S)
                client.connect(f"{self.work}/control")
                client.sendall(f"{method} /{path} HTTP/1.1\r\nHost: weir\r\n\r\n".encode())
                answer = b""
                while piece := client.recv(65536):
                    answer += piece
        except TimeoutError:
            raise Trouble(f"no answer to {method} /{path}") from None
        except OSError:
            return 0, ""
        head, _, body = answer.decode(errors="replace").partition("\r\n\r\n")
        return (int(head.split()[1]) if head else 0), body

    def post(self, path):
        """True when the host has done it. It refuses what another feature has made impossible."""
        status, body = self.ask("POST", path)
        must(status in (0, 200) or 400 <= status < 500 or self.is_over,
             f"POST /{path}: {status} {body}")
        return status == 200

    def reload(self, index, dice):
        """Of the change of one row; that of the other one stays."""
        self.changes[index] = dice.random()
        self.write_config()
        status, body = self.ask("POST", "reload")
        must(status in (0, 200) or self.is_over, f"a reload: {status} {body}")
        return status == 200

    def kill_worker(self, dice):
        path = f"/proc/{self.process.pid}/task"
        found = []
        for name in glob.glob(f"{path}/*/children"):
            try:
                with open(name, encoding="ascii") as stream:
                    found += stream.read().split()
            except OSError:
                continue
        try:
            os.kill(int(dice.choice(found)), signal.SIGKILL)
        except (IndexError, ProcessLookupError):
            return False
        return True

    def status(self):
        status, body = self.ask("GET", "status")
        return json.loads(body) if status == 200 else {"pools": [], "sources": []}

    def has_finished(self):
        """A source that follows files does not end by itself."""
        return self.plan.source["use"] == "files.tail" or any(
            source["name"] == "in" and source["state"] == "ended"
            for source in self.status()["sources"])

    def check_figures(self):
        for pool in pools_of(self.status()["pools"]):
            must(pool["accepted"] == sum(pool[name] for name in SUM),
                 f"figures do not add up: {pool}")

    def end(self, how=signal.SIGTERM, is_last=True):
        """One that is not the last ends among the lines."""
        self.is_over = True
        self.process.send_signal(how)
        try:
            code = self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Trouble("the host does not end") from None
        if how == signal.SIGKILL:
            return
        must(code == 0 or code == EX_TEMPFAIL and not is_last,
             f"exit code {code}: {self.log()[-1500:]}")
        found = re.findall(r'event="?ledger"?.*balance=(\w+)', self.log())
        must(found and set(found) == {"exact"}, f"the ledger: {found}")

    # --- the end

    def await_end(self):
        """Each line has ended, and nothing is left anywhere."""
        def have_ended():
            must(self.process.poll() is None, f"the host ended: {self.log()[-1500:]}")
            return not self.unended()
        try:
            until(have_ended, "all lines")
        except Trouble as trouble:
            raise Trouble(f"{trouble}: {self.unended()}; {self.left()}") from None
        until(self.has_finished, "the source has finished")
        try:
            until(lambda: not self.left(), "at rest")
        except Trouble as trouble:
            raise Trouble(f"{trouble}: {self.left()}") from None

    def left(self):
        return {pool.get("path", pool.get("name")): [pool[name] for name in AT_REST]
                for pool in pools_of(self.status()["pools"]) if any(pool[name] for name in AT_REST)}

    def check_lines(self):
        """Each copy of each line has ended once."""
        recorded, dead, known = self.recorded(), self.dead(), set(self.lines)
        stays = self.plan.has_positions and any(row.stays for row in self.pair)
        dies = stays or any(row.dies for row in self.pair)
        again = stays or any(row.again for row in self.pair)
        odd = [line for line in recorded if line not in known]
        must(not odd or self.plan.is_killed, f"lines that nobody wrote: {odd}")
        must(dies or not dead, f"dead lines: {dict(dead)}")
        for line in self.lines:
            ends = recorded[line] + dead[line]
            must(ends == self.plan.copies or again and ends > self.plan.copies,
                 f"{line}: {recorded[line]} times recorded, {dead[line]} times dead")

    def check_queue(self):
        """What is left in the queue are the dead pieces."""
        done = subprocess.run([f"{self.build}/bin/weir", "queue", f"{self.work}/state/jobs",
                               "export"], capture_output=True, text=True, check=False)
        must(done.returncode == 0, f"weir queue export: {done.stderr}")
        states = collections.Counter(json.loads(line)["state"]
                                     for line in done.stdout.splitlines())
        must(not set(states) - {"dead"}, f"pieces are left: {states}")
        if not any(row.again for row in self.pair) and self.plan.copies == 1:
            dead = len(self.dead())
            must(states["dead"] <= dead, f"{states} pieces, and {dead} dead letters")
