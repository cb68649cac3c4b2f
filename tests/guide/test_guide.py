#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Goal: the guide cannot show C, YAML or a worker that is not, word for word, in an example.
Method: a small tree with a page that is right, then with each thing that can be wrong.
"""
import tempfile
import unittest
from pathlib import Path

import guide

PAGE = """# Page

<!-- from examples/x/x.c -->
```c
int f(void)
{
```

<!-- from examples/x/x.yaml -->
```yaml
version: 1
```

```sh
anything at all
```
"""


class GuideTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.write("examples/x/x.c", "#include <x.h>\n\nint f(void)\n{\n    return 0;\n}\n")
        self.write("examples/x/x.yaml", "# x\nversion: 1\n")
        self.write("docs/guide/README.md", "[page](page.md)\n")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def expect(self, page, *found):
        self.write("docs/guide/page.md", page)
        self.assertEqual([line.split(": ", 1)[1] for line in guide.mistakes(self.root)],
                         list(found))

    def test_right_page_passes(self):
        self.expect(PAGE)

    def test_other_word_is_reported(self):
        self.expect(PAGE.replace("int f", "int g"), "these lines do not stand in examples/x/x.c")

    def test_other_indentation_is_reported(self):
        self.expect(PAGE.replace("version", " version"),
                    "these lines do not stand in examples/x/x.yaml")

    def test_left_out_line_is_reported(self):
        self.expect(PAGE.replace("int f(void)\n{\n", "#include <x.h>\nint f(void)\n"),
                    "these lines do not stand in examples/x/x.c")

    def test_unnamed_block_is_reported(self):
        self.expect(PAGE.replace("<!-- from examples/x/x.c -->\n", ""),
                    "a block of c that does not say `<!-- from examples/... -->`")

    def test_workers_are_checked_and_commands_of_a_terminal_are_not(self):
        self.write("examples/x/x.sh", "echo 'ready 0 2'\n")
        marked = "\n<!-- from examples/x/x.sh -->\n```sh\necho 'ready 0 2'\n```\n"
        self.expect(PAGE + marked)
        self.expect(PAGE + marked.replace("0 2", "0 3"),
                    "these lines do not stand in examples/x/x.sh")
        for language in ("python", "awk", "perl", "js"):
            self.expect(PAGE + f"\n```{language}\nx\n```\n",
                        f"a block of {language} that does not say `<!-- from examples/... -->`")

    def test_missing_file_is_reported(self):
        self.expect(PAGE.replace("x/x.c", "x/y.c"), "examples/x/y.c is no file of c")

    def test_file_of_other_language_is_reported(self):
        self.expect(PAGE.replace("x/x.yaml", "x/x.c"), "examples/x/x.c is no file of yaml")

    def test_file_outside_of_examples_is_reported(self):
        self.expect(PAGE.replace("examples/x/x.c", "core/x.c"),
                    "a block of c that does not say `<!-- from examples/... -->`")

    def test_empty_block_is_reported(self):
        self.expect(PAGE.replace("version: 1\n", ""), "an empty block")

    def test_open_block_is_reported(self):
        self.expect(PAGE + "```c\nint x;\n", "a block without an end")

    def test_call_of_a_table_that_no_example_makes_is_reported(self):
        table = "\n<!-- calls in examples/x -->\n| a | `weir_go(2)`, `WEIR_GONE`, other words |\n"
        self.expect(PAGE + table, "weir_go stands in no C file of examples/x",
                    "WEIR_GONE stands in no C file of examples/x")
        self.write("examples/x/y.c", "int y = weir_go(WEIR_GONE);\n")
        self.expect(PAGE + table)

    def test_payload_that_may_be_an_option_is_reported(self):
        wrong = "a payload that begins with `-` is an option: put `--` before it"
        for command, found in (
                ('[ls, "{}"]', [wrong]), ('[ls, -l, "{}.gz", x], timeout: 1s}', [wrong]),
                ('["gzip -c \\"$1\\" >x", "{}"]', [wrong]), ('[ls, --, "{}"]', []),
                ('["gzip -c -- \\"$1\\" >x", "{}"]', []), ('[ls, "./{}"]', []),
                ('[echo, "{}"]', []), ('["eval \\"$1\\"", "{}"]', [])):
            self.write("examples/x/more.yaml", f"args: {{command: {command}}}\n")
            self.expect(PAGE, *found)

    def test_unlisted_page_is_reported(self):
        self.write("docs/guide/README.md", "nothing\n")
        self.expect(PAGE, "the index does not name it")

    def test_page_without_code_is_reported(self):
        self.expect("# Page\n", "no page shows any C or YAML")


if __name__ == "__main__":
    unittest.main()
