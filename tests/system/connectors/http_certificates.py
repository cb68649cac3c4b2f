#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a renewed certificate of http.server is used after a reload, whatever the configuration
        says; a pair that does not fit, or asks for a pass phrase, changes nothing; a certificate
        that ends within 14 days, or has ended, is in the log; TLS 1.2 is the least. Shows promise
        B42.
Method: real hosts; the client is `openssl s_client`. Every wait is for a condition.

    http_certificates.py WEIR PLUGINS TREE
"""
import contextlib
import os
import pty
import shutil
import signal
import socket
import subprocess
import tempfile

from control import WEIR, Host, check, run_tests, until

FILE = """
sources:
  web: {{use: http.server, to: work, args: {{listen: "127.0.0.1:{port}",
         certificate: "{certificate}", key: "{key}"}}}}
pools:
  work: {{use: sink.null, size: 1}}
"""


def openssl(*arguments, data=b""):
    return subprocess.run(["openssl", *arguments], capture_output=True, input=data, check=False)


class Site:
    def __init__(self, folder):
        self.folder, self.host = folder, Host(folder)
        self.certificate, self.key = self.path("cert.pem"), self.path("key.pem")
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.host.write(FILE.format(port=self.port, certificate=self.certificate, key=self.key))

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, days):
        """Files NAME.cert and NAME.key; a negative number of days has gone by since the end."""
        request = self.path(f"{name}.csr")
        made = openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                       "-keyout", self.path(f"{name}.key"), "-out", request, "-subj", f"/CN={name}")
        check(made.returncode == 0, f"{made}")
        made = openssl("x509", "-req", "-in", request, "-signkey", self.path(f"{name}.key"),
                       "-days", str(days), "-out", self.path(f"{name}.cert"))
        check(made.returncode == 0, f"{made}")

    def encrypt(self, path):
        made = openssl("ec", "-aes256", "-passout", "pass:word", "-in", path, "-out", path + ".new")
        check(made.returncode == 0, f"{made}")
        os.rename(path + ".new", path)

    @staticmethod
    def replace_by_fifo(path):
        os.remove(path)
        os.mkfifo(path)

    def install(self, certificate, key=None):
        for source, target in ((f"{certificate}.cert", self.certificate),
                               (f"{key or certificate}.key", self.key)):
            shutil.copy(self.path(source), target + ".new")
            os.rename(target + ".new", target)

    def connect(self, *more):
        """What s_client says; empty: no handshake."""
        made = openssl("s_client", "-connect", f"127.0.0.1:{self.port}", *more)
        return made.stdout.decode() if made.returncode == 0 else ""

    def name(self):
        return self.connect().partition("subject=CN = ")[2].partition("\n")[0]

    def count(self, text):
        with open(self.host.log, encoding="utf-8") as stream:
            return sum(text in line for line in stream)


@contextlib.contextmanager
def served(days=90):
    with tempfile.TemporaryDirectory() as folder:
        site = Site(folder)
        site.make("first", days)
        site.install("first")
        site.host.start()
        try:
            yield site
        finally:
            site.host.stop(9)


def test_a_renewed_certificate_is_taken():
    """promise B42: by `weir reload` and by HUP, without a change of the configuration"""
    with served() as site:
        site.make("second", 90)
        site.make("third", 90)
        check(site.name() == "first", site.name())
        site.install("second")
        check(site.name() == "first", "not before a reload")
        made = site.host.run("reload")
        check(made.returncode == 0, f"{made}")
        until(lambda: site.count("certificate is renewed") == 1, "the log")
        check(site.name() == "second", site.name())
        site.install("third")
        site.host.process.send_signal(signal.SIGHUP)
        until(lambda: site.count("certificate is renewed") == 2, "the log")
        check(site.name() == "third", site.name())
        # The same files are no news.
        before = site.count("files are opened again")
        site.host.process.send_signal(signal.SIGHUP)
        until(lambda: site.count("files are opened again") > before, "HUP")
        check(site.host.run("reload").returncode == 0 and site.name() == "third", "a reload")
        check(site.count("certificate is renewed") == 2, "no news")


def test_files_that_do_not_fit_change_nothing():
    """promise B42"""
    with served() as site:
        site.make("second", 90)
        broken = (lambda: site.install("second", "first"), lambda: site.install("first", "second"),
                  lambda: os.remove(site.certificate), lambda: os.truncate(site.key, 10),
                  lambda: os.truncate(site.certificate, 0), lambda: site.encrypt(site.key),
                  lambda: site.replace_by_fifo(site.certificate),
                  lambda: site.replace_by_fifo(site.key))
        for number, damage in enumerate(broken, 1):
            site.install("first")
            damage()
            check(site.host.run("reload").returncode == 0, "a reload")
            until(lambda: site.count("certificate cannot be read") == number, f"damage {number}")
            check(site.name() == "first", f"damage {number}: {site.name()}")
        check(site.count("key: has a pass phrase") == 1, "a reason")
        check(site.count("is no regular file") == 2, "reasons")
        site.install("second")
        check(site.host.run("reload").returncode == 0, "a reload")
        until(lambda: site.name() == "second", "the pair that fits")


def test_connections_stay_over_a_renewal():
    with served() as site:
        site.make("second", 90)
        with subprocess.Popen(["openssl", "s_client", "-quiet", "-connect",
                               f"127.0.0.1:{site.port}"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as client:
            request = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
            for renews in (True, False):
                client.stdin.write(request)
                client.stdin.flush()
                check(client.stdout.readline().startswith(b"HTTP/1.1 200 "), "an answer")
                while client.stdout.readline() != b"ok\n":
                    pass
                if renews:
                    site.install("second")
                    site.host.run("reload")
                    until(lambda: site.count("certificate is renewed") == 1, "the log")
            client.kill()


def test_the_end_of_a_certificate_is_announced():
    """promise B42: at the start, and when it is renewed by one that ends soon"""
    for days, wanted in ((90, None), (16, None), (13, "certificate ends soon"),
                         (1, "certificate ends soon"), (-1, "certificate has ended")):
        with served(days) as site:
            until(lambda: site.count("listening") == 1, "the start")
            for text in ("certificate ends soon", "certificate has ended"):
                check(site.count(text) == (text == wanted), f"{days} days: {text}")
            if wanted is None and days == 16:
                site.make("second", -1)
                site.install("second")
                site.host.run("reload")
                until(lambda: site.count("certificate has ended") == 1, "the renewed one")


def test_a_host_asks_nobody_for_a_pass_phrase():
    """promise B42: neither its terminal nor its input; it says why it does not start"""
    with served() as site:
        site.host.stop()
        site.encrypt(site.key)
        ours, theirs = pty.openpty()
        with open(site.host.log, "w", encoding="utf-8") as log, subprocess.Popen(
                ["setsid", "--ctty", "--wait", WEIR, "run", site.host.file], stdin=theirs,
                stdout=log, stderr=log) as process:
            until(lambda: process.poll() is not None, "the end of a start")
            check(process.returncode == 69, f"{process.returncode}")
        check(site.count("key: has a pass phrase") > 0, "the reason")
        os.close(ours)
        os.close(theirs)


def test_old_versions_are_refused():
    """promise B42"""
    with served() as site:
        for version, is_spoken in (("-tls1", False), ("-tls1_1", False), ("-tls1_2", True),
                                   ("-tls1_3", True)):
            said = site.connect(version, "-cipher", "DEFAULT:@SECLEVEL=0")
            check(("Verify return code" in said) == is_spoken, f"{version}: {said[-300:]}")


if __name__ == "__main__":
    run_tests(globals())
