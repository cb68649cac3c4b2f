#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the manual pages of the commands, from weir(1) and the help of the program, and those of
the public headers, from their comments.

Usage: pages.py commands WEIR MANUAL FOLDER     weir-run.1, ... into FOLDER/man1
       pages.py headers FOLDER HEADER...        weir_timer.h.3, weir_after.3, ... into FOLDER/man3

The page of a function is a link to the page of its header. FOLDER's man1 or man3 is replaced.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path


# --- roff

def escaped(text):
    """Text for roff: no backslash, and no line that begins with a control character, is special."""
    text = text.replace("\\", "\\e")
    return "\n".join("\\&" + line if line[:1] in ".'" else line for line in text.split("\n"))


def prose(text):
    """Paragraphs, lists and indented blocks of plain text; `code` in bold."""
    out = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        lines = paragraph.split("\n")
        if all(line.startswith("    ") for line in lines):
            out += [".PP", ".RS", ".nf", escaped(paragraph), ".fi", ".RE"]
            continue
        out.append(".PP")
        for line in lines:
            item = re.match(r" *- (.*)", line)
            if item:
                out += [".IP \\(bu 2"]
            line = escaped((item[1] if item else line).strip())
            out.append(re.sub(r"`([^`]+)`", r"\\fB\1\\fR", line))
    return "\n".join(out) + "\n"


def verbatim(text):
    return ".PP\n.nf\n" + escaped(text) + "\n.fi\n"


def page(title, section, summary, parts):
    """`parts` are pairs of a heading and roff."""
    kind = {1: "User Commands", 3: "Library Functions"}[section]
    text = f'.TH {title.upper()} {section} "" weir "{kind}"\n.SH NAME\n{title} \\- {summary}\n'
    return text + "".join(f".SH {heading}\n{body}" for heading, body in parts if body)


# --- commands

def help_of(weir, *arguments):
    return subprocess.run([weir, *arguments, "--help"], check=True, capture_output=True,
                          text=True).stdout


# An option in weir(1): its name, and what the page says about it.
DESCRIBED = re.compile(r"^\.TP\n\.BR? \\-\w[^\n]*?\\-\\-(\w+)[^\n]*\n(.*?)(?=^\.TP|^\.PP|\Z)",
                       re.M | re.S)
SHARED = re.compile(r"^\.PP\nThe commands with\n\.B \\-\\-control\n"
                    r"ask a running host, and take these:\n(.*?)(?=^\.SS)", re.M | re.S)
OPTION = re.compile(r"^  (-\w, --([\w-]+)(?: [A-Z]+)?) +(\S.*)$", re.M)


def command_page(weir, name, section, shared):
    """From `weir NAME --help` and the section of weir(1)."""
    said = help_of(weir, name)
    usage, summary, rest = said.split("\n\n", 2)
    options, _, details = rest.partition("\n\n")
    described = {**shared, **dict(DESCRIBED.findall(section))}
    listed = "".join(f".TP\n.B {escaped(head)}\n{described.get(long, escaped(text))}\n"
                     for head, long, text in OPTION.findall(options))
    return page(f"weir-{name}", 1, escaped(summary.rstrip(".")), (
        ("SYNOPSIS", f".B weir {name}\n{escaped(usage.partition(name)[2].strip())}\n"),
        ("DESCRIPTION", DESCRIBED.sub("", section)),
        ("OPTIONS", listed),
        ("NOTES", prose(details)),
        ("SEE ALSO", ".BR weir (1),\n.BR weir.yaml (5)\n")))


def write_commands(weir, manual, folder):
    listed = help_of(weir).partition("commands:\n")[2].partition("\n\n")[0]
    text = Path(manual).read_text(encoding="utf-8").partition(".SH COMMANDS\n")[2]
    text = text.partition("\n.SH ")[0] + "\n"
    shared = SHARED.search(text)
    if not shared:
        sys.exit(f"{manual}: no options that the commands for a running host share")
    text = SHARED.sub("", text)
    sections = dict(re.findall(r'^\.SS "?(\w+)[^\n]*\n(.*?)(?=^\.SS |\Z)', text, re.M | re.S))
    for name in re.findall(r"^  (\w+)", listed, re.M):
        if name not in sections:
            sys.exit(f"{manual}: no section about the command {name}")
        text = command_page(weir, name, sections[name], dict(DESCRIBED.findall(shared[1])))
        (folder / f"weir-{name}.1").write_text(text, encoding="utf-8")


# --- headers

def comment_text(comment):
    lines = comment[2:-2].strip().split("\n")
    return "\n".join(re.sub(r"^ \* ?| \*$", "", line) for line in lines).strip()


BEFORE_DECLARATION = re.compile(r"^(?:WEIR_[A-Z_]+(?:\([^)]*\))?\s+|static inline )*")


def declaration_end(text, at):
    """Where the declaration at `at` ends, and where its body begins or None."""
    depth, body = 0, None
    while at < len(text):
        if text.startswith("/*", at):
            at = text.index("*/", at) + 1
        elif text[at] in "{(":
            if text[at] == "{" and depth == 0 and text[:at].rstrip().endswith(")"):
                body = at
            depth += 1
        elif text[at] in "})":
            depth -= 1
            if depth == 0 and text[at] == "}" and body:
                return at + 1, body
        elif text[at] == ";" and depth == 0:
            return at + 1, None
        at += 1
    raise ValueError("a declaration without an end")


def items(text):
    """(comment, declaration) in the order of the header; a comment may belong to several
    declarations below each other."""
    at, comment, found = 0, "", []
    while at < len(text):
        if text.startswith("\n\n", at):
            comment = ""
        if text[at].isspace():
            at += 1
        elif text.startswith("/*", at):
            end = text.index("*/", at) + 2
            comment, at = comment_text(text[at:end]), end
        elif text[at] == "#":
            end = re.compile(r"(?<!\\)(\n|\Z)").search(text, at).start()
            line, at = text[at:end], end
            if re.match(r"#define [A-Za-z]\w*.*\S", line) and comment:
                found.append((comment, line))
        elif re.match(r'extern "C" \{|\}', text[at:at + 12]):
            at = text.index("\n", at) if "\n" in text[at:] else len(text)
        else:
            end, body = declaration_end(text, at)
            code = text[at:body].rstrip() + ";" if body else text[at:end]
            found.append((comment, BEFORE_DECLARATION.sub("", code)))
            at = end
    return found


def name_of(code):
    """Of a macro, a type or a function; None for anything else."""
    if code.startswith("#define"):
        return re.match(r"#define (\w+)", code)[1]
    kind = re.match(r"(?:struct|enum|union) (\w+) \{", code)
    if kind:
        return kind[1]
    # The last one of a typedef of a function; the first one of a function.
    name = re.search(r"(\w+)(?:\(|;$)", code)
    return name[1] if name else None


def is_function(code):
    return bool(re.match(r"(?!typedef|#|(?:struct|enum|union) \w+ \{|enum \{)[^({]*\b\w+\(", code))


def write_header(path, folder):
    text = Path(path).read_text(encoding="utf-8")
    first = re.search(r"/\*\n.*?\*/", text, re.S)  # behind the line of the licence
    about = comment_text(first[0])
    summary, _, rest = about.partition("\n\n")
    summary = re.sub(r"\s+", " ", summary.partition(" - ")[2]).rstrip(".")
    include = re.search(r"(?:Part of|Include) (<weir/\w+\.h>)", about)
    title = f"weir_{Path(path).name}"
    text = re.sub(r"^#ifndef \w+_H\n#define \w+_H$", "", text[first.end():], count=1, flags=re.M)
    body, before = "", None
    functions = []
    for comment, code in items(text):
        name = name_of(code)
        if not name or re.fullmatch(r"(?:struct|enum|union) \w+;", code):
            continue
        if is_function(code):
            functions.append(name)
        if comment and comment == before:
            body += verbatim(code)
            continue
        body += f".SS {name}\n" + verbatim(code) + (prose(comment) if comment else "")
        before = comment
    (folder / f"{title}.3").write_text(page(title, 3, escaped(summary), (
        ("SYNOPSIS", f".B #include {include[1] if include else f'<weir/{Path(path).name}>'}\n"),
        ("DESCRIPTION", prose(rest) if rest else ""),
        ("DECLARATIONS", body),
        ("SEE ALSO", ".BR weir (1)\n"))), encoding="utf-8")
    for name in functions:
        (folder / f"{name}.3").write_text(f".so man3/{title}.3\n", encoding="utf-8")


def main():
    if sys.argv[1] == "commands":
        weir, manual, folder = sys.argv[2:]
        section = Path(folder) / "man1"
    else:
        folder, *headers = sys.argv[2:]
        section = Path(folder) / "man3"
    shutil.rmtree(section, ignore_errors=True)
    section.mkdir(parents=True)
    if sys.argv[1] == "commands":
        write_commands(weir, manual, section)
    for header in headers if sys.argv[1] == "headers" else ():
        write_header(header, section)


if __name__ == "__main__":
    main()
