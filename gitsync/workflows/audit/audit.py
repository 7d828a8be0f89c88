"""Who wrote managed resources: each write, delete and key action of the activity log beside the runs of the status
branch.

A write is gitsync's if its correlation id is one that a run has recorded, or if its caller is one of gitsync's
identities: the identity of the audit, or an application that Azure names for a recorded write, since an audit often has
fewer rights than a sync, and so another identity.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from gitsync.agent.attribution.activity_log import is_key_action, read_log
from gitsync.agent.attribution.change import RecordedChange, Verb
from gitsync.agent.attribution.drift_authors import SKEW, list_ids
from gitsync.agent.checks.check_requests import CheckRequests
from gitsync.model.arm_id import NO_ID, ArmId, IdKey
from gitsync.model.attribution import AuthorKind
from gitsync.model.record import LastRun, Record

LATE: Final = timedelta(minutes=30)
"""How long rows of the activity log may be on their way: up to 20 minutes by Azure's documentation, and a margin."""

_MOST_ROWS: Final = 20_000  # of one subscription


class Origin(StrEnum):
    """Whose operation it was."""

    RUN = "run"  # a run recorded it
    OURS = "ours"  # no run recorded it, but the caller is one of gitsync's identities
    OTHER = "other"
    UNKNOWN = "unknown"  # neither the correlation id nor the caller identifies it


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run that sent something."""

    commit: str  # of the status branch, "" if only a record names the run
    revision: str  # the commit that it synced, "" for a folder
    time: str  # its end, or the time of the write (RFC 3339, UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedOperation:
    """One operation on a managed resource."""

    arm_id: ArmId  # spelled as in git
    change: RecordedChange
    origin: Origin
    part_of: str = ""  # the id of the parent whose manifest declares it, "" for a resource with a manifest of its own
    run: Run | None = None  # the run that it belongs to, if one is known
    undone: Run | None = None
    """The first recorded write by gitsync to the same resource, or to that parent, after one of somebody else."""

    is_open: bool = False  # so new that others of its time may still be missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The operations on Azure in some time."""

    since: datetime  # the time that the audit begins with
    until: datetime  # the time of the audit
    operations: tuple[AuditedOperation, ...]  # the newest first
    others: int = 0  # the number of operations on what git does not have
    gaps: tuple[str, ...] = ()  # what could not be read

    def count(self, origin: Origin) -> int:
        """Count the operations of an origin."""
        return sum(operation.origin is origin for operation in self.operations)


async def audit(
    arm_ids: Iterable[ArmId],
    records: Iterable[Record],
    runs: Sequence[LastRun],
    since: datetime,
    requests: CheckRequests,
    is_declared: Callable[[ArmId], bool],
) -> Audit:
    """Audit the resources in git since a time. Resources of earlier runs count as well: they may be deleted by now.
    `is_declared` returns whether the manifest of a parent has this child, as a balancer has its rules.
    """
    until = requests.now
    earlier = sorted(arm_id for run in runs for arm_id in run.arm_ids)
    # The spelling of git wins over that of earlier runs.
    managed = {arm_id.key: arm_id for arm_id in (*earlier, *arm_ids)}
    changes, gaps = await _read_logs(map(ArmId, managed), since, requests)
    declared = {
        change.arm_id for change in changes if change.arm_id not in managed and is_declared(ArmId(change.arm_id))
    }
    parts = {part: ArmId(part).parent.key for part in declared}
    touched = [change for change in changes if change.arm_id in parts or _is_managed(change, managed)]
    recorded = index_runs(records, runs)
    own = await _list_own(touched, recorded, requests)
    evaluated = []
    for change in sorted(touched, key=lambda change: (change.at, change.arm_id, change.correlation_id), reverse=True):
        origin, run = evaluate(change, recorded, own)
        part_of = parts.get(change.arm_id, NO_ID.key)
        above = managed.get(part_of, part_of)
        arm_id = managed.get(change.arm_id) or ArmId(f"{above}{change.arm_id.removeprefix(part_of)}")
        is_open = change.at >= until - LATE
        evaluated.append(
            AuditedOperation(arm_id=arm_id, change=change, origin=origin, part_of=part_of, run=run, is_open=is_open)
        )
    return Audit(
        since=since,
        until=until,
        operations=tuple(add_undone(evaluated)),
        others=len(changes) - len(touched),
        gaps=gaps,
    )


async def _read_logs(
    arm_ids: Iterable[ArmId], since: datetime, requests: CheckRequests
) -> tuple[list[RecordedChange], tuple[str, ...]]:
    """Read what is audited of the log of each subscription, and why there may be more."""
    by_subscription: defaultdict[str, list[ArmId]] = defaultdict(list)
    for arm_id in sorted(arm_ids):
        if subscription := arm_id.subscription:
            by_subscription[subscription].append(arm_id)
    # Azure's clock may be ahead of this one.
    until = requests.now + SKEW
    answers = await asyncio.gather(
        *(read_log(ids, since, until, requests, most=_MOST_ROWS) for ids in by_subscription.values())
    )
    gaps = [
        f"Subscription {subscription}: {answer.gap}"
        for subscription, answer in zip(by_subscription, answers, strict=True)
        if answer.gap
    ]
    return [change for answer in answers for change in answer.changes if _is_audited(change)], tuple(gaps)


async def _list_own(
    changes: Iterable[RecordedChange], recorded: Mapping[str, Run], requests: CheckRequests
) -> frozenset[str]:
    """List the ids of the applications that gitsync runs as: of the one that runs the audit, and of those that sent
    what runs have recorded.
    """
    principal = await requests.find_principal()
    # A row of the log has the client id of an application, its object id, or both.
    own = {principal.client.casefold(), principal.object.casefold()} if principal else set()
    senders = {caller for change in changes if change.correlation_id in recorded for caller in change.callers}
    return frozenset((own | senders) - {""})


def index_runs(records: Iterable[Record], runs: Iterable[LastRun]) -> Mapping[str, Run]:
    """Index the runs by the correlation ids of what they sent. A trusted record has the last write of its resource,
    also of a run whose report was not kept.
    """
    known: dict[str, Run] = {}
    for record in records:
        write = record.writes.last
        # A record without a valid signature could name the correlation id of an attacker's write as gitsync's.
        if write and not record.trust.is_refused:
            run = Run(commit="", revision=write.revision, time=write.at)
            known |= dict.fromkeys(list_ids(write), run)
    # After the records, since a report has the commit of the status too.
    for last in runs:
        run = Run(commit=last.commit, revision=last.revision or "", time=last.time)
        known |= dict.fromkeys(last.sent, run)
    return known


def _is_audited(change: RecordedChange) -> bool:
    """Return whether an operation wrote, deleted, or reached for keys: other actions, such as a restart, are none."""
    return change.verb is not Verb.ACTION or is_key_action(change.said.operation)


def _is_managed(change: RecordedChange, managed: Mapping[IdKey, ArmId]) -> bool:
    """Return whether an operation is on a managed resource, or deleted one with what it is in."""
    if change.arm_id in managed:
        return True
    return change.verb is Verb.DELETE and any(change.arm_id in arm_id.lineage for arm_id in managed.values())


def evaluate(change: RecordedChange, recorded: Mapping[str, Run], own: frozenset[str]) -> tuple[Origin, Run | None]:
    """Decide whose operation it was, and of which run. `own` are the ids of gitsync's identities: if none is known, an
    application may be gitsync or not.
    """
    run = recorded.get(change.correlation_id) if change.correlation_id else None
    if run:
        return Origin.RUN, run
    if change.callers & own:
        return Origin.OURS, None
    author = change.said.author
    is_doubtful = author is AuthorKind.UNKNOWN or (author is AuthorKind.APPLICATION and not own)
    return Origin.UNKNOWN if is_doubtful else Origin.OTHER, None


def add_undone(operations: Sequence[AuditedOperation]) -> list[AuditedOperation]:
    """Add to each change of others the first later write of a run to the same resource. `operations` are the newest
    first, and so is the answer.
    """
    later: dict[str, Run] = {}
    answer = []
    for operation in operations:
        if operation.change.verb in {Verb.KEYS, Verb.ACTION}:  # no write reverts a read of keys, or restores an old key
            answer.append(operation)
            continue
        is_foreign = operation.origin in {Origin.OTHER, Origin.UNKNOWN}
        undone = later.get(operation.change.arm_id) or later.get(operation.part_of)  # a PUT of the parent has its parts
        answer.append(replace(operation, undone=undone) if is_foreign else operation)
        if operation.run:
            later[operation.change.arm_id] = operation.run
    return answer
