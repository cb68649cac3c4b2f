# SPDX-License-Identifier: MIT
"""Mutants of a C source: small changes, each of which some test should notice.

Kinds:

    condition  == and !=, < and <=, > and >=, && and || exchanged; `if` and `while` negated
    statement  a call whose result is not used, or an assignment, left out
    number     a decimal number one larger
    order      a memory order weakened to relaxed
    lock       a lock left out, with its releases in the same function; two locks exchanged; the
               last statement before a release moved behind it

Works on tokens: it knows no types, and leaves out what stands in assertions, declarations and lines
of the preprocessor.
"""
import re
from dataclasses import dataclass

KINDS = ("condition", "statement", "number", "order", "lock")
OPPOSITES = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
             "&&": "||", "||": "&&"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>="}
ORDERS = re.compile(r"memory_order_(acquire|release|acq_rel|seq_cst|consume)$")
NUMBER = re.compile(r"\d+[uUlL]*$")
LOCKS = {"lock_acquire": "lock_release", "pthread_mutex_lock": "pthread_mutex_unlock"}
RELEASES = set(LOCKS.values())
# What they check is not what the program does; without va_end a program is wrong on paper alone.
CHECKS = {"assert", "static_assert", "_Static_assert", "LOCK_CHECK", "va_end"}
NO_STATEMENT = {"return", "break", "continue", "goto", "if", "while", "for", "do", "switch",
                "case", "default", "else", "typedef", "struct", "enum", "union", "static", "extern",
                "const", "sizeof", "{", ";"}

BLANKED = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.DOTALL | re.MULTILINE)
TOKEN = re.compile(r"[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>"
                   r"|[<>=!+\-*/%&|^]=|&&|\|\||\S")


@dataclass(frozen=True)
class Mutant:
    path: str
    line: int
    kind: str
    function: str
    edits: tuple  # of (start, end, new text), one behind the other

    def apply(self, text):
        for start, end, new in reversed(self.edits):
            text = text[:start] + new + text[end:]
        return text

    def change(self, text):
        """The lines that differ, without indentation: (old lines, new lines)."""
        old, new = text.split("\n"), self.apply(text).split("\n")
        differ = [i for i, pair in enumerate(zip(old, new)) if pair[0] != pair[1]]
        return ([old[i].strip() for i in differ], [new[i].strip() for i in differ])


class Source:
    """The tokens of a file, and which of them belong together."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        code = BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
        found = list(TOKEN.finditer(code))
        self.words = [match.group() for match in found]
        self.starts = [match.start() for match in found]
        self.lines = self.number_lines()
        self.partner = self.pair_up()
        self.functions = self.find_functions()
        self.checked = set()
        for i, word in enumerate(self.words[:-1]):
            if word in CHECKS and i + 1 in self.partner:
                self.checked.update(range(i, self.partner[i + 1] + 1))

    def number_lines(self):
        lines, line, at = [], 1, 0
        for start in self.starts:
            line += self.text.count("\n", at, start)
            at = start
            lines.append(line)
        return lines

    def pair_up(self):
        """Each bracket -> the one that opens or closes it."""
        partner, opened = {}, []
        for i, word in enumerate(self.words):
            if word in "([{":
                opened.append(i)
            elif word in ")]}" and opened:
                partner[i] = opened.pop()
                partner[partner[i]] = i
        return partner

    def find_functions(self):
        """(name, first token, last token): our style opens a body with { in the first column."""
        functions = []
        for i, word in enumerate(self.words):
            if word == "{" and self.text[self.starts[i] - 1:self.starts[i]] == "\n" \
                    and i and self.words[i - 1] == ")" and i in self.partner:
                functions.append((self.words[self.partner[i - 1] - 1], i, self.partner[i]))
        return functions

    def end(self, i):
        return self.starts[i] + len(self.words[i])

    def between(self, first, last):
        """The text of these tokens."""
        return self.text[self.starts[first]:self.end(last)]

    def without(self, first, last):
        """An edit that removes these tokens; the lines keep their numbers."""
        return self.starts[first], self.end(last), "\n" * self.between(first, last).count("\n")

    def statements(self, first, last):
        """(first token, its `;`) of each simple statement of a body."""
        for i in range(first + 1, last):
            before = self.words[i - 1]
            if before in (";", "{", "}", "else", ":") or (
                    before == ")" and self.words[self.partner.get(i - 1, 0) - 1] in
                    ("if", "while", "for", "switch")):
                end = self.find_semicolon(i, last)
                if end and self.words[i] not in NO_STATEMENT:
                    yield i, end

    def find_semicolon(self, i, last):
        while i < last:
            if self.words[i] == ";":
                return i
            if self.words[i] in ")]}":
                return None
            i = self.partner.get(i, i) + 1
        return None

    def outer(self, first, end):
        """The tokens of a statement outside of all brackets."""
        i = first
        while i < end:
            yield i
            i = self.partner.get(i, i) + 1 if self.words[i] in "([{" else i + 1


def is_call(source, first, end):
    if source.words[first:first + 3] == ["(", "void", ")"]:
        first += 3
    outer = list(source.outer(first, end))
    return len(outer) == 2 and re.match(r"[A-Za-z_]", source.words[first]) is not None \
        and source.words[outer[1]] == "("


def is_assignment(source, first, end):
    """Not a declaration with a value: in that two names stand one behind the other."""
    outer = list(source.outer(first, end))
    words = [source.words[i] for i in outer]
    if "++" in words or "--" in words:
        return True
    at = next((i for i, word in enumerate(words) if word in ASSIGNMENTS), None)
    if at is None:
        return False
    target = [word for word in words[:at] if word != "*" or word is words[0]]
    return not any(re.match(r"[A-Za-z_]", a) and re.match(r"[A-Za-z_]", b)
                   for a, b in zip(target, target[1:]))


def conditions(source, first, last):
    for i in range(first, last):
        word = source.words[i]
        if word in OPPOSITES:
            yield i, ((source.starts[i], source.end(i), OPPOSITES[word]),)
        elif word in ("if", "while") and source.words[i + 1] == "(":
            inside = source.starts[i + 1] + 1, source.starts[source.partner[i + 1]]
            yield i, ((inside[0], inside[0], "!("), (inside[1], inside[1], ")"))


def statements(source, first, last):
    for i, end in source.statements(first, last):
        if source.words[i] in LOCKS or source.words[i] in RELEASES:
            continue
        if is_call(source, i, end) or is_assignment(source, i, end):
            yield i, (source.without(i, end - 1),)


def numbers(source, first, last):
    for i in range(first, last):
        word, before, behind = source.words[i], source.words[i - 1], source.words[i + 1]
        if not NUMBER.match(word):
            continue
        # { 0 } clears a struct; [64] behind a declared name is a size.
        if (before, behind) == ("{", "}") or (
                (before, behind) == ("[", "]") and re.match(r"[A-Za-z_]", source.words[i - 2])
                and re.match(r"[A-Za-z_*]", source.words[i - 3])):
            continue
        digits = re.match(r"\d+", word).group()
        yield i, ((source.starts[i], source.end(i), f"{int(digits) + 1}{word[len(digits):]}"),)


def orders(source, first, last):
    for i in range(first, last):
        if ORDERS.match(source.words[i]):
            yield i, ((source.starts[i], source.end(i), "memory_order_relaxed"),)


def locks(source, first, last):
    simple = list(source.statements(first, last))
    taken = [(i, end) for i, end in simple if source.words[i] in LOCKS]
    for i, end in taken:
        what = source.between(i + 1, end - 1)
        given = [(j, k) for j, k in simple if source.words[j] == LOCKS[source.words[i]]
                 and source.between(j + 1, k - 1) == what]
        yield i, (source.without(i, end - 1), *(source.without(j, k - 1) for j, k in given
                                                if j > i))
    for (i, end), (j, end_j) in zip(taken, taken[1:]):
        what = source.between(i + 1, end - 1), source.between(j + 1, end_j - 1)
        if what[0] != what[1]:
            yield i, ((source.starts[i + 1], source.end(end - 1), what[1]),
                      (source.starts[j + 1], source.end(end_j - 1), what[0]))
    for (i, end), (j, end_j) in zip(simple, simple[1:]):
        if end + 1 == j and source.words[j] in RELEASES and source.words[i - 1] in (";", "{", "}") \
                and source.words[i] not in RELEASES and source.words[i] not in LOCKS:
            yield j, ((source.starts[i], source.end(end), source.between(j, end_j)),
                      (source.starts[j], source.end(end_j), source.between(i, end)))


MAKERS = dict(zip(KINDS, (conditions, statements, numbers, orders, locks)))


def mutants_of(path, text):
    """All mutants of a file, in the order of kinds and places."""
    source = Source(path, text)
    for kind, maker in MAKERS.items():
        for name, first, last in source.functions:
            for i, edits in maker(source, first, last):
                if i not in source.checked:
                    yield Mutant(path, source.lines[i], kind, name, tuple(sorted(edits)))
