#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal: the JSON Schema that `weir schema` prints accepts all files that the checker accepts, and
refuses all mistakes that show without the whole file; the committed pages are those of the tables.

Method: python3-jsonschema over every file of tests/config and examples, over files changed in one
place each, whose verdict is compared with the checker's, and a comparison of the pages.
Mistakes that the schema cannot find are listed in tests/config/beyond_a_schema.txt, which is
tested too.

Usage: schema.py WEIR TEST_CONFIG_SCHEMA PLUGINS
"""
import copy
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parents[3]
CONFIG = ROOT / "tests" / "config"

# Why each is there stands beside its name.
BEYOND_A_SCHEMA = {name for line in (CONFIG / "beyond_a_schema.txt").read_text().splitlines()
                   if not line.startswith("#") for name in line.split()}

# Put in the place of every value in turn.
REPLACEMENTS = (None, True, 0, 1, -1, 70000, 1.5, "", "word", "10s", "64KiB", "1s..2s", "auto",
                "${SIZE}", [], ["word"], [[]], {}, {"word": "word"}, {"word": {}}, {"min": 1})
MUTATIONS_MAX = 4000  # evenly spread over all that there are


class Loader(yaml.SafeLoader):
    """YAML 1.2's plain scalars, as editors read them: `yes` is a text, every key is a text."""
    yaml_implicit_resolvers = {}

    def __init__(self, stream):
        super().__init__(stream)
        self.flattened = set()

    def flatten_mapping(self, node):
        if id(node) in self.flattened:
            return
        self.flattened.add(id(node))
        names = [key.value for key, _ in node.value]
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise yaml.constructor.ConstructorError(problem="a key twice, or one that is no text",
                                                    problem_mark=node.start_mark)
        super().flatten_mapping(node)

    def construct_map(self, node):
        self.flatten_mapping(node)
        return {key.value: self.construct_object(value, deep=True) for key, value in node.value}


Loader.add_constructor("tag:yaml.org,2002:map", Loader.construct_map)
for kind, pattern, first in (
        ("bool", r"^(?:true|false)$", "tf"),
        ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
        ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$",
         "-+.0123456789"),
        ("null", r"^(?:~|null|)$", ["~", "n", ""]),
        ("merge", r"^<<$", "<")):
    Loader.add_implicit_resolver("tag:yaml.org,2002:" + kind, re.compile(pattern), list(first))


def load(path):
    return yaml.load(path.read_bytes(), Loader)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def places(value, path=()):
    """The path of everything in a document but the document itself."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        yield (*path, key)
        if isinstance(inner, (dict, list)):
            yield from places(inner, (*path, key))


def changed(document, path, change):
    """A copy in which change(what holds the place, its key) has been done."""
    result = copy.deepcopy(document)
    holder = result
    for key in path[:-1]:
        holder = holder[key]
    change(holder, path[-1])
    return result


def replace_by(value):
    return lambda holder, key: holder.__setitem__(key, value)


def remove(holder, key):
    del holder[key]


def add_unknown(holder, key):
    if isinstance(holder[key], dict):
        holder[key]["unheard_of"] = 1


def mutations(documents):
    changes = [remove, add_unknown, *map(replace_by, REPLACEMENTS)]
    found = [(document, path, change) for document in documents
             for path in places(document) for change in changes]
    step = -(-len(found) // MUTATIONS_MAX)
    return [changed(*mutation) for mutation in found[::step]]


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plain = json.loads(output(WEIR, "schema"))
        cls.fake = json.loads(output(FAKE, "schema"))
        cls.good = sorted((CONFIG / "good").glob("*.yaml"))
        cls.bad = sorted((CONFIG / "bad").glob("*.yaml"))

    def accept(self, schema, path):
        errors = [f"{error.json_path}: {error.message}"
                  for error in Draft202012Validator(schema).iter_errors(load(path))]
        self.assertEqual(errors, [], path.name)

    def test_both_schemas_are_schemas(self):
        Draft202012Validator.check_schema(self.plain)
        Draft202012Validator.check_schema(self.fake)

    def test_good_files_are_accepted(self):
        self.assertGreaterEqual(len(self.good), 10)
        for path in self.good:
            self.accept(self.plain, path)
            self.accept(self.fake, path)

    def test_bad_files_are_refused_but_for_those_beyond_a_schema(self):
        validator = Draft202012Validator(self.fake)
        accepted = set()
        self.assertGreaterEqual(len(self.bad), 60)
        for path in self.bad:
            try:
                if validator.is_valid(load(path)):
                    accepted.add(path.stem)
            except (yaml.YAMLError, UnicodeDecodeError, ValueError):
                pass  # an editor says so before it asks the schema
        self.assertEqual(accepted, BEYOND_A_SCHEMA)

    def test_examples_are_accepted_with_the_plugins_they_use(self):
        names = [path.stem for path in sorted(Path(PLUGINS).glob("*.so"))]
        self.assertIn("files", names)
        command = [WEIR, "schema", "--plugins", PLUGINS]
        schema = json.loads(output(*command, *(f"--plugin={name}" for name in names)))
        Draft202012Validator.check_schema(schema)
        self.accept(schema, ROOT / "config" / "weir.yaml")
        examples = sorted((ROOT / "examples").glob("*/*.yaml"))
        self.assertGreaterEqual(len(examples), 3)
        for path in examples:
            self.accept(schema, path)
        wrong = load(ROOT / "examples" / "integrity" / "integrity.yaml")
        wrong["pools"]["report"]["args"]["print"] = "nonsense"
        self.assertFalse(Draft202012Validator(schema).is_valid(wrong))

    def test_what_the_schema_refuses_the_checker_refuses(self):
        validator = Draft202012Validator(self.fake)
        texts = [json.dumps(document) for document in mutations(list(map(load, self.good)))]
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / f"{number}.yaml" for number in range(len(texts))]
            for path, text in zip(files, texts):
                path.write_text(text)
            verdicts = output(FAKE, "check", *map(str, files)).split()
        self.assertEqual(len(verdicts), len(texts))
        wrong = refused = 0
        for text, verdict in zip(texts, verdicts):
            valid = validator.is_valid(json.loads(text))
            self.assertTrue(valid or verdict == "wrong", f"only the schema refuses {text}")
            wrong += verdict == "wrong"
            refused += not valid
        print(f"schema: {len(texts)} changed files, {wrong} wrong, {refused} refused by the schema")
        self.assertGreater(refused, wrong * 3 // 4)


class Pages(unittest.TestCase):
    def same(self, path, *command):
        words = " ".join(["weir", *command])
        self.assertEqual((ROOT / path).read_text(), output(WEIR, *command),
                         f"{path} is not what `{words}` prints: print it there")

    def test_the_pages_are_those_of_the_tables(self):
        self.same("docs/config.md", "schema", "--markdown")
        self.same("docs/weir.schema.json", "schema")
        self.same("config/weir.yaml", "schema", "--sample")

    def test_the_sample_is_accepted_and_has_every_key(self):
        path = ROOT / "config" / "weir.yaml"
        text = path.read_text().replace(" {}\n  #-", "\n  #-")
        sample = yaml.safe_load(re.sub(r"(?m)^( *)#- ", r"\1", text))
        places = {"Top": [], "`host`": ["host"], "`dispatchers.NAME`": ["dispatchers", "default"],
                  "`sources.NAME`": ["sources", "NAME"], "`pools.NAME`": ["pools", "workers"],
                  "`pools.NAME`, of workers": ["pools", "workers"],
                  "`pools.NAME.outputs.OUTPUT`": ["pools", "workers", "outputs", "OUTPUT"],
                  "`pools.NAME`, of pools": ["pools", "pools"]}
        chapters = re.split(r"(?m)^## ", output(WEIR, "schema", "--markdown"))
        found = 0
        for chapter in chapters:
            keys = re.findall(r"(?m)^\| `([\w.]+)` \|", chapter)
            for key in keys:
                node = sample
                for step in places[chapter.splitlines()[0]] + key.split("."):
                    self.assertIn(step, node, f"the sample has no {key} in {chapter[:40]}")
                    node = node[step]
                found += 1
        self.assertGreater(found, 40)
        self.assertIn("ok", output(WEIR, "check", str(path)))

    def test_weir_1_has_every_command_and_option(self):
        page = (ROOT / "docs" / "man" / "weir.1").read_text().replace("\\-", "-")
        commands = re.findall(r"^  (\w+) ", output(WEIR, "--help"), re.M)
        self.assertIn("run", commands)
        for command in commands:
            self.assertRegex(page, rf"(?m)^\.SS .*\b{command}\b")
            chapter = re.search(rf"(?ms)^\.SS \S*{command}\b.*?(?=^\.S[SH])", page)[0]
            for option in re.findall(r"^  -\w, (--[\w-]+)", output(WEIR, command, "--help"), re.M):
                if option != "--help":
                    self.assertIn(option, chapter, f"weir.1 has no {option} in {command}")


if __name__ == "__main__":
    PLUGINS, FAKE, WEIR = sys.argv.pop(), sys.argv.pop(), sys.argv.pop()
    unittest.main()
