#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a host says once what its file loses: at the start, and at a reload that changes
        something. `weir inspect` says which items there are not. Shows promise B63.
Method: a real host with an output that is not bound; the lines of its log are counted. Every wait
        is for a condition.

    lost.py WEIR PLUGINS TREE
"""
import json
import sys

from control import check, report_failures, running

LOSING = """
sources: {numbers: {use: gen.forever, to: work, rate: 10/s}}
pools: {work: {use: exec.run, size: SIZE, args: {command: ["true"]}}}
"""


def warnings(host):
    with open(host.log, encoding="utf-8") as log:
        return sum("not bound: what exec.run emits there is lost" in line for line in log)


def test_warning_is_logged_once():
    with running(LOSING.replace("SIZE", "1")) as host:
        check(warnings(host) == 1, f"at the start: {warnings(host)}")
        for _ in range(3):
            check(host.run("reload").returncode == 0, "a reload of the same file")
        check(warnings(host) == 1, f"a reload that changes nothing: {warnings(host)}")
        host.write(LOSING.replace("SIZE", "2"))
        answer = host.run("reload")
        check("is lost" in answer.stdout + answer.stderr, f"the answer: {answer}")
        check(warnings(host) == 2, f"a reload with a change: {warnings(host)}")
        host.write(LOSING.replace("SIZE", "2")
                   .replace('["true"]}', '["true"]}, outputs: {out: none}'))
        check(host.run("reload").returncode == 0, "a reload to `none`")
        check(warnings(host) == 2, f"a reload to `none`: {warnings(host)}")


def test_inspect_of_nothing_says_so():
    with running(LOSING.replace("SIZE", "1")) as host:
        for arguments, missing, found in (
                (("work", "nosuch"), ["nosuch"], []),
                (("work", "queue"), ["queue"], []),          # `queued` is another
                (("work", "pool_size", "nosuch", "state", "or"), ["nosuch", "or"],
                 ["pool_size", "state"]),
                (("work", "pool_size", "state"), [], ["pool_size", "state"]),
                (("work#0", "nosuch"), ["nosuch"], []),
                (("numbers", "next", "nosuch"), ["nosuch"], ["next"])):
            text = "".join(f'error: {arguments[0]} has no item "{name}"\n' for name in missing)
            for form in ("text", "json"):
                answer = host.run("inspect", *arguments, "-o", form)
                check(answer.returncode == (66 if missing else 0) and answer.stderr == text,
                      f"{arguments} {form}: {answer}")
                names = [line.split()[0] for line in answer.stdout.splitlines()] \
                    if form == "text" else list(json.loads(answer.stdout)["items"])
                check(sorted(names) == sorted(found), f"{arguments} {form}: {names}")
        answer = host.run("inspect", "nosuch", "state")
        check(answer.returncode == 66 and "there is no pool" in answer.stderr, f"{answer}")


def main():
    test_warning_is_logged_once()
    test_inspect_of_nothing_says_so()
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
