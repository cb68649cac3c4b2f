#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./dev bench http: http.server beside the smallest program on libmicrohttpd and `return 200` of
nginx, by turns in one run. wrk makes the load. With two CPUs or more the servers have one CPU, and
the load has another one.

    gateway.py BUILD [--quick] [--rounds N] [--seconds N] [--slow N] [--idle N] [ROW...]

Rows: peak (requests/s), overload (ten times the capacity), places (three and ten times as many
clients as places), slow (clients that send a byte each second), latency (requests at fixed times,
at half the peak of the slower one of Weir and nginx), idle (memory of connections that wait).
Ratios stand beside their goals. Fails when an answer is wrong, never by the clock.
"""
import argparse
import os
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
CONNECTIONS = 64
ROWS = ("peak", "overload", "places", "slow", "latency", "idle")
PLACES = 100
# Of the row `overload`: workers, messages that wait at each, and what a request takes.
WORKERS, MAILBOX = 8, 8
# What http.server may take, relative to another server: CPU a request, and p99.
CPU_MOST = {"nginx": 1.25, "libmicrohttpd": 1.1}
P99_MOST = {"nginx": 1.1}
GOOD_LEAST = 0.95
IDLE_MOST = 8192  # bytes
KINDS = (("10 ms of waiting", "later", "ms: 10"), ("10 ms of work", "now", "steps: 9000000"))
# wrk sends somewhat less than it is asked for: its connections also wait for answers.
OVERLOAD, OVERLOAD_CONNECTIONS = 12, 400
NGINX = """
daemon off; worker_processes 1; pid {work}/nginx.pid; error_log stderr crit;
events {{ worker_connections 16000; }}
http {{
  access_log off; default_type text/plain; keepalive_requests 1000000000;
  client_body_temp_path {work}/body; proxy_temp_path {work}/proxy; fastcgi_temp_path {work}/fastcgi;
  uwsgi_temp_path {work}/uwsgi; scgi_temp_path {work}/scgi;
  server {{ listen 127.0.0.1:{port}; location / {{ return 200 "hello\\n"; }} }}
}}
"""
WEIR = """
version: 1
host: {{plugins: ["{build}/plugins", "{build}/tests/bench/plugins"], control: "{work}/socket",
       log: {{level: error}}}}
dispatchers: {{default: {{threads: {threads}}}, waiting: {{threads: {workers}}}}}
sources:
  web: {{use: http.server, to: work, args: {{listen: "127.0.0.1:{port}", connections: {places},
        content_type: text/plain, idle: 10m, receive: 10m}}}}
pools: {{work: {{use: answer.{worker}, size: {size}, mailbox: {mailbox}, route: pull{more},
         args: {{{args}}}}}}}
"""


def cpus():
    """The CPUs of the servers and of the load; None: there is one for both."""
    found = sorted(os.sched_getaffinity(0))
    return (found[0], found[-1]) if len(found) > 1 else None


def pinned(command, place):
    on = ["taskset", "-c", str(cpus()[place])] if cpus() else []
    return ["setpriv", "--pdeathsig=KILL", *on, *command]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as stream:
        return stream.read().split()


def cpu_seconds(pid):
    """Of a process and its children."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stream:
        words = stream.read().rsplit(")", 1)[1].split()
    own = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(cpu_seconds(child) for child in children(pid))


class Server:
    """A server of this run, with its port; ended at the end of `with`."""

    def __init__(self, name, make):
        self.name, self.port = name, free_port()
        self.work = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(pinned(make(self.work.name, self.port), 0),
                                        stdin=subprocess.PIPE)

    def __enter__(self):
        while True:
            if self.process.poll() is not None:
                sys.exit(f"{self.name} ended with {self.process.returncode}")
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except ConnectionRefusedError:
                time.sleep(0.02)  # between two looks at a condition

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.work.cleanup()


def weir(options, worker="now", args="", size=1, mailbox=4096, places=16000):
    def make(work, port):
        file = os.path.join(work, "weir.yaml")
        more = ", dispatcher: waiting" if worker == "later" else ""
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(WEIR.format(build=options.build, work=work, port=port, worker=worker,
                                     args=args, size=size, mailbox=mailbox, more=more,
                                     places=places, workers=WORKERS, threads=1 if cpus() else 2))
        return [os.path.join(options.build, "bin", "weir"), "run", file]
    return Server("http.server", make)


def plain(options):
    program = os.path.join(options.build, "bin", "bench_gateway_plain")
    return Server("libmicrohttpd", lambda work, port: [program, str(port)])


def nginx(_):
    def make(work, port):
        file = os.path.join(work, "nginx.conf")
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(NGINX.format(work=work, port=port))
        return ["nginx", "-p", work, "-c", file]
    return Server("nginx", make)


def goal(ratio, most):
    """The ratio, and whether it is reached."""
    return f"{ratio:.2f} (goal {most}: {'reached' if ratio <= most else '**not reached**'})"


def servers():
    """The function that starts each; a peer that is not installed is left out."""
    return [weir, plain] + ([nginx] if shutil.which("nginx") else [])


# --- the load -------------------------------------------------------------------------------------

def read_figures(text):
    """What load.lua printed, as numbers by name, and the requests a second."""
    found = re.search(r"^FIGURES (.*)$", text, re.MULTILINE)
    if not found:
        sys.exit(f"wrk has no figures: {text}")
    figures = {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", found[1])}
    # A machine with much other work may do none in a second.
    figures["rate"] = max(figures["requests"], 1) * 1e6 / figures["us"]
    return figures


def load(server, seconds, connections=CONNECTIONS, rate=0, counts=False, crowds=False):
    """Figures of one run of wrk. With a rate, the connections pause, so that without any latency
    they would send so many requests a second. With `crowds` some may be closed: wrk is not always
    there in time."""
    mean = 1000 * connections / rate if rate else 0
    command = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "-s",
               os.path.join(HERE, "gateway", "load.lua"), f"http://127.0.0.1:{server.port}/", "--",
               str(mean), "count" if counts else "plain"]
    before = cpu_seconds(server.process.pid)
    done = subprocess.run(pinned(command, 1), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"wrk ended with {done.returncode}: {done.stdout}{done.stderr}")
    figures = read_figures(done.stdout)
    figures["cpu_us"] = ((cpu_seconds(server.process.pid) - before) * 1e6 /
                         max(figures["requests"], 1))
    if (figures["broken"] and not crowds) or (figures["failed"] and not counts):
        sys.exit(f"{server.name}: {figures['broken']} requests without an answer, "
                 f"{figures['failed']} answers that are errors")
    return figures


def median(runs, name):
    return statistics.median(run[name] for run in runs)


# --- rows -----------------------------------------------------------------------------------------

def peak(options):
    """Runs of each server, by name; the servers run by turns."""
    runs = {}
    for _ in range(options.rounds):
        for start in servers():
            with start(options) as server:
                runs.setdefault(server.name, []).append(load(server, options.seconds))
    return runs


def print_peak(options):
    runs = peak(options)
    ours = median(runs["http.server"], "cpu_us")
    print(f"\n### Peak: {CONNECTIONS} connections\n\n"
          "| | requests/s | us of CPU a request | http.server takes |\n|---|---|---|---|")
    for name, found in runs.items():
        took = median(found, "cpu_us")
        print(f"| {name} | {median(found, 'rate'):.0f} | {took:.1f} | "
              f"{goal(ours / took, CPU_MOST[name]) if name in CPU_MOST else 1} |", flush=True)


def overload_problem(figures):
    """What is wrong with the answers under overload; empty: nothing."""
    if figures["bare"]:
        return f"{figures['bare']} answers 503 without Retry-After"
    if figures["others"]:
        return f"{figures['others']} answers are neither 200 nor 503"
    return ""


def overload_once(options, worker, args):
    """The capacity, as many requests a second as are answered when none is refused, and the figures
    of ten times as many."""
    with weir(options, worker, args, WORKERS, MAILBOX) as server:
        fits = load(server, options.seconds, connections=WORKERS * MAILBOX // 2, counts=True)
        if fits["refusals"] or fits["bare"] or fits["others"]:
            sys.exit(f"{fits['refusals']} requests that fit were refused")
        # A request that the pool accepts waits for the whole queue, and its connection with it.
        room = WORKERS * (MAILBOX + 1)
        rate = (OVERLOAD * fits["rate"] * OVERLOAD_CONNECTIONS / (OVERLOAD_CONNECTIONS - room))
        over = load(server, options.seconds, OVERLOAD_CONNECTIONS, rate, counts=True)
    problem = overload_problem(over)
    if problem:
        sys.exit(f"overload: {problem}")
    return fits["rate"], over


def print_overload(options):
    print(f"\n### Overload: {WORKERS} workers, {OVERLOAD_CONNECTIONS} connections\n\n"
          "| a request takes | capacity, requests/s | sent | answered with 200 | 503 with "
          "Retry-After |\n|---|---|---|---|---|")
    for text, worker, args in KINDS:
        runs = [overload_once(options, worker, args) for _ in range(options.rounds)]
        capacity = statistics.median(fits for fits, _ in runs)
        sent = statistics.median(over["rate"] / fits for fits, over in runs)
        good = statistics.median(over["answers"] * 1e6 / over["us"] / fits for fits, over in runs)
        refused = sum(over["refusals"] for _, over in runs)
        print(f"| {text} | {capacity:.0f} | {sent:.1f} times the capacity | {good:.3f} of the "
              f"capacity | {refused}, all others 200 |", flush=True)


class Health(threading.Thread):
    """Asks the health path again and again, until the end of `with`; the longest wait, in ms."""

    def __init__(self, server):
        super().__init__()
        self.server, self.over, self.longest = server, threading.Event(), 0

    def run(self):
        while not self.over.wait(0.05):
            begin = time.monotonic()
            with socket.create_connection(("127.0.0.1", self.server.port)) as client:
                client.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                while client.recv(4096):
                    pass
            self.longest = max(self.longest, (time.monotonic() - begin) * 1000)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


def print_places(options):
    """The same workers wait 10 ms for each request; clients ask on kept connections, without a
    pause, and those beyond the places begin again."""
    text, worker, args = KINDS[0]
    counts = (CONNECTIONS, 3 * PLACES, 10 * PLACES)
    runs = {count: [] for count in counts}
    for _ in range(options.rounds):
        for count, found in runs.items():
            with weir(options, worker, args, WORKERS, MAILBOX, PLACES) as server, \
                    Health(server) as health:
                found.append(load(server, options.seconds, count, counts=True, crowds=True))
            found[-1]["health"] = health.longest
            problem = overload_problem(found[-1])
            if problem:
                sys.exit(f"places: {problem}")
    print(f"\n### More clients than places: {WORKERS} workers, {PLACES} places, {text}\n\n"
          "| clients | answered with 200, a second | of the peak | 503 with Retry-After | closed "
          "for their silence | longest wait, ms | of health |\n|---|---|---|---|---|---|---|")
    good = {count: statistics.median(run["answers"] * 1e6 / run["us"] for run in found)
            for count, found in runs.items()}
    for count, rate in good.items():
        share = rate / good[CONNECTIONS]
        print(f"| {count} | {rate:.0f} | {share:.3f} (goal {GOOD_LEAST}: "
              f"{'reached' if share >= GOOD_LEAST else '**not reached**'}) | "
              f"{sum(run['refusals'] for run in runs[count])}, all others 200 | "
              f"{sum(run['broken'] for run in runs[count])} | "
              f"{max(run['max'] for run in runs[count]) / 1000:.0f} | "
              f"{max(run['health'] for run in runs[count]):.0f} |", flush=True)


class SlowClients:
    """Connections that send a byte of a request each second until the end of `with`."""

    def __init__(self, server, count):
        self.sockets = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(count)]
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.send)

    def send(self):
        for one in self.sockets:
            one.sendall(b"POST / HTTP/1.1\r\nHost: slow\r\nContent-Length: 100000\r\n\r\n")
        while not self.over.wait(1):
            for one in self.sockets:
                one.sendall(b"x")

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        for one in self.sockets:
            one.setblocking(False)
            try:
                lost = one.recv(1) is not None
            except BlockingIOError:
                lost = False
            if lost:
                sys.exit("a slow client was answered or closed")
            one.close()


def print_slow(options):
    """By turns without and with slow clients, at full load and at half the load."""
    found = {}
    with weir(options) as server:
        rate = load(server, options.seconds)["rate"] / 2
        for _ in range(options.rounds):
            for count in (0, options.slow):
                with SlowClients(server, count):
                    found.setdefault((count, "full"), []).append(load(server, options.seconds))
                    found.setdefault((count, "half"), []).append(
                        load(server, options.seconds, rate=rate))
    print("\n### Slow clients\n\n| slow clients | requests/s at full load | p50 at half load, us "
          "| p99 |\n|---|---|---|---|")
    for count in (0, options.slow):
        half = found[count, "half"]
        print(f"| {count} | {median(found[count, 'full'], 'rate'):.0f} | {median(half, 'p50'):.0f} "
              f"| {median(half, 'p99'):.0f} |", flush=True)


def offer(options, server, rate):
    """Requests at fixed times: figures of one run."""
    command = [os.path.join(options.build, "bin", "bench_gateway_offer"), str(server.port),
               str(rate), str(options.seconds), str(CONNECTIONS)]
    done = subprocess.run(pinned(command, 1), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{server.name}: the offer ended with {done.returncode}: {done.stderr}")
    figures = read_figures(done.stdout)
    if figures["failed"]:
        sys.exit(f"{server.name}: {figures['failed']} answers are errors")
    return figures


def print_latency(options):
    starts = [weir] + ([nginx] if shutil.which("nginx") else [])
    peaks, runs = {}, {}
    for _ in range(options.rounds):
        for start in starts:
            with start(options) as server:
                peaks.setdefault(server.name, []).append(load(server, options.seconds))
    rate = int(min(median(found, "rate") for found in peaks.values()) / 2)
    for _ in range(options.rounds):
        for start in starts:
            with start(options) as server:
                runs.setdefault(server.name, []).append(offer(options, server, rate))
    ours = median(runs["http.server"], "p99")
    print(f"\n### Latency: {rate} requests/s at fixed times, half of the slower peak, us\n\n"
          "| | p50 | p90 | p99 | p99.9 | p99 of http.server |\n|---|---|---|---|---|---|")
    for name, found in runs.items():
        ratio = ours / max(median(found, "p99"), 1)
        print(f"| {name} | " +
              " | ".join(f"{median(found, p):.0f}" for p in ("p50", "p90", "p99", "p999")) +
              f" | {goal(ratio, P99_MOST[name]) if name in P99_MOST else 1} |", flush=True)


def resident(pid):
    """Bytes of a process and its children."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as stream:
        own = int(re.search(r"^Rss: +(\d+) kB$", stream.read(), re.MULTILINE)[1]) * 1024
    return own + sum(resident(child) for child in children(pid))


def ask_once(server):
    """A connection that has had an answer, and waits."""
    client = socket.create_connection(("127.0.0.1", server.port))
    client.sendall(b"GET / HTTP/1.1\r\nHost: idle\r\n\r\n")
    answer = b""
    while not answer.endswith(b"hello\n"):
        piece = client.recv(4096)
        if not piece:
            sys.exit(f"{server.name} closes a connection")
        answer += piece
    return client


def print_idle(options):
    print(f"\n### Memory of {options.idle} idle connections\n\n"
          "| | bytes each |\n|---|---|")
    for start in [weir] + ([nginx] if shutil.which("nginx") else []):
        with start(options) as server:
            clients = [ask_once(server) for _ in range(100)]
            before = resident(server.process.pid)
            clients += [ask_once(server) for _ in range(options.idle)]
            each = (resident(server.process.pid) - before) / options.idle
            for client in clients:
                client.close()
        reached = "reached" if each <= IDLE_MOST else "**not reached**"
        print(f"| {server.name} | {each:.0f}" +
              (f" (goal {IDLE_MOST}: {reached}) |" if start is weir else " |"), flush=True)


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench http")
    parser.add_argument("build")
    parser.add_argument("--quick", action="store_true", help="three rounds of a second each")
    parser.add_argument("--rounds", type=int, help="5 by default")
    parser.add_argument("--seconds", type=int, help="of each load; 5 by default")
    parser.add_argument("--slow", type=int, default=1000, help="slow clients")
    parser.add_argument("--idle", type=int, default=10000, help="idle connections")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=" ".join(ROWS))
    options = parser.parse_intermixed_args()
    options.build = os.path.abspath(options.build)
    options.rounds = options.rounds or (3 if options.quick else 5)
    options.seconds = options.seconds or (1 if options.quick else 5)
    options.rows = options.rows or ROWS
    if set(options.rows) - set(ROWS):
        parser.error(f"the rows are {' '.join(ROWS)}")
    return options


def main():
    options = parse()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    if cpus():
        os.sched_setaffinity(0, set(cpus()))
    print(f"{options.rounds} rounds of {options.seconds} s by turns, " +
          ("one CPU for the servers, one for the load" if cpus() else "one CPU"), flush=True)
    tables = {"peak": print_peak, "overload": print_overload, "places": print_places,
              "slow": print_slow, "latency": print_latency, "idle": print_idle}
    for row in ROWS:
        if row in options.rows:
            tables[row](options)


if __name__ == "__main__":
    main()
