#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   the children of exec.run and exec.pipe end with their host, also when it is killed, and
        only then. Shows promise B13.
Method: real hosts, killed by SIGKILL. Each child leaves its number in a folder once it is what its
        row says; then every process of its group must go. Every wait is for a condition.

    commands_end.py WEIR PLUGINS TREE
"""
import contextlib
import os
import signal
import subprocess
import tempfile

from control import PLUGINS, WEIR, Host, check, run_tests, until

SIZE = 4
HOST = """
dispatchers: {{blocking: {{threads: {size}, budget: 1}}}}
sources: {{numbers: {{use: gen.numbers, to: work, args: {{count: {size}}}}}}}
pools:
  work: {{use: exec.{kind}, size: {size}, args: {{shell: true, {more} command: ['{text}']}}}}
"""
# A child and one of its own; both leave their numbers in a folder.
PAIR = 'sleep 7000 & : >{folder}/$!; {first} : >{folder}/$$; {last}'
STAY = "while :; do sleep 7000; done"
ROWS = {
    "waits": ("run", "", "", STAY),
    "ignores signals": ("run", "", 'trap "" TERM HUP INT PIPE IO;', STAY),
    "is stopped": ("run", "", "", "kill -STOP $$"),
    "has closed its descriptors": ("run", "", "exec <&- >&- 2>&- 3<&- 4<&- 5<&- 6<&- 7<&-;", STAY),
    "is another program": ("run", "", "", "exec sleep 7000"),
    "has limits": ("run", "files: 100, cpu: 1h,", "", STAY),
    "is brief before": ("run", "", "sleep 0;", STAY),
    "keeps a pipe": ("pipe", "", 'echo "ready 0" >&4;', STAY),
    "keeps no pipe": ("pipe", "", 'echo "ready 0" >&4; exec 3<&- 4>&-;', STAY),
    "is not ready": ("pipe", "", "", STAY),
}
if os.getuid() == 0:
    ROWS["is of another user"] = ("run", "user: nobody,", "", STAY)
    ROWS["is of another user, and stays"] = ("pipe", "user: nobody, files: 50,", "", STAY)


def processes(folder):
    return [int(name) for name in os.listdir(folder)]


def lives(process):
    """A zombie has ended: whoever adopted it reaps it at leisure."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def start(work, kind, more, first, last, of_host=""):
    """Returns the host, and the folder in which each process has left its number."""
    folder = os.path.join(work, "processes")
    os.mkdir(folder)
    os.chmod(work, 0o755)
    os.chmod(folder, 0o777)
    host = Host(work)
    text = PAIR.format(folder=folder, first=first, last=last)
    host.write(HOST.format(size=SIZE, kind=kind, more=more, text=text), more=of_host)
    host.start()
    until(lambda: len(processes(folder)) == 2 * SIZE, "the processes")
    return host, folder


def test_children_end_with_a_host_that_is_killed():
    for name, row in ROWS.items():
        print(name, flush=True)
        with tempfile.TemporaryDirectory() as work:
            host, folder = start(work, *row)
            check(all(map(lives, processes(folder))), f"{name}: a process ended before its host")
            host.stop(signal.SIGKILL)
            until(lambda: not any(map(lives, processes(folder))), "the end of the processes")


def test_children_end_with_a_host_that_does_not_wait_for_them():
    """The host ends by itself, with commands that it could not finish in time."""
    with tempfile.TemporaryDirectory() as work:
        host, folder = start(work, *ROWS["ignores signals"], ", shutdown_timeout: 100ms")
        check(host.stop(signal.SIGTERM) == 75, "the exit code")
        until(lambda: not any(map(lives, processes(folder))), "the end of the processes")


RELOADED = """
dispatchers: {{default: {{threads: {threads}}}, blocking: {{threads: {threads}, budget: 1}}}}
sources: {{hourly: {{use: timer.cron, to: work, args: {{every: 1h}}}}}}
pools:
  work: {{use: sink.null}}
{more}
"""
PIPES = """  pipes: {use: exec.pipe, size: 8,
          args: {shell: true, command: ['echo "ready 0" >&4; read x <&3']}}"""


def test_children_do_not_end_with_the_thread_that_started_them():
    with tempfile.TemporaryDirectory() as work:
        host = Host(work)

        def reload(threads):
            host.write(RELOADED.format(threads=threads, more=PIPES))
            check(host.run("reload").returncode == 0, "the reload")
            items = [host.run("inspect", f"pipes#{i}", "process").stdout.split() for i in range(8)]
            return [int(number) for _, number in items]

        host.write(RELOADED.format(threads=8, more=""))
        host.start()
        children = reload(8)
        check(reload(1) == children, "the pool was opened again")
        check(len(set(children)) == 8 and all(map(lives, children)), "a child has ended")
        host.stop(signal.SIGKILL)
        until(lambda: not any(map(lives, children)), "the end of the children")


PLUGIN = "constructor_hangs.so"


def probes():
    """The processes that load the plugin of this test: what a constructor forks has the same
    command line."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            if b"probe" in words and any(PLUGIN.encode() in word for word in words):
                found.append(int(name))
    return found


def test_process_that_tries_a_plugin_ends_with_its_host():
    plugin = os.path.join(os.path.dirname(PLUGINS), "tests", "plugins", PLUGIN)
    with subprocess.Popen([WEIR, "check", "--plugin", plugin], stdout=subprocess.DEVNULL,
                          env={**os.environ, "WEIR_PLUGIN_TIMEOUT": "1h"}) as host:
        until(lambda: len(probes()) == 2 or host.poll() is not None, "the constructor")
        found = probes()
        host.kill()
    check(len(found) == 2, f"the processes: {found}")
    until(lambda: not any(map(lives, found)), "the end of the processes")


if __name__ == "__main__":
    run_tests(globals())
