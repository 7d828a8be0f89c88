"""How long texts are shortened where what matters may be far from their beginnings."""

import re
from bisect import bisect_left

AROUND = 50
"""Characters that are kept before the first one in which two texts differ."""


def cut_middle(text: str, most: int) -> str:
    """Shorten a text to `most` characters, with an ellipsis in its middle: both ends stay."""
    tail = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - tail]}…{text[-tail:]}"


def cut_end(text: str, most: int) -> str:
    """Shorten a text to its first `most` characters, with its length behind them."""
    return text if len(text) <= most else f"{text[:most]}… ({count_characters(text):,} characters)"


def count_characters(text: str) -> int:
    """Count the characters that a text had before `leave_out_equal_start` and `cut_end` shortened it, if they did."""
    if cut := _CUT.search(text, max(0, len(text) - _LONGEST_MARK)):
        return int(cut[1].replace(",", ""))
    start = _LEFT_OUT.match(text)
    return len(text) if start is None else int(start[1].replace(",", "")) + len(text) - start.end()


_CUT = re.compile(r"… \(([\d,]{1,20}) characters\)$", re.ASCII)
_LEFT_OUT = re.compile(r"… ([\d,]{1,20}) equal characters …", re.ASCII)
_LONGEST_MARK = 40  # characters


def leave_out_equal_start(first: str, other: str, most: int) -> tuple[str, str]:
    """Replace the equal start of two texts by its length, if their first `most` characters would not show a difference
    between them. Equal texts stay as they are.
    """
    equal = count_equal_start(first, other)
    if first == other or equal + AROUND <= most:
        return first, other
    left_out = equal - AROUND
    mark = f"… {left_out:,} equal characters …"
    return mark + first[left_out:], mark + other[left_out:]


def count_equal_start(first: str, other: str) -> int:
    """Count the characters that two texts have in common at their beginnings."""
    most, start = min(len(first), len(other)), 0
    while start < most:  # by parts, since a comparison of slices costs no step for each character
        part = slice(start, start + _PART)
        if first[part] != other[part]:
            lengths = range(1, min(_PART, most - start) + 1)
            return start + bisect_left(
                lengths, True, key=lambda length: first[start : start + length] != other[start : start + length]
            )
        start += _PART
    return most


_PART = 4096
