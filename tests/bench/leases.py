#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./dev bench leases: one job with leases of libweir and with its peers, by turns in one run.
First, members without a use are taken and returned, beside an array behind a mutex and a condition
variable; then threads ask workers, beside threads that serve a line of requests. Then each use is a
transaction with a PostgreSQL of this run: by examples/pgpool, whose users are workers, on the
dispatcher of the connections and on another one, or threads outside; by such an array of
connections, through PgBouncer, by a connection for each user, and by a new one for each
transaction. Prints the time of a round and the ratio of the peers to Weir. Fails when a use is
missing in the database, never by the clock.

    leases.py LIBRARY TREE FOLDER [--rounds N] [--divide N]
"""
import argparse
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "servers"))
import peers  # noqa: E402
from postgres import Server  # noqa: E402

SOURCES = os.path.join(HERE, "leases")
BARE = ((1, 5), (2, 5), (16, 5), (8, 2))  # users and members: enough for all, then too few
ASKED = ((1, 1), (16, 4))        # users and members that answer them
USERS, MEMBERS = 8, 4            # of the database
ROUNDS_BARE, ROUNDS_DATABASE, ROUNDS_NEW = 40000, 1000, 100  # of each user

TABLES = f"""
CREATE TABLE accounts (id int PRIMARY KEY, balance bigint NOT NULL, uses bigint NOT NULL)
    WITH (fillfactor = 50);
INSERT INTO accounts SELECT id, 0, 0 FROM generate_series(0, {2 * USERS - 1}) id;
"""
BOUNCER = """
[databases]
postgres = host={server} dbname=postgres user=weir pool_size={members}
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
pool_mode = transaction
auth_type = any
max_client_conn = 100
logfile = {folder}/log
"""


def pq_flags():
    done = subprocess.run(["pkg-config", "--cflags", "--libs", "libpq"], capture_output=True,
                          text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else None


def build(options):
    """{name: program}; without libpq there are none for the database."""
    library, tree = os.path.abspath(options.library), os.path.abspath(options.tree)
    weir = ["-I", os.path.join(tree, "sdk", "include"), "-L", library, "-lweir", "-pthread",
            f"-Wl,-rpath,{library}"]
    commands = {"weir": ["weir.c", *weir], "mutex": ["mutex.c", "-pthread"],
                "requests": ["requests.c", "-pthread"]}
    if pq_flags() is None:
        print("absent: libpq (Debian: libpq-dev); so there is no database here")
    else:
        example = [os.path.join(tree, "examples", "pgpool", f"{name}.c")
                   for name in ("connection", "query")]
        commands["pgpool"] = ["-DWITH_PGPOOL", "-I", tree, "weir.c", *example, *pq_flags(), *weir]
        commands["libpq"] = ["libpq.c", *pq_flags(), "-pthread"]
    programs = {}
    for name, words in commands.items():
        programs[name] = os.path.join(os.path.abspath(options.folder), f"leases-{name}")
        done = subprocess.run([*peers.C, *words, "-o", programs[name]], cwd=SOURCES,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{name} cannot be built: {done.stderr}")
    return programs


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=300)
    found = re.fullmatch(r"each=([\d.]+) p50=(\d+) p99=(\d+) ok=1\n", done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(f"{program} {arguments}: {done.returncode}: {done.stdout}{done.stderr}")
    return tuple(map(float, found.groups()))


def median(values):
    return sorted(values)[len(values) // 2]


def compare(title, rows, options):
    """rows: {name: function that runs it}; the first is the one that others are compared with."""
    figures = {name: [] for name in rows}
    for _ in range(options.rounds):
        for name, function in rows.items():
            figures[name].append(function())
    print(f"{title}, median of {options.rounds} rounds")
    medians = {name: [median(one) for one in zip(*runs)] for name, runs in figures.items()}
    ours = next(iter(medians.values()))
    for name, (each, p50, p99) in medians.items():
        print(f"  {name:28} {each / 1000:9.2f} us a round ({each / ours[0]:5.2f} x), "
              f"{1e6 / each:8.1f} thousand/s   latency p50 {p50 / 1000:9.2f} us, "
              f"p99 {p99 / 1000:9.2f} us")


def compare_bare(programs, options):
    each = max(1, ROUNDS_BARE // options.divide)
    for users, members in BARE:
        compare(f"take and return: {users} users, {members} members",
                {"weir, workers": lambda: run(programs["weir"], "workers", users, members, each),
                 "weir, threads": lambda: run(programs["weir"], "threads", users, members, each),
                 "mutex and condition, threads":
                     lambda: run(programs["mutex"], "-", users, members, each),
                 "the same, in the order of takers":
                     lambda: run(programs["mutex"], "line", users, members, each)}, options)


def compare_requests(programs, options):
    each = max(1, ROUNDS_BARE // options.divide)
    for users, members in ASKED:
        compare(f"requests of threads outside: {users} users, {members} members",
                {"weir": lambda: run(programs["weir"], "requests", users, members, each),
                 "mutex and condition":
                     lambda: run(programs["requests"], "-", users, members, each)}, options)


# --- the database --------------------------------------------------------------------------------

def bouncer_program(folder):
    """Of the machine, or the one that ./dev has unpacked there."""
    found = glob.glob(os.path.join(os.path.abspath(folder), "pgbouncer", "usr", "sbin",
                                   "pgbouncer"))
    return shutil.which("pgbouncer") or (found[0] if found else None)


class Bouncer:
    """PgBouncer at a socket of its own; `conninfo` is None where there is none."""

    def __init__(self, program, server, folder):
        self.conninfo = None
        self.process = None
        if not program:
            print("absent: pgbouncer")
            return
        os.makedirs(folder)
        settings = os.path.join(folder, "ini")
        with open(settings, "w", encoding="utf-8") as stream:
            stream.write(BOUNCER.format(server=server.folder, members=MEMBERS, folder=folder))
        os.chown(folder, os.stat(server.folder).st_uid, os.stat(server.folder).st_gid)
        self.process = subprocess.Popen([*server.words, program, settings],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.conninfo = f"host={folder} port=6432 user=weir dbname=postgres"
        psql = os.path.join(server.programs, "psql")
        while subprocess.run([psql, "-XAtqc", "SELECT 1", self.conninfo], capture_output=True,
                             check=False).returncode != 0:
            if self.process.poll() is not None:
                sys.exit(f"pgbouncer ended with {self.process.returncode}")

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()


def compare_database(programs, server, bouncer, options):
    each = max(1, ROUNDS_DATABASE // options.divide)
    new = max(1, ROUNDS_NEW // options.divide)
    done = []

    def job(program, how, conninfo, rounds=each):
        done.append(USERS * rounds)
        return run(programs[program], how, USERS, MEMBERS, rounds, conninfo)

    rows = {"weir, workers beside members": lambda: job("pgpool", "near", server.conninfo),
            "weir, workers": lambda: job("pgpool", "workers", server.conninfo),
            "weir, threads": lambda: job("pgpool", "threads", server.conninfo),
            "array of connections": lambda: job("libpq", "shared", server.conninfo)}
    if bouncer.conninfo:
        rows["PgBouncer"] = lambda: job("libpq", "own", bouncer.conninfo)
    rows[f"{USERS} own connections"] = lambda: job("libpq", "own", server.conninfo)
    rows["a new connection each"] = lambda: job("libpq", "new", server.conninfo, new)
    compare(f"transactions of four statements: {USERS} users, {MEMBERS} connections", rows, options)
    uses, total = server.execute("SELECT sum(uses), sum(balance) FROM accounts")[0]
    if int(uses) != 2 * sum(done) or int(total) != 0:
        sys.exit(f"{uses} uses of {2 * sum(done)}, balance {total}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("tree")
    parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--divide", type=int, default=1)
    options = parser.parse_args()
    programs = build(options)
    compare_bare(programs, options)
    compare_requests(programs, options)
    if "libpq" not in programs:
        return
    with tempfile.TemporaryDirectory(prefix="weir-leases-") as work:
        os.chmod(work, 0o755)
        with Server(os.path.join(work, "server"), "log_statement = none\n") as server:
            server.execute(TABLES)
            bouncer = Bouncer(bouncer_program(options.folder), server,
                              os.path.join(work, "bouncer"))
            try:
                compare_database(programs, server, bouncer, options)
            finally:
                bouncer.stop()


if __name__ == "__main__":
    main()
