#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a dead letter, and its line in the log, name the line that its message came from, also
        when the message that is dead was made of the line by an earlier worker.
Method: real hosts whose only worker rejects, behind files.lines with and without a position,
        files.tail and stdin.lines; with a worker between them; a reload of stdin.lines; a file with
        a name that is longer than a label. Then a worker that aborts: the last line of the log
        names the line of the file.

    labels.py WEIR PLUGINS TREE
"""
import contextlib
import json
import os
import re
import signal
import sys
import tempfile

from control import PLUGINS, Host, check, report_failures, until

TEXT = """
sources: {{lines: {{use: {use}, args: {{{args}}}, to: {to}}}}}
pools:
  pass: {{use: relay.pass, size: 1, outputs: {{out: end}}}}
  end: {{use: relay.pass, size: 1, mailbox: 100, args: {{{faults}}}}}
"""


class Rejecting(Host):
    def configure(self, use, args, to, faults="rejects_each: 1"):
        self.dead = os.path.join(self.work, "dead")
        self.write(TEXT.format(use=use, args=args, to=to, faults=faults),
                   more=f', dead_letters: {{file: "{self.dead}"}}')

    def labels(self):
        got = self.run("dead", "--file", self.dead, "-o", "json")
        return [re.sub(r".*; ", "", letter["detail"]) for letter in json.loads(got.stdout or "[]")]

    def are(self, expected, what):
        until(lambda: len(self.labels()) >= len(expected), what)
        check(self.labels() == expected, f"{what}: {self.labels()}")
        until(lambda: f"; {expected[0]}" in open(self.log, encoding="utf-8").read(), f"{what}, log")


@contextlib.contextmanager
def rejecting(use, args, to):
    """In the arguments FOLDER is that of the host."""
    with tempfile.TemporaryDirectory() as folder:
        host = Rejecting(folder)
        host.configure(use, args.replace("FOLDER", folder), to)
        try:
            yield host
        finally:
            host.stop(9)


def test_lines_of_files():
    position = ', position: "FOLDER/position"'
    for use, more, to in (("files.lines", "", "end"),
                          ("files.lines", position, "end"),
                          ("files.lines", position, "pass"),
                          ("files.tail", position, "end"),
                          ("files.tail", position, "pass")):
        with rejecting(use, f'paths: ["FOLDER/app.log"]{more}', to) as host:
            path = os.path.join(host.work, "app.log")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write("first\n\nthird\n")
            host.start()
            host.are([f"{path}:{n}" for n in (1, 2, 3)], f"{use} to {to}{more}")
            shown = host.run("dead", "--file", host.dead, "-v", "3").stdout.splitlines()
            check(len(shown) == 4 and shown[-1] == "  | third" and
                  " rejected " in shown[1] and shown[1].endswith(f"; {path}:3"), f"{shown}")
            check(shown[2].endswith(f"bytes: line 3 of {path}, from byte 7"), f"{shown}")


def test_long_name_keeps_its_end():
    with rejecting("files.lines", 'paths: ["FOLDER/*/*"]', "end") as host:
        name = os.path.join(host.work, "x" * 100, "é" * 100 + ".log")
        os.mkdir(os.path.dirname(name))
        with open(name, "w", encoding="utf-8") as stream:
            stream.write("only\n")
        host.start()
        until(host.labels, "a letter")
        label = host.labels()[0]
        check(label.startswith("...é") and label.endswith("é.log:1") and name.endswith(label[3:-2])
              and len(label.encode()) in (188, 189), f"a name of {len(name)}: {label}")


def test_standard_input():
    """A source that takes over after a reload goes on counting."""
    with rejecting("stdin.lines", "line_max: 100", "end") as host:
        reader, writer = os.pipe()
        host.start(reader)
        os.write(writer, b"one\n" + b"x" * 200 + b"\nthree\n")
        host.are(["stdin:1", "stdin:3"], "a line was too long")
        host.configure("stdin.lines", "line_max: 101", "end")
        check(host.run("reload").returncode == 0, "the reload")
        os.write(writer, b"four\n")
        host.are(["stdin:1", "stdin:3", "stdin:4"], "after a reload")
        os.close(writer)
        os.close(reader)


def test_replayed_message_keeps_its_label():
    with rejecting("stdin.lines", "line_max: 100", "pass") as host:
        reader, writer = os.pipe()
        host.start(reader)
        os.write(writer, b"one\ntwo\n")
        host.are(["stdin:1", "stdin:2"], "before the replay")
        check(host.run("dead", "end", "--replay").returncode == 0, "the replay")
        until(lambda: host.json("status", "end")["dead"] == 4, "they are dead again")
        labels = [letter["detail"].split("; ")[-1] for letter in host.json("dead", "end")]
        check(labels == ["stdin:1", "stdin:2"], f"after the replay: {labels}")
        os.close(writer)
        os.close(reader)


def test_crash():
    for to, faults in (("end", "crashes_at: 2"), ("pass", "crashes_at: 4")):
        with tempfile.TemporaryDirectory() as folder:
            host, path = Rejecting(folder), os.path.join(folder, "app.log")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write("first\nsecond\n")
            host.configure("files.lines", f'paths: ["{path}"], position: "{folder}/position"', to,
                           faults)
            host.start()
            check(host.process.wait() == -signal.SIGABRT, "it aborts")
            last = [line for line in open(host.log, encoding="utf-8") if 'event="crash"' in line]
            check(len(last) == 1 and "component=end " in last[0] and
                  re.search(f" label={re.escape(path)}:2 attempt=1 effect=", last[0]),
                  f"to {to}: {last}")


def main():
    os.environ["WEIR_PLUGIN_PATH"] = os.path.join(PLUGINS, "../tests/plugins")  # of relay
    test_lines_of_files()
    test_long_name_keeps_its_end()
    test_standard_input()
    test_crash()
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
