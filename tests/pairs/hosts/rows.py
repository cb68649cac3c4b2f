# SPDX-License-Identifier: MIT
"""The features that meet in a world of hosts: a new one is a row of ROWS. hosts.py

      in -> [put -> the queue -> take ->] main -> [takers, who lease of lent ->] record

`main` is a pool of workers, or a pool of two pools of workers, its leaves. A feature has a part in
the plan of the world (`shape`), changes the file for each reload (`change`), acts on the host while
lines flow (`act`, with `calm` at the end), or has lines of its own, whose word says what a worker
of main does with them (`word`; tests/plugins/doer.c).
"""
import dataclasses
import random
from typing import Callable, Optional

SIZE_MAX = 4
GROUP_ROUTES = ("round_robin", "least_loaded", "random")


class Plan:
    """How a world is made. The seed draws what no feature says."""

    def __init__(self, dice):
        self.dice = dice
        self.leaf = {"use": "doer.work", "args": {"wait": dice.choice(["0ms", "1ms"])},
                     "size": dice.randint(1, 3), "mailbox": dice.choice([1, 4, 64]),
                     "route": dice.choice([*GROUP_ROUTES, "hash", "pull"]),
                     "restart": {"max": 1000, "backoff": "1ms..4ms"},
                     "remove": {"mode": dice.choice(["drain", "reroute"])}}
        self.output = {"when_full": "wait"}
        self.source = {"use": dice.choice(["files.lines", "files.tail"])}
        self.source_args = {"unsettled": dice.choice([1, 8, 1000])}
        self.parent = None       # of main, when it has leaves: their route
        self.is_copied = False   # its leaves are copies of one
        self.lends = None        # "pool", "group"
        self.has_queue = self.has_positions = self.is_killed = False
        self.copies = 1          # of each line

    def nest(self):
        self.parent = self.parent or self.dice.choice(GROUP_ROUTES)


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    shape: Optional[Callable] = None   # (plan)
    change: Optional[Callable] = None  # (config, dice)
    act: Optional[Callable] = None     # (world, dice): true when it did what it is about
    calm: Optional[Callable] = None    # (world)
    word: Optional[str] = None
    dies: bool = False    # lines of the world may become dead letters
    again: bool = False   # lines may come again, or be both recorded and dead
    # With positions: a host that ends among the lines ends before one that waits, at its source
    # for a retry, or in a paused pool until the time is up. That line, which may be dead then, and
    # those behind it come again.
    stays: bool = False


# --- what a plan says --------------------------------------------------------------------------

def isolate(plan):
    plan.leaf["isolation"] = "process"
    plan.leaf["process"] = {"window": plan.dice.choice([1, 4, 64])}


def crash(plan):
    isolate(plan)
    plan.leaf["redeliver"] = plan.dice.randint(0, 1)


def queue(plan):
    plan.has_queue = True


def keep_positions(plan):
    plan.has_positions = True


def be_killed(plan):
    plan.has_positions = plan.is_killed = True


def route(name):
    """Pools of pools do not pull; copies are counted where the members stay. Lines of files.tail
    have an origin in any case, and so none before a broadcast."""
    def place(plan):
        if name == "broadcast":
            plan.parent, plan.copies = name, 2
            plan.source["use"] = "files.lines"
        elif plan.parent and plan.parent != "broadcast" and name != "pull":
            plan.parent = name
        else:
            plan.leaf["route"] = name
    return place


def copy_pools(plan):
    plan.nest()
    plan.is_copied = True


def lend(plan):
    plan.lends = plan.lends or "pool"


def lend_of_group(plan):
    plan.lends = "group"


def scale_by_wait(plan):
    plan.leaf |= {"size": {"min": 1, "max": SIZE_MAX}, "scale": {"wait": "1ms", "idle": "2ms"}}


def scale_on_demand(plan):
    plan.leaf |= {"size": {"min": 0, "max": SIZE_MAX}, "scale": {"wait": "0ms", "idle": "2ms"}}


def unbuffer(plan):
    plan.leaf["mailbox"] = "unbuffered"


def redeliver(plan):
    plan.leaf["redeliver"] = 2


def spend_retries(plan):
    plan.leaf["retry"] = {"max": plan.dice.randint(0, 3), "backoff": "1ms..2ms"}


def slow_down(plan):
    plan.output["rate"] = "4/10ms"


def slow_source(plan):
    plan.source["rate"] = "5/10ms"


def hold_bytes(plan):
    plan.leaf["mailbox_bytes"] = "200"


# --- what a reload changes ---------------------------------------------------------------------

def leaves_of(config):
    main = config["pools"]["main"]
    return list(main["members"].values()) if "members" in main else \
        [main["pool"]] if "pool" in main else [main]


def set_keys(draw):
    """A change of the keys of each leaf alike."""
    def change(config, dice):
        keys = draw(dice)
        for leaf in leaves_of(config):
            leaf.update(keys)
    return change


def set_args(draw):
    def change(config, dice):
        args = draw(dice)
        for leaf in leaves_of(config):
            leaf["args"] = leaf["args"] | args
    return change


def change_size(config, dice):
    for leaf in leaves_of(config):
        leaf["size"] = {"min": dice.randint(0, 1), "max": dice.randint(1, SIZE_MAX)} \
            if isinstance(leaf["size"], dict) else dice.randint(1, SIZE_MAX)


def change_isolation(config, dice):
    for leaf in leaves_of(config):
        for key in ("isolation", "process"):
            leaf.pop(key, None)
        if dice.randint(0, 1):
            leaf |= {"isolation": "process", "process": {"window": dice.choice([1, 64])}}


def change_nesting(config, dice):
    """Not where each member gets a copy."""
    main, leaf = config["pools"]["main"], leaves_of(config)[0]
    if main.get("route") != "broadcast" and dice.randint(0, 1):
        config["pools"]["main"] = leaf if leaf is not main else \
            {"route": "round_robin", "members": {"a": dict(leaf), "b": dict(leaf)}}


def change_outputs(config, dice):
    rate = dice.choice([{}, {"rate": "50/10ms"}])
    for leaf in leaves_of(config):
        leaf["outputs"] = {"out": leaf["outputs"]["out"] | rate}


def change_source(config, dice):
    """It opens again, and goes on at its position."""
    args = config["sources"]["in"]["args"]
    if "position" in args:
        args["unsettled"] = dice.randint(1, 100)
    else:
        config["sources"]["in"]["rate"] = f"{dice.randint(50, 200)}/10ms"


def change_queue(config, dice):
    """Live options of put, and take opens again."""
    if "take" in config["sources"]:
        config["sources"]["take"]["args"]["window"] = dice.randint(1, 50)
        config["pools"]["put"]["args"]["window"] = dice.randint(1, 50)
        config["sources"]["take"]["args"]["sync"] = dice.choice(["full", "normal"])
        config["pools"]["put"]["args"]["sync"] = config["sources"]["take"]["args"]["sync"]


# --- what acts on the host ---------------------------------------------------------------------

def pause(world, dice):
    path = dice.choice(world.leaf_paths())
    done = world.post(f"pools/{path}/pause")
    if dice.randint(0, 2):
        done &= world.post(f"pools/{path}/resume")
    return done


def resume(world):
    for path in world.leaf_paths():
        world.post(f"pools/{path}/resume")


def pause_source(world, dice):
    del dice
    return world.post("pools/in/pause") and world.post("pools/in/resume")


def resize(world, dice):
    """Below `min` it is refused."""
    return world.post(f"pools/{dice.choice(world.leaf_paths())}/scale?size="
                      f"{dice.randint(1, SIZE_MAX)}")


def size_as_written(world):
    for path in world.leaf_paths():
        world.post(f"pools/{path}/scale?size={'auto' if world.is_elastic() else 2}")


def restart(world, dice):
    return world.post(f"pools/{dice.choice(world.leaf_paths())}/restart")


def kill_worker(world, dice):
    return world.kill_worker(dice)


def replay(world, dice):
    path = dice.choice(world.leaf_paths())
    return world.post(f"dead/{path}/replay")


ISOLATION, QUEUE, POSITIONS = "isolation", "queue", "positions"
HOSTS = (ISOLATION, QUEUE, POSITIONS)  # the features of hosts, which meet each row
ROWS = (
    Row(ISOLATION, isolate),
    Row(QUEUE, queue),
    Row(POSITIONS, keep_positions),
    Row("crash", crash, word="crash", dies=True),
    Row("kill of a process", isolate, act=kill_worker, dies=True, again=True),
    Row("kill of the host", be_killed, again=True),
    Row("round_robin", route("round_robin")),
    Row("least_loaded", route("least_loaded")),
    Row("random", route("random")),
    Row("hash", route("hash")),
    Row("pull", route("pull")),
    Row("broadcast", route("broadcast")),
    Row("nested", Plan.nest),
    Row("copies", copy_pools),
    Row("lease", lend),
    Row("lease group", lend_of_group),
    Row("scale by wait", scale_by_wait),
    Row("scale on demand", scale_on_demand),
    Row("unbuffered", unbuffer),
    Row("mailbox_bytes", hold_bytes),
    Row("rate", slow_down),
    Row("rate of a source", slow_source),
    Row("pause", act=pause, calm=resume, stays=True),
    Row("pause of a source", act=pause_source),
    Row("resize", act=resize, calm=size_as_written),
    Row("restart", act=restart, dies=True),
    Row("retry", word="retry", stays=True),
    Row("retry: max", spend_retries, word="retry", dies=True, stays=True),
    Row("postpone", word="postpone"),
    Row("reject", word="reject", dies=True),
    Row("fail", word="fail", dies=True),
    Row("redeliver", redeliver, word="fail"),
    Row("replay", act=replay, word="fail", dies=True, again=True),
    Row("WEIR_STOP", word="stop"),
    Row("stash", word="stash", dies=True),
    Row("keep", word="keep"),
    Row("requests", word="ask"),
    Row("delay", word="delay", dies=True),
    Row("forward", word="forward"),
    Row("reload: size", change=change_size),
    Row("reload: mailbox", change=set_keys(lambda dice: {"mailbox": dice.choice(
        [1, 2, 16, "unlimited", "unbuffered"])})),
    Row("reload: route", change=set_keys(lambda dice: {"route": dice.choice(
        [*GROUP_ROUTES, "hash", "pull"])})),
    Row("reload: args", change=set_args(lambda dice: {"mark": dice.randint(0, 9)})),
    Row("reload: live args", change=set_args(lambda dice: {"live": dice.randint(0, 9)})),
    Row("reload: dispatcher", change=set_keys(lambda dice: {"dispatcher": dice.choice(
        ["blocking", "side"])})),
    Row("reload: restart", change=set_keys(lambda dice: {"restart": {
        "max": dice.randint(100, 900), "backoff": "1ms..4ms"}})),
    Row("reload: remove", change=set_keys(lambda dice: {"remove": {
        "mode": dice.choice(["drain", "reroute"]), "timeout": "20s"}})),
    Row("reload: retry", change=set_keys(lambda dice: {"retry": {
        "max": dice.randint(3, 9), "backoff": "1ms..3ms"}})),
    Row("reload: isolation", change=change_isolation),
    Row("reload: nesting", change=change_nesting),
    Row("reload: outputs", change=change_outputs),
    Row("reload: sources", change=change_source),
    Row("reload: queue", change=change_queue),
)


# A message with an origin has one outcome, so no pool gives it to several workers.
IMPOSSIBLE = {(QUEUE, "broadcast"), (POSITIONS, "broadcast")}


def pairs():
    """Each feature of hosts with each row, once."""
    for number, host in enumerate(HOSTS):
        for row in ROWS[number:]:
            if (host, row.name) not in IMPOSSIBLE:
                yield ROWS[number], row


def dice_of(*what):
    return random.Random(repr(what))
