"""Suggests spellings: the known name that is nearest to a misspelt one.

Separate, because fields, kinds, versions, annotations, owners and references all use it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

_MOST_EDITS = 3
_TOO_LONG = 100
_TIMES = 4  # as often as a letter counts


def suggest(word: str, choices: Iterable[str]) -> str | None:
    """Suggest the choice that `word` was meant to be, or None: equal but for case, `-` and `_`, else the fewest edits
    away.

    At most one edit for every three characters and never more than three; ties go to the first in sorted order.
    """
    others = set(choices) - {word}
    normalized = _normalize(word)
    equal = min((choice for choice in others if _normalize(choice) == normalized), default=None)
    # The alignment takes the product of both lengths, and manifests are untrusted.
    if equal is not None or len(word) > _TOO_LONG:
        return equal
    limit = min(_MOST_EDITS, max(1, len(word) // 3))
    folded = word.casefold()
    measured = ((measure_distance(folded, choice.casefold(), limit), choice) for choice in others)
    near = min(((edits, choice) for edits, choice in measured if edits is not None), default=None)
    return near[1] if near else None


def measure_distance(first: str, other: str, limit: int) -> int | None:
    """Measure how many insertions, deletions, replacements and swaps of neighbours lie between two words (optimal
    string alignment); None for more than `limit`.
    """
    if abs(len(first) - len(other)) > limit or _count_least_edits(first, other) > limit:
        return None
    return _align(first, other, limit)


def _count_least_edits(first: str, other: str) -> int:
    """Count the letters that one word has and the other lacks: at least as many edits lie between them, and it is
    cheaper to find out.
    """
    ours, theirs = _collect_letters(first), _collect_letters(other)
    return max((ours & ~theirs).bit_count(), (theirs & ~ours).bit_count())


@lru_cache(maxsize=4096)
def _collect_letters(word: str) -> int:
    """Collect the letters of a word in a number, with a bit for each time that a letter occurs. Letters that share
    their bits, and more than `_TIMES` of one letter, only make words more alike.
    """
    letters = 0
    for letter, count in Counter(word).items():
        letters |= ((1 << min(count, _TIMES)) - 1) << (ord(letter) % 128 * _TIMES)
    return letters


@lru_cache(maxsize=4096)  # the same slip is often in many documents
def _align(first: str, other: str, limit: int) -> int | None:
    first, other = _strip_shared(first, other)
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(first, start=1):
        before, above, row = row, before, [i]
        row = _fill_row(before, above, row, letter, (first[i - 2] if i > 1 else "", other))
        if min(row) > limit and min(before) > limit:  # a swap looks back two rows
            return None
    return row[-1] if row[-1] <= limit else None


def _strip_shared(first: str, other: str) -> tuple[str, str]:
    """Strip the letters that both words begin and end with: the fewest edits leave them as they are."""
    start = _count_shared(first, other)
    first, other = first[start:], other[start:]
    end = _count_shared(first[::-1], other[::-1])
    return first[: len(first) - end], other[: len(other) - end]


def _count_shared(first: str, other: str) -> int:
    """Count the letters that both words begin with."""
    pairs = enumerate(zip(first, other, strict=False))
    return next((at for at, (ours, theirs) in pairs if ours != theirs), min(len(first), len(other)))


def _fill_row(before: list[int], above: list[int], row: list[int], letter: str, words: tuple[str, str]) -> list[int]:
    last, other = words
    for j, facing in enumerate(other, start=1):
        edits = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != facing))
        if j > 1 and letter == other[j - 2] and last == facing:
            edits = min(edits, above[j - 2] + 1)
        row.append(edits)
    return row


@lru_cache(maxsize=4096)
def _normalize(word: str) -> str:
    return word.casefold().replace("-", "").replace("_", "")
