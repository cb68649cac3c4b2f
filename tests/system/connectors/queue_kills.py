#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a queue in a file loses nothing over kill -9 with two stages, retries and dead pieces;
        four put workers and a take share one connection, and the take keeps up. Shows promises
        B80, B81 and B84.
Method: real hosts. Clients of http.server put numbers; 202 says that a number is on the disk, so
        the list of these is an oracle outside of the host. The first stage asks for a retry of each
        number that ends in 7, rejects each that ends in 9, and gives the others to a second queue,
        whose pool writes them down. Every wait is for a condition.

    queue_kills.py WEIR PLUGINS TREE [--kills N] [--pieces N] [--seed N]
"""
import argparse
import contextlib
import os
import random
import sys
import tempfile
import threading

from control import Host, check, report_failures, until
from queue_file import Fixture, kill_after

STAGES = """
sources:
  web: {use: http.server, args: {listen: "unix:WORK/http", pass: body, mode: stored}, to: in}
  one: {use: queue.take, args: {file: WORK/jobs, queue: one}, to: work}
  two: {use: queue.take, args: {file: WORK/jobs, queue: two}, to: record}
pools:
  in: {use: queue.put, size: 1, args: {file: WORK/jobs, queue: one, min_free: 0}}
  work:
    use: exec.run
    size: 2
    route: pull
    mailbox: unbuffered
    args:
      shell: true
      retry: [75]
      retry_after: 1ms
      command:
        - >-
          n=$(cat); case "$n" in *7) [ "$WEIR_ATTEMPT" -gt 1 ] || exit 75 ;; *9) exit 1 ;; esac;
          echo "$n"
    outputs: {out: between}
  between: {use: queue.put, size: 1, args: {file: WORK/jobs, queue: two, min_free: 0}}
  record: {use: file.append, args: {path: WORK/record}}
"""
FOUR = """
sources:
  numbers: {use: gen.numbers, args: {count: COUNT}, to: in}
  take: {use: queue.take, args: {file: WORK/jobs, queue: q, window: 1000}, to: done}
pools:
  in: {use: queue.put, size: 4, args: {file: WORK/jobs, queue: q, min_free: 0, limit: 1000000000}}
  done: {use: sink.null, size: 1}
"""


class Stages(Fixture):
    def configure(self, **_):
        self.write(STAGES.replace("WORK", self.work),
                   more=f', dead_letters: {{file: "{self.work}/dead"}}')

    def post(self, client, body):
        """204 where the number is stored."""
        status = super().post(client, body)
        return 204 if status == 202 else status

    def dead(self):
        return [int(row[0]) for row in
                self.ask("SELECT CAST(payload AS TEXT) FROM piece WHERE state=2")]


@contextlib.contextmanager
def folder(make):
    with tempfile.TemporaryDirectory() as work:
        host = make(work)
        try:
            yield host
        finally:
            host.stop(9)


def test_nothing_is_lost_over_two_stages(kills, chance):
    with folder(Stages) as host:
        for _ in range(kills):
            host.start()
            killer = threading.Thread(target=kill_after, daemon=True, args=(
                host, len(host.answered) + chance.randrange(12), chance.uniform(0, 0.05)))
            killer.start()
            while host.put(100):
                pass
            host.process.wait()
            killer.join()
            lost = set(host.answered) - set(host.record()) - host.stored()
            check(not lost, f"lost: {lost}")
        host.start()
        until(lambda: not host.ask("SELECT 1 FROM piece WHERE state<>2"), "an end of all")
        answered = set(host.answered)
        rejected = {number for number in answered if number % 10 == 9}
        check(answered - rejected <= set(host.record()), "numbers that are not written down")
        check(rejected <= set(host.dead()), "rejected numbers that are not dead")
        check(all(number % 10 == 9 for number in host.dead()), "a number that is dead by a kill")
        check(len(host.dead()) == len(set(host.dead())), "a number that is dead twice")
        check(answered and rejected, "too few numbers")
        print(f"{kills} kills, {len(answered)} answers, {len(rejected)} dead, "
              f"{len(host.record()) - len(set(host.record()))} written again")
        check(host.stop() == 0, "the exit code")


def descriptors_of(process, path):
    folder_of = f"/proc/{process}/fd"
    links = []
    for name in os.listdir(folder_of):
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(os.path.join(folder_of, name)))
    return links.count(path)


def test_four_puts_and_a_take_share_a_connection(pieces):
    with folder(Host) as host:
        host.write(FOUR.replace("WORK", host.work).replace("COUNT", "1000000000"))
        host.start()

        def number(path, item):
            return int(host.json("inspect", path)["items"][item])

        def stored():
            return sum(number(f"in#{worker}", "stored") for worker in range(4))

        until(lambda: stored() >= pieces, "pieces")
        wal = os.path.realpath(os.path.join(host.work, "jobs-wal"))
        check(descriptors_of(host.process.pid, wal) == 1, "connections")
        put, taken = stored(), number("take", "removed")
        check(taken >= 0.8 * put, f"{put} puts, {taken} takes")
        check(all(number(f"in#{worker}", "stored") > 0 for worker in range(4)), "an idle put")
        print(f"{put} puts, {taken} takes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs=3)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--pieces", type=int, help="default: 4,000 for each kill")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    test_nothing_is_lost_over_two_stages(options.kills, random.Random(options.seed))
    test_four_puts_and_a_take_share_a_connection(options.pieces or options.kills * 4000)
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
