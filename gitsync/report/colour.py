"""Colour on a terminal, applied last: the texts contain none, and are the same without it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_BOLD, _RED, _GREEN, _YELLOW = "1", "31", "32", "33"

_WORDS = {
    "Error": _RED,
    "False": _RED,
    "failed": _RED,
    "drifted": _RED,
    "missing": _RED,
    "conflict": _RED,
    "invalid": _RED,
    "unknown": _RED,
    "blocked": _YELLOW,
    "Warning": _YELLOW,
    "Unknown": _YELLOW,
    "pending": _YELLOW,
    "create": _YELLOW,
    "update": _YELLOW,
    "delete": _YELLOW,
    "replace needed": _RED,
    "detach": _YELLOW,
    "adopt": _YELLOW,
    "True": _GREEN,
    "in-sync": _GREEN,
    "changed": _GREEN,
}
_COLUMN = re.compile(r"(?<=   )(" + "|".join(sorted(_WORDS)) + r")(?=   |$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Paint:
    """Adds colour if it is on, and returns the text unchanged otherwise."""

    on: bool

    def bold(self, text: str) -> str:
        return self._paint(_BOLD, text)

    def good(self, text: str) -> str:
        return self._paint(_GREEN, text)

    def bad(self, text: str) -> str:
        return self._paint(_RED, text)

    def notable(self, text: str) -> str:
        return self._paint(_YELLOW, text)

    def words(self, line: str) -> str:
        """The verdicts and conditions that fill a column of a table's line."""
        return _COLUMN.sub(lambda match: self._paint(_WORDS[match[0]], match[0]), line) if self.on else line

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on else text
