#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   isolation, a queue in a file and positions hold their promises with each other feature:
        each line ends once, recorded or dead, at least once where something is killed; figures add
        up; nothing stands at rest; the next host sends nothing again. Shows promise Z6.
Method: a small world of real hosts for each pair of rows of the table in rows.py, drawn from a
        seed: world.py. Two threads do what the features are about while lines flow, and a third one
        reads figures. With positions a host ends among the lines, and another one goes on.

    hosts.py BUILD [--seeds N] [--seed FIRST] [--pair NAME NAME] [--sample N] [--keep] [--quiet]
"""
import argparse
import collections
import concurrent.futures
import ctypes
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

from rows import HOSTS, ROWS, dice_of, pairs
from world import LINES, LIMIT_S, Trouble, World, must, until

ACTS = 6  # of each thread with each host, at least
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


class Agent(threading.Thread):
    """Does something again and again until the world lets it go."""

    def __init__(self, world, act, seed):
        super().__init__(daemon=True)
        self.world, self.act, self.dice = world, act, dice_of(seed)
        self.count, self.trouble = 0, None
        self.goes = threading.Event()
        self.start()

    def run(self):
        turns = 0
        try:
            while not self.world.is_over and (turns < ACTS or not self.goes.is_set()):
                self.count += bool(self.act(self.world, self.dice))
                turns += 1
                time.sleep(self.dice.choice([0, 0.001, 0.005]))
        except Trouble as trouble:
            self.trouble = trouble

    def end(self):
        self.goes.set()
        self.join(2 * LIMIT_S)
        if self.trouble:
            raise self.trouble
        must(not self.is_alive(), "an act does not end")
        return self.count


def act_of(index, row):
    if row.change:
        return lambda world, dice: world.reload(index, dice)
    return row.act


def start_agents(world, seed):
    """One of each row that acts, by its index, and the reader."""
    agents = {index: Agent(world, act_of(index, row), (seed, index, world.hosts))
              for index, row in enumerate(world.pair)
              if act_of(index, row) and row not in world.pair[:index]}
    agents["reader"] = Agent(world, lambda world, dice: world.check_figures(), seed)
    return agents


def end_agents(world, agents, counts):
    for index, agent in agents.items():
        counts[index] += agent.end()
    for row in world.pair:
        if row.calm and not world.is_over:
            row.calm(world)


def play_some(world, seed, counts):
    """A host that ends among the lines."""
    world.start()
    agents = start_agents(world, seed)
    some = world.dice.randint(0, LINES)
    until(lambda: sum(world.recorded().values()) + len(world.dead()) >= some, "some lines")
    world.end(signal.SIGKILL if world.plan.is_killed else signal.SIGTERM, is_last=False)
    end_agents(world, agents, counts)


def play_all(world, seed, counts):
    world.start()
    agents = start_agents(world, seed)
    if world.plan.source["use"] == "files.tail":
        world.append()
    until(lambda: len(world.unended()) < len(world.lines) // 4 or
          all(agent.count >= ACTS or not agent.is_alive() for agent in agents.values()),
          "lines or acts")
    end_agents(world, agents, counts)
    world.await_end()
    world.end()


def play_none(world):
    """A host that finds nothing to do."""
    before = world.recorded()
    world.start()
    until(world.has_finished, "the source has finished")
    world.end()
    must(world.recorded() == before, "a host sends lines again")


def exercised(world, counts):
    """How often the rarer feature was: by its acts, else by its lines, else by all lines."""
    each = []
    for index, row in enumerate(world.pair):
        index = world.pair.index(row)
        each.append(counts[index] if act_of(index, row) else
                    sum(line.endswith(f" {row.word}") for line in world.lines) if row.word else
                    len(world.lines))
    return min(each)


def no_child_is_left():
    """What a host has left is a child of this process now."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0 and no_child_is_left()
    except ChildProcessError:
        return True


def play(world, seed):
    counts = collections.Counter()
    world.append()
    if world.plan.has_positions:
        play_some(world, seed, counts)
    play_all(world, seed, counts)
    if world.plan.has_positions:
        play_none(world)
    until(no_child_is_left, "no process is left")
    world.check_lines()
    if world.plan.has_queue:
        world.check_queue()
    return exercised(world, counts)


def try_world(build, numbers, seed, keep):
    """(numbers of the rows, seed, how often the rarer feature was exercised, what was found)"""
    work = tempfile.mkdtemp(prefix="weir-pairs.")
    world = World(build, work, tuple(ROWS[number] for number in numbers), seed)
    count, found = 0, ""
    try:
        count = play(world, seed)
    except Trouble as trouble:
        found = str(trouble)
    finally:
        world.is_over = True
        if world.process and world.process.poll() is None:
            world.process.kill()
            world.process.wait()
    if keep and found:
        found += f" ({work})"
    else:
        shutil.rmtree(work)
    return numbers, seed, count, found


# --- all worlds --------------------------------------------------------------------------------

def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--seeds", type=int, default=1, help="of each pair; %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="the first one; %(default)s")
    parser.add_argument("--pair", nargs=2, metavar="NAME", help="these two features alone")
    parser.add_argument("--sample", type=int, help="only N worlds, drawn")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="worlds at once")
    parser.add_argument("--keep", action="store_true", help="the folders of worlds that fail")
    parser.add_argument("--quiet", action="store_true", help="no matrix")
    return parser.parse_args()


def draw(given):
    chosen = [(ROWS.index(first), ROWS.index(second)) for first, second in pairs()
              if not given.pair or sorted((first.name, second.name)) == sorted(given.pair)]
    worlds = [(pair, seed) for seed in range(given.seed, given.seed + given.seeds)
              for pair in chosen]
    if given.sample and given.sample < len(worlds):
        worlds = random.Random(given.seed).sample(worlds, given.sample)
    return worlds


def adopt():
    """Orphans of this process become its children."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def print_matrix(matrix):
    print(f"{'':24}" + "".join(f"{name:>12}" for name in HOSTS))
    for number, row in enumerate(ROWS):
        cells = (matrix.get((min(column, number), max(column, number)), "")
                 for column in range(len(HOSTS)))
        print(f"{row.name:24}" + "".join(f"{cell:>12}" for cell in cells))


def main():
    given = arguments()
    worlds, matrix, troubles = draw(given), collections.Counter(), 0
    print(f"seeds {given.seed}..{given.seed + given.seeds - 1}", flush=True)
    with concurrent.futures.ProcessPoolExecutor(given.jobs, initializer=adopt) as pool:
        waiting = [pool.submit(try_world, given.build, pair, seed, given.keep)
                   for pair, seed in worlds]
        for done in concurrent.futures.as_completed(waiting):
            pair, seed, count, found = done.result()
            matrix[pair] += count
            if found:
                troubles += 1
                names = " ".join(f"'{ROWS[number].name}'" for number in pair)
                print(f"FAILED: --pair {names} --seed {seed}: {found}", flush=True)
    if not given.quiet:
        print_matrix(matrix)
    print(f"worlds {len(worlds)}")
    return 1 if troubles or not worlds else 0


if __name__ == "__main__":
    sys.exit(main())
