#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   http.client fetches as many URLs at a time as it may, settles each message by how its
        fetch ended, and loses none while its server fails or a reload replaces it. Shows promise
        B17.
Method: real hosts; the server is http.server of Python, with a path for each kind of trouble, and
        counts what it gets. Every wait is for a condition.

    http_client.py WEIR PLUGINS TREE
"""
import contextlib
import http.server
import os
import socket
import ssl
import subprocess
import tempfile
import threading

from control import WEIR, Host, check, run_tests, until


class Server(http.server.ThreadingHTTPServer):
    """Counts requests by their path, and connections that are open at the same time."""
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port=0, context=None):
        super().__init__(("127.0.0.1", port), Handler)
        self.port = self.server_address[1]
        self.counts, self.bodies, self.open, self.most = {}, [], 0, 0
        self.lock, self.gate = threading.Lock(), threading.Event()
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,))
        self.thread.start()

    def count(self, path):
        with self.lock:
            return self.counts.get(path, 0)

    def note(self, path):
        with self.lock:
            self.counts[path] = self.counts.get(path, 0) + 1
            return self.counts[path]

    def handle_error(self, request, client_address):
        """A client that leaves is no trouble of the test."""

    def stop(self):
        self.gate.set()
        self.shutdown()
        self.thread.join()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        with self.server.lock:
            self.server.open += 1
            self.server.most = max(self.server.most, self.server.open)

    def finish(self):
        with contextlib.suppress(OSError):
            super().finish()
        with self.server.lock:
            self.server.open -= 1

    def log_message(self, *_):
        """Says nothing."""

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.server.note(self.path)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(body)
        self.answer(200, body)

    def do_GET(self):
        name, _, rest = self.path.lstrip("/").partition("/")
        count = self.server.note(self.path)
        getattr(self, f"on_{name}")(rest, count)

    def on_ok(self, rest, _):
        self.answer(200, rest.encode())

    def on_status(self, rest, _):
        self.answer(int(rest), b"sorry")

    def on_later(self, rest, count):
        """429 once, and then the answer."""
        if count == 1:
            self.answer(429, Retry_After=rest)
        else:
            self.answer(200, b"later")

    def on_half(self, _, count):
        if count > 1:
            self.answer(200, b"whole")
            return
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"half")
        self.close_connection = True

    def on_chunked(self, *_):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in (b"one ", b"two ", b"three"):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def on_huge(self, *_):
        """As many bytes as are taken."""
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(OSError):
            while not self.server.gate.is_set():
                self.wfile.write(b"x" * 65536)
        self.server.note("huge ended")

    def on_slow(self, *_):
        self.server.gate.wait()
        with contextlib.suppress(OSError):
            self.answer(200, b"slow")

    def on_drip(self, *_):
        """A byte now and then, without an end."""
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        with contextlib.suppress(OSError):
            while not self.server.gate.wait(0.01):
                self.wfile.write(b"x")
                self.wfile.flush()

    def on_move(self, rest, _):
        left = int(rest)
        self.answer(302, Location=f"/move/{left - 1}" if left else "/ok/moved")


FILE = """
pools:
  web:
    use: http.client
    size: {size}
    mailbox: {mailbox}
    args: {{url: "{url}"{more}}}
    outputs: {{out: file}}
  file: {{use: file.append, size: 1, mailbox: 64, args: {{path: "{out}"}}}}
"""
QUICK = ", backoff: 10ms"


class Client:
    """A host with http.client and the file that gets its answers."""

    def __init__(self, folder, server):
        self.folder, self.server = folder, server
        self.host = Host(folder)
        self.out = os.path.join(folder, "out")

    def write(self, more=QUICK, size=1, mailbox=64, url="{}/{}"):
        base = f"http://127.0.0.1:{self.server.port}"
        text = FILE.format(url=url.replace("{}", base, 1), more=more, size=size, mailbox=mailbox,
                           out=self.out)
        self.host.write(text)

    def request(self, text, timeout="20s"):
        """The exit code, what was printed, and the reason."""
        made = self.host.run("request", "web", text, "--timeout", timeout)
        return made.returncode, made.stdout, made.stderr

    def expect(self, text, wanted):
        code, out, reason = self.request(text)
        check((code, out) == (0, wanted + "\n"), f"{text}: {code} {out!r} {reason}")

    def expect_reason(self, text, wanted):
        code, _, reason = self.request(text)
        check(code != 0 and wanted in reason, f"{text}: {code} {reason!r}")

    def send(self, lines):
        """All lines are accepted."""
        with subprocess.Popen([WEIR, "send", "web", "-c", self.host.socket],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as sender:
            out, errors = sender.communicate("".join(f"{line}\n" for line in lines).encode())
            check(sender.returncode == 0, f"send: {out} {errors}")

    def status(self):
        return self.host.json("status", "web")

    def items(self):
        return {key: int(value) for key, value in
                self.host.json("inspect", "web#0", "fetching", "fetches", "retries", "rejects",
                               "no_answer", "answers_2xx", "answers_4xx")["items"].items()}


@contextlib.contextmanager
def fetching(more=QUICK, server=None, **choices):
    with tempfile.TemporaryDirectory() as folder:
        server = server or Server()
        client = Client(folder, server)
        client.write(more, **choices)
        client.host.start()
        try:
            yield client
        finally:
            client.host.stop(9)
            client.server.stop()


def test_each_end():
    """promise B17"""
    with fetching() as web:
        web.expect("ok/one", "one")
        web.expect("chunked", "one two three")
        web.expect("half", "whole")
        check(web.server.count("/half") == 2, "a half answer is fetched again")
        web.expect_reason("status/404", "status 404")
        check(web.server.count("/status/404") == 1, "404 is not tried again")
        web.expect_reason("status/503", "status 503")
        check(web.server.count("/status/503") == 4, "503 is tried four times")
        web.expect_reason("move/0", "status 302")
        check(web.items()["rejects"] == 2 and web.items()["fetches"] == 3, f"{web.items()}")
        metrics = web.host.get("/metrics")[1]
        check('weir_pool_dead_total{pool="web",reason="rejected"} 2' in metrics and
              "3" in [line.split()[-1] for line in metrics.split("\n") if "done" in line and
                      '"web"' in line], "the ends are in the metrics")


def test_retry_after():
    """promise B17: the message waits as long as the server says"""
    with fetching() as web:
        web.expect("later/1", "later")
        web.expect_reason("later/3600", "Retry-After of 3600 s")


def test_limits():
    with fetching(QUICK + ", response_max: 100KiB, redirects: 3, timeout: 500ms, "
                  "retry: [408]") as web:
        web.expect_reason("huge", "more than response_max")
        until(lambda: web.server.count("huge ended") == 1, "the end of the transfer")
        web.expect("move/2", "moved")
        web.expect_reason("move/3", "redirects")
        web.expect_reason("drip", "Timeout was reached")
        web.expect_reason("slow", "Timeout was reached")
        web.expect("ok/x", "x")


def test_post():
    with fetching(QUICK + ', method: POST, headers: {X-A: b}', url="{}/post") as web:
        web.expect("the body", "the body")
        check(web.server.bodies == [b"the body"], f"{web.server.bodies}")


def test_secrets_are_not_printed():
    with fetching(QUICK + ", secret_headers: {authorization: hushhush}") as web:
        web.expect("ok/x", "x")
        web.write(QUICK + ", secret_headers: {authorization: hushhush2}")
        plan = web.host.run("plan", web.host.file)
        check("secret_headers" in plan.stdout and "hush" not in plan.stdout + plan.stderr,
              f"the plan: {plan}")
        check(b"hush" not in open(web.host.log, "rb").read(), "the log")


def test_a_slow_server_stops_nobody():
    with fetching(QUICK + ", parallel: 20") as web:
        web.send(["slow"] * 10)
        until(lambda: web.server.count("/slow") == 10, "ten slow ones")
        web.expect("ok/x", "x")
        check(web.items()["fetching"] == 10, f"{web.items()}")
        web.server.gate.set()
        until(lambda: web.status()["done"] == 11, "all")


def test_connections_of_a_host():
    """The server sees no more connections than `per_host` allows."""
    with fetching(QUICK + ", parallel: 50, per_host: 3", mailbox=200) as web:
        web.send([f"ok/{i}" for i in range(200)])
        until(lambda: web.status()["done"] == 200, "all")
        check(1 <= web.server.most <= 3, f"{web.server.most} connections")


def test_server_that_returns():
    """promise B17: a server is killed and comes back, and each message is fetched"""
    with fetching(", backoff: 1s, parallel: 8", mailbox=100) as web:
        web.expect("ok/first", "first")
        former, port = web.server, web.server.port
        former.stop()
        web.send([f"ok/{i}" for i in range(50)])
        until(lambda: web.items()["no_answer"] >= 8, "attempts")
        web.server = Server(port)
        until(lambda: web.status()["done"] == 51, "all")
        # The former server may have answered on a connection that was open.
        check(all(former.count(f"/ok/{i}") + web.server.count(f"/ok/{i}") > 0
                  for i in range(50)), "each")


def test_reloads_under_load():
    """promise B17: nothing is lost while workers are replaced"""
    with fetching(QUICK + ", parallel: 8", size=2, mailbox=64) as web:
        sender = threading.Thread(target=web.send, args=([f"ok/{i}" for i in range(2000)],))
        sender.start()
        for i in range(5):
            before = web.status()["done"]
            until(lambda: web.status()["done"] > before + 20 or not sender.is_alive(), "answers")
            web.write(QUICK + f", parallel: {9 + i}", size=2, mailbox=64)
            check(web.host.run("reload").returncode == 0, "a reload")
        sender.join()
        until(lambda: web.status()["done"] == 2000, "all")
        check(all(web.server.count(f"/ok/{i}") == 1 for i in range(2000)), "each once")
        check(web.host.stop() == 0, "the host ends in order")
        with open(web.out, "rb") as stream:
            size = len(stream.read().split())
        check(size == 2000, f"{size} answers in the file")


def test_end_waits_for_answers():
    with fetching() as web:
        web.send(["slow"])
        until(lambda: web.server.count("/slow") == 1, "the request")
        web.host.process.send_signal(15)
        web.server.gate.set()
        check(web.host.stop() == 0, "the host ends in order")
        with open(web.out, "rb") as stream:
            check(stream.read().strip() == b"slow", "the answer is in the file")


def make_certificate(folder, name):
    key, certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "cert.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", certificate,
                    "-days", "2", "-subj", f"/CN={name}", "-addext",
                    f"subjectAltName=DNS:{name}"], check=True, capture_output=True)
    return key, certificate


def test_tls():
    """promise B17: a server whose certificate is not right gets no request"""
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = make_certificate(folder, "localhost")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        with fetching(server=Server(context=context)) as web:
            for more, host, wanted in ((f', ca: "{certificate}"', "localhost", None),
                                       ("", "localhost", "certificate"),
                                       (f', ca: "{certificate}"', "127.0.0.1", "certificate"),
                                       (", verify: false", "127.0.0.1", None)):
                text = FILE.format(url=f"https://{host}:{web.server.port}/{{}}", size=1, mailbox=4,
                                   more=f", retry: [408]{more}", out=web.out)
                web.host.write(text)
                check(web.host.run("reload").returncode == 0, "a reload")
                if wanted:
                    web.expect_reason("ok/x", wanted)
                else:
                    web.expect("ok/x", "x")
            check(web.server.count("/ok/x") == 2, f"{web.server.counts}")


def relay(source, target):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def serve_tunnel(listener, port):
    """A proxy for one connection, whatever its CONNECT asks for."""
    with listener.accept()[0] as client, socket.create_connection(("127.0.0.1", port)) as server:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        client.sendall(b"HTTP/1.1 200 Connected\r\nX-Of-Proxy: 1\r\n\r\n")
        back = threading.Thread(target=relay, args=(server, client))
        back.start()
        relay(client, server)
        back.join()


def test_headers_of_a_proxy_are_not_those_of_the_answer():
    """promise B130"""
    with tempfile.TemporaryDirectory() as folder, \
            socket.create_server(("127.0.0.1", 0)) as listener:
        key, certificate = make_certificate(folder, "localhost")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with fetching(server=Server(context=context)) as web:
            web.host.write(FILE.format(
                url=f"https://localhost:{web.server.port}/{{}}", size=1, mailbox=4, out=web.out,
                more=f', ca: "{certificate}", proxy: "{proxy}", pass: response, retry: [408]'))
            check(web.host.run("reload").returncode == 0, "a reload")
            tunnel = threading.Thread(target=serve_tunnel, args=(listener, web.server.port))
            tunnel.start()
            code, out, reason = web.request("ok/x")
            check(code == 0 and out.startswith("200\n") and out.endswith("\n\nx\n") and
                  "\nserver: " in out and "proxy" not in out, f"{out} {reason}")
            check(web.host.stop(9) != 0, "killed")
            tunnel.join()


def test_proxy_of_the_environment_is_ignored():
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
    os.environ["http_proxy"] = os.environ["all_proxy"] = nobody
    try:
        with fetching(QUICK + ", retry: [408]") as web:
            web.expect("ok/x", "x")
            web.write(QUICK + ", retry: [408], proxy: environment")
            check(web.host.run("reload").returncode == 0, "a reload")
            web.expect_reason("ok/x", "connect")
    finally:
        del os.environ["http_proxy"], os.environ["all_proxy"]


if __name__ == "__main__":
    run_tests(globals())
