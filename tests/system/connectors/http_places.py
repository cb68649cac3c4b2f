#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   beyond the places of http.server the health path answers, and every other request gets a
        whole 503 with Retry-After: nobody is closed without an answer. Shows promise B41.
Method: real hosts whose workers hold all places until a file is there; then crowds of three and ten
        times as many clients, by TCP, Unix sockets and TLS, with bodies and without. And clients
        that come again and again while the places are never free for long. Every wait is for a
        condition.

    http_places.py WEIR PLUGINS TREE
"""
import contextlib
import os
import socket
import ssl
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from control import check, run_tests, until  # noqa: E402
from http_client import make_certificate  # noqa: E402
from http_gateway import drain, serving  # noqa: E402

PLACES = 4
HELD = b"GET /wait HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
REQUESTS = {
    "get": b"GET /echo HTTP/1.1\r\nHost: a\r\n\r\n",
    "kept": b"GET /echo HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
    "body": b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n" + b"x" * 300000,
    "two": b"GET /echo HTTP/1.1\r\nHost: a\r\n\r\n" * 2,
}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@contextlib.contextmanager
def served(kind):
    """Yields the gateway, and a call that connects."""
    with contextlib.ExitStack() as stack:
        if kind == "unix":
            web = stack.enter_context(serving(f", connections: {PLACES}", size=PLACES))
            yield web, web.connect
            return
        port, more, context = free_port(), "", None
        if kind == "tls":
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            key, certificate = make_certificate(folder, "localhost")
            more = f', certificate: "{certificate}", key: "{key}"'
            context = ssl.create_default_context(cafile=certificate)
        web = stack.enter_context(serving(f", connections: {PLACES}{more}", size=PLACES,
                                          listen=f"127.0.0.1:{port}"))

        def connect():
            client = socket.create_connection(("127.0.0.1", port))
            return context.wrap_socket(client, server_hostname="localhost") if context else client

        web.port = port
        yield web, connect


def ask(connect, request):
    with connect() as client:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            client.sendall(request)
        return drain(client)


def is_refusal(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    return (head.startswith(b"HTTP/1.1 503 ") and b"\r\nRetry-After: " in head and
            b"\r\nConnection: close" in head and body == b"all connections are in use\n")


def crowd(connect, count, request):
    """The answers of as many clients at the same time."""
    answers = [None] * count

    def one(i):
        answers[i] = ask(connect, request)
    threads = [threading.Thread(target=one, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_a_crowd_gets_answers():
    """promise B41"""
    for kind in ("unix", "tcp", "tls"):
        with served(kind) as (web, connect):
            held = [connect() for _ in range(PLACES)]
            for client in held:
                client.sendall(HELD)
            until(lambda: web.waiting() == PLACES, "all places are in use")
            for factor in (3, 10):
                for name, request in REQUESTS.items():
                    answers = crowd(connect, factor * PLACES, request)
                    wrong = [answer[:60] for answer in answers if not is_refusal(answer)]
                    check(not wrong, f"{kind} {factor} {name}: {len(wrong)} wrong: {wrong[:3]}")
                    health = ask(connect, HEALTH)
                    check(health.startswith(b"HTTP/1.1 200 "), f"{kind} health: {health[:60]}")
            web.open_gate()
            for client in held:
                answer = drain(client)
                check(answer.endswith(b"waited"), f"{kind}: {answer[-60:]}")
                client.close()
            until(lambda: web.items()["connections"] == 0, "the end of all connections")
            answer = ask(connect, b"GET /head HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            check(answer.startswith(b"HTTP/1.1 200 "), f"{kind}: a free place: {answer[:60]}")


def test_health_answers_beside_silent_clients():
    """promise B41: half requests and silent clients take the place of nobody for long"""
    with served("tcp") as (web, connect):
        held = [connect() for _ in range(PLACES)]
        for client in held:
            client.sendall(HELD)
        until(lambda: web.waiting() == PLACES, "all places are in use")
        silent = [connect() for _ in range(200)]
        for client in silent[::2]:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHo")
        for _ in range(3):
            check(ask(connect, HEALTH).startswith(b"HTTP/1.1 200 "), "health")
        web.open_gate()
        for client in held + silent:
            client.close()


def client_hello():
    """The first bytes of a handshake, some 500."""
    own, other = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = ssl.create_default_context().wrap_bio(other, own, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        session.do_handshake()
    return own.read()


def test_half_handshakes_stop_nobody():
    """promise B41: neither the health path, nor a request, nor the end; that of a client that goes
    away ends at once"""
    hello = client_hello()
    with served("tls") as (web, connect):
        for size in (0, 1, 5, 100, 10000):
            silent = [socket.create_connection(("127.0.0.1", web.port)) for _ in range(100)]
            for client in silent:
                client.sendall(hello[:size])
            for path in (b"/healthz", b"/head"):
                answer = ask(connect, b"GET %b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" %
                             path)
                check(answer.startswith(b"HTTP/1.1 200 "), f"{size} bytes, {path}: {answer[:60]}")
            for client in silent:
                client.close()
            until(lambda: web.items()["connections"] == 0, "the end of all connections")
        expired = web.items()["expired"]
        check(expired == 0, f"{expired} connections were ended by their deadlines")
        silent = [socket.create_connection(("127.0.0.1", web.port)) for _ in range(PLACES)]
        for client in silent:
            client.sendall(hello[:100])
        until(lambda: web.items()["connections"] == PLACES, "half handshakes")
        before = time.monotonic()
        check(web.host.stop() == 0, "the host ends in order")
        check(time.monotonic() - before < 10, "half a handshake holds up the end")


def test_all_who_come_again_are_answered():
    """Clients beyond the places ask again and again: each request has a 200 or a whole 503."""
    with served("tcp") as (_, connect):
        counts, lock = {"good": 0, "refused": 0}, threading.Lock()
        wrong = []

        def one():
            for _ in range(20):
                answer = ask(connect, b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n"
                                      b"Connection: close\r\n\r\nhi")
                with lock:
                    if answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"\r\n\r\nhi"):
                        counts["good"] += 1
                    elif answer.startswith(b"HTTP/1.1 503 ") and b"\r\nRetry-After: " in answer:
                        counts["refused"] += 1
                    else:
                        wrong.append(answer[:60])
        threads = [threading.Thread(target=one) for _ in range(10 * PLACES)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(not wrong, f"{len(wrong)} wrong: {wrong[:3]}")
        check(counts["good"] > 0, f"{counts}")


if __name__ == "__main__":
    run_tests(globals())
