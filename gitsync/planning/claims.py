"""Decide which record has the claim on a resource: no resource is owned twice, and none is created unrecorded.

Manifests may declare one resource in Azure together: one of them writes it, and its record moves if that manifest
leaves (docs/reference/design.md#duplicate-resources). Every manifest keeps a record of its own, and only that of the
writer has a claim.

What this run may create is recorded before the first request (docs/reference/design.md#status-branch).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from gitsync.desired.manifests.units import make_declaration
from gitsync.model.arm_id import NO_ID
from gitsync.model.gvk import AZURE_RESOURCE, Key
from gitsync.model.identity import NO_IDS
from gitsync.model.plan import Apply, Plan, Prune
from gitsync.model.provider import NOTHING_KEPT
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim, Record, RecordedAccess, RecordedManifest, RecordedSpec, Trust
from gitsync.model.resource import Prepared
from gitsync.planning.kept import list_kept

_MOST_CIRCLES: Final = 50
"""Cycles that are resolved one by one; with more, nothing waits for a writer."""


def assign_writers(prepared: Sequence[Prepared], records: Mapping[Key, Record]) -> tuple[Prepared, ...]:
    """Let one of the manifests of each resource write it: the one whose record has the claim, else the first by key.

    The others wait for it, and only read. `records` are those of the run's agent.
    """
    shared = (same for same in _group_by_id(prepared) if len(same) > 1)
    writers = {resource.key: writer.key for same in shared for resource, writer in _pair(same, records)}
    if not writers:
        return tuple(prepared)  # as in most runs
    waiting = tuple(
        _leave_to(writer, resource) if (writer := writers.get(resource.key)) else resource for resource in prepared
    )
    return _break_circles(waiting)


def _group_by_id(prepared: Iterable[Prepared]) -> Iterable[list[Prepared]]:
    by_id: dict[str, list[Prepared]] = defaultdict(list)
    for resource in prepared:
        # Without an id nothing shows that two manifests are about one resource.
        if resource.arm_id:
            by_id[resource.arm_id.key].append(resource)
    return by_id.values()


def _pair(same: Sequence[Prepared], records: Mapping[Key, Record]) -> Iterator[tuple[Prepared, Prepared]]:
    """Pair each manifest of a resource but its writer, with the writer."""
    candidates = [resource for resource in same if resource.policy.allows_modify]
    # One key twice is a mistake that validation reports: both have the same record.
    if len({resource.key for resource in same}) < 2 or not candidates:
        return
    writer = min(candidates, key=lambda resource: (*_rank(resource, records.get(resource.key)), resource.key))
    yield from ((resource, writer) for resource in same if resource.key != writer.key)


def _rank(prepared: Prepared, record: Record | None) -> tuple[bool, bool, bool, bool]:
    """Return the sort key of a candidate: a claim, an expected create, a record from an earlier run, a valid
    manifest.
    """
    is_known = record is not None and record.arm_id.is_same(prepared.arm_id)
    claim = record.claim if record is not None and is_known else Claim.NONE
    return not claim.is_ours, claim is not Claim.EXPECTED, not is_known, not prepared.is_valid


def _break_circles(prepared: tuple[Prepared, ...]) -> tuple[Prepared, ...]:
    """Let nothing wait for a writer that waits for it in turn. Cycles of other dependencies are reported, and invalid
    manifests wait for nothing.
    """
    for _ in range(_MOST_CIRCLES):
        circle = _find_circle(prepared)
        freed = {
            resource.key for resource in prepared if resource.key in circle and resource.relations.written_by in circle
        }
        if not freed:
            return prepared
        prepared = tuple(_stop_waiting(resource) if resource.key in freed else resource for resource in prepared)
    # Rather a try in the wrong order than a run that refuses to plan.
    return tuple(map(_stop_waiting, prepared))


def _find_circle(prepared: Iterable[Prepared]) -> Collection[Key]:
    try:
        TopologicalSorter(
            {resource.key: resource.relations.depends_on for resource in prepared if resource.is_valid}
        ).prepare()
    except CycleError as error:
        circle: list[Key] = error.args[1]
        return circle
    return ()


def _leave_to(writer: Key, prepared: Prepared) -> Prepared:
    relations = prepared.relations
    depends_on = tuple(sorted({*relations.depends_on, writer}))
    return replace(prepared, relations=replace(relations, written_by=writer, depends_on=depends_on))


def _stop_waiting(prepared: Prepared) -> Prepared:
    relations = prepared.relations
    others = tuple(key for key in relations.depends_on if key != relations.written_by)
    return replace(prepared, relations=replace(relations, depends_on=others))


@dataclass(frozen=True, slots=True)
class MovedClaims:
    """Records with one claim a resource."""

    records: Mapping[Key, Record]
    moves: Mapping[Key, Key]  # a manifest to the key whose record it takes over


def move_claims(
    prepared: Iterable[Prepared], records: Mapping[Key, Record], untrusted: Collection[Key] = ()
) -> MovedClaims:
    """Move the claim of a manifest that left, or that no longer writes, to the manifest that writes the resource now.

    `prepared` are the manifests of this run, and `records` those of its agent that this run may change. Records that
    are `untrusted` stay as they are.
    """
    prepared = tuple(prepared)
    declared = {resource.key: resource for resource in prepared}
    owned: dict[str, list[Record]] = defaultdict(list)
    # Of several former records the first by key is taken over, the same one in every run.
    for key, record in sorted(records.items()):
        if record.claim.is_ours and key not in untrusted:
            owned[record.arm_id.key].append(record)
    settled, moves = dict(records), {}
    for writer in (resource for resource in prepared if _may_take(resource, untrusted)):
        current, same = records.get(writer.key), owned.get((writer.arm_id or NO_ID).key, ())
        former = [record for record in same if record.key != writer.key and _is_free(record, writer, declared)]
        if not former:
            continue  # as most
        # The writer may have a claim already, and then the former one only ends.
        if not (current and current.claim.is_ours):
            settled[writer.key] = _take_over(former[0], current, writer)
            moves[writer.key] = former[0].key
        # Only the writer's record has what was sent and returned (docs/reference/design.md#duplicate-resources).
        settled |= {
            record.key: replace(
                record,
                claim=Claim.NONE,
                spec=replace(record.spec, applied=None, baseline=None, outside=None),
                writes=replace(record.writes, operation=None, streak=None),
            )
            for record in former
        }
    return MovedClaims(settled, moves)


def _may_take(prepared: Prepared, untrusted: Collection[Key]) -> bool:
    is_writer = prepared.policy.allows_modify and prepared.relations.written_by is None and not prepared.is_watched
    return is_writer and bool(prepared.arm_id) and prepared.key not in untrusted


def _is_free(record: Record, writer: Prepared, declared: Mapping[Key, Prepared]) -> bool:
    """Return whether the record of another manifest is of the writer's resource, and that manifest left, does not
    write, or now stands for another resource.
    """
    other = declared.get(record.key)
    # A record of another kind describes other fields, so its last write is of no use: but an AzureResource has ARM's.
    is_same = _has_same_fields(record.key, writer.key) and record.arm_id.is_same(writer.arm_id)
    if not is_same:
        return False
    if other is None or other.relations.written_by == writer.key:
        return True
    return other.arm_id is not None and not record.arm_id.is_same(other.arm_id)


def _has_same_fields(left: Key, right: Key) -> bool:
    """Return whether resources of two keys with one ARM id have bodies of the same fields."""
    return left[:2] == right[:2] or AZURE_RESOURCE in {left[:2], right[:2]}


def _take_over(former: Record, current: Record | None, writer: Prepared) -> Record:
    """Return the former record under the writer's key. What describes the manifest is the writer's own."""
    return replace(
        former,
        key=writer.key,
        manifest=replace(
            former.manifest,
            api_version=writer.resource.gvk.api_version,
            policy=writer.policy,
            owner=writer.relations.owner.key if writer.relations.owner else None,
            depends_on=writer.relations.depends_on,
            **make_declaration(writer.resource),
        ),
        spec=replace(
            former.spec,
            applied=_fit_body(former.spec.applied, former.key, writer.key),
            baseline=_fit_body(former.spec.baseline, former.key, writer.key),
            # The generation counts the changes of one manifest.
            generation=current.spec.generation if current else 1,
            digest=current.spec.digest if current else "",
        ),
        # The recorded ids are those of the former manifest's credential, and this one's may be others.
        access=replace(former.access, credential=writer.credential, ids=NO_IDS),
        exports=current.exports if current else (),
        condition=current.condition if current else None,
    )


def _fit_body(body: Mapping[str, Any] | None, former: Key, key: Key) -> Mapping[str, Any] | None:
    """Return a body of a record as another kind has it: those of ASO have the name, an AzureResource does not."""
    if body is None or key[:2] != AZURE_RESOURCE or former[:2] == AZURE_RESOURCE:
        return body
    return {name: value for name, value in body.items() if name != "name"}


def note_moves(plan: Plan, moves: Mapping[Key, Key]) -> Plan:
    """Return the plan with the records that move."""
    if not moves:
        return plan
    taken = {former: key for key, former in moves.items()}
    applies = {
        key: replace(apply, moved_from=moves[key]) if key in moves else apply for key, apply in plan.applies.items()
    }
    prunes = {
        key: replace(prune, moved_to=heir, reason=f"{prune.reason} {heir} takes over its record.")
        if (heir := taken.get(key))
        else prune
        for key, prune in plan.prunes.items()
    }
    return replace(plan, applies=applies, prunes=prunes)


def decide_last_policies(policies: Mapping[Key, Policy], removed: Mapping[Key, Record]) -> dict[Key, Policy]:
    """Find the policies of resources that were removed from git: detach-on-delete wins if manifests of one resource
    leave together.
    """
    ids = {key: removed[key].arm_id.key for key in policies}
    # Records without an id do not stand for one resource.
    detached = {ids[key] for key, policy in policies.items() if policy is Policy.DETACH_ON_DELETE} - {""}
    return {
        key: Policy.DETACH_ON_DELETE if policy.allows_delete and ids[key] in detached else policy
        for key, policy in policies.items()
    }


def join_deletes(prunes: Mapping[Key, Prune]) -> dict[Key, Prune]:
    """Delete a resource that several records name once: the others are forgotten with the record that has the claim."""
    # In reverse, since the last one with an id is kept: so the first by key deletes.
    deletes = {
        prune.record.arm_id.key: prune
        for _, prune in sorted(prunes.items(), reverse=True)
        if prune.record.claim.is_ours and not prune.detaches
    }
    joined = dict(prunes)
    for key, prune in prunes.items():
        delete = deletes.get(prune.record.arm_id.key)
        # Only records of one kind share a resource, and those of one ARM type if that is an AzureResource.
        if delete and delete.key != key and _has_same_fields(delete.record.key, key):
            joined[key] = replace(prune, detaches=False, within=delete.key)
    return joined


def expect_records(applies: Iterable[Apply], agent: str) -> dict[Key, Record]:
    """Return a record for every resource that the run may write and that has no expected create yet."""
    return {apply.key: _make_expected(apply, agent) for apply in applies if is_expected(apply)}


def is_expected(apply: Apply) -> bool:
    """Return whether a run may be the first to write this resource."""
    # A record that expects a create may only announce a resource that this run writes.
    may_be_written = not (apply.skipped_because or apply.hold) and apply.prepared.is_valid and apply.prepared.is_written
    return may_be_written and (apply.record is None or apply.record.claim is Claim.NONE)


def _make_expected(apply: Apply, agent: str) -> Record:
    prepared, before = apply.prepared, apply.record
    return Record(
        key=apply.key,
        arm_id=prepared.arm_id or NO_ID,
        arm_api_version=prepared.api_version or "",
        claim=Claim.EXPECTED,
        agent=agent,
        manifest=RecordedManifest(
            api_version=prepared.resource.gvk.api_version,
            policy=prepared.policy,
            owner=prepared.relations.owner.key if prepared.relations.owner else None,
            depends_on=prepared.relations.depends_on,
            **make_declaration(prepared.resource),
        ),
        spec=RecordedSpec(
            generation=before.spec.generation if before else 1, digest=before.spec.digest if before else ""
        ),
        access=RecordedAccess(credential=prepared.credential, operator=agent),
        kept=list_kept(prepared, before=before.kept if before else NOTHING_KEPT),
        condition=before.condition if before else None,
        trust=before.trust if before else Trust.UNCHECKED,
    )
