#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   no bundled behaviour appends to a file in which a host keeps a state: not to one of its
        own configuration, by `weir check`, and not to one of another host that runs, by its
        start. Shows promise B51.
Method: each option that names a file to write, with each file of state.

    state_paths.py WEIR PLUGINS TREE
"""
import os
import sys
import tempfile

from control import Host, check, report_failures

# How a file is written, and the option.
WRITERS = {
    "pools.end.args.path": 'pools: {{end: {{use: file.append, args: {{path: "{path}"}}}}}}\n',
    "sources.web.args.access_log": 'pools: {{end: {{use: sink.null}}}}\n',
    "pools.end.args.path of sink.record":
        'pools: {{end: {{use: sink.record, args: {{path: "{path}"}}}}}}\n',
}
WEB = """
  web: {{use: http.server, to: end, args: {{listen: "unix:{work}/web", access_log: "{path}"}}}}
"""
STATES = {
    "position": "sources.lines.args.position",
    "position.lock": "sources.lines.args.position (its .lock)",
    "position.new": "sources.lines.args.position (its .new)",
    "dead": "host.dead_letters.file",
    "weir.sock": "host.control",
}
LINES = """
sources:
  lines: {{use: files.tail, to: end,
          args: {{paths: ["{work}/a.log"], position: "{work}/position"}}}}
"""


def text_of(option, work, path, lines=LINES):
    web = WEB if option.startswith("sources.web") else ""
    if web and not lines:
        lines = "\nsources:"
    return (lines + web + WRITERS[option]).format(work=work, path=path)


def written(host, option, path, lines=LINES):
    host.write(text_of(option, host.work, path, lines),
               more=f', dead_letters: {{file: "{host.work}/dead"}}' if lines else "")


def test_check_refuses_the_states_of_its_file(option, work):
    host = Host(work)
    for name, owner in STATES.items():
        written(host, option, os.path.join(work, ".", name))
        got = host.run("check", host.file)
        check(got.returncode == 78 and
              f"{option.split()[0]}: is the file of {owner}, too" in got.stderr, f"{name}: {got}")
    written(host, option, f"{work}/other")
    got = host.run("check", host.file)
    check(got.returncode == 0, got.stderr)


def test_start_refuses_the_states_of_another_host(option, work):
    owner, other = Host(work), Host(work, "other")
    with open(f"{work}/a.log", "w", encoding="utf-8") as stream:
        stream.write("one\n")
    owner.write(LINES.format(work=work) + "pools: {end: {use: sink.null}}\n",
                more=f', dead_letters: {{file: "{work}/dead"}}')
    owner.start()
    try:
        for name in ("position.lock", "position", "dead"):
            before = os.stat(f"{work}/{name}").st_ino if name != "position" else None
            written(other, option, f"{work}/{name}", lines="")
            other.start()
            code, log = other.stop(), open(other.log, encoding="utf-8").read()
            check(code == 69 and "a host keeps" in log,
                  f"{option} {name}: {code} {log[-500:]}")
            check(before in (None, os.stat(f"{work}/{name}").st_ino), name)
    finally:
        code = owner.stop()
    check(code == 0, f"{code} {open(owner.log, encoding='utf-8').read()[-500:]}")


def main():
    for option in WRITERS:
        for test in (test_check_refuses_the_states_of_its_file,
                     test_start_refuses_the_states_of_another_host):
            with tempfile.TemporaryDirectory() as work:
                test(option, work)
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
