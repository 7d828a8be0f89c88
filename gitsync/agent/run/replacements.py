"""THE REPLACEMENTS of a run: resources that are deleted and created again, since Azure cannot change them in place.

The applies decide which (`planning.replacement`). Before the first delete, what is below each of them is compared with
git, and the records show that a replacement is under way: if a run is killed in between, the next one continues, finds
the resources missing and creates them. Then the resources below are deleted, in the order of owners, then the resource,
and all of them are reconciled once more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from gitsync.agent.checks.planned_bodies import plan_delete
from gitsync.agent.reconcile.context import RunContext
from gitsync.agent.run.run_plan import is_deleted_alone
from gitsync.agent.run.write_status import write_expected
from gitsync.desired.catalog.children import KindTree, find_embedded, is_made_by_azure
from gitsync.desired.catalog.collections import list_collections
from gitsync.desired.validation.replace_annotation import read_consent
from gitsync.errors import ArmError, StateError
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.check import CheckVerdict
from gitsync.model.clock import format_rfc3339
from gitsync.model.condition import Condition, WaitReason
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.live import Live
from gitsync.model.plan import Node, Plan, Prune
from gitsync.model.record import REPLACING, PendingOperation, Record, State
from gitsync.model.result import Result
from gitsync.model.verdict import Action, Verdict, Written
from gitsync.planning.delete_scope import list_deletes
from gitsync.planning.planner import order_prunes
from gitsync.planning.replacement import (
    REFUSED,
    REPLACEMENT_BEGUN,
    collect_takes,
    explain_kept_below,
    keep_old,
)
from gitsync.planning.run_problems import compute_delete_limit
from gitsync.planning.status.conditions import make_warning
from gitsync.providers.arm.client import Reader

_ASSIGNMENTS = "Microsoft.Authorization/roleAssignments"
_ASSIGNMENTS_VERSION = "2022-04-01"


class Due(NamedTuple):
    """One replacement: what goes with the resource and is created again, and the records of all of them."""

    takes: tuple[Key, ...]
    records: Mapping[Key, Record]


async def settle_replacements(
    run: RunContext,
    plan: Plan,
    state: State,
    applied: Mapping[Key, Result],
    most_deletes: int | None,
    done: Mapping[Key, Due] = MappingProxyType({}),
) -> tuple[dict[Key, Result], dict[Key, Due]]:
    """Hold the replacements that git, the records, Azure or the limit of deletes forbid. Returns the results, and what
    is due. `done` is what this run has replaced before.

    What is below each resource is read from Azure: a list that Azure refuses holds, since unknown is not absent.
    """
    results, due = dict(applied), dict[Key, Due]()
    wanted = (key for key, result in applied.items() if result.change.replacement and result.change.replacement.is_due)
    new = sorted(key for key in wanted if key not in done)
    if not new:
        return results, due  # as in most runs
    ids = {key: result.arm_id for key, result in applied.items() if result.ending.exists and result.arm_id}
    ids |= {key: record.arm_id for key, record in state.records.items()}
    for key in new:
        takes = collect_takes(key, ids[key], ids)
        records = {name: applied[name].record if name in applied else state.records.get(name) for name in (key, *takes)}
        replacing = Due(takes, {name: record for name, record in records.items() if record is not None})
        # What is below it may hold data that git does not have, and goes with the delete.
        if kept_because := await _explain_kept(run, plan, state, key, replacing, ids):
            results[key] = keep_old(applied[key], kept_because, writes=run.rules.writes)
        else:
            due[key] = replacing
    prunes = plan.prunes if run.rules.prune else {}
    # The deletes of replacements count like those of prunes, or a change of one field could empty an estate.
    if due and (kept_because := _explain_excess(prunes, state, {**done, **due}, run.rules.agent, most_deletes)):
        results |= {key: keep_old(applied[key], kept_because, writes=run.rules.writes) for key in due}
        due = {}
    return results, due


async def _explain_kept(run: RunContext, plan: Plan, state: State, key: Key, due: Due, ids: Mapping[Key, ArmId]) -> str:
    """Return why a resource must not be replaced; "" if it may."""
    resource = plan.applies[key].prepared.resource
    consent = read_consent(resource)
    kept_because = explain_kept_below(
        key, due.takes, plan, state.records, run.rules.agent, loses_data=consent.loses_data
    )
    if kept_because:
        return kept_because
    kind = run.catalog.kind_of(resource)
    if kind is None:
        raise AssertionError("a compared resource is of a known kind")
    from gitsync.agent.checks.names import SOFT_DELETES  # noqa: PLC0415 - a replacement is rare, and checks are slow to import

    if retention := SOFT_DELETES.get(kind.arm_type.casefold()):
        return f"Azure keeps the name of a deleted {retention.noun} reserved, so it cannot be created again."
    if not kind.is_arm:
        return ""  # nothing of ARM is below it, and other providers have nothing below
    known = {arm_id.key for arm_id in ids.values()}
    try:
        reader = run.identities[key].azure().reader(run.begin_session())
        stranger = await _find_assignment(reader, ids[key], known)
        stranger = stranger or await _find_stranger(reader, KindTree(run.catalog), kind, ids[key], known)
    except ArmError as error:
        return f"The resources below it cannot be listed, so it is not deleted. {error.message}"
    if stranger:
        return f"Its delete would also delete {stranger}, which is not in git. Import it, or delete it."
    return await _find_refused_delete(run, due)


async def _find_refused_delete(run: RunContext, due: Due) -> str:
    """Return which delete below the resource a check refuses; "" if none."""
    if not (run.has_checks and run.rules.writes):
        return ""
    # The resource itself was checked before.
    changes = [plan_delete(due.records[key]) for key in due.takes if key in due.records and key in run.identities]
    findings = await run.check(changes)
    refused = (
        finding
        for change in changes
        for finding in findings.get(change.key, ())
        if finding.verdict is CheckVerdict.REFUSED
    )
    return next((finding.message for finding in refused), "")


async def _find_assignment(reader: Reader, arm_id: ArmId, known: Collection[IdKey]) -> str:
    """Return the id of a role assignment at a resource or below it that is not known; "" if there is none. No role is
    assigned at an assignment.

    Raises ArmError if Azure does not list them.
    """
    if arm_id.arm_type.casefold() == _ASSIGNMENTS.casefold():
        return ""
    entries = await reader.list(f"{arm_id}/providers/{_ASSIGNMENTS}", _ASSIGNMENTS_VERSION)
    assignments = (ArmId(entry.get("id", "")) for entry in entries)
    # The list has those of the group and of the subscription, too.
    return next(
        (assignment for assignment in assignments if assignment.is_below(arm_id) and assignment.key not in known),
        "",
    )


async def _find_stranger(reader: Reader, tree: KindTree, kind: Kind, arm_id: ArmId, known: Collection[IdKey]) -> str:
    """Return the id of a resource below one that is not known, of the kinds that the catalog has below it; "" if there
    is none.

    Raises ArmError for a list that Azure does not give.
    """
    live = await reader.get(arm_id, kind.api_version) if kind.can_get else None
    for child in tree.list_below(kind.arm_type):
        child_ids = await _list_children(reader, child, arm_id, live)
        # A resource that Azure creates by itself does not count, and a singleton counts if someone has set it.
        stranger = next(
            (child_id for child_id in child_ids if not child.fixed_azure_name and child_id.key not in known),
            "",
        )
        for child_id in child_ids:
            stranger = stranger or await _find_stranger(reader, tree, child, child_id, known)
        if stranger:
            return stranger
    return ""


async def _list_children(reader: Reader, child: Kind, arm_id: ArmId, live: Live | None) -> list[ArmId]:
    """List the ids of a resource's children of one kind: as the resource shows them, or as their list does."""
    path = f"{arm_id}/{child.arm_type.rpartition('/')[2]}"
    if child.fixed_azure_name:
        return [ArmId(f"{path}/{child.fixed_azure_name}")]
    entries = find_embedded(child, live.body) if live else None
    if entries is None:
        # A kind that Azure only answers by HEAD has no list.
        listed = list_collections(child, ArmId(f"{path}/-")) if child.can_get else ()
        entries = await reader.list(listed[0].path, child.api_version) if listed else []
    ids = [(ArmId(entry.get("id", "")), entry) for entry in entries]
    return [
        child_id
        for child_id, entry in ids
        if child_id.arm_type.casefold() == child.arm_type.casefold()
        and not is_made_by_azure(child.arm_type, child_id.name, entry)
    ]


def _explain_excess(
    prunes: Mapping[Key, Prune], state: State, due: Mapping[Key, Due], agent: str, most_deletes: int | None
) -> str:
    """Return the refusal if the run would delete more than it may, with its replacements; "" if it would not."""
    deleted = {prune.key for prune in list_deletes(prunes)}
    deleted |= {name for replacement in due.values() for name in replacement.records}
    owned = sum(record.claim.is_ours and record.agent == agent for record in state.records.values())
    limit = compute_delete_limit(owned, most_deletes)
    if len(deleted) <= limit:
        return ""
    return (
        f"With its replacements, this run would delete {len(deleted)} resources, and the limit is {limit}. "
        f"If this is intended, run again with --max-deletes {len(deleted)}."
    )


RunNodes = Callable[..., Awaitable[dict[Key, Result]]]
"""`run_in_order` of the walk, with all but the nodes and the known results bound."""


async def replace_resources(
    run: RunContext,
    plan: Plan,
    state: State,
    applied: Mapping[Key, Result],
    due: Mapping[Key, Due],
    run_nodes: RunNodes,
) -> dict[Key, Result]:
    """Delete what is due, and create it again. Returns the new results: of the resources, of what went with them, and
    of what waited for them.
    """
    begun_at = run.clock.monotonic()
    reserved, kept_because = _reserve(run, state, due)
    if kept_because:
        return {key: keep_old(applied[key], kept_because, writes=True) for key in due}
    prunes = order_prunes(
        {
            key: Prune(record=record, replaces=True, reason="It is replaced.")
            for key, record in reserved.items()
            if record.claim.is_ours and key not in plan.prunes  # those were deleted before
        },
        undeletable={key for key, record in reserved.items() if not is_deleted_alone(run.catalog, record)},
    )
    run.cache.note_replaced(record.arm_id for record in reserved.values())
    pruned = await run_nodes(prunes)
    gone = {key for key in due if pruned[key].is_gone}
    kept = {key: _fail(applied[key], pruned[key]) for key in due if key not in gone}
    taken = {key for replacement in due.values() for key in replacement.takes}
    again = {*gone, *taken, *_list_waiting(plan, applied, due)} - kept.keys()
    nodes: dict[Key, Node] = {
        key: replace(plan.applies[key], record=reserved.get(key, applied[key].record))
        for key in again
        if key in plan.applies
    }
    known = {**applied, **kept}
    retried = await run_nodes(nodes, known={key: result for key, result in known.items() if key not in nodes})
    away = run.clock.monotonic() - begun_at
    retried = {key: _tell_delete(result, pruned[key]) if key in pruned else result for key, result in retried.items()}
    return {
        **kept,
        **{key: _join_halves(applied[key], result, away) if key in gone else result for key, result in retried.items()},
    }


def _reserve(run: RunContext, state: State, due: Mapping[Key, Due]) -> tuple[dict[Key, Record], str]:
    """Record that the replacements begin, before the first delete. Returns the records, and why nothing may be deleted
    if that fails.
    """
    now = format_rfc3339(run.clock.now())
    operation = PendingOperation(REPLACING, now)
    # Nothing that was sent before is there any more, so the next run compares all of git with Azure.
    records = {
        key: replace(
            record,
            spec=replace(record.spec, applied={}, baseline=None, outside=None),
            writes=replace(record.writes, operation=operation, failure=None, streak=None),
            condition=_make_begun(record, now),
        )
        for replacement in due.values()
        for key, record in replacement.records.items()
    }
    try:
        taken = write_expected(run.connections, state, records, run.rules.agent, f"Replace {len(due)}")
    except StateError as error:
        return {}, f"The status cannot be written, so nothing is deleted. {error.message}"
    if taken:
        return {}, f"Another run has just recorded {min(taken)}, so this run skips it."
    return records, ""


def _make_begun(record: Record, now: str) -> Condition:
    """Make the condition that reports the replacement if the run is killed."""
    # Azure's own refusal of a field stays: the next run finds the field by it if the resource still exists.
    if record.condition is not None and record.condition.reason == REFUSED:
        return record.condition
    return replace(REPLACEMENT_BEGUN, generation=record.spec.generation, time=now)


def _list_waiting(plan: Plan, applied: Mapping[Key, Result], due: Mapping[Key, Due]) -> set[Key]:
    """List the resources that wait for one that is replaced, or for another that does: for its values, too."""
    dependents = defaultdict[Key, list[Key]](list)
    for key, result in applied.items():
        if result.verdict is Verdict.BLOCKED:
            for cause in filter(None, {result.ending.blocked_by, *plan.applies[key].depends_on}):
                dependents[cause].append(key)
    waiting, causes = set[Key](), list(due)
    while causes:
        found = set(dependents.pop(causes.pop(), ()))
        causes += found - waiting
        waiting |= found
    return waiting


def _fail(before: Result, delete: Result) -> Result:
    """Return the result of a resource whose delete failed, or is not over: nothing was created."""
    record = delete.record or before.record
    condition = delete.condition
    ending = replace(
        before.ending,
        is_retryable=True,
        fault=delete.ending.fault,
        blocked_by=delete.ending.blocked_by,
        requests=before.ending.requests + delete.ending.requests,
        sent=(*before.ending.sent, *delete.ending.sent),
        written=delete.ending.written,
    )
    return replace(
        before,
        action=delete.action,
        condition=condition,
        is_fine=False,
        change=replace(before.change, replacement=None),  # it was not attempted: the condition explains why
        attempts=(*before.attempts, *delete.attempts),
        ending=ending,
        record=replace(record, condition=condition) if record else None,
    )


def _tell_delete(after: Result, delete: Result) -> Result:
    """Return the result of a resource after its delete, which holds until the resource exists again: Azure accepted the
    delete, with or without the create.
    """
    if after.action is not Action.NONE or after.is_fine:
        return after
    written = after.ending.written
    ending = replace(after.ending, sent=tuple(dict.fromkeys((*delete.ending.sent, *after.ending.sent))))
    if delete.action is not Action.DELETE:
        is_unknown = Written.UNKNOWN in {delete.ending.written, written}
        return replace(after, ending=replace(ending, written=Written.UNKNOWN if is_unknown else written))
    state = "It was deleted to be replaced" if delete.is_gone else "Azure was still deleting it to replace it"
    condition = after.condition
    if condition.reason == WaitReason.NOT_REACHED:  # the delete has reached it
        condition = make_warning(
            WaitReason.INTERRUPTED.value, "The run was stopped before it created this resource again."
        )
    condition = replace(
        condition,
        message=" ".join(filter(None, (_end_sentence(condition.message), f"{state}: the next run creates it."))),
        time=delete.condition.time,
        generation=after.record.spec.generation if after.record else after.condition.generation,
    )
    written = written if written is Written.UNKNOWN else Written.DELETED
    return replace(
        after,
        action=Action.DELETE,
        condition=condition,
        ending=replace(ending, exists=not delete.is_gone, written=written if delete.is_gone else Written.ACCEPTED),
        record=replace(after.record, condition=condition) if after.record else None,
    )


def _end_sentence(text: str) -> str:
    return text if not text or text.endswith(".") else f"{text}."


def _join_halves(before: Result, created: Result, away: float) -> Result:
    """Return one result of a delete and a create. `away` is for how many seconds the resource was gone."""
    replacement = before.change.replacement
    if replacement is None:
        raise AssertionError("only a replacement has two halves")
    if created.action is not Action.CREATE:
        return created
    return replace(
        created,
        action=Action.REPLACE,
        verdict=before.verdict,
        differences=before.differences,
        change=replace(created.change, replacement=replace(replacement, away=away) if created.is_fine else None),
    )
