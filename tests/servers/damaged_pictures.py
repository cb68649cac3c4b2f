#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a plugin whose libraries end the process for what they cannot read is fed pictures with
        changed bytes. With `isolation: process` the host stays up, each bad file is dead with its
        signal or exit code, and all others are done. In the host's own process a supervisor and
        `quarantine` come to the same end. Shows promise B96 and promise B110.
Method: libjpeg and libpng of Debian. A program without Weir says first what they do with each file.

    damaged_pictures.py CMAKE BUILD SOURCE [--long] [--seed N]
"""
import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
SOURCE = Path(__file__).resolve().parent
sys.path.insert(0, str(SOURCE.parent / "system" / "isolation"))

from trials import must  # noqa: E402

LIMIT = 1200  # seconds of one host

FILE = """\
version: 1
host: {{plugins: ["{prefix}/lib/weir/plugins", "{plugin}"], control: "{folder}/control",
  dead_letters: {{file: "{folder}/dead", file_size: 64MiB, count: 10000}}{host}}}
sources:
  lines: {{use: files.lines, to: sums, args: {{paths: ["{folder}/list"],
           position: "{folder}/position"}}}}
pools:
  sums: {{use: pictures.sum, size: 4, restart: {{max: 1000, backoff: 1ms..1ms, then: keep_trying}},
          {keys}, outputs: {{out: written}}}}
  written: {{use: file.append, size: 1, args: {{path: "{folder}/done"}}}}
"""


def mutate(picture, draw):
    """Some bytes of the file are others, or its end is missing."""
    changed = bytearray(picture)
    for _ in range(draw.choice((0, 1, 1, 2, 8))):
        changed[draw.randrange(1, len(changed))] = draw.randrange(256)
    if draw.random() < 0.1:
        del changed[draw.randrange(1, len(changed)):]
    return bytes(changed)


class Pictures:
    def __init__(self, work, plain, count, draw):
        self.folder = Path(work) / "pictures"
        self.folder.mkdir()
        subprocess.run([plain, "make", self.folder], check=True)
        seeds = [(kind, (self.folder / f"0{kind}").read_bytes()) for kind in (".jpg", ".png")]
        self.paths = []
        for number in range(1, count + 1):
            kind, picture = seeds[number % 2]
            path = self.folder / f"{number}{kind}"
            path.write_bytes(mutate(picture, draw))
            self.paths.append(str(path))
        self.ends = dict(line.split(" ", 1) for line in subprocess.run(
            [plain, "sum"], input="\n".join(self.paths), capture_output=True, text=True,
            check=True).stdout.splitlines())
        must(set(self.ends) == set(self.paths), "an end for each picture")

    def good(self, paths):
        return {f"{path} {self.ends[path]}" for path in paths if self.ends[path].isdigit()}

    def bad(self, paths):
        return {path: self.ends[path] for path in paths if not self.ends[path].isdigit()}


class Host:
    def __init__(self, folder, built, paths, **keys):
        self.folder, self.weir = folder, built / "bin" / "weir"
        folder.mkdir()
        (folder / "list").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
        (folder / "weir.yaml").write_text(FILE.format(folder=folder, prefix=built, **keys),
                                          encoding="utf-8")

    def run(self):
        """Runs it to its end. Returns its code; a signal is negative."""
        with open(self.folder / "log", "ab") as log:
            return subprocess.run(
                [self.weir, "run", self.folder / "weir.yaml"], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, timeout=LIMIT, check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))).returncode

    def end_of_log(self):
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")[-2000:]

    def done(self):
        return (self.folder / "done").read_text(encoding="utf-8").splitlines()

    def dead(self):
        """From the numbers of lines to reason and detail."""
        letters = json.loads(subprocess.run(
            [self.weir, "dead", "--file", self.folder / "dead", "-o", "json"],
            capture_output=True, text=True, check=True).stdout)
        return {int(letter["detail"].rpartition(":")[2]):
                (letter["reason"], letter["detail"].split("; ")[0]) for letter in letters}


def by_line(paths, bad):
    return {number: bad[path] for number, path in enumerate(paths, 1) if path in bad}


def isolated(work, built, plugin, pictures):
    paths = pictures.paths
    begun = time.monotonic()
    host = Host(work / "isolated", built, paths, plugin=plugin, host="",
                keys="isolation: process")
    code = host.run()
    bad = by_line(paths, pictures.bad(paths))
    must(code == 65, f"it ended by itself, with dead letters: {code} {host.end_of_log()}")
    must(sorted(host.done()) == sorted(pictures.good(paths)), "each good one is done, once")
    must(host.dead() == {line: ("crashed", how) for line, how in bad.items()},
         f"each bad one is dead with its end: {host.dead()}")
    print(f"pictures: {len(paths)} files, {len(bad)} ended their process, "
          f"{time.monotonic() - begun:.0f} s", flush=True)


def supervised(work, built, plugin, pictures, count):
    paths = pictures.paths[:count]
    bad = by_line(paths, pictures.bad(paths))
    host = Host(work / "supervised", built, paths, plugin=plugin,
                host=f', crash_file: "{work}/supervised/crashes"', keys="quarantine: 2")
    starts, code = 0, -1
    while code < 0 or code == 70:
        starts += 1
        must(starts <= 2 * len(bad) + 1, f"{starts} starts for {len(bad)} bad files")
        code = host.run()
    must(code in (0, 65), f"the last start: {code} {host.end_of_log()}")
    must(set(host.done()) == pictures.good(paths), "each good one is done")
    must({line: reason for line, (reason, _) in host.dead().items()} ==
         {line: "poison" for line in bad}, f"each bad one is dead: {host.dead()}")
    print(f"pictures: {len(paths)} files, {len(bad)} crashed the host, {starts} starts",
          flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cmake")
    parser.add_argument("build")
    parser.add_argument("source")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"pictures: seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        built = work / "prefix"
        quiet = {"check": True, "stdout": subprocess.DEVNULL}
        subprocess.run([options.cmake, "--install", options.build, "--prefix", built], **quiet)
        subprocess.run([options.cmake, "-S", SOURCE / "pictures", "-B", work / "build", "-D",
                        f"CMAKE_PREFIX_PATH={built}", "-D",
                        f"TREE={SOURCE.parent.parent}"], **quiet)
        subprocess.run([options.cmake, "--build", work / "build"], **quiet)
        pictures = Pictures(work, work / "build" / "plain", 10000 if options.long else 2000,
                            random.Random(options.seed))
        isolated(work, built, work / "build" / "plugins", pictures)
        supervised(work, built, work / "build" / "plugins", pictures,
                   400 if options.long else 60)


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    main()
