#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   exec.run does with real tools what its README says: every message is a command, a pool is
        resized while its commands run, a stop lets them finish, and nothing is left of a command
        that was stopped. Shows promise B13.
Method: real hosts. gzip compresses awkward files, and Python reads them back; commands that wait
        for a file of the test show who runs at the same time. Every wait is for a condition.

    commands.py WEIR PLUGINS TREE
"""
import gzip
import os
import random
import shutil
import subprocess
import sys
import tempfile

from control import PLUGINS, TREE, WEIR, Host, check, run_tests, running, until

NAMES = ["plain", "two words", "$(touch injected)", "quo'te\"s", "-dash", "ünïcode", "back\\slash",
         "semi;colon", "{}", "*"]


def run_file(work, file, **variables):
    return subprocess.run(
        [WEIR, "run", file], cwd=work, capture_output=True, text=True, check=False,
        env={**os.environ, "WEIR_PLUGIN_PATH": PLUGINS,
             "WEIR_CONTROL": os.path.join(work, "socket"), **variables})


def test_example_compresses_files_of_any_name():
    with tempfile.TemporaryDirectory() as work:
        contents = {name: random.randbytes(random.randrange(200000)) for name in NAMES}
        contents.update({f"file {i}": f"{i}\n".encode() * i for i in range(200)})
        os.mkdir(os.path.join(work, "logs"))
        for name, content in contents.items():
            with open(os.path.join(work, "logs", name), "wb") as file:
                file.write(content)
        options = {"--help": b"help", "-d": b"decompress", "--": b"end"}
        for name, content in options.items():
            with open(os.path.join(work, name), "wb") as file:
                file.write(content)
        with open(os.path.join(work, "files.txt"), "w", encoding="utf-8") as file:
            file.write("".join(f"logs/{name}\n" for name in [*contents, "missing"]))
            file.write("".join(f"{name}\n" for name in options))
        shutil.copy(os.path.join(TREE, "examples/commands/compress.yaml"), work)
        ended = run_file(work, "compress.yaml")
        check(ended.returncode == 65, f"exit code {ended.returncode}: {ended.stderr}")
        check('line="gzip: logs/missing: No such file or directory"' in ended.stderr, "its words")
        check("1 message is dead (1 rejected)" in ended.stderr, ended.stderr[-1000:])
        for name, content in contents.items():
            with gzip.open(os.path.join(work, "logs", name + ".gz")) as file:
                check(file.read() == content, f"{name} is not what it was")
        for name, content in options.items():
            with gzip.open(os.path.join(work, name + ".gz")) as file:
                check(file.read() == content, f"{name} is not what it was")
        check(sorted(os.listdir(work)) == ["--.gz", "--help.gz", "-d.gz", "compress.yaml",
                                           "files.txt", "logs"], f"left: {os.listdir(work)}")


WAITING = """
dispatchers: {{blocking: {{threads: 2, budget: 1}}}}
sources: {{numbers: {{use: gen.numbers, to: work, args: {{count: 8}}}}}}
pools:
  work: {{use: exec.run, size: 2, route: pull,
         args: {{shell: true,
                command: [': >"{work}/begun.$$"; exec tail -f --pid="{pid}" /dev/null']}}}}
"""


def test_pool_is_resized_while_its_commands_run():
    with tempfile.TemporaryDirectory() as work, \
            subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"],
                             stdin=subprocess.PIPE) as gate:
        host = Host(work)
        host.write(WAITING.format(work=work, pid=gate.pid))
        host.start()

        def begun():
            return len([name for name in os.listdir(work) if name.startswith("begun")])
        until(lambda: begun() == 2, "two commands")
        check(host.run("scale", "work", "4").returncode == 0, "weir scale")
        until(lambda: begun() == 4, "four commands")
        items = host.run("inspect", "work#3", "process", "commands_done").stdout.split()
        check(os.path.exists(f"/proc/{items[1]}") and items[3] == "0", f"inspect: {items}")
        gate.stdin.close()
        gate.wait()
        check(host.process.wait() == 0, "the exit code")
        check(begun() == 8, f"{begun()} commands")


STOPPED = """
sources: {{numbers: {{use: gen.numbers, to: work, args: {{count: 1}}}}}}
pools:
  work: {{use: exec.run, size: 1, args: {args}}}
"""


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def is_gone(path):
    return not os.path.exists(f"/proc/{text_of(path).strip()}")


def end_of_time_out(timeout):
    """Runs a command that leaves a process in the background. Returns whether that process had
    begun before the time-out."""
    with tempfile.TemporaryDirectory() as work:
        number = os.path.join(work, "number")
        host = Host(work)
        host.write(STOPPED.format(
            args=f"""{{shell: true, timeout: {timeout}, grace: 100ms, command:
                     ['trap "" TERM; sleep 1000 & echo $! >{number}; while :; do wait; done']}}"""))
        host.start()
        check(host.process.wait() == 65, "the exit code")
        check("detail=time-out" in text_of(host.log), "the reason")
        if not os.path.exists(number):
            return False
        until(lambda: is_gone(number), "the end of the process in the background")
        return True


def test_time_out_leaves_no_process_of_the_group():
    """A slow machine may not have begun the process within the first time-out."""
    check(any(end_of_time_out(timeout) for timeout in ("300ms", "3s", "30s")), "nothing began")


def test_stop_of_the_host_lets_a_command_finish():
    with tempfile.TemporaryDirectory() as work:
        begun, done = os.path.join(work, "begun"), os.path.join(work, "done")
        gate = os.path.join(work, "gate")
        os.mkfifo(gate)
        text = STOPPED.format(args="{shell: true, command: "
                                   f"[': >{begun}; read x <{gate}; : >{done}']}}")
        with running(text) as host:
            until(lambda: os.path.exists(begun), "the command")
            host.process.terminate()
            until(lambda: 'event="stopping"' in text_of(host.log), "the stop")
            with open(gate, "w", encoding="ascii") as file:
                file.write("go\n")
            check(host.process.wait() == 0, "the exit code")
            check(os.path.exists(done), "the command did not finish")


TRACEBACK = """def down(n):
    return down(n - 1) if n else int("no number")
down(20)
"""
FAILING = """
sources: {{numbers: {{use: gen.numbers, to: work, args: {{count: 1}}}}}}
pools:
  work: {{use: exec.{kind}, size: 1, restart: {{max: 1, then: stop}},
         args: {{shell: true, command: ['{before} exec {python} {work}/deep.py']}}}}
"""


def test_last_line_of_a_traceback_is_in_the_log():
    """It is longer than the ten lines of one event that the host writes in a second."""
    for kind, before, event in (("run", "", "command failed"),
                                ("pipe", 'echo "ready 0" >&4; read x <&3;', "child ended")):
        with tempfile.TemporaryDirectory() as work:
            with open(os.path.join(work, "deep.py"), "w", encoding="utf-8") as file:
                file.write(TRACEBACK)
            host = Host(work)
            host.write(FAILING.format(kind=kind, before=before, python=sys.executable, work=work))
            host.start()
            said = """said="ValueError: invalid literal for int() with base 10: 'no number'\""""
            until(lambda: any(f'event="{event}' in line and said in line
                              for line in text_of(host.log).splitlines()), said)
            host.stop(9)


if __name__ == "__main__":
    run_tests(globals())
