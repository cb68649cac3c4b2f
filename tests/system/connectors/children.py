# SPDX-License-Identifier: MIT
"""Children of exec.pipe that write the frames of the protocol themselves, and hosts that run
them."""
import contextlib
import json
import os
import subprocess
import tempfile

from control import PLUGINS, WEIR, Host

# Reads and writes frames; the rest of a program follows.
CHILD = r'''
import collections, os, random, select, signal, sys, time
writer = os.fdopen(4, "wb", 0)
unread = b""
Message = collections.namedtuple("Message", "kind id attempt data")

def say(text, data=b""):
    try:
        writer.write(text.encode() + b"\n" + data)
    except OSError:
        sys.exit(0)

def out(data, id):
    say(f"out {{len(data)}} 0 {{id}}", data)

def until(enough):
    global unread
    while not enough():
        piece = os.read(3, 65536)
        if not piece:
            return False
        unread += piece
    return True

def message():
    global unread
    if not until(lambda: b"\n" in unread):
        return None
    line, _, unread = unread.partition(b"\n")
    words = line.decode().split()
    size = int(words[1])
    if words[0] == "close" or not until(lambda: len(unread) >= size):
        return None
    data, unread = unread[:size], unread[size:]
    return Message(words[0], int(words[2]) if len(words) > 2 else 0,
                   int(words[3]) if len(words) > 4 else 0, data)

def buffered():
    return unread or select.select([3], [], [], 0)[0]

say("{ready}")
'''

POOL = """
sources: {{lines: {{use: stdin.lines, to: work}}}}
pools:
  work:
    use: exec.pipe
    size: {size}
    redeliver: {redeliver}
    restart: {{max: 1000, within: 1s, backoff: 1ms..10ms}}
    args: {{command: [python3, "{program}"]{more}}}
    outputs: {{out: print}}
  print: {{use: {sink}}}
"""


class Work:
    """A folder with a program, and a host for it."""

    def __init__(self, folder, program, sink, size=1, redeliver=0):
        self.folder, self.size, self.redeliver = folder, size, redeliver
        self.host = Host(folder)
        self.program = os.path.join(folder, "program.py")
        self.output = os.path.join(folder, "output")
        self.sink = sink or f'file.append, size: 1, args: {{path: "{self.output}"}}'
        with open(self.program, "w", encoding="utf-8") as stream:
            stream.write(program)

    def write(self, more=""):
        self.host.write(POOL.format(size=self.size, redeliver=self.redeliver, more=more,
                                    program=self.program, sink=self.sink))

    def log(self):
        with open(self.host.log, encoding="utf-8") as stream:
            return stream.read()

    def items(self, worker="work#0"):
        answer = self.host.run("inspect", worker, "-o", "json")
        return json.loads(answer.stdout)["items"] if answer.returncode == 0 else {}


@contextlib.contextmanager
def configured(program, more="", **options):
    """A host that may be started, and writes the outputs to a file."""
    with tempfile.TemporaryDirectory() as folder:
        work = Work(folder, program, None, **options)
        work.write(more)
        try:
            yield work
        finally:
            work.host.stop(9)


@contextlib.contextmanager
def filtered(program, text, more="", variables=None, **options):
    """What a host makes of the lines of a text."""
    with tempfile.TemporaryDirectory() as folder:
        work = Work(folder, program, "stdout.write, size: 1", **options)
        work.write(more)
        yield subprocess.run([WEIR, "run", work.host.file], input=text, capture_output=True,
                             text=True, check=False, cwd=folder,
                             env={**os.environ, "WEIR_PLUGIN_PATH": PLUGINS, **(variables or {})})
