"""Formats text for a terminal: columns, as kubectl prints them (left-aligned, three blanks apart, the last one as long
as it is), and colour.

Nothing is ever cut: long text is wrapped at blanks, and a word that is longer than the line, such as an id, exceeds it.
Colour is applied last: the texts contain none, and are the same without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

_COLUMN_GAP = "   "
_LEAST_LAST = 30  # columns; a narrower last column goes to a line of its own
_INDENT = 4  # columns, of the lines of a row after its first
_BOLD, _RED, _GREEN, _YELLOW = "1", "31", "32", "33"
_WORDS = {
    "Error": _RED,
    "False": _RED,
    "failed": _RED,
    "failed-before": _RED,
    "drifted": _RED,
    "missing": _RED,
    "update, drifted": _RED,
    "update, conflict": _RED,
    "create, missing": _RED,
    "update, adopt": _YELLOW,
    "conflict": _RED,
    "invalid": _RED,
    "unknown": _RED,
    "blocked": _YELLOW,
    "held": _YELLOW,
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
# A word counts only if it fills a column, with the gaps of a table around it: not inside of a message.
_COLUMN = re.compile(r"(?<=   )(" + "|".join(sorted(_WORDS)) + r")(?=   |$)")


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, width: int | None = None) -> list[str]:
    """Format the lines of a table; `width` is the terminal's, None for no limit. Cells hold no control characters.
    Columns that are empty in every row are left out.
    """
    shown = [column for column in range(len(header)) if not rows or any(row[column] for row in rows)]
    lines = [[line[column] for column in shown] for line in (header, *rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    stacked = _stack_columns(widths, width)
    if len(stacked) > 1 and len(stacked[-1]) == 1:
        lines[0][-1] = ""  # what is below all others needs no title
    return [line for cells in lines for line in _format_row(cells, stacked, widths, width)]


def _stack_columns(widths: Sequence[int], width: int | None) -> list[list[int]]:
    """Share the columns among lines, as many in each as fit."""
    stacked: list[list[int]] = [[]]
    room = width or 0
    for column, columns in enumerate(widths):
        is_last = column == len(widths) - 1
        # The last one is wrapped, so it only needs room for some words.
        needed = min(columns, _LEAST_LAST) if is_last else columns
        if width is not None and stacked[-1] and needed > room:
            stacked.append([])
            room = width - _INDENT
        stacked[-1].append(column)
        room -= columns + len(_COLUMN_GAP)
    return stacked


def _format_row(
    cells: Sequence[str], stacked: Sequence[Sequence[int]], widths: Sequence[int], width: int | None
) -> Iterator[str]:
    for number, columns in enumerate(stacked):
        margin = " " * _INDENT if number else ""
        start = margin + "".join(cells[column].ljust(widths[column]) + _COLUMN_GAP for column in columns[:-1])
        last = cells[columns[-1]]
        lines = indent_after(start, last, width) if last else [start.rstrip()]
        yield from (line.rstrip() for line in lines if line.strip())


def indent(text: str, width: int | None, *, by: int) -> list[str]:
    """Wrap a text at blanks to lines, `by` columns to the right."""
    if width is None:
        return [" " * by + text]
    lines = wrap(text, max(width - by, _LEAST_LAST), break_long_words=False, break_on_hyphens=False)
    # `wrap` makes no line of a text of blanks.
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
