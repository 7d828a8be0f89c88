"""Suggests spellings: the known name that is nearest to a misspelt one.

Separate, because fields, kinds, versions, annotations, owners and references all use it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

_MOST_EDITS = 3
_TOO_LONG = 100


def suggest(word: str, choices: Iterable[str]) -> str | None:
    """Suggest the choice that `word` was meant to be, or None: equal but for case, `-` and `_`,
    else the fewest edits away.

    At most one edit for every three characters and never more than three; ties go to the first in
    sorted order.
    """
    ordered = sorted(set(choices) - {word})
    normalized = _normalize(word)
    for choice in ordered:
        if _normalize(choice) == normalized:
            return choice
    limit = min(_MOST_EDITS, max(1, len(word) // 3))
    if len(word) > _TOO_LONG:
        return None
    best: tuple[int, str] | None = None
    folded = word.casefold()
    for choice in ordered:
        other = choice.casefold()
        if _find_least_edits(folded, other) > limit:
            continue
        edits = measure_distance(folded, other, limit)
        if edits is not None and (best is None or edits < best[0]):
            best = (edits, choice)
    return best[1] if best else None


@lru_cache(maxsize=4096)
def _count_letters(word: str) -> Mapping[str, int]:
    return Counter(word)


def _find_least_edits(one: str, other: str) -> int:
    """Count the letters that one word has and the other lacks: at least as many edits lie between
    them, and it is cheaper to find out.
    """
    letters = _count_letters(other)
    lacking = sum(max(0, count - letters.get(letter, 0)) for letter, count in _count_letters(one).items())
    return max(lacking, lacking + len(other) - len(one))


def measure_distance(one: str, other: str, limit: int) -> int | None:
    """Measure how many insertions, deletions, replacements and swaps of neighbours lie between two
    words (optimal string alignment); None for more than `limit`.
    """
    if abs(len(one) - len(other)) > limit:
        return None
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        before, above, row = row, before, [i]
        row = _fill_row(before, above, row, letter, (one[i - 2] if i > 1 else "", other))
        if min(row) > limit and min(before) > limit:  # a swap looks back two rows
            return None
    return row[-1] if row[-1] <= limit else None


def _fill_row(before: list[int], above: list[int], row: list[int], letter: str, words: tuple[str, str]) -> list[int]:
    last, other = words
    for j, facing in enumerate(other, start=1):
        edits = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != facing))
        if j > 1 and letter == other[j - 2] and last == facing:
            edits = min(edits, above[j - 2] + 1)
        row.append(edits)
    return row


def _normalize(word: str) -> str:
    return word.casefold().replace("-", "").replace("_", "")
