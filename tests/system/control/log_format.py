#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a log on a terminal is for people, elsewhere for programs, and the file or a reload may
        choose another format.
Method: real hosts with a pseudo-terminal, or a file, as standard error. Every wait is for a
        condition.

    log_format.py WEIR PLUGINS TREE
"""
import os
import pty
import re
import subprocess
import sys
import tempfile

from control import PLUGINS, WEIR, check, report_failures

TIME = r"\d\d:\d\d:\d\d\.\d{3}"


def file(work, log=""):
    path = os.path.join(work, "weir.yaml")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(f'version: 1\nhost: {{plugins: ["{PLUGINS}"]{log}}}\n'
                     "sources: {few: {use: gen.numbers, to: sink, args: {count: 3}}}\n"
                     "pools: {sink: {use: sink.null, size: 1}}\n")
    return path


def on_terminal(path, **variables):
    """What a user reads."""
    reader, writer = pty.openpty()
    host = subprocess.Popen([WEIR, "run", path], stderr=writer, stdout=subprocess.DEVNULL,
                            env={**os.environ, "NO_COLOR": "", "TERM": "xterm", **variables})
    os.close(writer)
    text = b""
    try:
        while piece := os.read(reader, 65536):
            text += piece
    except OSError:                                 # the last user of the terminal has left
        pass
    os.close(reader)
    check(host.wait() == 0, f"{host.returncode} {text}")
    return text.decode()


def in_file(path):
    return subprocess.run([WEIR, "run", path], capture_output=True, text=True, check=True).stderr


def main():
    with tempfile.TemporaryDirectory() as work:
        text = on_terminal(file(work))
        check(re.search(f"{TIME} \033\\[32minfo\033\\[0m host: started file=", text), text)
        check("event=" not in text and "level=" not in text, text)
        text = on_terminal(file(work), NO_COLOR="1")
        check(re.search(f"{TIME} info host: started file=", text), text)
        check('event="started"' in in_file(file(work)), "a file")
        text = in_file(file(work, ", log: {format: text}"))
        check(re.match(f"{TIME} info host: started file=", text), text)
        check("\033" not in text, "no colour in a file")
        for name, wanted in (("logfmt", 'event="started"'), ("json", '"event":"started"')):
            check(wanted in on_terminal(file(work, f", log: {{format: {name}}}")), name)
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
