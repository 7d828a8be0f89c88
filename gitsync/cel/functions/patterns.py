r"""Regular expressions as RE2 writes them, read into a tree; `matching` runs it.

Python's `re` is not used, because it backtracks: a pattern of ten characters could hang it. What RE2 does not support
(backreferences, lookahead, lookbehind) is refused, and so are scripts of Unicode (`\p{Greek}`), for which Python has no
table. Groups capture nothing, since the result is only whether the pattern matches.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gitsync.cel.functions.letters import CATEGORIES, CLASSES, LAST_POINT, POSIX, Letters, Ranges, invert_ranges
from gitsync.cel.values import EvaluationError

MOST_CHARACTERS: Final = 1000
MOST_REPETITIONS: Final = 1000
MOST_GROUPS: Final = 30
"""How long a pattern may be, how often it may ask for a repetition, how deep groups may lie within each other."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """A place between characters: "^" and "$" of the text, "(" and ")" of a line, "b" and "B" of a word."""

    name: str


@dataclass(frozen=True, slots=True)
class Concatenation:
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    part: Part
    least: int
    most: int | None


Part = Letters | Assertion | Concatenation | Alternation | Repeat

_CONTROLS: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_EDGES: Final = {"A": "^", "z": "$", "b": "b", "B": "B"}
_COUNT: Final = re.compile(r"\{([0-9]{1,5})(,([0-9]{1,5})?)?\}", re.ASCII)
_GROUP: Final = re.compile(r"\?(?:P?<\w+>|([imsU]*)(?:-([imsU]+))?([:)]))", re.ASCII)
_POINT: Final = re.compile(r"x\{([0-9A-Fa-f]{1,8})\}|x([0-9A-Fa-f]{2})")
_OCTAL: Final = re.compile(r"[0-7]{1,3}", re.ASCII)
_CATEGORY: Final = re.compile(r"([pP])(?:\{(\^?)([A-Za-z]+)\}|([A-Z]))", re.ASCII)
_NAMED: Final = re.compile(r"\[:(\^?)([a-z]+):\]", re.ASCII)


def make_pattern_error(why: str) -> EvaluationError:
    return EvaluationError(f"matches: {why}")


class PatternReader:
    """Reads one pattern, from left to right."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > MOST_CHARACTERS:
            raise make_pattern_error(f"the pattern is longer than {MOST_CHARACTERS} characters")
        self._text = pattern
        self._at = 0
        self._flags: frozenset[str] = frozenset()
        self._depth = 0

    def read(self) -> Part:
        part = self._choice()
        if self._at < len(self._text):
            raise make_pattern_error("the pattern closes a group that it does not open")
        return part

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        if not self._text.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _find(self, form: re.Pattern[str]) -> re.Match[str] | None:
        found = form.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def _choice(self) -> Part:
        parts = [self._row()]
        while self._take("|"):
            parts.append(self._row())
        return parts[0] if len(parts) == 1 else Alternation(tuple(parts))

    def _row(self) -> Part:
        parts: list[Part] = []
        while self._next() not in {"", "|", ")"}:
            parts.append(self._repeated(self._one()))
        return Concatenation(tuple(parts))

    def _repeated(self, part: Part) -> Part:
        count = self._count()
        if count is None:
            return part
        self._take("?")
        if self._next() in {"*", "+", "?"} or _COUNT.match(self._text, self._at):
            raise make_pattern_error("the pattern repeats a repetition; put it in a group")
        return Repeat(part, *count)

    def _count(self) -> tuple[int, int | None] | None:
        for sign, count in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(sign):
                return count
        found = self._find(_COUNT)
        if found is None:
            return None
        least = int(found[1])
        most = int(found[3]) if found[3] else (None if found[2] else least)
        if max(least, most or 0) > MOST_REPETITIONS or (most is not None and most < least):
            raise make_pattern_error(f"the pattern has a bad count of repetitions; {MOST_REPETITIONS} is the most")
        return least, most

    def _one(self) -> Part:
        letter = self._next()
        self._at += 1
        match letter:
            case "(":
                return self._group()
            case "[":
                return self._set()
            case ".":
                return Letters((), negated=True) if "s" in self._flags else Letters(((10, 10),), negated=True)
            case "^":
                return Assertion("(" if "m" in self._flags else "^")
            case "$":
                return Assertion(")" if "m" in self._flags else "$")
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                raise make_pattern_error("the pattern repeats nothing")
            case _:
                return self._letter(ord(letter))

    def _letter(self, point: int) -> Letters:
        return Letters(((point, point),), fold="i" in self._flags)

    def _group(self) -> Part:
        outer = self._flags
        if self._next() == "?":
            found = self._find(_GROUP)
            if found is None:
                raise make_pattern_error(
                    "the pattern has a lookahead, a lookbehind, or another group that RE2 does not support"
                )
            self._flags = self._flags - set(found[2] or "") | set(found[1] or "")
            if found[3] == ")":
                return Concatenation(())
        self._depth += 1
        if self._depth > MOST_GROUPS:
            raise make_pattern_error("the pattern has too many groups within groups")
        part = self._choice()
        if not self._take(")"):
            raise make_pattern_error("the pattern opens a group that it does not close")
        self._depth -= 1
        self._flags = outer
        return part

    def _escape(self) -> Part:
        letter = self._next()
        if letter in _EDGES:
            self._at += 1
            return Assertion(_EDGES[letter])
        if self._take("Q"):
            quoted, _, _ = self._text[self._at :].partition("\\E")
            self._at = min(self._at + len(quoted) + 2, len(self._text))
            return Concatenation(tuple(self._letter(ord(char)) for char in quoted))
        ranges, categories = self._escaped()
        return Letters(ranges, categories, fold="i" in self._flags)

    def _escaped(self) -> tuple[Ranges, tuple[tuple[str, bool], ...]]:
        """What an escape means that may stand inside brackets, too."""
        category = self._find(_CATEGORY)
        if category is not None:
            name = category[3] or category[4]
            if name not in CATEGORIES:
                raise make_pattern_error("the pattern has a Unicode class that is not a general category")
            return (), ((name, (category[1] == "P") != bool(category[2])),)
        letter = self._next()
        if letter.lower() in CLASSES:
            self._at += 1
            ranges = CLASSES[letter.lower()]
            return (ranges if letter.islower() else invert_ranges(ranges)), ()
        point = self._point()
        return ((point, point),), ()

    def _point(self) -> int:
        found = self._find(_POINT)
        if found is not None:
            return self._known(int(found[1] or found[2], 16))
        letter = self._next()
        if letter == "0" or (letter in {*"1234567"} and self._text[self._at + 1 : self._at + 2] in {*"01234567"}):
            octal = self._find(_OCTAL)
            return int(octal[0], 8) if octal else 0
        self._at += 1
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if not letter or letter.isalnum():
            raise make_pattern_error("the pattern has an escape that RE2 does not support; there are no backreferences")
        return ord(letter)

    def _known(self, point: int) -> int:
        if point > LAST_POINT:
            raise make_pattern_error("the pattern has a character that is not in Unicode")
        return point

    def _set(self) -> Letters:
        negated = self._take("^")
        ranges: list[tuple[int, int]] = []
        categories: list[tuple[str, bool]] = []
        first = True
        while first or not self._take("]"):
            first = False
            found, named = self._item()
            ranges += found
            categories += named
        return Letters(tuple(ranges), tuple(categories), negated, "i" in self._flags)

    def _item(self) -> tuple[Ranges, tuple[tuple[str, bool], ...]]:
        named = self._find(_NAMED)
        if named is not None:
            if named[2] not in POSIX:
                raise make_pattern_error("the pattern has an unknown character class")
            ranges = POSIX[named[2]]
            return (invert_ranges(ranges) if named[1] else ranges), ()
        ranges, categories = self._end()
        after = self._text[self._at + 1 : self._at + 2]
        if len(ranges) != 1 or ranges[0][0] != ranges[0][1] or self._next() != "-" or after in {"", "]"}:
            return ranges, categories
        self._at += 1
        last, others = self._end()
        if len(last) != 1 or others or last[0][0] < ranges[0][0]:
            raise make_pattern_error("the pattern has a range that ends before it starts")
        return ((ranges[0][0], last[0][1]),), ()

    def _end(self) -> tuple[Ranges, tuple[tuple[str, bool], ...]]:
        letter = self._next()
        if not letter:
            raise make_pattern_error("the pattern opens a set that it does not close")
        self._at += 1
        return self._escaped() if letter == "\\" else (((ord(letter), ord(letter)),), ())
