"""The differences of one resource: a row each, with Azure's side and git's, and what decided.

A text of several lines (a policy, a script) and what is not a single value are shown as lines that left and came, with
some around them; of two long single values, the part that is not the same is marked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import takewhile
from typing import Any, NamedTuple

from markupsafe import Markup

from gitsync.model.verdict import Difference
from gitsync.redaction import truncate
from gitsync.report.escape import format_value as one_line
from gitsync.report.html.markup import render_template

_MOST_ROWS = 200  # differences of one resource
_MOST_LINES = 400  # of one side that has several
_LONGEST_LINE = 500  # characters
_AROUND = 3  # lines that are the same, around those that are not


class Side(NamedTuple):
    """One side as one line: what both sides start with, what only this one has, and what both end with."""

    start: str
    middle: str
    end: str
    absent: bool


class Row(NamedTuple):
    """A difference: its lines, each with the name of its element, or else its sides."""

    path: str
    why: str
    live: Side
    desired: Side
    lines: Sequence[tuple[str, str]]


def render_differences(found: Sequence[Difference], before: str) -> Markup:
    """A table of what differs, by path; "" where nothing does. `before` heads the side that git's is compared with."""
    if not found:
        return Markup()
    ordered = sorted(found, key=lambda d: d.path)
    return render_template(
        "differences.html",
        count=len(ordered),
        before=before,
        rows=[_make_row(one) for one in ordered[:_MOST_ROWS]],
        hidden=len(ordered) - _MOST_ROWS,
    )


def _make_row(difference: Difference) -> Row:
    live, desired = _lines(difference.live), _lines(difference.desired)
    several = len(live) > 1 or len(desired) > 1
    return Row(difference.path, difference.rule, *_sides(difference), list(_block(live, desired)) if several else [])


def _lines(side: Any) -> list[str]:
    """A side as the lines that a person would write it in."""
    if side is None:
        return []
    if isinstance(side, str):
        lines = side.splitlines() if "\n" in side.strip() else [one_line(side)]
    elif isinstance(side, dict | list) and side:
        lines = json.dumps(side, indent=2, ensure_ascii=False, sort_keys=True, default=str).splitlines()
    else:
        lines = [one_line(side)]
    return lines if len(lines) <= _MOST_LINES else [*lines[:_MOST_LINES], f"… ({len(lines):,} lines)"]


def _block(live: Sequence[str], desired: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Lines of both sides in one, each with the name of its element."""
    for line in list(unified_diff(live, desired, n=_AROUND, lineterm=""))[2:]:
        yield {"-": "del", "+": "ins", "@": "i"}.get(line[:1], ""), truncate(line, _LONGEST_LINE)


def _sides(difference: Difference) -> tuple[Side, Side]:
    """Two single values side by side."""
    live, desired = one_line(difference.live), one_line(difference.desired)
    gone, came = difference.live is None, difference.desired is None
    start, end = (0, 0) if gone or came else _same(live, desired)
    return _make_side(live, start, end, absent=gone), _make_side(desired, start, end, absent=came)


def _same(one: str, other: str) -> tuple[int, int]:
    """How many characters two texts share at their start, and at their end; none where that is less than half."""
    start = _prefix(one, other)
    end = _prefix(one[start:][::-1], other[start:][::-1])
    return (start, end) if (start + end) * 2 >= max(len(one), len(other)) else (0, 0)


def _prefix(one: str, other: str) -> int:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in same)


def _make_side(shown: str, start: int, end: int, *, absent: bool) -> Side:
    if start == end == 0:
        return Side(shown, "", "", absent)
    stop = len(shown) - end
    return Side(shown[:start], shown[start:stop], shown[stop:], absent)
