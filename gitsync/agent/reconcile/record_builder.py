"""The record that is kept of an attempt between runs: whose the resource is, what was written, and what goes on.

It follows from what the attempt observed, decided and wrote, no matter in which stage it ended.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from gitsync.agent.reconcile.attempt import ApplyAttempt, Attempt, PruneAttempt
from gitsync.agent.reconcile.rules import RunRules
from gitsync.desired.manifests.units import make_declaration
from gitsync.model.arm_id import NO_ID
from gitsync.model.clock import format_rfc3339
from gitsync.model.condition import Condition
from gitsync.model.export import Address
from gitsync.model.hold import HeldUntil
from gitsync.model.plan import Apply, Node
from gitsync.model.provider import NOTHING_KEPT, Kept
from gitsync.model.record import (
    Claim,
    Durations,
    FailedWrite,
    LastWrite,
    PendingOperation,
    Record,
    RecordedAccess,
    RecordedManifest,
    RecordedSpec,
    RecordedWrites,
    Trust,
    WriteStreak,
)
from gitsync.model.verdict import Action, Verdict, Written
from gitsync.planning.actions import decide_claim
from gitsync.planning.claims import is_expected
from gitsync.planning.diff.three_way import UNDONE
from gitsync.planning.kept import list_kept
from gitsync.planning.record_counts import SpecGeneration, decide_generation, extend_streak, renew_duration
from gitsync.planning.status.conditions import OVERLAP, is_replacement


def build_apply_record(
    attempt: ApplyAttempt, condition: Condition, spec: SpecGeneration, rules: RunRules, now: datetime
) -> Record:
    """Return the record to keep of an apply. `condition` is that of its result, `spec` the generation of its manifest.
    The record of another agent, and of a resource that is held, stays as it is.
    """
    old, prepared = attempt.record, attempt.prepared
    if old and (attempt.apply.skipped_because or (attempt.stop and attempt.stop.condition.reason == OVERLAP)):
        return old
    if old and old.condition and not is_replacement(condition, old.condition):
        # An equal condition keeps its time, so that a run without news commits nothing. A weaker one, such as a wait,
        # would hide a failure.
        condition = old.condition
    if old and attempt.request is None and not prepared.relations.written_by:
        return _revise_record(attempt, old, condition, spec, now)
    return Record(
        key=attempt.key,
        arm_id=attempt.arm_id,
        arm_api_version=attempt.api_version,
        claim=_decide_claim(attempt),
        agent=rules.agent,
        manifest=RecordedManifest(
            api_version=prepared.resource.gvk.api_version,
            policy=attempt.policy,
            owner=prepared.relations.owner.key if prepared.relations.owner else None,
            depends_on=prepared.relations.depends_on,
            ordered_after=prepared.relations.ordered_after,
            hold=_find_hold(attempt),
            **make_declaration(prepared.resource),
        ),
        spec=_record_spec(attempt, spec),
        writes=_record_writes(attempt, spec.generation, rules, now),
        access=_record_access(attempt, rules),
        exports=_join_exports(attempt),
        kept=_find_kept(attempt),
        condition=condition,
        # The store decides by it whether the record may be written: one with a refused seal is never sealed again.
        trust=old.trust if old else Trust.UNCHECKED,
    )


def _record_access(attempt: ApplyAttempt, rules: RunRules) -> RecordedAccess:
    """Record the identity that the resource was reconciled with."""
    old, stop, credential = attempt.record, attempt.stop, attempt.prepared.credential
    is_reconciled = stop is None or stop.kind.is_fine or attempt.write.done is not Action.NONE
    # An identity that could not reconcile the resource does not replace the one on record: the next plan still shows
    # that another identity would write it.
    if old and old.claim.is_ours and not is_reconciled:
        return replace(old.access, operator=rules.agent)
    return RecordedAccess(
        credential=credential,
        subscription=attempt.subscription if credential else "",
        ids=attempt.ids,
        operator=rules.agent,
    )


def _record_spec(attempt: ApplyAttempt, spec: SpecGeneration) -> RecordedSpec:
    remembered = attempt.remembered
    return RecordedSpec(
        generation=spec.generation,
        digest=spec.digest,
        reconciled_generation=_decide_reconciled(attempt, spec.generation),
        applied=remembered.applied if remembered else None,
        baseline=remembered.baseline if remembered else None,
        outside=remembered.outside if remembered else None,
    )


def _record_writes(attempt: ApplyAttempt, generation: int, rules: RunRules, now: datetime) -> RecordedWrites:
    old = attempt.record
    return RecordedWrites(
        count=(old.writes.count if old else 0) + (attempt.write.done is not Action.NONE),
        operation=_find_replacing(attempt) or _find_pending(attempt, now),
        failure=_find_failure(attempt, generation, now),
        streak=_find_streak(attempt, now),
        last=_find_last_write(attempt, rules),
        durations=_merge_durations(attempt),
    )


def keep_prune_record(attempt: PruneAttempt, condition: Condition, rules: RunRules, now: datetime) -> Record | None:
    """Return the record to keep of a prune."""
    record = attempt.record
    if attempt.write.done in {Action.DELETE, Action.DETACH}:
        # What is created again next keeps its record; of what is gone for good, nothing is left to track.
        return record if attempt.prune.replaces else None
    if attempt.decision.action is not Action.DELETE:  # it must not be deleted now
        # None is not False: a resource that was not read may exist, and without its record no later run would delete
        # it.
        return None if attempt.observed.exists is False else record
    # The record of an unconfirmed delete stays, with its condition, or nothing would track it.
    is_newer = attempt.write.pending_delete is Written.ACCEPTED or is_replacement(condition, record.condition)
    latest = condition if is_newer else record.condition
    # The operation of a replacement stays until the resource exists again: by it the next run creates what is missing.
    operation = record.writes.operation if attempt.prune.replaces else _find_operation(attempt, "delete", now)
    writes = replace(record.writes, operation=operation, last=_find_last_write(attempt, rules))
    return replace(record, condition=latest, writes=writes)


def build_unattempted_record(node: Node, agent: str, no_turn: Condition) -> Record | None:
    """Return the record of a node that the run did not reach; None if there is none. It stays as it is, but moves with
    its manifest to another unit, and gets the condition `no_turn` if none speaks of this spec yet; a new one claims
    nothing. `agent` is the run's; records of other agents do not change.
    """
    record = node.record
    if not isinstance(node, Apply) or node.skipped_because:
        return record
    prepared, resource = node.prepared, node.prepared.resource
    if not (record.agent in {"", agent} if record else prepared.is_valid):
        return record
    record = record or Record(
        key=node.key,
        arm_id=prepared.arm_id or NO_ID,
        arm_api_version=prepared.api_version or "",
        agent=agent,
        manifest=RecordedManifest(
            api_version=resource.gvk.api_version,
            policy=prepared.policy,
            owner=prepared.relations.owner.key if prepared.relations.owner else None,
            depends_on=prepared.relations.depends_on,
            ordered_after=prepared.relations.ordered_after,
        ),
        access=RecordedAccess(credential=prepared.credential, operator=agent),
    )
    # An invalid manifest may have lost its hold by the same mistake.
    hold = prepared.hold if prepared.is_valid else record.manifest.hold
    manifest = replace(record.manifest, **make_declaration(resource), last_revision="", hold=hold)
    record = replace(record, manifest=manifest)
    spec = decide_generation(record, resource.spec)
    condition = replace(no_turn, generation=spec.generation)
    if is_replacement(condition, record.condition):
        revised = replace(record.spec, generation=spec.generation, digest=spec.digest)
        record = replace(record, spec=revised, condition=condition)
    return record


def _revise_record(
    attempt: ApplyAttempt, old: Record, condition: Condition, spec: SpecGeneration, now: datetime
) -> Record:
    """Return the record of an attempt that stopped before its request was made."""
    operation = old.writes.operation if attempt.observed.exists is None else _find_pending(attempt, now)
    return replace(
        old,
        manifest=replace(
            old.manifest,
            # The policy of an invalid manifest may be part of the mistake, and a later prune goes by the record.
            policy=attempt.policy if attempt.prepared.is_valid else old.manifest.policy,
            # Git has the manifest again, so the revision that had it last is searched once it is removed.
            last_revision="",
            hold=_find_hold(attempt),
            **make_declaration(attempt.prepared.resource),
        ),
        spec=replace(old.spec, generation=spec.generation, digest=spec.digest),
        writes=replace(old.writes, operation=_find_replacing(attempt) or operation),
        access=replace(old.access, operator=old.agent),
        exports=_join_exports(attempt),
        kept=_find_kept(attempt),
        condition=condition,
    )


def _decide_reconciled(attempt: ApplyAttempt, generation: int) -> int:
    """The last generation that a write was sent for, or that was found in Azure; with policy skip none is."""
    is_begun = attempt.write.tried or attempt.stop is None or attempt.decision.reported.verdict is Verdict.IN_SYNC
    old = attempt.record.spec.reconciled_generation if attempt.record else 0
    return generation if is_begun and attempt.policy.allows_modify else old


def _find_failure(attempt: ApplyAttempt, generation: int, now: datetime) -> FailedWrite | None:
    """Return the failed write that the next run tries again; one of an earlier run, if this one came to no write."""
    old = attempt.record.writes.failure if attempt.record else None
    if attempt.stop is None:  # it is as git has, also if a write was refused on the way there
        return None
    is_same = old is not None and old.generation == generation
    if attempt.write.removal.keeps:
        since = old.since if old and is_same else format_rfc3339(now)
        return FailedWrite(str(Action.UPDATE), since, generation, keeps=True)
    if attempt.write.has_failed:
        since = old.since if old and is_same else format_rfc3339(now)
        kind = old.kind if old else Action.UPDATE if attempt.write.existed else Action.CREATE
        # What Azure changed is drift, and stays it.
        undone = (difference.path for difference in attempt.decision.reported.differences if difference.rule in UNDONE)
        return FailedWrite(str(kind), since, generation, tuple(sorted({*(old.paths if old else ()), *undone})))
    has_ended = attempt.write.done is not Action.NONE and not attempt.write.unfinished
    return None if has_ended else old


def _find_streak(attempt: ApplyAttempt, now: datetime) -> WriteStreak | None:
    """Return the streak of writes that something undid."""
    old = attempt.record
    before = old.writes.streak if old else None
    if attempt.write.done is not Action.NONE:
        return extend_streak(before, attempt.decision.reported, now)
    if attempt.decision.streak or before is None or old is None:
        return attempt.decision.streak or before
    is_decided = attempt.decision.comparison is not None and attempt.decision.withheld is None
    if not is_decided or attempt.decision.action is not Action.NONE:
        return before
    moved_on = attempt.remembered is not None and attempt.remembered.applied != old.spec.applied
    # A run without differences ends a streak only if git changed or the resource was paused.
    return None if before.paused or moved_on else before


def _find_last_write(attempt: Attempt, rules: RunRules) -> LastWrite | None:
    """Return the last write of the resource; that on record if this run wrote nothing."""
    if attempt.session.last_write is not None:
        return replace(attempt.session.last_write, revision=rules.revision)
    return attempt.record.writes.last if attempt.record else None


def _merge_durations(attempt: ApplyAttempt) -> Durations:
    """Return the durations of the last writes, with those measured in this run."""
    old, measured = attempt.record.writes.durations if attempt.record else Durations(), attempt.write.durations
    if not measured:
        return old
    return Durations(
        create=renew_duration(old.create, measured.get(Action.CREATE)),
        update=renew_duration(old.update, measured.get(Action.UPDATE)),
    )


def _find_hold(attempt: ApplyAttempt) -> HeldUntil | None:
    """Return the hold of the manifest; the last one that was valid."""
    old = attempt.record
    return old.manifest.hold if old and not attempt.prepared.is_valid else attempt.prepared.hold


def _join_exports(attempt: ApplyAttempt) -> tuple[Address, ...]:
    old = attempt.record
    return tuple(sorted({*(old.exports if old else ()), *attempt.exported}))


def _find_kept(attempt: ApplyAttempt) -> Kept:
    old = attempt.record
    return list_kept(attempt.prepared, _find_given_id(attempt), old.kept if old else NOTHING_KEPT)


def _find_given_id(attempt: ApplyAttempt) -> str:
    """Return the id that the resource has at its provider, as far as this run has it."""
    shown = attempt.observed.live.body.get("id") if attempt.observed.live else None
    return shown if isinstance(shown, str) else attempt.write.given_id


def _decide_claim(attempt: ApplyAttempt) -> Claim:
    old = attempt.record
    if attempt.prepared.relations.written_by:
        return Claim.NONE
    if attempt.remembered is None and old and old.claim is not Claim.NONE:  # still expected
        return old.claim
    if attempt.remembered is None:
        return Claim.EXPECTED if is_expected(attempt.apply) else Claim.NONE
    written = attempt.write.done is not Action.NONE
    existed = attempt.write.existed if written else True
    return decide_claim(old, sent=written, existed=existed, differed=bool(attempt.decision.reported.differences))


def _find_replacing(attempt: ApplyAttempt) -> PendingOperation | None:
    """Return the replacement that is under way while the resource is gone, or still to be deleted."""
    record = attempt.record
    is_over = attempt.write.done is not Action.NONE or attempt.stop is None
    return record.writes.operation if record and record.is_replacing and not is_over else None


def _find_pending(attempt: ApplyAttempt, now: datetime) -> PendingOperation | None:
    return _find_operation(attempt, "update" if attempt.write.existed else "create", now)


def _find_operation(attempt: Attempt, kind: str, now: datetime) -> PendingOperation | None:
    """Return the operation that the next run continues."""
    if not attempt.write.unfinished:
        return None
    old = attempt.record.writes.operation if attempt.record else None
    # A create that still does not show after one more run is sent again.
    if old and attempt.write.done is Action.NONE:
        return old if attempt.observed.live is not None else None
    return PendingOperation(kind=kind, started_at=format_rfc3339(now))
