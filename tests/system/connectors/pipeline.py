#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   Weir in a shell pipeline: every line of standard input arrives once, in order, through a
        slow reader and a reload; a reader that leaves ends the host without an error; a file that
        is rotated under load holds every message once.
Method: real hosts between seq, yes, head, find and xargs, and renamed files. Every wait is for a
        condition.

    pipeline.py WEIR PLUGINS TREE
"""
import hashlib
import os
import pty
import select
import shutil
import signal
import subprocess
import tempfile

from control import PLUGINS, TREE, WEIR, Host, check, run_tests, running, until

LINES = """
sources: {lines: {use: stdin.lines, to: print}}
pools: {print: {use: stdout.write, size: 1}}
"""


def shell(work, text):
    return subprocess.run(["bash", "-c", text], cwd=work, capture_output=True, text=True,
                          check=False, env={**os.environ, "WEIR": WEIR, "WEIR_PLUGIN_PATH": PLUGINS,
                                            "WEIR_CONTROL": os.path.join(work, "socket")})


def hosted(work, text):
    host = Host(work)
    host.write(text)
    return host.file


def test_every_line_comes_out_in_order():
    with tempfile.TemporaryDirectory() as work:
        file = hosted(work, LINES)
        for source in ("seq 200000", "cat numbers", "printf 'a\\r\\n\\nlast'"):
            shell(work, "seq 1000 >numbers")
            got = shell(work, f"{source} | $WEIR run {file} 2>log")
            wanted = shell(work, source).stdout.replace("\r", "").rstrip("\n") + "\n"
            check(got.stdout == wanted, f"{source}: {len(got.stdout)} of {len(wanted)} bytes")
            check(got.returncode == 0, f"{source}: exit code {got.returncode}")
        got = shell(work, f"$WEIR run {file} <numbers 2>log")
        check(hashlib.sha256(got.stdout.encode()).digest() ==
              hashlib.sha256("".join(f"{i}\n" for i in range(1, 1001)).encode()).digest(), "a file")


def test_each_line_of_a_quiet_writer_comes_out_before_the_next():
    for ends in (os.pipe, pty.openpty):
        with tempfile.TemporaryDirectory() as work:
            reader, writer = ends()
            with subprocess.Popen([WEIR, "run", hosted(work, LINES)], stdin=subprocess.PIPE,
                                  stdout=writer, stderr=subprocess.DEVNULL,
                                  env={**os.environ, "WEIR_PLUGIN_PATH": PLUGINS}) as process:
                for number in range(5):
                    process.stdin.write(f"line {number}\n".encode())
                    process.stdin.flush()
                    line = b""
                    while not line.endswith(b"\n"):  # a terminal gives its end by itself
                        ready = select.select([reader], [], [], 30)[0]
                        if not check(bool(ready), f"line {number} is late"):
                            break
                        line += os.read(reader, 100)
                    check(line.split() == [b"line", b"%d" % number], f"the line: {line}")
                process.stdin.close()
                check(process.wait() == 0, "the exit code")
            os.close(reader)
            os.close(writer)


def test_reader_that_leaves_ends_the_host_in_order():
    with tempfile.TemporaryDirectory() as work:
        file = hosted(work, LINES)
        got = shell(work, f"yes | $WEIR run {file} 2>log | head -3; echo ${{PIPESTATUS[1]}}")
        check(got.stdout == "y\ny\ny\n75\n", got.stdout)
        with open(os.path.join(work, "log"), encoding="utf-8") as stream:
            log = stream.read()
        check("level=error" not in log and "level=warning" not in log, log)
        check("dead=0" in log and "balance=exact" in log, log)


def test_second_reader_of_standard_input_is_refused():
    with tempfile.TemporaryDirectory() as work:
        file = hosted(work, LINES.replace(
            "{lines:", "{more: {use: stdin.lines, to: print}, lines:"))
        got = shell(work, f"seq 3 | $WEIR run {file}")
        check(got.returncode != 0 and "another source reads standard input" in got.stderr,
              f"{got.returncode}: {got.stderr}")


def test_closed_streams_are_refused_before_a_line_is_read():
    with tempfile.TemporaryDirectory() as work:
        file = hosted(work, LINES)
        for closed, wanted in ((">&-", "standard output is not open for writing"),
                               ("<&-", "standard input is not open for reading")):
            got = shell(work, f"$WEIR run {file} </dev/null {closed}")
            check(got.returncode == 69 and wanted in got.stderr, f"{closed}: {got}")


NAMES = """
sources: {names: {use: stdin.lines, args: {nul: true}, to: sum}}
pools:
  sum: {use: exec.run, size: 3, route: pull, args: {command: [sha256sum, -z, "{}"]},
        outputs: {out: print}}
  print: {use: stdout.write, size: 1, args: {end: none}}
"""


def test_files_of_any_name_are_summed_as_xargs_does():
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(os.path.join(work, "files"))
        for i in range(100):
            with open(os.path.join(work, "files", f"a name\nof {i} lines '\"$x"), "w",
                      encoding="ascii") as file:
                file.write(str(i) * i)
        file = hosted(work, NAMES)
        ours = shell(work, f"find files -type f -print0 | $WEIR run {file} 2>log")
        theirs = shell(work, "find files -type f -print0 | xargs -0 sha256sum -z")
        check(sorted(ours.stdout.split("\0")) == sorted(theirs.stdout.split("\0")),
              f"{ours.stdout}\n{ours.stderr}")


def test_example_filters_and_archives():
    with tempfile.TemporaryDirectory() as work:
        shutil.copy(os.path.join(TREE, "examples/commands/upper.yaml"), work)
        got = shell(work, "printf 'one\\ntwo words\\n' | $WEIR run upper.yaml")
        check(got.stdout == "ONE\nTWO WORDS\n" and got.returncode == 0, f"{got}")
        with open(os.path.join(work, "upper.log"), encoding="ascii") as file:
            check(file.read() == got.stdout, "the archive")


def lines_in(path):
    if not os.path.exists(path):
        return 0
    with open(path, encoding="ascii") as file:
        return file.read().count("\n")


def test_reload_loses_nothing_that_was_read():
    with tempfile.TemporaryDirectory() as work:
        host = Host(work)
        path = os.path.join(work, "out")
        text = ("sources: {{lines: {{use: stdin.lines, to: out, args: {{line_max: {max}}}}}}}\n"
                "pools: {{out: {{use: file.append, size: 1, args: {{path: PATH}}}}}}\n"
                ).replace("PATH", path)
        host.write(text.format(max="1KiB"))
        with open(host.log, "wb") as log, subprocess.Popen(
                [WEIR, "run", host.file], stdin=subprocess.PIPE, stdout=log, stderr=log) as process:
            wanted = ""
            for part in range(20):
                # The last line has no end yet: the source reads half the line before the reload.
                piece = "".join(f"{part} {i}\n" for i in range(997)) + f"{part} half"
                process.stdin.write(piece.encode())
                process.stdin.flush()
                wanted += piece
                until(lambda: lines_in(path) == wanted.count("\n"), "lines")
                host.write(text.format(max=f"{part + 2}KiB"))
                check(host.run("reload").returncode == 0, "weir reload")
            process.stdin.close()
            check(process.wait() == 0, "the exit code")
        with open(path, encoding="ascii") as file:
            check(file.read() == wanted + "\n", "lines were lost, or came twice")


ROTATED = """
sources: {{numbers: {{use: stdin.lines, to: work}}}}
pools: {{work: {{use: file.append, size: 1, args: {{path: "{path}", {args}}}}}}}
"""


def read_all(work):
    """The lines of all files, oldest first."""
    names = [name for name in os.listdir(work) if name.startswith("lines")]
    names.sort(key=lambda name: -int(name.partition(".")[2] or 0))
    return "".join(open(os.path.join(work, name), encoding="ascii").read() for name in names), names


def test_rotation_under_load_keeps_every_line():
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "lines")
        file = hosted(work, ROTATED.format(path=path, args="rotate_size: 10KiB, keep: 1000"))
        got = shell(work, f"seq 100000 | $WEIR run {file} 2>log")
        check(got.returncode == 0, f"exit code {got.returncode}")
        text, names = read_all(work)
        check(text == "".join(f"{i}\n" for i in range(1, 100001)), "by size: lines are missing")
        check(len(names) > 50 and all(os.path.getsize(os.path.join(work, name)) <= 10240
                                      for name in names), f"{len(names)} files")


FOREVER = """
sources: {{numbers: {{use: gen.forever, to: line}}}}
pools:
  line: {{use: exec.run, size: 2, args: {{command: [date, +%s%N]}}, outputs: {{out: work}}}}
  work: {{use: file.append, size: 1, args: {{path: "{path}"}}}}
"""


def test_renamed_file_is_opened_again_after_usr1():
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "lines")
        with running(FOREVER.format(path=path)) as host:
            for number in range(1, 6):
                until(lambda: os.path.exists(path) and os.path.getsize(path) > 0, "a line")
                os.rename(path, f"{path}.{6 - number}")
                host.process.send_signal(signal.SIGUSR1)
            until(lambda: os.path.exists(path) and os.path.getsize(path) > 0, "the last file")
            done = host.json("status", "work")["done"]
            host.stop()
        text, names = read_all(work)
        check(len(names) == 6, f"{names}")
        check(text.count("\n") >= done and all(len(x) == 19 for x in text.split()),
              "lines are missing, or broken")


if __name__ == "__main__":
    run_tests(globals())
