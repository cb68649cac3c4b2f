#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a host that is process 1, as in a container, reaps the orphans that its commands leave,
        and is otherwise a host as any other: signals, exit codes, sockets that it was given. Shows
        promise B52.
Method: real hosts, each process 1 of a namespace of its own (unshare). Every wait is for a
        condition.

    first_process.py WEIR PLUGINS TREE
"""
import fcntl
import os
import pty
import signal
import socket
import subprocess
import tempfile
import termios

from control import WEIR, Host, check, run_tests, until

# Root needs no namespace of users.
UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"] + \
    ([] if os.getuid() == 0 else ["--user", "--map-root-user"])
HOST = """
sources: {{hourly: {{use: timer.cron, to: work, args: {{every: 1h}}}}}}
pools:
  work: {{use: exec.pipe, size: 1, args: {{shell: true, command: ['{text}']}}}}
"""
READY = 'echo "ready 0" >&4; read x <&3'


def children_of(process):
    """(number, state) of each."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == process:
            found.append((int(name), fields[0]))
    return found


class First(Host):
    """A host that is process 1. `first` is its number outside."""

    def start(self, listener=None, terminal=None):
        given = ["sh", "-c", f'LISTEN_PID=1 LISTEN_FDS=1 exec "$@" 3<&{listener.fileno()}', "sh"] \
            if listener else []
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*UNSHARE, *given, WEIR, "run", self.file], stdout=log, stderr=log,
                pass_fds=[listener.fileno()] if listener else [], stdin=terminal,
                start_new_session=terminal is not None,
                preexec_fn=lambda: terminal and fcntl.ioctl(terminal, termios.TIOCSCTTY, 0))
        until(lambda: 'event="started"' in self.text() or self.process.poll() is not None,
              "the start")
        self.first = children_of(self.process.pid)[0][0] if self.process.poll() is None else 0

    def text(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()


def test_orphans_are_reaped():
    with tempfile.TemporaryDirectory() as work:
        host = First(work)
        done = os.path.join(work, "done")
        os.mkdir(done)
        orphans = f'i=0; while [ $i -lt 9 ]; do i=$((i+1)); (setsid sh -c ": >{done}/$i" &); done'
        host.write(HOST.format(text=f'{orphans}; {READY}'))
        host.start()
        until(lambda: len(os.listdir(done)) == 9, "the orphans")
        until(lambda: all(state != "Z" for _, state in children_of(host.first)), "their end")
        check(len(children_of(host.first)) == 1, f"children: {children_of(host.first)}")
        os.kill(host.first, signal.SIGTERM)
        check(host.process.wait() == 0, f"the exit code {host.process.returncode}")


def test_signals_reach_the_host():
    with tempfile.TemporaryDirectory() as work:
        host = First(work)
        host.write(HOST.format(text=READY))
        host.start()
        os.kill(host.first, signal.SIGHUP)
        until(lambda: 'event="nothing to do"' in host.text(), "the reload")
        os.kill(host.first, signal.SIGUSR2)
        until(lambda: "ledger" in host.text(), "the ledger")
        os.kill(host.first, signal.SIGINT)
        check(host.process.wait() == 0, f"the exit code {host.process.returncode}")


def test_key_of_a_terminal_is_one_signal():
    """A second one would end the host at once, with a message in hand."""
    with tempfile.TemporaryDirectory() as work:
        keys, terminal = pty.openpty()
        begun, gate = os.path.join(work, "begun"), os.path.join(work, "gate")
        os.mkfifo(gate)
        host = First(work)
        host.write("sources: {one: {use: gen.numbers, to: work, args: {count: 1}}}\n"
                   "pools: {work: {use: exec.run, size: 1, args: {shell: true, command: "
                   f"[': >{begun}; read x <{gate}']}}}}}}\n")
        host.start(terminal=terminal)
        until(lambda: os.path.exists(begun), "the command")
        os.write(keys, b"\x03")
        until(lambda: 'event="stopping"' in host.text(), "the signal")
        with open(gate, "w", encoding="ascii") as file:
            file.write("go\n")
        check(host.process.wait() == 0, f"the exit code {host.process.returncode}: {host.text()}")
        os.close(keys)
        os.close(terminal)


def test_exit_codes_are_those_of_the_host():
    with tempfile.TemporaryDirectory() as work:
        host = First(work)
        host.write("pools: {work: {use: nobody.knows}}\n")
        host.start()
        check(host.process.wait() == 78, f"a wrong file: {host.process.returncode}")
        host.write(HOST.format(text=READY))
        host.start()
        os.kill(children_of(host.first)[0][0], signal.SIGKILL)
        check(host.process.wait() == 137, f"a host that is killed: {host.process.returncode}")


def test_socket_for_process_1_is_for_the_host():
    with tempfile.TemporaryDirectory() as work, \
            socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        host = First(work)
        host.write(HOST.format(text=READY))
        listener.bind(host.socket)
        listener.listen()
        host.start(listener)
        check(host.first > 0 and host.run("status").returncode == 0, f"the socket: {host.text()}")
        os.kill(host.first, signal.SIGTERM)
        check(host.process.wait() == 0, f"the exit code {host.process.returncode}")
        check(os.path.exists(host.socket), "the file of the socket is gone")


if __name__ == "__main__":
    run_tests(globals())
