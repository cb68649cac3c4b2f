#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   the children in examples/children and examples/python work as the guide says: each line
        has its answer, in order, requests too, and what is emitted at a tick and at the close is
        exact.
Method: real hosts with the YAML of the examples. Every wait is for a condition.

    languages.py WEIR PLUGINS TREE [LANGUAGE...]

LANGUAGE: sh, awk, perl, js. Default: those whose programs ./dev test installs, and the Python.
"""
import contextlib
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

from control import PLUGINS, TREE, WEIR, Host, check, run_tests, until

CHILDREN = {
    "sh": ("sh examples/children/upper.sh", "bytes"),
    "awk": ("mawk -W interactive -f examples/children/upper.awk", "json"),
    "perl": ("perl examples/children/upper.pl", "bytes"),
    "js": ("node examples/children/upper.js", "json"),
}
LANGUAGES = sys.argv[4:] or ["sh", "awk", "perl"]
# Letters of ASCII, since each language has its own idea of others; what JSON escapes.
LINES = ["one", "", "two words", 'a "quoted" \\n line', "tab\there", "\x01", "done 0"] * 30


def variables(folder, more):
    return {**os.environ, "WEIR_PLUGIN_PATH": PLUGINS, "PYTHONDONTWRITEBYTECODE": "1",
            "WEIR_CONTROL": os.path.join(folder, "socket"), **more}


def filtered(name, lines, **more):
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([WEIR, "run", f"examples/{name}"], cwd=TREE, check=False, text=True,
                              input="".join(f"{line}\n" for line in lines), capture_output=True,
                              env=variables(folder, more))


@contextlib.contextmanager
def running(name, **more):
    """A host whose lines come from a pipe."""
    with tempfile.TemporaryDirectory() as folder:
        host = Host(folder)
        output = os.path.join(folder, "output")
        environment = variables(folder, more)
        with open(output, "wb") as out, open(host.log, "wb") as log:
            host.process = subprocess.Popen([WEIR, "run", f"examples/{name}"], cwd=TREE,
                                            stdin=subprocess.PIPE, stdout=out, stderr=log,
                                            env=environment)
        host.socket = environment["WEIR_CONTROL"]
        host.output = lambda: open(output, encoding="utf-8").read().splitlines()
        try:
            yield host
        finally:
            host.stop(9)
            host.process.stdin.close()


def say(host, *lines):
    host.process.stdin.write("".join(f"{line}\n" for line in lines).encode())
    host.process.stdin.flush()


def inspected(host, number=0):
    """What a process has said by `inspect`."""
    return host.run("inspect", f"work#{number}").stdout


def test_lines_come_back_in_order_and_their_number_at_the_close():
    for language in LANGUAGES:
        child, frames = CHILDREN[language]
        got = filtered("children/children.yaml", LINES, WEIR_CHILD=child, WEIR_FRAMES=frames)
        # An escape of JSON has letters that stay.
        wanted = [line.upper() for line in LINES]
        check(got.stdout.splitlines() == [*wanted, f"{len(LINES)} messages"] and
              got.returncode == 0, f"{language}: {got.stdout[-300:]} {got.stderr[-1000:]}")


def test_requests_and_ticks():
    for language in LANGUAGES:
        child, frames = CHILDREN[language]
        with running("children/children.yaml", WEIR_CHILD=child, WEIR_FRAMES=frames) as host:
            until(lambda: os.path.exists(host.socket), "the socket")
            say(host, "line")
            until(lambda: host.output() == ["LINE"], "a line")
            answer = host.run("request", "upper", "text")
            check("TEXT" in answer.stdout, f"{language}: {answer}")
            until(lambda: "messages" in host.run("inspect", "upper#0").stdout, "a tick")


def access_lines():
    return [f'10.0.0.1 - - [23/Nov/2026:13:00:00 +0000] "GET / HTTP/1.1" {status} 5'
            for status in (200, 404, 200, 500) * 250]


def test_totals_are_exact():
    got = filtered("python/more.yaml", access_lines(), WEIR_WORKER="totals")
    totals = {}
    for line in got.stdout.splitlines():
        for status, count in json.loads(line).items():
            totals[status] = totals.get(status, 0) + count
    check(totals == {"200": 500, "404": 250, "500": 250}, f"{totals} {got.stderr[-1000:]}")


def test_totals_of_a_tick_are_emitted_while_the_host_runs():
    with running("python/more.yaml", WEIR_WORKER="totals") as host:
        say(host, *access_lines()[:4])
        until(lambda: sum(sum(json.loads(line).values()) for line in host.output()) == 4, "a tick")
        items = inspected(host)
        check("statuses" in items, items)
        say(host, "no such line")
        until(lambda: "no status in a line of 12 bytes" in open(host.log, encoding="utf-8").read(),
              "the line of weir.log")


def test_rows_are_in_the_database():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.db")
        lines = [f"line {number}" for number in range(1000)]
        got = filtered("python/more.yaml", lines, WEIR_WORKER="rows", ROWS=path)
        check(got.returncode == 0, got.stderr[-1000:])
        with contextlib.closing(sqlite3.connect(path)) as database:
            found = [line for line, in database.execute("SELECT line FROM lines ORDER BY rowid")]
        check(found == lines, f"{len(found)} rows")


def test_sums_of_kept_messages():
    with tempfile.TemporaryDirectory() as folder:
        wanted = []
        for number in range(50):
            path = os.path.join(folder, str(number))
            with open(path, "wb") as stream:
                stream.write(b"%d" % number * number)
            wanted.append(f"{hashlib.sha256(b'%d' % number * number).hexdigest()}  {path}")
        lines = [line.split("  ")[1] for line in wanted]
        got = filtered("python/more.yaml", [*lines, f"{folder}/none"], WEIR_WORKER="sums")
        check(sorted(got.stdout.splitlines()) == sorted(wanted), got.stderr[-1000:])
        check(got.returncode == 65 and "No such file" in got.stderr, got.stderr[-1000:])


def test_output_is_chosen_by_content():
    with tempfile.TemporaryDirectory() as folder:
        bad = os.path.join(folder, "bad")
        lines = ["INFO up", "ERROR fire", "WARNING hot", "ERROR smoke", "INFO down"] * 20
        got = filtered("python/levels.yaml", lines, BAD=bad)
        check(got.stdout.splitlines() == [line for line in lines if line[:4] == "INFO"],
              got.stderr[-1000:])
        with open(bad, encoding="utf-8") as stream:
            check(stream.read().splitlines() == [line for line in lines if line[:5] == "ERROR"],
                  got.stderr[-1000:])
        check(got.returncode == 0, f"{got.returncode}")


if __name__ == "__main__":
    run_tests(globals())
