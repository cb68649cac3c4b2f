# SPDX-License-Identifier: MIT
"""What each row of ./dev bench is: the one definition, for our program and for those of the peers.

A row's shape goes to each program as its arguments (row.h): senders, receivers, messages of each
sender, limit of a mailbox or queue, steps of work with a message. Goals are ratios within one run.
"""
from dataclasses import dataclass
from typing import Optional

MARGIN = 1.05  # noise of a goal's figure
WORK_US = 900  # steps of about a microsecond
HOG_TURN_US = 10000


@dataclass(frozen=True)
class Goal:
    """At most so many times what `base` took: F1, F100, work, another row with as many CPUs,
    `one` (the same row with one thread), a peer by its name, or `unit` (the factor itself)."""
    factor: float
    base: str


@dataclass(frozen=True)
class Row:
    name: str
    what: str
    senders: int = 1
    receivers: int = 1
    each: int = 1
    limit: int = 0
    steps: int = 0
    one: Optional[Goal] = None  # goal with one thread on one CPU
    two: Optional[Goal] = None  # with two
    cpus: tuple = (1, 2)
    outside: int = 0            # CPUs of these that the row's own sender needs
    figure: str = "ns"          # nanoseconds a message, or what the program prints by that name
    unit: str = "ns"
    run: str = ""               # the row whose run has the figure; its own
    beside: str = ""            # the row of the peers that stands beside it; its own
    rare: bool = False          # not in a quick run, and one round of a full one

    @property
    def source(self):
        """The row whose run has the figure."""
        return self.run or self.name

    @property
    def group(self):
        """Rows of a group are measured by turns, with the peers' runs of the row so named."""
        return self.beside or self.source

    def goal(self, cpus):
        return self.one if cpus == 1 else self.two


POOL = dict(senders=4, receivers=8, limit=64)
LATENCY = dict(receivers=8, each=200_000, steps=WORK_US, cpus=(2,), outside=1, unit="us",
               run="latency")
COMPARED = dict(each=200_000, figure="figure", unit="times", cpus=(1,))
HOG = dict(receivers=1000, steps=WORK_US * HOG_TURN_US, unit="us", run="hog")

ROWS = (
    Row("F1", "floor: the steps that no message can do without, on one CPU, one message an "
        "activation", each=10_000_000, limit=1, cpus=(1,)),
    Row("F100", "floor: the same with a hundred messages an activation", each=20_000_000, limit=100,
        cpus=(1,)),
    Row("work", "the microsecond of work of the rows that have it, alone", each=250_000,
        steps=WORK_US, cpus=(1,)),
    Row("pingpong", "2 actors, one message to and fro", each=2_000_000,
        one=Goal(1.1, "F1"), two=Goal(1.1, "one")),
    Row("ring", "100 actors, one token", receivers=100, each=5_000_000,
        one=Goal(1.1, "F1"), two=Goal(1.1, "one")),
    Row("request", "request and reply between two actors, with a time-out of 5 s", each=1_000_000,
        one=Goal(3.0, "F1"), two=Goal(1.1, "one")),
    Row("count", "1 sender to 1 worker; its mailbox takes 64, the sender waits for room",
        each=10_000_000, limit=64, one=Goal(3.0, "F100"), two=Goal(1.15, "one")),
    Row("fjthrput", "1 sender to 60 workers by turns, as count", receivers=60, each=100_000,
        limit=64, one=Goal(4.0, "F100"), two=Goal(1.0, "one")),
    Row("contend", "100 senders to 1 worker, as count", senders=100, each=100_000, limit=64,
        one=Goal(3.0, "F100"), two=Goal(1.15, "one")),
    Row("big", "120 actors, each pings others at random and waits for the pong", receivers=120,
        each=20_000, one=Goal(1.0, "F1"), two=Goal(1.0, "one")),
    Row("pool0", "4 senders to a pool of 8 workers, mailboxes of 64, no work", each=1_000_000,
        **POOL, one=Goal(4.0, "F100"), two=Goal(1.1, "one")),
    Row("pool0wait", "the same by an output that waits for room", each=1_000_000, **POOL,
        beside="pool0", one=Goal(4.0, "F100"), two=Goal(1.1, "one")),
    Row("pool1us", "pool0 with 1 us of work a message", each=250_000, **POOL, steps=WORK_US,
        one=Goal(1.01, "work"), two=Goal(0.54, "one")),
    Row("pool1uswait", "the same by an output that waits for room", each=250_000, **POOL,
        steps=WORK_US, beside="pool1us", one=Goal(1.01, "work"), two=Goal(0.54, "one")),
    Row("run0", "`weir run`: 4 sources to a pool of 8, no work; without start and end of the "
        "program", each=500_000, **POOL, beside="pool0", two=Goal(1.05, "one")),
    Row("run1us", "the same with 1 us of work", each=500_000, **POOL, steps=WORK_US,
        beside="pool1us", two=Goal(0.54, "one")),
    Row("fjcreate", "actors that are spawned, get one message and end", each=1_000_000,
        one=Goal(3.9, "F1"), two=Goal(1.0, "one")),
    Row("skynet", "a tree of 1.1 million actors, ten children each, whose numbers are added up",
        each=1_000_000, one=Goal(5.9, "F1"), two=Goal(0.6, "one")),
    Row("overload", "pool1us; the senders offer ten times what the CPUs can do and drop what is "
        "refused; time for each message that was handled", each=2_500_000, **POOL, steps=WORK_US,
        one=Goal(1 / 0.95, "pool1us"), two=Goal(1 / 0.95, "pool1us")),
    Row("latency50", "a thread outside sends every 2 us to a pool with 1 us of work, at moments "
        "that do not wait (open loop); median until a message is done", figure="p50", **LATENCY),
    Row("latency99", "the same; 99 of 100 are done after it", figure="p99", **LATENCY),
    Row("latency999", "the same; 999 of 1,000", figure="p999", **LATENCY,
        two=Goal(2.0, "spin")),
    Row("outside", "a thread outside makes a message and sends it to an actor; without handling it",
        each=1_000_000, two=Goal(100, "unit"), cpus=(2,), outside=1),
    Row("hog99", "1,000 light actors beside a hog with turns of 10,000 times the work (10 ms), and "
        "a message to one of them each millisecond; 99 of 100 are done after it", figure="p99",
        **HOG, one=Goal(HOG_TURN_US / 1000, "work"), two=Goal(HOG_TURN_US / 1000, "work")),
    Row("hogmax", "the same; the one that waits longest", figure="max", **HOG),
    Row("idle", "resident memory of an actor that sleeps", each=1_000_000, figure="figure",
        unit="bytes", one=Goal(320, "unit"), cpus=(1,), rare=True),
    Row("worker", "the same of a pool's worker, without its behaviour's state", each=60_000,
        figure="figure", unit="bytes", one=Goal(640, "unit"), cpus=(1,)),
    Row("flat", "what the process grows by between the first tenth and the last of 100 million "
        "messages of pool0", each=25_000_000, **POOL, figure="figure", unit="bytes",
        one=Goal(1 << 20, "unit"), two=Goal(1 << 20, "unit"), rare=True),
    Row("nested", "what each further level around a pool costs a message", each=25_000,
        senders=4, receivers=8, figure="figure", one=Goal(3, "unit"), two=Goal(3, "unit")),
    Row("many", "how much dearer a message is when a million actors take turns, not 64",
        receivers=1 << 20, figure="figure", unit="times", one=Goal(2, "unit"), two=Goal(2, "unit"),
        rare=True),
    Row("guest", "from sending a message from outside to its handling, while 32 actors always have "
        "more to do than their budget, at 1 us a message", senders=32, each=2_000, steps=WORK_US),
    Row("keptorder", "a worker settles 30,000 messages that it keeps, in the order in which they "
        "came", each=20, limit=30_000, cpus=(1,)),
    Row("kept", "the same in any order", each=20, limit=30_000, cpus=(1,),
        one=Goal(3.0, "keptorder")),
    Row("grow", "how much dearer the last hundred workers are than the first, of 8,000 that a pool "
        "gets one by one", receivers=8000, each=5, figure="figure", unit="times", cpus=(1,),
        one=Goal(3, "unit")),
    Row("leastwide", "how much dearer a message is by `least_loaded` to two pools of 4,096 workers "
        "than to one pool of 8,192", one=Goal(3, "unit"), receivers=8192, **COMPARED),
    Row("randomwide", "the same by `random`", one=Goal(3, "unit"), receivers=8192, **COMPARED),
    Row("leastdeep", "the same by `least_loaded` to pools of four members at each of five levels, "
        "and to one pool of 1,024 workers", one=Goal(5, "unit"), **COMPARED),
    Row("randomdeep", "the same by `random`", one=Goal(5, "unit"), **COMPARED),
)

BY_NAME = {row.name: row for row in ROWS}


def groups():
    """name: rows, in the order of the rows."""
    found = {}
    for row in ROWS:
        found.setdefault(row.group, []).append(row)
    return found


def shape_of(group):
    """The row by which the peers of a group are measured."""
    return next(row for row in ROWS if row.source == group)


def bases(rows):
    """The rows that the goals of these are multiples of, and that are not among them."""
    names = {goal.base for row in rows for goal in (row.one, row.two) if goal}
    return [row for row in ROWS if row.name in names and row not in rows]
