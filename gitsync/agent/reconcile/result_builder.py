"""The result of an attempt, as it is reported: its condition, and what was found and done.

Separate from the stages, because an attempt can end in any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from gitsync.agent.reconcile.attempt import ApplyAttempt, Attempt, PruneAttempt, Stop, StopKind
from gitsync.agent.reconcile.record_builder import build_apply_record, build_unattempted_record, keep_prune_record
from gitsync.agent.reconcile.rules import RunRules
from gitsync.agent.reconcile.shortened_differences import shorten_difference, shorten_outside, shorten_resets
from gitsync.desired.request.default_tags import list_default_tags
from gitsync.model.clock import format_rfc3339
from gitsync.model.condition import Condition, ConditionStatus, Severity, WaitReason
from gitsync.model.export import Address
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Node, Prune
from gitsync.model.record import Record
from gitsync.model.result import (
    NOTHING_CHANGED,
    NOTHING_NOTED,
    AttemptEnding,
    ComparisonNotes,
    ManifestOrigin,
    Replacement,
    Result,
    ResultChange,
)
from gitsync.model.verdict import DRIFTED, Action, Verdict, Written
from gitsync.planning.diff.three_way import remove_secrets
from gitsync.planning.record_counts import decide_generation
from gitsync.planning.referrers import list_given_ids
from gitsync.planning.replacement import (
    REFUSED,
    REPLACEMENT_BEGUN,
    decide_replacement,
    describe_rename,
    find_replacement,
)
from gitsync.planning.status.conditions import (
    DELETING,
    READY,
    RECONCILING,
    find_code,
    is_after_write,
    make_warning,
)
from gitsync.providers.arm.session import INTERRUPTED
from gitsync.report.hidden_people import leave_out_of_condition
from gitsync.report.masked import mask_condition, mask_hold
from gitsync.settings.redaction import Redactions

_HINDERED = frozenset({Verdict.BLOCKED, Verdict.INVALID, Verdict.UNKNOWN})

PLANNED = Condition(status=ConditionStatus.UNKNOWN, reason="Planned")
NO_TURN = Condition(
    status=ConditionStatus.UNKNOWN,
    reason=WaitReason.NOT_REACHED.value,
    message="The run ended before it reached this resource.",
)


def build_apply_result(attempt: ApplyAttempt, rules: RunRules, now: datetime, redactions: Redactions) -> Result:
    """Return the result of a finished apply."""
    spec = decide_generation(attempt.record, attempt.prepared.resource.spec)
    condition = _make_condition(attempt, spec.generation, rules, now, redactions)
    kept = leave_out_of_condition(condition)  # the status has no names of people
    record = build_apply_record(attempt, kept, spec, rules, now) if rules.writes else _acknowledge(attempt)
    if record and record.manifest.hold:
        manifest = replace(record.manifest, hold=mask_hold(record.manifest.hold, redactions.mask))
        record = replace(record, manifest=manifest)
    is_ready = rules.writes or attempt.decision.streak is not None
    return _build_result(attempt, condition, rules, redactions, record, is_ready=is_ready)


def _acknowledge(attempt: ApplyAttempt) -> Record | None:
    """Return the record of a plan: that of the last run, with the outside values that people acknowledge."""
    record, acknowledged = attempt.record, attempt.decision.outside_action.acknowledged
    return replace(record, spec=replace(record.spec, outside=acknowledged)) if record and acknowledged else record


def _find_replacement(attempt: ApplyAttempt) -> Replacement | None:
    """Return the replacement that the comparison led to; None if something else has stopped one that was due."""
    replacement, stop = attempt.decision.replacement, attempt.stop
    is_stopped = stop is not None and stop.condition is not REPLACEMENT_BEGUN
    return None if replacement and replacement.is_due and is_stopped else replacement


def _find_refused(attempt: ApplyAttempt, rules: RunRules) -> Replacement | None:
    """The result of this run's own write: Azure refused to change a field, and named it. The next run may replace the
    resource.
    """
    condition = attempt.stop.condition if attempt.stop else None
    if condition is None or condition.reason != REFUSED:
        return None
    differences, resource = attempt.decision.reported.differences, attempt.prepared.resource
    found = find_replacement(attempt.kind.arm_type, differences, condition)
    if found is None:
        return None
    live = attempt.observed.live
    found = replace(found, given_ids=list_given_ids(live.body if live else None))
    decided = decide_replacement(
        found, differences, attempt.kind, resource, attempt.record, condition, prunes=rules.prune
    )
    return replace(decided, is_due=False)


def build_prune_result(attempt: PruneAttempt, rules: RunRules, now: datetime, redactions: Redactions) -> Result:
    """Return the result of a finished prune."""
    if attempt.stop and attempt.write.done is Action.NONE and not rules.writes:  # a sync would stop there too
        attempt = attempt.with_decision(replace(attempt.decision, action=Action.NONE))
    condition = _make_condition(attempt, attempt.record.spec.generation, rules, now, redactions)
    kept = leave_out_of_condition(condition)  # the status has no names of people
    record = keep_prune_record(attempt, kept, rules, now) if rules.writes else attempt.record
    return _build_result(attempt, condition, rules, redactions, record, is_ready=rules.writes)


def _build_result(
    attempt: Attempt,
    condition: Condition,
    rules: RunRules,
    redactions: Redactions,
    record: Record | None,
    *,
    is_ready: bool,
) -> Result:
    """With `is_ready`, the condition decides whether the result is fine."""
    comparison = attempt.decision.reported
    verdict = attempt.stop.verdict if attempt.stop and attempt.stop.verdict else comparison.verdict
    node = attempt.apply if isinstance(attempt, ApplyAttempt) else attempt.prune
    return Result(
        key=attempt.key,
        arm_id=attempt.arm_id or None,
        manifest=_describe_manifest(node),
        verdict=verdict,
        action=_find_done(attempt) if rules.writes else attempt.decision.action,
        condition=condition,
        is_fine=_is_fine(attempt, condition, verdict, is_ready=is_ready),
        differences=tuple(shorten_difference(difference, redactions.mask) for difference in comparison.differences),
        comparison=_note_comparison(attempt, verdict, rules, redactions),
        change=_describe_change(attempt, rules, redactions),
        attempts=attempt.session.list_failures(),
        ending=_describe_ending(attempt, verdict),
        record=record,
    )


def _note_comparison(attempt: Attempt, verdict: Verdict, rules: RunRules, redactions: Redactions) -> ComparisonNotes:
    comparison, live = attempt.decision.reported, attempt.observed.live
    withheld = attempt.decision.withheld if verdict is Verdict.HELD else None
    outside, resets = attempt.decision.outside, attempt.decision.resets
    may_accept = isinstance(attempt, ApplyAttempt) and not rules.writes
    live_body = live.body if live and may_accept and (comparison.verdict in DRIFTED or outside or resets) else None
    if not (comparison.unverified or comparison.because or withheld or outside) and live_body is None:
        return NOTHING_NOTED  # as most
    return ComparisonNotes(
        unverified=comparison.unverified,
        because=comparison.because,
        live_body=live_body,
        withheld=withheld,
        outside=shorten_outside(outside, redactions.mask),
    )


def _describe_change(attempt: Attempt, rules: RunRules, redactions: Redactions) -> ResultChange:
    decision = attempt.decision
    if isinstance(attempt, PruneAttempt):
        return ResultChange(
            planned=decision.change,
            checks=decision.checks,
            reviewed=decision.reviewed,
            renamed=attempt.prune.renamed,
            deleted_with=attempt.prune.within,
        )
    creates = decision.action is Action.CREATE and attempt.request is not None and not rules.writes
    replacement, renamed = _find_replacement(attempt) or _find_refused(attempt, rules), attempt.apply.renamed
    is_plain = not (creates or decision.change or decision.checks or decision.reviewed or replacement or renamed)
    restores = () if decision.action is Action.NONE else decision.outside_action.restores
    if is_plain and not decision.resets and not restores:
        return NOTHING_CHANGED  # as most
    return ResultChange(
        planned=decision.change,
        checks=decision.checks,
        body=remove_secrets(attempt.desired) if creates else None,
        default_tags=list_default_tags(attempt.apply.prepared.resource) if creates else {},
        reviewed=decision.reviewed,
        replacement=replacement,
        renamed=renamed,
        resets=shorten_resets(decision.resets, redactions.mask),
        restores=shorten_outside(restores, redactions.mask),
    )


def _describe_ending(attempt: Attempt, verdict: Verdict) -> AttemptEnding:
    stop, session = attempt.stop, attempt.session
    return AttemptEnding(
        exists=_exists(attempt),
        is_retryable=stop is not None and stop.kind.is_retryable,
        is_tolerated=stop is not None and stop.kind.is_tolerated,
        fault=stop.fault if stop else None,
        blocked_by=stop.blocked_by if stop else None,
        failed_since=_find_failed_since(attempt) if verdict is Verdict.FAILED_BEFORE else "",
        requests=session.requests,
        sent=tuple(session.sent),
        written=_decide_written(attempt),
    )


def _find_done(attempt: Attempt) -> Action:
    return Action.DELETE if attempt.write.pending_delete is Written.ACCEPTED else attempt.write.done


def _decide_written(attempt: Attempt) -> Written:
    write = attempt.write
    if write.done not in {Action.NONE, Action.DETACH} or attempt.session.has_written:
        return Written.ACCEPTED
    return Written.UNKNOWN if write.sent is not None else write.pending_delete


def _is_fine(attempt: Attempt, condition: Condition, verdict: Verdict, *, is_ready: bool) -> bool:
    """With `is_ready`, the condition decides."""
    if attempt.stop and attempt.stop.kind.is_fine:
        return True
    if is_ready:
        return condition.is_ready
    if attempt.stop and isinstance(attempt, ApplyAttempt) and attempt.prepared.is_watched:
        return False  # it does not exist, and this run will not make it
    if attempt.stop and condition.severity is Severity.ERROR:
        return False  # a sync would end with it as well
    return verdict not in _HINDERED


def build_unattempted(node: Node, agent: str, now: datetime) -> Result:
    """Return the result of a node that the run did not reach. `agent` is the run's."""
    record = build_unattempted_record(node, agent, replace(NO_TURN, time=format_rfc3339(now)))
    arm_id = node.prepared.arm_id if isinstance(node, Apply) else node.record.arm_id
    within = node.within if isinstance(node, Prune) else None
    return Result(
        key=node.key,
        arm_id=arm_id or None,
        manifest=_describe_manifest(node),
        verdict=Verdict.UNKNOWN,
        condition=NO_TURN,
        is_fine=False,
        change=ResultChange(renamed=node.renamed, deleted_with=within),
        ending=AttemptEnding(exists=_was_ours(record), is_retryable=True),
        record=record,
    )


def _describe_manifest(node: Node) -> ManifestOrigin:
    """Return what a result has of the manifest of a node, or else of its record."""
    if isinstance(node, Apply):
        prepared = node.prepared
        return ManifestOrigin(
            api_version=prepared.resource.gvk.api_version,
            source=prepared.resource.source,
            policy=prepared.policy,
            policy_reason=prepared.policy_reason,
            owner=prepared.relations.owner.key if prepared.relations.owner else None,
            depends_on=prepared.relations.depends_on,
            rendered_by=prepared.resource.rendered_by,
            hold=node.hold,
        )
    recorded = node.record.manifest
    return ManifestOrigin(
        api_version=recorded.api_version,
        source=None,
        policy=recorded.policy,
        owner=recorded.owner,
        depends_on=recorded.depends_on,
        hold=node.hold,
        last_commit=node.last_commit,
        last_source=node.last_source,
    )


def collect_forgotten_exports(
    before: Mapping[Key, Record], results: Mapping[Key, Result]
) -> dict[Key, tuple[Address, ...]]:
    """Return the exports of resources whose records are removed."""
    return {key: before[key].exports for key, result in results.items() if key in before and result.record is None}


def _exists(attempt: Attempt) -> bool:
    """Return whether the resource exists, as far as this run has read it."""
    if attempt.observed.exists is not None:
        return attempt.observed.exists
    # Without a read the record decides, unless the owner does not exist: Azure has nothing below that.
    return _was_ours(attempt.record) and not (isinstance(attempt, ApplyAttempt) and _lacks_owner(attempt))


def _lacks_owner(attempt: ApplyAttempt) -> bool:
    owner = attempt.prepared.relations.owner
    result = attempt.before.get(owner.key) if owner and owner.key else None
    return result is not None and not result.ending.exists


def _was_ours(record: Record | None) -> bool:
    return record is not None and record.claim.is_ours


def _make_condition(
    attempt: Attempt, generation: int, rules: RunRules, now: datetime, redactions: Redactions
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


def _is_settled(attempt: Attempt) -> bool:
    """Return whether the plan answers what the last run could not do, so that its condition holds no more: the resource
    is in sync now, or consent was given to replace it.
    """
    is_in_sync = attempt.decision.action is Action.NONE and attempt.decision.reported.verdict is Verdict.IN_SYNC
    return is_in_sync or attempt.decision.action is Action.REPLACE


def _make_interrupted(attempt: Attempt, stop: Stop) -> Condition | None:
    """Make the condition of a resource that was under way when a person or a scheduler stopped the run; None for one
    that had come to its end.
    """
    session, code = attempt.session, find_code(stop.condition)
    is_open = stop.kind in {StopKind.WAITS, StopKind.LATE} or code in {INTERRUPTED, RECONCILING.reason, DELETING.reason}
    if not session.is_ended or not is_open:
        return None
    if code == INTERRUPTED:
        message = stop.condition.message.removeprefix(f"{code}: ")
    elif code in {RECONCILING.reason, DELETING.reason}:
        message = f"{session.end_reason} while Azure works on it. {session.last_error(session.stage)}".rstrip()
    else:
        message = f"{session.end_reason} before another try. Last error: {code}: {stop.condition.message}"
    # What the resource waited for, or would have tried again, is not a failure.
    return make_warning(INTERRUPTED, message)


@lru_cache(maxsize=256)  # most resources of a second are ready, and were never changed
def make_ready(generation: int, time: str) -> Condition:
    """Return the condition of a resource that is ready; `time` is RFC 3339."""
    return replace(READY, generation=generation, time=time)


def _list_notes(attempt: Attempt) -> tuple[str, ...]:
    """What a plan reports of a resource, in sentences."""
    if isinstance(attempt, PruneAttempt):
        return (attempt.prune.reason, attempt.decision.note)
    # A plan that has the id from the record has it, whatever the doubt.
    is_unknown = attempt.id_doubt and (attempt.prepared.id_doubt or "<" in attempt.arm_id)
    unknown_id = f"The ARM id is not known yet: {attempt.id_doubt.rstrip('.')}." if is_unknown else ""
    return (describe_rename(attempt.apply.renamed), unknown_id, attempt.decision.note)


def _make_planned(record: Record | None, note: str, failed_since: str, *, is_settled: bool) -> Condition:
    """Return the condition of a plan: that of the last run, marked as such. An earlier failure keeps its cause beside
    the note.
    """
    # The note comes first: it names calls that a sync would make in addition to the write.
    if record is None or record.condition is None or (note and not failed_since):
        return replace(PLANNED, message=note)
    last = record.condition
    # Of a resource in sync, only a failure after the write is left, which a plan does not repeat: an export, or a
    # check.
    if is_settled and not last.is_ready and not is_after_write(last):
        return PLANNED
    if not failed_since:
        return replace(last, message=f"Last run: {last.message}") if last.message else last
    cause = ": ".join(filter(None, (last.reason, last.message)))
    retry = f"Failed since {failed_since}; a sync tries again."
    return replace(last, message=" ".join(filter(None, (retry, note, f"Last run: {cause}"))))


def _find_failed_since(attempt: Attempt) -> str:
    """Return since when a resource that failed before has failed; "" for any other."""
    record = attempt.record
    if record is None or attempt.decision.reported.verdict is not Verdict.FAILED_BEFORE:
        return ""
    return record.writes.failure.since if record.writes.failure else record.condition.time if record.condition else ""
