"""The outcome of an attempt: the result that is reported, and the record that is kept.

Separate from the stages, because an attempt can end in any of them, and the record must not depend on which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from gitsync.arm.session import INTERRUPTED
from gitsync.diff.three_way import UNDONE, remove_secrets
from gitsync.manifests.units import find_declaration
from gitsync.model.clock import format_rfc3339
from gitsync.model.condition import Condition, ConditionStatus, Hold, Severity
from gitsync.model.export import Address
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Node
from gitsync.model.provider import NOTHING_KEPT
from gitsync.model.record import Claim, Durations, FailedWrite, LastWrite, PendingOperation, Record, Trust, WriteStreak
from gitsync.model.result import Replacement, Result
from gitsync.model.verdict import DRIFTED, Action, Comparison, Verdict, Written
from gitsync.planning.actions import decide_claim
from gitsync.planning.claims import is_expected
from gitsync.planning.kept import find_kept
from gitsync.planning.record_counts import SpecGeneration, extend_streak, find_generation, renew_duration
from gitsync.planning.referrers import find_given_ids
from gitsync.planning.replacement import (
    REFUSED,
    REPLACEMENT_BEGUN,
    describe_rename,
    find_replacement,
    weigh_replacement,
)
from gitsync.reconcile.attempt import ApplyAttempt, PruneAttempt, Stop
from gitsync.reconcile.rules import RunRules
from gitsync.redaction import Redactions
from gitsync.report.masked import mask_condition, mask_hold
from gitsync.report.people import leave_out_of_condition
from gitsync.status.conditions import (
    DELETING,
    OVERLAP,
    READY,
    RECONCILING,
    find_code,
    is_after_write,
    is_replacement,
    make_warning,
)

ReconciledAttempt = ApplyAttempt | PruneAttempt

_HINDERED = frozenset({Verdict.BLOCKED, Verdict.INVALID, Verdict.UNKNOWN})

PLANNED = Condition(status=ConditionStatus.UNKNOWN, reason="Planned")
NO_TURN = Condition(
    status=ConditionStatus.UNKNOWN,
    reason=Hold.NOT_REACHED.value,
    message="The run ended before it reached this resource.",
)


def build_apply_result(attempt: ApplyAttempt, rules: RunRules, now: datetime, redactions: Redactions) -> Result:
    """Return the result of a finished apply."""
    spec = find_generation(attempt.record, attempt.prepared.resource.spec)
    creates = attempt.decision.action is Action.CREATE and attempt.request is not None and not rules.writes
    condition = _make_condition(attempt, spec.generation, rules, now, redactions)
    live = attempt.observed.live
    has_drifted = not rules.writes and _find_comparison(attempt).verdict in DRIFTED
    kept = leave_out_of_condition(condition)  # the status has no names of people
    record = _make_record(attempt, kept, spec, rules, now) if rules.writes else attempt.record
    if record and record.hold:
        record = replace(record, hold=mask_hold(record.hold, redactions.mask))
    return _build_result(
        attempt,
        condition,
        rules,
        is_ready=rules.writes or attempt.decision.streak is not None,
        live_body=live.body if live and has_drifted else None,
        body=remove_secrets(attempt.desired) if creates else None,
        replacement=_find_replacement(attempt) or _find_refused(attempt, rules),
        record=record,
    )


def _find_replacement(attempt: ApplyAttempt) -> Replacement | None:
    """Return the replacement that the comparison led to; None if something else has stopped one that was due."""
    replacement, stop = attempt.decision.replacement, attempt.stop
    is_stopped = stop is not None and stop.condition is not REPLACEMENT_BEGUN
    return None if replacement and replacement.is_due and is_stopped else replacement


def _find_refused(attempt: ApplyAttempt, rules: RunRules) -> Replacement | None:
    """What this run learned of its own write: Azure refused to change a field, and named it. The next run may replace
    the resource.
    """
    condition = attempt.stop.condition if attempt.stop else None
    if condition is None or condition.reason != REFUSED:
        return None
    differences, resource = _find_comparison(attempt).differences, attempt.prepared.resource
    found = find_replacement(attempt.kind.arm_type, differences, condition)
    if found is None:
        return None
    live = attempt.observed.live
    found = replace(found, given_ids=find_given_ids(live.body if live else None))
    weighed = weigh_replacement(
        found, differences, attempt.kind, resource, attempt.record, condition, prunes=rules.prune
    )
    return replace(weighed, is_due=False)


def build_prune_result(attempt: PruneAttempt, rules: RunRules, now: datetime, redactions: Redactions) -> Result:
    """Return the result of a finished prune."""
    if attempt.stop and attempt.write.done is Action.NONE and not rules.writes:  # a sync would stop there too
        attempt = attempt.with_decision(attempt.decision.changed(action=Action.NONE))
    condition = _make_condition(attempt, attempt.record.generation, rules, now, redactions)
    kept = leave_out_of_condition(condition)  # the status has no names of people
    record = _keep_record(attempt, kept, rules, now) if rules.writes else attempt.record
    return _build_result(attempt, condition, rules, is_ready=rules.writes, record=record)


def _build_result(
    attempt: ReconciledAttempt, condition: Condition, rules: RunRules, *, is_ready: bool, **more: Any
) -> Result:
    """`is_ready` says that the condition decides whether the result is fine; `more` are further members of `Result`."""
    comparison = _find_comparison(attempt)
    verdict = attempt.stop.verdict if attempt.stop and attempt.stop.verdict else comparison.verdict
    return Result(
        key=attempt.key,
        **_describe_node(attempt.apply if isinstance(attempt, ApplyAttempt) else attempt.prune),
        arm_id=attempt.arm_id or None,
        verdict=verdict,
        action=_find_done(attempt) if rules.writes else attempt.decision.action,
        written=_find_written(attempt),
        condition=condition,
        is_fine=_is_fine(attempt, condition, verdict, is_ready=is_ready),
        exists=_exists(attempt),
        is_retryable=attempt.stop is not None and attempt.stop.is_retryable,
        differences=comparison.differences,
        unverified=comparison.unverified,
        because=comparison.because,
        withheld=attempt.decision.withheld if verdict is Verdict.HELD else None,
        failed_since=_find_failed_since(attempt) if verdict is Verdict.FAILED_BEFORE else "",
        reviewed=attempt.decision.reviewed,
        change=attempt.decision.change,
        checks=attempt.decision.checks,
        attempts=attempt.session.list_failures(),
        requests=attempt.session.requests,
        sent=tuple(attempt.session.sent),
        fault=attempt.stop.fault if attempt.stop else None,
        blocked_by=attempt.stop.blocked_by if attempt.stop else None,
        is_tolerated=attempt.stop is not None and attempt.stop.is_tolerated,
        **more,
    )


def _find_done(attempt: ReconciledAttempt) -> Action:
    return Action.DELETE if attempt.write.is_deleting else attempt.write.done


def _find_written(attempt: ReconciledAttempt) -> Written:
    write = attempt.write
    if write.done not in {Action.NONE, Action.DETACH} or write.is_deleting or attempt.session.has_written:
        return Written.ACCEPTED
    return Written.UNKNOWN if write.sent is not None or write.is_unknown else Written.NOTHING


def _is_fine(attempt: ReconciledAttempt, condition: Condition, verdict: Verdict, *, is_ready: bool) -> bool:
    """`is_ready` says that the condition decides."""
    if attempt.stop and attempt.stop.is_fine:
        return True
    if is_ready:
        return condition.is_ready
    if attempt.stop and isinstance(attempt, ApplyAttempt) and attempt.prepared.is_watched:
        return False  # it does not exist, and this run will not make it
    if attempt.stop and condition.severity is Severity.ERROR:
        return False  # a sync would end with it as well
    return verdict not in _HINDERED


def _keep_record(attempt: PruneAttempt, condition: Condition, rules: RunRules, now: datetime) -> Record | None:
    """Return the record to keep. That of an unconfirmed delete stays, with its condition, or nothing would track it."""
    record = attempt.record
    if attempt.write.done in {Action.DELETE, Action.DETACH}:
        return record if attempt.prune.replaces else None
    if attempt.decision.action is not Action.DELETE:  # it was not to be deleted now
        return None if attempt.observed.exists is False else record
    is_newer = attempt.write.is_deleting or is_replacement(condition, record.condition)
    latest = condition if is_newer else record.condition
    operation = record.operation if attempt.prune.replaces else _find_operation(attempt, "delete", now)
    return replace(record, condition=latest, operation=operation, last_write=_find_last_write(attempt, rules))


def build_unattempted(node: Node, agent: str, now: datetime) -> Result:
    """Return the result of a node that the run did not reach. Its record stays as it is, but moves with its manifest to
    another unit, and says so if no condition speaks of this spec yet; a new one claims nothing. `agent` is the run's;
    records of other agents do not change.
    """
    record = node.record
    if (
        isinstance(node, Apply)
        and not node.held
        and (record.agent in {"", agent} if record else node.prepared.is_valid)
    ):
        prepared, resource = node.prepared, node.prepared.resource
        record = record or Record(
            key=node.key,
            manifest_api_version=resource.gvk.api_version,
            arm_id=prepared.arm_id or "",
            arm_api_version=prepared.api_version or "",
            policy=prepared.policy,
            owner=prepared.owner.key if prepared.owner else None,
            depends_on=prepared.depends_on,
            agent=agent,
            operator=agent,
            credential=prepared.credential,
        )
        hold = prepared.hold if prepared.is_valid else record.hold
        record = replace(record, **find_declaration(resource), last_revision="", hold=hold)
        spec = find_generation(record, resource.spec)
        condition = replace(NO_TURN, generation=spec.generation, time=format_rfc3339(now))
        if is_replacement(condition, record.condition):
            record = replace(record, generation=spec.generation, spec_digest=spec.digest, condition=condition)
    arm_id = node.prepared.arm_id if isinstance(node, Apply) else node.record.arm_id
    return Result(
        key=node.key,
        **_describe_node(node),
        arm_id=arm_id or None,
        verdict=Verdict.UNKNOWN,
        condition=NO_TURN,
        is_fine=False,
        exists=_was_ours(record),
        is_retryable=True,
        record=record,
    )


def _describe_node(node: Node) -> dict[str, Any]:
    """Return the members of a result that follow from the manifest of a node, or else from its record."""
    if isinstance(node, Apply):
        prepared = node.prepared
        return {
            "manifest_api_version": prepared.resource.gvk.api_version,
            "source": prepared.resource.source,
            "policy": prepared.policy,
            "policy_reason": prepared.policy_reason,
            "rendered_by": prepared.resource.rendered_by,
            "owner": prepared.owner.key if prepared.owner else None,
            "depends_on": prepared.depends_on,
            "renamed": node.renamed,
            "hold": node.hold,
        }
    record = node.record
    return {
        "manifest_api_version": record.manifest_api_version,
        "source": None,
        "policy": record.policy,
        "owner": record.owner,
        "depends_on": record.depends_on,
        "last_commit": node.last_commit,
        "last_source": node.last_source,
        "renamed": node.renamed,
        "deleted_with": node.within,
        "hold": node.hold,
    }


def find_forgotten_exports(
    before: Mapping[Key, Record], results: Mapping[Key, Result]
) -> dict[Key, tuple[Address, ...]]:
    """Return the exports of resources whose records are removed."""
    return {key: before[key].exports for key, result in results.items() if key in before and result.record is None}


def _find_comparison(attempt: ReconciledAttempt) -> Comparison:
    return attempt.decision.first_comparison or attempt.decision.comparison or Comparison(verdict=Verdict.UNKNOWN)


def _exists(attempt: ReconciledAttempt) -> bool:
    """Tell whether the resource exists, as far as this run knows. Of one that was not read the record says it, unless
    its owner does not exist: Azure has nothing below that.
    """
    if attempt.observed.exists is not None:
        return attempt.observed.exists
    return _was_ours(attempt.record) and not (isinstance(attempt, ApplyAttempt) and _lacks_owner(attempt))


def _lacks_owner(attempt: ApplyAttempt) -> bool:
    owner = attempt.prepared.owner
    result = attempt.before.get(owner.key) if owner and owner.key else None
    return result is not None and not result.exists


def _was_ours(record: Record | None) -> bool:
    return record is not None and record.claim.is_ours


def _make_condition(
    attempt: ReconciledAttempt, generation: int, rules: RunRules, now: datetime, redactions: Redactions
) -> Condition:
    time = format_rfc3339(now)
    if attempt.stop:
        condition = _make_interrupted(attempt, attempt.stop) or attempt.stop.condition
        masked = mask_condition(condition, redactions.mask)  # as is the recorded one: they are compared
        return replace(masked, generation=generation, time=time)
    if rules.writes:
        return make_ready(generation, time)
    note, is_settled = " ".join(filter(None, _list_notes(attempt))), _is_settled(attempt)
    return _make_planned(attempt.record, note, _find_failed_since(attempt), is_settled=is_settled)


def _is_settled(attempt: ReconciledAttempt) -> bool:
    """Tell whether the plan answers what the last run could not do, so that its condition holds no more: the resource
    is in sync now, or consent was given to replace it.
    """
    is_in_sync = attempt.decision.action is Action.NONE and _find_comparison(attempt).verdict is Verdict.IN_SYNC
    return is_in_sync or attempt.decision.action is Action.REPLACE


def _make_interrupted(attempt: ReconciledAttempt, stop: Stop) -> Condition | None:
    """Make the condition of a resource that was under way when a person or a scheduler stopped the run; None for one
    that had come to its end. What it waited for, or would have tried again, is no failure.
    """
    session, code = attempt.session, find_code(stop.condition)
    is_open = stop.waits or stop.is_late or code in {INTERRUPTED, RECONCILING.reason, DELETING.reason}
    if not session.is_ended or not is_open:
        return None
    if code == INTERRUPTED:
        message = stop.condition.message.removeprefix(f"{code}: ")
    elif code in {RECONCILING.reason, DELETING.reason}:
        message = f"{session.end_reason} while Azure works on it. {session.last_error(session.stage)}".rstrip()
    else:
        message = f"{session.end_reason} before another try. Last error: {code}: {stop.condition.message}"
    return make_warning(INTERRUPTED, message)


@lru_cache(maxsize=256)  # most resources of a second are ready, and were never changed
def make_ready(generation: int, time: str) -> Condition:
    """Return the condition of a resource that is ready; `time` is RFC 3339."""
    return replace(READY, generation=generation, time=time)


def _list_notes(attempt: ReconciledAttempt) -> tuple[str, ...]:
    """What a plan says of a resource, in sentences."""
    if isinstance(attempt, PruneAttempt):
        return (attempt.prune.reason, attempt.decision.note)
    # A plan that has the id from the record knows it, whatever the doubt.
    is_unknown = attempt.id_doubt and (attempt.prepared.id_doubt or "<" in attempt.arm_id)
    unknown_id = f"The ARM id is not known yet: {attempt.id_doubt.rstrip('.')}." if is_unknown else ""
    return (describe_rename(attempt.apply.renamed), unknown_id, attempt.decision.note)


def _make_planned(record: Record | None, note: str, failed_since: str, *, is_settled: bool) -> Condition:
    """Return the condition of a plan: that of the last run, marked as such. The note comes first: it names calls that a
    sync would make in addition to the write. What failed before keeps its cause beside the note. Of what is settled
    only a failure after the write is left, which a plan does not look at again: an export, or a check.
    """
    if record is None or record.condition is None or (note and not failed_since):
        return replace(PLANNED, message=note)
    last = record.condition
    if is_settled and not last.is_ready and not is_after_write(last):
        return PLANNED
    if not failed_since:
        return replace(last, message=f"Last run: {last.message}") if last.message else last
    cause = ": ".join(filter(None, (last.reason, last.message)))
    retry = f"Failed since {failed_since}; a sync tries again."
    return replace(last, message=" ".join(filter(None, (retry, note, f"Last run: {cause}"))))


def _find_failed_since(attempt: ReconciledAttempt) -> str:
    """Return since when a resource that failed before has failed; "" for any other."""
    record = attempt.record
    if record is None or _find_comparison(attempt).verdict is not Verdict.FAILED_BEFORE:
        return ""
    return record.failure.since if record.failure else record.condition.time if record.condition else ""


def _make_record(
    attempt: ApplyAttempt, condition: Condition, spec: SpecGeneration, rules: RunRules, now: datetime
) -> Record:
    old, prepared = attempt.record, attempt.prepared
    if old and (attempt.apply.held or (attempt.stop and attempt.stop.condition.reason == OVERLAP)):
        return old
    if old and old.condition and not is_replacement(condition, old.condition):
        condition = old.condition
    if old and attempt.request is None and not prepared.written_by:
        return _revise_record(attempt, old, condition, spec, now)
    remembered = attempt.remembered
    return Record(
        key=attempt.key,
        manifest_api_version=prepared.resource.gvk.api_version,
        arm_id=attempt.arm_id,
        arm_api_version=attempt.api_version,
        claim=_find_claim(attempt),
        policy=attempt.policy,
        reconciled_generation=_find_reconciled(attempt, spec.generation),
        **_revise(attempt, spec),
        applied=remembered.applied if remembered else None,
        baseline=remembered.baseline if remembered else None,
        operation=_find_replacing(attempt) or _find_pending(attempt, now),
        writes=(old.writes if old else 0) + (attempt.write.done is not Action.NONE),
        failure=_find_failure(attempt, spec.generation, now),
        streak=_find_streak(attempt, now),
        last_write=_find_last_write(attempt, rules),
        durations=_find_durations(attempt),
        owner=prepared.owner.key if prepared.owner else None,
        depends_on=prepared.depends_on,
        agent=rules.agent,
        operator=rules.agent,
        credential=prepared.credential,
        subscription=attempt.subscription if prepared.credential else "",
        condition=condition,
        trust=old.trust if old else Trust.UNCHECKED,
    )


def _revise_record(
    attempt: ApplyAttempt, old: Record, condition: Condition, spec: SpecGeneration, now: datetime
) -> Record:
    """Return the record of an attempt that stopped before its request was made."""
    return replace(
        old,
        **_revise(attempt, spec),
        policy=attempt.policy if attempt.prepared.is_valid else old.policy,
        operation=_find_replacing(attempt)
        or (old.operation if attempt.observed.exists is None else _find_pending(attempt, now)),
        operator=old.agent,
        condition=condition,
    )


def _find_reconciled(attempt: ApplyAttempt, generation: int) -> int:
    """The last generation that a write was sent for, or that was found in Azure; with policy skip none is."""
    is_begun = attempt.write.tried or attempt.stop is None or _find_comparison(attempt).verdict is Verdict.IN_SYNC
    old = attempt.record.reconciled_generation if attempt.record else 0
    return generation if is_begun and attempt.policy.allows_modify else old


def _find_failure(attempt: ApplyAttempt, generation: int, now: datetime) -> FailedWrite | None:
    """Return the failed write that the next run tries again; one of an earlier run, if this one came to no write."""
    old = attempt.record.failure if attempt.record else None
    if attempt.stop is None:  # it is as git says, also if a write was refused on the way there
        return None
    is_same = old is not None and old.generation == generation
    if attempt.write.keeps:
        since = old.since if old and is_same else format_rfc3339(now)
        return FailedWrite(str(Action.UPDATE), since, generation, keeps=True)
    if attempt.write.has_failed:
        since = old.since if old and is_same else format_rfc3339(now)
        kind = old.kind if old else Action.UPDATE if attempt.write.existed else Action.CREATE
        # What Azure changed is drift, and stays it.
        undone = (one.path for one in _find_comparison(attempt).differences if one.rule in UNDONE)
        return FailedWrite(str(kind), since, generation, tuple(sorted({*(old.paths if old else ()), *undone})))
    has_ended = attempt.write.done is not Action.NONE and not attempt.write.unfinished
    return None if has_ended else old


def _find_streak(attempt: ApplyAttempt, now: datetime) -> WriteStreak | None:
    """Return the streak of writes that something undid. A run without differences ends a streak only if git changed or
    the resource was paused.
    """
    old = attempt.record
    before = old.streak if old else None
    if attempt.write.done is not Action.NONE:
        return extend_streak(before, _find_comparison(attempt), now)
    if attempt.decision.streak or before is None or old is None:
        return attempt.decision.streak or before
    is_decided = attempt.decision.comparison is not None and attempt.decision.withheld is None
    if not is_decided or attempt.decision.action is not Action.NONE:
        return before
    moved_on = attempt.remembered is not None and attempt.remembered.applied != old.applied
    return None if before.held or moved_on else before


def _find_last_write(attempt: ReconciledAttempt, rules: RunRules) -> LastWrite | None:
    """Return the last write of the resource; that on record if this run wrote nothing."""
    if attempt.session.last_write is not None:
        return replace(attempt.session.last_write, revision=rules.revision)
    return attempt.record.last_write if attempt.record else None


def _find_durations(attempt: ApplyAttempt) -> Durations:
    """Return the durations of the last writes, with those that this run has seen."""
    old, write = attempt.record.durations if attempt.record else Durations(), attempt.write
    if write.create_seconds is None and write.update_seconds is None:
        return old
    return Durations(
        create=renew_duration(old.create, write.create_seconds), update=renew_duration(old.update, write.update_seconds)
    )


def _revise(attempt: ApplyAttempt, spec: SpecGeneration) -> dict[str, Any]:
    """Return the members of a record that follow from the manifest: its spec, its unit (always the current one, since a
    later prune searches there), the exports of the resource, and its hold (the last one that was valid).
    """
    old = attempt.record
    exported = {*(old.exports if old else ()), *attempt.exported}
    return {
        "generation": spec.generation,
        "spec_digest": spec.digest,
        "exports": tuple(sorted(exported)),
        "hold": old.hold if old and not attempt.prepared.is_valid else attempt.prepared.hold,
        "kept": find_kept(attempt.prepared, _find_given_id(attempt), old.kept if old else NOTHING_KEPT),
        "last_revision": "",
        **find_declaration(attempt.prepared.resource),
    }


def _find_given_id(attempt: ApplyAttempt) -> str:
    """Return the id that the resource has at its provider, as far as this run knows."""
    shown = attempt.observed.live.body.get("id") if attempt.observed.live else None
    return shown if isinstance(shown, str) else attempt.write.given_id


def _find_claim(attempt: ApplyAttempt) -> Claim:
    old = attempt.record
    if attempt.prepared.written_by:
        return Claim.NONE
    if attempt.remembered is None and old and old.claim is not Claim.NONE:  # still expected
        return old.claim
    if attempt.remembered is None:
        return Claim.EXPECTED if is_expected(attempt.apply) else Claim.NONE
    written = attempt.write.done is not Action.NONE
    existed = attempt.write.existed if written else True
    return decide_claim(old, sent=written, existed=existed, differed=bool(_find_comparison(attempt).differences))


def _find_replacing(attempt: ApplyAttempt) -> PendingOperation | None:
    """Return the replacement that is under way while the resource is gone, or still to be deleted."""
    record = attempt.record
    is_over = attempt.write.done is not Action.NONE or attempt.stop is None
    return record.operation if record and record.is_replacing and not is_over else None


def _find_pending(attempt: ApplyAttempt, now: datetime) -> PendingOperation | None:
    return _find_operation(attempt, "update" if attempt.write.existed else "create", now)


def _find_operation(attempt: ReconciledAttempt, kind: str, now: datetime) -> PendingOperation | None:
    """Return the operation that the next run continues. A create that is still not visible after one more run is sent
    again.
    """
    if not attempt.write.unfinished:
        return None
    old = attempt.record.operation if attempt.record else None
    if old and attempt.write.done is Action.NONE:
        return old if attempt.observed.live is not None else None
    return PendingOperation(kind=kind, started_at=format_rfc3339(now))
