"""Handle a write that Azure refused or did not answer: register the provider, retry, or give up."""

from __future__ import annotations

from gitsync.dataclasses import replace
from gitsync.errors import ArmError
from gitsync.extensions.registry import Registry
from gitsync.formats.arm_path import find_provider, find_subscription
from gitsync.planning.actions import may_recover
from gitsync.reconcile.attempt import ApplyAttempt
from gitsync.reconcile.etag import is_outrun, look_again
from gitsync.reconcile.run_cache import RunCache
from gitsync.status.conditions import RECONCILING, make_refused
from gitsync.status.error_classes import classify


async def handle_refusal(
    attempt: ApplyAttempt, failure: ArmError, *, registry: Registry, cache: RunCache, registers: bool
) -> ApplyAttempt:
    """Return the attempt, stopped by the failure of its write. It `waits` if the same write may succeed later."""
    request, key = attempt.filled_request, attempt.key
    if is_outrun(attempt, failure):
        return look_again(attempt, cache, make_refused(failure, classify(failure)))
    cache.note_write(request.arm_id)
    if failure.outcome_unknown:
        cache.note_sent(request.arm_id)
    if failure.code == "MissingSubscriptionRegistration" and registers:
        try:
            if await _register(attempt, failure):
                return attempt.stopped(RECONCILING, waits=True)
        except ArmError as register_failure:
            failure = register_failure
    classification = registry.classify(failure, (key.group, key.kind))
    dependency_ids = [result.arm_id for result in attempt.before.values() if result.arm_id]
    may_pass = may_recover(failure, missed_is_ours=cache.has_created(dependency_ids), granted=cache.has_granted)
    return replace(attempt, sent=request if failure.outcome_unknown else None).stopped(
        make_refused(failure, classification),
        waits=may_pass and not classification.is_fatal,
        is_retryable=not classification.is_fatal,
    )


async def _register(attempt: ApplyAttempt, failure: ArmError) -> bool:
    target = next((detail.get("target") for detail in failure.details if detail.get("target")), None)
    namespace = str(target or find_provider(attempt.arm_id))
    subscription = find_subscription(attempt.arm_id) or attempt.identity.subscription
    return await attempt.writer.register(namespace, subscription)
