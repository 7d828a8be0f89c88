"""The differences of one resource: a row each, with Azure's side and git's, and what decided.

A text of several lines (a policy, a script) and what is not a single value are shown as lines that left and came, with
some around them; of two long single values, the part that is not the same is marked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import takewhile
from typing import Any

from gitsync.model.verdict import Difference
from gitsync.redaction import truncate
from gitsync.report.escape import format_value as one_line
from gitsync.report.headline import format_plural
from gitsync.report.html.markup import BREAK, NOTHING, Markup, code, element, joined, table, text

_MOST_ROWS = 200  # differences of one resource
_MOST_LINES = 400  # of one side that has several
_LONGEST_LINE = 500  # characters
_AROUND = 3  # lines that are the same, around those that are not


def render_differences(found: Sequence[Difference], before: str) -> Markup:
    """A table of what differs, by path; "" where nothing does. `before` heads the side that git's is compared with."""
    ordered = sorted(found, key=lambda d: d.path)
    if not ordered:
        return NOTHING
    caption, head = text(format_plural(len(ordered), "difference")), ("Path", before, "git", "Why")
    shown = table(caption, head, (_row(one, before) for one in ordered[:_MOST_ROWS]), class_="diff")
    hidden = len(ordered) - _MOST_ROWS
    left_out = f"… and {format_plural(hidden, 'more difference')}, left out to keep this page small."
    return joined([shown, element("p", text(left_out), class_="note")] if hidden > 0 else [shown])


def _row(difference: Difference, before: str) -> Markup:
    live, desired = _lines(difference.live), _lines(difference.desired)
    several = len(live) > 1 or len(desired) > 1
    sides = _block(live, desired, before) if several else _sides(difference, before)
    why = element("td", text(difference.rule), class_="why", data_title="Why")
    return element("tr", element("th", code(difference.path), scope="row"), sides, why)


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


def _block(live: Sequence[str], desired: Sequence[str], before: str) -> Markup:
    """Lines of both sides in one, across both columns."""
    changed = list(unified_diff(live, desired, n=_AROUND, lineterm=""))[2:]
    lines = joined((_line(line) for line in changed), BREAK)
    whose = (element("del", text(f"- {before}")), text(" "), element("ins", text("+ git")))
    return element("td", element("p", *whose, class_="note"), element("pre", lines, tabindex=0), colspan=2)


def _line(line: str) -> Markup:
    shown = text(truncate(line, _LONGEST_LINE))
    name = {"-": "del", "+": "ins", "@": "i"}.get(line[:1])
    return element(name, shown) if name else shown


def _sides(difference: Difference, before: str) -> Markup:
    """Two single values side by side."""
    live, desired = one_line(difference.live), one_line(difference.desired)
    gone, came = (difference.live is not None), (difference.desired is not None)
    start, end = _same(live, desired) if gone and came else (0, 0)
    cells = (
        element("td", _side(live, start, end, "del" if gone else ""), class_="live", data_title=before),
        element("td", _side(desired, start, end, "ins" if came else ""), class_="desired", data_title="git"),
    )
    return joined(cells)


def _same(one: str, other: str) -> tuple[int, int]:
    """How many characters two texts share at their start, and at their end; none where that is less than half."""
    start = _prefix(one, other)
    end = _prefix(one[start:][::-1], other[start:][::-1])
    return (start, end) if (start + end) * 2 >= max(len(one), len(other)) else (0, 0)


def _prefix(one: str, other: str) -> int:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in same)


def _side(shown: str, start: int, end: int, name: str) -> Markup:
    if not name:
        return element("span", text(shown), class_="absent")
    return element(name, element("code", *_marked(shown, start, end)))


def _marked(shown: str, start: int, end: int) -> Iterator[Markup]:
    if start == end == 0:
        yield text(shown)
        return
    stop = len(shown) - end
    yield text(shown[:start])
    if shown[start:stop]:
        yield element("mark", text(shown[start:stop]))
    yield text(shown[stop:])
