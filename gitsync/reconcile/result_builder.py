"""The outcome of a turn: the result that is reported, and the record that is kept.

Separate from the stages, because a turn can end in any of them, and the record must not depend on which.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from gitsync.manifests.units import find_unit
from gitsync.model.clock import format_rfc3339
from gitsync.model.condition import Condition, ConditionStatus
from gitsync.model.export import Address
from gitsync.model.gvk import Key
from gitsync.model.plan import Intent, Node
from gitsync.model.policy import Policy
from gitsync.model.record import Claim, PendingOperation, Record, WriteStreak
from gitsync.model.result import Result
from gitsync.model.verdict import Action, Comparison, Verdict
from gitsync.planning.actions import decide_claim
from gitsync.planning.expected import is_expected
from gitsync.planning.flapping import extend_streak
from gitsync.reconcile.attempt import ReconcileAttempt
from gitsync.report.masked import mask_condition
from gitsync.status.conditions import OVERLAP, READY, is_replacement

_HINDERED = frozenset({Verdict.BLOCKED, Verdict.INVALID, Verdict.UNKNOWN})

PLANNED = Condition(status=ConditionStatus.UNKNOWN, reason="Planned")
NO_TURN = Condition(
    status=ConditionStatus.UNKNOWN, reason="NotReached", message="The run ended before it reached this resource."
)


def build_result(turn: ReconcileAttempt) -> Result:
    """The result of a turn that has come to its end."""
    comparison = _told(turn)
    verdict = turn.stop.verdict if turn.stop and turn.stop.verdict else comparison.verdict
    spec = _spec(turn)
    condition = _condition(turn, spec.generation)
    writes = turn.run.rules.writes
    blank = build_unattempted(turn.node, turn.run.rules.agent)
    return replace(
        blank,
        arm_id=turn.arm_id or blank.arm_id,
        verdict=verdict,
        action=turn.done if writes else turn.action,
        condition=condition,
        is_fine=_is_fine(turn, condition, verdict),
        exists=turn.exists if turn.exists is not None else _was_ours(turn.node),
        may_mend=turn.stop is not None and turn.stop.may_mend,
        differences=comparison.differences,
        unverified=comparison.unverified,
        because=comparison.because,
        reviewed=turn.reviewed,
        attempts=tuple(turn.conversation.attempts),
        requests=turn.conversation.requests,
        record=_kept(turn, condition, spec) if writes else turn.node.record,
        fault=turn.stop.fault if turn.stop else None,
    )


def _is_fine(turn: ReconcileAttempt, condition: Condition, verdict: Verdict) -> bool:
    if turn.stop and turn.stop.is_fine:
        return True
    if turn.run.rules.writes or turn.row:
        return condition.is_ready
    if turn.stop and turn.node.prepared and turn.node.prepared.is_watched:
        return False  # it is not there, and this run will not make it
    return verdict not in _HINDERED


def _kept(turn: ReconcileAttempt, condition: Condition, spec: _Spec) -> Record | None:
    """What to remember: an unconfirmed delete stays, with what stood against it, or it would be lost track of."""
    record = turn.node.record
    if turn.node.intent is Intent.APPLY:
        return _record(turn, condition, spec)
    if record is None or turn.done in {Action.DELETE, Action.DETACH}:
        return None
    if turn.action is not Action.DELETE:  # it was not to be deleted now
        return record
    kept = condition if is_replacement(condition, record.condition) else record.condition
    return replace(record, condition=kept, operation=_operation(turn))


def build_unattempted(node: Node, agent: str) -> Result:
    """The result of a node that the run had no time for: all that is known of it in Azure stays as it is. `agent` is
    the run's; a record of another one is left alone.
    """
    prepared, record = node.prepared, node.record
    if record and record.agent in {"", agent}:
        record = replace(record, unit=_unit(node))
    return Result(
        key=node.key,
        manifest_api_version=prepared.resource.gvk.api_version if prepared else _api_version(record),
        source=prepared.resource.source if prepared else None,
        arm_id=(prepared.arm_id if prepared else record.arm_id if record else None) or None,
        policy=prepared.policy if prepared else record.policy if record else Policy.MANAGE,
        verdict=Verdict.UNKNOWN,
        condition=NO_TURN,
        is_fine=False,
        exists=_was_ours(node),
        may_mend=True,
        record=record,
        owner=_owner(node),
        depends_on=prepared.depends_on if prepared else record.depends_on if record else (),
    )


def find_forgotten_exports(
    before: Mapping[Key, Record], results: Mapping[Key, Result]
) -> dict[Key, tuple[Address, ...]]:
    """What the resources exported whose records go."""
    return {key: before[key].exports for key, result in results.items() if key in before and result.record is None}


def _owner(node: Node) -> Key | None:
    if node.prepared:
        return node.prepared.owner.key if node.prepared.owner else None
    return node.record.owner if node.record else None


def _told(turn: ReconcileAttempt) -> Comparison:
    return turn.told or turn.comparison or Comparison(verdict=Verdict.UNKNOWN)


def _was_ours(node: Node) -> bool:
    return node.record is not None and node.record.claim.is_ours


def _api_version(record: Record | None) -> str:
    return record.manifest_api_version if record else ""


def _condition(turn: ReconcileAttempt, generation: int) -> Condition:
    if turn.stop:
        new = turn.stop.condition
    elif turn.run.rules.writes:
        new = READY
    else:
        return _last_said(turn.node.record, " ".join(text for text in (turn.node.reason, turn.note) if text))
    new = mask_condition(new, turn.run.redactions.mask)  # before it is compared with what was kept the last time
    return replace(new, generation=generation, time=format_rfc3339(turn.run.clock.now()))


def _last_said(record: Record | None, note: str) -> Condition:
    """A plan sets no condition: it shows the one of the last run, and says so, unless it would make calls in addition
    to the write, which are more important.
    """
    if note:
        return replace(PLANNED, message=note)
    if record is None or record.condition is None:
        return PLANNED
    message = record.condition.message
    return replace(record.condition, message=f"Last run: {message}") if message else record.condition


def _record(turn: ReconcileAttempt, condition: Condition, spec: _Spec) -> Record:
    old = turn.node.record
    kept = (
        condition if is_replacement(condition, old.condition if old else None) else old.condition if old else condition
    )
    if old and turn.stop and turn.stop.condition.reason == OVERLAP:
        return old
    if old and turn.request is None:  # it stopped before anything was worked out: what is known of it stays
        policy = turn.policy if turn.prepared.is_valid else old.policy
        operation = old.operation if turn.exists is None else _operation(turn)
        return replace(old, **_revised(turn, spec), policy=policy, operation=operation, condition=kept)
    remembered = turn.remembered
    return Record(
        key=turn.node.key,
        manifest_api_version=turn.prepared.resource.gvk.api_version,
        arm_id=turn.arm_id,
        arm_api_version=turn.api_version,
        claim=_claim(turn),
        policy=turn.policy,
        **_revised(turn, spec),
        applied=remembered.applied if remembered else None,
        baseline=remembered.baseline if remembered else None,
        operation=_operation(turn),
        writes=(old.writes if old else 0) + (turn.done is not Action.NONE),
        row=_row(turn),
        owner=turn.prepared.owner.key if turn.prepared.owner else None,
        depends_on=turn.prepared.depends_on,
        agent=turn.run.rules.agent,
        credential=turn.prepared.credential,
        condition=kept,
    )


def _row(turn: ReconcileAttempt) -> WriteStreak | None:
    """The writes that something undid. A run that found nothing to do ends a row only where that is news already."""
    old = turn.node.record
    before = old.row if old else None
    if turn.done is not Action.NONE:
        return extend_streak(before, _told(turn), turn.run.clock.now())
    if turn.row or before is None or old is None or turn.comparison is None or turn.action is not Action.NONE:
        return turn.row or before
    moved_on = turn.remembered is not None and turn.remembered.applied != old.applied
    return None if before.held or moved_on else before


def _revised(turn: ReconcileAttempt, spec: _Spec) -> dict[str, Any]:
    """The members of a record that a look at the manifest settles: which spec it was, where that stands, and what the
    resource has exported.
    """
    exported = {*(turn.node.record.exports if turn.node.record else ()), *turn.exported}
    return {
        "generation": spec.generation,
        "spec_digest": spec.digest,
        "exports": tuple(sorted(exported)),
        "unit": _unit(turn.node),
    }


def _unit(node: Node) -> str:
    """Where the manifest stands now. It moves with the manifest in any case, or a later prune would look elsewhere."""
    if node.prepared:
        return find_unit(node.prepared.resource.source.path)
    return node.record.unit if node.record else ""


def _claim(turn: ReconcileAttempt) -> Claim:
    old = turn.node.record
    if turn.remembered is None and old and old.claim is not Claim.NONE:  # what was expected still is
        return old.claim
    if turn.remembered is None:
        return Claim.EXPECTED if is_expected(turn.node) else Claim.NONE
    written = turn.done is not Action.NONE
    existed = turn.existed if written else True
    return decide_claim(old, sent=written, existed=existed, differed=bool(_told(turn).differences))


def _operation(turn: ReconcileAttempt) -> PendingOperation | None:
    """What the next run is to go on with; a create that a whole further run did not see is given up, and sent again."""
    if not turn.unfinished:
        return None
    old = turn.node.record.operation if turn.node.record else None
    if old and turn.done is Action.NONE:
        return old if turn.live is not None else None
    kind = "delete" if turn.node.intent is not Intent.APPLY else "update" if turn.existed else "create"
    return PendingOperation(kind=kind, started_at=format_rfc3339(turn.run.clock.now()))


class _Spec(NamedTuple):
    """Which spec a turn is about; the generation counts its changes (docs/reference/reconciliation.md#generation)."""

    generation: int
    digest: str


def _spec(turn: ReconcileAttempt) -> _Spec:
    old, prepared = turn.node.record, turn.node.prepared
    if prepared is None:
        return _Spec(old.generation, old.spec_digest) if old else _Spec(1, "")
    now = digest_spec(prepared.resource.spec)
    changed = old is not None and bool(old.spec_digest) and old.spec_digest != now
    return _Spec((old.generation if old else 1) + changed, now)


def digest_spec(spec: Mapping[str, Any]) -> str:
    """A short name for a spec: equal specs have equal ones, whatever the order of their keys."""
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
