"""The stages between comparing and acting that stop a write: Azure would refuse it, something resets it each time, or a
reviewer has not seen it.

A plan that is reviewed records what it was made from. A sync of that plan checks that this is unchanged, and stops a
resource otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from gitsync.agent.reconcile.attempt import ApplyAttempt, PruneAttempt, StopKind
from gitsync.agent.reconcile.run_cache import RunCache
from gitsync.agent.reconcile.run_views import Observing
from gitsync.desired.formats.ignored_paths import remove_paths
from gitsync.desired.request.secret_digest import Digests, has_secrets, seal_body
from gitsync.model.condition import Condition
from gitsync.model.plan import Reviewed
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.approval import (
    EXISTS,
    SECRETS_NOT_REVIEWED,
    digest_desired,
    digest_live,
    find_objection,
    list_runtime_values,
    remove_runtime_values,
)
from gitsync.planning.record_counts import build_flapping_condition, find_pause
from gitsync.planning.referrers import list_given_ids
from gitsync.planning.replacement import (
    REFUSED,
    REPLACEMENT_BEGUN,
    add_new_values,
    build_replacement_condition,
    decide_replacement,
    find_replacement,
)

A = TypeVar("A", ApplyAttempt, PruneAttempt)


async def check_replacement(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Turn an update that needs a delete first into a replacement, or stop it if git or the operator does not consent.

    In a plan the resource is fine: nothing that depends on it waits.
    """
    # A fixed field may get its value from a resource that the run creates: a plan does not have it yet.
    attempt = attempt if run.rules.writes else _add_new_values(attempt)
    comparison, record = attempt.decision.comparison, attempt.record
    if comparison is None or attempt.decision.action is not Action.UPDATE:
        return attempt
    refusal = record.condition if record else None
    replacement = find_replacement(attempt.kind.arm_type, comparison.differences, refusal)
    if replacement is None:
        return attempt
    live = attempt.observed.live
    replacement = decide_replacement(
        replace(replacement, given_ids=list_given_ids(live.body if live else None)),
        comparison.differences,
        attempt.kind,
        attempt.prepared.resource,
        record,
        refusal,
        prunes=run.rules.prune,
    )
    attempt = attempt.with_decision(replace(attempt.decision, replacement=replacement))
    if replacement.is_due:
        return attempt.with_decision(replace(attempt.decision, action=Action.REPLACE))
    attempt = attempt.with_decision(replace(attempt.decision, action=Action.NONE))
    # Azure's own refusal stays on record: the next run finds the field by it.
    condition: Condition = (
        refusal if refusal and refusal.reason == REFUSED else build_replacement_condition(replacement)
    )
    # It is not tried again.
    verdict = Verdict.PENDING if comparison.verdict is Verdict.FAILED_BEFORE else comparison.verdict
    return attempt.stopped(condition, verdict, StopKind.FINAL if run.rules.writes else StopKind.FINE)


def _add_new_values(attempt: ApplyAttempt) -> ApplyAttempt:
    """Add to what a plan compared the fixed fields whose value comes with a resource that the run creates."""
    comparison, live = attempt.decision.comparison, attempt.observed.live
    if comparison is None or live is None or not comparison.because or attempt.request is None:
        return attempt
    added = add_new_values(comparison, attempt.kind.arm_type, attempt.desired, live.body)
    if added is comparison:
        return attempt
    decision = replace(attempt.decision, comparison=added, first_comparison=added, action=Action.UPDATE)
    return attempt.with_decision(decision)


async def begin_replacement(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Stop a resource that this run replaces: the walk deletes it, and then reconciles it once more."""
    if attempt.decision.action is not Action.REPLACE or not run.rules.writes:
        return attempt
    comparison = attempt.decision.comparison
    return attempt.stopped(REPLACEMENT_BEGUN, comparison.verdict if comparison else None)


async def pause_flapping(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Stop before another write that would not last. Operations that this run started are continued."""
    record, comparison = attempt.record, attempt.decision.comparison
    if record is None or comparison is None or attempt.decision.action is Action.NONE or attempt.write.tried:
        return attempt
    streak = find_pause(record.writes.streak, comparison, run.rules.flap_limit, run.clock.now())
    if streak is None:
        return attempt
    attempt = attempt.with_decision(replace(attempt.decision, action=Action.NONE, streak=streak))
    return attempt.stopped(build_flapping_condition(streak, comparison), comparison.verdict, StopKind.FINAL)


async def review_apply(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Note what a reviewer must see of an apply, or stop it if that has changed since."""
    if run.rules.approval.is_reviewed:
        is_sure = not attempt.prepared.id_doubt
        later = list_runtime_values(attempt.request, is_id_sure=is_sure) if attempt.request else ()
        return attempt.with_decision(replace(attempt.decision, reviewed=_describe_apply(attempt, later, run.digests)))
    review = run.rules.approval.review
    # After a write of this run, the resource differs from the reviewed one by that write.
    if review is None or run.cache.has_sent(attempt.location):
        return attempt
    reviewed = review.nodes.get(attempt.key)
    if reviewed and run.cache.is_replaced(attempt.location):  # the review has the replacement, and what goes with it
        return attempt
    # Without its digest key, this run may miss the change of a secret that the plan saw and that must be written.
    is_written = reviewed is not None and reviewed.action is not Action.NONE
    comparison = attempt.decision.comparison
    may_miss_a_secret = is_written and comparison is not None and bool(comparison.because)
    if attempt.decision.action is Action.NONE and not may_miss_a_secret:
        return attempt
    current = _describe_apply(attempt, reviewed.later if reviewed else (), run.digests)
    refusal = find_objection(
        review,
        reviewed,
        current,
        run.digests.key_name,
        quiet=_is_quiet(attempt, run.cache),
        foreseen=_is_foreseen(attempt, current.later),
    )
    if refusal is None or (attempt.decision.action is Action.NONE and refusal.reason != SECRETS_NOT_REVIEWED):
        return attempt
    return attempt.stopped(refusal, kind=StopKind.FINAL)


async def review_prune(attempt: PruneAttempt, run: Observing) -> PruneAttempt:
    """The same for a delete."""
    current = Reviewed(
        action=attempt.decision.action,
        live=_digest_live(attempt, {}, attempt.record.spec.applied or {}),
        etag=attempt.observed.live.etag if attempt.observed.live else None,
    )
    if run.rules.approval.is_reviewed:
        return attempt.with_decision(replace(attempt.decision, reviewed=current))
    review = run.rules.approval.review
    if review is None or attempt.decision.action is Action.NONE or run.cache.has_sent(attempt.location):
        return attempt
    if attempt.prune.replaces:  # the apply was reviewed
        return attempt
    reviewed = review.nodes.get(attempt.key)
    refusal = find_objection(review, reviewed, current, run.digests.key_name, quiet=_is_quiet(attempt, run.cache))
    return attempt if refusal is None else attempt.stopped(refusal, kind=StopKind.FINAL)


def _is_foreseen(attempt: ApplyAttempt, later: tuple[str, ...]) -> bool:
    """Return whether all that differs are values that the plan left to this run, which has just created a resource that
    exports values to this one, or written one that an expression reads.
    """
    differences = attempt.decision.comparison.differences if attempt.decision.comparison else ()
    read = {key for value in attempt.computed for key in value.reads}
    has_written = any(
        result.action is Action.CREATE or (result.action is not Action.NONE and key in read)
        for key, result in attempt.before.items()
    )
    return has_written and all(
        any(difference.path == path or difference.path.startswith(f"{path}/") for path in later)
        for difference in differences
    )


def _is_quiet(attempt: A, cache: RunCache) -> bool:
    """Return whether nothing that this run did can have changed the resource's ETag: neither a write to a parent or a
    child, nor one to a dependency (the ETag of a network changes when one of its interfaces is deleted).
    """
    is_near_quiet = cache.count_writes_near(attempt.location) == 0
    return is_near_quiet and all(result.action is Action.NONE for result in attempt.before.values())


def _describe_apply(attempt: ApplyAttempt, later: tuple[str, ...], digests: Digests) -> Reviewed:
    """Describe the resource for a review, without the values that are known during a run only (`later`)."""
    if attempt.request is None:  # policy skip: it has no request
        return Reviewed(action=attempt.decision.action)
    # A field that is handed over to Azure may change without making a review stale.
    sealed = seal_body(remove_paths(attempt.desired, attempt.handed_over), attempt.key, digests)
    sent = remove_paths((attempt.record.spec.applied if attempt.record else None) or {}, attempt.handed_over)
    body = remove_runtime_values(sealed, later)
    return Reviewed(
        action=attempt.decision.action,
        desired=digest_desired(attempt.request, body, later),
        live=_digest_live(attempt, sealed, sent, later),
        etag=attempt.observed.live.etag if attempt.observed.live else None,
        secrets=has_secrets(body),
        later=later,
    )


def _digest_live(attempt: A, desired: Mapping[str, Any], sent: Mapping[str, Any], later: tuple[str, ...] = ()) -> str:
    if attempt.observed.live is None:
        # The additional effects of a write are reviewed too.
        return EXISTS if attempt.observed.exists else attempt.decision.note
    # A reviewer approves just what the plan shows beside git's fields: what a write resets, and what a revert restores.
    decision = attempt.decision
    beside: list[list[Any]] = [[reset.path, reset.live, reset.entries] for reset in decision.resets]
    beside += ([change.path, change.before, change.now] for change in decision.outside_action.restores)
    return digest_live(attempt.observed.live, desired, sent, later, beside)
