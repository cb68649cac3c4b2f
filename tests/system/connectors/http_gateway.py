#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   http.server answers each request with the truth: the reply, or the reason why there is
        none; a full pool gives 503 with Retry-After at once. Hostile clients do not keep an honest
        one from its answer, and a reload or an end loses no request. Shows promise B16.
Method: real hosts with a worker of Python behind the server; clients are curl and raw sockets. A
        worker waits for a file when a test says so. Every wait is for a condition.

    http_gateway.py WEIR PLUGINS TREE
"""
import contextlib
import http.client
import os
import random
import resource
import signal
import socket
import stat
import subprocess
import tempfile
import threading

from control import PLUGINS, TREE, WEIR, Host, check, run_tests, until

WORKER = """
import os, sys, time, weir
def handle(message):
    head, _, body = message.data.partition(b"\\n\\n")
    path = head.split()[1].decode()
    if path == "/echo":
        message.reply(body)
    elif path == "/large":
        message.reply(b"x" * (8 << 20))
    elif path == "/head":
        message.reply(head)
    elif path == "/wait":
        open("waiting", "a").write("x")
        # The folder of a test that has ended is gone.
        while not os.path.exists("gate") and os.path.exists("waiting"):
            time.sleep(0.005)
        message.reply(b"waited")
    elif path == "/reject":
        raise weir.Reject("no such picture")
    elif path == "/die":
        os._exit(1)
weir.run(handle)
"""

FILE = """
sources:
  web:
    use: http.server
    args: {{listen: "{listen}"{more}}}
    to: work
pools:
  work:
    use: exec.pipe
    size: {size}
    mailbox: {mailbox}
    redeliver: 0
    restart: {{max: 1000, within: 10s}}
    args:
      command: [python3, "{program}"]
      directory: "{folder}"
      environment: {{PYTHONPATH: "{module}"}}
  other: {{use: sink.null, size: 1}}
"""


class Gateway:
    """A host behind a Unix socket."""

    def __init__(self, folder):
        self.folder = folder
        self.host = Host(folder)
        self.path = os.path.join(folder, "web.sock")
        self.program = os.path.join(folder, "worker.py")
        with open(self.program, "w", encoding="utf-8") as stream:
            stream.write(WORKER)

    def write(self, more="", size=1, mailbox=1, listen=None):
        self.host.write(FILE.format(listen=listen or f"unix:{self.path}", more=more, size=size,
                                    mailbox=mailbox, program=self.program, folder=self.folder,
                                    module=os.path.join(TREE, "sdk/python")))

    def curl(self, path, *more):
        """The status, the headers and the body."""
        out = os.path.join(self.folder, f"body{threading.get_ident()}")
        with open(out, "wb"):
            pass
        made = subprocess.run(["curl", "-sS", "--unix-socket", self.path, "-D", "-", "-o", out,
                               *more, f"http://weir{path}"], capture_output=True, text=True,
                              check=False)
        with open(out, "rb") as stream:
            body = stream.read()
        heads = made.stdout.replace("\r", "").strip().split("\n\n")
        head = heads[-1].split("\n")
        status = int(head[0].split()[1]) if head[0] else 0
        fields = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
        return status, fields, body

    def insist(self, what):
        """Asks again after a 503, as `Retry-After` says: a place that is fresh is not given up."""
        def is_answered():
            status, fields, body = self.curl("/echo", "-d", "x")
            check(status == 200 or (status == 503 and "retry-after" in fields), f"{what}: {status}")
            return (status, body) == (200, b"x")
        until(is_answered, what)

    def connect(self):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.connect(self.path)
        return client

    def raw(self, data):
        """All bytes that come back until the server closes."""
        with self.connect() as client:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(data)
            return drain(client)

    def items(self):
        return {key: int(value) for key, value in
                self.host.json("inspect", "web", "connections", "asking", "received", "refused",
                               "cancelled", "expired", "crowded_out")["items"].items()}

    def waiting(self):
        return size_of(os.path.join(self.folder, "waiting"))

    def open_gate(self):
        with open(os.path.join(self.folder, "gate"), "wb"):
            pass


def size_of(path):  # 0 without the file: a log is made with its first line, after the answer
    return os.path.getsize(path) if os.path.exists(path) else 0


def drain(client):
    answer = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := client.recv(65536):
            answer += piece
    return answer


@contextlib.contextmanager
def serving(more="", **choices):
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(folder)
        gateway.write(more, **choices)
        gateway.host.start()
        until(lambda: b'event="listening"' in open(gateway.host.log, "rb").read() or
              gateway.host.process.poll() is not None, "a listener")
        try:
            yield gateway
        finally:
            gateway.host.stop(9)


def test_answers():
    with serving(', headers: [X-Who], timeout: 10s, body_max: 1KiB, token: "secret"') as web:
        bearer = ("-H", "Authorization: Bearer secret")
        status, fields, body = web.curl("/echo", "-d", "hello", *bearer)
        check((status, body) == (200, b"hello"), f"a reply: {status} {body}")
        check(fields.get("content-type") == "application/octet-stream", f"a reply: {fields}")
        status, _, body = web.curl("/head", "-H", "X-Who: me", "-H", "X-Not: x", *bearer)
        check((status, body) == (200, b"GET /head\nx-who: me"), f"a head: {status} {body}")
        check(web.curl("/none", *bearer)[0] == 204, "no reply is 204")
        status, _, body = web.curl("/reject", *bearer)
        check((status, body) == (422, b"no such picture\n"), f"reject: {status} {body}")
        check(web.curl("/die", *bearer)[0] == 502, "a crash is 502")
        check(web.curl("/echo", "-d", "x" * 1025, *bearer)[0] == 413, "a large body is 413")
        check(web.curl("/echo", "-d", "x" * 5000, "-H", "Transfer-Encoding: chunked",
                       *bearer)[0] == 413, "a large chunked body is 413")
        check(web.curl("/echo", "-d", "x" * 1024, "-H", "Transfer-Encoding: chunked",
                       *bearer)[2] == b"x" * 1024, "a chunked body")
        check(web.curl("/echo")[0] == 401 and
              web.curl("/echo", "-H", "Authorization: Bearer secre")[0] == 401, "no token is 401")
        check(web.curl("/healthz")[::2] == (200, b"ok\n"), "the health check needs no token")
        check(web.host.stop() == 0, "the host ends in order")


def test_full_pool():
    """promise B16: the worker has one request and its mailbox has one; the third is refused"""
    with serving(", timeout: 60s, retry_after: 1500ms") as web:
        waits = [Waiting(web)]
        until(lambda: web.waiting() == 1, "the worker")
        waits.append(Waiting(web))
        until(lambda: web.items()["asking"] == 2, "two requests")
        status, fields, _ = web.curl("/echo")
        check((status, fields.get("retry-after")) == (503, "2"), f"full: {status} {fields}")
        check((web.items()["received"], web.items()["refused"]) == (3, 1),
              f"three requests, one refused: {web.items()}")
        web.open_gate()
        check([w.end() for w in waits] == [(200, b"waited")] * 2, "the two that were accepted")


class Waiting(threading.Thread):
    """A request that the worker keeps until the gate is open."""

    def __init__(self, web):
        super().__init__()
        self.web = web
        self.start()

    def run(self):
        self.status, _, self.body = self.web.curl("/wait")

    def end(self):
        self.join()
        return self.status, self.body


def test_time_out():
    with serving(", timeout: 100ms") as web:
        check(web.curl("/wait")[0] == 504, "a time-out is 504")
        web.open_gate()


def test_accept():
    with serving(", mode: accept") as web:
        check(web.curl("/wait")[0] == 202, "accepted")
        until(lambda: web.waiting() == 1, "the worker")
        check(web.curl("/echo")[0] == 202, "one more fits")
        check(web.curl("/echo")[0] == 503, "the third does not")
        web.open_gate()


def test_client_that_leaves_cancels():
    with serving(", timeout: 600s") as web:
        client = web.connect()
        client.sendall(b"GET /wait HTTP/1.1\r\nHost: weir\r\n\r\n")
        until(lambda: web.waiting() == 1, "the worker")
        client.close()
        until(lambda: web.items()["cancelled"] == 1, "the cancel")
        until(lambda: web.items()["connections"] == 0, "the end of the connection")
        web.open_gate()
        until(lambda: web.curl("/echo", "-d", "x")[0] == 200, "the next one")


def test_routes():
    with serving(", routes: {/null: other, /null/none: work}", mailbox=4) as web:
        check(web.curl("/null/x")[0] == 204, "a route")
        check(web.curl("/nullx")[0] == 204, "no route: the worker behind `to`")
        check(web.curl("/null/none/x")[0] == 204, "the longest route: the worker")
        done = web.host.json("status", "other")["done"]
        check(done == 1, f"the other pool got {done}")
        web.write(", routes: {/null: othre}", mailbox=4)
        reload = web.host.run("reload")
        check(reload.returncode != 0 and 'sources.web.args.routes./null: there is no pool "othre", '
              'did you mean "other"?' in reload.stdout + reload.stderr, f"a typo: {reload}")
        check(web.curl("/null/x")[0] == 204, "the former routes are in force")


def test_pool_that_is_full_from_the_start():
    """promise B16: no worker ever has room, and the first client is refused at once"""
    with serving(size=0) as web:
        status, fields, _ = web.curl("/echo")
        check((status, fields.get("retry-after")) == (503, "1"), f"full: {status} {fields}")
        web.write(size=1)
        check(web.host.run("reload").returncode == 0, "a reload")
        check(web.curl("/echo", "-d", "x")[::2] == (200, b"x"), "with a worker")


def test_hostile_requests():
    """promise B16: an honest client is answered after each of them"""
    with serving(", idle: 300ms, receive: 300ms, header_max: 4KiB", mailbox=4) as web:
        both = (b"POST /echo HTTP/1.1\r\nHost: weir\r\nContent-Length: 4\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        check(b" 400 " in web.raw(both).split(b"\r\n")[0], "both lengths are 400")
        large = b"GET /echo HTTP/1.1\r\nX: " + b"x" * 100000 + b"\r\n\r\n"
        check(b" 431 " in web.raw(large).split(b"\r\n")[0], "large headers are 431")
        long = b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\nHost: weir\r\n\r\n"
        check(b" 414 " in web.raw(long).split(b"\r\n")[0], "a long path is 414")
        for half in (b"", b"G", b"GET /echo HT", b"POST /echo HTTP/1.1\r\nHost: weir\r\n",
                     b"POST /echo HTTP/1.1\r\nHost: weir\r\nContent-Length: 9\r\n\r\nabc"):
            web.raw(half)
        check(web.items()["expired"] == 5, f"half requests expire: {web.items()}")
        check(web.curl("/echo", "-d", "x")[::2] == (200, b"x"), "the next honest client")


def test_random_bytes(rounds=300):
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    print(f"seed {seed}", flush=True)
    whole = (b"POST /echo?a=b HTTP/1.1\r\nHost: weir\r\nContent-Type: text/plain\r\n"
             b"Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n4\r\nabcd\r\n0\r\n\r\n")
    with serving(", idle: 50ms, receive: 50ms", mailbox=64) as web:
        clients = []
        for _ in range(rounds):
            data = bytearray(whole * dice.randrange(1, 3))
            for _ in range(dice.randrange(6)):
                data[dice.randrange(len(data))] = dice.randrange(256)
            client = web.connect()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(data[:dice.randrange(len(data) + 1)])
            clients.append(client)
        for client in clients:
            client.close()
        check(web.curl("/echo", "-d", "x")[::2] == (200, b"x"), f"after random bytes (seed {seed})")
        until(lambda: web.items()["connections"] == 0, "the end of all connections")
        check(web.host.stop() == 0, "the host ends in order")


def test_many_connections():
    """promise B16: idle connections are closed for new ones, also without descriptors"""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    try:
        with serving(", connections: 100, idle: 600s", mailbox=4) as web:
            crowd = [web.connect() for _ in range(3000)]
            web.insist("beside idle connections")
            check(web.items()["crowded_out"] > 0, "idle connections are closed")
            for client in crowd:
                client.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (160, hard))
        with serving(", connections: 100000, idle: 600s", mailbox=4) as web:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            crowd = [web.connect() for _ in range(400)]
            web.insist("without descriptors")
            check(b"connections have to wait" in open(web.host.log, "rb").read(), "a warning")
            for client in crowd:
                client.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Steady(threading.Thread):
    """Asks on new connections, one after the other, and counts what was not 200."""

    def __init__(self, web):
        super().__init__()
        self.web, self.ends = web, threading.Event()
        self.good, self.bad = 0, []
        self.start()

    def run(self):
        while not self.ends.is_set():
            answer = self.web.raw(b"POST /echo HTTP/1.1\r\nHost: weir\r\nContent-Length: 2\r\n"
                                  b"Connection: close\r\n\r\nhi")
            if answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"\r\n\r\nhi"):
                self.good += 1
            else:
                self.bad.append(answer[:80])


def test_reloads_of_the_server():
    """promise B16: no connection attempt fails while the server itself is replaced"""
    with serving(size=2, mailbox=16) as web:
        clients = [Steady(web) for _ in range(4)]
        for i in range(5):
            count = sum(c.good for c in clients)
            web.write(f", retry_after: {i + 2}s", size=2, mailbox=16)
            reload = web.host.run("reload")
            check(reload.returncode == 0, f"reload: {reload.stderr}")
            until(lambda: sum(c.good for c in clients) > count + 20 or any(c.bad for c in clients),
                  "answers")
        for client in clients:
            client.ends.set()
            client.join()
        check(not any(c.bad for c in clients), f"answers: {[c.bad[:3] for c in clients]}")
        os.remove(web.path)
        web.write("", size=2, mailbox=16)
        check(web.host.run("reload").returncode == 0, "a reload that makes the socket again")
        until(lambda: web.curl("/echo", "-d", "x")[0] == 200, "an answer")


def test_keep_alive_and_health():
    with serving(', health: "/alive", idle: 60s') as web, web.connect() as client:
        check(stat.S_IMODE(os.stat(web.path).st_mode) == 0o660, "the mode of the socket")
        for i in range(3):
            client.sendall(b"POST /echo HTTP/1.1\r\nHost: weir\r\nContent-Length: 1\r\n\r\n%d" % i)
            answer = client.recv(4096)
            while b"\r\n\r\n%d" % i not in answer:
                answer += client.recv(4096)
        check(web.items()["connections"] == 1, "three answers on one connection")
        check(web.curl("/alive")[::2] == (200, b"ok\n"), "a health path of one's own")
        check(web.curl("/healthz")[0] == 204, "the usual one is the worker's then")


def test_body_alone():
    with serving(', pass: body, content_type: "text/csv"') as web:
        # The worker reads a path from what it gets, so the body looks like a request.
        status, fields, body = web.curl("/", "--data-binary", "GET /echo\n\na,b")
        check((status, fields["content-type"], body) == (200, "text/csv", b"a,b"),
              f"{fields} {body}")


def free_port(family, address):
    with socket.socket(family) as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


def test_addresses_stay_over_reloads():
    """promise B16: also those of IPv4 and IPv6"""
    for family, address, text in ((socket.AF_INET, "127.0.0.1", "127.0.0.1:{}"),
                                  (socket.AF_INET6, "::1", "[::1]:{}")):
        port = free_port(family, address)
        with serving(listen=text.format(port), mailbox=16) as web:
            for i in range(3):
                answer = http.client.HTTPConnection(address, port)
                answer.request("POST", "/echo", b"hi")
                check(answer.getresponse().read() == b"hi", f"{text} after {i} reloads")
                answer.close()
                web.write(f", retry_after: {i + 2}s", listen=text.format(port), mailbox=16)
                check(web.host.run("reload").returncode == 0, "a reload")


def test_address_of_a_source_that_drains_is_waited_for():
    with serving() as web:
        held = Waiting(web)
        until(lambda: web.waiting() == 1, "the worker")
        with open(web.host.file, encoding="utf-8") as stream:
            text = stream.read()
        with open(web.host.file, "w", encoding="utf-8") as stream:
            stream.write(text.replace("  web:\n", "  again:\n"))

        def logged():
            with open(web.host.log, encoding="utf-8") as stream:
                return stream.read().count

        check(web.host.run("reload").returncode == 0, "a reload")
        until(lambda: logged()("another source listens") > 0, "the new source")
        web.open_gate()
        held.join()
        check(held.body == b"waited", f"{held.status} {held.body}")
        until(lambda: logged()('event="listening"') == 2, "the address")
        count = logged()
        check(count("another source listens") == 1 and count('event="worker failed"') == 0 and
              count('component=again event="listening"') == 1, open(web.host.log).read()[-1500:])


def test_access_log_is_opened_again():
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        with serving(f', access_log: "{log}"') as web:
            web.curl("/echo", "-d", "one")
            until(lambda: size_of(log) > 0, "a line")
            os.rename(log, f"{log}.1")
            web.host.process.send_signal(signal.SIGUSR1)
            until(lambda: web.curl("/echo")[0] == 200 and size_of(log) > 0, "a line in a new file")


def test_a_reader_of_the_access_log_that_stops_stops_nobody():
    """A FIFO that is full loses lines, not requests; one that nobody reads is refused."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        os.mkfifo(log)
        reader = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
        with serving(f', access_log: "{log}"') as web:
            until(lambda: web.curl("/healthz?" + "x" * 3000)[0] == 200 and
                  b"access log is lost" in open(web.host.log, "rb").read(), "a full pipe")
            check(web.curl("/echo", "-d", "x")[0] == 200, "the gateway answers")
            os.close(reader)
            check(web.curl("/echo", "-d", "x")[0] == 200, "without a reader, too")
            web.write(f', access_log: "{log}", retry_after: 3s')
            check(web.host.run("reload").returncode != 0, "a log that nobody reads is refused")
            check(web.host.stop() == 0, "the end")


def test_client_that_takes_no_answer():
    with serving(", send: 300ms, timeout: 60s", mailbox=4) as web, web.connect() as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: weir\r\n\r\n")
        until(lambda: web.items()["expired"] == 1, "the end of the connection")
        check(len(drain(client)) < 8 << 20, "not all of the answer")
        check(web.curl("/echo", "-d", "x")[::2] == (200, b"x"), "the next honest client")


def test_a_thousand_slow_clients():
    """promise B16: those that send a request byte by byte keep nobody from an answer"""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    try:
        with serving(", connections: 2000, idle: 600s, receive: 600s", mailbox=16) as web:
            crowd = [web.connect() for _ in range(1000)]
            until(lambda: web.items()["connections"] == 1000, "a thousand")
            for byte in (b"P", b"O", b"S"):
                for client in crowd:
                    client.sendall(byte)
                check(web.curl("/echo", "-d", "x")[::2] == (200, b"x"), "beside a thousand")
            check(web.items()["crowded_out"] == 0, "they are still there")
            for client in crowd:
                client.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_urgent_bytes_stall_nobody():
    """A read ends at the mark of an urgent byte, though more lies behind it. The host is stopped
    until all is in its socket."""
    request = b"POST /echo HTTP/1.1\r\nHost: weir\r\nContent-Length: 10\r\n\r\n0123456789"
    port = free_port(socket.AF_INET, "127.0.0.1")
    with serving(listen=f"127.0.0.1:{port}", mailbox=4) as web:
        for at in range(1, len(request), 3):
            with socket.create_connection(("127.0.0.1", port)) as client:
                for _ in range(2):
                    web.host.process.send_signal(signal.SIGSTOP)
                    os.waitid(os.P_PID, web.host.process.pid, os.WSTOPPED)
                    client.sendall(request[:at])
                    client.send(b"!", socket.MSG_OOB)
                    client.sendall(request[at:])
                    web.host.process.send_signal(signal.SIGCONT)
                    client.settimeout(10)   # it would be 30 s
                    answer = b""
                    with contextlib.suppress(TimeoutError):
                        while not answer.endswith(b"\r\n\r\n0123456789"):
                            piece = client.recv(4096)
                            if not piece:
                                break
                            answer += piece
                    check(answer.startswith(b"HTTP/1.1 200 "), f"at {at}: {answer[:60]}")
                    if not answer:
                        return


def add_source(web, listen):
    with open(web.host.file, encoding="utf-8") as stream:
        text = stream.read()
    with open(web.host.file, "w", encoding="utf-8") as stream:
        stream.write(text.replace("sources:\n", "sources:\n  again: {use: http.server, to: work, "
                                  f'args: {{listen: "{listen}"}}}}\n'))
    web.host.run("reload")
    until(lambda: b"another source listens" in open(web.host.log, "rb").read(), listen)


def test_two_servers_at_one_address():
    """However it is spelt: else every second client would come by the token."""
    with serving() as web:
        add_source(web, f"unix:{web.path}")
        check(web.curl("/echo", "-d", "x")[::2] == (200, b"x"), "the first one still answers")
    for one, other in (("*:{}", "[::]:{}"), ("[::1]:{}", "[0:0:0:0:0:0:0:1]:{}")):
        port = free_port(socket.AF_INET6, "::1")
        with serving(', token: "secret"', listen=one.format(port)) as web:
            add_source(web, other.format(port))
            for _ in range(8):
                answer = http.client.HTTPConnection("::1", port)
                answer.request("POST", "/echo", b"hi")
                check(answer.getresponse().status == 401, "no token")
                answer.close()


def test_end_answers_what_was_accepted():
    """promise B16"""
    with serving(", timeout: 600s", mailbox=4) as web:
        waits = [Waiting(web), Waiting(web), Waiting(web)]
        until(lambda: web.items()["asking"] == 3 and web.waiting() == 1, "three requests")
        web.host.process.send_signal(15)
        web.open_gate()
        check([w.end() for w in waits] == [(200, b"waited")] * 3, "all have an answer")
        check(web.host.process.wait() == 0, "the host ends in order")


def test_tls_and_log():
    with tempfile.TemporaryDirectory() as keys:
        key, certificate = os.path.join(keys, "key.pem"), os.path.join(keys, "cert.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
                        certificate, "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        port = free_port(socket.AF_INET, "127.0.0.1")
        log = os.path.join(keys, "access.log")
        with serving(f', certificate: "{certificate}", key: "{key}", access_log: "{log}"',
                     listen=f"127.0.0.1:{port}", mailbox=4) as web:
            made = subprocess.run(["curl", "-sS", "--cacert", certificate, "-d", "@-",
                                   f"https://localhost:{port}/echo"], capture_output=True,
                                  input=b"x" * 300000, check=False)
            check(made.stdout == b"x" * 300000, f"TLS: {made.stderr}")
            plain = subprocess.run(["curl", "-s", f"http://localhost:{port}/echo"], check=False)
            check(plain.returncode != 0, "plain HTTP where TLS is spoken")
            until(lambda: size_of(log) > 0, "a line")
            line = open(log, encoding="utf-8").read()
            check('127.0.0.1 "POST /echo" 200 300000 ' in line, f"the log: {line}")


def test_example_counts_words():
    with tempfile.TemporaryDirectory() as folder:
        path, log = os.path.join(folder, "web.sock"), os.path.join(folder, "log")
        with open(log, "wb") as stream:
            host = subprocess.Popen([WEIR, "run", "examples/python/gateway.yaml"], cwd=TREE,
                                    stdout=stream, stderr=stream,
                                    env={**os.environ, "WEIR_PLUGIN_PATH": PLUGINS,
                                         "WEIR_CONTROL": os.path.join(folder, "socket"),
                                         "WEIR_LISTEN": f"unix:{path}"})
        try:
            until(lambda: os.path.exists(path) or host.poll() is not None, "a listener")
            made = subprocess.run(["curl", "-sS", "--unix-socket", path, "-d", "three small words",
                                   "http://weir/count"], capture_output=True, text=True,
                                  check=False)
            check(made.stdout == '{"request": "POST /count", "words": 3}\n',
                  made.stdout + made.stderr + open(log, encoding="utf-8").read())
            host.terminate()
            check(host.wait() == 0, "the host ends in order")
        finally:
            host.kill()


if __name__ == "__main__":
    run_tests(globals())
