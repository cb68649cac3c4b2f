#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   an operator can look at dead letters and their payloads, export and delete them, and
        sees who sent them. Shows promise L7.
Method: a real host; letters are made by workers that must discard their mailboxes. Payloads are
        compared with what the source made of its numbers. Every wait is for a condition.

    dead_letters.py WEIR PLUGINS TREE
"""
import os
import stat
import subprocess
import sys

from control import WEIR, check, report_failures, running, until

DISCARD = """
sources:
  numbers: {{use: gen.forever, to: work}}
  lines: {{use: files.lines, args: {{paths: ["{lines}"]}}, to: shelf/verify}}
pools:
  work: {{use: sink.null, size: {{min: 0, max: 2}}, mailbox: 16, remove: {{mode: discard}},
          args: {{spin: 300000}}}}
  found: {{use: sink.null, size: {{min: 0, max: 1}}, mailbox: 16, remove: {{mode: discard}},
           args: {{spin: 3000000000}}}}
  shelf:
    members:
      verify: {{use: integrity.md5, size: 1, outputs: {{missing: found}}}}
"""


def payloads(host, pool):
    """What the letters of a pool hold, by number, as far as their first 32 bytes."""
    return {letter["number"]: bytes.fromhex(letter["head"]) for letter in host.json("dead", pool)}


def make_letters(host, pool):
    until(lambda: host.json("status", pool)["queued"] > 4, "full mailboxes")
    host.json("scale", pool, "0")
    until(lambda: host.json("status", pool)["retiring"] == 0, "the leavers")
    return host.json("dead", pool)


def raw(host, *arguments):
    """Standard output as bytes."""
    return subprocess.run([WEIR, *arguments], capture_output=True, check=False,
                          env={**os.environ, "WEIR_CONTROL": host.socket})


def test_senders_have_names(host):
    letters = make_letters(host, "work")
    check(all(letter["from_path"] == "numbers" and letter["from"] > 0 for letter in letters),
          f"a source: {letters[:1]}")
    rows = host.run("dead", "work").stdout.splitlines()
    check("FROM" in rows[0] and all(" numbers " in row for row in rows[1:]), f"{rows[:2]}")
    host.json("scale", "found", "1")
    letters = make_letters(host, "found")
    check(all(letter["from_path"] == "shelf/verify#0" for letter in letters),
          f"a worker: {letters[:1]}")


def test_payloads_are_shown(host):
    letters = host.json("dead", "work")
    rows = host.run("dead", "work", "-v").stdout.splitlines()
    check(len(rows) == 1 + 2 * len(letters), f"a row and a payload each: {rows[:4]}")
    for row, payload, letter in zip(rows[1::2], rows[2::2], letters):
        number = int.from_bytes(bytes.fromhex(letter["head"]), sys.byteorder)
        check(row.split()[0] == str(letter["number"]) and
              payload == f"  gen.number/1, 8 bytes: number {number}", f"{row} {payload}")
    one = host.json("dead", "work", str(letters[1]["number"]), "-v")
    check(len(one) == 1 and one[0]["number"] == letters[1]["number"] and
          one[0]["about"].startswith("number ") and one[0]["text"] == "" and
          one[0]["text_cut"] == 0, f"{one}")
    answer = host.run("dead", "work", "999999", "-v")
    check(answer.returncode == 66 and "work has none of these" in answer.stderr, f"{answer}")
    found = host.run("dead", "found", "-v").stdout
    check("missing, package " in found and "nowhere/" in found.split("  | ")[1], found[:300])
    everything = host.json("dead", "-v")
    check({"work", "found"} <= {letter["path"] for letter in everything} and
          all("about" in letter for letter in everything), f"{everything[:1]}")
    text = host.run("dead", "-v").stdout
    check("\nwork:\n" in "\n" + text and "\nfound:\n" in "\n" + text, text[:200])
    for wrong in ("--replay", "--delete", "--export"):
        check(host.run("dead", "work", "-v", wrong, *(["d"] if wrong == "--export" else []))
              .returncode == 64, f"-v {wrong}")


def test_letters_are_exported(host):
    folder = os.path.join(host.work, "letters")
    kept = payloads(host, "work")
    answer = host.json("dead", "work", "--export", folder)
    check(answer == {"path": "work", "exported": len(kept), "left": 0}, f"{answer}")
    check(sorted(os.listdir(folder)) == sorted(f"work-{number}.payload" for number in kept),
          f"{os.listdir(folder)[:3]}")
    for number, payload in kept.items():
        path = os.path.join(folder, f"work-{number}.payload")
        with open(path, "rb") as stream:
            check(stream.read() == payload, f"payload {number}")
        check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, f"mode of {path}")
    check(stat.S_IMODE(os.stat(folder).st_mode) == 0o700, "mode of a folder that was made")


def test_export_overwrites_nothing(host):
    folder = os.path.join(host.work, "again")
    numbers = sorted(payloads(host, "work"))[:3]
    os.mkdir(folder)
    with open(os.path.join(folder, f"work-{numbers[1]}.payload"), "w", encoding="utf-8") as stream:
        stream.write("mine")
    os.symlink(os.path.join(host.work, "elsewhere"),
               os.path.join(folder, f"work-{numbers[2]}.payload"))
    answer = host.run("dead", "work", "--export", folder, *map(str, numbers))
    check(answer.returncode == 73, f"exit {answer.returncode}")
    check(f"work-{numbers[1]}.payload: File exists" in answer.stderr, answer.stderr)
    check(answer.stdout == f"work: 1 dead letter exported to {folder}, 2 not\n", answer.stdout)
    with open(os.path.join(folder, f"work-{numbers[1]}.payload"), encoding="utf-8") as stream:
        check(stream.read() == "mine", "what was there")
    check(not os.path.exists(os.path.join(host.work, "elsewhere")), "behind a link")


def test_one_letter_goes_to_standard_output(host):
    number, payload = sorted(payloads(host, "work").items())[0]
    answer = raw(host, "dead", "work", "--export", "-", str(number))
    check(answer.returncode == 0 and answer.stdout == payload, f"{answer}")
    answer = host.run("dead", "work", "--export", "-", "999999")
    check(answer.returncode == 66 and "work has no dead letter 999999" in answer.stderr,
          f"{answer}")
    for wrong in (["work", "--export", "-"], ["work", "--export", "-", "1", "2"],
                  ["work", "--export", host.work, "one"], ["--export", host.work],
                  ["work", "1"], ["work", "--export", host.work, "--replay"]):
        check(host.run("dead", *wrong).returncode == 64, f"dead {wrong}")


def test_letters_are_deleted(host):
    letters = host.json("dead", "work")
    first, second = letters[0]["number"], letters[1]["number"]
    for wrong in (["work", "--delete"], ["work", "--delete", "--all", "1"], ["--delete", "--all"],
                  ["work", "--delete", "x"], ["work", "--all"]):
        check(host.run("dead", *wrong).returncode == 64, f"dead {wrong}")
    check(len(host.json("dead", "work")) == len(letters), "nothing is deleted by mistake")
    answer = host.run("dead", "work", "--delete", str(first), str(second), "999999")
    check(answer.returncode == 65 and answer.stdout == "", f"{answer}")
    check("work: 2 dead letters deleted, 1 is not there" in answer.stderr, f"{answer}")
    left = host.json("dead", "work")
    check([letter["number"] for letter in left] ==
          [letter["number"] for letter in letters[2:]], "the remaining dead letters")
    answer = host.json("dead", "work", "--delete", "--all")
    check(answer == {"path": "work", "deleted": len(left), "missing": 0}, f"{answer}")
    check(host.json("dead", "work") == [], "nothing is left")
    dead = host.json("status", "work")["dead_letters"]
    check(dead["deleted"] == dead["total"] == len(letters) and dead["kept"] == 0, f"{dead}")
    check(host.run("dead", "nobody", "--delete", "--all").returncode == 66, "no such pool")
    with open(host.log, encoding="utf-8") as log:
        check('event="dead letters deleted" path=work deleted=2' in log.read(), "the log")


def main():
    lines = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"weir-letters-{os.getpid()}")
    with open(lines, "w", encoding="utf-8") as stream:
        stream.writelines(f"{'0' * 32}  nowhere/{i}\n" for i in range(1000))
    try:
        with running(DISCARD.format(lines=lines)) as host:
            host.json("scale", "work", "2")
            test_senders_have_names(host)
            test_payloads_are_shown(host)
            test_letters_are_exported(host)
            test_export_overwrites_nothing(host)
            test_one_letter_goes_to_standard_output(host)
            test_letters_are_deleted(host)
    finally:
        os.unlink(lines)
    return report_failures()


if __name__ == "__main__":
    sys.exit(main())
