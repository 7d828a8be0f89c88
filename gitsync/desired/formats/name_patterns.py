"""Patterns of names, such as `hidden-*`: `*` stands for any characters, also none, and case does not count.

Matched in linear time, since manifests are untrusted.
"""

from __future__ import annotations

from typing import Final

ANY_TEXT: Final = "*"


def matches_name(pattern: str, name: str) -> bool:
    """Return whether a pattern matches a complete name. A pattern without `*` matches the same name only."""
    first, *rest = pattern.casefold().split(ANY_TEXT)
    text = name.casefold()
    if not rest:
        return text == first
    *middle, last = rest
    at, end = len(first), len(text) - len(last)
    # The two ends must not share letters: `ab*bc` does not match `abc`.
    if at > end or not (text.startswith(first) and text.endswith(last)):
        return False
    for part in middle:
        # The first match of each part leaves most room for the next ones, so nothing has to be tried again.
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True
