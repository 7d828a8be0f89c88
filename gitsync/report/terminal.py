"""Formats text for a terminal: columns, as kubectl prints them (left-aligned, three blanks apart, the last one as long
as it is), and colour.

Nothing is ever cut: long text is wrapped at blanks, and a word that is longer than the line, such as an id, exceeds
it. Colour is applied last: the texts contain none, and are the same without it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

_COLUMN_GAP = "   "
_LEAST_LAST = 30  # columns; a narrower last column goes to a line of its own
_BOLD, _RED, _GREEN, _YELLOW = "1", "31", "32", "33"
_WORDS = {
    "Error": _RED,
    "False": _RED,
    "failed": _RED,
    "failed-before": _RED,
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
# A word counts only if it fills a column, with the gaps of a table around it: not inside of a
# message.
_COLUMN = re.compile(r"(?<=   )(" + "|".join(sorted(_WORDS)) + r")(?=   |$)")


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, width: int | None = None) -> list[str]:
    """Format the lines of a table; `width` is the terminal's, None for no limit. Cells hold no
    control characters.
    """
    widths = [max(len(line[column]) for line in (header, *rows)) for column in range(len(header) - 1)]
    last_width = None if width is None else width - sum(columns + len(_COLUMN_GAP) for columns in widths)
    head = header if last_width is None or last_width >= _LEAST_LAST else (*header[:-1], "")
    return [line for row in (head, *rows) for line in _format_row(row, widths, width)]


def _format_row(cells: Sequence[str], widths: Sequence[int], width: int | None) -> list[str]:
    start = "".join(cell.ljust(columns) + _COLUMN_GAP for cell, columns in zip(cells, widths, strict=False))
    last = cells[-1]
    if width is None or not last or len(start) + len(last) <= width:
        return [(start + last).rstrip()]
    last_width = width - len(start)
    if last_width < _LEAST_LAST:
        return [start.rstrip(), *indent(last, width, by=4)]
    first, *continuation = indent(last, last_width, by=0)
    return [start + first, *(" " * len(start) + line for line in continuation)]


def indent(text: str, width: int | None, *, by: int) -> list[str]:
    """Wrap a text at blanks to lines, `by` columns to the right."""
    if width is None:
        return [" " * by + text]
    lines = wrap(text, max(width - by, _LEAST_LAST), break_long_words=False, break_on_hyphens=False)
    return [" " * by + line for line in lines] or [""]


def indent_after(label: str, text: str, width: int | None) -> list[str]:
    """Wrap a text to lines after a label, which begins the first of them."""
    first, *others = indent(text, width, by=len(label))
    return [label + first[len(label) :], *others]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paint:
    """Adds colour if it is on, and returns the text unchanged otherwise."""

    on: bool

    def bold(self, text: str) -> str:
        return self._paint(_BOLD, text)

    def mark_good(self, text: str) -> str:
        return self._paint(_GREEN, text)

    def mark_bad(self, text: str) -> str:
        return self._paint(_RED, text)

    def mark_notable(self, text: str) -> str:
        return self._paint(_YELLOW, text)

    def colour_words(self, line: str) -> str:
        """Colour the verdicts and conditions that fill a column of a table's line."""
        return _COLUMN.sub(lambda match: self._paint(_WORDS[match[0]], match[0]), line) if self.on else line

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on else text
