# SPDX-License-Identifier: MIT
"""Goal:   the recipe of background jobs moves from a queue in a file to RabbitMQ and back with the
        same workers: only `use:` and `args:` of the queue's two ends change. No job is lost on the
        way, and a dead job has the same reason in both. For amqp.py.
Method: examples/recipes/jobs.yaml and examples/machines/jobs.yaml, with paths of the test. Clients
        post numbers; a job writes its number down. Moves are reloads, or a new start with a second
        source for what waits in the old queue.
"""
import os
import sqlite3
import subprocess

import yaml
from hosts import check, until

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples")
FILE, SERVER = "recipes/jobs.yaml", "machines/jobs.yaml"
REST = {
    FILE: "  rest: {use: queue.take, args: {file: jobs.db, queue: jobs}, to: work}\n",
    SERVER: '  rest: {use: amqp.consume, args: {servers: ["${JOBS_SERVER:-amqp://127.0.0.1}"], '
            "queue: jobs}, to: work}\n",
}


def example(name):
    with open(os.path.join(EXAMPLES, name), encoding="utf-8") as stream:
        return stream.read()


def without_ends(text):
    """What has to be the same in both examples."""
    tree = yaml.safe_load(text)
    for end in (tree["sources"]["take"], tree["pools"]["in"]):
        check({"use", "args"} <= set(end), f"{end}")
        del end["use"], end["args"]
    return tree


class Jobs:
    """A host that runs one of the examples."""

    def __init__(self, suite):
        self.suite, self.count = suite, 0
        self.done = os.path.join(suite.work, "jobs/done")
        os.environ["JOBS_LISTEN"] = f"unix:{suite.work}/http"
        os.environ["JOBS_SERVER"] = suite.engine.addresses[0]
        self.host = suite.host("jobs", self.body(FILE))

    def body(self, name, rest=None):
        text = example(name).split("\nsources:\n")[1]
        text = "sources:\n" + (REST[rest] if rest else "") + text
        for word, path in (("jobs.db", "jobs.db"), ("out/done", "jobs/done")):
            text = text.replace(word, os.path.join(self.suite.work, path))
        return text

    def move(self, old, new):
        self.host.change(old, new)

    def move_to(self, old, new, old_rest=None, rest=None):
        self.move(self.body(old, old_rest), self.body(new, rest))

    def let_work(self):
        """Until then each job fails."""
        os.makedirs(os.path.dirname(self.done), exist_ok=True)

    def stop_work(self):
        os.rename(os.path.dirname(self.done), f"{self.suite.work}/done-{self.count}")

    def post(self, count):
        for _ in range(count):
            self.count += 1
            answer = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
                                     "--unix-socket", f"{self.suite.work}/http", "-d",
                                     str(self.count), "http://host/"], capture_output=True,
                                    text=True, check=False)
            check(answer.stdout == "202", f"job {self.count}: {answer}")

    def numbers(self):
        try:
            with open(self.done, encoding="utf-8") as stream:
                return [int(line) for line in stream]
        except FileNotFoundError:
            return []

    def until_done(self, numbers):
        until(lambda: set(numbers) <= set(self.numbers()), f"jobs {numbers}", self.host)

    def in_file(self, sql):
        connection = sqlite3.connect(f"file:{self.suite.work}/jobs.db?mode=ro", uri=True)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def at_server(self):
        connection, channel = self.suite.engine.channel()
        waiting = channel.queue_declare("jobs", passive=True).method.message_count
        connection.close()
        return waiting


def test_the_examples_differ_in_use_and_args_alone(suite):
    check(suite and without_ends(example(FILE)) == without_ends(example(SERVER)),
          "the two files of jobs differ elsewhere, too")


def test_jobs_move_to_the_server_and_back(suite):
    jobs = Jobs(suite)
    jobs.host.start()
    jobs.let_work()
    jobs.post(10)
    jobs.until_done(range(1, 11))
    jobs.move_to(FILE, SERVER)
    jobs.post(10)
    jobs.until_done(range(11, 21))
    check(jobs.in_file("SELECT count(*) FROM piece") == [(0,)], "the file has new jobs")
    check(jobs.host.number("take", "received") == 10, "they did not come by the server")
    jobs.move_to(SERVER, FILE)
    jobs.post(10)
    jobs.until_done(range(21, 31))
    check(jobs.at_server() == 0, "the server has jobs")
    check(sorted(jobs.numbers()) == list(range(1, 31)), "each job once")
    check(jobs.host.ask("status", "work")["done"] == 30, "the workers are others")
    check(jobs.host.stop() == 0, "the exit code")


def move_what_waits(jobs, old, new):
    """The host is stopped while jobs wait for a retry, and starts with the other queue."""
    first = jobs.count + 1
    jobs.post(3)
    check(jobs.host.stop() == 0, "the exit code")
    jobs.move_to(old, new, rest=old)
    jobs.let_work()
    jobs.host.start()
    jobs.post(3)
    jobs.until_done(range(first, first + 6))
    jobs.move_to(new, new, old_rest=old)
    jobs.stop_work()


def test_what_waits_comes_after_the_move(suite):
    jobs = Jobs(suite)
    jobs.move("max: 3", "max: 1000")
    jobs.body = lambda *names, body=jobs.body: body(*names).replace("max: 3", "max: 1000")
    jobs.host.start()
    move_what_waits(jobs, FILE, SERVER)
    move_what_waits(jobs, SERVER, FILE)
    until(lambda: jobs.in_file("SELECT count(*) FROM piece") == [(0,)], "an empty file")
    check(jobs.host.stop() == 0, "the exit code")


def test_dead_job_has_the_same_reason_in_both(suite):
    jobs = Jobs(suite)
    jobs.host.start()
    jobs.post(1)
    dead = "SELECT reason, detail, CAST(payload AS TEXT) FROM piece WHERE state=2"
    until(lambda: jobs.in_file(dead), "a dead job in the file", jobs.host)
    reason, detail, body = jobs.in_file(dead)[0]
    check((reason, body) == ("retries", "1"), f"{reason} {body}")
    jobs.move_to(FILE, SERVER)
    jobs.post(1)
    letter, = suite.engine.dead("jobs", 1)
    check((letter["reason"], letter["detail"], letter["body"]) == (reason, detail, b"2"),
          f"{letter}, not {reason} {detail}")
    check(jobs.host.stop() == 0, "the exit code")


TESTS = [
    test_the_examples_differ_in_use_and_args_alone,
    test_jobs_move_to_the_server_and_back,
    test_what_waits_comes_after_the_move,
    test_dead_job_has_the_same_reason_in_both,
]
