"""Defines how verdicts look: a sign, a tone and a sentence each. No two verdicts differ by colour alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from gitsync.errors import ExitCode
from gitsync.model.check import CheckVerdict
from gitsync.model.result import Outcome, Result
from gitsync.model.verdict import Verdict


class Tone(IntEnum):
    """How urgent a resource is, the most urgent first."""

    STOP = 0  # something is wrong
    DELETE = 1
    DRIFT = 2  # changed in Azure
    CHANGE = 3  # changed in git
    NEW = 4  # Azure does not have it
    WAIT = 5
    REST = 6
    FINE = 7

    @property
    def css(self) -> str:
        return f"tone-{self.name.lower()}"


class VerdictLook(NamedTuple):
    """How a verdict looks on the page."""

    sign: str  # one character, so that no two verdicts differ by colour alone
    tone: Tone
    means: str  # a sentence, also for readers of screens
    rehearsed: str = ""  # its meaning in a plan that compares two revisions

    def choose_meaning(self, *, rehearsed: bool) -> str:
        return (rehearsed and self.rehearsed) or self.means


LOOKS: Final[Mapping[Verdict, VerdictLook]] = {
    Verdict.UNKNOWN: VerdictLook("?", Tone.STOP, "could not be read from Azure; left unchanged"),
    Verdict.INVALID: VerdictLook("✕", Tone.STOP, "the manifest is invalid"),
    Verdict.BLOCKED: VerdictLook("■", Tone.WAIT, "a dependency is missing"),
    Verdict.CONFLICT: VerdictLook("⇄", Tone.DRIFT, "changed both in git and in Azure"),
    Verdict.MISSING: VerdictLook("∅", Tone.DRIFT, "deleted outside git"),
    Verdict.DRIFTED: VerdictLook("≠", Tone.DRIFT, "changed in Azure"),
    Verdict.FAILED_BEFORE: VerdictLook(
        "↻", Tone.CHANGE, "an earlier run failed to write it; the next sync tries again"
    ),
    Verdict.PENDING: VerdictLook("~", Tone.CHANGE, "changed in git", "the revisions differ"),
    Verdict.ADOPT: VerdictLook("→", Tone.CHANGE, "exists in Azure, without a record"),
    Verdict.CREATE: VerdictLook("+", Tone.NEW, "not in Azure yet", "not in the older revision"),
    Verdict.DELETE: VerdictLook("−", Tone.DELETE, "removed from git"),  # noqa: RUF001 - the minus sign is as wide as the plus
    Verdict.DETACH: VerdictLook("○", Tone.REST, "removed from git; stays in Azure"),
    Verdict.HELD: VerdictLook("‖", Tone.WAIT, "differs, and is held until a date"),
    Verdict.SKIP: VerdictLook("·", Tone.REST, "not reconciled because of its policy"),
    Verdict.IN_SYNC: VerdictLook("✓", Tone.FINE, "git and Azure agree", "the revisions agree"),
}
"""The most urgent first; verdicts are listed in this order."""

OUTCOME_LOOKS: Final[Mapping[Outcome, VerdictLook]] = {
    Outcome.FAILED: VerdictLook("!", Tone.STOP, "its read, check or write failed, or its manifest is invalid"),
    Outcome.BLOCKED: VerdictLook("■", Tone.WAIT, "waits for another resource, for Azure or for a person"),
    Outcome.CHANGED: VerdictLook("↑", Tone.CHANGE, "written"),
    Outcome.UNCHANGED: VerdictLook("✓", Tone.FINE, "nothing was written"),
}
"""The same for outcomes, of a sync."""


class ExitLook(NamedTuple):
    """How a run looks, by its exit code."""

    tone: Tone
    means: str


EXITS: Final[Mapping[ExitCode, ExitLook]] = {
    ExitCode.FINE: ExitLook(Tone.REST, "success"),
    ExitCode.FAILED: ExitLook(Tone.STOP, "a resource failed, is invalid or is not Ready"),
    ExitCode.REFUSED: ExitLook(Tone.STOP, "refused before any change"),
    ExitCode.PENDING: ExitLook(Tone.CHANGE, "changes to apply"),
    ExitCode.DRIFT: ExitLook(Tone.DRIFT, "drift found"),
    ExitCode.FAULT: ExitLook(Tone.STOP, "an internal error"),
    ExitCode.INTERRUPTED: ExitLook(Tone.WAIT, "interrupted"),
}
"""The codes that a report may have, by its schema. A run that a signal stops ends with that of the signal, and its
report has that of its results.
"""

_OUTCOME_TONES = {Outcome.FAILED: Tone.STOP, Outcome.BLOCKED: Tone.WAIT}

_CALM = frozenset({Tone.REST, Tone.FINE})

CHECK_TONES: Final = {CheckVerdict.REFUSED: Tone.STOP, CheckVerdict.WARNING: Tone.DRIFT}


def choose_look(result: Result) -> VerdictLook:
    """Choose how a resource looks: as its verdict, unless it failed."""
    return OUTCOME_LOOKS[Outcome.FAILED] if result.outcome is Outcome.FAILED else LOOKS[result.verdict]


def choose_tone(result: Result) -> Tone:
    """Find the tone of a resource: that of its verdict, unless it failed, would be refused, waits, or would have to be
    deleted first.
    """
    if result.is_refused:
        return Tone.STOP
    if result.change.replacement:
        return Tone.DELETE
    tone = _OUTCOME_TONES.get(result.outcome, LOOKS[result.verdict].tone)
    # A change outside of git is as urgent as drift.
    return Tone.DRIFT if result.comparison.outside and tone in _CALM else tone


class BarPart(NamedTuple):
    """A part of a bar: where it starts, how wide it is, and its tone."""

    x: str
    width: str
    tone: Tone


def divide_bar(tones: Mapping[Tone, int], *, start: float, width: float, digits: int) -> Iterator[BarPart]:
    """Divide a bar into parts, one for each tone, the most urgent first; numbers are given with so many digits."""
    count = sum(tones.values())
    for tone in sorted(tones):
        part = width * tones[tone] / count
        yield BarPart(f"{start:.{digits}f}", f"{part:.{digits}f}", tone)
        start += part
