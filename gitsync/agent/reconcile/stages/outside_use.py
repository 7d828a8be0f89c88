"""What a command does about changes outside of git's fields: revert restores the recorded values by a PATCH,
acknowledge records the current ones. A plan and a sync only report them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from gitsync.agent.reconcile.attempt import ApplyAttempt, OutsideAction, StopKind
from gitsync.agent.reconcile.rules import OutsideUse
from gitsync.agent.reconcile.run_views import Acting, Observing
from gitsync.agent.reconcile.stages.outside_check import find_still_changed, make_view, select_outside_now
from gitsync.desired.formats.json_pointer import parse_pointer
from gitsync.desired.formats.name_list import name_first
from gitsync.desired.request.secret_digest import Digests
from gitsync.errors import ProviderError
from gitsync.model.condition import Condition
from gitsync.model.outside import OutsideChange
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.changed_fields import name_path
from gitsync.planning.outside.restoring import (
    build_restoring_patch,
    explain_restored_weakening,
    group_by_obstacle,
)
from gitsync.planning.removed_values import KEPT
from gitsync.planning.status.conditions import RECONCILING, make_error
from gitsync.providers.arm.lro.poll import AcceptedWrite

_REVERTED: Final = frozenset({Verdict.IN_SYNC, Verdict.DRIFTED, Verdict.CONFLICT})
"""Verdicts with which outside changes are restored: others wait for a sync, which writes what git has changed."""

_SYNC_FIRST: Final = "a sync has to write what git changed first"

_REFUSALS: Final = frozenset({400, 404, 405, 415, 422})
"""By which Azure refuses a PATCH of a type, or of these members."""

_MOST_NAMES: Final = 5


async def use_outside(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Decide what a revert restores, or what an acknowledgement records; nothing in any other run."""
    use, decision = run.rules.outside_use, attempt.decision
    if use is OutsideUse.REPORT or not decision.outside:
        return attempt
    if use is OutsideUse.ACKNOWLEDGE:
        action = OutsideAction(acknowledged=select_outside_now(attempt, run.digests))
        return attempt.with_decision(replace(decision, outside_action=action))
    return _restore(attempt, run.digests)


def _restore(attempt: ApplyAttempt, digests: Digests) -> ApplyAttempt:
    """Decide what a revert restores, and note why it leaves the rest."""
    decision = attempt.decision
    restores, left = _sort_changes(attempt, digests)
    sentences = (decision.note, _describe_restores(attempt, restores), _describe_left(attempt, left))
    decision = replace(decision, note=" ".join(filter(None, sentences)))
    if not restores:
        return attempt.with_decision(decision)
    # Drift goes first: the PUT of git's values may change these, too.
    action = OutsideAction(restores=restores, is_patch=decision.action is Action.NONE)
    first = decision.first_comparison or decision.comparison
    return attempt.with_decision(
        replace(decision, outside_action=action, action=Action.UPDATE, first_comparison=first, is_untouched=False)
    )


def _sort_changes(
    attempt: ApplyAttempt, digests: Digests
) -> tuple[tuple[OutsideChange, ...], Mapping[str, list[OutsideChange]]]:
    """Sort what is still changed: what can be restored, and the rest by the reason, after "since"."""
    comparison, live = attempt.decision.comparison, attempt.observed.live
    changes = find_still_changed(attempt, digests)
    # The record of a revert would count what git changed as written, so a sync has to write that first.
    if comparison is None or comparison.verdict not in _REVERTED or live is None or attempt.write.removal.demands:
        return (), {_SYNC_FIRST: list(changes)} if changes else {}
    left = group_by_obstacle(changes, live.body, make_view(attempt, digests))
    return tuple(left.pop("", ())), left


def _describe_restores(attempt: ApplyAttempt, restores: Collection[OutsideChange]) -> str:
    if not restores:
        return ""
    weaker = (explain_restored_weakening(attempt.kind.arm_type, change) for change in restores)
    reasons = " ".join(dict.fromkeys(filter(None, weaker)))
    sentence = f"The revert restores {_name(attempt, restores)}, which changed outside of git."
    return f"{sentence} This may make the resource weaker: {reasons}" if reasons else sentence


def _describe_left(attempt: ApplyAttempt, left: Mapping[str, Iterable[OutsideChange]]) -> str:
    return " ".join(f"It does not restore {_name(attempt, changes)}, since {why}." for why, changes in left.items())


def _name(attempt: ApplyAttempt, changes: Iterable[OutsideChange]) -> str:
    resource = attempt.prepared.resource
    names = (name_path(attempt.kind, parse_pointer(change.path), change.now, resource) for change in changes)
    return name_first(sorted(set(names)), _MOST_NAMES)


async def send_restores(attempt: ApplyAttempt, run: Acting) -> AcceptedWrite:
    """Send the PATCH that restores the recorded values, and nothing else."""
    request, live = attempt.filled_request, attempt.observed.live
    shown = make_view(attempt, run.digests).select_writable(live.body if live else {})
    patch = build_restoring_patch(shown, attempt.decision.outside_action.restores)
    if_match = attempt.write.precondition.if_match
    return await run.writer(attempt).patch(request.arm_id, request.api_version, patch, if_match=if_match)


def may_note_kept(attempt: ApplyAttempt, failure: ProviderError) -> bool:
    """Return whether Azure refused to restore values, which then stay as they are."""
    return attempt.decision.outside_action.is_patch and failure.status in _REFUSALS


def note_kept(attempt: ApplyAttempt, failure: ProviderError, run: Acting) -> ApplyAttempt:
    """Stop a revert whose PATCH Azure refused. The record keeps what it has, so the changes are found again."""
    run.cache.note_write(attempt.arm_id)
    restores = attempt.decision.outside_action.restores
    condition = _make_kept(attempt, restores, f"it refused the PATCH ({failure.code}: {failure.message})")
    return attempt.stopped(replace(condition, request_id=failure.request_id), kind=StopKind.FINAL)


def check_restored(attempt: ApplyAttempt, run: Acting) -> ApplyAttempt:
    """Stop a revert after which Azure still shows changed values: to send the PATCH after the PUT of drift, or if the
    PATCH was in vain.
    """
    action = attempt.decision.outside_action
    kept, _ = _sort_changes(attempt, run.digests) if action.restores else ((), {})
    if not kept:
        return attempt
    if not action.is_patch:
        return attempt.stopped(RECONCILING, kind=StopKind.WAITS)
    return attempt.stopped(_make_kept(attempt, kept, "it ignored the PATCH"), kind=StopKind.FINAL)


def _make_kept(attempt: ApplyAttempt, kept: Iterable[OutsideChange], why: str) -> Condition:
    name = f"{attempt.key.kind}/{attempt.key.name}"
    advice = (
        f"Restore it in Azure by hand, accept it with `gitsync accept {name}`, or keep it with "
        f"`gitsync acknowledge {name}`."
    )
    return make_error(KEPT, f"Azure kept {_name(attempt, kept)} as changed outside of git: {why}.", advice)
