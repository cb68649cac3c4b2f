#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   the tables of `weir status` fit into 100 columns for any file, and lose no figure that
        JSON has. Shows promise C20, promise C21 and promise C30.
Method: real hosts with long names of pools, sources and files, with large figures, and with
        warnings. Every wait is for a condition.

    status.py WEIR PLUGINS TREE TEST_PLUGINS
"""
import os
import re
import sys
import tempfile

from control import Host, check, report_failures, until

WIDTH = 100
LONG = "a_pool_whose_name_says_all_tha"
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
        long_path = f"{LONG}/{LONG}_1/{LONG}_2"
        for arguments in ((long_path,), ("--members",), ("--members", long_path)):
            text = host.run("status", *arguments).stdout
            check(text and not wide(text), f"{arguments}: {wide(text)}")
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


CHILDREN = """
sources:
  sleeps: {use: gen.numbers, args: {count: 3}, to: commands}
  asks: {use: gen.numbers, args: {count: 1}, to: peers}
pools:
  commands: {use: exec.run, size: 2, args: {command: [sleep, "1000"]}}
  peers: {use: exec.pipe, size: 1,
          args: {shell: true, command: ['echo "ready 0" >&4; exec sleep 1000']}}
  none: {use: sink.null, size: 1}
"""


def kernel_says(process):
    """The resident memory in bytes, and the command."""
    with open(f"/proc/{process}/statm", encoding="ascii") as statm:
        memory = int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    with open(f"/proc/{process}/comm", encoding="ascii") as comm:
        return memory, comm.read().strip()


def test_members_show_what_they_have_in_hand():
    """promise C21"""
    with tempfile.TemporaryDirectory() as folder:
        host = Host(folder)
        host.write(CHILDREN)
        host.start()
        members = until(lambda: [list_ for list_ in [host.json("status", "--members")]
                                 if all(m["in_hand"] == (m["pool"] != "none") and
                                        (m["pool"] == "none" or m["hand_ms"] > 1000)
                                        for m in list_)], "three workers at work")[0]
        check([(m["pool"], m["worker"]) for m in members] ==
              [("commands", 0), ("commands", 1), ("peers", 0), ("none", 0)], f"{members}")
        until(lambda: all(kernel_says(m["process"]["pid"]) ==
                          (m["process"]["memory_bytes"], "sleep")
                          for m in host.json("status", "--members")[:3]),
              "the memory of the children")
        for member in members[:3]:
            check(member["process"]["cpu_ms"] < 1000, f"a child: {member}")
            # A tick of the kernel is 10 ms.
            check(member["hand_ms"] - 1500 < member["process"]["age_ms"] < 60000, f"{member}")
        check(len({m["process"]["pid"] for m in members[:3]}) == 3, "a child each")
        for figure, low, high in (("es", 2, 2), ("_memory_bytes", 1 << 16, 1 << 28),
                                  ("_cpu_milliseconds", 0, 2000)):
            found = re.findall(rf'^weir_pool_process{figure}{{pool="(\w+)"}} (\d+)$',
                               host.get("/metrics")[1], re.M)
            check([pool for pool, _ in found] == ["commands", "peers"] and
                  low <= int(found[0][1]) <= high, f"metrics of processes: {found}")
        check("process" not in members[3] and members[3]["hand_ms"] == 0, f"{members[3]}")
        text = host.run("status", "--members", "commands").stdout
        row = r"^commands#1 +open +1 +\d[\d.]*m?s +[01] +0 +0 +{} +[\d.]+[KM]iB +\d+ms$"
        check(re.search(row.format(members[1]["process"]["pid"]), text, re.M), f"the table: {text}")
        check(not wide(host.run("status", "--members").stdout), "a wide line")
        first = members[0]["process"]["pid"]
        os.kill(first, 9)
        until(lambda: host.json("status", "--members", "commands")[0].get(
            "process", {"pid": first})["pid"] != first, "the next command")
        host.stop(9)


def test_long_lists_come_in_parts():
    """promise C21"""
    with tempfile.TemporaryDirectory() as folder:
        host = Host(folder)
        host.write("sources: {numbers: {use: gen.forever, to: few}}\n"
                   "pools: {many: {use: sink.null, size: 2500}, few: {use: sink.null, size: 2}}\n")
        host.start()
        numbers, start = [], 0
        while start is not None:
            part = host.json("status", "--members", "many", "--from", str(start))
            numbers += [member["worker"] for member in part if "worker" in member]
            rest = [member for member in part if "more" in member]
            check(rest == ([{"pool": "many", "more": 2500 - len(numbers), "from": len(numbers)}]
                           if len(numbers) < 2500 else []), f"what is left: {rest}")
            start = rest[0]["from"] if rest else None
        check(numbers == list(range(2500)), "each worker once")
        text = host.run("status", "--members").stdout
        check("many: 1500 more workers: `weir status --members --from 1000 many`\n" in text and
              "few: 2 more workers: `weir status --members --from 0 few`\n" in text and
              len(text.splitlines()) == 1003, f"the end of the table: {text[-300:]}")
        for wrong in (("--from", "x", "many"), ("--from", "4294967296", "many"), ("--from", "1")):
            check(host.run("status", *wrong).returncode == 64, f"{wrong}")
        check(host.get("/members/many?from=x")[0] == 400, "a wrong number")
        check(host.stop() == 0, "the exit code")


WAITS = """
sources:
  numbers: {use: gen.forever, to: parse}
pools:
  parse: {use: changeling.pass, size: 3, mailbox: 4, outputs: {out: RATEpost}}
  post: {use: sink.null, size: 1, mailbox: MAILBOX}
"""


def test_who_waits_for_whom():
    """promise C30"""
    room = "note: pool parse: 3 of 3 workers wait for room in pool post (output out)"
    rate = "note: pool parse: 3 of 3 workers wait for the rate of output out, to pool post"
    waits = {"output": "out", "to": "post", "for_room": 3, "for_rate": 0}
    for mailbox, slow, note, entry in (
            ("unbuffered", "", room, waits), ("4", "", room, waits),
            ("4", "{to: post, rate: {messages: 1, per: 1d, burst: 1}}", rate,
             {**waits, "for_room": 0, "for_rate": 3})):
        with tempfile.TemporaryDirectory() as folder:
            host = Host(folder)
            host.write(WAITS.replace("MAILBOX", mailbox).replace("RATEpost", slow or "post"))
            host.start()
            if not slow:
                host.run("pause", "post")
            pool = until(lambda: [p for p in [host.json("status", "parse")]
                                  if p["waits"] == [entry]], f"{note}")[0]
            check(pool["idle"] == 0, f"who waits is not idle: {pool}")
            until(lambda: host.json("status")["sources"][0]["state"] == "waiting",
                  "the source waits for the workers")
            said = re.sub(r"\n {4}", " ", host.run("status").stdout)
            check(f"\n{note}\n" in said, f"{note}: {said}")
            check(note in host.run("status", "parse").stdout, "the page of the pool")
            host.run("scale", "parse", "1")
            left = {name: min(value, 1) if isinstance(value, int) else value
                    for name, value in entry.items()}
            until(lambda: host.json("status", "parse")["waits"] == [left],
                  "who leaves is not one of those that the pool has")
            check(host.json("status", "parse")["retiring"] == 2, "both wait meanwhile")
            host.run("resume", "post")
            if not slow:
                until(lambda: host.json("status", "post")["done"] > 100, "it goes on")
            host.stop(9)


def test_inspect_of_an_ended_source():
    with tempfile.TemporaryDirectory() as folder:
        host = Host(folder)
        host.write("""
sources:
  short: {use: gen.numbers, args: {count: 1}, to: work}
  endless: {use: gen.forever, to: work}
pools:
  work: {use: sink.null, size: 1}
""")
        host.start()
        until(lambda: host.json("status")["sources"][0]["state"] == "ended", "one has ended")
        for path, said in (("short", "error: short has ended\n"), ("shirt", "did you mean")):
            answer = host.run("inspect", path)
            check(said in answer.stderr and answer.returncode == 66, f"inspect {path}: {answer}")
        host.stop(9)


def main():
    os.environ["WEIR_PLUGIN_PATH"] = sys.argv[4]
    test_who_waits_for_whom()
    test_no_line_is_wider()
    test_members_show_what_they_have_in_hand()
    test_long_lists_come_in_parts()
    test_words_fit_their_number()
    test_inspect_of_an_ended_source()
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
