# SPDX-License-Identifier: MIT
"""A PostgreSQL server of a test's own: in a scratch folder, at a socket in it, at no port.

    with Server(folder) as server:
        server.execute("CREATE TABLE t (id int)")

The server runs as another user when the test runs as root, which it refuses. It ends with the test,
also when the test is killed.
"""
import glob
import os
import pwd
import shutil
import signal
import subprocess

SETTINGS = """
listen_addresses = ''
fsync = off
max_connections = 64
log_statement = all
log_line_prefix = '%c %a '
lc_messages = 'C'
deadlock_timeout = 200ms
"""


def programs():
    """The folder of the server's programs, of the newest version that is there."""
    found = glob.glob("/usr/lib/postgresql/*/bin/postgres")
    if found:
        return os.path.dirname(max(found, key=lambda path: int(path.split("/")[4])))
    path = shutil.which("postgres")
    if not path:
        raise SystemExit("no PostgreSQL server here (Debian: postgresql-15)")
    return os.path.dirname(os.path.realpath(path))


def other_user():
    """The words that start a program as another user: none for those who are not root."""
    words = ["setpriv", "--pdeathsig=INT"]
    if os.geteuid() != 0:
        return words, os.geteuid(), os.getegid()
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return (words + [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"],
                user.pw_uid, user.pw_gid)
    raise SystemExit("no user here but root")


class Server:
    def __init__(self, folder, settings=""):
        self.programs = programs()
        self.words, user, group = other_user()
        self.folder = folder
        self.data = os.path.join(folder, "data")
        self.log = os.path.join(folder, "log")
        self.environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": folder}
        self.process = None
        os.makedirs(folder)
        os.chown(folder, user, group)
        self.run("initdb", "-D", self.data, "-U", "weir", "-A", "trust", "--no-sync",
                 "--encoding=UTF8", "--locale=C")
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as stream:
            stream.write(f"{SETTINGS}unix_socket_directories = '{folder}'\n{settings}")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGQUIT)

    def command(self, program, *arguments):
        return [*self.words, os.path.join(self.programs, program), *arguments]

    def run(self, program, *arguments):
        done = subprocess.run(self.command(program, *arguments), env=self.environment,
                              cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{program}: {done.stdout}{done.stderr}")

    def start(self):
        """Returns when the server answers."""
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.command("postgres", "-D", self.data),
                                            env=self.environment, cwd=self.folder, stdout=log,
                                            stderr=log, stdin=subprocess.DEVNULL)
        while self.psql("SELECT 1").returncode != 0:
            try:
                code = self.process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
            raise SystemExit(f"the server ended with {code}: {self.read_log()[-2000:]}")

    def stop(self, how=signal.SIGINT):
        """SIGINT ends sessions first; with SIGQUIT it is as after a crash."""
        if self.process:
            self.process.send_signal(how)
            self.process.wait()
            self.process = None

    @property
    def conninfo(self):
        return f"host={self.folder} user=weir dbname=postgres"

    def psql(self, statement):
        return subprocess.run([os.path.join(self.programs, "psql"), "-XAtq", "-F", " ", "-v",
                               "ON_ERROR_STOP=1", "-d",
                               self.conninfo + " application_name=psql", "-c", statement],
                              env=self.environment, capture_output=True, text=True, check=False)

    def execute(self, statement):
        """The rows, as lists of texts."""
        done = self.psql(statement)
        if done.returncode != 0:
            raise SystemExit(f"{statement}: {done.stderr}")
        return [line.split(" ") for line in done.stdout.splitlines()]

    def number(self, statement):
        return int(self.execute(statement)[0][0])

    def read_log(self):
        with open(self.log, encoding="utf-8") as stream:
            return stream.read()
