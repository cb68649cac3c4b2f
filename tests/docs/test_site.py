#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Goal: ./dev docs makes a site of all pages that can be searched, and refuses a link that leads
nowhere.
Method: a small tree that is right, then with each kind of dead link; then the site of this tree, as
Chromium shows it: a search, and pictures of the first pages, for people, in FOLDER/pictures.

    test_site.py FOLDER, in which ./dev docs has made the site
"""
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
BUILDER = TREE / "docs/site/site.py"
FOLDER = Path(sys.argv[1]).resolve()
HTML = FOLDER / "html"
CHROMIUM = shutil.which("chromium")
PAGES = {"index": "index.html", "first-plugin": "docs/guide/first-plugin.html",
         "config": "docs/config.html", "search": "search.html?q=lease"}


class Small(unittest.TestCase):
    """A tree with one page of each kind."""

    def setUp(self):
        self.work = Path(tempfile.mkdtemp())
        self.tree = self.work / "tree"
        for name, text in {
                "README.md": "# Top\n\n[guide](docs/guide/README.md)\n",
                "CHANGELOG.md": "# Changes\n\n- one\n",
                "docs/guide/README.md": "# Guide\n\n- [one](one.md)\n",
                "docs/guide/one.md":
                    "# One\n\n## Part two\n\n[file](../../x/a.c) [folder](../../x) "
                    "[`top`](../../README.md) [below](#part-two)\n",
                "docs/decisions/001-why.md": "# Why\n\n[one](../guide/one.md#part-two)\n",
                "x/a.c": "int a; /* a[0](b) */\n"}.items():
            self.add(name, text)
        subprocess.run(["git", "init", "-q", str(self.tree)], check=True)

    def tearDown(self):
        shutil.rmtree(self.work)

    def add(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def build(self):
        return subprocess.run([sys.executable, str(BUILDER), str(self.tree), str(self.work)],
                              capture_output=True, text=True, check=False)

    def test_files_and_folders_are_pages(self):
        done = self.build()
        self.assertEqual(0, done.returncode, done.stderr)
        page = (self.work / "html/docs/guide/one.html").read_text(encoding="utf-8")
        self.assertIn('href="../../x/a.c.html"', page)
        self.assertIn('href="../../x/index.html"', page)
        self.assertIn('href="../../index.html"', page)
        self.assertIn("a[0](b)", re.sub("<[^>]*>", "", (self.work / "html/x/a.c.html").read_text(
            encoding="utf-8")))

    def test_a_dead_link_is_an_error(self):
        for link in ("none.md", "../../x/b.c", "../none"):
            self.add("docs/guide/one.md", f"# One\n\n[dead]({link})\n")
            done = self.build()
            self.assertNotEqual(0, done.returncode, link)
            self.assertIn(f"docs/guide/one.md: a link to {link}", done.stderr)

    def test_a_link_to_a_heading_that_is_not_there_is_an_error(self):
        for name, link in (("docs/decisions/001-why.md", "../guide/one.md#part-three"),
                           ("docs/guide/one.md", "#part-three")):
            self.setUp()
            self.add(name, f"# One\n\n## Part two\n\n[dead]({link})\n")
            done = self.build()
            self.assertNotEqual(0, done.returncode, link)
            self.assertIn("part-three", done.stderr)


class Site(unittest.TestCase):
    """The site of this tree."""

    def test_each_page_is_there(self):
        pages = [*TREE.glob("docs/*.md"), *TREE.glob("docs/guide/*.md"),
                 *TREE.glob("docs/decisions/*.md"), *TREE.glob("examples/*/README.md")]
        self.assertGreater(len(pages), 100)
        for page in pages:
            self.assertTrue((HTML / page.relative_to(TREE)).with_suffix(".html").exists(), page)

    def test_a_page_needs_no_other_site(self):
        for page in ("index.html", "docs/guide/README.html", "search.html"):
            text = (HTML / page).read_text(encoding="utf-8")
            self.assertEqual([], re.findall(r'(?:src|<link[^>]*href)="(?:https?:)?//[^"]*"', text))

    def chromium(self, page, *arguments):
        return subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--window-size=1200,900", "--virtual-time-budget=8000", *arguments,
             f"file://{HTML}/{page}"], capture_output=True, text=True, check=True, timeout=120)

    @unittest.skipUnless(CHROMIUM, "no chromium")
    def test_the_search_finds_pages(self):
        text = self.chromium("search.html?q=lease", "--dump-dom").stdout
        self.assertRegex(text, r"found \d+ page")
        self.assertIn("docs/decisions/158-", text)

    @unittest.skipUnless(CHROMIUM, "no chromium")
    def test_the_search_finds_the_guide_before_decisions(self):
        for words in ("lease", "retry", "dead letter", "position"):
            text = self.chromium(f"search.html?q={words.replace(' ', '+')}", "--dump-dom").stdout
            found = text.split('<ul class="search">', 1)[1].split("</ul>", 1)[0]
            pages = re.findall(r'href="docs/(guide|decisions)/', found)
            self.assertIn("guide", pages, words)
            self.assertEqual(pages, sorted(pages, reverse=True), words)

    @unittest.skipUnless(CHROMIUM, "no chromium")
    def test_pictures_of_the_first_pages(self):
        folder = FOLDER / "pictures"
        folder.mkdir(exist_ok=True)
        for name, page in PAGES.items():
            picture = folder / f"{name}.png"
            self.chromium(page, f"--screenshot={picture}")
            # An empty page of this size takes about 5 kB.
            self.assertGreater(picture.stat().st_size, 30_000, name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
