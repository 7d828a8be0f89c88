"""Decide from the observed state: the verdict and the action."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gitsync.desired.formats.ignored_paths import Paths, remove_paths
from gitsync.model.live import Live
from gitsync.model.record import Claim, Record
from gitsync.model.verdict import Action, Comparison, Verdict
from gitsync.planning.diff.hints import Hints
from gitsync.planning.diff.three_way import Remembered, compare
from gitsync.planning.record_counts import decide_generation


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRules:
    """The settings that decide whether a resource is written."""

    adopts: bool = True
    always_put: bool = False


def find_remembered(record: Record | None, api_version: str, ignored: Paths = ()) -> Remembered | None:
    """Return what a comparison takes from a record: nothing without a claim, nothing that another api-version showed,
    and no ignored paths.
    """
    if record is None or record.spec.applied is None or not record.claim.is_ours:
        return None
    # Another api-version returns other members, so the answer to the old one is not a baseline for this one.
    is_same_version = record.arm_api_version == api_version
    baseline, outside = (record.spec.baseline, record.spec.outside) if is_same_version else (None, None)
    undone = frozenset(record.writes.failure.paths if record.writes.failure else ())
    return Remembered(remove_paths(record.spec.applied, ignored), remove_paths(baseline, ignored), undone, outside)


def decide_absent(record: Record | None) -> tuple[Comparison, Action]:
    """Decide about a resource that does not exist: create it. It is missing if gitsync owned it, unless gitsync itself
    has deleted it to replace it.
    """
    if record is None or not record.claim.is_ours:
        return Comparison(verdict=Verdict.CREATE), Action.CREATE
    return Comparison(verdict=Verdict.PENDING if record.is_replacing else Verdict.MISSING), Action.CREATE


def decide_present(
    desired: Mapping[str, Any],
    live: Live,
    remembered: Remembered | None,
    write_rules: WriteRules,
    hints: Hints,
    ignored: Paths = (),
) -> tuple[Comparison, Action]:
    """Decide about a resource that exists: write it if something differs or its last operation failed.

    `ignored` are paths of the live body to ignore; `desired` and `remembered` are without them already.
    """
    comparison = compare(desired, remove_paths(live.body, ignored), remembered, hints)
    # Nothing on record shows that gitsync may write this resource, whatever differs.
    if comparison.verdict is Verdict.ADOPT and not write_rules.adopts:
        return comparison, Action.NONE
    # A failed operation may have stored the body without applying it, so an equal body is not enough.
    if live.has_failed and comparison.verdict is Verdict.IN_SYNC:
        comparison = replace(comparison, verdict=Verdict.DRIFTED)
    must_write = bool(comparison.differences) or live.has_failed or write_rules.always_put
    return comparison, Action.UPDATE if must_write else Action.NONE


def decide_unreadable(desired: Mapping[str, Any], remembered: Remembered | None) -> tuple[Comparison, Action]:
    """Decide about a resource that exists, of a kind that supports HEAD only: write it if git changed."""
    if remembered is None:
        return Comparison(verdict=Verdict.ADOPT), Action.NONE
    # HEAD shows no body, so only a change in git can be noticed, never one in Azure.
    if remembered.applied == desired:
        return Comparison(verdict=Verdict.IN_SYNC), Action.NONE
    return Comparison(verdict=Verdict.PENDING), Action.UPDATE


def recognize_failure(
    comparison: Comparison, record: Record | None, live: Live | None, spec: Mapping[str, Any]
) -> Comparison:
    """Return the comparison with the verdict FAILED_BEFORE if all that differs is what a failed write of an earlier run
    left undone. What git or Azure changed since keeps its verdict.
    """
    has_failed = live is not None and live.has_failed
    if record is None or not (record.writes.failure or has_failed):
        return comparison
    verdict, failure = comparison.verdict, record.writes.failure
    # A write ended well once: without one, nothing can have drifted since.
    has_settled = record.spec.baseline is not None
    # A failed state without a difference and with a failure on record is that failure, and not a change in Azure.
    is_moved = has_settled and (failure is None or bool(comparison.differences))
    if verdict is Verdict.MISSING and failure and failure.kind == Action.CREATE and not has_settled:
        verdict = Verdict.CREATE  # it never existed, so it was not deleted outside git
    elif verdict in {Verdict.DRIFTED, Verdict.CONFLICT} and not is_moved:
        verdict = Verdict.PENDING  # the difference is what the failed write left undone, not a change in Azure
    tried = failure.generation if failure else None if has_settled else record.spec.generation
    if verdict in {Verdict.CREATE, Verdict.PENDING} and tried == decide_generation(record, spec).generation:
        verdict = Verdict.FAILED_BEFORE
    return replace(comparison, verdict=verdict)


def decide_claim(record: Record | None, *, sent: bool, existed: bool, differed: bool) -> Claim:
    """Return the claim by which gitsync owns a resource that exists.

    If a run was interrupted after its first write, the record only shows that a create was expected: a resource equal
    to the desired state then counts as created by it.
    """
    if record is not None and record.claim.is_ours:
        return record.claim
    # Only what was absent and then sent is a create: an adopted resource must not count as one when it is deleted.
    if sent and not existed:
        return Claim.CREATED
    expected = record is not None and record.claim is Claim.EXPECTED
    return Claim.CREATED if expected and not differed else Claim.ADOPTED
