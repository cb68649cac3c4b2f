#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the documentation as a site with search.

Usage: site.py TREE FOLDER. The site is FOLDER/html; FOLDER/pages is what Sphinx reads.

The pages are README.md, CHANGELOG.md, all of docs/, and each page of the tree that these link to,
at their places, so that links between them stay as they are. A link to another file leads to a page
that shows the file; a link to a folder leads to its README.md, or to a list of its files. A link
that leads nowhere is an error, also to a heading; so is each warning of Sphinx.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"(!?\[[^\]]*\])\(([^)#\s]*)(#[^)\s]*)?\)")
CODE = re.compile(r"(^```.*?^```[^\n]*$)", re.M | re.S)
PICTURES = (".svg", ".png", ".jpg")
LANGUAGES = {".c": "c", ".h": "c", ".py": "python", ".sh": "bash", ".yaml": "yaml", ".go": "go",
             ".json": "json", ".cpp": "cpp"}
REFERENCE = ("docs/config", "docs/promises", "docs/wrong-plugins", "docs/ARCHITECTURE",
             "docs/reliability", "docs/benchmarks", "plugins/README", "CHANGELOG")


def files_of_clone(tree):
    return set(subprocess.run(
        ["git", "-c", f"safe.directory={tree}", "ls-files", "--cached", "--others",
         "--exclude-standard"], cwd=tree, check=True, capture_output=True,
        text=True).stdout.split("\n")) - {""}


def files_of(tree):
    """Of a tree without git, where a Debian package is built, and `debian` is not of the tree."""
    return {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()
            and not re.match(r"debian/|obj-", str(path.relative_to(tree)))}


class Site:
    def __init__(self, tree, folder):
        self.tree = tree
        self.folder = folder
        self.files = files_of_clone(tree) if (tree / ".git").exists() else files_of(tree)
        self.waiting = []  # pages to lay out
        self.laid = set()
        self.mistakes = []

    def want(self, name):
        if name not in self.laid:
            self.laid.add(name)
            self.waiting.append(name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    # --- where links lead

    def show_file(self, name):
        """A page with a file that is no page itself."""
        page = f"{name}.md"
        if page not in self.laid:
            self.laid.add(page)
            text = (self.tree / name).read_text(encoding="utf-8", errors="replace")
            fence = "`" * (3 + max((len(run) for run in re.findall("`+", text)), default=0))
            language = LANGUAGES.get(Path(name).suffix, "")
            self.write(page, f"---\norphan: true\n---\n# {name}\n\n"
                             f"{fence}{language}\n{text.rstrip()}\n{fence}\n")
        return page

    def show_folder(self, name):
        inside = sorted(file for file in self.files if file.startswith(f"{name}/"))
        if f"{name}/README.md" in self.files:
            self.want(f"{name}/README.md")
            return f"{name}/README.md"
        page = f"{name}/index.md"
        if page not in self.laid:
            self.laid.add(page)
            lines = [self.link_to(file, name) for file in inside if "/" not in file[len(name) + 1:]]
            deeper = {file[len(name) + 1:].split("/")[0] for file in inside} - \
                {file[len(name) + 1:] for file in inside}
            lines += [f"- `{folder}/`" for folder in sorted(deeper)]
            self.write(page, f"---\norphan: true\n---\n# {name}\n\n" + "\n".join(lines) + "\n")
        return page

    def link_to(self, file, folder):
        short = file[len(folder) + 1:]
        return f"- [{short}]({os.path.relpath(self.target(file), folder)})"

    def target(self, name):
        """The page or picture that stands for a file or a folder; None when there is none."""
        if name in self.files and name.endswith(PICTURES):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.tree / name, path)
            return name
        if name in self.files and name.endswith(".md"):
            self.want(name)
            return name
        if name in self.files:
            return self.show_file(name)
        if any(file.startswith(f"{name}/") for file in self.files):
            return self.show_folder(name)
        return None

    # --- pages

    def relinked(self, name, text):
        here = os.path.dirname(name)

        def replace(match):
            words, link, anchor = match[1], match[2], match[3] or ""
            if not link or re.match(r"[a-z]+:", link):
                return match[0]
            wanted = os.path.normpath(os.path.join(here, link))
            target = "README.md" if wanted == "." else self.target(wanted)
            if not target:
                self.mistakes.append(f"{name}: a link to {link}, which does not exist")
                return match[0]
            target = "index.md" if target == "README.md" else target
            return f"{words}({os.path.relpath(target, here or '.')}{anchor})"

        parts = CODE.split(text)
        return "".join(part if CODE.fullmatch(part) else LINK.sub(replace, part)
                       for part in parts)

    def lay_out(self, name):
        text = self.relinked(name, (self.tree / name).read_text(encoding="utf-8"))
        if name == "README.md":
            self.write("index.md", text + self.contents())
        elif name in self.listed:
            self.write(name, text)
        else:
            self.write(name, f"---\norphan: true\n---\n{text}")

    def contents(self):
        return "".join(
            f"\n```{{toctree}}\n:hidden:\n:maxdepth: 1\n:caption: {caption}\n\n"
            + "\n".join(pages) + "\n```\n"
            for caption, pages in (("Guide", self.guide), ("Examples", self.examples),
                                   ("Reference", self.reference)))

    def plan(self):
        """The order of the pages in the margin."""
        guide = (self.tree / "docs/guide/README.md").read_text(encoding="utf-8")
        self.guide = ["docs/guide/README"] + list(dict.fromkeys(
            f"docs/guide/{page}" for page in re.findall(r"\]\((\w[\w-]*)\.md\)", guide)))
        self.examples = [name[:-3] for name in sorted(self.files)
                         if re.fullmatch(r"examples/(\w+/)?README\.md", name)]
        decisions = sorted(name[:-3] for name in self.files
                           if re.fullmatch(r"docs/decisions/.*\.md", name))
        self.reference = [name for name in REFERENCE if f"{name}.md" in self.files]
        self.reference.append("docs/decisions/index")
        self.listed = {f"{name}.md" for name in
                       self.guide + self.examples + self.reference + decisions}
        self.write("docs/decisions/index.md", "# Decisions\n\nEach page has a question, the answer "
                   "and its reasons.\n\n```{toctree}\n:maxdepth: 1\n\n"
                   + "\n".join("/" + name for name in decisions) + "\n```\n")
        self.laid.add("docs/decisions/index.md")

    def prepare(self):
        self.plan()
        for name in sorted(self.files):
            if name in ("README.md", "CHANGELOG.md") or name in self.listed or \
                    re.fullmatch(r"docs/.*\.md", name):
                self.want(name)
        while self.waiting:
            self.lay_out(self.waiting.pop())


def main():
    tree, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    pages, html = folder / "pages", folder / "html"
    for old in (pages, html):
        shutil.rmtree(old, ignore_errors=True)
    site = Site(tree, pages)
    site.prepare()
    for mistake in site.mistakes:
        print(mistake, file=sys.stderr)
    if site.mistakes:
        return 1
    done = subprocess.run(["sphinx-build", "-W", "--keep-going", "-q", "-b", "html", "-d",
                           str(folder / "trees"), "-c", str(Path(__file__).parent), str(pages),
                           str(html)], check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
