#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Goal: every rule of style.py can fail, and a clean tree passes.
Method: a small clean tree in a temporary folder, into which each test plants one breach.
"""
import tempfile
import unittest
from pathlib import Path

import style

CLEAN = {
    "sdk/include/weir/status.h": "/*\n * weir/status.h - a part.\n */\n#define S 1\n",
    "core/base/text.h": "/*\n * base/text.h - text.\n */\nint text_size(void);\n",
    "core/base/text.c": '#include "base/text.h"\n\nint text_size(void)\n{\n    return 1;\n}\n',
    "core/actor/actor.h": '/*\n * actor.h - an actor.\n */\n#include "base/text.h"\n',
    "core/dispatch/ring.h": "/*\n * ring.h - a ring.\n */\n#include <weir/status.h>\n",
    "config/tree.h": '/*\n * config/tree.h - a tree.\n */\n#include "base/text.h"\n',
    "host/main.c": '/* strcpy(in a comment) */\n#include "config/tree.h"\n',
    "plugins/gen/gen.c": "#include <weir/status.h>\nstatic const char words[] = \"sprintf(\";\n",
    "README.md": "[docs](docs/promises.md#s), [web](https://example.org)\n",
    "docs/promises.md": "[up](../README.md)\n",
    "tests/unit/test_text.c": "/*\n * Goal: text.\n * Method: calls.\n */\n"
                              "static void test_nothing_is_one(void)\n{\n}\n",
}


LICENCES = {suffix: f"{before} SPDX-License-Identifier: MIT{after}\n" for suffix, before, after in
            ((".c", "/*", " */"), (".h", "/*", " */"), (".cpp", "/*", " */"), (".py", "#", ""),
             (".sh", "#", ""))}


class StyleTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        for path, text in CLEAN.items():
            self.write(path, text)

    def write(self, path, text):
        self.write_bare(path, LICENCES.get(Path(path).suffix, "") + text)

    def write_bare(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def plant(self, path, text, wanted):
        """With `text` behind what `path` holds, its only breach is one that says `wanted`."""
        self.write(path, CLEAN.get(path, "") + text)
        self.assertIn(path, list(style.sources(self.root)))
        found = style.breaches(self.root, path)
        self.assertEqual(len(found), 1, found)
        self.assertIn(path, found[0])
        self.assertIn(wanted, found[0])

    def test_clean_tree_passes(self):
        self.assertEqual(style.check_tree(self.root), [])

    def test_file_without_its_licence_is_found(self):
        for path in ("host/main.c", "config/tree.h", "tests/a.py", "tests/a.sh", "tests/a.cpp"):
            self.write_bare(path, CLEAN.get(path, "\n"))
            found = style.breaches(self.root, path)
            self.assertEqual(len(found), 1, found)
            self.assertIn("SPDX-License-Identifier", found[0])
        self.write_bare("tests/a.sh", "#!/bin/bash\n" + LICENCES[".sh"])
        self.assertEqual(style.breaches(self.root, "tests/a.sh"), [])

    def test_wide_line_is_found(self):
        self.plant("host/main.c", "/* " + "x" * 95 + " */\n", "101 columns")

    def test_blanks_at_end_are_found(self):
        self.plant("host/main.c", "int x(void); \n", "blanks at the end")

    def test_tab_is_found(self):
        self.plant("host/main.c", "int\tx(void);\n", "a tab")

    def test_unended_file_is_found(self):
        self.plant("host/main.c", "int x(void);", "no end")

    def test_long_file_is_found(self):
        self.plant("host/main.c", "\n" * 600, "more than 600 lines")

    def test_long_function_is_found(self):
        body = "    x();\n" * 69
        self.plant("host/main.c", "void y(void)\n{\n" + body + "}\n", "function of 71 lines")

    def test_function_of_seventy_passes(self):
        self.write("host/main.c", "void y(void)\n{\n" + "    x();\n" * 68 + "}\n")
        self.assertEqual(style.check_tree(self.root), [])

    def test_banned_calls_are_found(self):
        for call, why in style.BANNED_CALLS.items():
            self.plant("host/main.c", f"int y = {call}(1);\n", why)

    def test_banned_words_are_found(self):
        for word, why in style.BANNED_WORDS.items():
            self.plant("host/main.c", f"{word} int y;\n", why)

    def test_private_words_are_found(self):
        for word in ("anew", "births", "heir", "letter_routes", "patience", "told"):
            self.plant("core/base/text.c", f"/* Opens {word} at once. */\n", "a private word")
            self.plant("core/base/text.c", f"int {word}_count(void);\n", "a private word")
        for name in ("struct single *first;", "struct extra_state;", "int extra_count(void);",
                     "int ASKING_count;"):
            self.plant("core/base/text.c", f"{name}\n", "a private word")
        for line in ("/* A single one takes an extra place. */", "int is_single(void);",
                     "int flags = WEIR_ASKING;", "int extra_places;"):
            self.write("core/base/text.c", CLEAN["core/base/text.c"] + line + "\n")
            self.assertNotIn("private", "".join(style.check_tree(self.root)), line)
        self.write("core/base/text.c", CLEAN["core/base/text.c"] + 'const char *s = "anew";\n')
        self.assertNotIn("private", "".join(style.check_tree(self.root)))

    def test_plurals_of_any_number_are_found(self):
        for text in ('"%u workers restarted"', '"%" PRIu64 " workers"', '"%zu dead letters"',
                     '"%d bytes are no record"', '"has %u "\n    "workers"'):
            self.plant("core/base/text.c", f"const char *s = {text};\n", "a plural")
        for text in ('"at most %d items"', '"%u %s restarted"', '"0..%u workers"', '"%u is wrong"',
                     '"none of its %u workers is open"'):
            self.write("core/base/text.c", CLEAN["core/base/text.c"] + f"const char *s = {text};\n")
            self.assertNotIn("plural", "".join(style.check_tree(self.root)), text)

    def test_struct_typedef_is_found(self):
        self.plant("host/main.c", "typedef struct x y;\n", "typedef of a struct")

    def test_globals_are_found(self):
        for text in ("static int y;\n", "static struct x y = { 0 };\n", "static int y[2];\n",
                     "_Thread_local int y;\n"):
            self.plant("host/main.c", text, "a global")

    def test_unfinished_words_are_found(self):
        for word in ("TO" + "DO", "FIX" + "ME", "X" * 3, "place" + "holder", "a st" + "ub"):
            self.plant("host/main.c", f"/* {word} */\n", "unfinished")

    def test_lower_rooms_know_no_higher_ones(self):
        for path, header in (
                ("core/base/text.c", "config/tree.h"), ("core/base/text.c", "actor/actor.h"),
                ("core/dispatch/ring.h", "actor/actor.h"), ("core/actor/actor.h", "config/tree.h"),
                ("config/tree.h", "actor/actor.h"), ("plugins/gen/gen.c", "base/text.h"),
                ("host/main.c", "actor/actor.h"), ("core/embed/api_life.c", "actor/actor.h"),
                ("examples/x.c", "base/text.h")):
            self.plant(path, f'#include "{header}"\n', "must not know")
            self.write(path, CLEAN.get(path, ""))

    def test_actor_knows_no_pool(self):
        self.write("core/pool/pool.h", "/*\n * pool.h - a pool.\n */\n")
        self.plant("core/actor/actor.h", '#include "pool/pool.h"\n',
                   "core/actor must not know core/pool/pool.h")

    def plant_cycle(self, files, wanted):
        """With these files beside the clean tree there is one cycle, which says `wanted`."""
        for path, name in files.items():
            purpose = f"/*\n * {Path(path).name} - a part.\n */\n" if path.endswith(".h") else ""
            guard = Path(path).name.upper().replace(".", "_")
            include = f'#include "{name}"\n' if name else ""
            self.write(path, f"{purpose}#ifndef {guard}\n#define {guard}\n{include}#endif\n")
        found = style.check_tree(self.root)
        self.assertEqual(len(found), 1, found)
        self.assertIn(wanted, found[0])

    def test_files_that_include_each_other_are_found(self):
        self.plant_cycle({"core/stats/a.h": "stats/b.h", "core/stats/b.h": "stats/c.h",
                          "core/stats/c.h": "stats/b.h"},
                         "files include each other: core/stats/b.h -> core/stats/c.h")

    def test_public_headers_that_include_each_other_are_found(self):
        self.plant_cycle({"sdk/include/weir/a.h": "b.h", "sdk/include/weir/b.h": "a.h"},
                         "files include each other: sdk/include/weir/a.h -> sdk/include/weir/b.h")

    def test_folders_that_include_each_other_are_found(self):
        self.plant_cycle({"config/a.c": "config/sub/b.h", "config/a.h": None,
                          "config/sub/b.c": "config/a.h", "config/sub/b.h": None},
                         "folders include each other: config -> config/sub")

    def test_parts_that_include_each_other_are_found(self):
        self.plant_cycle({"core/stats/a.c": "stats/b.h", "core/stats/a.h": None,
                          "core/stats/b.c": "stats/a.h", "core/stats/b.h": None},
                         "parts include each other: core/stats/a -> core/stats/b")

    def test_plugin_knows_no_parts_of_others(self):
        self.write("plugins/sink/part.h", "/*\n * part.h - a part.\n */\n")
        self.plant("plugins/gen/gen.c", '#include "../sink/part.h"\n', "must not know")

    def test_plugin_may_know_messages_of_others(self):
        self.write("plugins/sink/sink.h", "/*\n * sink.h - its messages.\n */\n")
        self.write("plugins/gen/gen.c", '#include "../sink/sink.h"\n')
        self.assertEqual(style.check_tree(self.root), [])

    def test_library_in_wrong_room_is_found(self):
        for path, header in (("host/main.c", "openssl/evp.h"), ("core/base/text.c", "yaml.h"),
                             ("core/base/text.c", "uv.h"), ("core/base/text.c", "dlfcn.h"),
                             ("host/main.c", "CUnit/Basic.h")):
            self.plant(path, f"#include <{header}>\n", "is for")
            self.write(path, CLEAN[path])

    def test_absent_header_is_found(self):
        self.plant("host/main.c", '#include "config/nothing.h"\n', "not in the tree")

    def test_dead_link_is_found(self):
        self.plant("docs/promises.md", "[gone](gone.md)\n", "gone.md, which is not there")

    def test_decision_that_names_an_absent_file_is_found(self):
        self.plant("docs/decisions/001-files.md", "`core/gone.h`\n", "names core/gone.h")

    def test_source_without_header_is_found(self):
        self.plant("core/base/alone.c", "int x(void);\n", "no header of the same name")

    def test_header_without_purpose_is_found(self):
        self.plant("core/base/bare.h", "int x(void);\n", "its purpose")

    def test_header_that_needs_another_is_found(self):
        self.plant("core/dispatch/ring.h", "size_t ring_size(void);\n", "does not compile alone")

    def test_header_that_its_source_includes_late_is_found(self):
        self.write("core/dispatch/ring.c", '#include <stddef.h>\n#include "dispatch/ring.h"\n')
        self.plant("core/dispatch/ring.h", "size_t ring_size(void);\n", "does not compile alone")

    def test_header_that_opens_its_source_is_left_to_the_build(self):
        path = "core/dispatch/ring.h"
        self.write("core/dispatch/ring.c", '#include "dispatch/ring.h"\n#include <stddef.h>\n')
        self.write(path, CLEAN[path] + "size_t ring_size(void);\n")
        self.assertEqual(style.breaches(self.root, path), [])

    def test_sdk_header_with_gnu_c_is_found(self):
        self.plant("sdk/include/weir/status.h", "#include <stdio.h>\n"
                   "static inline int x(FILE *f) { return fileno(f); }\n", "alone as c:")

    def test_test_without_goal_is_found(self):
        self.plant("tests/unit/test_bare.c", "/* Some tests. */\n", "Goal: and Method:")

    def test_test_with_bare_name_is_found(self):
        self.plant("tests/unit/test_text.c", "static void test_it(void)\n{\n}\n",
                   "not test_<condition>_<outcome>")


if __name__ == "__main__":
    unittest.main()
