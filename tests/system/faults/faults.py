#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   one call that the system refuses, whichever it is, never crashes a host and never stops
        it: the start fails with a reason, or the host goes on, its ledger is exact, it leaves no
        process, descriptor or file, and over a restart each line comes, and once. Shows promise
        B133.
Method: a host with followed files, a child of exec.pipe, workers in processes, a queue in a file,
        leases and two reloads runs again and again. In each run one call fails, the nth of its
        kind (nth_call.c): n counts up to 300 and is drawn beyond. A second host without a fault
        goes on where the first one ended.

    faults.py BUILD [--calls N] [--drawn N] [--seed N] [--sample N] [--only N] [--keep] [KIND...]
"""
import argparse
import collections
import concurrent.futures
import ctypes
import glob
import json
import mmap
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

KINDS = ("memory", "map", "thread", "futex", "eventfd", "epoll", "open", "read", "write", "sync",
         "rename", "plugin", "process", "socket", "accept", "file")
RECORD = struct.Struct("=32sQQII32s")
FILES = ("a", "b", "c")     # of lines, by way: a child, a process, the queue and leases
# Whose lines a worker has in hand, by its pool or source.
IN_HAND = {"a": "a", "b": "b", "c": "c", "child": "a", "jail": "b", "put": "c", "take": "c",
           "takers": "c", "lent": "c", "record": "abc"}
LINES = 12                  # of each file before a reload, and again after it
LIMIT_S = 45                # of any wait: files.tail looks at a file again within half a minute
EX_IOERR = 74
SUBREAPER = 36              # PR_SET_CHILD_SUBREAPER
CHILD = r"""printf '{"frame":"ready","revision":2}\n' >&4
while read -r line <&3; do
  case $line in
  *'"frame":"message"'*) text=${line#*'"data":"'}
    printf '{"frame":"out","data":"%s"}\n{"frame":"done"}\n' "${text%%'"'*}" >&4 ;;
  *'"frame":"close"'*) exit 0 ;;
  esac
done"""
CONFIG = """\
version: 1
host: {{name: faults, plugins: [{plugins}], control: {work}/control, shutdown_timeout: 30s,
  dead_letters: {{file: {work}/state/dead}}, log: {{format: logfmt}}}}
dispatchers: {{blocking: {{threads: {threads}}}}}
sources:
  a: {{use: files.tail, to: child, args: {{paths: ['{work}/in/a'], position: {work}/state/a,
      poll: 5ms, save_every: 10ms}}}}
  b: {{use: files.tail, to: jail, args: {{paths: ['{work}/in/b'], position: {work}/state/b,
      poll: 5ms, save_every: 10ms}}}}
  c: {{use: files.tail, to: put, args: {{paths: ['{work}/in/c'], position: {work}/state/c,
      poll: 5ms, save_every: 10ms}}}}
  take: {{use: queue.take, to: takers,
      args: {{file: {work}/state/jobs, queue: jobs, backoff: 10ms}}}}
pools:
  child: {{use: exec.pipe, size: {size}, restart: {restart}, redeliver: 3, outputs: {{out: record}},
      args: {{command: [sh, {work}/child.sh], frames: json}}}}
  jail: {{use: relay.pass, size: {size}, isolation: process, restart: {restart}, redeliver: 3,
      outputs: {{out: record}}}}
  put: {{use: queue.put, size: 1, restart: {restart}, redeliver: 3,
      args: {{file: {work}/state/jobs, queue: jobs, min_free: 0B}}}}
  takers: {{use: holder.worker, size: {size}, args: {{pool: lent}}, restart: {restart},
      redeliver: 3}}
  lent: {{use: relay.pass, size: {{min: {size}, max: 4}}, restart: {restart}, redeliver: 3,
      lease: {{timeout: 10s}}, outputs: {{out: record}}}}
  record: {{use: file.append, size: 1, restart: {restart}, redeliver: 3,
      args: {{path: '{work}/out'}}}}
{more}"""
RESTART = "{backoff: 1ms..10ms}"
SHAPES = ({"threads": 4, "size": 1, "more": ""},
          {"threads": 5, "size": 2,
           "more": "  extra: {use: relay.pass, size: 2, outputs: {out: none}}\n"})


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


class Fault:
    """The record that nth_call.c shares."""

    def __init__(self, path, kind, nth):
        with open(path, "wb") as stream:
            stream.write(RECORD.pack(kind.encode(), nth, 0, 0, 0, b""))
        with open(path, "r+b") as stream:
            self.map = mmap.mmap(stream.fileno(), RECORD.size)

    def read(self):
        """The call that failed, how many there were, the descriptors of the host at its end."""
        _, _, count, _, descriptors, name = RECORD.unpack(self.map[:])
        return name.rstrip(b"\0").decode(), count, descriptors


class World:
    """A folder, and hosts that run in it one after another."""

    def __init__(self, build, work):
        self.build, self.work = build, work
        self.written, self.process, self.hosts = 0, None, 0
        for folder in ("in", "state", "tmp"):
            os.mkdir(f"{work}/{folder}", 0o700)
        with open(f"{work}/child.sh", "w", encoding="ascii") as stream:
            stream.write(CHILD)
        self.shape(0)

    def shape(self, number):
        plugins = f"{self.build}/plugins, {self.build}/tests/plugins"
        text = CONFIG.format(plugins=plugins, work=self.work, restart=RESTART,
                             **SHAPES[number])
        with open(f"{self.work}/weir.yaml.new", "w", encoding="utf-8") as stream:
            stream.write(text)
        os.rename(f"{self.work}/weir.yaml.new", f"{self.work}/weir.yaml")

    def append(self):
        """More lines in each file."""
        for name in FILES:
            with open(f"{self.work}/in/{name}", "a", encoding="ascii") as stream:
                stream.writelines(f"{name}{self.written + i:04}\n" for i in range(LINES))
        self.written += LINES

    def start(self, fault=None):
        self.hosts += 1
        variables = {**os.environ, "TMPDIR": f"{self.work}/tmp"}
        if fault:
            variables |= {"WEIR_TEST_FAULT": fault, "LD_PRELOAD":
                          f"{self.build}/tests/system/faults/libweir_nth_call.so"}
        with open(f"{self.work}/log.{self.hosts}", "wb") as log:
            self.process = subprocess.Popen(
                [f"{self.build}/bin/weir", "run", f"{self.work}/weir.yaml"], env=variables,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        # Not by the log: a write to it may be the call that fails.
        until(lambda: self.process.poll() is not None or self.ask("GET /readyz")[0] == 200,
              "started, or ended")
        return self.process.poll() is None

    def log(self):
        with open(f"{self.work}/log.{self.hosts}", encoding="utf-8", errors="replace") as stream:
            return stream.read()

    def trace(self):
        """Of the call that failed: the path of its descriptor, if it has one, and its stack."""
        try:
            with open(f"{self.work}/fault.trace", encoding="utf-8") as stream:
                return stream.read()
        except FileNotFoundError:
            return ""

    def ask(self, request):
        """The status and the body of an answer; 0: none."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
                client.settimeout(LIMIT_S)
                client.connect(f"{self.work}/control")
                client.sendall(f"{request} HTTP/1.1\r\nHost: weir\r\n\r\n".encode())
                answer = b""
                while piece := client.recv(65536):
                    answer += piece
        except TimeoutError:
            raise Trouble(f"no answer to {request}") from None
        except OSError:
            return 0, ""
        head, _, body = answer.decode().partition("\r\n\r\n")
        return (int(head.split()[1]) if head else 0), body

    def change(self, number):
        """A reload. One may be refused for what it lacked; the next one may not."""
        self.shape(number)
        answers = []
        for _ in range(3):
            self.must_run()
            answers.append(self.ask("POST /reload"))
            if answers[-1][0] == 200:
                return
        raise Trouble(f"reloads are refused: {answers}")

    def must_run(self):
        must(self.process.poll() is None, f"the host ended with {self.process.returncode}")

    def recorded(self):
        try:
            with open(f"{self.work}/out", encoding="ascii", errors="replace") as stream:
                return collections.Counter(stream.read().split("\n")[:-1])
        except FileNotFoundError:
            return collections.Counter()

    def dead(self):
        found = set()
        for path in glob.glob(f"{self.work}/state/dead*"):
            with open(path, "rb") as stream:
                found.update(re.findall(rb"[abc]\d{4}", stream.read()))
        return {line.decode() for line in found}

    def missing(self):
        wanted = {f"{name}{i:04}" for name in FILES for i in range(self.written)}
        return sorted(wanted - self.recorded().keys() - self.dead())

    def await_lines(self):
        def have_come():
            self.must_run()
            return not self.missing()
        try:
            until(have_come, "all lines")
        except Trouble as trouble:
            raise Trouble(f"{trouble}: {self.missing()}") from None

    def end(self):
        """The exit code of a host that gets TERM."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Trouble("the host does not end") from None


# --- one run -----------------------------------------------------------------------------------

def act(world):
    """The scripted life of a host that has started."""
    world.await_lines()
    world.change(1)
    world.append()
    world.await_lines()
    world.change(0)
    world.append()
    world.await_lines()
    until(lambda: os.path.exists(f"{world.work}/state/jobs.sock"), "weir queue finds the host")
    status, body = world.ask("GET /status")
    if status != 200:
        status, body = world.ask("GET /status")
    must(status == 200, f"status: {status} {body}")
    return json.loads(body)


def check_ledger(world, may_lack_lines=False):
    found = re.findall(r'event="ledger".*balance=(\w+)', world.log())
    must(set(found) <= {"exact"} and (found or may_lack_lines), f"the ledger: {found}")


def children():
    """Processes whose parent is this one, by number, with their state and name."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8") as stream:
                head, _, rest = stream.read().rpartition(") ")
        except OSError:
            continue
        number, _, name = head.partition(" (")
        if int(rest.split()[1]) == os.getpid():
            found[int(number)] = (rest[0], name)
    return found


def check_processes():
    """What a host has left is a child of this process now, and ends at once, as it was killed."""
    def have_gone():
        for number, (state, _) in children().items():
            if state == "Z":
                os.waitpid(number, 0)
        return not children()
    try:
        until(have_gone, "no process is left")
    except Trouble:
        left = children()
        for number in left:
            os.kill(number, signal.SIGKILL)
        raise Trouble(f"processes are left: {left}") from None


def check_files(world):
    """Files in the folders of the host: none that is only for a moment."""
    names = {os.path.relpath(os.path.join(folder, name), world.work)
             for folder, _, found in os.walk(world.work) for name in found}
    known = re.compile(r"in/[abc]|out|state/([abc]|jobs|dead)(\.lock|-wal|-shm)?|weir\.yaml|"
                       r"child\.sh|log\.\d|fault(\.trace)?")
    odd = {name for name in names if not known.fullmatch(name)}
    odd |= {f"tmp/{name}" for name in os.listdir(f"{world.work}/tmp")}
    must(not odd, f"files are left: {sorted(odd)}")


def check_end(world, code):
    must(code >= 0, f"the host is killed by signal {-code}")
    check_processes()
    check_files(world)


def check_once(world, repeats):
    """After a host without a fault, which sends again what an earlier one has not settled: lines of
    the files `repeats` alone come again."""
    lines = world.recorded()
    twice = {line: count for line, count in lines.items()
             if count > 1 and line[0] not in repeats}
    odd = [line for line in lines if not re.fullmatch(r"[abc]\d{4}", line)]
    must(not odd, f"lines that nobody wrote: {odd}")
    must(not twice, f"lines came again: {twice}")


def is_unsaved(world, code):
    """A host that could not save a position as it ended says so: the next one sends lines again."""
    return code == EX_IOERR and "position cannot be saved" in world.log()


def is_said(world, code):
    """A source that could not read something for a while asks for 1."""
    return code == 1 and "exit code 1 was asked for" in world.log()


def may_repeat(world, code, call):
    """The files whose lines may come again: of those that a worker which failed may have passed on,
    as they are given to another one; of a position that could not be saved; and of a file whose
    bytes before the present place files.tail cannot read (it saves the former place)."""
    log, files = world.log(), set()
    for pool in re.findall(r'component=([a-z]+)\S* event="worker failed"', log):
        files.update(IN_HAND[pool])
    if code == EX_IOERR:
        files.update(re.findall(r'"position cannot be saved" path="?\S*/state/([abc])\b', log))
    if call == "pread":
        files.update(re.findall(rf"^{world.work}/in/([abc])$", world.trace(), re.M))
    return files


def play(world, fault):
    """Returns how the host with the fault ended: refused, or the exit code."""
    world.append()
    if not world.start(f"{world.work}/fault"):
        code = world.process.returncode
        check_end(world, code)
        must(code != 0, "a host that cannot start has exit code 0")
        must(re.search(r"level=error|^(?!ts=).*: .*\S", world.log(), re.M),
             f"exit code {code} without a reason: {world.log()[-300:]}")
        return "refused"
    act(world)
    code = world.end()
    check_end(world, code)
    call = fault.read()[0]
    must(code == 0 or is_unsaved(world, code) or is_said(world, code),
         f"exit code {code}")
    check_ledger(world, call == "writev")
    return code


def play_on(world, repeats):
    """Another host, without a fault, goes on and sends nothing again but lines of `repeats`."""
    must(world.start(), f"the next host does not start: {world.log()[-300:]}")
    world.append()
    world.await_lines()
    code = world.end()
    check_end(world, code)
    must(code == 0, f"exit code {code} of the next host")
    check_ledger(world)
    check_once(world, repeats)


def run(build, kind, nth, calm=None, keep=False):
    """A run with one fault, as a dictionary. `calm`: that of a run without one."""
    work = tempfile.mkdtemp(prefix="weir-faults.")
    world, begun = World(build, work), time.monotonic()
    result = {"kind": kind, "nth": nth, "trouble": "", "end": None}
    fault = Fault(f"{work}/fault", kind, nth)
    try:
        result["end"] = play(world, fault)
        play_on(world, may_repeat(world, result["end"], fault.read()[0]))
    except Trouble as trouble:
        result["trouble"] = str(trouble)
    finally:
        if world.process.poll() is None:
            world.process.kill()
            world.process.wait()
    result["call"], result["count"], result["open"] = fault.read()
    if calm and result["end"] == 0 and result["open"] != calm["open"]:
        result["trouble"] += f"the host had {result['open']} descriptors at its end, " \
                             f"and {calm['open']} without a fault"
    result["seconds"] = time.monotonic() - begun
    result["trace"] = world.trace()
    if keep and result["trouble"]:
        result["trouble"] += f" ({work})"
    else:
        shutil.rmtree(work)
    return result


# --- all runs ----------------------------------------------------------------------------------

def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--calls", type=int, default=300, help="the first N calls of each kind")
    parser.add_argument("--drawn", type=int, default=300, help="N of the calls after them")
    parser.add_argument("--sample", type=int, help="only N of all these, drawn")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", type=int, help="the Nth call alone")
    parser.add_argument("--keep", action="store_true", help="the folders of runs that fail")
    parser.add_argument("kinds", nargs="*", metavar="KIND", default=KINDS,
                        help=f"{', '.join(KINDS)}; or the name of a call, such as send")
    return parser.parse_intermixed_args()


def draw(given, calm):
    """The runs, as pairs of a kind and a number."""
    dice, runs = random.Random(given.seed), []
    for kind in given.kinds:
        count = calm[kind]["count"]
        first = min(given.calls, count)
        runs += [(kind, nth) for nth in range(1, first + 1)]
        beyond = range(first + 1, count + 1)
        runs += [(kind, nth) for nth in sorted(dice.sample(beyond, min(given.drawn, len(beyond))))]
    if given.only:
        return [(kind, given.only) for kind in given.kinds]
    if given.sample and given.sample < len(runs):
        runs = sorted(dice.sample(runs, given.sample))
    return runs


def adopt():
    """Orphans of this process become its children."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def run_calm(pool, given):
    """A run of each kind without a fault."""
    waiting = {kind: pool.submit(run, given.build, kind, 0) for kind in given.kinds}
    calm = {kind: done.result() for kind, done in waiting.items()}
    for kind, result in calm.items():
        if result["trouble"]:
            sys.exit(f"FAILED without a fault: {result['trouble']}")
        if result["count"] == 0:
            sys.exit(f"FAILED: the host makes no call {kind}")
    return calm


def run_all(pool, given, calm):
    waiting = [pool.submit(run, given.build, kind, nth, calm[kind], given.keep)
               for kind, nth in draw(given, calm)]
    for done in concurrent.futures.as_completed(waiting):
        result = done.result()
        if result["trouble"]:
            print(f"FAILED: {result['kind']} --only {result['nth']}: {result['call']}: "
                  f"{result['trouble']}\n{result['trace']}", flush=True)
        yield result


def report(given, calm, results):
    """The kinds of which no call has failed: their runs show nothing."""
    idle = []
    print(f"{'kind':10} {'calls':>6} {'runs':>5} {'failed':>6} {'refused':>7} {'went on':>7} "
          f"{'trouble':>7}")
    for kind in given.kinds:
        mine = [one for one in results if one["kind"] == kind]
        struck = [one for one in mine if one["call"]]
        if mine and not struck:
            idle.append(kind)
        print(f"{kind:10} {calm[kind]['count']:6} {len(mine):5} {len(struck):6} "
              f"{sum(one['end'] == 'refused' for one in struck):7} "
              f"{sum(one['end'] not in (None, 'refused') for one in struck):7} "
              f"{sum(bool(one['trouble']) for one in mine):7}")
    return idle


def main():
    given = arguments()
    print(f"faults: seed {given.seed}", flush=True)
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count(), initializer=adopt) as pool:
        calm = run_calm(pool, given)
        results = list(run_all(pool, given, calm))
    idle = report(given, calm, results)
    if idle or not results:
        print(f"FAILED: no call has failed of {', '.join(idle) or 'any kind'}")
    return 1 if any(one["trouble"] for one in results) or idle or not results else 0


if __name__ == "__main__":
    sys.exit(main())
