#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   `weir pause SOURCE` has a source of any kind send nothing until `weir resume`, also over
        a reload; nothing is lost. Shows promise P45.
Method: a real host. Beside each paused source another one shows that there was something to send:
        one that follows the same file, one that beats as often. Every wait is for a condition.

    pause.py WEIR PLUGINS TREE
"""
import http.client
import os
import re
import socket
import sys
import tempfile

from control import Host, check, report_failures, until

FILE = """
sources:
  a_log: {{use: files.tail, args: {{paths: [{folder}/log], poll: 10ms}}, to: lines}}
  b_log: {{use: files.tail, args: {{paths: [{folder}/log], poll: 10ms}}, to: beside}}
  a_beat: {{use: timer.cron, args: {{every: {every}}}, to: beats}}
  b_beat: {{use: timer.cron, args: {{every: 5ms}}, to: ticks}}
  door: {{use: http.server, args: {{listen: "127.0.0.1:{port}", mode: accept, health: /healthz}},
         to: web}}
  both: {{use: gen.forever, to: both}}
pools:
  lines: {{use: sink.null, size: 1}}
  beside: {{use: sink.null, size: 1}}
  beats: {{use: sink.null, size: 1}}
  ticks: {{use: sink.null, size: 1}}
  web: {{use: sink.null, size: 1}}
  both: {{use: sink.null, size: 1}}
"""
PAUSED = ("a_log", "a_beat", "door")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def sources(host):
    return {source["name"]: source for source in host.json("status")["sources"]}


def done(host, pool):
    return host.json("status", pool)["done"]


def ask(port, path="/"):
    client = http.client.HTTPConnection("127.0.0.1", port)
    client.request("GET", path)
    answer = client.getresponse()
    answer.read()
    client.close()
    return answer.status, answer.getheader("Retry-After")


def append(folder, count):
    with open(f"{folder}/log", "a", encoding="ascii") as log:
        log.write("line\n" * count)


def test_each_kind(host, folder, port):
    append(folder, 3)
    until(lambda: done(host, "lines") == done(host, "beside") == 3, "both follow")
    until(lambda: done(host, "beats") > 0, "it beats")
    check(ask(port)[0] == 202, "the server takes requests")
    for name in PAUSED:
        answer = host.run("pause", name)
        check(answer.stdout == f"{name}: paused\n", f"{answer}")
    states = {name: source["state"] for name, source in sources(host).items()}
    if states["both"] == "waiting":  # it may just find no room
        states["both"] = "open"
    check(states == {"a_log": "paused", "b_log": "open", "a_beat": "paused", "b_beat": "open",
                     "door": "paused", "both": "open"}, f"{states}")
    emitted = {name: source["emitted"] for name, source in sources(host).items()}
    append(folder, 4)
    until(lambda: done(host, "beside") == 7, "the other one follows")
    ticks = done(host, "ticks")
    until(lambda: done(host, "ticks") > ticks + 10, "the other one beats")
    status, later = ask(port)
    check(status == 503 and later, f"as before a full pool: {status} {later}")
    check(ask(port, "/healthz")[0] == 200, "its health is as before a full pool")
    for name in PAUSED:
        check(sources(host)[name]["emitted"] == emitted[name], f"{name} has sent something")


def test_status_and_metrics(host):
    said = host.run("status").stdout
    check(re.search(r"^a_log +paused ", said, re.M), said)
    check("\nnote: source a_log is paused: it sends nothing until `weir resume a_log`\n" in said,
          said)
    check("source b_log" not in said, said)
    said = host.get("/metrics")[1]
    check('weir_source_paused{source="a_log"} 1' in said and
          'weir_source_paused{source="b_log"} 0' in said, said)
    check(host.get("/readyz")[0] == 200, "the pools are ready")


def test_reload_keeps_the_pause(host, write):
    write("6ms")
    check(host.run("reload").returncode == 0, "the reload")
    ticks = done(host, "ticks")
    until(lambda: done(host, "ticks") > ticks + 10, "the other one beats")
    check(sources(host)["a_beat"]["state"] == "paused", "with other args")
    check(sources(host)["a_log"]["state"] == "paused", "as it was")


def test_resume(host, port):
    beats = done(host, "beats")
    for name in PAUSED:
        answer = host.run("resume", name)
        check(answer.stdout == f"{name}: resumed\n", f"{answer}")
    until(lambda: done(host, "lines") == 7, "what was written meanwhile")
    until(lambda: done(host, "beats") > beats, "it beats again")
    check(ask(port)[0] == 202, "the server takes requests again")
    check("is paused" not in host.run("status").stdout, "nothing is paused")


def test_wrong_name(host):
    answer = host.run("pause", "dor")
    check(answer.returncode == 66 and
          answer.stderr == 'error: there is no pool or source "dor"; did you mean "door"?\n',
          f"{answer}")
    answer = host.run("pause", "both")
    check(answer.stdout == "both: paused (the pool: the source of this name goes on as before)\n",
          f"{answer}")
    check(host.json("resume", "both") == {"path": "both", "kind": "pool", "paused": False}, "both")


def test_paused_sources_end(host):
    host.run("pause", "a_log")
    check(host.stop() == 0, "the exit code")


def main():
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        host = Host(folder)

        def write(every):
            host.write(FILE.format(folder=folder, port=port, every=every))

        write("5ms")
        os.close(os.open(f"{folder}/log", os.O_CREAT))
        host.start()
        test_each_kind(host, folder, port)
        test_status_and_metrics(host)
        test_reload_keeps_the_pause(host, write)
        test_resume(host, port)
        test_wrong_name(host)
        test_paused_sources_end(host)
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
