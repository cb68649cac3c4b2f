#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a child of exec.pipe of revision 2 has a window and a life: batches, ticks, outputs of
        its own, kept messages, lines of the log, last words; a child that dies with a window costs
        one message; what a bad child writes is named and does no harm. Shows promise B65,
        promise B67, promise B68 and promise B92.
Method: real hosts whose children are small programs that write the frames themselves. Every wait is
        for a condition.

    child_life.py WEIR PLUGINS TREE
"""
import os
import random
import re
import subprocess

from control import check, run_tests, until
from children import CHILD, configured, filtered

POISON = 37
LINES = 100


def lines_of(count):
    return "".join(f"line {number}\n" for number in range(count))


def end_of(log):
    check("balance=exact" in log, log[-2000:])


# --- the window -----------------------------------------------------------------------------------


def test_batch_opens_the_window_at_once():
    """The child answers after the eighth message only."""
    program = CHILD.format(ready="ready 0 2 8") + """
while True:
    held = [message() for _ in range(8)]
    if not any(held):
        break
    for one in held:
        out(one.data.upper(), one.id)
    say(f"batch 0 {len(held)}")
"""
    with filtered(program, lines_of(64)) as got:
        check(got.stdout == lines_of(64).upper(), got.stderr[-2000:])
        check(got.returncode == 0, f"{got.returncode}")
        end_of(got.stderr)


KILLER = """
while True:
    first = message()
    if first is None:
        break
    held = [first]
    while buffered() and len(held) < BATCH:
        held.append(message())
    for one in held:
        if one.data == b"line POISON" and (BATCH > 1 or one.id > 0):
            os.kill(os.getpid(), signal.SIGKILL)
    for one in held:
        out(b"%s %d" % (one.data, one.attempt), one.id)
    say(f"batch 0 {len(held)}")
"""


def test_message_that_kills_is_blamed_and_the_rest_goes_back_in_order():
    for batch in (1, 16):
        program = CHILD.format(ready=f"ready 0 2 {batch}") + \
            KILLER.replace("POISON", str(POISON)).replace("BATCH", str(batch))
        with filtered(program, lines_of(LINES), redeliver=1) as got:
            seen = [line.split() for line in got.stdout.splitlines()]
            check([int(number) for _, number, _ in seen] ==
                  [number for number in range(LINES) if number != POISON],
                  f"batch {batch}: {got.stdout}")
            again = [int(number) for _, number, attempt in seen if attempt != "1"]
            check(len(again) <= 1, f"batch {batch}: given again, and counted: {again}")
            check(got.returncode == 65 and "1 message is dead (1 crashed)" in got.stderr,
                  f"batch {batch}: {got.returncode} {got.stderr[-2000:]}")
            end_of(got.stderr)


# --- life -----------------------------------------------------------------------------------------


def test_kept_messages_are_settled_later_in_any_order():
    program = CHILD.format(ready="ready 0 2") + """
held = []
while True:
    one = message()
    if one is None:
        break
    say(f"keep 0 {one.id}")
    held.append(one)
    if len(held) == 3:
        for kept in reversed(held):
            out(kept.data, kept.id)
        say(f"settle 0 {held[1].id} done")
        say(f"settle 2 {held[2].id} reject", b"no")
        say(f"settle 0 {held[0].id} done")
        held = []
"""
    with filtered(program, lines_of(6)) as got:
        check(got.stdout == "".join(f"line {n}\n" for n in (2, 1, 0, 5, 4, 3)), got.stdout)
        check(got.returncode == 65 and "2 messages are dead (2 rejected)" in got.stderr,
              got.stderr[-2000:])
        end_of(got.stderr)


TOTALS = CHILD.format(ready="ready 0 2") + """
total = 0
while True:
    one = message()
    if one is None or one.kind == "tick":
        if total:
            out(b"%d" % total, 0)
            total = 0
        if one is None:
            break
        continue
    total += 1
    say("done 0")
"""


def test_totals_of_ticks_and_of_the_end_are_exact_over_reloads():
    """The host reads what the test writes, so each reload meets messages."""
    reloads = 100
    with configured(TOTALS, size=3, more=", tick: 20ms") as work:
        work.host.start(stdin=subprocess.PIPE)
        written = 0
        for turn in range(reloads):
            for _ in range(500):
                work.host.process.stdin.write(b"x\n")
                written += 1
            work.host.process.stdin.flush()
            work.write(more=f", tick: 20ms, log_lines: {turn}")
            check(work.host.run("reload").returncode == 0, "the reload")
        work.host.process.stdin.close()
        check(work.host.process.wait() == 0, work.log()[-2000:])
        with open(work.output, encoding="ascii") as stream:
            total = sum(int(line) for line in stream)
        check(total == written, f"{total} of {written}")
        end_of(work.log())


def test_child_speaks_to_the_log_and_to_inspect():
    program = CHILD.format(ready="ready 0 2") + """
say("log 11 warning", b"disk is hot")
say("inspect 25", b"cache_entries 12\\nmode x y")
while True:
    one = message()
    if one is None:
        break
    say("done 0")
"""
    with configured(program) as work:
        work.host.start(stdin=subprocess.PIPE)
        until(lambda: 'level=warning' in work.log() and 'text="disk is hot"' in work.log(),
              "the line of the log")
        answer = until(lambda: work.items().get("mode") and work.items(), "the items")
        check(answer["cache_entries"] == "12" and answer["mode"] == "x y", f"{answer}")
        check(answer["revision"] == "2", f"{answer}")
        work.host.process.stdin.close()
        check(work.host.process.wait() == 0, work.log()[-2000:])


def test_last_line_that_a_child_prints_is_not_cut():
    program = CHILD.format(ready="ready 0 2") + \
        "message()\nsys.exit('Error: ' + 2500 * 'x' + '.')\n"
    with filtered(program, "x\n") as got:
        check(f'said="Error: {2500 * "x"}."' in got.stderr, got.stderr[-2000:])


# --- bad children ---------------------------------------------------------------------------------

# What a child writes after it has read a message, and what the log says of it.
BAD = [
    ("say('out 1', b'x'); say('done 0'); say('done 0')", "a verdict for no message"),
    ("say('batch 0 2')", "a verdict for no message"),
    ("say('batch 0 0')", "a verdict for no message"),
    ("say('settle 0 1 done')", "settle of a message that it does not keep"),
    ("say('settle 0 99 done')", "settle of a message that it does not keep"),
    ("say('keep 0 99')", "keep of a message that it does not have"),
    ("say('keep 0 1'); say('keep 0 1')", "keep of a message that it does not have"),
    ("say('keep 0 1'); say('done 0')", "a verdict for no message"),
    ("say('out 1 0 99', b'x')", "an output of no message"),
    ("say('reply 1', b'x')", "a reply to no request"),
    ("say('ready 0 2')", "ready came twice"),
    ("say('out 200000', b'x' * 200000)", "a frame is larger than frame_max"),
    ("say('log 200000 info', b'x' * 200000)", "a frame is larger than frame_max"),
    ("say('log 1 loud', b'x')", "the child wrote no frame"),
    ("say('x' * 1000)", "the child wrote no frame"),
    ("say('fail 7', b'no disk')", "no disk"),
    ("time.sleep(1000)", "time-out"),
    ("os.close(4); time.sleep(1000)", "does not end within grace"),
]


def test_bad_child_is_named_and_does_no_harm():
    for body, cause in BAD:
        program = CHILD.format(ready="ready 0 2") + \
            f"while message():\n    {body}\n    signal.pause()\n"
        more = ", timeout: 1s, grace: 50ms, frame_max: 100KiB"
        with configured(program, more=more) as work:
            work.host.start(stdin=subprocess.PIPE)
            work.host.process.stdin.write(b"x\n")
            work.host.process.stdin.flush()
            # The host would not read what a child writes behind its last verdict at the end.
            until(lambda: cause in work.log(), f"{body}: {cause}")
            work.host.process.stdin.close()
            status = work.host.process.wait()
            was_done = os.path.exists(work.output) and os.path.getsize(work.output) > 0
            check(status == (0 if was_done else 65) and
                  ("1 message is dead" in work.log()) != was_done,
                  f"{body}: {status} {work.log()[-2000:]}")
            end_of(work.log())


BAD_READY = [
    ("ready 0 4", "a revision that this host does not know"),
    ("ready 0 0", "a revision that this host does not know"),
    ("ready 0 2 0", "a batch that is not possible"),
    ("ready 0 2 100000", "a batch that is not possible"),
    ("ready 0 1 4", "a batch that is not possible"),
    ("done 0", "a frame before ready"),
    ("log 0 info", "a frame before ready"),
]


def test_bad_first_frame_is_named():
    for ready, cause in BAD_READY:
        program = CHILD.format(ready=ready) + "signal.pause()\n"
        with configured(program, more=", grace: 50ms") as work:
            work.host.start(stdin=subprocess.PIPE)
            until(lambda: f'reason="{cause}"' in work.log(), f"{ready}: {cause}")


def test_child_of_revision_1_has_none_of_it():
    for frame in ("keep 0 1", "batch 0 1", "out 0 0 0", "label 0", "inspect 0", "to 0"):
        program = CHILD.format(ready="ready 0") + \
            f"one = message()\nsay('{frame}')\nsignal.pause()\n"
        with filtered(program, "x\n", more=", grace: 50ms") as got:
            check("a frame of revision 2" in got.stderr, f"{frame}: {got.stderr[-2000:]}")


def test_output_that_no_pool_has_is_named_once_and_one_that_does_not_exist_ends_the_child():
    program = CHILD.format(ready="ready 0 2") + """
while True:
    one = message()
    if not one:
        break
    say("to 4", b"out3")
    out(one.data, one.id)
    out(one.data, one.id)
    if one.data == b"line 2":
        say("to 3", b"new")
    say("done 0")
"""
    with filtered(program, lines_of(4), more=", grace: 50ms") as got:
        check(got.stdout == "".join(f"line {number}\n" for number in range(4)), got.stdout)
        named = re.findall(r'output leads nowhere[^"]*" output=out3', got.stderr)
        check(len(named) == 2, f"once for each process: {got.stderr[-2000:]}")
        check("no such output: new" in got.stderr, got.stderr[-2000:])
        check(re.search(r"component=work .*unbound=4", got.stderr), got.stderr[-2000:])
        end_of(got.stderr)


def test_child_that_does_not_answer_close_is_killed():
    program = CHILD.format(ready="ready 0 2") + """
while True:
    one = message()
    if not one:
        signal.pause()
    say("done 0")
"""
    with filtered(program, "x\n", more=", grace: 50ms") as got:
        check("child is killed: it does not end within grace" in got.stderr, got.stderr[-2000:])
        check(got.returncode == 0, f"{got.returncode}")


def test_what_is_written_after_the_end_is_nobodys():
    """A process that the child has started in another session writes on."""
    program = CHILD.format(ready="ready 0 2") + """
one = message()
say("done 0")
if os.fork() == 0:
    os.setsid()
    while True:
        try:
            os.write(4, b"done 0\\n")
        except OSError:
            os._exit(0)
message()
"""
    with filtered(program, "x\n", more=", grace: 50ms") as got:
        check("Traceback" not in got.stderr, got.stderr[-2000:])
        end_of(got.stderr)


# --- children that are drawn ----------------------------------------------------------------------

DRAWN = """
draw = random.Random(SEED + os.getpid())
FRAMES = ["done 0", "batch 0 1", "batch 0 2", "retry 0 1", "reject 0", "stop 0", "fail 0",
          "keep 0 {id}", "settle 0 {id} done", "settle 0 {id} retry 1", "out 1", "out 1 5 {id}",
          "out 1 0 0", "reply 1 {id}", "log 1 info", "label 1", "inspect 3", "ready 0 2", "nothing",
          "out 5000000", "to 3", "to 0", ""]
while True:
    one = message()
    if one is None:
        break
    for _ in range(draw.randrange(4)):
        text = draw.choice(FRAMES[:16] if draw.randrange(8) else FRAMES)
        size = int(text.split()[1]) if text.count(" ") else 0
        say(text.format(id=one.id + draw.randrange(-2, 2)), b"x" * min(size, 3000))
    turn = draw.randrange(40)
    if turn == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    if turn == 1:
        os._exit(0)
    if turn > 5:
        say("done 0")
"""


def test_drawn_children_lose_nothing():
    """The seed is printed first."""
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    for turn in range(4):
        batch = (1, 1, 4, 64)[turn]
        program = CHILD.format(ready=f"ready 0 2 {batch}") + \
            DRAWN.replace("SEED", str(seed + turn))
        more = ", timeout: 300ms, grace: 50ms, tick: 10ms, frame_max: 64KiB"
        with filtered(program, lines_of(50), redeliver=2, size=3, more=more,
                      variables={"SEED": str(seed)}) as got:
            check(got.returncode in (0, 65), f"{got.returncode} {got.stderr[-3000:]}")
            end_of(got.stderr)
            ended = re.search(r"accepted=(\d+).* done=(\d+).* dead=(\d+)", got.stderr)
            check(ended is None or int(ended[1]) >= 50, got.stderr[-2000:])


if __name__ == "__main__":
    run_tests(globals())
