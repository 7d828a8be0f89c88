"""Delete a resource that was removed from git, as its kind requires: its deleters first, then the DELETE.

Separate from `prune`, which decides whether to delete.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from gitsync.agent.reconcile.attempt import PruneAttempt, StopKind
from gitsync.agent.reconcile.etag import begin_write, is_outrun, look_again
from gitsync.agent.reconcile.run_cache import RunCache
from gitsync.agent.reconcile.run_views import Pruning
from gitsync.errors import ProviderError
from gitsync.extensions.api import ActsOnAzure, Subject
from gitsync.model.condition import Condition, ConditionStatus
from gitsync.model.provider import IN_USE
from gitsync.model.result import Stage
from gitsync.model.verdict import Action, Verdict, Written
from gitsync.planning.status.conditions import DELETING, make_not_deleted, make_undeletable, make_unreadable
from gitsync.planning.status.passing_refusals import may_recover
from gitsync.providers.arm.extension_client import ExtensionClient
from gitsync.providers.arm.session import OUT_OF_TIME

DELETED = Condition(status=ConditionStatus.TRUE, reason="Deleted", message="Removed from git and deleted from Azure.")

TAKEN_OVER = Condition(
    status=ConditionStatus.TRUE, reason="Detached", message="Removed from git. It stays: another manifest has it now."
)

_NO_DELETE: Final = 405


@dataclass(slots=True)
class _Ending:
    """The outcome of the DELETE of the resource itself. The chain above it returns nothing, so it is kept here."""

    failure: ProviderError | None = None
    is_accepted: bool = False
    is_unfinished: bool = False


async def delete(attempt: PruneAttempt, run: Pruning) -> PruneAttempt:
    """Delete a resource and wait for the end. The caller holds the write lock.

    A refusal of the DELETE itself keeps Azure's code; the extension reports an earlier error, and the resource stays
    (docs/reference/kinds.md#extension-calls). Refusals are warnings, so that the next run tries again.
    """
    attempt = begin_write(attempt, run.cache)
    ending, actor, record = _Ending(), ExtensionClient(run.writer(attempt)), attempt.record

    async def send_delete(_subject: Subject, _azure: ActsOnAzure) -> None:
        # An action may have changed the ETag.
        if_match = None if actor.has_acted else attempt.write.precondition.if_match
        try:
            writer = await run.live_writer(attempt)
            reply = await writer.delete(record.arm_id, record.arm_api_version, if_match=if_match)
            ending.is_accepted = True
            run.cache.note_write(record.arm_id)
            run.enter(attempt, Stage.POLL)
            ending.is_unfinished = reply is not None and not await writer.wait(reply)
        except ProviderError as failure:
            ending.failure = failure
            raise

    try:
        await run.registry.delete(attempt.as_subject(), actor, send_delete)
    except ProviderError as failure:
        return _handle_refusal(attempt, failure, ending, run.cache)
    return attempt.deleting(DELETING) if ending.is_unfinished else record_deleted(attempt)


def record_deleted(attempt: PruneAttempt) -> PruneAttempt:
    """Return the attempt, stopped because the resource no longer exists."""
    return attempt.with_write(replace(attempt.write, done=Action.DELETE)).absent().stopped(DELETED)


def _handle_refusal(attempt: PruneAttempt, failure: ProviderError, ending: _Ending, cache: RunCache) -> PruneAttempt:
    is_of_delete = failure is ending.failure
    # The manifest was renamed, and the new one has adopted the resource. It is not a leftover of the old one.
    if is_of_delete and failure.code in IN_USE:
        return attempt.with_write(replace(attempt.write, done=Action.DETACH)).stopped(TAKEN_OVER)
    # The types of ARM do not show which of them have no DELETE, such as settings that exist with their scope.
    if is_of_delete and failure.status == _NO_DELETE:
        return attempt.stopped(make_undeletable(attempt.key, failure), Verdict.BLOCKED, StopKind.FINE_NOW)
    if is_of_delete and is_outrun(attempt, failure):
        return look_again(attempt, cache, make_not_deleted(failure))
    # Azure works on the delete. That is not a failure: the next run follows it to its end.
    if is_of_delete and ending.is_accepted and failure.code in OUT_OF_TIME:
        return attempt.deleting(make_not_deleted(failure))
    waits = may_recover(failure, missed_is_ours=False, granted=cache.has_granted)
    pending_delete = Written.UNKNOWN if failure.outcome_unknown else Written.NOTHING
    attempt = attempt.with_write(replace(attempt.write, pending_delete=pending_delete))
    # Before the DELETE, an action of the kind failed: nothing refused the delete itself.
    condition = make_not_deleted(failure) if is_of_delete else make_unreadable(failure)
    return attempt.stopped(condition, kind=StopKind.WAITS if waits else StopKind.NEXT_RUN)
