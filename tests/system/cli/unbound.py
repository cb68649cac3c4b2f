#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   `weir check` warns of an output that loses what its behaviour is for, and of no other
        output of a bundled behaviour; `--strict` makes an error of it. Shows promise B63. It
        warns of a position without a file of dead letters. Shows promise B93. It refuses a source
        whose messages a broadcast would refuse. Shows promise C35.
Method: a table of the outputs of all bundled workers is compared with what `weir describe` says,
        and so is one of all bundled sources. Then each worker is checked in a file that binds
        none, some and all of its outputs, and each source before a broadcast.

    unbound.py WEIR PLUGINS TREE
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

WEIR, PLUGINS, TREE = sys.argv[1:4]

# Each worker with outputs: options that make a valid file, and its outputs; True: it is expected.
WORKERS = {
    "exec.run": ("{command: [cat]}", {"out": True}),
    "exec.pipe": ("{command: [cat]}",
                  {"out": True, "errors": False, **{f"out{n}": False for n in range(2, 9)}}),
    "http.client": ('{url: "http://127.0.0.1:9/"}', {"out": True}),
    "integrity.md5": ("{}", {"ok": False, "changed": True, "missing": True, "unreadable": True}),
}
# A source has one output, which its key `to` binds; these ask the pool there.
ASKING = {"http.server": "{listen: 127.0.0.1:8080}"}
# Each source: options with which a broadcast refuses its messages, and with which it takes them.
SOURCES = {
    "amqp.consume": (["{queue: jobs}"], []),
    "files.lines": (["{paths: [a], position: b}"], ["{paths: [a]}"]),
    "files.tail": (["{paths: [a]}", "{paths: [a], position: b}"], []),
    "gen.numbers": ([], ["{count: 1}"]),
    "gen.forever": ([], ["{}"]),
    "http.server": (["{mode: stored}"], ["{mode: accept}"]),
    "queue.take": (["{file: q}"], []),
    "stdin.lines": ([], ["{}"]),
    "timer.cron": (["{every: 1s}"], ["{every: 1s, overlap: true}"]),
}

FAILURES = []


def expect(condition, what):
    if not condition:
        FAILURES.append(what)


def weir(*arguments):
    return subprocess.run([WEIR, *arguments], capture_output=True, text=True, check=False, cwd=TREE,
                          env={**os.environ, "WEIR_PLUGIN_PATH": PLUGINS})


def described():
    """All bundled behaviours: {name: (role, {output: expected})}."""
    found = {}
    for path in sorted(pathlib.Path(PLUGINS).glob("*.so")):
        name = None
        outputs = None
        for line in weir("describe", path.stem).stdout.splitlines():
            head = re.match(r"(\w+\.\w+) +\((source|worker|source and worker)", line)
            if head:
                name = head[1]
                found[name] = (head[2], {})
                outputs = None
            elif line == "  outputs:":
                outputs = found[name][1]
            elif re.match(r"  \w", line):
                outputs = None
            elif outputs is not None and re.match(r"    \w", line):
                outputs[line.split()[0]] = line.endswith("expected")
    return found


def checked(folder, text, *options):
    file = pathlib.Path(folder) / "weir.yaml"
    file.write_text(text, encoding="utf-8")
    return weir("check", *options, str(file))


def file_of(use, args, outputs, source="{use: stdin.lines, to: work}"):
    bound = ", ".join(f"{name}: {pool}" for name, pool in outputs.items())
    return (f"sources:\n  in: {source}\npools:\n"
            f"  work: {{use: {use}, args: {args}, outputs: {{{bound}}}}}\n"
            + ("  rest: {use: sink.null}\n" if "rest" in outputs.values() else ""))


def lost(result):
    return re.findall(r"weir.yaml:4:3: pools.work: warning: the output \"(\w+)\" is not bound: "
                      r"what [\w.]+ emits there is lost; write `outputs: \{\1: POOL\}`, or "
                      r"`outputs: \{\1: none\}` if it is not wanted\n", result.stderr)


def test_table_has_every_output():
    found = described()
    expect(len(found) > 15, f"behaviours: {sorted(found)}")
    workers = {name: outputs for name, (role, outputs) in found.items()
               if role == "worker" and outputs}
    expect(workers == {name: outputs for name, (_, outputs) in WORKERS.items()}, f"{workers}")
    for name, (role, outputs) in found.items():
        if role != "worker":
            expect(list(outputs) == ["out"], f"a source has the output that `to` binds: {name}")


def test_each_worker(folder):
    for use, (args, outputs) in WORKERS.items():
        expected = [name for name, is_expected in outputs.items() if is_expected]
        none = file_of(use, args, {})
        result = checked(folder, none)
        expect(result.returncode == 0 and lost(result) == expected, f"{use}: {result}")
        expect(result.stderr.count("\n") == len(expected), f"{use}, no other line: {result}")
        result = checked(folder, none, "--strict")
        expect(result.returncode == 78 and lost(result) == expected, f"{use}, strict: {result}")
        for target in ("rest", "none"):
            text = file_of(use, args, {name: target for name in expected})
            result = checked(folder, text, "--strict")
            expect(result.returncode == 0 and not result.stderr, f"{use} to {target}: {result}")
        for one in outputs:
            result = checked(folder, file_of(use, args, {one: "rest"}))
            others = [name for name in expected if name != one]
            expect(lost(result) == others, f"{use}, {one} is bound: {result}")


def test_answers_are_not_lost(folder):
    for source, options in ASKING.items():
        for use, (args, _) in WORKERS.items():
            text = file_of(use, args, {}, f"{{use: {source}, args: {options}, to: work}}")
            result = checked(folder, text, "--strict")
            expect(result.returncode == 0 and not result.stderr, f"{use}, {source}: {result}")


def test_source_needs_a_pool(folder):
    text = 'sources: {in: {use: files.lines, args: {paths: [a]}}}\npools: {a: {use: sink.null}}\n'
    result = checked(folder, text)
    expect(result.returncode == 78 and "sources.in.to: is required" in result.stderr, f"{result}")


def test_sources_before_a_broadcast(folder):
    sources = {name for name, (role, _) in described().items() if role != "worker"}
    expect(sources == set(SOURCES), f"the sources are {sorted(sources)}")
    text = ('host: {{dead_letters: {{file: z}}}}\nsources: {{in: {{use: {0}, to: a, args: {1}}}}}\n'
            'pools: {{a: {{use: sink.null, route: broadcast, size: 2}}}}\n')
    for use, (refused, taken) in SOURCES.items():
        for args in refused + taken:
            result = checked(folder, text.format(use, args))
            said = "a routes by broadcast, and in waits for one outcome" in result.stderr
            expect(said == (args in refused) and result.returncode == (78 if said else 0),
                   f"{use} {args}: {result}")


def test_position_needs_a_file_of_dead_letters(folder):
    text = ('host: {{{0}}}\nsources: {{in: {{use: files.lines, to: a, args: {{paths: [x], '
            'position: {1}}}}}}}\npools: {{a: {{use: sink.null}}}}\n')
    warning = "sources.in.args.position: warning: never passes a message that is dead"
    for host, position, warns in (("", "y", True), ("dead_letters: {count: 5}", "y", True),
                                  ("dead_letters: {file: z}", "y", False)):
        result = checked(folder, text.format(host, position))
        expect(result.returncode == 0 and (warning in result.stderr) == warns,
               f"{host}, {position}: {result}")
        result = checked(folder, text.format(host, position), "--strict")
        expect(result.returncode == (78 if warns else 0), f"{host}, {position}, strict: {result}")


def test_examples_lose_nothing(folder):
    """Those of bundled behaviours; tests/system/examples has the others."""
    seen = 0
    for path in sorted(pathlib.Path(TREE, "examples").glob("*/*.yaml")):
        if path.parent.name not in ("recipes", "commands", "python", "machines"):
            continue
        text = re.sub(r"\$\{file:[^}]*\}", "secret", path.read_text(encoding="utf-8"))
        result = checked(folder, text, "--strict")
        expect(result.returncode == 0, f"{path}: {result.stderr}")
        seen += 1
    expect(seen >= 20, f"{seen} examples")


def main():
    test_table_has_every_output()
    with tempfile.TemporaryDirectory() as folder:
        test_each_worker(folder)
        test_answers_are_not_lost(folder)
        test_source_needs_a_pool(folder)
        test_sources_before_a_broadcast(folder)
        test_position_needs_a_file_of_dead_letters(folder)
        test_examples_lose_nothing(folder)
    for failure in FAILURES:
        print(f"FAILED: {failure}", file=sys.stderr)
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
