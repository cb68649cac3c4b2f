#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   another user of the machine, and the author of a file that the host reads, gets no code
        run, no secret and no terminal, and cannot hold the host up. Shows promise T1,
        promise T2, promise T3, promise T4 and promise T5.
Method: real hosts and real attacks. Run as root, the attacker is user 65534 and the host root; a
        test whose name ends with `_of_root` needs that and is not run as another user, who can give
        no file away. Everybody runs all others, as the own user. Every wait is for a condition.

    security.py WEIR PLUGINS TEST_PLUGINS
"""
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

WEIR, PLUGINS, TEST_PLUGINS = sys.argv[1:4]
FAILURES = []
NOBODY = 65534
IS_ROOT = os.geteuid() == 0


def check(holds, what):
    if not holds:
        FAILURES.append(what)
        print(f"FAILED: {what}", flush=True)
    return holds


def until(condition):
    """Looks again and again; the test's own time-out is the only clock."""
    while not (found := condition()):
        time.sleep(0.01)
    return found


def until_ended(process, limit_s):
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=limit_s)
    return process.returncode is not None


def as_nobody():
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if IS_ROOT else {}


class Place:
    """A folder that everybody may look into, with the program, its plugins and a file to run."""

    def __init__(self, path):
        self.path = path
        os.chmod(path, 0o755)
        self.weir = self.inside("weir")
        self.plugins = self.inside("plugins")
        self.file = self.inside("weir.yaml")
        self.socket = self.inside("control")
        self.log = self.inside("log")
        shutil.copy(WEIR, self.weir)
        os.mkdir(self.plugins, 0o755)
        for name in ("gen", "sink"):
            shutil.copy(os.path.join(PLUGINS, f"{name}.so"), self.plugins)
        self.write()
        self.process = None

    def inside(self, name):
        return os.path.join(self.path, name)

    def folder(self, name, mode=0o755, owner=None):
        path = self.inside(name)
        os.mkdir(path)
        os.chmod(path, mode)
        if owner is not None:
            os.chown(path, owner, owner)
        return path

    def write(self, host="", size=1, pool=""):
        with open(self.file, "w", encoding="utf-8") as stream:
            stream.write(f'version: 1\nhost: {{plugins: ["{self.plugins}"]{host}}}\n'
                         "sources: {numbers: {use: gen.forever, to: work}}\n"
                         f"pools:\n  work: {{use: sink.null, size: {size}, mailbox: 8}}\n{pool}")
        os.chmod(self.file, 0o644)

    def environment(self, variables):
        kept = {key: value for key, value in os.environ.items()
                if key not in ("XDG_RUNTIME_DIR", "WEIR_PLUGIN_TMP", "WEIR_CONTROL")}
        return {**kept, **variables}

    def weir_with(self, *arguments, user=None, **variables):
        return subprocess.run([self.weir, *arguments], capture_output=True, check=False,
                              env=self.environment(variables), **(user or {}))

    def begin(self, user=None, **variables):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([self.weir, "run", self.file], stdout=log, stderr=log,
                                            env=self.environment(variables), **(user or {}))

    def text(self):
        with open(self.log, "rb") as log:
            return log.read()

    def start(self, user=None, **variables):
        self.begin(user, **variables)
        until(lambda: b'event="started"' in self.text() or self.process.poll() is not None)

    def stop(self, number=15):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait() if self.process else None


@contextlib.contextmanager
def place():
    with tempfile.TemporaryDirectory(dir="/tmp") as path:
        made = Place(path)
        try:
            yield made
        finally:
            made.stop(9)


# --- where plugins are loaded from ----------------------------------------------------------------

def mapped(process):
    """Paths of libraries, also of those whose file is removed, as a copy is once it is mapped."""
    with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
        return {line.split()[5] for line in maps if ".so" in line}


def is_loaded_below(process, folder):
    return any(path.startswith(f"{folder}/weir-plugins.") for path in mapped(process))


def test_folder_of_somebody_else_is_not_where_plugins_are_loaded_of_root():
    """What XDG_RUNTIME_DIR names is somebody else's, as `sudo -E` may leave it."""
    with place() as here:
        theirs = here.folder("theirs", 0o700, NOBODY)
        here.start(XDG_RUNTIME_DIR=theirs)
        check(is_loaded_below(here.process, "/tmp"), f"theirs: {here.text()}")
        check(os.listdir(theirs) == [], "something of ours lies in their folder")
        check(here.stop() == 0, "the end")

        ours = here.inside("theirs/ours")
        os.mkdir(ours, 0o700)
        here.start(XDG_RUNTIME_DIR=ours)
        check(is_loaded_below(here.process, "/tmp"), f"ours in theirs: {here.text()}")
        here.stop()
        link = here.inside("link")
        os.symlink(ours, link)
        here.start(XDG_RUNTIME_DIR=link)
        check(is_loaded_below(here.process, "/tmp"), f"a link there: {here.text()}")
        here.stop()
        answer = here.weir_with("check", here.file, WEIR_PLUGIN_TMP=ours)
        check(answer.returncode == 78 and b"theirs belongs to user 65534" in answer.stderr,
              f"chosen: {answer}")


def test_folder_that_all_may_write_to_is_not_where_plugins_are_loaded():
    with place() as here:
        shared = here.folder("shared", 0o777)
        here.start(XDG_RUNTIME_DIR=shared)
        check(is_loaded_below(here.process, "/tmp"), f"shared: {here.text()}")
        here.stop()
        os.chmod(shared, 0o1777)
        here.start(XDG_RUNTIME_DIR=shared)
        check(is_loaded_below(here.process, shared), f"sticky: {here.text()}")
        check(here.stop() == 0, "the end")


def test_folder_that_was_swept_away_is_made_again():
    with place() as here:
        ours = here.folder("ours", 0o700)
        here.start(XDG_RUNTIME_DIR=ours)
        shutil.rmtree(os.path.join(ours, os.listdir(ours)[0]))
        os.utime(os.path.join(here.plugins, "sink.so"))  # it is read again
        here.write(size=2)
        here.process.send_signal(1)
        until(lambda: b'event="configuration re' in here.text())
        check(b'event="configuration reloaded"' in here.text(), f"refused: {here.text()}")
        check(here.stop() == 0 and os.listdir(ours) == [], "the end")


# --- rights -----------------------------------------------------------------------------------

def test_what_others_may_write_to_is_not_obeyed_by_root():
    """Root refuses; everybody else is warned."""
    with place() as here:
        for path, what in ((here.file, b"weir.yaml"), (here.plugins, b"plugins"),
                           (os.path.join(here.plugins, "sink.so"), b"plugins/sink.so"),
                           (here.path, here.path.encode())):
            mode = os.stat(path).st_mode & 0o777
            for more in (0o020, 0o002):
                os.chmod(path, mode | more)
                answer = here.weir_with("check", here.file)
                found = b"others than its owner may write to " in answer.stderr and \
                    what + b" (chmod go-w)" in answer.stderr
                check(found and answer.returncode == (78 if IS_ROOT else 0), f"{path}: {answer}")
                answer = here.weir_with("check", here.file, user=as_nobody())
                check(answer.returncode == 0 and b"warning: others than its owner" in answer.stderr,
                      f"{path}, warned: {answer}")
            os.chmod(path, mode)
        answer = here.weir_with("check", here.file)
        check(answer.returncode == 0 and not answer.stderr, f"nobody else: {answer}")


def test_what_somebody_else_owns_is_warned_about_of_root():
    with place() as here:
        for path in (here.file, here.plugins):
            os.chown(path, NOBODY, NOBODY)
            answer = here.weir_with("check", here.file)
            check(answer.returncode == 0 and b"warning: " + path.encode() +
                  b" belongs to user 65534" in answer.stderr, f"{path}: {answer}")
            os.chown(path, 0, 0)


# --- what holds nobody up -------------------------------------------------------------------------

@contextlib.contextmanager
def locked(folder):
    """Somebody holds a lock on the folder."""
    with subprocess.Popen(["flock", "--no-fork", folder, "sh", "-c", "echo locked; read end"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, **as_nobody()) as holder:
        check(holder.stdout.readline() == b"locked\n", "the lock")
        yield


def test_lock_on_the_folder_of_the_socket_keeps_nobody_out():
    with place() as here:
        shared = here.folder("shared", 0o1777)
        socket_path = os.path.join(shared, "control")
        here.write(f', control: "{socket_path}"')
        with locked(shared):
            here.start()
            check(here.weir_with("status", "-c", socket_path).returncode == 0, "the start")
            other = os.path.join(shared, "other")
            here.write(f', control: "{other}"')
            answer = here.weir_with("reload", "-c", socket_path)
            check(answer.returncode == 0 and os.path.exists(other), f"a reload: {answer}")
            check(here.stop() == 0 and os.listdir(shared) == [], "the end")


def leftovers(folder):
    return [name for name in os.listdir(folder) if name.startswith("weir-plugins.")]


def test_term_ends_a_start_at_every_moment():
    with place() as here:
        ours = here.folder("ours", 0o700)
        hanging = os.path.join(here.plugins, "hanging.so")
        shutil.copy(os.path.join(TEST_PLUGINS, "constructor_hangs.so"), hanging)
        here.write(f', control: "{here.socket}"', pool="  hanging: {use: hanging.run}\n")
        here.begin(XDG_RUNTIME_DIR=ours, WEIR_PLUGIN_TIMEOUT="1h")
        until(lambda: any(name.endswith("incoming.so") for folder in leftovers(ours)
                          for name in os.listdir(os.path.join(ours, folder))))
        check(here.stop() == 75, f"while a plugin is tried: {here.text()}")
        check(leftovers(ours) == [], f"copies: {leftovers(ours)}")

        shutil.copy(os.path.join(TEST_PLUGINS, "slow_open.so"), here.plugins)
        os.mkfifo(here.inside("gate"))
        here.write(f', control: "{here.socket}"',
                   pool="  slow: {use: slow_open.pass, open_timeout: 1h, outputs: {out: work}, "
                   f'args: {{gate: "{here.inside("gate")}"}}}}\n')
        for number in (15, 2):
            here.begin(XDG_RUNTIME_DIR=ours)
            until(lambda: os.path.exists(here.socket) and b"at the gate" in here.text())
            check(here.stop(number) == 75, f"while a worker opens: {here.text()}")
            check(b"weir: stopped during the start" in here.text(), f"found: {here.text()}")
            check(not os.path.exists(here.socket) and leftovers(ours) == [], "left behind")


def test_process_that_tries_a_plugin_ends_with_its_host():
    hanging = os.path.join(TEST_PLUGINS, "constructor_hangs.so")
    answer, end = os.pipe()
    os.close(answer)  # the host has ended already
    tried = subprocess.Popen([WEIR, "probe", "--", hanging, hanging], stderr=subprocess.DEVNULL,
                             close_fds=False, preexec_fn=lambda: os.dup2(end, 3),
                             start_new_session=True)
    os.close(end)
    ended = until_ended(tried, 60)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(tried.pid, signal.SIGKILL)
    check(ended and tried.returncode > 0, "a plugin is tried although the host has ended")


def fill(path):
    """Connections until the line is full."""
    crowd = []
    while True:
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.setblocking(False)
        crowd.append(client)
        try:
            client.connect(path)
        except BlockingIOError:
            return crowd


def test_stopped_host_holds_up_nobody():
    with place() as here:
        here.write(f', control: "{here.socket}"')
        here.start()
        here.process.send_signal(19)
        waiting = [subprocess.Popen([here.weir, command, "-c", here.socket],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                   for command in ("status", "reload")]
        for client in waiting:
            _, words = client.communicate()
            check(client.returncode == 75 and b"did not answer" in words, f"waiting: {words}")
        crowd = fill(here.socket)
        answer = here.weir_with("status", "-c", here.socket)
        check(answer.returncode == 75 and b"does not accept" in answer.stderr, f"full: {answer}")
        answer = here.weir_with("run", here.file)
        check(answer.returncode == 78 and b"another host listens there" in answer.stderr,
              f"another: {answer}")
        for client in crowd:
            client.close()
        here.process.send_signal(18)
        check(here.stop() == 0, "the end")


# --- hostile input ------------------------------------------------------------------------------

# Listens at a path, and answers each client with the content of a file.
SPEAKER = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); " \
          "s.listen(); print('listening', flush=True)\n" \
          "while True:\n" \
          "    c = s.accept()[0]; c.recv(4096)\n" \
          "    c.sendall(open(sys.argv[2], 'rb').read()); c.close()"


@contextlib.contextmanager
def speaking(path, answer):
    """Somebody else of our own user."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer))
        file.flush()
        with subprocess.Popen([sys.executable, "-c", SPEAKER, path, file.name],
                              stdout=subprocess.PIPE) as speaker:
            check(speaker.stdout.readline() == b"listening\n", "a host that is none")
            yield
            speaker.kill()


def test_host_of_somebody_else_is_not_asked_of_root():
    with place() as here:
        shared = here.folder("shared", 0o1777)
        theirs = os.path.join(shared, "control")
        here.write(f', control: "{theirs}"')
        here.start(user=as_nobody())
        answer = here.weir_with("status", "-c", theirs)
        check(answer.returncode == 77 and not answer.stdout and
              b"the host there belongs to user 65534" in answer.stderr, f"theirs: {answer}")
        answer = here.weir_with("status", "-c", theirs, user=as_nobody())
        check(answer.returncode == 0, f"themselves: {answer}")
        os.chown(shared, NOBODY, NOBODY)
        check(here.weir_with("status", "-c", theirs).returncode == 0, "in a folder of theirs")
        check(here.stop() == 0, "the end")


def test_answer_of_a_socket_is_printed_without_what_a_terminal_obeys():
    hostile = b"a\x1b[2J\x9b\xc2\x9b31m\xe2\x80\xaeb\x07\xc3\xa4\n\tc\x1b[32m"
    with place() as here, speaking(here.socket, hostile):
        answer = here.weir_with("status", "-c", here.socket)
        check(answer.stdout == b"a\\x1b[2J\\x9b\\xc2\\x9b31m\\xe2\\x80\\xaeb\\x07\xc3\xa4\n"
              b"\tc\\x1b[32m", f"text: {answer}")
        answer = here.weir_with("status", "-c", here.socket, "-o", "json")
        check(answer.stdout.startswith(b"a\\u001b[2J\\ufffd"), f"JSON: {answer}")


def test_secret_is_no_name():
    with place() as here:
        secret = here.inside("secret")
        with open(secret, "w", encoding="utf-8") as stream:
            stream.write("hush")
        os.chmod(secret, 0o600)
        for key in ("name", "control"):
            here.write(f', {key}: "${{file:{secret}}}"')
            answer = here.weir_with("check", here.file)
            check(answer.returncode == 78 and b"hush" not in answer.stderr and
                  f"host.{key}: is shown, and cannot come from".encode() in answer.stderr,
                  f"{key}: {answer}")


def main():
    for name, test in sorted(globals().items()):
        if name.startswith("test_") and (IS_ROOT or not name.endswith("_of_root")):
            before = time.monotonic()
            test()
            print(f"{name}: {time.monotonic() - before:.2f} s", flush=True)
    print(f"{len(FAILURES)} failures")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
