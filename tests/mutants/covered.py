# SPDX-License-Identifier: MIT
"""Which tests run which lines: a file for each test, build/mutants/map/TEST.json.

Runs each test of preset `coverage` by itself, with GCOV_PREFIX, and reads what it counted.
"""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

FOLDERS = ("core", "config", "host", "plugins")
TEST_SECONDS = 400
FILES_AT_ONCE = 100  # of one gcov
ADDED = re.compile(r"^add_test\((?:\[=+\[)?([^]\s]+)(?:\]=+\])? ([^\n]*)\)$", re.M)


def read_commands(build):
    """Also of programs that have not been built: ctest shows no command of these."""
    commands = {}
    for path in build.rglob("CTestTestfile.cmake"):
        for name, words in ADDED.findall(path.read_text(encoding="utf-8")):
            commands[name] = re.findall(r'"((?:\\.|[^"\\])*)"', words)
    return commands


def list_tests(build):
    """Each test but those of style -> its command and labels."""
    commands = read_commands(build)
    shown = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                           capture_output=True, text=True, check=True)
    tests = {}
    for test in json.loads(shown.stdout)["tests"]:
        labels = next((p["value"] for p in test.get("properties", ()) if p["name"] == "LABELS"), ())
        if "style" not in labels:
            tests[test["name"]] = {"command": commands[test["name"]], "labels": labels}
    return tests


def read_counts(prefix, root):
    """file -> lines that ran, of the counts below `prefix`."""
    counts = sorted(prefix.rglob("*.gcda"))
    for path in counts:
        notes = path.with_suffix(".gcno")
        if not notes.exists():
            notes.symlink_to("/" / notes.relative_to(prefix))
    ran = {}
    for first in range(0, len(counts), FILES_AT_ONCE):
        done = subprocess.run(["gcov", "--json-format", "--stdout",
                               *map(str, counts[first:first + FILES_AT_ONCE])],
                              capture_output=True, text=True, errors="replace", cwd=prefix,
                              check=False)
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                add_counts(ran, json.loads(line), root)
    return {name: sorted(lines) for name, lines in ran.items()}


def add_counts(ran, report, root):
    for file in report["files"]:
        path = os.path.join(report["current_working_directory"], file["file"])
        name = os.path.relpath(path, root)
        if name.split("/")[0] in FOLDERS:
            ran.setdefault(name, set()).update(
                line["line_number"] for line in file["lines"] if line["count"])


def map_test(root, test):
    """Runs one test; what the file of the map says about it."""
    prefix = root / "build/mutants/counts" / test
    shutil.rmtree(prefix, ignore_errors=True)
    prefix.mkdir(parents=True)
    start = time.monotonic()
    try:
        done = subprocess.run(["ctest", "--preset", "coverage", "-R", f"^{test}$"], cwd=root,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=TEST_SECONDS, check=False,
                              env=os.environ | {"GCOV_PREFIX": str(prefix)})
        passed = done.returncode == 0
    except subprocess.TimeoutExpired:
        passed = False
    seconds = time.monotonic() - start
    files = read_counts(prefix, root)
    shutil.rmtree(prefix, ignore_errors=True)
    return {"passed": passed, "seconds": round(seconds, 2), "files": files}


def make_map(root, jobs):
    """Maps the tests that have no file yet, small ones first."""
    folder = root / "build/mutants/map"
    folder.mkdir(parents=True, exist_ok=True)
    missing = sorted((test for test in list_tests(root / "build/coverage")
                      if not (folder / f"{test}.json").exists()),
                     key=lambda test: (not test.startswith("unit."), test))

    def one(test):
        path = folder / f"{test}.json"
        mapped = map_test(root, test)
        path.with_suffix(".new").write_text(json.dumps(mapped), encoding="utf-8")
        path.with_suffix(".new").rename(path)
        return test, mapped

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        done = [pool.submit(one, test) for test in missing]
        for number, future in enumerate(concurrent.futures.as_completed(done), 1):
            test, mapped = future.result()
            print(f"map {number}/{len(missing)} {test}: {len(mapped['files'])} files, "
                  f"{mapped['seconds']:.0f} s{'' if mapped['passed'] else ', failed'}", flush=True)


def read_map(root):
    """(file -> line -> tests, test -> seconds)"""
    lines, seconds = {}, {}
    for path in sorted((Path(root) / "build/mutants/map").glob("*.json")):
        mapped = json.loads(path.read_text(encoding="utf-8"))
        seconds[path.stem] = mapped["seconds"]
        for name, ran in mapped["files"].items():
            for line in ran:
                lines.setdefault(name, {}).setdefault(line, []).append(path.stem)
    return lines, seconds
