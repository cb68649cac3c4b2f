#!/usr/bin/env python3
"""Goal:   the tables of `weir status` fit into 100 columns for any file, and lose no figure that
        JSON has. Shows promise C20.
Method: real hosts with long names of pools, sources and files, with large figures, and with
        warnings. Every wait is for a condition.

    status.py WEIR PLUGINS TREE
"""
import os
import re
import sys
import tempfile

from control import Host, check, report_failures, until

WIDTH = 100
LONG = "a_pool_whose_name_says_more"
FILE = f"""
sources:
  {LONG}_as_a_source_too_with_more: {{use: gen.numbers, args: {{count: 1234567}}, to: work}}
  endless: {{use: gen.forever, to: {LONG}}}
pools:
  work: {{use: sink.null, size: 1, route: pull}}
  {LONG}:
    members:
      {LONG}_1:
        members:
          {LONG}_2: {{use: sink.null, size: 3}}
          other: {{use: sink.null, size: 1}}
      right: {{use: sink.null, size: 2}}
  empty: {{use: sink.null, size: 1, min_ready: 0}}
"""


def wide(text):
    return [line for line in text.splitlines() if len(line) > WIDTH]


def host_of(folder):
    """Below a path that no line has room for."""
    work = os.path.join(folder, "f" * 120)
    os.mkdir(work)
    host = Host(work)
    host.socket = os.path.join(folder, "weir.sock")
    return host


def test_no_line_is_wider():
    with tempfile.TemporaryDirectory() as folder:
        host = host_of(folder)
        host.write(FILE)
        host.start()
        check(host.process.poll() is None, open(host.log, encoding="utf-8").read())
        until(lambda: host.json("status", "work")["done"] == 1234567, "all numbers")
        host.run("pause", "empty")
        host.run("pause", f"{LONG}/{LONG}_1/{LONG}_2")
        text = host.run("status").stdout
        check(not wide(text), f"wide lines: {wide(text)}")
        check(len(re.findall("^POOL ", text, re.M)) == 1, "one header")
        check(re.search(r"^work +open +1 +\d+ +1.23M +1.23M +0 +0 +0 +0 +\d+ +0$", text, re.M),
              f"a row with units: {text}")
        check(f"{LONG[:8]}…" in text and text.count("…") >= 5, f"cut names: {text}")
        check(re.search(LONG + r"_as\S+with_more +(ended|finishing) +1.23M +0\n", text),
              f"a source: {text}")
        check(re.search(r" up (\d+ms|[\d.]+s|\d+m\d\ds), ", text.replace("\n   ", "")),
              f"a time with its unit: {text}")
        plain = re.sub(r"\n {4}", " ", text)
        check(f"warning: pool {LONG}/{LONG}_1/{LONG}_2 accepts no messages: it is paused" in plain,
              f"a warning that is broken at blanks: {text}")
        exact = {pool["path"]: pool for pool in host.json("status")["pools"]}
        check(exact["work"]["accepted"] == 1234567 and f"{LONG}/{LONG}_1/{LONG}_2" in exact,
              "JSON is exact")
        check(host.stop() == 0, "the exit code")


def test_words_fit_their_number():
    with tempfile.TemporaryDirectory() as folder:
        host = host_of(folder)
        host.write("sources: {numbers: {use: gen.forever, to: work}}\n"
                   "pools: {work: {use: sink.null, size: 1}}\n")
        host.start()
        answers = ((("restart", "work"), "work: 1 worker restarted\n"),
                   (("scale", "work", "2"), "work: 2 workers, 1 changed\n"),
                   (("restart", "work"), "work: 2 workers restarted\n"),
                   (("scale", "work", "1"), "work: 1 worker, 1 changed\n"),
                   (("check", host.file), f"{host.file}: ok (1 pool, 1 source, 1 worker)\n"))
        for command, answer in answers:
            said = host.run(*command)
            check(said.stdout == answer, f"{command}: {said}")
        check(host.stop() == 0, "the exit code")


def main():
    test_no_line_is_wider()
    test_words_fit_their_number()
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
