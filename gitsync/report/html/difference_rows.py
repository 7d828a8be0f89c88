"""Makes the rows that show what differs, for the page of a report and for the site.

A text of several lines (a policy, a script) and what is not a single value are shown as lines that left and came, with
some around them; of two long single values, the part that is not the same is marked.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import unified_diff
from itertools import takewhile
from typing import Any, NamedTuple

from gitsync.model.secret import truncate
from gitsync.model.verdict import Difference
from gitsync.report.escape import format_sides
from gitsync.report.escape import format_value as one_line

MOST_ROWS = 200  # differences of one resource
_MOST_LINES_OF_SIDE = 400  # of one side that has several
_LONGEST_LINE_OF_SIDE = 500  # characters
_AROUND = 3  # lines that are the same, around those that are not


class Side(NamedTuple):
    """One side as one line."""

    start: str  # what both sides start with
    middle: str  # what only this one has
    end: str  # what both end with
    absent: bool  # the side has no value


class DifferenceRow(NamedTuple):
    """A difference: its lines, or else its sides."""

    path: str  # in the body of the request
    why: str  # the reason, "" if the values say it all
    live: Side  # Azure's
    desired: Side  # git's
    lines: Sequence[tuple[str, str]]  # each with the name of its element


def make_difference_row(difference: Difference, name: str) -> DifferenceRow:
    """Make the row of a difference, which names its field so."""
    live, desired = _split_lines(difference.live), _split_lines(difference.desired)
    lines: list[tuple[str, str]] = []
    if len(live) > 1 or len(desired) > 1:
        for line in list(unified_diff(live, desired, n=_AROUND, lineterm=""))[2:]:  # the first two name files
            element = {"-": "del", "+": "ins", "@": "i"}.get(line[:1], "")
            lines.append((element, truncate(line, _LONGEST_LINE_OF_SIDE)))
    return DifferenceRow(name, difference.rule, *_make_sides(difference), lines)


def _split_lines(side: Any) -> list[str]:
    """Split a side into the lines that a person would write it in."""
    if side is None:
        return []
    if isinstance(side, str):
        # A line break at its end alone makes no text of several lines.
        lines = side.splitlines() if "\n" in side.strip() else [one_line(side)]
    elif isinstance(side, dict | list) and side:
        lines = json.dumps(side, indent=2, ensure_ascii=False, sort_keys=True, default=str).splitlines()
    else:
        lines = [one_line(side)]
    return lines if len(lines) <= _MOST_LINES_OF_SIDE else [*lines[:_MOST_LINES_OF_SIDE], f"… ({len(lines):,} lines)"]


def _make_sides(difference: Difference) -> tuple[Side, Side]:
    """Make the two sides of single values."""
    live, desired = format_sides(difference.live, difference.desired)
    gone, came = difference.live is None, difference.desired is None
    # A side without a value shows a word of gitsync, which has nothing in common with a value.
    start, end = (0, 0) if gone or came else _count_same(live, desired)
    return _make_side(live, start, end, absent=gone), _make_side(desired, start, end, absent=came)


def _count_same(first: str, other: str) -> tuple[int, int]:
    """Count how many characters two texts share at their start, and at their end; none where that is less than half."""
    start = _count_prefix(first, other)
    # Of the rest only, so that no character counts twice: `aa` and `aaa` share two.
    end = _count_prefix(first[start:][::-1], other[start:][::-1])
    return (start, end) if (start + end) * 2 >= max(len(first), len(other)) else (0, 0)


def _count_prefix(first: str, other: str) -> int:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, other, strict=False))
    return sum(1 for _ in same)


def _make_side(shown: str, start: int, end: int, *, absent: bool) -> Side:
    if start == end == 0:
        return Side(shown, "", "", absent)
    stop = len(shown) - end
    return Side(shown[:start], shown[start:stop], shown[stop:], absent)
