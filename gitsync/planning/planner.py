"""The plan of a run, from the manifests and the records: what to apply, and what was removed from git.

Nothing here reads from Azure. The records decide what a prune may delete: only a resource that gitsync created or
adopted. What else keeps one is decided by `delete_guards`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from graphlib import CycleError, TopologicalSorter
from operator import attrgetter
from typing import Final

from gitsync.desired.manifests.units import Declaration
from gitsync.errors import StateError
from gitsync.model.arm_id import NO_ID, ArmId, IdKey
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Plan, Prune
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Record
from gitsync.model.resource import Prepared
from gitsync.planning.claims import decide_last_policies, join_deletes
from gitsync.planning.delete_guards import NO_EVIDENCE, Evidence
from gitsync.planning.hidden_manifests import RemovedResource
from gitsync.planning.status.conditions import make_warning

UNTRUSTED = "RecordNotTrusted"
"""The reason for a resource, and the code of a problem, if its record is not believed."""

RECORDED_ELSEWHERE = make_warning(
    "RecordedByAnotherRun", "Another run has just recorded this resource, so this run skips it."
)


def make_plan(
    prepared: Iterable[Prepared],
    records: Mapping[Key, Record],
    problems: Iterable[Problem] = (),
    evidence: Evidence = NO_EVIDENCE,
    undeletable: Collection[Key] = (),
) -> Plan:
    """Plan one run; `decide_deletes` decides which of its prunes delete. `problems` are those of files. `evidence` has
    the resources that were removed from git, and the index of its manifests.

    `undeletable` are records of kinds that Azure cannot delete: they are deleted with their parents.

    Raises StateError if the records have a dependency cycle.
    """
    prepared = tuple(prepared)
    applies = _make_applies(prepared, records)
    problems = tuple(problems)
    # What waits for something outside of its manifest does not make the plan incomplete.
    invalid = [apply for apply in applies.values() if not (apply.prepared.is_valid or apply.prepared.is_waiting)]
    all_problems = (*problems, *(problem for apply in applies.values() for problem in apply.prepared.problems))
    prunes = order_prunes(_make_prunes(evidence.removed, evidence.source.named_ids), undeletable)
    return Plan(
        applies=applies,
        prunes=prunes,
        problems=problems,
        complete=not invalid and not any(problem.is_error for problem in all_problems),
    )


def _make_applies(prepared: Iterable[Prepared], records: Mapping[Key, Record]) -> dict[Key, Apply]:
    """Make one apply for each key. An invalid one waits for nothing: its first stage stops it."""
    by_key: dict[Key, Prepared] = {}
    # Of two manifests with one key, the same one counts in each run, whatever the order of the files.
    for manifest in sorted(prepared, key=lambda manifest: (manifest.key, manifest.resource.source)):
        by_key.setdefault(manifest.key, manifest)
    return {
        key: Apply(
            prepared=manifest,
            record=records.get(key),
            depends_on=tuple(other for other in manifest.relations.depends_on if other in by_key)
            if manifest.is_valid
            else (),
        )
        for key, manifest in by_key.items()
    }


def _make_prunes(removed: Mapping[Key, RemovedResource], named_ids: Mapping[IdKey, ArmId]) -> dict[Key, Prune]:
    records = {key: gone.record for key, gone in sorted(removed.items())}
    policies = {key: removed[key].removal.policy or record.manifest.policy for key, record in records.items()}
    policies = decide_last_policies(policies, records)
    return join_deletes({key: _make_prune(removed[key], policies[key], named_ids) for key in records})


def _make_prune(removed: RemovedResource, policy: Policy, named_ids: Mapping[IdKey, ArmId]) -> Prune:
    record, manifest, removal = removed.record, removed.record.manifest, removed.removal
    named_id = named_ids.get(record.arm_id.key)  # that of a manifest at this id or below
    is_renamed = record.arm_id.is_same(named_id)
    path = removal.path or manifest.path
    declaration = Declaration(unit=manifest.unit, path=manifest.path, declared_by=manifest.declared_by)
    if removal.units:  # of a later revision, which a next run may not search any more
        declaration = Declaration(unit=removal.units[-1], path=removal.path, declared_by=removal.declared_by)
    last = replace(
        manifest,
        policy=policy,
        # The longest hold counts, as for resources that git has.
        hold=max(filter(None, (removal.hold, manifest.hold)), default=None),
        last_revision=removal.revision or manifest.last_revision,
        **declaration,
    )
    return Prune(
        record=replace(record, manifest=last),
        # A manifest under another key still declares this id, so a delete would take the resource that git has.
        detaches=not policy.allows_delete or not record.claim.is_ours or is_renamed,
        reason=removal.reason,
        last_commit=removal.last_commit,
        last_source=SourceLocation(path, removal.line) if path else None,
    )


def order_prunes(prunes: Mapping[Key, Prune], undeletable: Collection[Key]) -> dict[Key, Prune]:
    """Delete children and dependents first, except those that can only be deleted with their parents."""
    pruned = {key: prune.record for key, prune in prunes.items() if not prune.detaches}
    parents: dict[Key, Key] = {}
    for key in undeletable:
        above = [k for k, other in pruned.items() if key in pruned and pruned[key].arm_id.is_below(other.arm_id)]
        if above:
            parents[key] = max(above, key=lambda other: len(pruned[other].arm_id))  # the nearest
    parents |= {key: prune.within for key, prune in prunes.items() if prune.within}
    independent = {key: record for key, record in pruned.items() if key not in parents}
    ordered_prunes = dict(prunes)
    names = {key: {key} for key in independent}
    for key, prune in prunes.items():
        if prune.within in names:
            names[prune.within].add(key)
    for key, parent in parents.items():
        ordered_prunes[key] = replace(prunes[key], within=parent, depends_on=(parent,))
    circle: Sequence[Key] = ()
    # The order of units may have been turned around between two records: what needs another one decides then.
    for list_dependencies in (_LIST_ALL, _LIST_NEEDED):
        ordered = _add_dependents(ordered_prunes, names, independent, list_dependencies)
        circle = _find_circle(ordered)
        if not circle:
            return ordered
    raise StateError(
        f"Dependency cycle in the records: {' → '.join(map(str, circle))}.",
        hint="Remove one of these keys from gitsync.dependsOn in its status file.",
    )


_LIST_ALL: Final = attrgetter("manifest.depends_on")
_LIST_NEEDED: Final = attrgetter("manifest.needs")


def _find_circle(prunes: Mapping[Key, Prune]) -> Sequence[Key]:
    try:
        TopologicalSorter({key: prune.depends_on for key, prune in prunes.items()}).prepare()
    except CycleError as error:
        circle: list[Key] = error.args[1]
        return circle
    return ()


def _add_dependents(
    prunes: Mapping[Key, Prune],
    names: Mapping[Key, set[Key]],
    records: Mapping[Key, Record],
    list_dependencies: Callable[[Record], tuple[Key, ...]],
) -> dict[Key, Prune]:
    """Let each prune wait for its dependents: the records that depend on it, by any of its `names`, or are below it."""
    ordered = dict(prunes)
    dependencies = {key: list_dependencies(record) for key, record in records.items()}
    for key, same in names.items():
        arm_id = records[key].arm_id
        dependents = (
            other
            for other, record in records.items()
            if other != key and (not same.isdisjoint(dependencies[other]) or record.arm_id.is_below(arm_id))
        )
        ordered[key] = replace(prunes[key], depends_on=tuple(sorted(dependents)))
    return ordered


def skip_untrusted(plan: Plan, reasons: Mapping[Key, str], records: Mapping[Key, Record]) -> Plan:
    """Skip the resources with untrusted records, for these reasons. Records of removed ones stay as they are."""
    if not reasons:
        return plan
    applies = {
        key: replace(apply, skipped_because=make_warning(UNTRUSTED, reasons[key])) if key in reasons else apply
        for key, apply in plan.applies.items()
    }
    # The plan has changed the record of a prune, and an untrusted record is never rewritten: that would sign it.
    prunes = {
        key: replace(prune, record=records[key]) if key in reasons else prune for key, prune in plan.prunes.items()
    }
    return replace(plan, applies=applies, prunes=prunes)


def note_holds(plan: Plan, declared: Collection[Prepared], today: date) -> Plan:
    """Note what a `gitsync/hold` leaves as it is on a day in UTC: one of the manifests in `declared`, which are all of
    the source, or of a removed one on record.

    The longest hold of a resource counts for all of its manifests. A record does not count if a manifest declares its
    resource: that one decides.
    """
    holds = [(_decide_hold_location(resource), resource.hold) for resource in declared if resource.hold]
    recorded = [prune.record for prune in plan.prunes.values() if prune.record.manifest.hold]
    if not (holds or recorded):
        return plan  # as most
    # Without an id a record names no resource, so its hold must not spread to all other records without one.
    ids = {resource.arm_id.key for resource in declared if resource.arm_id} | {NO_ID.key}
    holds += [
        (record.arm_id.key, record.manifest.hold)
        for record in recorded
        if record.manifest.hold and record.arm_id.key not in ids
    ]
    by_id = dict(sorted(holds, key=lambda pair: pair[1]))  # the longest is the last
    applies = {
        key: replace(apply, hold=hold) if (hold := by_id.get(_decide_hold_location(apply.prepared))) else apply
        for key, apply in plan.applies.items()
    }
    prunes = dict(plan.prunes)
    for key, prune in plan.prunes.items():
        arm_id = prune.record.arm_id.key
        hold = by_id.get(arm_id) if arm_id not in ids else None
        if hold and hold.lasts(today):
            prunes[key] = replace(prune, hold=hold)
        elif hold:
            prunes[key] = replace(prune, reason=f"{prune.reason} Its hold ended on {hold.day}.")
    return replace(plan, applies=applies, prunes=prunes)


def _decide_hold_location(prepared: Prepared) -> IdKey | Key:
    """Return what stands for the resource of a manifest: its ARM id, or the manifest if the id is not known."""
    return prepared.arm_id.key if prepared.arm_id else prepared.key


def skip_taken(plan: Plan, taken: Mapping[Key, Record]) -> Plan:
    """Skip the resources that another run has recorded since this one began; `taken` has its records."""
    if not taken:
        return plan
    applies = {
        key: replace(apply, record=taken[key], skipped_because=RECORDED_ELSEWHERE) if key in taken else apply
        for key, apply in plan.applies.items()
    }
    return replace(plan, applies=applies)
