# SPDX-License-Identifier: MIT
"""A RabbitMQ server of a test's own: in a scratch folder, at ports of 127.0.0.1 that were free.

    with Server(folder) as server:
        host_file(server.address)

The server and its port mapper run as another user when the test runs as root. Both end with the
test, also when the test is killed.
"""
import os
import pwd
import signal
import socket
import subprocess

PROGRAM = "/usr/lib/rabbitmq/bin/rabbitmq-server"
CONTROL = "/usr/lib/rabbitmq/bin/rabbitmqctl"
SETTINGS = """
loopback_users = none
disk_free_limit.absolute = 1MB
log.file.level = info
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def other_user():
    """The words that start a program as the user of the package, and the user's numbers."""
    words = ["setpriv", "--pdeathsig=KILL"]
    if os.geteuid() != 0:
        return words, os.geteuid(), os.getegid()
    user = pwd.getpwnam("rabbitmq")
    return (words + [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"],
            user.pw_uid, user.pw_gid)


class PortMapper:
    """epmd, by which the nodes of a cluster find each other. One for each cluster."""

    def __init__(self):
        self.port = free_port()
        words, _, _ = other_user()
        self.process = subprocess.Popen([*words, "epmd", "-port", str(self.port), "-address",
                                         "127.0.0.1"], stdin=subprocess.DEVNULL)

    def stop(self):
        self.process.kill()
        self.process.wait()


class Server:
    def __init__(self, folder, name="weir", settings="", mapper=None):
        if not os.path.exists(PROGRAM):
            raise SystemExit("no RabbitMQ server here (Debian: rabbitmq-server)")
        self.words, user, group = other_user()
        self.folder = folder
        self.own_mapper = None if mapper else PortMapper()
        self.mapper = mapper or self.own_mapper
        self.port = free_port()
        self.spare_port = free_port()
        self.node = f"{name}@localhost"
        self.log = os.path.join(folder, "log")
        self.settings = settings
        self.process = None
        os.makedirs(folder)
        self.write("enabled_plugins", "[].\n")
        self.write(".erlang.cookie", "WEIRTESTS")
        os.chmod(os.path.join(folder, ".erlang.cookie"), 0o400)
        for path in (folder, *[os.path.join(folder, name) for name in os.listdir(folder)]):
            os.chown(path, user, group)
        self.environment = {
            "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": folder,
            "RABBITMQ_MNESIA_BASE": os.path.join(folder, "mnesia"),
            "RABBITMQ_LOG_BASE": folder, "RABBITMQ_LOGS": self.log,
            "RABBITMQ_PID_FILE": os.path.join(folder, "pid"),
            "RABBITMQ_NODENAME": self.node, "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(free_port()), "ERL_EPMD_PORT": str(self.mapper.port),
            "RABBITMQ_ENABLED_PLUGINS_FILE": os.path.join(folder, "enabled_plugins"),
            "RABBITMQ_CONFIG_FILE": os.path.join(folder, "rabbitmq.conf"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+sbwt none +S 2:2",
            "RUNNING_UNDER_SYSTEMD": "true",  # no shell between this process and the server
        }

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as stream:
            stream.write(text)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()
        if self.own_mapper:
            self.own_mapper.stop()

    @property
    def address(self):
        return f"amqp://127.0.0.1:{self.port}"

    def begin(self):
        """Starts it, and does not wait."""
        self.write("rabbitmq.conf", SETTINGS + f"listeners.tcp.1 = 127.0.0.1:{self.port}\n" +
                   self.settings)
        os.chmod(os.path.join(self.folder, "rabbitmq.conf"), 0o644)
        self.process = subprocess.Popen([*self.words, PROGRAM], env=self.environment,
                                        cwd=self.folder, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait(self):
        """Returns when it accepts connections, which it does last."""
        while not self.accepts():
            try:
                code = self.process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
            raise SystemExit(f"the server ended with {code}: {self.read_log()[-2000:]}")

    def accepts(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as probe:
                probe.sendall(b"AMQP\0\0\x09\x01")
                return len(probe.recv(8)) > 0
        except OSError:
            return False

    def start(self):
        self.begin()
        self.wait()

    def kill(self):
        """As after a crash."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def control(self, *words):
        done = subprocess.run([*self.words, CONTROL, "-q", "-n", self.node, *words],
                              env=self.environment, cwd=self.folder, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"rabbitmqctl {words}: {done.stdout}{done.stderr}")
        return done.stdout

    def read_log(self):
        with open(self.log, encoding="utf-8", errors="replace") as stream:
            return stream.read()


class Cluster:
    """Three servers, each with a copy of every quorum queue."""

    def __init__(self, folder):
        os.makedirs(folder)
        self.mapper = PortMapper()
        self.servers = [Server(os.path.join(folder, f"node{i}"), f"node{i}", mapper=self.mapper)
                        for i in range(3)]

    def __enter__(self):
        for server in self.servers:
            server.begin()
        for server in self.servers:
            server.wait()
        first = self.servers[0]
        for server in self.servers[1:]:
            server.control("stop_app")
            server.control("join_cluster", first.node)
            server.control("start_app")
            server.wait()
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.kill()
        self.mapper.stop()

    @property
    def addresses(self):
        return [server.address for server in self.servers]
