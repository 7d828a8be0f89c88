"""Delete a resource that was removed from git, as its kind requires: its deleters first, then the DELETE.

Apart from pruning, which decides whether anything is deleted at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gitsync.arm.actor import Actor
from gitsync.errors import ArmError
from gitsync.extensions.api import ActsOnAzure, Subject
from gitsync.model.condition import Condition, ConditionStatus
from gitsync.model.gvk import GVK
from gitsync.model.record import Record
from gitsync.model.result import Stage
from gitsync.model.verdict import Action
from gitsync.planning.actions import may_recover
from gitsync.reconcile.attempt import ReconcileAttempt
from gitsync.status.conditions import DELETING, make_not_deleted, make_unreadable

DELETED = Condition(status=ConditionStatus.TRUE, reason="Deleted", message="Removed from git and deleted from Azure.")


@dataclass(slots=True)
class _Ending:
    """What came of the DELETE of the resource itself. The chain above it hands nothing back, so it is kept here."""

    failure: ArmError | None = None
    is_unfinished: bool = False


async def delete_resource(turn: ReconcileAttempt, record: Record) -> ReconcileAttempt:
    """Delete a resource and wait for the end. The caller holds the lane.

    A refusal of the DELETE itself keeps Azure's code; the extension reports an earlier error, and the resource stays
    (docs/reference/kinds.md#extension-calls, #deletes).
    """
    ending, actor = _Ending(), Actor(turn.writer)

    async def last(_subject: Subject, _azure: ActsOnAzure) -> None:
        if_match = None if actor.has_acted else turn.if_match  # what was called before may have moved the ETag
        try:
            reply = await turn.writer.delete(record.arm_id, record.arm_api_version, if_match=if_match)
            turn.run.memory.wrote(record.arm_id)
            ending.is_unfinished = not await turn.at(Stage.POLL).writer.wait(reply)
        except ArmError as failure:
            ending.failure = failure
            raise

    try:
        await turn.run.registry.delete(_subject_of(turn, record), actor, last)
    except ArmError as failure:
        return _refused(turn, failure, ending)
    return replace(turn, unfinished=True).stopped(DELETING) if ending.is_unfinished else record_deleted(turn)


def record_deleted(turn: ReconcileAttempt) -> ReconcileAttempt:
    """The turn of what is no longer there."""
    return replace(turn, done=Action.DELETE, exists=False).stopped(DELETED)


def _subject_of(turn: ReconcileAttempt, record: Record) -> Subject:
    """What deleters see: the resource as read, without its manifest, which is no longer in git."""
    return Subject(
        key=turn.node.key,
        gvk=GVK.parse(record.manifest_api_version, turn.node.key.kind),
        spec={},
        arm_id=record.arm_id,
        api_version=record.arm_api_version,
        live=turn.live,
        owner_name=record.owner.name if record.owner else "",
    )


def _refused(turn: ReconcileAttempt, failure: ArmError, ending: _Ending) -> ReconcileAttempt:
    if turn.is_outrun(failure) and failure is ending.failure:
        return turn.overtaken(make_not_deleted(failure))
    waits = may_recover(failure, missed_is_ours=False, granted=turn.run.memory.granted)
    told = make_not_deleted(failure) if failure is ending.failure else make_unreadable(failure)
    return turn.stopped(told, waits=waits)
