""""Did you mean": the known word that is nearest to one that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

CLOSE_ENOUGH = 0.6


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`; None where none is like it. Case counts for nothing."""
    by_folded: dict[str, str] = {}
    for candidate in sorted(known):
        by_folded.setdefault(candidate.casefold(), candidate)
    found = get_close_matches(word.casefold(), by_folded, n=1, cutoff=CLOSE_ENOUGH)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The sentence for a hint, or "" where nothing is like the word."""
    found = nearest(word, known)
    return f"Did you mean {found!r}?" if found else ""
