r"""Sets of characters, as patterns name them: ranges, classes such as `\d` and `[:alpha:]`, categories of Unicode."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

LAST_POINT: Final = 0x10FFFF
_LOOKS_A_STEP: Final = 8
Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Letters:
    """One character out of a set: ranges of code points, and categories of Unicode (name, whether it must not be)."""

    ranges: Ranges
    categories: tuple[tuple[str, bool], ...] = ()
    negated: bool = False
    fold: bool = False

    @property
    def weight(self) -> int:
        """Additional steps to look up a character: a set may have hundreds."""
        return (len(self.ranges) + len(self.categories)) // _LOOKS_A_STEP

    def holds(self, letter: str) -> bool:
        forms = {letter, letter.lower(), letter.upper()} if self.fold else (letter,)
        return any(self._has(form) for form in forms if len(form) == 1) != self.negated

    def _has(self, letter: str) -> bool:
        point = ord(letter)
        if any(first <= point <= last for first, last in self.ranges):
            return True
        category = unicodedata.category(letter) if self.categories else ""
        return any(category.startswith(name) != absent for name, absent in self.categories)


_DIGITS: Final = ((48, 57),)
_SPACES: Final = ((9, 10), (12, 13), (32, 32))
_WORD: Final = ((48, 57), (65, 90), (95, 95), (97, 122))
POSIX: Final[dict[str, Ranges]] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": _DIGITS,
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": _WORD,
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
CLASSES: Final[dict[str, Ranges]] = {"d": _DIGITS, "s": _SPACES, "w": _WORD}
CATEGORIES: Final = frozenset(
    group + member
    for group, members in (
        ("L", "ultmo"),
        ("M", "nce"),
        ("N", "dlo"),
        ("P", "cdseifo"),
        ("S", "mcko"),
        ("Z", "slp"),
        ("C", "cfso"),
    )
    for member in ("", *members)
)
"""Unicode's general categories, and the groups that they are in."""


def invert_ranges(ranges: Ranges) -> Ranges:
    """All code points that are not in some ranges, which are sorted."""
    starts = (0, *(last + 1 for _, last in ranges))
    ends = (*(first - 1 for first, _ in ranges), LAST_POINT)
    return tuple((start, end) for start, end in zip(starts, ends, strict=True) if start <= end)
