"""What changed in Azure outside of the fields that git sets, what the record keeps of it, and what a write would reset
(docs/drift.md#outside-changes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitsync.agent.reconcile.attempt import ApplyAttempt
from gitsync.agent.reconcile.rules import OutsideUse
from gitsync.desired.formats.ignored_paths import keep_live_paths
from gitsync.desired.request.secret_digest import Digests, mask_digests
from gitsync.model.outside import OutsideChange, RecordedOutside
from gitsync.model.provider import Provider
from gitsync.model.record import Claim
from gitsync.model.verdict import Action
from gitsync.planning.actions import find_remembered
from gitsync.planning.outside.recorded_outside import OutsideView, is_current
from gitsync.planning.outside.resets import list_resets
from gitsync.planning.outside.restoring import find_unit
from gitsync.planning.removed_values import retain_removed


def find_outside_changes(attempt: ApplyAttempt, digests: Digests) -> ApplyAttempt:
    """Find what changed outside of git's fields since the record was made, before anything is written."""
    live, remembered = attempt.observed.live, attempt.remembered
    # A resource on its way to another state may show values that do not stay.
    if live is None or remembered is None or remembered.outside is None or attempt.write.tried or live.is_moving:
        return attempt
    view = make_view(attempt, digests)
    if view.is_plainly_unchanged(remembered.outside, live.body):
        return attempt
    changes = view.find_changes(
        remembered.outside, live.body, _list_covers(attempt), is_partial=attempt.observed.is_listed
    )
    return attempt.with_decision(replace(attempt.decision, outside=changes))


def is_outside_recorded(attempt: ApplyAttempt) -> bool:
    """Return whether the record has what Azure shows beside git's fields, and the changes that were found there."""
    if not _has_outside(attempt):
        return True
    recorded = attempt.remembered.outside if attempt.remembered else None
    changed = tuple(sorted(change.path for change in attempt.decision.outside))
    return recorded is not None and is_current(recorded) and changed == recorded.changed


def find_still_changed(attempt: ApplyAttempt, digests: Digests) -> tuple[OutsideChange, ...]:
    """Find which of the changes that were found before the first write Azure still shows."""
    former, live = find_remembered(attempt.record, attempt.api_version, attempt.ignored), attempt.observed.live
    if live is None or former is None or not attempt.write.tried:
        return attempt.decision.outside
    covers = (attempt.desired, mask_digests(former.applied))
    known = {find_unit(change.path) for change in attempt.decision.outside}
    changes = make_view(attempt, digests).find_changes(former.outside, live.body, covers)
    return tuple(change for change in changes if find_unit(change.path) in known)


def select_outside_now(attempt: ApplyAttempt, digests: Digests) -> RecordedOutside | None:
    """Return the record of what Azure shows now."""
    live = attempt.observed.live
    return make_view(attempt, digests).record(live.body, attempt.desired) if live else None


def foresee_resets(attempt: ApplyAttempt, digests: Digests) -> ApplyAttempt:
    """Find what the PUT of an update leaves out, so that Azure may reset it."""
    live, remembered = attempt.observed.live, attempt.remembered
    if live is None or not _has_outside(attempt) or attempt.is_patched or attempt.write.tried:
        return attempt
    recorded = remembered.outside if remembered else None
    has_record = recorded is not None and is_current(recorded)
    body = keep_live_paths(attempt.filled_request.body, live.body, attempt.ignored)
    resets = list_resets(
        make_view(attempt, digests),
        live.body,
        # What git gave up is a difference already.
        retain_removed(body, mask_digests(remembered.applied)) if remembered else body,
        attempt.decision.outside if has_record else None,
        is_first=recorded is None or not recorded.is_written,
    )
    return attempt.with_decision(replace(attempt.decision, resets=resets))


def record_outside(attempt: ApplyAttempt, digests: Digests, use: OutsideUse) -> RecordedOutside | None:
    """Return what the record keeps: what was just read after a write or an adoption; else the former values, so that
    what changed since then is found again.
    """
    live, remembered = attempt.observed.live, attempt.remembered
    if live is None or not _has_outside(attempt):
        return None
    view, keeps_changes = make_view(attempt, digests), attempt.write.done is Action.NONE
    # A revert keeps the changes that it did not restore.
    if use is OutsideUse.RESTORE and attempt.decision.outside:
        remembered = find_remembered(attempt.record, attempt.api_version, attempt.ignored)
        keeps_changes = True
    if remembered is None or remembered.outside is None or not keeps_changes:
        return view.record(live.body, attempt.desired, is_written=_is_put(attempt))
    before, changes = mask_digests(remembered.applied), find_still_changed(attempt, digests)
    return view.renew(remembered.outside, live.body, before, attempt.desired, changes)


def _is_put(attempt: ApplyAttempt) -> bool:
    """Return whether a PUT was sent, which resets what it leaves out; a PATCH does not."""
    done, record = attempt.write.done, attempt.record
    # A run that was killed may have sent a PUT: then the resource is as its record expected it.
    if done is Action.NONE and record is not None and record.claim is Claim.EXPECTED:
        return not attempt.decision.reported.differences
    return done is Action.CREATE or (done is Action.UPDATE and not attempt.is_patched)


def _has_outside(attempt: ApplyAttempt) -> bool:
    """Return whether a resource has a body by ARM's types that a GET returns."""
    return attempt.provider is Provider.ARM and attempt.kind.can_get


def make_view(attempt: ApplyAttempt, digests: Digests) -> OutsideView:
    return OutsideView(
        kind=attempt.kind,
        arm_id=attempt.arm_id,
        digests=digests,
        ignored=(*attempt.ignored, *attempt.handed_over),
        told=attempt.prepared.relations.told,
    )


def _list_covers(attempt: ApplyAttempt) -> tuple[Mapping[str, Any], ...]:
    """The bodies that git sets and last sent: what it gives up is git's until a write."""
    return attempt.desired, mask_digests(attempt.remembered.applied) if attempt.remembered else {}
