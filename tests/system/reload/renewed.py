#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   a reload applies a plugin whose file has other content: new workers beside the old, of
        the next generation, in the same pools; also when the file was overwritten while it was in
        use. Nothing is lost, and the same content written again is nothing new. Shows promise R3
        and promise B2.
Method: a copy of a plugin is made longer by some bytes, which changes nothing but its content; who
        works is asked by the host's socket, and each number of a source is written down.

    renewed.py WEIR PLUGINS TEST_PLUGINS
"""
import os
import shutil
import tempfile

from cases import BLOCKING, NUMBERS, SINK, TEST_PLUGINS, Host


def file(source="gen.forever"):
    return (BLOCKING + NUMBERS.replace("gen.forever", source).replace("TO", "middle") + "pools:\n"
            "  middle: {use: changeling.pass, size: 2, outputs: {out: sink}}\n"
            + SINK.replace("SIZE", "1"))


def put(path, content):
    with open(path + ".new", "wb") as stream:
        stream.write(content)
    os.rename(path + ".new", path)


def put_into(path, content):
    with open(path, "r+b") as stream:
        stream.write(content)


def generations(host):
    """Of the workers of the pool, also of those that still drain."""
    found = []
    for number in range(8):
        answer = host.ask("GET", f"/inspect/middle%23{number}")
        if "items" in answer:
            found.append(answer["items"]["generation"])
    return found


def a_plugin_whose_file_changes(host, folder):
    path = os.path.join(folder, "changeling.so")
    shutil.copy(os.path.join(TEST_PLUGINS, "changeling.so"), path)
    content = open(path, "rb").read()
    host.folders[1] = folder
    host.start(file())
    pid = host.ask("GET", "/inspect/middle")["items"]["pid"]
    for number, write in enumerate((put, put_into, put, put_into), 2):
        host.works_on()
        content += b"\n"
        write(path, content)
        answer = host.reload("reloaded")
        host.check([step["path"] for step in answer["steps"]] == ["pools.middle"], f"{answer}")
        host.until(lambda: generations(host) == [str(number)] * 2, "the old ones do not go")
        host.works_on()
        write(path, content)
        host.reload("unchanged")
    host.check(host.ask("GET", "/inspect/middle")["items"]["pid"] == pid, "another pool")
    ending = file("gen.numbers").replace("to: middle", "to: middle, args: {count: 1}")
    host.reload("reloaded", ending)
    code = host.process.wait()
    host.check(code == 0, f"exit code {code}")
    os.close(host.gate)
    numbers = sorted(host.recorded())
    host.check(numbers == list(range(len(numbers))), "numbers are lost or doubled")


def main():
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "plugins")
        os.mkdir(folder)
        a_plugin_whose_file_changes(Host(work, "case"), folder)
    print("a_plugin_whose_file_changes: as promised", flush=True)


main()
