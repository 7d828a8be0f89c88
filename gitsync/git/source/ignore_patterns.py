"""The lines of one `.gitsyncignore`, compiled: which of them match a path, and which of these decides.

What a line means is pathspec's business, which translates it to a regular expression. RE2 matches it, since it does not
backtrack (`*a*a*a*b`). A file may have many lines: those without special characters are looked up by name, and others
are compiled only for a path that has their longest literal part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

_SPECIAL = frozenset("*?[]\\!#")
_STARRED = re.compile(r"!?/?[^\[\]\\!#/\s]+(?:/[^\[\]\\!#/\s]+)*/?")
"""Lines that are always valid: steps of *, ? and plain characters."""

_LONGEST = 4096
"""Characters of a line with special ones: no path is longer, and RE2 refuses far longer ones."""

_DIRECTORY = b"ps_d"
"""The group in the expressions of pathspec that matches the / behind a folder."""

_FOLDER, _WHOLE = 1, 2
"""How a line matches: it names a folder above the path, or the path itself, which weighs more (pathspec's order)."""


class InvalidPatternError(ValueError):
    """A line that is not a pattern. `number` counts from 1."""

    def __init__(self, number: int) -> None:
        super().__init__(f"line {number} is not a pattern")
        self.number = number


class IgnorePatterns:
    """The patterns of one file, in their order."""

    __slots__ = ("_by_name", "_by_path", "_lines", "_special")

    def __init__(self, lines: Sequence[str]) -> None:
        """Compile lines. InvalidPatternError for the first that is none."""
        self._lines = lines
        self._by_name: dict[str, list[int]] = {}
        self._by_path: dict[str, list[int]] = {}
        self._special: list[tuple[str, int]] = []  # with the literal part
        for index in _last_of_each(lines):
            self._add(index)

    def _add(self, index: int) -> None:
        name = _split(self._lines[index])[1]
        if not _is_plain(name):
            self._check(index)
            self._special.append((_find_literal(name), index))
        elif "/" in name:
            self._by_path.setdefault(name.removeprefix("/"), []).append(index)
        else:
            self._by_name.setdefault(name, []).append(index)

    def _check(self, index: int) -> None:
        """Only brackets and backslashes, the lack of a name, or its length can make a line invalid."""
        line = self._lines[index]
        if len(line) > _LONGEST:
            raise InvalidPatternError(index + 1)
        if _STARRED.fullmatch(line):
            return
        try:
            _compile(line)
        except ValueError as error:
            raise InvalidPatternError(index + 1) from error

    def find_verdict(self, path: str) -> bool | None:
        """Whether a path is ignored; None if no line matches it or one of its parents."""
        verdict, weighs = None, 0
        for index, weight in sorted((*self._find_plain(path), *self._find_special(path))):
            includes = not self._lines[index].startswith("!")
            if weight >= weighs or (includes and weight == _FOLDER):
                verdict, weighs = includes, weight
        return verdict

    def _find_plain(self, path: str) -> Iterator[tuple[int, int]]:
        steps = path.split("/")
        above: dict[int, int] = {}
        for depth, step in enumerate(steps, start=1):
            weight = _WHOLE if depth == len(steps) else _FOLDER
            for index in (*self._by_name.get(step, ()), *self._by_path.get("/".join(steps[:depth]), ())):
                if weight == _FOLDER or not _split(self._lines[index])[2]:
                    above[index] = weight
        yield from above.items()

    def _find_special(self, path: str) -> Iterator[tuple[int, int]]:
        encoded = path.encode("utf-8", "surrogatepass")
        for literal, index in self._special:
            if literal not in path:
                continue
            expression = _compile(self._lines[index])
            if expression is not None and (found := expression.search(encoded)):
                yield index, _FOLDER if found.groupdict().get(_DIRECTORY) else _WHOLE


def _last_of_each(lines: Sequence[str]) -> Iterable[int]:
    """The index of each line that says something, of equal lines the last: it decides."""
    last = {line: index for index, line in enumerate(lines) if line.strip() and not line.startswith("#")}
    return last.values()


def _split(line: str) -> tuple[bool, str, bool]:
    """Whether a line ignores, the name in it, and whether that is a folder's."""
    name = line.removeprefix("!").rstrip()
    return not line.startswith("!"), name.removesuffix("/"), name.endswith("/")


def _is_plain(name: str) -> bool:
    """Whether a name can be looked up: it stands for itself, and has no empty step but for a / at its start."""
    return bool(name) and _SPECIAL.isdisjoint(name) and all(name.removeprefix("/").split("/"))


def _find_literal(name: str) -> str:
    """A part that a path must have to match; "" if that is hard to tell."""
    if not _SPECIAL.isdisjoint(set(name) - {"*", "?"}):
        return ""
    return max(re.split(r"[*?/]+", name), key=len)


@lru_cache(maxsize=4096)
def _compile(line: str) -> Any:
    """The expression of a line; None if it matches nothing. ValueError if it is not a pattern."""
    import re2  # noqa: PLC0415 - most sources have no such file
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415 - as above

    expression, _ = GitIgnoreSpecPattern.pattern_to_regex(line)
    if expression is None:
        return None
    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    try:
        return re2.compile(expression.encode("utf-8", "surrogatepass"), options)
    except re2.error as error:
        raise ValueError(str(error)) from error
    finally:
        re2.purge()  # re2 itself would keep 128 patterns of any size
