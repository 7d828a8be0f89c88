"""How verdicts look: a sign, a tone and a sentence each. Colour alone never tells two of them apart."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from gitsync.model.result import Result
from gitsync.model.verdict import Verdict


class Tone(IntEnum):
    """How much a resource wants to be looked at, the most urgent first."""

    STOP = 0  # something is wrong
    DRIFT = 1  # Azure has moved
    CHANGE = 2  # git has moved
    REST = 3
    FINE = 4

    @property
    def css(self) -> str:
        return f"tone-{self.name.lower()}"


class Look(NamedTuple):
    """`rehearsed` is what it means where an older revision stands for Azure."""

    sign: str
    tone: Tone
    means: str
    rehearsed: str = ""

    def meaning(self, *, rehearsed: bool) -> str:
        return (rehearsed and self.rehearsed) or self.means


LOOKS: Final[Mapping[Verdict, Look]] = {
    Verdict.UNKNOWN: Look("?", Tone.STOP, "Azure gave no usable answer; nothing was decided"),
    Verdict.INVALID: Look("✕", Tone.STOP, "its manifest is wrong"),
    Verdict.BLOCKED: Look("■", Tone.STOP, "something that it needs is not there"),
    Verdict.CONFLICT: Look("⇄", Tone.DRIFT, "git and Azure have both moved"),
    Verdict.MISSING: Look("∅", Tone.DRIFT, "Azure has lost it"),
    Verdict.DRIFTED: Look("≠", Tone.DRIFT, "Azure has moved"),
    Verdict.PENDING: Look("~", Tone.CHANGE, "git has moved", "they ask for different things"),
    Verdict.CREATE: Look("+", Tone.CHANGE, "Azure has none", "the older revision has none"),
    Verdict.ADOPT: Look("→", Tone.CHANGE, "it exists, and is not recorded as ours"),
    Verdict.DELETE: Look("−", Tone.CHANGE, "git no longer names it"),  # noqa: RUF001 - the minus sign is as wide as the plus
    Verdict.DETACH: Look("○", Tone.REST, "git no longer names it; it stays in Azure"),
    Verdict.SKIP: Look("·", Tone.REST, "its policy leaves it alone"),
    Verdict.IN_SYNC: Look("✓", Tone.FINE, "git and Azure agree", "they ask for the same"),
}
"""The most urgent first, which is the order in which verdicts are listed."""

_ORDER = {verdict: number for number, verdict in enumerate(LOOKS)}


def find_order(verdict: Verdict) -> int:
    """Where a verdict stands in lists."""
    return _ORDER[verdict]


def find_tone(result: Result) -> Tone:
    """The tone of a resource: that of its verdict, unless it failed."""
    return LOOKS[result.verdict].tone if result.is_fine else Tone.STOP
