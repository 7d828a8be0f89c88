"""Join the manifests and the records into one plan: what to apply, and what was removed from git.

Nothing here reads from Azure. The records decide what a prune may delete: never a resource that gitsync did not create
or adopt, that a manifest still names, or that contains something that must stay; and none that may have been removed
from git by mistake (core/holds).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from gitsync.errors import StateError, UnsafePlanError
from gitsync.formats.arm_path import is_below, is_same_id, iterate_ancestors
from gitsync.model.gvk import Key
from gitsync.model.plan import Departure, Intent, Node, Plan, Surroundings
from gitsync.model.policy import Policy
from gitsync.model.problem import Problem
from gitsync.model.record import Claim, Record
from gitsync.model.resource import Prepared
from gitsync.model.result import Result
from gitsync.planning.prune_holds import ALONE, Gap, Holds, find_holds

MOST_DELETES = 10
SHARE_OF_DELETES = 0.2


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
    invalid = [node for node in applies.values() if node.prepared and not node.prepared.is_valid]
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


def _applies(prepared: Iterable[Prepared], records: Mapping[Key, Record]) -> dict[Key, Node]:
    """One node a key. A node that is invalid waits for nothing: its first stage stops it."""
    by_key: dict[Key, Prepared] = {}
    for one in sorted(prepared, key=lambda one: (one.key, one.resource.source)):
        by_key.setdefault(one.key, one)
    return {
        key: Node(
            key=key,
            intent=Intent.APPLY,
            prepared=one,
            record=records.get(key),
            depends_on=tuple(other for other in one.depends_on if other in by_key) if one.is_valid else (),
        )
        for key, one in by_key.items()
    }


def _intended(
    gone: Mapping[Key, Record], named: Mapping[str, str], departures: Mapping[Key, Departure], holds: Holds
) -> dict[Key, Node]:
    nodes = {}
    for key, record in gone.items():
        departure = departures.get(key, Departure())
        policy = departure.policy or record.policy
        still = named.get(next(iterate_ancestors(record.arm_id), ""), "")
        intent = _intent(record, policy, still)
        held = (_below(still) or holds.on(Gap(record, departure.path))) if intent is Intent.PRUNE else ""
        remembered = replace(record, policy=policy)
        nodes[key] = Node(key=key, intent=intent, record=remembered, held=held, reason=departure.reason)
    return hold_parents(nodes)


def _intent(record: Record, policy: Policy, still: str) -> Intent:
    """`still` is the first id that a manifest names there or below, "" for none."""
    renamed = bool(still) and is_same_id(record.arm_id, still)
    if not policy.allows_delete or not record.claim.is_ours or renamed:
        return Intent.DETACH
    return Intent.PRUNE


def _below(still: str) -> str:
    return f"A manifest still names {still}, which is below it." if still else ""


def hold_parents(nodes: Mapping[Key, Node]) -> dict[Key, Node]:
    """Hold back a resource with a child that must stay in Azure: the delete would include the child.

    What stays is kept on record as long as something above it is, or the next run would know of nothing that stays.
    """
    pruned = [node for node in nodes.values() if node.intent is Intent.PRUNE]
    staying = [node for node in nodes.values() if _stays(node)]
    held = {}
    for below in staying:
        for above in pruned:
            if not is_below(_id(below), _id(above)):
                continue
            if not above.held:
                held[above.key] = replace(above, held=f"{_id(below)} is below it and must stay in Azure.")
            if below.intent is Intent.DETACH:
                held[below.key] = replace(
                    below, held=f"It stays in Azure, and its record is kept as long as that of {above.key}."
                )
    return {**nodes, **held}


def _stays(node: Node) -> bool:
    if node.record is None or (node.record.claim is Claim.NONE and node.record.policy.allows_delete):
        return False  # nothing of it was ever there
    return bool(node.held) or node.intent is Intent.DETACH


def _id(node: Node) -> str:
    return node.record.arm_id if node.record else ""


def _ordered(nodes: Mapping[Key, Node], undeletable: Collection[Key]) -> dict[Key, Node]:
    """Children and dependents go first, except those that only go with their parents."""
    pruned = {key: node.record for key, node in nodes.items() if node.record and node.intent is Intent.PRUNE}
    taken = {key: above for key in undeletable if key in pruned and (above := _nearest_above(key, pruned))}
    going = {key: record for key, record in pruned.items() if key not in taken}
    ordered = dict(nodes)
    for key in going:
        ordered[key] = replace(nodes[key], depends_on=tuple(sorted(_dependents(key, going))))
    for key, above in taken.items():
        ordered[key] = replace(nodes[key], within=above, depends_on=(above,))
    try:
        TopologicalSorter({key: node.depends_on for key, node in ordered.items()}).prepare()
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


def hold_back(prunes: Mapping[Key, Node], applies: Mapping[Key, Node], results: Iterable[Result]) -> dict[Key, Node]:
    """Hold what a resource that is not Ready used to depend on: its last good state in Azure may still need it."""
    needed_by = {
        key: result.key
        for result in results
        if not result.is_fine and (record := applies[result.key].record) is not None
        for key in record.depends_on
    }
    held = {
        key: replace(node, held=f"{needed_by[key]} depended on it and is not Ready.")
        for key, node in prunes.items()
        if key in needed_by and node.intent is Intent.PRUNE and not node.held
    }
    return {**prunes, **held}


def refuse_unsafe(plan: Plan, inventory: int, most: int | None) -> None:
    """Refuse a plan that deletes too much: more than `most`, or by default the smaller of 10 and 20 % (at least 1).

    Raises UnsafePlanError, which names the resources. `inventory` counts the records that gitsync owns.
    """
    deletes = [node for node in plan.prunes.values() if node.intent is Intent.PRUNE and not node.held]
    limit = most if most is not None else max(1, min(MOST_DELETES, int(inventory * SHARE_OF_DELETES)))
    if len(deletes) > limit:
        named = ", ".join(str(node.key) for node in deletes[:MOST_DELETES])
        more = f" and {len(deletes) - MOST_DELETES} more" if len(deletes) > MOST_DELETES else ""
        raise UnsafePlanError(
            f"This run would delete {len(deletes)} of {inventory} resources, and the limit is {limit}: {named}{more}.",
            hint=f"If this is intended, run again with --max-deletes {len(deletes)}.",
        )
