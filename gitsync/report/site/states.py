"""The state of each resource on the site, in the words of reports (`site_looks`)."""

from __future__ import annotations

from typing import Final

from gitsync.model.condition import WaitReason
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Record
from gitsync.model.verdict import OUTSIDE_WORD
from gitsync.planning.status.conditions import is_waiting

_REASONS: Final = {WaitReason.HELD.value: "held", WaitReason.FLAPPING.value: "blocked"}


def choose_state(record: Record, drift: str) -> str:
    """Choose the state of a resource. `drift` is the verdict of its open drift, "" for none."""
    condition = record.condition
    # The rest of an untrusted record may be forged as well.
    if record.trust.is_refused:
        return "untrusted"
    if record.is_replacing:
        return "replacing"
    if condition is None:
        return "waiting"
    if not condition.is_ready:
        if condition.reason in _REASONS:
            return _REASONS[condition.reason]
        return "waiting" if is_waiting(condition) else "failed"
    if drift:
        return drift
    if record.spec.outside and record.spec.outside.changed:
        return OUTSIDE_WORD
    return "skip" if record.manifest.policy is Policy.SKIP else "ready"
