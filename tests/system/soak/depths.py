#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a queue in a file at depths of 1, 10, 100 and 1,000 requests in flight, while another
        program reads it without an end: every request has its answer, all pieces come out, and the
        file and its WAL are small again afterwards. Prints the WAL, the file and the time of an
        answer. Shows promises B80 and B107.
Method: a real host; connections to http.server, each of which waits for its answer. A connection of
        SQLite keeps a read transaction open, so no page of the WAL is used again meanwhile. Then it
        ends, a take empties the queue, and the sizes are looked at.

    depths.py WEIR PLUGINS TREE [--seconds N | --count N]
"""
import argparse
import asyncio
import contextlib
import os
import sqlite3
import sys
import tempfile
import time

from control import Host, check, report_failures, until

DEPTHS = (1, 10, 100, 1000)
REQUEST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200\r\n\r\n" + b"x" * 200
CONFIG = """
sources:
  web:
    use: http.server
    args: {listen: "unix:WORK/http", pass: body, mode: stored, connections: 1100}
    to: in
TAKEpools:
  in:
    use: queue.put
    size: 1
    mailbox: 1100
    args: {file: WORK/jobs, queue: q, min_free: 0, limit: 1000000000, bytes: 1TiB}
POOL"""
TAKE = "  take: {use: queue.take, args: {file: WORK/jobs, queue: q, window: 1000}, to: done}\n"
DONE = "  done: {use: sink.null, size: 1}\n"
WAL_AFTER = 20 << 20   # journal_size_limit, and a commit of 4 MiB
FILE_AFTER = 2 << 20   # what auto_vacuum leaves


async def post_until(path, is_over, took):
    reader, writer = await asyncio.open_unix_connection(path)
    while not is_over():
        began = time.monotonic()
        writer.write(REQUEST)
        head = await reader.readuntil(b"\r\n\r\n")
        took.append(time.monotonic() - began)
        check(head.startswith(b"HTTP/1.1 202 "), f"an answer: {head[:40]}")
        size = int(head.lower().split(b"content-length: ")[1].split()[0])
        await reader.readexactly(size)
    writer.close()


def load(path, depth, seconds, count):
    """The times of all answers."""
    took, end = [], time.monotonic() + seconds

    def is_over():
        return len(took) >= count if count else time.monotonic() >= end

    async def all_of_them():
        await asyncio.gather(*(post_until(path, is_over, took) for _ in range(depth)))

    asyncio.run(all_of_them())
    return sorted(took)


def configure(host, takes):
    text = CONFIG.replace("TAKE", TAKE if takes else "").replace("POOL", DONE if takes else "")
    host.write(text.replace("WORK", host.work))


def drain(host):
    """Returns the sizes of file and WAL when the queue is empty and the file is tidy."""
    path = os.path.join(host.work, "jobs")
    configure(host, True)
    check(host.run("reload").returncode == 0, "a reload with a take")
    until(lambda: host.json("inspect", "take")["items"]["queue_length"] == "0", "an empty queue")
    until(lambda: os.path.getsize(path) <= FILE_AFTER, "a small file")
    configure(host, False)
    check(host.run("reload").returncode == 0, "a reload without a take")
    return os.path.getsize(path), os.path.getsize(path + "-wal")


def measure(host, depth, seconds, count):
    path = os.path.join(host.work, "jobs")
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM queue").fetchall()
        took = load(os.path.join(host.work, "http"), depth, seconds, count)
        most = os.path.getsize(path + "-wal")
        reader.execute("COMMIT")
    stored = os.path.getsize(path)
    file, wal = drain(host)
    check(wal <= WAL_AFTER, f"a WAL of {wal} bytes")
    times = (1e3 * took[len(took) // 2], 1e3 * took[len(took) * 999 // 1000])
    sizes = (size / 1e6 for size in (most, stored, file, wal))
    print(f"| {depth} | {len(took)} | {len(took) / sum(took) * depth:.0f} | " +
          " | ".join(f"{figure:.1f}" for figure in (*times, *sizes)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs=3)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--count", type=int, default=0, help="answers for each depth")
    options = parser.parse_args()
    print("| in flight | answers | 1/s | median, ms | p99.9, ms | WAL beside a reader, MB "
          "| file, MB | file when empty, MB | WAL then, MB |\n" + "|---" * 9 + "|")
    with tempfile.TemporaryDirectory() as work:
        host = Host(work)
        try:
            configure(host, False)
            host.start()
            until(lambda: os.path.exists(os.path.join(work, "jobs-wal")), "a file")
            for depth in DEPTHS:
                measure(host, depth, options.seconds / len(DEPTHS), options.count)
            check(host.stop() == 0, "the exit code")
        finally:
            host.stop(9)
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
