"""Which line of a template a line of its result was likely made of: helm does not tell.

Lines are compared by their keys: what a template puts in stands behind them, or has lines of its own. A line that is
not in the template, such as one of an included template, has the line before it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

_SEPARATOR: Final = re.compile(rb"^[^\S\n]*---")
_KEY: Final = re.compile(rb"[\s\"'-]*([^\s:\"'{][^:{\"']*)[\"']?:(?:\s|\Z)")


def follow_lines(result: bytes, template: bytes) -> tuple[int, ...]:
    """Return the line of the template, from 1, for each line of one document of its result."""
    lines = result.splitlines()
    first, section = _find_section(lines, template.splitlines())
    places: dict[bytes, list[int]] = {}
    for index, line in enumerate(section):
        places.setdefault(_find_key(line), []).append(index)
    found = []
    current = -1
    for line in lines:
        candidates = places.get(_find_key(line), [])
        if candidates and _find_key(line):
            following = bisect_right(candidates, current)
            current = candidates[min(following, len(candidates) - 1)]
        found.append(first + max(current, 0) + 1)
    return tuple(found)


def _find_section(lines: Sequence[bytes], template: Sequence[bytes]) -> tuple[int, Sequence[bytes]]:
    """The document of a template that has most of these lines, and the number of lines before it."""
    texts = {line.strip() for line in lines} - {b"", b"---"}
    starts = [0, *(index + 1 for index, line in enumerate(template) if _SEPARATOR.match(line))]
    sections = [(start, template[start:end]) for start, end in zip(starts, [*starts[1:], len(template)], strict=True)]
    return max(sections, key=lambda one: len(texts.intersection(line.strip() for line in one[1])))


def _find_key(line: bytes) -> bytes:
    """The key of a line, b"" if it has none."""
    match = _KEY.match(line)
    return match[1].strip() if match else b""
