# SPDX-License-Identifier: MIT
"""The programs of ./dev bench: ours, and those of the peers, which are built from tests/bench/peers
with what Debian packages. A peer that cannot be built or run is named with the reason."""
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT_S = 120
CHECK_DIVISOR = 100  # from here on only the results count
UNKNOWN = 3  # the exit status of a program that does not know a row

C = ["gcc", "-std=gnu11", "-O3", "-D_GNU_SOURCE"]
CPP = ["g++", "-std=gnu++17", "-O3", "-DNDEBUG"]


@dataclass
class Program:
    name: str
    command: list                # {threads} is the number of CPUs, {work_ns} what the work takes
    rows: tuple                  # that it has
    arguments: list = field(default_factory=list)    # behind those of the row
    environment: dict = field(default_factory=dict)
    fewer: dict = field(default_factory=dict)        # row: by which its messages are divided
    never: dict = field(default_factory=dict)        # (row, CPUs): why it has none
    absent: str = ""             # why it cannot run at all

    @property
    def is_ours(self):
        return self.name == "weir"


ACTORS = ("pingpong", "ring", "request", "count", "fjthrput", "contend", "big", "pool0", "pool1us",
          "fjcreate", "skynet", "idle")
# Threads and condition variables take microseconds for a message, so fewer do.
SLOW = {"pingpong": 40, "request": 20, "ring": 50, "contend": 10, "count": 4, "pool0": 2,
        "pool1us": 2}


def build(folder, name, command, out):
    """Why it cannot be built, or an empty text. `out` is made from peers/name by the command."""
    sources = os.path.join(HERE, "peers", name)
    if not shutil.which(command[0]):
        return f"there is no {command[0]}"
    environment = {**os.environ, "GOCACHE": os.path.join(folder, "go-cache"), "GO111MODULE": "off"}
    done = subprocess.run(command, cwd=sources, env=environment, capture_output=True, text=True,
                          check=False)
    if done.returncode == 0 and os.path.exists(out):
        return ""
    lines = [*re.findall(r".*(?:error|cannot).*", done.stderr), *done.stderr.splitlines(), "?"]
    return f"{command[0]}: {lines[0].strip()}"


def glib_flags():
    done = subprocess.run(["pkg-config", "--cflags", "--libs", "glib-2.0"], capture_output=True,
                          text=True, check=False) if shutil.which("pkg-config") else None
    return done.stdout.split() if done and done.returncode == 0 else []


def compilers(folder):
    """name: (program, command that builds it)"""
    out = {name: os.path.join(folder, name) for name in
           ("probe", "pthread", "glib", "libuv", "tbb", "caf", "go")}
    out["erlang"] = os.path.join(folder, "weir_peer.beam")
    return {
        "probe": (out["probe"], C + ["-o", out["probe"], "probe.c", "-pthread"]),
        "pthread": (out["pthread"], C + ["-o", out["pthread"], "pthread.c", "-pthread"]),
        "glib": (out["glib"], C + ["-o", out["glib"], "glib.c", *glib_flags()]),
        "libuv": (out["libuv"], C + ["-o", out["libuv"], "libuv.c", "-luv", "-pthread"]),
        "tbb": (out["tbb"], CPP + ["-o", out["tbb"], "tbb.cpp", "-ltbb"]),
        "caf": (out["caf"], CPP + ["-o", out["caf"], "caf.cpp", "-lcaf_core", "-pthread"]),
        "go": (out["go"], ["go", "build", "-o", out["go"], "main.go"]),
        "erlang": (out["erlang"], ["erlc", "-o", folder, "weir_peer.erl"]),
    }


def is_newer(out, name):
    sources = [os.path.join(HERE, "row.h")]
    for root, _, files in os.walk(os.path.join(HERE, "peers", name)):
        sources += [os.path.join(root, file) for file in files]
    return os.path.exists(out) and all(os.path.getmtime(out) > os.path.getmtime(source)
                                       for source in sources)


def build_all(folder, names, say):
    """Builds the peers of those names; gives {name: why it is absent, or an empty text}."""
    os.makedirs(folder, exist_ok=True)
    absent = {}
    for name, (out, command) in compilers(folder).items():
        if name in names:
            if not is_newer(out, name):
                say(f"building the peer {name}")
            absent[name] = "" if is_newer(out, name) else build(folder, name, command, out)
    return absent


def programs(folder):
    """The peers' programs, built or not."""
    erl = ["erl", "-noshell", "-noinput", "+S", "{threads}:{threads}", "+SDcpu", "1:1",
           "+SDio", "1", "+A", "1", "+P", "3000000", "-pa", folder, "-run", "weir_peer", "main"]
    pthread = [os.path.join(folder, "pthread")]
    return [
        Program("erlang", erl, ACTORS + ("hog",), arguments=["{work_ns}"]),
        Program("caf", [os.path.join(folder, "caf")], ACTORS,
                fewer={"count": 2, "fjcreate": 4, "pool0": 2},
                never={("fjcreate", 2): "takes for ever: each steal walks the whole queue"}),
        Program("go", [os.path.join(folder, "go")], ACTORS + ("latency", "hog", "overload")),
        Program("tbb", [os.path.join(folder, "tbb")], ("pool0", "pool1us", "fjcreate", "skynet")),
        Program("glib", [os.path.join(folder, "glib")],
                ("pingpong", "request", "count", "contend", "pool0", "pool1us", "latency", "hog",
                 "overload"), fewer=SLOW),
        Program("libuv", [os.path.join(folder, "libuv")], ("pool0", "pool1us"),
                environment={"UV_THREADPOOL_SIZE": "{threads}"}, fewer=SLOW),
        Program("pthread", pthread,
                ("pingpong", "ring", "request", "count", "contend", "pool0", "pool1us", "latency",
                 "hog", "overload"), fewer=SLOW),
        Program("batch", pthread, ("count", "contend", "pool0", "pool1us"), arguments=["batch"],
                fewer={"contend": 10}),
        Program("spin", pthread, ("latency",), arguments=["spin"]),
    ]


SOURCE_OF = {"batch": "pthread", "spin": "pthread"}  # others are built from peers/ their name
TITLES = {"erlang": "Erlang/OTP", "caf": "CAF", "go": "Go, channels", "tbb": "oneTBB",
          "glib": "GLib", "libuv": "libuv's pool", "pthread": "pthreads, mutex and condition",
          "batch": "pthreads that take all there is", "spin": "a pthread that spins",
          "weir": "Weir"}


def one_cpu():
    """The prefix that pins a program to one CPU: the last, since interrupts prefer the first."""
    return ["taskset", "-c", str(max(os.sched_getaffinity(0)))] if shutil.which("taskset") else []


def arguments_of(row, divisor):
    """The shape of a row with fewer messages; with fewer actors where there are few messages."""
    def less(count):
        return max(8, count // divisor // 8 * 8) if count > 8 else count
    receivers, each = row.receivers, row.each
    if each > 1:
        each = less(each)
    elif divisor > 1:
        receivers = less(receivers)
    return [row.senders, receivers, each, row.limit, row.steps]


def run(program, row, cpus, divisor, work_ns):
    """One run: a dictionary of its figures, or with `error`."""
    names = {"threads": str(cpus - row.outside), "work_ns": str(int(work_ns))}
    divisor *= program.fewer.get(row.source, 1)
    shape = [str(number) for number in arguments_of(row, divisor)]
    command = [part.format(**names) for part in program.command]
    command += [row.source, names["threads"], *shape]
    command += [part.format(work_ns=int(work_ns * max(row.steps, 1) / 900))
                for part in program.arguments]
    environment = {name: text.format(**names) for name, text in program.environment.items()}
    try:
        done = subprocess.run((one_cpu() if cpus == 1 else []) + command, capture_output=True,
                              text=True, timeout=TIMEOUT_S, check=False, stdin=subprocess.DEVNULL,
                              env={**os.environ, **environment})
    except subprocess.TimeoutExpired:
        return {"error": f"took more than {TIMEOUT_S} s"}
    except OSError as error:
        return {"error": str(error)}
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if done.returncode == UNKNOWN:
        return {"error": "does not know the row"}
    if not lines:
        return {"error": f"ended with {done.returncode}: {(done.stderr + done.stdout)[-300:]}"}
    figures = {name: float(value) for name, value in
               (part.split("=") for part in lines[0].split()[1:])}
    if figures["ok"] != 1:
        figures["error"] = "its result is wrong"
    figures["ns"] /= max(figures["messages"], 1)
    return figures


def probe_ns(folder):
    """How long a cache line takes between the CPUs; None where that cannot be measured."""
    try:
        done = subprocess.run([os.path.join(folder, "probe")], capture_output=True, text=True,
                              timeout=20, check=False)
        return float(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
