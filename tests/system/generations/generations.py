#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal: a plugin whose file changes with each reload leaves no copy on disk; its old versions are
unmapped when it says that they can be, are counted in `weir status` when it does not, and are
warned about from 64 on. Shows promise B11.

Method: a host that works all the time; before each reload the plugin's file is replaced by another
one, which differs in a byte behind its end. Looked at: /proc/PID/maps and the folder for copies.
With --reloads N: how memory grows over N reloads.

Usage: generations.py WEIR PLUGINS TEST_PLUGINS [--reloads N]
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = """\
version: 1
host: {{plugins: ["{folder}", "{plugins}"], control: "{folder}/control", log: {{format: json}}}}
sources: {{numbers: {{use: gen.forever, to: work}}}}
pools:
  work: {{use: sample.bare, size: 2, mailbox: 16}}
"""


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("weir", type=Path)
    parser.add_argument("plugins", type=Path)
    parser.add_argument("test_plugins", type=Path)
    parser.add_argument("--reloads", type=int, default=70)
    return parser.parse_args()


class Host:
    """A host at work in a folder of its own."""

    def __init__(self, options, folder, plugin):
        self.weir = options.weir
        self.folder = folder
        self.content = plugin.read_bytes()
        self.copies = folder / "copies"
        self.copies.mkdir()
        self.install(0)
        self.file = folder / "weir.yaml"
        self.file.write_text(FILE.format(folder=folder, plugins=options.plugins.resolve()),
                             encoding="utf-8")
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [self.weir, "run", self.file], stdin=subprocess.DEVNULL, stderr=log,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "WEIR_PLUGIN_TMP": str(self.copies)})
        self.ask("reload", wait=True)

    def install(self, number):
        new = self.folder / "new.so"
        new.write_bytes(self.content + str(number).encode())
        new.rename(self.folder / "sample.so")

    def ask(self, *words, wait=False):
        """What a command answers. The socket may not be there in the first moments: then again."""
        while True:
            done = subprocess.run([self.weir, *words, "--control", self.folder / "control"],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return done.stdout
            if not wait or self.process.poll() is not None:
                raise AssertionError(f"weir {words}: {done.stderr}\n" +
                                     (self.folder / "log").read_text(encoding="utf-8"))

    def mapped(self):
        """Versions of the plugin that are mapped."""
        maps = Path(f"/proc/{self.process.pid}/maps").read_text(encoding="utf-8")
        return {int(number) for number in re.findall(r"/sample\.(\d+)\.so", maps)}

    def rss(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def files(self):
        return [path for path in self.copies.rglob("*") if not path.is_dir()]

    def kept(self):
        return json.loads(self.ask("status", "-o", "json"))["host"]["plugins_kept"]

    def finish(self):
        self.process.terminate()
        code = self.process.wait()
        log = (self.folder / "log").read_text(encoding="utf-8").splitlines()
        return code, [json.loads(line) for line in log]


def expect(what, found, wanted):
    if not wanted(found):
        raise AssertionError(f"{what}: {found}")


def run(options, folder, plugin):
    """Reloads with a new version each time; what there was at the end."""
    host = Host(options, folder, plugin)
    try:
        before = host.rss()
        for number in range(1, options.reloads + 1):
            host.install(number)
            host.ask("reload")
            expect("copies on disk", host.files(), lambda files: not files)
        result = host.mapped(), host.kept(), host.rss() - before
    finally:
        code, log = host.finish()
    expect("exit code", code, lambda found: found == 0)
    total = [line for line in log if line["event"] == "ledger" and line["component"] == "host"]
    expect("balance", total[-1]["balance"], lambda found: found == "exact")
    warnings = [line for line in log if line["event"] == "old versions of plugins stay in memory"]
    return (*result, warnings)


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="weir-generations.") as folder:
        for name in ("stays", "goes"):
            (Path(folder) / name).mkdir()
        mapped, kept, grown, warnings = run(options, Path(folder) / "stays",
                                            options.test_plugins / "sample.so")
        print(f"stays: {len(mapped)} versions mapped, {kept} kept, {grown} KiB more")
        expect("versions that stay", mapped,
               lambda found: found == set(range(1, options.reloads + 2)))
        # The one before the last may have workers that end just now.
        expect("kept", kept, lambda found: options.reloads - 1 <= found <= options.reloads)
        expect("warnings", warnings, lambda found: (len(found) > 0) == (options.reloads > 64))
        expect("first warning", warnings[0]["count"] if warnings else 64,
               lambda found: found == 64)
        mapped, kept, grown, warnings = run(options, Path(folder) / "goes",
                                            options.test_plugins / "unloadable" / "sample.so")
        print(f"goes: {len(mapped)} versions mapped, {kept} kept, {grown} KiB more")
        # The source still has the settings that it was opened with, which name the first version.
        # The version before the last may have workers that end just now.
        last = options.reloads + 1
        expect("versions that go", mapped,
               lambda found: last in found and found <= {1, last - 1, last})
        expect("kept", kept, lambda found: found <= 1)
        expect("warnings", warnings, lambda found: not found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
