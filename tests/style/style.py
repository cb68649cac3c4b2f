#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rules of style that a machine can check, over every source file of the tree.

Usage: style.py [ROOT]

Prints `file:line: what` for each breach and ends with 1 if there was any. What is forbidden says
why; a rule that hinders is changed here, for all, never excepted in a comment. test_style.py
plants a breach of every rule and sees it caught.
"""
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WIDTH_MAX = 100
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 600

# Stands at the top of every source file; the templates belong to those who use them.
LICENCE = re.compile(r"(#![^\n]*\n)?(/\*|#) SPDX-License-Identifier: MIT( \*/)?\n")
LICENSED = (".c", ".h", ".cpp", ".py", ".sh")

FOLDERS = ("sdk", "wire", "core", "config", "host", "plugins", "examples", "tests", "docs")
C_SUFFIXES = (".c", ".h")
SUFFIXES = (".c", ".h", ".cpp", ".py", ".sh", ".cmake", ".md")

# call -> why not
BANNED_CALLS = {
    "strcpy": "has no bound",
    "strncpy": "may leave out the NUL",
    "strcat": "has no bound",
    "strncat": "counts what is left, not what there is",
    "sprintf": "has no bound: snprintf",
    "vsprintf": "has no bound: vsnprintf",
    "gets": "has no bound",
    "atoi": "tells no error: strtol and its kind",
    "atol": "tells no error",
    "atoll": "tells no error",
    "atof": "tells no error",
    "strtok": "has a state of its own",
    "alloca": "takes the stack by input",
    "rand": "has a state of its own",
    "srand": "has a state of its own",
    "localtime": "is not safe with threads: localtime_r",
    "gmtime": "is not safe with threads: gmtime_r",
    "setjmp": "jumps over owners",
    "longjmp": "jumps over owners",
    "siglongjmp": "jumps over owners",
    "sleep": "waits for time, not for a condition",
    "usleep": "waits for time, not for a condition",
    "nanosleep": "waits for time, not for a condition",
    "atomic_thread_fence": "ThreadSanitizer does not understand fences",
    "__sync_synchronize": "ThreadSanitizer does not understand fences",
    "__atomic_thread_fence": "ThreadSanitizer does not understand fences",
}
BANNED_WORDS = {
    "volatile": "is no synchronisation: atomics",
}
BANNED_CALL = re.compile(rf"\b({'|'.join(BANNED_CALLS)})\s*\(")
BANNED_WORD = re.compile(rf"\b(?:{'|'.join(BANNED_WORDS)})\b")
# Words that have no place in the code and comments of these folders, and the term to use instead.
PLAIN_FOLDERS = ("core/", "config/", "host/", "sdk/", "wire/", "plugins/")
PRIVATE_WORDS = {
    r"anew": "again",
    r"births?|brought forth": "spawned",
    r"comes? free": "is freed",
    r"errands?": "control job",
    r"aside": "control queue",
    r"patience": "time-out",
    r"(?<!dead_)letter_(list|owner|routes)": "dead_letter_...",
    r"ties?|tied": "link",
    r"told|telling": "notified, reported, logged",
    r"heirs?": "successor",
    r"stints?": "turn",
    r"(?<!WEIR_)asking": "an external request, open_requests",
    # As names of structs and functions: the words themselves are plain.
    r"(?<=struct )single\w*|(?<!\w)single_\w+(?=\()": "a pool's worker, or a part",
    r"(?<=struct )extra\w*|(?<!\w)extra_\w+(?=\()": "optional state",
}
# A number in a text for people, and up to two words behind it.
COUNTED = re.compile(r'%(?:"\s*PRI[udx]\w+\s*"|[lhzj]*[udi]) +([a-z]+)(?: +([a-z]+))?')
# Between two parts of one literal.
PARTS = re.compile(r'"\s*\n\s*"')
# Behind a number these words are no plurals.
NO_PLURALS = ("is", "was", "has", "does", "its", "this", "us", "ms", "s")
# Texts before a number that is a limit, and numbers that are never 1.
LIMITS = re.compile(r"(at most|more than|up to|longer than|deeper than|\.\.|\bto|must be|"
                    r"outside the) ?$")
NEVER_ONE = (
    "removed pools and sources",  # DRAINING_MAX of them
    "opens of refused reloads",  # STUCK_MAX of them
    "bytes, at most",  # more than that
    "bytes\", limit",  # likewise
    "workers %s open; ",  # `N of its M`: M is more than N, which is more than 0
    "workers is open",  # of 2 or more
    "workers open, ",  # `N of M`: a figure beside others
    "bytes of a socket's path",
    "bytes that are",  # of a header
    "dispatchers, there may be",
    "bytes\", delivery->size",  # too many for host.memory
)
PLURAL_FOLDERS = ("host/", "core/", "config/", "plugins/", "sdk/testkit/")
# In comments as in code.
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|\b(placeholder|stubs?|stubbed)\b", re.I)

# The one header of core, besides those of core/base, that the host and libweir may include. It
# consists of the headers in core/face, which tell core's rooms what to offer.
FACE = "core/weir_core.h"
# What all of the host may include; and which of its own rooms each of them may, besides itself.
HOST_KNOWS = ("config", FACE, "core/base", "wire", "sdk")
HOST_ROOMS = {
    "log": (),
    "dead": (),
    "control": (),
    "plugin": ("host/log",),
    "crash": ("host/log",),
    "isolation": ("host/crash", "host/plugin", "host/log"),
    "run": ("host/isolation", "host/crash", "host/log"),
    "apply": ("host/run", "host/log"),
    "reload": ("host/apply", "host/run", "host/control", "host/plugin", "host/dead", "host/log"),
    "pages": ("host/reload", "host/run", "host/control", "host/dead"),
    "command": ("host/pages", "host/reload", "host/apply", "host/run", "host/control",
                "host/crash", "host/plugin", "host/isolation", "host/dead", "host/log"),
}
# room -> rooms that it may include, besides itself and the C library
ROOMS = {
    "sdk": (),
    "wire": (),  # compiled into the host and into plugins
    "sdk/testkit": ("config", "core/base", "sdk"),  # reads options with the code of the host
    "core/base": ("sdk",),
    "core/face": ("core/base", "sdk"),
    "core/message": ("core/base", "sdk"),
    "core/dispatch": ("core/message", "core/face", "core/base", "sdk"),
    "core/stats": ("core/message", "core/face", "core/base", "sdk"),
    "core/actor": ("core/stats", "core/dispatch", "core/message", "core/face", "core/base", "sdk"),
    "core/pool": ("core/actor", "core/stats", "core/dispatch", "core/message", "core/face",
                  "core/base", "sdk"),
    "core/embed": (FACE, "core/base", "sdk"),
    "core": ("core/pool", "core/actor", "core/stats", "core/dispatch", "core/message",
             "core/face", "core/base", "sdk"),
    "config": ("core/base", "sdk"),
    **{f"host/{room}": (*below, *HOST_KNOWS) for room, below in HOST_ROOMS.items()},
    "host": ("host/command", "host/run", *HOST_KNOWS),
    "plugins": ("sdk", "wire"),
    "examples": ("sdk",),
    "tests": None,  # everything
}
# header of a library -> the only rooms that may include it
LIBRARIES = {
    "yaml.h": ("config", "host", "tests"),
    "uv.h": ("host", "tests"),
    "dlfcn.h": ("host", "tests", "examples"),
    "openssl/": ("plugins", "tests"),
    "CUnit/": ("tests", "examples"),
}
INCLUDE_ROOTS = ("core", "", "sdk/include", "tests")
# Where no file, no folder and no part (a .c and its .h) may include itself by way of others.
ACYCLIC = ("core", "config", "host", "sdk", "wire")
# .c files without a header of their own: programs, rows of a table declared elsewhere, and what
# a public header declares.
HEADERLESS = re.compile(
    r"^(tests|examples|plugins)/|^host/(main|command/command_\w+)\.c$"
    r"|^(core/embed|sdk/testkit)/api_\w+\.c$|^core/face_\w+\.c$")

TOKENS = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
STRINGS = re.compile(r"\"(?:\\.|[^\"\\\n])*\"")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)
GLOBAL = re.compile(r"^(?:static|_Thread_local|extern)\b(?![^=;]*\bconst\b)[^()=;{}]*(?:;|=)", re.M)
TYPEDEF = re.compile(r"\btypedef\s+(struct|union|enum)\b")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
# In a decision: a file or folder of ours.
NAMED_FILE = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]+)`")
TEST_FUNCTION = re.compile(r"^static void (test_\w+)\(void\)", re.M)


def blank(match):
    """The text with everything but its line ends turned into blanks."""
    return re.sub(r"[^\n]", " ", match.group())


class Source:
    """One file: its path from the root, its text, and the text without comments and strings."""

    def __init__(self, root, path):
        self.path = path
        self.text = (root / path).read_text(encoding="utf-8")
        self.lines = self.text.split("\n")
        self.is_c = path.endswith(C_SUFFIXES)
        self.code = TOKENS.sub(blank, self.text) if self.is_c else self.text

    def line_of(self, position):
        return self.text.count("\n", 0, position) + 1


def room_of(path):
    parts = path.split("/")
    two = "/".join(parts[:2])
    return two if two in ROOMS else parts[0]


def check_lines(source):
    if not source.text.endswith("\n"):
        yield len(source.lines), "the last line has no end"
    if len(source.lines) - 1 > FILE_LINES_MAX:
        yield FILE_LINES_MAX, f"more than {FILE_LINES_MAX} lines: a concept is missing"
    for number, line in enumerate(source.lines, 1):
        if len(line) > WIDTH_MAX:
            yield number, f"{len(line)} columns, more than {WIDTH_MAX}"
        if line != line.rstrip():
            yield number, "blanks at the end of the line"
        if source.is_c and "\t" in line:
            yield number, "a tab"


def check_licence(source):
    if source.path.endswith(LICENSED) and not LICENCE.match(source.text):
        yield 1, "does not open with `SPDX-License-Identifier: MIT`"


def check_functions(source):
    start = 0
    for number, line in enumerate(source.code.split("\n"), 1):
        if line.rstrip() == "{":
            start = number
        elif line.startswith("}") and start:
            length = number - start + 1
            if length > FUNCTION_LINES_MAX:
                yield start, f"a function of {length} lines, more than {FUNCTION_LINES_MAX}"
            start = 0


def check_banned(source):
    for match in BANNED_CALL.finditer(source.code):
        yield source.line_of(match.start()), f"{match[1]}() {BANNED_CALLS[match[1]]}"
    for match in BANNED_WORD.finditer(source.code):
        yield source.line_of(match.start()), f"{match[0]} {BANNED_WORDS[match[0]]}"
    for match in TYPEDEF.finditer(source.code):
        yield source.line_of(match.start()), f"typedef of a {match[1]}"
    for match in GLOBAL.finditer(source.code):
        if "extern" not in match.group() and not source.path.startswith("tests/"):
            yield source.line_of(match.start()), "state that belongs to nobody (a global)"


def check_unfinished(source):
    if source.path.startswith("tests/style/"):
        return
    for match in UNFINISHED.finditer(source.text):
        yield source.line_of(match.start()), f"unfinished: {match.group()}"


def check_words(source):
    if not source.path.startswith(PLAIN_FOLDERS):
        return
    code = STRINGS.sub(blank, source.text)
    for word, term in PRIVATE_WORDS.items():
        for match in re.finditer(rf"(?<![A-Za-z])({word})(?![A-Za-z])", code, re.I):
            yield source.line_of(match.start()), f"a private word, {match.group()}: {term}"


def check_plurals(source):
    """A text that counts something says `1 worker`, not `1 workers`."""
    if not source.path.startswith(PLURAL_FOLDERS):
        return
    whole = PARTS.sub(lambda gap: " " * len(gap[0]), source.text)
    for match in COUNTED.finditer(whole):
        words = [word for word in match.groups() if word and word.endswith("s")]
        before = PARTS.sub("", source.text[:match.start()])[-20:]
        after = PARTS.sub("", source.text[match.start():match.start() + 90])
        if (all(word in NO_PLURALS for word in words) or LIMITS.search(before) or
                any(text in after for text in NEVER_ONE)):
            continue
        yield source.line_of(match.start()), f"a plural for any number: {match[0]}: base/plural.h"


def resolve(root, source, name, quoted):
    """The path from the root of an included file of ours; None when it is a library's."""
    folders = [os.path.dirname(source.path)] if quoted else []
    for folder in [*folders, *INCLUDE_ROOTS]:
        path = os.path.normpath(os.path.join(folder, name))
        if (root / path).is_file():
            return path
    return None


def may_include(source, path):
    room, target = room_of(source.path), room_of(path)
    if ROOMS.get(room) is None:
        return True
    if room in ("plugins", "examples") and target == room:
        own, other = source.path.split("/")[1], path.split("/")[1]
        # plugins/NAME/NAME.h is the layout of the messages that NAME sends: for all who take them.
        return own == other or path == f"plugins/{other}/{other}.h"
    return target == room or target in ROOMS[room] or path in ROOMS[room]


def check_layers(root, source):
    for match in INCLUDE.finditer(source.text):
        number, quoted, name = source.line_of(match.start()), match[1], match[1] or match[2]
        path = resolve(root, source, name, quoted)
        if path is None and quoted:
            yield number, f'"{name}" is not in the tree'
        elif path and not may_include(source, path):
            yield number, f"{room_of(source.path)} must not know {path}"
        for library, rooms in LIBRARIES.items():
            if not path and name.startswith(library) and source.path.split("/")[0] not in rooms:
                yield number, f"<{name}> is for {', '.join(rooms)} only"


def check_shape(root, source):
    """What a .c, a .h and a test must be like as a whole."""
    path = source.path
    if path.endswith(".c") and not HEADERLESS.match(path):
        if not (root / (path[:-2] + ".h")).is_file():
            yield 1, "no header of the same name"
    if path.endswith(".h"):
        opening = LICENCE.sub("", source.text, count=1)
        if not re.match(r"/\*\n \* (\S+/)?" + re.escape(os.path.basename(path)) + " - ", opening):
            yield 1, f"does not open with `{os.path.basename(path)} - its purpose`"
    if re.match(r"tests/.*/test_\w+\.c$", path):
        head = LICENCE.sub("", source.text, count=1).split("*/")[0]
        if "Goal:" not in head or "Method:" not in head:
            yield 1, "does not open with a comment of Goal: and Method:"
        for name in TEST_FUNCTION.findall(source.code):
            if name.count("_") < 2:
                yield 1, f"{name}: not test_<condition>_<outcome>"


# Warnings that an author may have on: a header that is found by -I, as pkg-config says, gets them.
AUTHORS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wcast-qual",
           "-Wundef"]


def languages(path):
    """Compiler and options for each language in which a header must compile."""
    compiler = os.environ.get("CC", "cc")
    if not path.startswith("sdk/"):
        return [(compiler, "c", ["-std=gnu11", "-Wall", "-D_GNU_SOURCE"])]
    # What authors of plugins see is plain C11, and C++ where there is a compiler to ask.
    found = [(compiler, "c", ["-std=c11", *AUTHORS])]
    if shutil.which("c++"):
        found.append(("c++", "c++", ["-std=c++11"]))
        if path.startswith("sdk/include/"):
            found.append(("c++", "c++", ["-std=c++17", *AUTHORS]))
    return found


def opens_its_source(root, path):
    """Whether the source of the same name includes the header before all else: then the build
    shows that the header compiles alone."""
    if path.startswith("sdk/") or not (root / (path[:-2] + ".c")).is_file():
        return False
    source = Source(root, path[:-2] + ".c")
    first = INCLUDE.search(source.text)
    return first and first[1] and resolve(root, source, first[1], True) == path


def check_alone(root, source):
    """A header must compile without help from what was included before it."""
    if opens_its_source(root, source.path):
        return
    include = [f"-I{root / folder}" for folder in INCLUDE_ROOTS]
    for compiler, language, options in languages(source.path):
        result = subprocess.run(
            [compiler, "-x", language, *options, "-fsyntax-only", "-Werror", *include, "-"],
            input=f'#include "{root / source.path}"\nint unit;\n', capture_output=True, text=True,
            check=False)
        if result.returncode != 0:
            first = next((x for x in result.stderr.split("\n") if "error" in x), "?")
            yield 1, f"does not compile alone as {language}: {first}"


def check_links(root, source):
    for match in LINK.finditer(source.text):
        if not (root / os.path.dirname(source.path) / match[1]).exists():
            yield source.line_of(match.start()), f"a link to {match[1]}, which is not there"
    if source.path.startswith("docs/decisions/"):
        for match in NAMED_FILE.finditer(source.text):
            if not (root / match[1]).exists():
                yield source.line_of(match.start()), f"names {match[1]}, which is not there"


def breaches(root, path):
    source = Source(root, path)
    if path.endswith(".md"):
        found = [*check_unfinished(source), *check_links(root, source)]
        return [f"{path}:{number}: {what}" for number, what in sorted(found)]
    found = [*check_lines(source), *check_licence(source), *check_unfinished(source)]
    if source.is_c:
        found += [*check_functions(source), *check_banned(source), *check_words(source),
                  *check_plurals(source), *check_layers(root, source), *check_shape(root, source)]
    if path.endswith(".h"):
        found += check_alone(root, source)
    return [f"{path}:{number}: {what}" for number, what in sorted(found)]


def included(root, path):
    """The files of ours that a file includes."""
    source = Source(root, path)
    for match in INCLUDE.finditer(source.text):
        found = resolve(root, source, match[1] or match[2], match[1])
        if found:
            yield found


def find_cycle(graph):
    """The nodes of one cycle, in order; empty when there is none."""
    done, way = set(), []

    def walk(node):
        if node in way:
            return way[way.index(node):]
        if node in done:
            return []
        way.append(node)
        found = next(filter(None, map(walk, sorted(graph.get(node, ())))), [])
        way.pop()
        done.add(node)
        return found

    return next(filter(None, map(walk, sorted(graph))), [])


def merge(graph, name):
    """The graph of what `name` gives for several nodes at once."""
    merged = {}
    for node, others in graph.items():
        others = {name(other) for other in others} - {name(node)}
        merged.setdefault(name(node), set()).update(others)
    return merged


def check_cycles(root):
    paths = [path for path in sources(root) if path.endswith(C_SUFFIXES)
             and path.startswith(tuple(f"{folder}/" for folder in ACYCLIC))]
    files = {path: set(included(root, path)) for path in paths}
    for what, graph in (("files", files), ("folders", merge(files, os.path.dirname))):
        cycle = find_cycle(graph)
        if cycle:
            yield f"{cycle[0]}:1: {what} include each other: {' -> '.join(cycle)}"
            return
    for folder in sorted({os.path.dirname(path) for path in paths}):
        inside = {path: {other for other in others if os.path.dirname(other) == folder}
                  for path, others in files.items() if os.path.dirname(path) == folder}
        cycle = find_cycle(merge(inside, lambda path: os.path.splitext(path)[0]))
        if cycle:
            yield f"{cycle[0]}.c:1: parts include each other: {' -> '.join(cycle)}"


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            wanted = path.name == "CMakeLists.txt" or path.name.endswith(SUFFIXES)
            if wanted and path.is_file() and "build" not in name.split("/"):
                yield name
    for name in ("CMakeLists.txt", "dev", ".ci/run", ".debian/build.sh",
                 "README.md", "CHANGELOG.md"):
        if (root / name).is_file():
            yield name


def check_tree(root):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda path: breaches(root, path), sources(root))
        return [*(line for lines in results for line in lines), *check_cycles(root)]


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    if not shutil.which(os.environ.get("CC", "cc")):
        sys.exit("style: no C compiler, which the headers need")
    found = check_tree(root)
    for line in found:
        print(line)
    print(f"style: {len(found)} breaches" if found else "style: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
