"""Defines how the words of the site look: states and verdicts as in the report, events, and whose an operation was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitsync.model.result import Outcome
from gitsync.model.verdict import OUTSIDE_WORD, Verdict
from gitsync.report.html.looks import LOOKS, OUTCOME_LOOKS, Tone, VerdictLook
from gitsync.report.site.shapes import EventKind

_FINE, _BLOCKED, _CHANGED, _FAILED = (
    OUTCOME_LOOKS[outcome] for outcome in (Outcome.UNCHANGED, Outcome.BLOCKED, Outcome.CHANGED, Outcome.FAILED)
)

_STATES: Mapping[str, VerdictLook] = {
    "untrusted": VerdictLook("⚠", Tone.STOP, "the seal of its record does not fit"),
    Outcome.FAILED.value: _FAILED,
    **{verdict.value: look for verdict, look in LOOKS.items()},
    OUTSIDE_WORD: VerdictLook("≈", Tone.DRIFT, "changed in Azure in values that git does not set"),
    "replacing": VerdictLook("⟳", Tone.DELETE, "deleted in Azure, to be created again"),
    "waiting": _BLOCKED,
    "ready": VerdictLook(_FINE.sign, Tone.FINE, "Azure has what git wants"),
}

STATES: Final = dict(sorted(_STATES.items(), key=lambda item: item[1].tone))
"""The worst first; of those with the same tone, as the report lists them."""

EVENTS: Final[Mapping[EventKind, VerdictLook]] = {
    "failed": _FAILED,
    "unreadable": VerdictLook("?", Tone.STOP, "its record cannot be read at this commit"),
    "removed": VerdictLook("−", Tone.DELETE, "its record is gone: deleted, or no longer managed"),  # noqa: RUF001 - the minus sign is as wide as the plus
    "drifted": LOOKS[Verdict.DRIFTED],
    "repaired": VerdictLook("↺", Tone.CHANGE, "written after a change in Azure"),
    "updated": VerdictLook(_CHANGED.sign, Tone.CHANGE, "written after a change in git"),
    "adopted": VerdictLook(LOOKS[Verdict.ADOPT].sign, Tone.CHANGE, "found in Azure, and managed from then on"),
    "generation": VerdictLook(LOOKS[Verdict.PENDING].sign, Tone.CHANGE, "its manifest changed"),
    "created": VerdictLook(LOOKS[Verdict.CREATE].sign, Tone.NEW, "created in Azure"),
    "waiting": _BLOCKED,
    "held": LOOKS[Verdict.HELD],
    "released": VerdictLook("▶", Tone.REST, "its hold ended"),
    "expected": VerdictLook("…", Tone.REST, "recorded before it was created"),
    "recorded": VerdictLook("·", Tone.REST, "its record begins, without a claim"),
    "moved": VerdictLook("→", Tone.REST, "its manifest is in another file"),
    "renamed": VerdictLook("↦", Tone.REST, "its ARM id changed"),
    "policy": VerdictLook("◇", Tone.REST, "its reconcile policy changed"),
    "settled": VerdictLook("≡", Tone.FINE, "a change in Azure is gone"),
    "ready": VerdictLook(_FINE.sign, Tone.FINE, "became Ready"),
}
"""The worst first."""

ORIGINS: Final[Mapping[str, VerdictLook]] = {
    "other": VerdictLook("≠", Tone.DRIFT, "by others"),
    "unmanaged": VerdictLook("○", Tone.DRIFT, "no manifest declares it"),
    "unknown": VerdictLook("?", Tone.WAIT, "it is not known who it was"),
    "ours": VerdictLook("↑", Tone.CHANGE, "by one of the identities that runs use, in no run on record"),
    "run": VerdictLook(_FINE.sign, Tone.FINE, "by a run on record"),
    "managed": VerdictLook(_FINE.sign, Tone.FINE, "a manifest declares it"),
}
"""Whose an operation or a resource is, in an audit and in the coverage."""
