#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   each link in the pages that the packages install leads to a file, and to a heading, that
        the same package installs.
Method: reads all pages of HTML, Markdown and plain text below the folders of extracted packages.
        Links to other machines are left alone. With --tree the program checks itself first: it
        must find the mistakes of pages that it writes. Then it checks what .debian/*.docs of the
        tree would install.

    links.py FOLDER...    or    links.py --tree TREE
"""
import gzip
import os
import re
import shutil
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

MARKDOWN = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```[^\n]*$|`[^`\n]*`", re.M | re.S)


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links = []
        self.places = set()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


def read(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")


def read_page(path):
    """The links of a page, and the places in it; None where places are not known."""
    if ".html" not in path.name:
        return MARKDOWN.findall(CODE.sub("", read(path))), None
    page = Page()
    page.feed(read(path))
    return page.links, page.places


def is_there(target):
    # A script that another package holds is a symbolic link out of the folder of documents.
    return target.exists() or (target.is_symlink() and "/share/doc/" not in
                               os.path.normpath(target.parent / target.readlink()))


def mistakes_of(folder):
    pages = {path.resolve(): read_page(path) for path in sorted(Path(folder).rglob("*"))
             if path.is_file() and not path.is_symlink()
             and re.search(r"\.(html|md|txt)(\.gz)?$", path.name)}
    for path, (links, places) in pages.items():
        for link in links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).absolute() if parts.path else path
            if not is_there(target):
                yield f"{path.relative_to(Path(folder).resolve())}: {link} leads nowhere"
            known = pages.get(target.resolve(), (None, places if target == path else None))[1]
            if parts.fragment and known is not None and unquote(parts.fragment) not in known:
                yield f"{path.relative_to(Path(folder).resolve())}: {link} leads to no heading"


def check_itself():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "guide").mkdir()
        (root / "a.html").write_text('<h1 id="top">A</h1><a href="guide/b.md">b</a><a href="#top">'
                                     '</a><a href="https://else.example/x">x</a>', "utf-8")
        (root / "guide/b.md").write_text("[a](../a.html#top) `[c](c.md)`\n```\n[d](d.md)\n```\n",
                                         "utf-8")
        assert not list(mistakes_of(folder))
        (root / "c.html").write_text('<a href="../gone.html">x</a><a href="#no">y</a>', "utf-8")
        (root / "guide/e.md.gz").write_bytes(gzip.compress(b"[f](f.md) [a](../a.html#no)"))
        found = list(mistakes_of(folder))
    assert found == ["c.html: ../gone.html leads nowhere", "c.html: #no leads to no heading",
                     "guide/e.md.gz: f.md leads nowhere",
                     "guide/e.md.gz: ../a.html#no leads to no heading"], found


def install(tree, folder):
    """As dh_installdocs does."""
    for listing in sorted((tree / ".debian").glob("*.docs")):
        for name in listing.read_text("utf-8").split():
            target = Path(folder) / "usr/share/doc" / listing.stem / Path(name).name
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (tree / name).is_dir() else shutil.copy)(tree / name, target)


def mistakes_of_tree(tree):
    check_itself()
    with tempfile.TemporaryDirectory() as folder:
        install(Path(tree), folder)
        return list(mistakes_of(folder))


def main():
    if sys.argv[1] == "--tree":
        mistakes = mistakes_of_tree(sys.argv[2])
    else:
        mistakes = [mistake for folder in sys.argv[1:] for mistake in mistakes_of(folder)]
    print("\n".join(mistakes[:40]))
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
