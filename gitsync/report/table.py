"""Columns of text, as kubectl prints them: left-aligned, three blanks apart, the last one as long as it is.

Nothing is ever cut: long text is wrapped at blanks, and a word that is longer than the line, such as an id, exceeds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

_GAP = "   "
_LEAST_LAST = 30  # columns; a narrower last column goes to a line of its own


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, width: int | None = None) -> list[str]:
    """The lines of a table; `width` is the terminal's, None for no limit. Cells hold no control characters."""
    widths = [max(len(line[column]) for line in (header, *rows)) for column in range(len(header) - 1)]
    last_width = None if width is None else width - sum(columns + len(_GAP) for columns in widths)
    head = header if last_width is None or last_width >= _LEAST_LAST else (*header[:-1], "")
    return [line for row in (head, *rows) for line in _format_row(row, widths, width)]


def _format_row(cells: Sequence[str], widths: Sequence[int], width: int | None) -> list[str]:
    start = "".join(cell.ljust(columns) + _GAP for cell, columns in zip(cells, widths, strict=False))
    last = cells[-1]
    if width is None or not last or len(start) + len(last) <= width:
        return [(start + last).rstrip()]
    last_width = width - len(start)
    if last_width < _LEAST_LAST:
        return [start.rstrip(), *indent(last, width, by=4)]
    first, *continuation = indent(last, last_width, by=0)
    return [start + first, *(" " * len(start) + line for line in continuation)]


def indent(text: str, width: int | None, *, by: int) -> list[str]:
    """Lines of a text, wrapped at blanks, `by` columns to the right."""
    if width is None:
        return [" " * by + text]
    lines = wrap(text, max(width - by, _LEAST_LAST), break_long_words=False, break_on_hyphens=False)
    return [" " * by + line for line in lines] or [""]


def indent_after(label: str, text: str, width: int | None) -> list[str]:
    """Lines of a text after a label, which begins the first of them."""
    first, *others = indent(text, width, by=len(label))
    return [label + first[len(label) :], *others]
