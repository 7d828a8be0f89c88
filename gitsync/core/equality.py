"""When two values mean the same to ARM, though they are spelled otherwise.

Each rule is one row: its name, which reports show, and when it says "equal". A rule compares something; none of them
hides a change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gitsync.core.pointer import Path


@dataclass(frozen=True, slots=True)
class Hints:
    """What the facts know of a kind's values: the spellings of its enumerations."""

    enum_values: frozenset[str] = frozenset()


def equal_leaf(path: Path, desired: Any, live: Any, hints: Hints) -> bool:
    """Tell whether two leaves mean the same: exactly, or by one of the rules."""
    if type(desired) is not type(live):
        return _same_number(desired, live)
    if desired == live:
        return True
    return isinstance(desired, str) and any(rule(path, desired, live, hints) for rule in TEXT_RULES)


def _same_number(desired: Any, live: Any) -> bool:
    numbers = isinstance(desired, int | float) and isinstance(live, int | float)
    return numbers and not isinstance(desired, bool) and not isinstance(live, bool) and desired == live


def _region(path: Path, desired: str, live: str, _hints: Hints) -> bool:
    """ARM ignores case and blanks in regions: "West Europe" is "westeurope" (resource-provider contract)."""
    step = next((s for s in reversed(path) if isinstance(s, str)), "")
    names_region = step.casefold().endswith(("location", "locations", "locationname"))
    return names_region and _squeezed(desired) == _squeezed(live)


def _arm_id(_path: Path, desired: str, live: str, _hints: Hints) -> bool:
    """ARM ids compare without case (resource-provider contract)."""
    return _looks_like_arm_id(desired) and desired.casefold() == live.casefold()


def _enum(_path: Path, desired: str, live: str, hints: Hints) -> bool:
    """Providers answer enumerations in a case of their own."""
    return desired in hints.enum_values and desired.casefold() == live.casefold()


TEXT_RULES: tuple[Callable[[Path, str, str, Hints], bool], ...] = (_region, _arm_id, _enum)


def _squeezed(text: str) -> str:
    return text.replace(" ", "").casefold()


def _looks_like_arm_id(text: str) -> bool:
    return text.casefold().startswith(("/subscriptions/", "/providers/"))
