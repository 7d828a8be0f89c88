"""Let extensions change a body, at two points: before it is compared, and when it is sent.

Extensions decide and stay pure. This module makes the lookups that they request (reads only, so a plan makes them too),
and the calls that they require before a write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gitsync.agent.reconcile.attempt import ApplyAttempt, StopKind
from gitsync.agent.reconcile.run_views import Acting, Observing
from gitsync.desired.formats.ignored_paths import keep_live_paths
from gitsync.errors import ProviderError
from gitsync.extensions.api import LookupRequest, LookupResult, PermanentError
from gitsync.extensions.registry import Registry
from gitsync.model.verdict import Verdict
from gitsync.planning.status.conditions import make_error, make_unreadable
from gitsync.planning.status.passing_refusals import may_recover
from gitsync.providers.arm.extension_client import ExtensionClient


async def extend_body(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Bring the request into the form that is compared and recorded; stop if only a change of the manifest can fix it.

    Raises ProviderError if a lookup fails: unknown is not absent.
    """
    if not run.registry.modifies(*attempt.rule_key):
        return attempt
    # The responses of an earlier try are dropped: this run may have changed what they show.
    request, attempt = attempt.filled_request, attempt.with_observed(replace(attempt.observed, answers={}))
    if lookups := run.registry.lookups(attempt.as_subject()):
        answers = {lookup: await _look_up(attempt, lookup, run) for lookup in lookups}
        attempt = attempt.with_observed(replace(attempt.observed, answers=answers))
    try:
        body = run.registry.compared(request.body, attempt.as_subject())
    except PermanentError as refusal:
        return attempt.stopped(make_error("Failed", refusal.message, refusal.hint), Verdict.BLOCKED, StopKind.FINAL)
    return attempt if body is request.body else replace(attempt, request=replace(request, body=body))


async def _look_up(attempt: ApplyAttempt, lookup: LookupRequest, run: Observing) -> LookupResult:
    async def read() -> LookupResult:
        if lookup.lists:
            return tuple(await run.reader(attempt).list(lookup.path, lookup.api_version))
        return await run.reader(attempt).get(lookup.path, lookup.api_version)

    return await run.cache.look_up_once(lookup, read) if lookup.for_the_run else await read()


def build_body(attempt: ApplyAttempt, registry: Registry) -> Mapping[str, Any]:
    """Return the complete body of a PUT: the desired state, with the ignored paths as Azure has them."""
    body = attempt.filled_request.body
    if attempt.observed.live is not None:
        body = keep_live_paths(body, attempt.observed.live.body, attempt.ignored)
    return registry.modified(body, attempt.as_subject())


async def run_required_actions(attempt: ApplyAttempt, run: Acting) -> ApplyAttempt:
    """Make the calls that must end before the body is sent; stop if one fails. The caller holds the write lock."""
    try:
        for call in run.registry.first_calls(attempt.as_subject()):
            await ExtensionClient(run.writer(attempt)).call(call.path, call.api_version, call.body)
    except ProviderError as failure:
        # An error of such a call is not a refusal of the resource, so it is not classified
        # (docs/reference/kinds.md#extension-calls).
        waits = may_recover(failure, missed_is_ours=False, granted=run.cache.has_granted)
        return attempt.stopped(make_unreadable(failure), kind=StopKind.WAITS if waits else StopKind.NEXT_RUN)
    return attempt
