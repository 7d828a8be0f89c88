"""The plan of a run, from the manifests and the records: what to apply, and what was removed from git.

Nothing here reads from Azure. The records decide what a prune may delete: never a resource that gitsync did not create
or adopt, that a manifest still names, or that contains something that must stay; and none that may have been removed
from git by mistake (`prune_holds`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import date
from graphlib import CycleError, TopologicalSorter

from gitsync.errors import StateError
from gitsync.formats.arm_path import is_below, is_same_id, iterate_ancestors, normalize_id
from gitsync.manifests.units import Declaration
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Plan, Prune, Removal, RestOfSource
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.record import Record
from gitsync.model.resource import Prepared
from gitsync.model.result import Result
from gitsync.planning.claims import find_last_policies, join_deletes
from gitsync.planning.delete_scope import spread_holds
from gitsync.planning.prune_holds import NOTHING_ELSE, Holds, RemovedResource, find_holds
from gitsync.status.conditions import make_warning

UNTRUSTED = "RecordNotTrusted"
"""The reason for a resource, and the code of a problem, if its record is not believed."""

RECORDED_ELSEWHERE = make_warning(
    "RecordedByAnotherRun", "Another run has just recorded this resource, so this run skips it."
)


def make_plan(
    prepared: Iterable[Prepared],
    records: Mapping[Key, Record],
    problems: Iterable[Problem] = (),
    removals: Mapping[Key, Removal] | None = None,
    undeletable: Collection[Key] = (),
    around: RestOfSource = NOTHING_ELSE,
) -> Plan:
    """Plan one run. `problems` are those of files. `removals` show how resources were removed from git. `around` has
    the other content of the source.

    `undeletable` are records of kinds that Azure cannot delete: they are deleted with their parents.

    Raises StateError if the records have a dependency cycle.
    """
    prepared = tuple(prepared)
    applies = _make_applies(prepared, records)
    problems = tuple(problems)
    invalid = [apply for apply in applies.values() if not (apply.prepared.is_valid or apply.prepared.is_waiting)]
    all_problems = (*problems, *(problem for apply in applies.values() for problem in apply.prepared.problems))
    keys = {resource.key for resource in (*prepared, *around.others)}
    removed = {key: records[key] for key in sorted(records.keys() - keys)}
    prunes: dict[Key, Prune] = {}
    if removed:  # only then it matters what holds deletes back
        # A watched resource is a copy of one outside of the run: each manifest counts once.
        declared = tuple({(entry.key, entry.resource.source): entry for entry in (*prepared, *around.others)}.values())
        named_ids = _find_named_ids(declared, records)
        holds = find_holds(declared, records, problems, around)
        prunes = order_prunes(_make_prunes(removed, named_ids, removals or {}, holds), undeletable)
    return Plan(
        applies=applies,
        prunes=prunes,
        problems=problems,
        complete=not invalid and not any(problem.is_error for problem in all_problems),
    )


def _find_named_ids(declared: Iterable[Prepared], records: Mapping[Key, Record]) -> Mapping[str, str]:
    """Map every ARM id that a manifest names, and each of its parents, to that id; an id maps to itself first.

    The recorded ids count too, since the id of an invalid manifest may be unknown.
    """
    ids = {
        arm_id
        for resource in declared
        for arm_id in (resource.arm_id, records[resource.key].arm_id if resource.key in records else None)
        if arm_id
    }
    named_ids: dict[str, str] = {}
    for arm_id in sorted(ids, key=lambda arm_id: (arm_id.count("/"), arm_id)):
        for ancestor in iterate_ancestors(arm_id):
            if ancestor in named_ids:
                break  # its parents are, too
            named_ids[ancestor] = arm_id
    return named_ids


def _make_applies(prepared: Iterable[Prepared], records: Mapping[Key, Record]) -> dict[Key, Apply]:
    """Make one apply for each key. An invalid one waits for nothing: its first stage stops it."""
    by_key: dict[Key, Prepared] = {}
    for manifest in sorted(prepared, key=lambda manifest: (manifest.key, manifest.resource.source)):
        by_key.setdefault(manifest.key, manifest)
    return {
        key: Apply(
            prepared=manifest,
            record=records.get(key),
            depends_on=tuple(other for other in manifest.depends_on if other in by_key) if manifest.is_valid else (),
        )
        for key, manifest in by_key.items()
    }


def _make_prunes(
    removed: Mapping[Key, Record], named_ids: Mapping[str, str], removals: Mapping[Key, Removal], holds: Holds
) -> dict[Key, Prune]:
    prunes, needed = {}, set[Key]()
    removals = {key: removals.get(key, Removal()) for key in removed}
    policies = {key: removals[key].policy or record.manifest.policy for key, record in removed.items()}
    policies = find_last_policies(policies, removed)
    for key, record in removed.items():
        removal, policy = removals[key], policies[key]
        # the first id that a manifest names at this id or below, "" for none
        named_id = named_ids.get(normalize_id(record.arm_id), "")
        is_renamed = bool(named_id) and is_same_id(record.arm_id, named_id)
        detaches = not policy.allows_delete or not record.claim.is_ours or is_renamed
        gone = RemovedResource(record, removal.path, removal.units)
        named = f"A manifest still names {named_id}, which is below it." if named_id else ""
        is_needed = named or holds.on_owner(record)
        if is_needed:
            needed.add(key)
        path = removal.path or record.manifest.path
        place = Declaration(
            unit=record.manifest.unit, path=record.manifest.path, declared_by=record.manifest.declared_by
        )
        if removal.units:  # of a later revision, which a next run may not search any more
            place = Declaration(unit=removal.units[-1], path=removal.path, declared_by=removal.declared_by)
        prunes[key] = Prune(
            record=replace(
                record,
                manifest=replace(
                    record.manifest,
                    policy=policy,
                    hold=max(filter(None, (removal.hold, record.manifest.hold)), default=None),
                    last_revision=removal.revision or record.manifest.last_revision,
                    **place,
                ),
            ),
            detaches=detaches,
            held="" if detaches else is_needed or _find_hold(removal, gone, holds),
            reason=removal.reason,
            last_commit=removal.last_commit,
            last_source=SourceLocation(path, removal.line) if path else None,
        )
    return spread_holds(join_deletes(prunes), needed)


def _find_hold(removal: Removal, gone: RemovedResource, holds: Holds) -> str:
    return "" if removal.is_released else removal.held or holds.on(gone) or removal.moved


def order_prunes(prunes: Mapping[Key, Prune], undeletable: Collection[Key]) -> dict[Key, Prune]:
    """Delete children and dependents first, except those that can only be deleted with their parents."""
    pruned = {key: prune.record for key, prune in prunes.items() if not prune.detaches}
    parents: dict[Key, Key] = {}
    for key in undeletable:
        above = [k for k, other in pruned.items() if key in pruned and is_below(pruned[key].arm_id, other.arm_id)]
        if above:
            parents[key] = max(above, key=lambda other: len(pruned[other].arm_id))  # the nearest
    parents |= {key: prune.within for key, prune in prunes.items() if prune.within}
    independent = {key: record for key, record in pruned.items() if key not in parents}
    ordered_prunes = dict(prunes)
    names = {key: {key} for key in independent}
    for key, prune in prunes.items():
        if prune.within in names:
            names[prune.within].add(key)
    for key, same in names.items():
        ordered_prunes[key] = replace(prunes[key], depends_on=tuple(sorted(_list_dependents(key, same, independent))))
    for key, parent in parents.items():
        ordered_prunes[key] = replace(prunes[key], within=parent, depends_on=(parent,))
    try:
        TopologicalSorter({key: prune.depends_on for key, prune in ordered_prunes.items()}).prepare()
    except CycleError as error:
        circle = " → ".join(str(key) for key in error.args[1])
        raise StateError(
            f"Dependency cycle in the records: {circle}.",
            hint="Remove one of these keys from gitsync.dependsOn in its status file.",
        ) from error
    return ordered_prunes


def _list_dependents(key: Key, same: set[Key], records: Mapping[Key, Record]) -> Iterable[Key]:
    """List the records that depend on a resource, which manifests of the keys in `same` declared, or that are below
    it.
    """
    arm_id = records[key].arm_id
    return (
        other
        for other, record in records.items()
        if other != key and (not same.isdisjoint(record.manifest.depends_on) or is_below(record.arm_id, arm_id))
    )


def hold_untrusted(plan: Plan, reasons: Mapping[Key, str], records: Mapping[Key, Record]) -> Plan:
    """Hold the resources with untrusted records, for these reasons. Records of removed ones stay as they are."""
    if not reasons and not plan.prunes:
        return plan
    applies = {
        key: replace(apply, held=make_warning(UNTRUSTED, reasons[key])) if key in reasons else apply
        for key, apply in plan.applies.items()
    }
    prunes = {
        key: replace(prune, held=reasons[key], record=records[key]) if key in reasons else prune
        for key, prune in plan.prunes.items()
    }
    return replace(plan, applies=applies, prunes=spread_holds(prunes))


def hold_until(plan: Plan, declared: Collection[Prepared], today: date) -> Plan:
    """Hold what a `gitsync/hold` leaves as it is on a day in UTC: one of the manifests in `declared`, which are all of
    the source, or of a removed one on record.

    The longest hold of a resource counts for all of its manifests. A record does not count if a manifest declares its
    resource: that one decides.
    """
    holds = [
        ((resource.arm_id or str(resource.key)).casefold(), resource.hold) for resource in declared if resource.hold
    ]
    recorded = [prune.record for prune in plan.prunes.values() if prune.record.manifest.hold]
    if not (holds or recorded):
        return plan  # as most
    ids = {(resource.arm_id or "").casefold() for resource in declared} | {""}
    holds += [
        (record.arm_id.casefold(), record.manifest.hold)
        for record in recorded
        if record.manifest.hold and record.arm_id.casefold() not in ids
    ]
    by_id = dict(sorted(holds, key=lambda pair: pair[1]))  # the longest is the last
    applies = {
        key: replace(apply, hold=hold) if (hold := by_id.get((apply.prepared.arm_id or str(key)).casefold())) else apply
        for key, apply in plan.applies.items()
    }
    prunes = dict(plan.prunes)
    for key, prune in plan.prunes.items():
        arm_id = prune.record.arm_id.casefold()
        hold = by_id.get(arm_id) if arm_id not in ids else None
        if hold and hold.lasts(today):
            prunes[key] = replace(prune, hold=hold, held=f"It is held {hold}.")
        elif hold:
            prunes[key] = replace(prune, reason=f"{prune.reason} Its hold ended on {hold.day}.")
    return replace(plan, applies=applies, prunes=spread_holds(prunes))


def hold_taken(plan: Plan, taken: Mapping[Key, Record]) -> Plan:
    """Hold the resources that another run has recorded since this one began; `taken` has its records."""
    if not taken:
        return plan
    applies = {
        key: replace(apply, record=taken[key], held=RECORDED_ELSEWHERE) if key in taken else apply
        for key, apply in plan.applies.items()
    }
    return replace(plan, applies=applies)


def hold_back(prunes: Mapping[Key, Prune], applies: Mapping[Key, Apply], results: Iterable[Result]) -> dict[Key, Prune]:
    """Hold former dependencies of a resource that is not Ready: its last good state in Azure may still need them."""
    needed_by = {
        key: result.key
        for result in results
        if not result.is_fine and (record := applies[result.key].record) is not None
        for key in record.manifest.depends_on
    }
    held_prunes = {
        key: replace(prune, held=f"{needed_by[key]} depended on it and is not Ready.")
        for key, prune in prunes.items()
        if key in needed_by and not prune.detaches and not prune.held
    }
    return spread_holds({**prunes, **held_prunes})
