"""Join the manifests and the records into one plan: what to apply, and what was removed from git.

Nothing here reads from Azure. The records decide what a prune may delete: never a resource that gitsync did not create
or adopt, that a manifest still names, or that contains something that must stay; and none that may have been removed
from git by mistake (`prune_holds`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from gitsync.errors import StateError, UnsafePlanError
from gitsync.formats.arm_path import is_below, is_same_id, iterate_ancestors
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Departure, Plan, Prune, Surroundings
from gitsync.model.policy import Policy
from gitsync.model.problem import Problem
from gitsync.model.record import Claim, Record
from gitsync.model.resource import Prepared
from gitsync.model.result import Result
from gitsync.planning.prune_holds import ALONE, Gap, Holds, find_holds
from gitsync.status.conditions import make_warning

MOST_DELETES = 10
SHARE_OF_DELETES = 0.2

UNTRUSTED = "RecordNotTrusted"
"""The reason for a resource, and the code of a problem, if its record is not believed."""

RECORDED_ELSEWHERE = make_warning(
    "RecordedByAnotherRun", "Another run has just recorded this resource, so this run leaves it alone."
)


def make_plan(
    prepared: Iterable[Prepared],
    records: Mapping[Key, Record],
    problems: Iterable[Problem] = (),
    departures: Mapping[Key, Departure] | None = None,
    undeletable: Collection[Key] = (),
    around: Surroundings = ALONE,
) -> Plan:
    """Plan one run. `problems` are those of files; `departures` say how resources were removed from git, and `around`
    is what else the source holds.

    `undeletable` are records of kinds that Azure cannot delete: they go with their parents.

    Raises StateError if the records have a dependency cycle.
    """
    prepared = tuple(prepared)
    declared = _distinct((*prepared, *around.others))
    applies = _applies(prepared, records)
    problems = tuple(problems)
    invalid = [apply for apply in applies.values() if not apply.prepared.is_valid]
    named = _named(declared, records)
    holds = find_holds(declared, records, problems, around)
    keys = {one.key for one in declared}
    gone = {key: record for key, record in sorted(records.items()) if key not in keys}
    return Plan(
        applies=applies,
        prunes=_ordered(_intended(gone, named, departures or {}, holds), undeletable),
        problems=problems,
        complete=not invalid and not any(problem.is_error for problem in problems),
    )


def _distinct(declared: Iterable[Prepared]) -> tuple[Prepared, ...]:
    """One for each manifest: what is only watched is a copy of one that the run is not about."""
    return tuple({(one.key, one.resource.source): one for one in declared}.values())


def _named(declared: Iterable[Prepared], records: Mapping[Key, Record]) -> Mapping[str, str]:
    """Every ARM id that a manifest names, now or by its record (an id may be unknown while a manifest is invalid), by
    itself and by all its parents; itself goes before its children.
    """
    ids = {
        arm_id
        for one in declared
        for arm_id in (one.arm_id, records[one.key].arm_id if one.key in records else None)
        if arm_id
    }
    found: dict[str, str] = {}
    for arm_id in sorted(ids, key=lambda one: (one.count("/"), one)):
        for above in iterate_ancestors(arm_id):
            found.setdefault(above, arm_id)
    return found


def _applies(prepared: Iterable[Prepared], records: Mapping[Key, Record]) -> dict[Key, Apply]:
    """One apply a key. One that is invalid waits for nothing: its first stage stops it."""
    by_key: dict[Key, Prepared] = {}
    for one in sorted(prepared, key=lambda one: (one.key, one.resource.source)):
        by_key.setdefault(one.key, one)
    return {
        key: Apply(
            prepared=one,
            record=records.get(key),
            depends_on=tuple(other for other in one.depends_on if other in by_key) if one.is_valid else (),
        )
        for key, one in by_key.items()
    }


def _intended(
    gone: Mapping[Key, Record], named: Mapping[str, str], departures: Mapping[Key, Departure], holds: Holds
) -> dict[Key, Prune]:
    prunes = {}
    for key, record in gone.items():
        departure = departures.get(key, Departure())
        policy = departure.policy or record.policy
        still = named.get(next(iterate_ancestors(record.arm_id), ""), "")
        detaches = _detaches(record, policy, still)
        held = "" if detaches else _below(still) or holds.on(Gap(record, departure.path))
        remembered = replace(record, policy=policy)
        prunes[key] = Prune(record=remembered, detaches=detaches, held=held, reason=departure.reason)
    return hold_parents(prunes)


def _detaches(record: Record, policy: Policy, still: str) -> bool:
    """`still` is the first id that a manifest names there or below, "" for none."""
    renamed = bool(still) and is_same_id(record.arm_id, still)
    return not policy.allows_delete or not record.claim.is_ours or renamed


def _below(still: str) -> str:
    return f"A manifest still names {still}, which is below it." if still else ""


def hold_parents(prunes: Mapping[Key, Prune]) -> dict[Key, Prune]:
    """Hold back a resource with a child that must stay in Azure: the delete would include the child.

    What stays is kept on record as long as something above it is, or the next run would know of nothing that stays.
    """
    deleted = [prune for prune in prunes.values() if not prune.detaches]
    staying = [prune for prune in prunes.values() if _stays(prune)]
    held = {}
    for below in staying:
        for above in deleted:
            if not is_below(below.record.arm_id, above.record.arm_id):
                continue
            if not above.held:
                held[above.key] = replace(above, held=f"{below.record.arm_id} is below it and must stay in Azure.")
            if below.detaches:
                held[below.key] = replace(
                    below, held=f"It stays in Azure, and its record is kept as long as that of {above.key}."
                )
    return {**prunes, **held}


def _stays(prune: Prune) -> bool:
    if prune.record.claim is Claim.NONE and prune.record.policy.allows_delete:
        return False  # nothing of it was ever there
    return bool(prune.held) or prune.detaches


def _ordered(prunes: Mapping[Key, Prune], undeletable: Collection[Key]) -> dict[Key, Prune]:
    """Children and dependents go first, except those that only go with their parents."""
    pruned = {key: prune.record for key, prune in prunes.items() if not prune.detaches}
    taken = {key: above for key in undeletable if key in pruned and (above := _nearest_above(key, pruned))}
    going = {key: record for key, record in pruned.items() if key not in taken}
    ordered = dict(prunes)
    for key in going:
        ordered[key] = replace(prunes[key], depends_on=tuple(sorted(_dependents(key, going))))
    for key, above in taken.items():
        ordered[key] = replace(prunes[key], within=above, depends_on=(above,))
    try:
        TopologicalSorter({key: prune.depends_on for key, prune in ordered.items()}).prepare()
    except CycleError as error:
        circle = " → ".join(str(key) for key in error.args[1])
        raise StateError(
            f"Dependency cycle in the records: {circle}.",
            hint="Remove one of these keys from gitsync.dependsOn in its status file.",
        ) from error
    return ordered


def _nearest_above(key: Key, pruned: Mapping[Key, Record]) -> Key | None:
    above = [other for other, record in pruned.items() if is_below(pruned[key].arm_id, record.arm_id)]
    return max(above, key=lambda other: len(pruned[other].arm_id), default=None)


def _dependents(key: Key, going: Mapping[Key, Record]) -> Iterable[Key]:
    arm_id = going[key].arm_id
    return (
        other
        for other, record in going.items()
        if other != key and (key in record.depends_on or is_below(record.arm_id, arm_id))
    )


def hold_untrusted(plan: Plan, reasons: Mapping[Key, str]) -> Plan:
    """Leave the resources alone whose records are not believed, for the reasons given."""
    applies = {
        key: replace(apply, held=make_warning(UNTRUSTED, reasons[key])) if key in reasons else apply
        for key, apply in plan.applies.items()
    }
    prunes = {key: replace(prune, held=reasons[key]) if key in reasons else prune for key, prune in plan.prunes.items()}
    return replace(plan, applies=applies, prunes=hold_parents(prunes))


def hold_taken(plan: Plan, taken: Mapping[Key, Record]) -> Plan:
    """Leave the resources alone that another run has recorded since this one began; `taken` has its records."""
    applies = {
        key: replace(apply, record=taken[key], held=RECORDED_ELSEWHERE) if key in taken else apply
        for key, apply in plan.applies.items()
    }
    return replace(plan, applies=applies)


def hold_back(prunes: Mapping[Key, Prune], applies: Mapping[Key, Apply], results: Iterable[Result]) -> dict[Key, Prune]:
    """Hold what a resource that is not Ready used to depend on: its last good state in Azure may still need it."""
    needed_by = {
        key: result.key
        for result in results
        if not result.is_fine and (record := applies[result.key].record) is not None
        for key in record.depends_on
    }
    held = {
        key: replace(prune, held=f"{needed_by[key]} depended on it and is not Ready.")
        for key, prune in prunes.items()
        if key in needed_by and not prune.detaches and not prune.held
    }
    return {**prunes, **held}


def refuse_unsafe(plan: Plan, inventory: int, most: int | None) -> None:
    """Refuse a plan that deletes too much: more than `most`, or by default the smaller of 10 and 20 % (at least 1).

    Raises UnsafePlanError, which names the resources. `inventory` counts the records that gitsync owns.
    """
    deletes = [prune for prune in plan.prunes.values() if not prune.detaches and not prune.held]
    limit = most if most is not None else max(1, min(MOST_DELETES, int(inventory * SHARE_OF_DELETES)))
    if len(deletes) > limit:
        named = ", ".join(str(prune.key) for prune in deletes[:MOST_DELETES])
        more = f" and {len(deletes) - MOST_DELETES} more" if len(deletes) > MOST_DELETES else ""
        raise UnsafePlanError(
            f"This run would delete {len(deletes)} of {inventory} resources, and the limit is {limit}: {named}{more}.",
            hint=f"If this is intended, run again with --max-deletes {len(deletes)}.",
        )
