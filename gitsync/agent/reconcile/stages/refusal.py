"""Handle a write that Azure refused or did not answer: register the provider, retry, or give up."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitsync.agent.reconcile.attempt import ApplyAttempt, StopKind
from gitsync.agent.reconcile.etag import is_outrun, look_again
from gitsync.agent.reconcile.run_views import Acting, Observing
from gitsync.agent.reconcile.stages.owner_check import lacks_owner
from gitsync.agent.reconcile.write import SentRequest
from gitsync.desired.formats.arm_path import read_provider
from gitsync.errors import DeadlineError, ProviderError
from gitsync.planning.actions import find_remembered
from gitsync.planning.status.conditions import RECONCILING, make_refused
from gitsync.planning.status.error_classes import (
    NOT_PROVISIONED,
    NOT_YET_THERE,
    PRINCIPAL_MISSING,
    Classification,
    classify,
)
from gitsync.planning.status.passing_refusals import may_recover
from gitsync.providers.arm.session import OUT_OF_TIME

_REGISTRABLE: Final = "MissingSubscriptionRegistration"
_UNREGISTERED: Final = frozenset({_REGISTRABLE, "SubscriptionNotRegistered"})


async def handle_refusal(attempt: ApplyAttempt, failure: ProviderError, run: Acting) -> ApplyAttempt:
    """Return the attempt, stopped by the failure of its write. It waits if the same write may succeed later."""
    request, cache = attempt.filled_request, run.cache
    # The decision was made from a body that is stale, so it is made again from a new read.
    if is_outrun(attempt, failure):
        return look_again(attempt, cache, make_refused(failure, classify(failure)))
    # A write that was refused may have changed something, and one without an answer too.
    cache.note_write(request.arm_id)
    if failure.outcome_unknown:
        cache.note_sent(request.arm_id)
    advice = ""
    if failure.code in _UNREGISTERED:
        advice = _advise_registration(attempt, failure, run)
        try:
            if failure.code == _REGISTRABLE and run.rules.register_providers and await _register(attempt, failure, run):
                return attempt.stopped(RECONCILING, kind=StopKind.WAITS)
        except ProviderError as register_failure:
            # Without the right to register, the cause is still Azure's refusal of the write.
            if register_failure.status not in {401, 403}:
                failure, advice = register_failure, ""
    classification = run.registry.classify(failure, attempt.rule_key)
    missed_is_ours = await _may_have_created(attempt, failure, run)
    may_pass = may_recover(failure, missed_is_ours=missed_is_ours, granted=cache.has_granted)
    # Without an answer in time, nothing shows that the write failed.
    if failure.code not in OUT_OF_TIME:
        attempt = note_failed_write(attempt)
    condition = make_refused(failure, classification)
    kind = _decide_stop_kind(failure, may_pass=may_pass, is_fatal=classification is Classification.FATAL)
    # It may have been done: the next try compares before it writes.
    sent = SentRequest(request) if failure.outcome_unknown else None
    attempt = attempt.with_write(replace(attempt.write, sent=sent))
    return attempt.stopped(replace(condition, advice=advice) if advice else condition, kind=kind)


def _decide_stop_kind(failure: ProviderError, *, may_pass: bool, is_fatal: bool) -> StopKind:
    if isinstance(failure, DeadlineError):
        return StopKind.LATE
    if is_fatal:
        return StopKind.FINAL
    return StopKind.WAITS if may_pass else StopKind.NEXT_RUN


def note_failed_write(attempt: ApplyAttempt) -> ApplyAttempt:
    """Note that the last write failed."""
    # After a failed update, Azure keeps the state before it, and so does the record: the next run finds the same change
    # to make, and can show what changed in Azure since.
    before = find_remembered(attempt.record, attempt.api_version, attempt.ignored) if attempt.write.existed else None
    return replace(attempt.with_write(replace(attempt.write, has_failed=True)), remembered=before or attempt.remembered)


async def _may_have_created(attempt: ApplyAttempt, failure: ProviderError, run: Observing) -> bool:
    """Return whether this run may have created what Azure does not find: something that the resource depends on."""
    # A run that created nothing here has nothing to wait for: what Azure does not find is missing for every further
    # try.
    created = run.cache.has_created(result.arm_id for result in attempt.before.values() if result.arm_id)
    if not created or failure.code not in NOT_YET_THERE:
        return False
    # It exists and is still being made, so the refusal passes.
    if failure.code in NOT_PROVISIONED:
        return True
    text = failure.message.casefold().replace(attempt.arm_id.key, "")
    # Azure names another id, which nothing of this run makes.
    if "/subscriptions/" in text and not run.cache.has_created_any_in(text):
        return False
    # The manifest has the id of the principal, so it is not one of a resource of this run.
    if failure.code == PRINCIPAL_MISSING and attempt.template.is_plain:
        return False
    return not await lacks_owner(attempt, run)


async def _register(attempt: ApplyAttempt, failure: ProviderError, run: Acting) -> bool:
    return await run.writer(attempt).register(*_find_registration(attempt, failure))


def _find_registration(attempt: ApplyAttempt, failure: ProviderError) -> tuple[str, str]:
    """Find the namespace that Azure names, or that of the resource, and the subscription."""
    target = next((detail.get("target") for detail in failure.details if detail.get("target")), None)
    return str(target or read_provider(attempt.arm_id)), attempt.arm_id.subscription or attempt.subscription


def _advise_registration(attempt: ApplyAttempt, failure: ProviderError, run: Acting) -> str:
    """Return how to register the provider: a person does, once, or gitsync with the right to it."""
    namespace, subscription = _find_registration(attempt, failure)
    switch = "" if run.rules.register_providers else " and set --register-providers"
    return (
        f"Run `az provider register --namespace {namespace} --subscription {subscription}`, or grant gitsync's "
        f"identity {namespace}/register/action on /subscriptions/{subscription}{switch}."
    )
