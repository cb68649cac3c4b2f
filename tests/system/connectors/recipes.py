#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   each file of examples/recipes does what docs/guide/recipes.md says, and `weir new config`
        makes a file that runs and overwrites none.
Method: the files as they are, in a folder of their own, with small inputs. Every wait is for a
        condition.

    recipes.py WEIR PLUGINS TREE [PYTHON]

PYTHON is the folder of weir.py; default: TREE/sdk/python.
"""
import hashlib
import http.server
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

WEIR, PLUGINS, TREE = sys.argv[1:4]
PYTHON = sys.argv[4] if len(sys.argv) > 4 else os.path.join(TREE, "sdk/python")
RECIPES = os.path.join(TREE, "examples/recipes")
FAILURES = []


def check(holds, what):
    if not holds:
        FAILURES.append(what)
        print(f"FAILED: {what}", flush=True)


def until(condition):
    """The test's own time-out is the only clock."""
    while not condition():
        time.sleep(0.01)


class Folder:
    def __init__(self, work):
        self.work = work
        for name in os.listdir(RECIPES):
            shutil.copy(os.path.join(RECIPES, name), work)

    def path(self, name):
        return os.path.join(self.work, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as stream:
            return stream.read()

    def weir(self, *arguments, given="", **variables):
        return subprocess.run([WEIR, *arguments], cwd=self.work, input=given, text=True,
                              capture_output=True, check=False, env={**os.environ, **variables})

    def run(self, name, given="", code=0, **variables):
        """What the recipe prints, in lines."""
        answer = self.weir("run", f"{name}.yaml", given=given, **variables)
        check(answer.returncode == code, f"{name}: {answer}")
        return answer.stdout.splitlines()

    def start(self, name, **variables):
        return subprocess.Popen([WEIR, "run", f"{name}.yaml"], cwd=self.work,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, env={**os.environ, **variables})


def numbers(count):
    return "".join(f"{i}\n" for i in range(count))


def parallel(folder):
    for i in range(20):
        with open(folder.path(f"a {i}.log"), "w", encoding="ascii") as stream:
            stream.write(f"{i}")
    folder.run("parallel", "".join(f"a {i}.log\n" for i in range(20)))
    check(sum(name.endswith(".log.gz") for name in os.listdir(folder.work)) == 20, "20 files")


def limits(folder):
    again = "if [ -e tried ]; then echo again; else touch tried; exit 75; fi"
    lines = folder.run("limits", f"echo quick\nsleep 60\n{again}\n", code=65)
    check(sorted(lines) == ["again", "quick"], f"limits: {lines}")


def rate(folder):
    begin = time.monotonic()
    lines = folder.run("rate", numbers(25))
    check(sorted(lines) == sorted(f"called {i}" for i in range(25)), f"rate: {lines}")
    check(time.monotonic() - begin >= 0.95, "25 messages, 5 at once and 20 a second")


def elastic(folder):
    host = folder.start("elastic")
    host.stdin.write(numbers(60).encode())
    host.stdin.flush()
    most = 0

    def figures():
        answer = folder.weir("status", "work", "-c", "elastic.sock", "-o", "json")
        return json.loads(answer.stdout) if answer.returncode == 0 else {"target": 0, "done": 0}

    def is_done():
        nonlocal most
        now = figures()
        most = max(most, now["target"])
        return now["done"] == 60

    until(is_done)
    check(most > 1, f"elastic: {most} workers")
    until(lambda: figures()["target"] == 1)
    out, _ = host.communicate()
    check(out.decode().splitlines() == ["done"] * 60, "elastic")


def keys(folder):
    names = ("anna", "bert", "carl", "dora")
    lines = folder.run("keys", "".join(f"{name} {i}\n" for i in range(30) for name in names))
    for name in names:
        check([line for line in lines if line.startswith(name)] ==
              [f"{name} {i}" for i in range(30)], f"keys: {name}")


def tee(folder):
    lines = folder.run("tee", "one\ntwo\n")
    check(lines == ["one", "two"] and folder.read("tee.log") == "one\ntwo\n", f"tee: {lines}")


def desk(folder):
    host = folder.start("desk")
    until(lambda: folder.weir("status", "-c", "desk.sock").returncode == 0)
    answer = folder.weir("request", "sums", "-c", "desk.sock", "desk.yaml")
    check(answer.stdout.endswith("  desk.yaml\n") and len(answer.stdout.split()[0]) == 64,
          f"desk: {answer}")
    host.terminate()
    host.communicate()
    check(host.returncode == 0, f"desk: {host.returncode}")


def chain(folder):
    lines = folder.run("chain", "a\nb\nc\n")
    check(sorted(lines) == [": A", ": B", ": C"], f"chain: {lines}")


def clock(folder):
    host = folder.start("clock")
    until(lambda: os.path.exists(folder.path("clock.log")) and
          folder.read("clock.log").count("alive\n") >= 3)
    host.terminate()
    host.communicate()
    check(folder.read("clock.log").replace("alive\n", "") == "", "clock: only the pulse")


def shared(folder):
    with open(folder.path("backlog.txt"), "w", encoding="ascii") as stream:
        stream.writelines(f"old {i}\n" for i in range(5))
    lines = folder.run("shared", "new 1\nnew 2\n")
    check(sorted(lines) == sorted([f"handled old {i}" for i in range(5)] +
                                  ["handled new 1", "handled new 2"]), f"shared: {lines}")


def access(folder):
    line = '10.0.0.1 - ann [23/Nov/2026:13:00:00 +0000] "GET /{} HTTP/1.1" 200 512\n'
    lines = folder.run("access", "".join(map(line.format, range(20))) + "nonsense\n", code=65,
                       WEIR_PYTHON=PYTHON)
    check(sorted(json.loads(text)["path"] for text in lines) ==
          sorted(f"/{i}" for i in range(20)), f"access: {lines}")


def spool(folder):
    def add(name, first):
        with open(folder.path(f"spool/{name}.part"), "w", encoding="ascii") as stream:
            stream.writelines(f"{i}\n" for i in range(first, first + 50))
        os.rename(folder.path(f"spool/{name}.part"), folder.path(f"spool/{name}.job"))

    def has_done(count):
        return os.path.exists(folder.path("spool.log")) and \
            {f"did {i}" for i in range(count)} <= set(folder.read("spool.log").splitlines())

    os.mkdir(folder.path("spool"))
    add("a", 0)
    host = folder.start("spool")
    until(lambda: os.path.exists(folder.path("spool.log")))
    host.kill()
    host.communicate()
    add("b", 50)
    host = folder.start("spool")
    until(lambda: has_done(100))
    add("c", 100)
    until(lambda: has_done(150))
    host.terminate()
    host.communicate()
    check(host.returncode == 0, f"spool: {host.returncode}")


def post(address, body):
    """The status of an answer to a body, and the rest of the answer."""
    client = socket.socket(socket.AF_UNIX)
    until(lambda: client.connect_ex(address) == 0)
    client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n"
                   b"Connection: close\r\n\r\n%s" % (len(body), body))
    answer = b""
    while piece := client.recv(4096):
        answer += piece
    client.close()
    return int(answer.split()[1]), answer


def web(folder):
    address = folder.path("listen.sock")
    host = folder.start("web", WEB_LISTEN=f"unix:{address}")
    _, answer = post(address, b"hello")
    check(answer.endswith(hashlib.sha256(b"hello").hexdigest().encode() + b"  -\n"), f"{answer}")
    host.terminate()
    host.communicate()
    check(host.returncode == 0, f"web: {host.returncode}")


def jobs(folder):
    """The commands of its first lines, in their order; between them the host is killed."""
    lines = folder.read("jobs.yaml").split("version:")[0].splitlines()
    make, run, curl, stats, dead, replay = (line[4:] for line in lines if line.startswith("#   "))
    check(make == "mkdir out" and run == "weir run jobs.yaml &", f"jobs: {make}, {run}")
    program, option, body, _ = shlex.split(curl)
    check((program, option) == ("curl", "-d"), f"jobs: {curl}")

    def start():
        return folder.start("jobs", JOBS_LISTEN=f"unix:{folder.path('listen.sock')}")

    def told(command, *more):
        return folder.weir(*shlex.split(command)[1:], *more)

    def queued():
        answer = told(stats, "-o", "json")
        return json.loads(answer.stdout)["queues"] if answer.returncode == 0 else []

    def has_written(count):
        return folder.read("out/done") == f"{body}\n" * count

    host = start()  # its jobs fail while `out` is missing
    for _ in range(3):
        check(post(folder.path("listen.sock"), body.encode())[0] == 202, "a job is stored")
    host.kill()
    host.communicate()
    check(queued()[0]["pieces"] == 3, f"jobs: {queued()} after a kill")
    os.remove(folder.path("listen.sock"))
    host = start()
    until(lambda: queued()[0]["dead"] == 3)
    check(told(dead).stdout.count("jobs: retries: exit code 75\n") == 3, f"{told(dead)}")
    os.mkdir(folder.path("out"))
    check(told(replay).stdout == "replayed 3 pieces\n", "a replay")
    until(lambda: queued()[0]["pieces"] == 0)
    check(has_written(3), "jobs: the lines of three jobs")
    check(post(folder.path("listen.sock"), body.encode())[0] == 202, "one more")
    until(lambda: queued()[0]["pieces"] == 0)
    check(has_written(4), "jobs: the line of one more job")
    host.terminate()
    host.communicate()
    check(host.returncode == 0, f"jobs: {host.returncode}")


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.path.encode()
        self.send_response(404 if self.path == "/none" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Says nothing."""


def fetch(folder):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        base = f"http://127.0.0.1:{server.server_address[1]}"
        folder.run("fetch", "".join(f"{base}/{i}\n" for i in range(50)))
        check(sorted(folder.read("fetched.txt").split()) == sorted(f"/{i}" for i in range(50)),
              "fifty pages")
        folder.run("fetch", f"{base}/none\n", code=65)
        server.shutdown()
        thread.join()


def new_config(folder):
    answer = folder.weir("new", "config", "mine.yaml")
    check(answer.returncode == 0 and "weir check mine.yaml" in answer.stdout, f"{answer}")
    check(folder.weir("check", "mine.yaml").returncode == 0, "the new file is checked")
    check(sorted(folder.run("mine", "one\ntwo\n")) == ["ONE", "TWO"], "the new file runs")
    before = folder.read("mine.yaml")
    check("# A configuration of Weir. `weir check mine.yaml`" in before, before[:80])
    answer = folder.weir("new", "config", "mine.yaml")
    check(answer.returncode == 73 and folder.read("mine.yaml") == before, f"overwritten: {answer}")
    check(folder.weir("new", "config", "no/such/folder.yaml").returncode == 73, "no folder")
    for wrong in (["config"], ["config", "a", "b"], ["--sink", "config", "a"], ["nothing", "a"]):
        check(folder.weir("new", *wrong).returncode == 64, f"{wrong}")
    check(not os.path.exists(folder.path("a")), "nothing was made")


def main():
    tests = {"parallel": parallel, "limits": limits, "rate": rate, "elastic": elastic,
             "keys": keys, "tee": tee, "desk": desk, "chain": chain, "clock": clock,
             "shared": shared, "access": access, "spool": spool, "web": web,
             "fetch": fetch, "jobs": jobs}
    check(sorted(os.listdir(RECIPES)) == sorted([f"{name}.yaml" for name in tests] +
                                                ["README.md"]), "a recipe without a test")
    if not os.path.exists(os.path.join(PLUGINS, "http.so")):
        print("the plugin http was not built, so web.yaml and fetch.yaml are not run")
        del tests["web"], tests["fetch"]
    if not all(os.path.exists(os.path.join(PLUGINS, name)) for name in ("http.so", "queue.so")):
        print("the plugin http or queue was not built, so jobs.yaml is not run")
        del tests["jobs"]
    for test in [*tests.values(), new_config]:
        with tempfile.TemporaryDirectory() as work:
            test(Folder(work))
    print(f"{len(FAILURES)} failures")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
