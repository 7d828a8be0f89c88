"""Names in a sentence: the first of many, and how many more there are."""

from __future__ import annotations

from collections.abc import Sequence


def name_first(names: Sequence[object], most: int) -> str:
    """Name at most `most` of many, and count the others: `a, b and 3 more`; "" for no names."""
    more = len(names) - most
    return f"{', '.join(map(str, names[:most]))}{f' and {more} more' if more > 0 else ''}"
