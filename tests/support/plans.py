"""Plans as a run makes them: the nodes, and the fates that the guards decide by the same manifests and records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gitsync.model.gvk import Key
from gitsync.model.plan import Plan, Prune, Removal, RestOfSource
from gitsync.model.problem import Problem
from gitsync.model.record import Record
from gitsync.model.resource import Prepared
from gitsync.model.result import Result
from gitsync.planning import planner as planning
from gitsync.planning.delete_guards import (
    Evidence,
    Moment,
    Removals,
    collect_bystanders,
    collect_former_dependents,
    decide_deletes,
    list_removed,
)
from gitsync.planning.delete_scope import compare_contents
from gitsync.planning.hidden_manifests import NOTHING_ELSE, index_source


def make_plan(
    prepared: Iterable[Prepared],
    records: Mapping[Key, Record],
    problems: Iterable[Problem] = (),
    removals: Mapping[Key, Removal] | Removals | None = None,
    undeletable: Collection[Key] = (),
    around: RestOfSource = NOTHING_ELSE,
    every: Mapping[Key, Record] | None = None,
    **evidence: Any,
) -> Plan:
    """Plan a run. `every` are all records, also those that the run does not cover."""
    prepared, problems = tuple(prepared), tuple(problems)
    if not isinstance(removals, Removals):
        removals = Removals(removals or {})
    declared = {resource.key for resource in (*prepared, *around.others)}
    removed = {key: record for key, record in records.items() if key not in declared}
    seen = Evidence(
        removed=list_removed(removed, removals),
        source=index_source(prepared, records, problems, around),
        removals=removals,
        bystanders=collect_bystanders(prepared, removed, every or {}),
        **evidence,
    )
    plan = planning.make_plan(prepared, records, problems, seen, undeletable)
    return replace(plan, prunes=decide_deletes(plan.prunes, seen, Moment.PLAN))


def decide_after(plan: Plan, *results: Result, listings: Mapping[Key, Sequence[str]] | None = None) -> dict[Key, Prune]:
    """Decide the deletes of a plan after its applies. `listings` are what groups contain."""
    needed_by = collect_former_dependents(plan.applies, results)
    evidence = Evidence(needed_by=needed_by, contents=compare_contents(plan.prunes, listings or {}))
    return decide_deletes(plan.prunes, evidence, Moment.GROUPS)
