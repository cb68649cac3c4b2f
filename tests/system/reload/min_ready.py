#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a pool with `min_ready` starts, and its reload succeeds, when as many of its workers
        are open; the others are tried again, and status, log and /readyz show the pool as degraded
        meanwhile. With fewer, or without the key, the start or the reload is refused. Shows promise
        H15.
Method: real hosts; workers whose open reads a byte from a FIFO: one opens, another fails. Every
        wait is for a condition.

    min_ready.py WEIR PLUGINS TEST_PLUGINS
"""
import os
import subprocess
import tempfile

from cases import WAIT_LIMIT_S, WEIR, Connection, Host

YES, NO = b"y", b"n"


def file(more="", args=""):
    return ("pools:\n  sink: {use: sink.null, size: 1, open_timeout: 1s}\n"
            "  db: {use: slow_open.pass, size: 3, restart: {max: 1000, backoff: 10ms..10ms}, "
            f"outputs: {{out: sink}}, args: {{gate: GATE{args}}}{more}}}\n")


def page(host, path):
    connection = Connection(host.path["socket"])
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def status(host):
    return subprocess.run([WEIR, "status", "-c", host.path["socket"]], capture_output=True,
                          text=True, check=True).stdout


def feed(host, *answers):
    os.write(host.gate, b"".join(answers))


def refused(work, name, answers, more, wanted):
    """The start."""
    host = Host(work, name)
    feed(host, *answers)
    host.write(file(more).replace("10ms..10ms", "10m..10m"))
    answer = subprocess.run([WEIR, "run", host.path["yaml"]], capture_output=True, text=True,
                            check=False, timeout=WAIT_LIMIT_S)
    host.check(answer.returncode == 69 and wanted in answer.stdout + answer.stderr,
               f"{name}: {answer}")
    os.close(host.gate)


def some_open(work):
    host = Host(work, "some")
    feed(host, YES, YES, NO)
    host.start(file(", min_ready: 2"))
    host.check('level=warning component=db event="pool is degraded" open=2 failed=1' in host.log(),
               "the log does not say that the pool is degraded")
    code, text = page(host, "/readyz")
    warning = "warning: pool db is degraded: 2 of its 3 workers are open; db#"
    host.check(code == 200 and text.startswith("running\n") and warning in text and
               "the gate stays shut" in text, f"/readyz: {code} {text}")
    host.check(warning in status(host), f"status: {status(host)}")
    host.check(host.pool("db")["degraded"] == 1, "the figures")
    feed(host, YES)                                     # the host tries it again by itself
    host.until(lambda: host.pool("db")["live"] == 3, "the third worker is not tried again")
    host.check("degraded" not in page(host, "/readyz")[1] + status(host).replace("degraded:", ""),
               "still degraded")
    feed(host, YES, NO, NO)
    answer = host.reload("refused", file(", min_ready: 2, redeliver: 1", ", barrier: ''")
                         .replace("10ms..10ms", "10m..10m"))
    host.check("failed to open" in str(answer), f"{answer}")
    host.check(host.pool("db")["live"] == 3, "the former workers")
    feed(host, YES, NO, YES)
    host.reload("reloaded", file(", min_ready: 2, redeliver: 1", ", barrier: ''"))
    host.until(lambda: host.pool("db")["live"] == 2, "two new workers")
    feed(host, YES)
    host.until(lambda: host.pool("db")["live"] == 3, "the third new worker")
    host.stop()


def none_opens(work):
    host = Host(work, "none")
    feed(host, NO, NO, NO)
    host.start(file(", min_ready: 0"))
    code, text = page(host, "/readyz")
    host.check(code == 503 and "pool db accepts no messages: none of its 3 workers is open" in text,
               f"/readyz: {code} {text}")
    feed(host, YES)
    host.until(lambda: page(host, "/readyz")[0] == 200, "the backend is back")
    host.check("1 of its 3 workers is open" in page(host, "/readyz")[1], "one of three")
    feed(host, YES, YES)
    host.until(lambda: host.pool("db")["live"] == 3, "all are tried again")
    host.stop()


def one_is_late(work):
    """Opens that have not returned in time are not waited for, when enough workers are open."""
    host = Host(work, "late")
    feed(host, YES)
    host.start(file(", min_ready: 1, open_timeout: 1s"))
    host.check('event="pool is degraded" open=1 failed=0 starting=2' in host.log(), "the log")
    feed(host, YES, YES)
    host.until(lambda: host.pool("db")["live"] == 3, "the late ones")
    host.stop()


def grows_without_its_backend(work):
    """The workers that are open are enough: those that a reload adds may fail."""
    host = Host(work, "grows")
    feed(host, YES, YES, YES)
    host.start(file(", min_ready: 1"))
    feed(host, NO, NO)
    host.reload("reloaded", file(", min_ready: 1").replace("size: 3", "size: 5"))
    host.check(host.pool("db")["live"] == 3, "the workers that were open")
    feed(host, NO)                                      # after the reload
    host.until(lambda: "closed until an open succeeds" in host.log(), "the effect of a failure")
    feed(host, YES, YES)
    host.until(lambda: host.pool("db")["live"] == 5, "the new workers are not tried again")
    host.stop()


def main():
    with tempfile.TemporaryDirectory() as work:
        refused(work, "all", [YES, YES, NO], "", "failed to open")
        refused(work, "beyond", [YES, NO, YES], ", min_ready: 1000", "failed to open")
        refused(work, "fewer", [YES, NO, NO], ", min_ready: 2", "failed to open")
        refused(work, "slow", [YES], ", min_ready: 2, open_timeout: 1s", "did not open in time")
        some_open(work)
        none_opens(work)
        one_is_late(work)
        grows_without_its_backend(work)
    print("min_ready: as many as needed; the others are tried again")


if __name__ == "__main__":
    main()
