#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   http.server under siege while it is reloaded: each request has one answer, its own or a
        503 with Retry-After; nothing is torn, and memory, descriptors and threads are flat.
        Shows promises B16 and B78.
Method: threads are clients of a plain and of a TLS source, with fewer places than there are
        connections at times. Each draws what to do: requests alone, kept, in one packet, of 1 MiB,
        in chunks, read slowly, wrong, halves, and ones whose client hangs up or says nothing. Both
        sources are replaced every few seconds, and their certificate is renewed. The oracle is the
        client: a number in each request must come back. A connection that was answered before may
        end instead of the next answer, as HTTP allows. After each round all clients have gone, and
        the host is measured.

    siege.py WEIR PLUGINS TREE [--seconds N | --count N] [--actions N] [--seed N]
"""
import argparse
import collections
import contextlib
import itertools
import os
import random
import re
import signal
import socket
import ssl
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../connectors"))

from control import TREE, Host, check, report_failures, until  # noqa: E402
from http_client import make_certificate  # noqa: E402

CLIENTS = 24
PLACES = 20
RELOAD_PAUSE = 2                # seconds between two reloads
MIB = 1 << 20
GROWTH_MAX_KIB = 4096
RACED_MAX = 0.02                # of the requests on kept connections
# A client that connects, and sends so much later, is silence to a server without places.
LATE_SECONDS = 0.08
FILE = """
sources:
  plain: {{use: http.server, to: work, args: {{listen: "127.0.0.1:{plain}", {args}}}}}
  tls: {{use: http.server, to: work, args: {{listen: "127.0.0.1:{tls}", {args},
        certificate: "{work}/cert.pem", key: "{work}/key.pem"}}}}
pools:
  work:
    use: exec.pipe
    size: 2
    mailbox: 4
    args:
      command: [python3, "{work}/worker.py"]
      environment: {{PYTHONPATH: "{module}"}}
"""
ARGS = ("connections: {places}, idle: 3s, receive: 3s, send: 10s, timeout: 60s, "
        "retry_after: {after}s")
WORKER = """
import weir
weir.run(lambda message: message.reply(message.data.partition(b"\\n\\n")[2]))
"""
WRONG = (b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\nHost: a\n\n", b"\x16\x03\x01\x02\x00",
         b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\na",
         b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", b"GET /" + b"x" * 70000 + b" HTTP/1.1\r\n\r\n")


class Torn(Exception):
    """Half of an answer, or bytes that are none."""


class Client:
    """A connection, and the answers that come."""

    def __init__(self, site, is_tls):
        begin = time.monotonic()
        self.socket = socket.create_connection(("127.0.0.1", site.ports[is_tls]), timeout=120)
        self.text, self.begin = b"", begin
        if is_tls:
            try:
                self.socket = site.context.wrap_socket(self.socket, server_hostname="localhost")
            except (ssl.SSLError, ConnectionResetError, BrokenPipeError):
                self.socket.close()
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        """An answer may come before the whole request is sent, and end the connection."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
            self.socket.sendall(data)

    def more(self):
        """False: the end."""
        try:
            piece = self.socket.recv(65536)
        except (ConnectionResetError, ssl.SSLEOFError):
            piece = b""
        self.text += piece
        return piece != b""

    def answer(self, is_head=False):
        """Status, headers and body; None: the connection has ended before."""
        while b"\r\n\r\n" not in self.text:
            if not self.more():
                if self.text:
                    raise Torn(f"half a head: {self.text[:80]}")
                return None
        head, _, self.text = self.text.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        found = re.fullmatch(r"HTTP/1\.1 (\d{3}) [^\r\n]*", first)
        if not found:
            raise Torn(f"no answer: {first[:80]}")
        fields = dict(line.lower().split(": ", 1) for line in lines)
        size = 0 if is_head else int(fields.get("content-length", 0))
        while len(self.text) < size:
            if not self.more():
                raise Torn(f"{len(self.text)} of {size} bytes of a body")
        body, self.text = self.text[:size], self.text[size:]
        return int(found[1]), fields, body

    def expect_end(self):
        while self.more():
            pass
        if self.text:
            raise Torn(f"bytes behind the last answer: {self.text[:80]}")


class Site:
    def __init__(self, work):
        self.work = work
        self.host = Host(work)
        with contextlib.ExitStack() as stack:
            probes = [stack.enter_context(socket.create_server(("127.0.0.1", 0)))
                      for _ in range(2)]
            self.ports = [probe.getsockname()[1] for probe in probes]
        self.context = ssl.create_default_context()
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE
        with open(os.path.join(work, "worker.py"), "w", encoding="ascii") as stream:
            stream.write(WORKER)
        self.renew()
        self.write(1)

    def renew(self):
        make_certificate(self.work, "localhost")

    def write(self, after):
        self.host.write(FILE.format(plain=self.ports[0], tls=self.ports[1], work=self.work,
                                    args=ARGS.format(places=PLACES, after=after),
                                    module=os.path.join(TREE, "sdk/python")))

    @staticmethod
    def descriptors(folder):
        """Without the host's reserve, which is closed while the host reloads and answers."""
        targets = []
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):  # closed since
                targets.append(os.readlink(f"{folder}/{name}"))
        return [target for target in targets if target != os.devnull]

    def measure(self):
        """Descriptors, threads, resident KiB."""
        folder = f"/proc/{self.host.process.pid}"
        with open(f"{folder}/status", encoding="ascii") as stream:
            status = stream.read()
        return (len(self.descriptors(f"{folder}/fd")),
                int(re.search(r"Threads:\s+(\d+)", status)[1]),
                int(re.search(r"VmRSS:\s+(\d+)", status)[1]))


class Oracle:
    """What the clients found, all together."""

    def __init__(self):
        self.lock = threading.Lock()
        self.counts, self.wrong = collections.Counter(), []
        self.numbers = itertools.count(1)

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def fail(self, what):
        with self.lock:
            self.counts["wrong"] += 1
            self.wrong.append(what)


class Siege(threading.Thread):
    """One client after the other."""

    def __init__(self, site, oracle, actions, seed):
        super().__init__(daemon=True)
        self.site, self.oracle, self.actions = site, oracle, actions
        self.dice = random.Random(seed)

    def run(self):
        for _ in range(self.actions):
            action = self.dice.choice(ACTS)
            is_tls = self.dice.random() < 0.3
            try:
                with Client(self.site, is_tls) as client:
                    action(self, client)
            except Torn as error:
                self.oracle.fail(f"{action.__name__} tls={is_tls}: {error}")
            except (ssl.SSLError, ConnectionResetError, BrokenPipeError) as error:
                # Half a handshake was silence for too long: possible where all places are in use.
                self.oracle.count("handshakes that ended")
                if not is_tls:
                    self.oracle.fail(f"{action.__name__}: {error!r}")
            except OSError as error:
                self.oracle.fail(f"{action.__name__} tls={is_tls}: {error!r}")

    # --- requests

    def request(self, size=0, more=b""):
        """A request, and the body that comes back."""
        number = next(self.oracle.numbers)
        body = b"%d " % number
        body += bytes(self.dice.getrandbits(8) for _ in range(16)) * (size // 16)
        if self.dice.random() < 0.3:
            text = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in
                            (body[:7], body[7:]) if piece) + b"0\r\n\r\n"
            framing = b"Transfer-Encoding: chunked"
        else:
            text, framing = body, b"Content-Length: %d" % len(body)
        head = b"POST /%d HTTP/1.1\r\nHost: soak\r\n%b%b\r\n\r\n" % (number, more, framing)
        return head + text, body

    def take(self, client, body, is_first):
        """True: the connection goes on."""
        is_late = time.monotonic() - client.begin > LATE_SECONDS
        answer = client.answer()
        if answer is None:
            if is_first and not is_late:
                raise Torn("no answer")
            self.oracle.count("late" if is_first else "raced")
            return False
        status, fields, got = answer
        if status == 200 and got == body:
            self.oracle.count("answered")
        elif status == 503 and "retry-after" in fields:
            self.oracle.count("refused")
        else:
            raise Torn(f"{status} {fields} {got[:40]}, not {body[:40]}")
        if fields.get("connection") == "close":
            client.expect_end()
            return False
        return True

    def act_once(self, client):
        request, body = self.request(self.dice.choice((0, 100, 5000)), b"Connection: close\r\n")
        client.send(request)
        if self.take(client, body, True):
            raise Torn("the connection is kept")

    def act_kept(self, client):
        for number in range(self.dice.randrange(2, 12)):
            request, body = self.request(self.dice.choice((0, 100)))
            client.send(request)
            self.oracle.count("kept")
            if not self.take(client, body, number == 0):
                return

    def act_in_one_packet(self, client):
        requests = [self.request(100) for _ in range(self.dice.randrange(2, 6))]
        client.send(b"".join(request for request, _ in requests))
        for number, (_, body) in enumerate(requests):
            if not self.take(client, body, number == 0):
                return

    def act_large(self, client):
        request, body = self.request(MIB - 64)
        client.send(request)
        self.take(client, body, True)

    def act_read_slowly(self, client):
        request, body = self.request(MIB - 64)
        client.send(request)
        for _ in range(4):
            time.sleep(0.05)  # the client is slow
            if not client.more():
                break
        self.take(client, body, True)

    def act_in_pieces(self, client):
        request, body = self.request(100)
        for at in range(0, len(request), 60):
            client.send(request[at:at + 60])
            time.sleep(0.01)  # the client is slow
        self.take(client, body, False)

    # --- what has no answer, or one of its own

    def act_wrong(self, client):
        client.send(self.dice.choice(WRONG))
        answer = client.answer()
        if answer is None and time.monotonic() - client.begin > LATE_SECONDS:
            return
        if answer is None or answer[0] < 400 or answer[1].get("connection") != "close":
            raise Torn(f"a wrong request: {answer}")
        client.expect_end()
        self.oracle.count("wrong requests refused")

    def act_half(self, client):
        """Leaves, or waits for the end."""
        request, _ = self.request(2000)
        client.send(request[:self.dice.randrange(1, len(request) - 1)])
        if self.dice.random() < 0.7:
            time.sleep(self.dice.random() / 10)
        else:
            answer = client.answer()
            if answer and answer[0] != 503:
                raise Torn(f"half a request: {answer}")
        self.oracle.count("halves")

    def act_hang_up(self, client):
        request, _ = self.request(self.dice.choice((0, 5000, MIB - 64)))
        client.send(request)
        if self.dice.random() < 0.5:
            client.more()  # a part of the answer
        if self.dice.random() < 0.5:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.oracle.count("hang-ups")

    def act_say_nothing(self, client):
        client.socket.settimeout(0.3)
        with contextlib.suppress(TimeoutError):
            if client.answer() is not None:
                raise Torn("an answer to nothing")
        self.oracle.count("silent")


ACTS = [getattr(Siege, name) for name in sorted(vars(Siege)) if name.startswith("act_")]
ACTS += [Siege.act_once, Siege.act_kept] * 2


class Soak:
    def __init__(self, site, options):
        self.site, self.options = site, options
        self.oracle, self.dice = Oracle(), random.Random(options.seed)
        self.reloads, self.rounds, self.measured = 0, 0, []

    def reload(self):
        self.reloads += 1
        self.site.write(1 + self.reloads % 5)
        if self.reloads % 3 == 0:
            self.site.renew()
        if self.reloads % 2:
            made = self.site.host.run("reload")
            check(made.returncode == 0, f"a reload: {made.stderr}")
        else:
            self.site.host.process.send_signal(signal.SIGHUP)

    def is_flat(self):
        """What has left may still be closing."""
        check(self.site.host.process.poll() is None, "the host has ended")
        if self.site.host.process.poll() is not None:
            return True
        present = self.site.measure()
        return not self.measured or (present[0] <= self.measured[0][0] and
                                     present[1] <= self.measured[0][1])

    def is_quiet(self):
        return all(self.site.host.json("inspect", name, "connections")["items"]["connections"] ==
                   "0" for name in ("plain", "tls"))

    def round(self):
        siege = [Siege(self.site, self.oracle, self.options.actions, self.dice.randrange(1 << 32))
                 for _ in range(CLIENTS)]
        for client in siege:
            client.start()
        while left := [client for client in siege if client.is_alive()]:
            self.reload()
            left[-1].join(RELOAD_PAUSE)
        # The last reload may have been a signal.
        self.site.write(1)
        check(self.site.host.run("reload").returncode == 0, "the last reload of a round")
        until(self.is_quiet, "the end of all connections")
        until(self.is_flat, "descriptors and threads")
        self.measured.append(self.site.measure())
        self.rounds += 1
        print(f"round {self.rounds}: {dict(self.oracle.counts)}, descriptors, threads, resident "
              f"KiB {self.measured[-1]}", flush=True)

    def is_over(self, start):
        if self.options.count:
            return self.rounds >= self.options.count
        return time.monotonic() - start >= self.options.seconds

    def run(self):
        start = time.monotonic()
        self.site.host.start()
        while not self.is_over(start) and not self.oracle.wrong:
            self.round()
        check(self.site.host.stop() == 0, "the host ends in order")

    def growth_kib(self):
        """From the middle third to the last: the first one fills caches."""
        third = max(1, len(self.measured) // 3)
        sizes = [one[2] for one in self.measured]
        middle = sizes[third:2 * third] or sizes
        return statistics.median(sizes[-third:]) - statistics.median(middle)

    def report(self):
        counts = self.oracle.counts
        check(not self.oracle.wrong, f"{len(self.oracle.wrong)} wrong: {self.oracle.wrong[:5]}")
        for name in ("answered", "refused", "kept", "halves", "hang-ups"):
            check(counts[name] > 0, f"{name}: none")
        check(counts["raced"] <= 10 + counts["kept"] * RACED_MAX,
              f"{counts['raced']} kept connections ended instead of an answer")
        print(f"{self.rounds} rounds, {self.reloads} reloads, {dict(counts)}")
        print(f"descriptors, threads, resident KiB: {self.measured[0]} -> {self.measured[-1]}, "
              f"{self.growth_kib():+.0f} KiB from the middle third to the last")
        if not self.options.count:  # which is too short to be judged by its growth
            check(self.growth_kib() <= GROWTH_MAX_KIB, f"memory grew by {self.growth_kib()} KiB")


def main():
    parser = argparse.ArgumentParser()
    for name in ("weir", "plugins", "tree"):
        parser.add_argument(name)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--count", type=int, default=0, help="rounds")
    parser.add_argument("--actions", type=int, default=150, help="of each client in a round")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as work:
        site = Site(work)
        soak = Soak(site, options)
        try:
            soak.run()
            soak.report()
        finally:
            site.host.stop(9)


if __name__ == "__main__":
    main()
    sys.exit(report_failures())
