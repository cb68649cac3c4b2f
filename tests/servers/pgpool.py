#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a pool of connections to a real PostgreSQL is used by one holder at a time, and no
        transfer of the bank is lost or made twice, while holders crash, are killed, end, return
        early or never, backends are terminated, the server is restarted, the pool is resized and
        reloaded, and the host is killed; and a group of pools goes on with one of its two nodes.
        Shows promise P32 and promise P37.
Method: transfers have numbers, which the database keeps; a second user of the pool makes money in
        transactions that it never commits. What is in the accounts must be what the kept transfers
        say. Each statement names its lease in a remark, and the server's log shows in which session
        it ran: a session serves one lease after the other, and is cleaned in between. A node of the
        group is a symbolic link to the server's socket: without it no connection opens.

    pgpool.py BUILD TREE [--long] [--seed N]
"""
import argparse
import collections
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from postgres import Server  # noqa: E402

ACCOUNTS = 100
BALANCE = 1000
TROUBLES = 6
ENDLESS = 10**9

# What the accounts hold, beside what the transfers say that they hold.
WRONG_ACCOUNTS = f"""
SELECT id, balance, {BALANCE}
    + (SELECT coalesce(sum(amount), 0) FROM transfers WHERE target = accounts.id)
    - (SELECT coalesce(sum(amount), 0) FROM transfers WHERE source = accounts.id)
FROM accounts WHERE balance <> {BALANCE}
    + (SELECT coalesce(sum(amount), 0) FROM transfers WHERE target = accounts.id)
    - (SELECT coalesce(sum(amount), 0) FROM transfers WHERE source = accounts.id)
"""
RESTART = "restart: {max: 1000, within: 1s, backoff: 10ms..200ms}"
FILE = """
version: 1
host: {plugins: [PLUGINS], control: CONTROL}
pools:
  db: CONNECTIONS
  bank: {use: pgpool.bank, size: 12, RESTART, args: {connections: db}}
  TROUBLE
sources:
  orders:
    use: pgpool.orders
    args: {count: COUNT, accounts: ACCOUNTS, amount_max: 300, seed: SEED}
    rate: 500/s
    to: bank
"""
POOL = """
    use: pgpool.connection
    size: {min: 2, max: SIZE}
    scale: {wait: 0ms, idle: 1s}
    route: pull
    lease: {timeout: 1s, queue: 100}
    remove: {timeout: 5s}
    RESTART
    args: {conninfo: "CONNINFO application_name=RUN"}
"""
GROUP = """
    route: least_loaded
    lease: {timeout: 1s, queue: 100}
    members:
      one: &node
        use: pgpool.connection
        size: {min: 2, max: 4}
        min_ready: 0
        scale: {wait: 0ms, idle: 1s}
        RESTART
        args: {conninfo: "host=NODES/one user=weir dbname=postgres application_name=one"}
      two:
        <<: *node
        args: {conninfo: "host=NODES/two user=weir dbname=postgres application_name=two"}
"""
TROUBLE = f"trouble: {{use: trouble.user, size: 2, {RESTART}, args: {{connections: db}}}}"
TROUBLE_SOURCE = "  trouble: {use: gen.forever, rate: {messages: 20, per: 1s, burst: 1}, " \
                 "to: trouble}\n"


def check(condition, what):
    if not condition:
        raise SystemExit(f"FAIL: {what}")


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    check(done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


class Installed:
    """Weir, the example and the plugin of this test, built as a stranger would."""

    def __init__(self, build, tree, work):
        with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as stream:
            cache = dict(re.findall(r"^(\w+):\w+=(.*)$", stream.read(), re.M))
        self.cmake = cache["CMAKE_COMMAND"]
        self.compiler = cache["CMAKE_C_COMPILER"]
        self.flags = cache["CMAKE_C_FLAGS"]
        self.prefix = os.path.join(work, "prefix")
        run(self.cmake, "--install", build, "--prefix", self.prefix)
        self.weir = os.path.join(self.prefix, "bin", "weir")
        shutil.copytree(os.path.join(tree, "examples", "pgpool"), os.path.join(work, "pgpool"))
        shutil.copytree(os.path.join(tree, "tests", "servers", "trouble"),
                        os.path.join(work, "trouble"))
        self.plugins = [self.build(work, "pgpool"),
                        self.build(work, "trouble", f"-DTREE={tree}")]
        run(self.cmake, "-E", "chdir", os.path.join(work, "build", "pgpool"), "./test_pgpool")

    def build(self, work, name, *more):
        folder = os.path.join(work, "build", name)
        run(self.cmake, "-G", "Ninja", "-S", os.path.join(work, name), "-B", folder,
            f"-DCMAKE_C_COMPILER={self.compiler}", f"-DCMAKE_C_FLAGS={self.flags}",
            f"-DCMAKE_PREFIX_PATH={self.prefix}", *more)
        run(self.cmake, "--build", folder)
        return os.path.join(folder, "plugins")


class Host:
    def __init__(self, installed, work, name, settings):
        self.installed = installed
        self.file = os.path.join(work, f"{name}.yaml")
        self.log = os.path.join(work, f"{name}.log")
        self.printed = os.path.join(work, f"{name}.printed")
        self.settings = {"PLUGINS": ", ".join(installed.plugins), "RUN": name,
                         "CONTROL": os.path.join(work, f"{name}.sock"), "RESTART": RESTART,
                         "ACCOUNTS": str(ACCOUNTS), "TROUBLE": "", "SIZE": "6",
                         "CONNECTIONS": POOL, **settings}
        self.process = None
        self.code = None

    def write(self, **changes):
        self.settings.update(changes)
        text = FILE + (TROUBLE_SOURCE if self.settings["TROUBLE"] else "")
        for word in sorted(self.settings, key=len, reverse=True):
            text = re.sub(rf"\b{word}\b", self.settings[word], text)
        with open(self.file, "w", encoding="utf-8") as stream:
            stream.write(text)

    def start(self):
        self.write()
        with open(self.log, "w", encoding="utf-8") as log, \
                open(self.printed, "w", encoding="utf-8") as printed:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig=KILL", self.installed.weir,
                                             "run", self.file], stderr=log, stdout=printed,
                                            stdin=subprocess.DEVNULL)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def command(self, *words):
        return subprocess.run([self.installed.weir, words[0], "--file", self.file, *words[1:]],
                              capture_output=True, text=True, check=False)

    def pool(self, path):
        done = self.command("status", path, "--output", "json")
        check(done.returncode == 0, f"status {path}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def until(self, condition, what):
        """No limit but the host's end."""
        while not condition():
            try:
                code = self.process.wait(0.02)
            except subprocess.TimeoutExpired:
                continue
            raise SystemExit(f"FAIL: {what}: the host ended with {code}: {self.end_of_log()}")

    def end_of_log(self):
        return read(self.log)[-4000:]

    def finish(self, *expected):
        code = self.code = self.process.wait()
        self.process = None
        check(code in expected, f"exit code {code}, not {expected}: {self.end_of_log()}")
        log = read(self.log)
        check("balance=wrong" not in log, "the ledger does not balance")
        check('event="late use"' not in log, "a lease that was over was used")


# --- failures ----------------------------------------------------------------------------------

class Storm:
    def __init__(self, installed, server, work, options):
        self.installed = installed
        self.server = server
        self.work = work
        self.options = options
        self.rng = random.Random(options.seed)
        self.scale = 20 if options.long else 1
        self.seen = collections.Counter()
        self.nodes = None  # a folder

    @contextlib.contextmanager
    def host(self, name, **settings):
        host = Host(self.installed, self.work, name,
                    {"CONNINFO": self.server.conninfo, "SEED": str(self.options.seed), **settings})
        host.start()
        try:
            yield host
        finally:
            host.kill()

    def made(self):
        return self.server.number("SELECT count(*) FROM transfers")

    def more_made(self, host, count, what):
        wanted = self.made() + count
        host.until(lambda: self.made() >= wanted, what)

    # Each fault returns True when it has happened.

    def terminate(self, host):
        """The backend may be in the middle of a transaction, or idle."""
        limit = self.rng.choice((1, 100))
        return self.server.number(
            "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE "
            f"application_name = '{host.settings['RUN']}' ORDER BY random() LIMIT {limit}) chosen")

    def restart_server(self, how):
        self.server.stop(how)
        self.server.start()
        return True

    def restart_politely(self, _):
        return self.restart_server(signal.SIGINT)

    def crash_server(self, _):
        return self.restart_server(signal.SIGQUIT)

    def restart_holders(self, host):
        return host.command("restart", "bank").returncode == 0

    def restart_members(self, host):
        """65: some were leased for longer than `remove.timeout`."""
        return host.command("restart", "db").returncode in (0, 65)

    def resize(self, host):
        return host.command("scale", "db", str(self.rng.randint(2, 4))).returncode == 0

    def reload(self, host):
        """Another number of connections, and in the end the law is in force again."""
        host.write(SIZE=str(self.rng.randint(4, 8)))
        return host.command("reload").returncode == 0

    def troubles(self, host):
        """How often each kind of trouble was made, with money."""
        kinds = re.findall(r'event="trouble" kind=(\d) money=OK', read(host.log))
        return collections.Counter(kinds)

    def run_until_killed(self):
        with self.host("first", COUNT=str(ENDLESS)) as host:
            self.more_made(host, 50 * self.scale, "the first transfers")

    def run_with_faults(self):
        faults = [self.terminate, self.restart_politely, self.crash_server, self.restart_holders,
                  self.restart_members, self.resize, self.reload] * self.scale
        self.rng.shuffle(faults)
        with self.host("second", COUNT=str(ENDLESS), TROUBLE=TROUBLE) as host:
            for fault in faults:
                self.more_made(host, 20, f"transfers before {fault.__name__}")
                print(f"pgpool: {fault.__name__}", flush=True)
                host.until(lambda fault=fault: fault(host), fault.__name__)
                self.seen[fault.__name__] += 1
            host.until(lambda: len(self.troubles(host)) == TROUBLES, "each trouble")
            self.more_made(host, 20, "transfers in the end")
            self.seen.update({f"trouble {kind}": count
                              for kind, count in self.troubles(host).items()})
            revoked = read(host.log).count('event="lease is revoked"')
            check(revoked > 0, "no lease was revoked")
            self.seen["revoked"] = revoked
            host.process.send_signal(signal.SIGTERM)
            host.finish(75)

    def node_up(self, name):
        os.symlink(self.server.folder, os.path.join(self.nodes, name))

    def node_down(self, name):
        """No new connection opens, and those that are open end."""
        os.unlink(os.path.join(self.nodes, name))
        self.server.execute("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                            f"WHERE application_name = '{name}'")

    def sessions(self, name):
        return self.server.number(
            f"SELECT count(*) FROM pg_stat_activity WHERE application_name = '{name}'")

    def node_serves(self, host, name):
        """Takers of the group get connections of this pool, and the server sees their sessions."""
        begun = host.pool(f"db/{name}")["leases"]["begun"]
        host.until(lambda: host.pool(f"db/{name}")["leases"]["begun"] > begun + 20,
                   f"{name} serves")
        check(self.sessions(name) > 0, f"the server has no session of {name}")

    def run_with_a_group(self):
        """One node is down at the start, then the other."""
        self.nodes = os.path.join(self.work, "nodes")
        os.mkdir(self.nodes)
        self.node_up("one")
        with self.host("group", COUNT=str(ENDLESS), CONNECTIONS=GROUP, NODES=self.nodes) as host:
            self.more_made(host, 20, "transfers by the first node")
            shown = host.pool("db/two")
            check(shown["live"] == 0 and shown["leases"]["begun"] == 0, f"two is down: {shown}")
            self.node_up("two")
            self.node_serves(host, "two")
            self.node_down("one")
            host.until(lambda: host.pool("db/one")["live"] == 0, "one is down")
            self.more_made(host, 20, "transfers by the second node")
            self.node_serves(host, "two")
            self.node_up("one")
            self.node_serves(host, "one")
            self.more_made(host, 20, "transfers by both")
            self.seen.update({f"leases of {name}": host.pool(f"db/{name}")["leases"]["begun"]
                              for name in ("one", "two")})
            host.process.send_signal(signal.SIGTERM)
            host.finish(75)

    def run_to_the_end(self):
        """All transfers up to the last that was begun, whatever became of them before."""
        count = self.server.number("SELECT max(id) + 1 FROM transfers")
        with self.host("third", COUNT=str(count)) as host:
            host.finish(0, 65)
            found = re.fullmatch(r"(\d+) transfers made, (\d+) refused\n", read(host.printed))
            check(found, f"printed: {read(host.printed)}")
            made, refused = map(int, found.groups())
            check((refused > 0) == (host.code == 65), "the exit code says what was refused")
        check(made + refused == count, f"{made} made and {refused} refused, of {count}")
        check(made == self.made(), f"{made} made, but the table has {self.made()}")
        return made, refused

    def run(self):
        self.run_until_killed()
        self.run_with_faults()
        self.run_with_a_group()
        return self.run_to_the_end()


# --- what the server saw -------------------------------------------------------------------------

STATEMENT = re.compile(
    r"^(\S+) (first|second|third|one|two) LOG:  (?:statement|execute [^:]*): (.*)$", re.M)
LEASE = re.compile(r"/\* (\S+) lease=(\d+) \*/")


def check_sessions(log):
    """Each lease has one session, and each session one lease at a time, cleaned in between."""
    session_of, lease_of, unclean = {}, {}, {}
    check("late */" not in log, "a statement of a lease that was over reached the server")
    for session, run_name, statement in STATEMENT.findall(log):
        named = LEASE.search(statement)
        if not named:
            if "DISCARD ALL" in statement:
                unclean.pop(session, None)
            continue
        lease = (run_name, *named.groups())
        check(session_of.setdefault(lease, session) == session,
              f"lease {lease} in sessions {session_of[lease]} and {session}")
        check(unclean.setdefault(session, lease) == lease,
              f"session {session}: {lease} goes on where {unclean[session]} has ended")
        lease_of.setdefault(session, set()).add(lease)
    return len(session_of), len(lease_of)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("tree")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("FAIL: terminated"))
    print(f"pgpool: seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="weir-pgpool-") as work:
        os.chmod(work, 0o755)  # the server is another user
        installed = Installed(os.path.abspath(options.build), os.path.abspath(options.tree), work)
        with Server(os.path.join(work, "server")) as server:
            server.execute(read(os.path.join(options.tree, "examples", "pgpool", "bank.sql")))
            storm = Storm(installed, server, work, options)
            made, refused = storm.run()
            wrong = server.execute(WRONG_ACCOUNTS)
            check(not wrong, f"accounts (id, balance, what the transfers say): {wrong}")
            total = server.number("SELECT sum(balance) FROM accounts")
            check(total == ACCOUNTS * BALANCE, f"the sum is {total}")
        leases, sessions = check_sessions(server.read_log())
    check(leases >= made and sessions > 0, f"{leases} leases seen for {made} transfers")
    print(f"pgpool: {made} transfers made, {refused} refused; {leases} leases in {sessions} "
          f"sessions of the server, one at a time; {json.dumps(dict(sorted(storm.seen.items())))}")


if __name__ == "__main__":
    main()
