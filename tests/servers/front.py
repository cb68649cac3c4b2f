#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   nothing that a proxy passes on is understood otherwise by http.server: for each request
        that nginx sends on, one request reaches the worker, with the same method, target, host and
        body, and no hidden one. Shows promise B77.
Method: an nginx of the test's own, with three ways to a host: HTTP/1.1 with kept connections,
        HTTP/1.0, and HTTP/1.1 with bodies that are passed on in pieces. Each row of http1_table.c
        goes through each of them, alone and with an honest request behind it, from a client of its
        own. The access log of nginx says what nginx took it for; the worker writes down what it
        gets. What nginx or http.server refuses must not be with the worker.

    front.py BUILD
"""
import argparse
import collections
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from hosts import Host, check, until  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
# With what is behind it, it is a request of its own or part of the body before it.
NEXT = b"GET /next HTTP/1.1\r\nHost: next\r\nConnection: close\r\n\r\n"
THREADS = 8
HOST = """
sources:
  web:
    use: http.server
    to: work
    args: {{listen: "127.0.0.1:{port}", headers: [host, x-client], health: /none, idle: 60s}}
pools:
  work:
    use: exec.pipe
    size: 1
    mailbox: 4096
    args:
      command: [python3, "{work}/worker.py"]
      directory: "{work}"
      environment: {{PYTHONPATH: "{module}"}}
"""
WORKER = """
import json, weir
record = open("record", "a", encoding="ascii")
def handle(message):
    record.write(json.dumps(message.data.decode("latin-1")) + "\\n")
    record.flush()
    message.reply(b"seen")
weir.run(handle)
"""
# A client that says nothing more is closed soon. nginx is to pass on as much as it can.
NGINX = """
daemon off; master_process off; pid {work}/nginx.pid; error_log {work}/errors info;
events {{ worker_connections 4096; }}
http {{
  log_format all escape=json '{{"client":"$server_port-$remote_port",'
    '"method":"$request_method","target":"$request_uri","host":"$http_host",'
    '"body":"$request_body","upstream":"$upstream_status","status":"$status"}}';
  access_log {work}/access all;
  client_body_temp_path {work}/body; proxy_temp_path {work}/proxy; fastcgi_temp_path {work}/fastcgi;
  uwsgi_temp_path {work}/uwsgi; scgi_temp_path {work}/scgi;
  client_header_timeout 500ms; client_body_timeout 500ms; keepalive_timeout 500ms;
  ignore_invalid_headers off; underscores_in_headers on; merge_slashes off;
  upstream weir {{ server 127.0.0.1:{port}; keepalive 8; }}
  server {{ listen 127.0.0.1:{kept}; {kept_headers} proxy_http_version 1.1; {to} }}
  server {{ listen 127.0.0.1:{old}; {headers} {to} }}
  server {{ listen 127.0.0.1:{pieces}; {kept_headers} proxy_http_version 1.1;
            proxy_request_buffering off; {to} }}
}}
"""
HEADERS = "proxy_set_header X-Client $server_port-$remote_port; proxy_set_header Host $http_host;"
TO = "location / { proxy_pass http://weir; }"
WAYS = ("kept", "old", "pieces")
Seen = collections.namedtuple("Seen", "method target host body")


def free_ports(count):
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.create_server(("127.0.0.1", 0)))
                  for _ in range(count)]
        return [probe.getsockname()[1] for probe in probes]


def read_table(build):
    """The requests, by a name for people."""
    made = subprocess.run([os.path.join(build, "bin", "http1_rows")], capture_output=True,
                          text=True, check=True)
    rows = {}
    for number, line in enumerate(made.stdout.splitlines()):
        section, outcome, request = line.split("\t")
        request = bytes.fromhex(request)
        rows[f"row {number}, RFC {section}, {bytes.fromhex(outcome)}: {request}"] = request
        rows[f"row {number} and a next one, RFC {section}: {request}"] = request + NEXT
    check(len(rows) >= 300, f"{len(rows)} requests")
    return rows


def json_lines(path):
    with open(path, encoding="latin-1") as stream:
        return [json.loads(line) for line in stream]


class Site:
    """nginx and the host behind it."""

    def __init__(self, build, work):
        self.work = work
        ports = free_ports(1 + len(WAYS))
        self.ports = dict(zip(WAYS, ports[1:]))
        self.host = Host(build, work, "host", HOST.format(
            port=ports[0], work=work, module=os.path.join(HERE, "../../sdk/python")))
        with open(os.path.join(work, "worker.py"), "w", encoding="ascii") as stream:
            stream.write(WORKER)
        self.conf = os.path.join(work, "nginx.conf")
        with open(self.conf, "w", encoding="ascii") as stream:
            stream.write(NGINX.format(work=work, port=ports[0], headers=HEADERS, to=TO,
                                      kept_headers=f'{HEADERS} proxy_set_header Connection "";',
                                      **self.ports))
        self.nginx = None

    def __enter__(self):
        self.host.start()
        self.nginx = subprocess.Popen(["setpriv", "--pdeathsig=KILL", program(), "-p", self.work,
                                       "-c", self.conf], stderr=subprocess.DEVNULL)
        until(self.is_ready, "nginx starts")
        return self

    def __exit__(self, *_):
        self.nginx.terminate()
        self.nginx.wait()
        self.host.kill()

    def is_ready(self):
        check(self.nginx.poll() is None, f"nginx has ended with {self.nginx.returncode}")
        with contextlib.suppress(ConnectionRefusedError):
            self.connect("kept").close()
            return True
        return False

    def connect(self, way):
        return socket.create_connection(("127.0.0.1", self.ports[way]))

    def passed_on(self):
        """Of each client, what nginx passed on and http.server accepted, in order; and the number
        of all that it passed on."""
        found, count = collections.defaultdict(list), 0
        for line in json_lines(os.path.join(self.work, "access")):
            statuses = line["upstream"].split(", ")
            count += len(statuses) if statuses != [""] else 0
            # `OPTIONS *` is answered without the worker.
            if statuses[-1] == "200" and line["target"] != "*":
                # nginx sends an empty path as `/`, and does not write that down.
                slash = "/" if line["target"].startswith("?") else ""
                found[line["client"]].append(Seen(line["method"], slash + line["target"],
                                                  line["host"], line["body"]))
        return found, count

    def received(self):
        """Of each client, what the worker got, in order."""
        found = collections.defaultdict(list)
        for text in json_lines(os.path.join(self.work, "record")):
            head, _, body = text.partition("\n\n")
            first, *fields = head.split("\n")
            fields = dict(field.split(": ", 1) for field in fields)
            method, target = first.split(" ", 1)
            found[fields["x-client"]].append(Seen(method, target, fields.get("host", ""), body))
        return found


def program():
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def send(site, way, rows):
    """Sends each request from a client of its own. The names of the requests, by client. The
    clients are closed in the end, so that no number comes twice."""
    names, lock, waiting = {}, threading.Lock(), list(rows.items())

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                name, request = waiting.pop()
            client = stack.enter_context(site.connect(way))
            with lock:
                names[f"{site.ports[way]}-{client.getsockname()[1]}"] = name
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(request)
            with contextlib.suppress(ConnectionResetError):
                while client.recv(65536):
                    pass

    with contextlib.ExitStack() as stack:
        threads = [threading.Thread(target=work) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    check(len(names) == len(rows), f"{way}: {len(names)} clients of {len(rows)}")
    return names


def compare(way, names, taken, got, whole):
    """`whole`: what came by a way that knows the bodies, by name. What came by this one."""
    wrong, came = [], {}
    for client, name in names.items():
        wanted, seen = taken[client], got[client]
        if whole is not None and len(wanted) == len(whole[name]):
            wanted = [one._replace(body=other.body) for one, other in zip(wanted, whole[name])]
        came[name] = seen
        if wanted != seen:
            wrong.append(f"{name}\n  nginx passed on {wanted}\n  the worker got {seen}")
    check(not wrong, f"{way}: {len(wrong)} requests are understood otherwise:\n" +
          "\n".join(wrong[:5]))
    return came


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    options = parser.parse_args()
    rows = read_table(options.build)
    with tempfile.TemporaryDirectory() as work:
        with Site(options.build, work) as site:
            names = {way: send(site, way, rows) for way in WAYS}
            asked = site.host.number("web", "received")
        taken, passed = site.passed_on()
        got = site.received()
        whole = None
        for way in WAYS:
            came = compare(way, names[way], taken, got, whole if way == "pieces" else None)
            whole = whole or came
            accepted = sum(len(one) for one in came.values())
            check(accepted >= 100, f"{way}: {accepted} requests reached the worker")
            print(f"{way}: {len(rows)} clients, {accepted} requests reached the worker", flush=True)
        check(set(got) <= set().union(*names.values()), f"unknown clients: {list(got)[:5]}")
        check(asked <= passed, f"http.server counts {asked} requests, nginx {passed}")
    print("front: nothing is understood otherwise")


if __name__ == "__main__":
    main()
