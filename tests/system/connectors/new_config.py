#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   `weir new config` with behaviours writes a file that `weir check` takes, for every
        behaviour that comes with Weir, as it is and with every shown default in force; it refuses
        a list that is no chain, and overwrites nothing.
Method: the real program. The behaviours come from `weir describe`, so a new one is tried, too.

    new_config.py WEIR PLUGINS TREE
"""
import os
import re
import subprocess
import tempfile

from control import PLUGINS, WEIR, check, run_tests


TEST_PLUGINS = os.path.join(os.path.dirname(PLUGINS), "tests", "plugins")
# What `weir check` says while an author has not chosen between options, or given an address.
TO_CHOOSE = {
    "amqp.consume": "an address begins with amqp:// or amqps://",
    "amqp.publish": "an address begins with amqp:// or amqps://",
    "queue.put": "stands here alone",
    "queue.take": "stands here alone",
    "http.client": "does not begin with http://",
    "timer.cron": "give either `cron` or `every`",
}


def weir(*arguments, work):
    return subprocess.run([WEIR, *arguments], cwd=work, capture_output=True, text=True, check=False,
                          env={**os.environ, "WEIR_PLUGIN_PATH": f"{PLUGINS}:{TEST_PLUGINS}"})


def behaviours():
    """(name, is a source, its text) of each behaviour of the bundled plugins."""
    for file in sorted(os.listdir(PLUGINS)):
        if not file.endswith(".so"):
            continue
        text = weir("describe", file[:-3], work=".").stdout
        for part in re.split(r"\n\n", text)[1:]:
            found = re.match(r"(\S+) \((source|worker|source and worker)[,)]", part.strip())
            check(found, f"not understood: {part}")
            yield found[1], found[2] == "source", part


def is_taken(work, text):
    path = os.path.join(work, "tried.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return weir("check", "tried.yaml", work=work)


def test_each_behaviour_has_a_file_that_is_taken():
    for name, is_source, text in behaviours():
        with tempfile.TemporaryDirectory() as work:
            made = weir("new", "config", "made.yaml", name, *(["exec.run"] if is_source else []),
                        work=work)
            check(made.returncode == 0, f"{name}: {made.stderr}")
            with open(os.path.join(work, "made.yaml"), encoding="utf-8") as file:
                content = file.read()
            for option in re.findall(r"^    (\w+) {2,}", text, re.M):
                check(f" {option}: " in content, f"{name}: no {option}")
            checked = weir("check", "--strict", "made.yaml", work=work)
            if name in TO_CHOOSE:
                check(TO_CHOOSE[name] in checked.stderr, f"{name}: {checked.stderr}")
                continue
            check(checked.returncode == 0, f"{name}: {checked.stderr}{checked.stdout}")
            # All that is shown, but what only an author can know.
            every = re.sub(r"^( *)#- (?=\w+:)", r"\1", content, flags=re.M)
            every = re.sub(r"^ *\S+: (POOL|TEXT|\{\}|\[TEXT\])$", "", every, flags=re.M)
            every = re.sub(r"^ *outputs:\n(?=(\s*#.*\n|\s*\n)*(\S|  \S|\Z))", "", every,
                           flags=re.M)
            checked = is_taken(work, every)
            check(checked.returncode == 0, f"{name}, all: {checked.stderr}{checked.stdout}")


def test_chain_works():
    with tempfile.TemporaryDirectory() as work:
        made = weir("new", "config", "upper.yaml", "stdin.lines", "exec.run", "stdout.write",
                    work=work)
        check(made.returncode == 0 and "weir check upper.yaml" in made.stdout, made.stdout)
        check("change what is marked" in made.stdout, made.stdout)
        path = os.path.join(work, "upper.yaml")
        with open(path, encoding="utf-8") as file:
            content = file.read()
        check(content.count("change this") == 1, content)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content.replace("[TEXT]", "[tr, a-z, A-Z]"))
        ran = subprocess.run([WEIR, "run", "upper.yaml"], cwd=work, input="one\ntwo\n", text=True,
                             capture_output=True, check=False,
                             env={**os.environ, "WEIR_PLUGIN_PATH": PLUGINS})
        check(sorted(ran.stdout.split()) == ["ONE", "TWO"], ran.stdout + ran.stderr)


def test_folder_that_was_named_is_in_the_file():
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(os.path.join(work, 'a "folder"'))
        made = weir("new", "config", "-p", 'a "folder"', "-p", TEST_PLUGINS, "a.yaml",
                    "stdin.lines", "wayward.keyed", work=work)
        check(made.returncode == 0 and "change this" not in made.stdout, made.stdout + made.stderr)
        with open(os.path.join(work, "a.yaml"), encoding="utf-8") as file:
            content = file.read()
        check(f'  plugins:\n    - "a \\"folder\\""\n    - "{TEST_PLUGINS}"\n' in content, content)
        checked = subprocess.run([WEIR, "check", "--strict", "a.yaml"], cwd=work, check=False,
                                 capture_output=True, text=True)
        check(checked.returncode == 0, checked.stderr + checked.stdout)


def test_pool_that_needs_keys_gets_them():
    with tempfile.TemporaryDirectory() as work:
        made = weir("new", "config", "a.yaml", "stdin.lines", "wayward.keyed", work=work)
        checked = weir("check", "--strict", "a.yaml", work=work)
        check(made.returncode == 0 and checked.returncode == 0, f"{made} {checked}")
        with open(os.path.join(work, "a.yaml"), encoding="utf-8") as file:
            content = file.read()
        check("    route: hash " in content and "\n      key: true\n" in content, content)


def test_two_pools_of_one_behaviour_have_names_of_their_own():
    with tempfile.TemporaryDirectory() as work:
        weir("new", "config", "a.yaml", "stdin.lines", "exec.run", "exec.run", "exec.run",
             work=work)
        checked = weir("check", "a.yaml", work=work)
        check("3 pools" in checked.stdout, checked.stdout + checked.stderr)


def test_what_is_wrong_is_said_and_nothing_is_made():
    for arguments, code, words in (
            (["a.yaml", "exec.ran"], 66, 'did you mean "run"'),
            (["a.yaml", "exce.run"], 66, "exce"),
            (["a.yaml", "exec"], 64, "PLUGIN.BEHAVIOUR"),
            (["a.yaml", "../x.y"], 66, ""),
            (["a.yaml", "stdin.lines"], 64, "needs a behaviour that takes its messages"),
            (["a.yaml", "exec.run", "stdin.lines"], 64, "only the first"),
            (["a.yaml", "stdin.lines", "stdout.write", "exec.run"], 64, "can only be the last"),
            (["a.yaml", *["exec.run"] * 17], 64, "more than 16"),
            (["no/a.yaml", "exec.run"], 73, "No such file or directory")):
        with tempfile.TemporaryDirectory() as work:
            said = weir("new", "config", *arguments, work=work)
            check(said.returncode == code and words in said.stderr,
                  f"{arguments}: {said.returncode} {said.stderr}")
            check(os.listdir(work) == [], f"{arguments}: {os.listdir(work)}")


def test_nothing_is_overwritten():
    with tempfile.TemporaryDirectory() as work:
        check(weir("new", "config", "a.yaml", "exec.run", work=work).returncode == 0, "the first")
        with open(os.path.join(work, "a.yaml"), "w", encoding="utf-8") as file:
            file.write("mine\n")
        again = weir("new", "config", "a.yaml", "exec.run", work=work)
        check(again.returncode == 73 and "is there already" in again.stderr, again.stderr)
        with open(os.path.join(work, "a.yaml"), encoding="utf-8") as file:
            check(file.read() == "mine\n", "it was overwritten")


if __name__ == "__main__":
    run_tests(globals())
