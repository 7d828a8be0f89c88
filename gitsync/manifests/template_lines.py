"""Which line of a template a line of its result was likely made of: helm does not tell.

Lines are compared by their keys: what a template puts in stands behind them, or has lines of its own. A line that is
not in the template has the line before it, or that of the first template that is included.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

_SEPARATOR: Final = re.compile(rb"^[^\S\n]*---")
_INCLUDE: Final = re.compile(rb"\{\{-?\s*(?:include|template)\b")
_KEY: Final = re.compile(rb"[\s\"'-]*([^\s:\"'{][^:{\"']*)[\"']?:(?:\s|\Z)")


def follow_lines(result: bytes, template: bytes) -> tuple[int, ...]:
    """Return the line of the template, from 1, for each line of one document of its result."""
    lines = result.splitlines()
    first, section = _find_section(lines, template.splitlines())
    places: dict[bytes, list[int]] = {}
    for index, line in enumerate(section):
        places.setdefault(_find_key(line), []).append(index)
    found = []
    begin, last = _find_include(section) or 0, -1
    for line in lines:
        if (key := _find_key(line)) and (candidates := places.get(key, [])):
            begin = last = candidates[min(bisect_right(candidates, last), len(candidates) - 1)]
        found.append(first + begin + 1)
    return tuple(found)


def _find_section(lines: Sequence[bytes], template: Sequence[bytes]) -> tuple[int, Sequence[bytes]]:
    """The document of a template that has most of these lines, and the number of lines before it."""
    texts = {line.strip() for line in lines} - {b"", b"---"}
    starts = [0, *(index + 1 for index, line in enumerate(template) if _SEPARATOR.match(line))]
    sections = [(start, template[start:end]) for start, end in zip(starts, [*starts[1:], len(template)], strict=True)]
    return max(
        sections, key=lambda one: (len(texts.intersection(map(bytes.strip, one[1]))), _find_include(one[1]) is not None)
    )


def _find_include(section: Sequence[bytes]) -> int | None:
    """The index of the first line that includes a template; None without one."""
    return next((index for index, line in enumerate(section) if _INCLUDE.search(line)), None)


def _find_key(line: bytes) -> bytes:
    """The key of a line, b"" if it has none."""
    match = _KEY.match(line)
    return match[1].strip() if match else b""
