#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   http.client follows redirects as RFC 9110 15.4 wants, with no credentials for another
        server; a payload stays one segment of the path; a POST reaches the server as often as it is
        counted; Retry-After has any length; and whatever a server sends has a limit. Shows promises
        B40, B130 and B131.
Method: real hosts with a pool for each method or template; the server is a socket of the test that
        notes each request and answers by its path. Tables: a row is a case. Every wait is for a
        condition.

    http_client_rules.py WEIR PLUGINS TREE
"""
import contextlib
import socket
import tempfile
import threading
import time

from control import Host, check, run_tests


class Request:
    def __init__(self, head, body, nth):
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, _ = lines[0].split(" ")
        self.headers = {name.lower(): value.strip() for name, _, value in
                        (line.partition(":") for line in lines[1:])}
        self.body, self.nth = body, nth     # nth: of its connection, from 1


class Server:
    """Notes requests, and sends what `answer(request)` yields. Nothing: it closes."""

    def __init__(self, answer):
        self.answer, self.requests = answer, []
        self.lock, self.gate = threading.Lock(), threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection = self.socket.accept()[0]
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, connection.makefile("rb") as stream, contextlib.suppress(OSError):
            nth = 1
            while request := self.read(stream, nth):
                with self.lock:
                    self.requests.append(request)
                is_kept = False
                for piece in self.answer(request):
                    connection.sendall(headless(request, piece))
                    is_kept = True
                if not is_kept:
                    return
                nth += 1

    @staticmethod
    def read(stream, nth):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = stream.readline()
            if not line:
                return None
            head += line
        sizes = [line[15:] for line in head.split(b"\r\n")
                 if line.lower().startswith(b"content-length:")]
        return Request(head[:-4], stream.read(int(sizes[0])) if sizes else b"", nth)

    def take(self):
        """What has come since the last call."""
        with self.lock:
            taken, self.requests = self.requests, []
        return taken

    def stop(self):
        self.gate.set()
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def headless(request, piece):
    return piece.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if request.method == "HEAD" else piece


def reply(status, body=b"", *lines):
    head = [f"HTTP/1.1 {status} Text", f"Content-Length: {len(body)}", *lines]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


@contextlib.contextmanager
def pools(server, args):
    """A host with a pool for each entry of `args`; yields a call that asks one of them."""
    with tempfile.TemporaryDirectory() as folder:
        host = Host(folder)
        host.write("pools:\n" + "".join(
            f"  {name}: {{use: http.client, size: 1, args: {{backoff: 10ms, {text}}}}}\n"
            for name, text in args.items()))
        host.start()

        def ask(pool, payload):
            made = host.run("request", pool, payload, "--timeout", "20s")
            return made.returncode, made.stdout.removesuffix("\n"), made.stderr

        ask.host = host
        try:
            yield ask
        finally:
            host.stop(9)
            server.stop()


def url(server, path, host="127.0.0.1"):
    return f'url: "http://{host}:{server.port}{path}"'


# --- redirects -----------------------------------------------------------------------------------

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
# RFC 9110 15.4.2, .3, .4, .8, .9: the method that follows, and whether the body goes with it.
AFTER = {301: {"POST": "GET"}, 302: {"POST": "GET"}, 307: {}, 308: {},
         303: {method: "GET" for method in METHODS if method != "HEAD"}}


def test_each_redirect_has_its_method_and_body():
    """promise B40"""
    def answer(request):
        status = request.target.rpartition("/")[2]
        if status == "end":
            yield reply(200)
        else:
            yield reply(int(status), b"moved", "Location: ../to/end")
    server = Server(answer)
    with pools(server, {method.lower(): url(server, "/a/{payload}") +
                        f", method: {method}, redirects: 3" +
                        ("" if method == "HEAD" else ", body: payload")
                        for method in METHODS}) as ask:
        for status, changes in AFTER.items():
            for method in METHODS:
                code, _, reason = ask(method.lower(), str(status))
                first, second = server.take()
                wanted = changes.get(method, method)
                keeps = method != "HEAD" and method not in changes
                check(code == 0, f"{status} {method}: {reason}")
                check((first.method, first.target) == (method, f"/a/{status}"), f"{vars(first)}")
                check((second.method, second.target) == (wanted, "/to/end"),
                      f"{status} {method}: {vars(second)}")
                check(second.body == (str(status).encode() if keeps else b""),
                      f"{status} {method}: {vars(second)}")
                check(("content-type" in second.headers) == keeps and
                      ("content-length" in second.headers) == keeps, f"{vars(second)}")


def test_an_empty_body_has_its_length_and_no_type():
    def answer(request):
        yield reply(200) if request.target == "/end" else reply(307, b"", "Location: /end")
    server = Server(answer)
    methods = ("POST", "PUT", "PATCH")
    with pools(server, {method.lower(): url(server, "/") +
                        f", method: {method}, body: none, redirects: 1"
                        for method in methods}) as ask:
        for method in methods:
            code, _, reason = ask(method.lower(), "x")
            came = server.take()
            check(code == 0 and len(came) == 2, f"{method}: {reason}")
            for request in came:
                check(request.method == method and request.headers["content-length"] == "0" and
                      "content-type" not in request.headers, f"{vars(request)}")


def test_what_is_no_redirect_is_a_status():
    def answer(request):
        name = request.target[1:]
        if name != "end":
            yield reply(int(name[:3]), b"", *(["Location: /end"] if name[3:] else []))
    server = Server(answer)
    with pools(server, {"a": url(server, "/{payload}") + ", redirects: 3"}) as ask:
        for name in ("300x", "304x", "305x", "306x", "399x", "301", "302", "303", "307", "308"):
            code, _, reason = ask("a", name)
            check(code != 0 and f"status {name[:3]}" in reason, f"{name}: {reason}")
            check(len(server.take()) == 1, name)


# What the pool has, where the redirect leads to, and what the message gets.
SECRETS = {
    "secret": ("secret_headers: {X-Key: hidden}", "", False),
    "authorization": ("headers: {authorization: Bearer x}", "", False),
    "cookie": ("headers: {Cookie: a=b}", "", False),
    "user": ("", "me:word@", False),
    "none": ("headers: {X-Key: a, Host: b.test, Accept: text/plain}", "", True),
}


def test_no_credentials_reach_another_server():
    """promise B40"""
    other = Server(lambda _: [reply(200, b"other")])
    where = {"port": f"http://127.0.0.1:{other.port}/", "host": None,
             "user": f"http://a:b@127.0.0.1:{other.port}/", "short": f"//127.0.0.1:{other.port}/"}

    def answer(request):
        name = request.target[1:]
        yield reply(200, b"end") if name == "end" else reply(307, b"", f"Location: {where[name]}")
    server = Server(answer)
    where["host"] = f"http://localhost:{server.port}/end"
    where["same"] = f"http://127.0.0.1:{server.port}/end"
    with pools(server, {name: f'url: "http://{user}127.0.0.1:{server.port}/{{payload}}", '
                              f"redirects: 3, {more}".rstrip(", ")
                        for name, (more, user, _) in SECRETS.items()}) as ask:
        for name, (_, user, is_followed) in SECRETS.items():
            for place in ("port", "host", "user", "short"):
                code, _, reason = ask(name, place)
                sent = server.take()[1:] + other.take()
                if is_followed and place != "user":
                    check(code == 0 and len(sent) == 1, f"{name} {place}: {reason}")
                    check(sent[0].headers.get("accept") == "text/plain" and
                          "x-key" not in sent[0].headers and
                          sent[0].headers["host"] != "b.test", f"{sent[0].headers}")
                else:
                    check(code != 0 and "another server" in reason and not sent,
                          f"{name} {place}: {code} {reason} {[vars(one) for one in sent]}")
            code, out, reason = ask(name, "same")
            check((code, out) == (0, "end"), f"{name}: {reason}")
            first, second = server.take()
            for header in ("x-key", "authorization", "cookie", "host"):
                check(first.headers.get(header) == second.headers.get(header), f"{name}: {header}")
            check(("authorization" in second.headers) == (name in ("authorization", "user")), name)
    other.stop()


# --- the finished URL ----------------------------------------------------------------------------

# A template behind the server's address, a payload, and the target that the server gets or None.
TARGETS = (
    ("/t/a/{payload}", "x", "/t/a/x"),
    ("/t/a/{payload}", "..", None),
    ("/t/a/{payload}", ".", None),
    ("/t/a/{payload}", "", None),
    ("/t/a/{payload}/", "..", None),
    ("/t/a/{payload}/b", "", None),
    ("/t/a/{payload}/b?c", ".", None),
    ("/t/a/{payload}{payload}", ".", None),
    ("/t/a/.{payload}", ".", None),
    ("/t/a/%2e{payload}", ".", None),
    ("/t/a/{payload}?q", "..", None),
    ("/t/a/{payload}", "...", "/t/a/..."),
    ("/t/a/{payload}", "..a", "/t/a/..a"),
    ("/t/a/{payload}", "../b", "/t/a/..%2Fb"),
    ("/t/a/{payload}", "..\\b", "/t/a/..%5Cb"),
    ("/t/a/{payload}", "%2e%2e", "/t/a/%252e%252e"),
    ("/t/a/{payload}", "a?b#c", "/t/a/a%3Fb%23c"),
    ("/t/a/{payload}", "a b\tc", "/t/a/a%20b%09c"),
    ("/t/a/x-{payload}", "..", "/t/a/x-.."),
    ("/t/a?q={payload}", "", "/t/a?q="),
    ("/t/a?q={payload}", "..", "/t/a?q=.."),
    ("/t/a?q=/{payload}/x", "..", "/t/a?q=/../x"),
    ("/t/{}", "a/b?c", "/t/a/b?c"),
    ("/t/{}", "", None),
    ("/t/{}", "..", None),
    ("/t/{}", "a/../b", None),
    ("/t/{}", "a/./b", None),
    ("/t/{}", "a/..", None),
    ("/t/{}", "../b?x", None),
    ("/t/{}", "..#x", None),
    ("/t/{}", "%2e%2E/b", None),
    ("/t/{}", ".%2e", None),
    ("/t/{}", "%2E/b", None),
    ("/t/{}", "a?../b", "/t/a?../b"),
    ("/t/{}", "a\r\nX: y", None),
    ("/t/{}", "a b", None),
)


def test_a_payload_stays_where_it_is_put():
    """promise B40"""
    server = Server(lambda request: [reply(200, request.target.encode())])
    templates = list(dict.fromkeys(template for template, _, _ in TARGETS))
    with pools(server, {f"p{i}": url(server, template) + ", method: DELETE, retry: [408]"
                        for i, template in enumerate(templates)}) as ask:
        for template, payload, wanted in TARGETS:
            code, out, reason = ask(f"p{templates.index(template)}", payload)
            what = f"{template} {payload!r}: {code} {out!r} {reason}"
            if wanted is None:
                check(code != 0 and reason.strip() and not server.take(), what)
            else:
                check((code, out) == (0, wanted), what)
                check(len(server.take()) == 1, what)


# A path, and the target that the redirect leads to or None. RFC 3986 5.2.4 removes plain dots.
LOCATIONS = (
    ("/x/../y", "/y"),
    ("y/./z", "/a/y/z"),
    ("../../../y", "/y"),
    ("/y?../z", "/y?../z"),
    ("/x/../y/./%2e%2E/z", None),
    ("/y/%2e%2e", None),
    ("/%2e/y", None),
    ("/y/.%2E?z", None),
    ("%2e%2e/y", None),
    ("//127.0.0.1:{port}/y/%2E./z", None),
    ("/" + "%20" * 22000, None),
)


def test_a_redirect_leads_to_no_segment_of_dots():
    """promise B40"""
    def answer(request):
        row = request.target.removeprefix("/a/row")
        if row.isdigit():
            yield reply(302, b"", f"Location: {LOCATIONS[int(row)][0]}".format(port=server.port))
        else:
            yield reply(200, request.target.encode())
    server = Server(answer)
    with pools(server, {"a": url(server, "/a/row{payload}") + ", redirects: 3"}) as ask:
        for row, (location, wanted) in enumerate(LOCATIONS):
            code, out, reason = ask("a", str(row))
            came = [request.target for request in server.take()[1:]]
            if wanted is None:
                check(code != 0 and reason.strip() and not came, f"{location[:80]}: {out} {came}")
            else:
                check((code, out, came) == (0, wanted, [wanted]), f"{location}: {out} {reason}")


def test_a_url_that_never_passes_holds_up_nothing():
    """promise B131"""
    server = Server(lambda _: [reply(200)])
    args = {"a": url(server, "/{payload}") + ", parallel: 1", "b": 'url: "{}", parallel: 1'}
    with pools(server, args) as ask:
        for payload in ("x" * 65537, "\xff" * 40000):
            for pool, text in (("a", payload), ("b", f"http://127.0.0.1:{server.port}/{payload}")):
                code, _, reason = ask(pool, text)
                check(code != 0 and "longer than 64 KiB" in reason, f"{pool}: {reason}")
        check(ask("a", "x")[0] == 0 and len(server.take()) == 1, "the next one")


# --- how often a request is sent -----------------------------------------------------------------

def test_a_post_is_not_sent_twice_uncounted():
    """promise B40: the server reads each request, and closes kept connections without an answer"""
    server = Server(lambda request: [reply(200)] if request.nth == 1 else [])
    orders = [f"order{i}" for i in range(9)]
    args = url(server, "/{payload}") + ", method: %s, parallel: 1, retry: [%s]"
    with pools(server, {f"{method.lower()}{again}": args % (method, again)
                        for method in ("POST", "PATCH", "LOCK", "GET")
                        for again in ("408", "error")}) as ask:
        for method in ("post", "patch", "lock"):
            ends = [ask(f"{method}408", order) for order in orders]
            came = [request.target for request in server.take()]
            check(sorted(came) == [f"/{order}" for order in orders], f"{method}: {came}")
            check(any(code == 0 for code, _, _ in ends) and
                  all("kept connection" in reason for code, _, reason in ends if code),
                  f"{method}: {ends}")
            check(all(ask(f"{method}error", order)[0] == 0 for order in orders), method)
            items = ask.host.json("inspect", f"{method}error#0", "retried", "fetches")["items"]
            came = server.take()
            check(len(came) == int(items["retried"]) + len(orders),
                  f"{method}: {len(came)} requests, {items}")
        # What may be repeated is repeated, and nobody notices.
        check(all(ask("get408", order)[0] == 0 for order in orders), "GET")
        check(len(server.take()) > len(orders), "GET")


def test_connections_are_kept_for_posts():
    server = Server(lambda _: [reply(200)])
    with pools(server, {"a": url(server, "/") + ", method: POST, parallel: 1"}) as ask:
        for _ in range(20):
            check(ask("a", "x")[0] == 0, "an answer")
        check(max(request.nth for request in server.take()) > 1, "a connection is used again")


# --- Retry-After ---------------------------------------------------------------------------------

def date_in(seconds, form="%a, %d %b %Y %H:%M:%S GMT"):
    return time.strftime(form, time.gmtime(time.time() + seconds))


# The value, and whether it is longer than the bound (an hour).
PAUSES = (
    ("3601", True), ("99999999999999999999", True), ("9" * 200, True), ("0" * 30 + "7200", True),
    ("2147483648", True), ("18446744073709551616", True), ("18446744073709551617", True),
    (date_in(7200), True), (date_in(7200, "%A, %d-%b-%y %H:%M:%S GMT"), True),
    (date_in(7200, "%a %b %d %H:%M:%S %Y"), True), ("Fri, 31 Dec 9999 23:59:59 GMT", True),
    ("0", False), ("00", False), ("-1", False), ("-99999999999999999999", False), ("", False),
    ("soon", False), ("1e9", False), ("0x7fffffff", False), ("7200 s", False), ("7200.0", False),
    (date_in(-7200), False), ("Thu, 01 Jan 1970 00:00:00 GMT", False),
)


def test_retry_after_of_any_form():
    """promise B40: a pause beyond the bound rejects, at once; what is no pause is none"""
    def answer(request):
        row = int(request.target[1:])
        yield reply(503, b"", f"Retry-After: {PAUSES[row][0]}")
    server = Server(answer)
    with pools(server, {"a": url(server, "/{payload}") + ", retry_after_max: 1h"}) as ask:
        for row, (value, is_long) in enumerate(PAUSES):
            code, _, reason = ask("a", str(row))
            check(code != 0 and ("Retry-After of" if is_long else "status 503") in reason,
                  f"{value}: {reason}")
            check(len(server.take()) == (1 if is_long else 4), value)


def test_a_pause_is_kept():
    """Seconds, a date, and the longest of several values."""
    values = {"a": ["1"], "b": [date_in(3)], "c": ["0", "1", "soon"]}
    times = {}

    def answer(request):
        name = request.target[1:]
        times.setdefault(name, []).append(time.monotonic())
        yield reply(200) if len(times[name]) > 1 else reply(
            503, b"", *[f"Retry-After: {value}" for value in values[name]])
    server = Server(answer)
    with pools(server, {"a": url(server, "/{payload}")}) as ask:
        for name in values:
            if name == "b":
                values[name] = [date_in(3)]     # whole seconds, so at least two
            check(ask("a", name)[0] == 0, name)
            first, second = times[name]
            check(second - first >= 0.99, f"{name}: {second - first}")


# --- limits --------------------------------------------------------------------------------------

def forever(server, *pieces):
    while not server.gate.is_set():
        yield from pieces


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n"
FLOODS = {      # what the server sends first, and then without end; the reason
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X: %s\r\n" % (b"x" * 1000), "headers"),
    "short": (b"HTTP/1.1 200 OK\r\n", b"a:\r\n" * 100, "headers"),
    "same": (b"HTTP/1.1 200 OK\r\n", b"Connection: close\r\n" * 100, "headers"),
    "interim": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100, "headers"),
    "early": (b"", b"HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n" * 100, "headers"),
    "trailers": (CHUNKED, b"X: %s\r\n" % (b"x" * 1000), "headers"),
    "line": (b"HTTP/1.1 200 OK\r\nX: ", b"x" * 1000, "headers"),
    "status": (b"HTTP/1.1 200 ", b"x" * 1000, "headers"),
    "body": (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 1000, "response_max"),
    "moved": (b"HTTP/1.1 302 Found\r\nLocation: /ok\r\n\r\n", b"x" * 1000, "response_max"),
    "wrong": (b"HTTP/1.1 404 None\r\n\r\n", b"x" * 1000, "response_max"),
}


def test_whatever_comes_back_has_a_limit():
    """promise B40"""
    def answer(request):
        first, rest, _ = FLOODS.get(request.target[1:], (reply(200), b"", ""))
        yield first or rest
        yield from forever(server, rest) if rest else ()
    server = Server(answer)
    # Without an end of its own a flood lasts until `timeout`, and has another reason.
    with pools(server, {"a": url(server, "/{payload}") +
                        ", response_max: 64KiB, retry: [408], redirects: 3, timeout: 15s"}) as ask:
        for name, (_, _, wanted) in FLOODS.items():
            code, _, reason = ask("a", name)
            check(code != 0 and wanted in reason and "Timeout" not in reason,
                  f"{name}: {code} {reason}")


def test_trailers_are_no_headers():
    server = Server(lambda _: [CHUNKED + b"Retry-After: 1\r\nX-Late: a\r\n\r\n"])
    with pools(server, {"a": url(server, "/") + ", pass: response"}) as ask:
        code, out, reason = ask("a", "x")
        check(code == 0 and "whole" in out and "x-late" not in out and "retry" not in out,
              f"{out} {reason}")


def test_a_trailer_is_no_status_line():
    """promise B130"""
    def answer(_):
        yield reply(200, b"", "A: 1").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") \
            + b"5\r\nwhole\r\n0\r\nHTTP/1.1: 404\r\nB: 2\r\n\r\n"
    server = Server(answer)
    with pools(server, {"a": url(server, "/") + ", pass: response"}) as ask:
        code, out, reason = ask("a", "x")
        check((code, out) == (0, "200\na: 1\n\nwhole"), f"{out!r} {reason}")


def test_redirects_have_a_number_and_a_time():
    """promise B40: `timeout` is of all requests of a try together"""
    def answer(request):
        if request.target.startswith("/slow"):
            server.gate.wait(0.05)
        yield reply(302, b"", f"Location: {request.target}x")
    server = Server(answer)
    with pools(server, {"a": url(server, "/{payload}") +
                        ", redirects: 50, timeout: 500ms, retry: [408]"}) as ask:
        code, _, reason = ask("a", "quick")
        check(code != 0 and "redirects" in reason, reason)
        check(len(server.take()) == 51, "50 redirects")
        code, _, reason = ask("a", "slow")
        check(code != 0 and "Timeout" in reason, reason)
        check(1 < len(server.take()) <= 11, "as many as there is time for")


if __name__ == "__main__":
    run_tests(globals())
