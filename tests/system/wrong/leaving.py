#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   code of a plugin that ends the process is reported, with the place of its worker, and the
        host ends with 70: also when several workers do so at once, and while the host starts, when
        it leaves nothing behind. Shows promise B9.
Method: real hosts whose workers all leave at their first message, or as they open. Each way of
        leaving is tried some times, since it is a race between threads.

    leaving.py WEIR PLUGINS TEST_PLUGINS
"""
import os
import subprocess
import sys
import tempfile

WEIR, PLUGINS, TEST_PLUGINS = map(os.path.abspath, sys.argv[1:4])
EX_SOFTWARE = 70
TIMES = 5

FILE = """\
version: 1
host: {{plugins: ["{plugins}", "{test_plugins}"], control: "{folder}/control"}}
sources: {{numbers: {{use: gen.forever, to: work}}}}
dispatchers: {{default: {{threads: 4}}}}
pools: {{work: {{use: unruly.{behaviour}, size: 16}}}}
"""


def leave(behaviour):
    """What is wrong with how the host ended; "" when nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        file, copies = os.path.join(folder, "weir.yaml"), os.path.join(folder, "copies")
        os.mkdir(copies, 0o700)
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(FILE.format(plugins=PLUGINS, test_plugins=TEST_PLUGINS, folder=folder,
                                     behaviour=behaviour))
        host = subprocess.run([WEIR, "run", file], capture_output=True, check=False, text=True,
                              env={**os.environ, "WEIR_PLUGIN_TMP": copies})
        found = [line for line in host.stderr.splitlines()
                 if line.endswith('effect="the host ends with 70"')]
        left = os.listdir(copies) + [name for name in os.listdir(folder) if name == "control"]
        if host.returncode == EX_SOFTWARE and len(found) == 1 and not left and \
                f"behaviour={behaviour} worker=" in found[0] and \
                (behaviour == "leave_open" or 'component=host event="ledger"' in host.stderr):
            return ""
        return f"{behaviour}: exit {host.returncode}, left {left}:\n{host.stderr}"


def main():
    wrong = [text for behaviour in ("exit", "alarm", "trap", "thread", "leave_open")
             for _ in range(TIMES) if (text := leave(behaviour))]
    print("".join(f"FAILED: {text}\n" for text in wrong) + f"{len(wrong)} failures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
