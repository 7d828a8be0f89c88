"""The Secrets and ConfigMaps that a run exports: what it may have to write, and what it removes at its end.

Removed are those of the resources that it forgot, and those that earlier runs could not remove.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gitsync.manifests.selection import Selection
from gitsync.model.export import Address, Leftover, Owner
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Plan
from gitsync.model.record import State
from gitsync.model.result import Result
from gitsync.reconcile.context import RunContext
from gitsync.reconcile.result_builder import find_forgotten_exports
from gitsync.request.exports import find_addresses, may_export
from gitsync.secrets.exports import Collected, find_exported_again, find_tried, warn_left_over
from gitsync.secrets.protocols import ExportNeeds


def select_leftovers(state: State, run: RunContext, selection: Selection) -> tuple[Leftover, ...]:
    """The leftovers of the run's agent, of resources that the run is about."""
    selected = (one for one in state.leftovers if selection.has(one.owner.key))
    return find_tried(selected, run.rules.agent, run.rules.repository)


async def remove_exports(
    run: RunContext, state: State, results: Mapping[Key, Result], leftovers: Collection[Leftover]
) -> Collected:
    """Remove from the sinks what no resource exports any more. A plan removes nothing, and lists the leftovers."""
    if not run.rules.writes:
        return Collected(problems=warn_left_over(leftovers))
    exported_again = find_exported_again(leftovers, _find_exports(state, results))
    session = run.sessions.begin_last(run.rules.deadline, run.clock.monotonic())
    forgotten = [
        (Owner(key, run.rules.agent, run.rules.repository), address)
        for key, addresses in find_forgotten_exports(state.records, results).items()
        for address in addresses
    ]
    collected = await run.export_sinks.collect(
        forgotten,
        [one for one in leftovers if one not in exported_again],
        lambda: session.in_time(run.clock),
    )
    return Collected(still_there={**exported_again, **collected.still_there}, problems=collected.problems)


def _find_exports(state: State, results: Mapping[Key, Result]) -> Mapping[Key, Collection[Address]]:
    """What each resource exports, as its record says after the run."""
    records = {**state.records, **{key: result.record for key, result in results.items()}}
    return {key: record.exports for key, record in records.items() if record is not None}


# What a run may write to the sinks, and remove from them, as far as manifests and records tell.
#
# Separate from the plan, which is about Azure: the sinks are asked for these rights before anything is touched.


def find_export_needs(plan: Plan, *, prune: bool) -> ExportNeeds:
    """The exports of the resources that the run applies, and with `prune`, those of the resources that it deletes."""
    written = {
        address
        for apply in plan.applies.values()
        if may_export(apply.prepared.resource) and _can_export(apply)
        for address, _ in find_addresses(apply.prepared.resource)
    }
    removed = {address for node in plan.prunes.values() if prune and not node.held for address in node.record.exports}
    return ExportNeeds(written=tuple(sorted(written)), removed=tuple(sorted(removed)))


def _can_export(apply: Apply) -> bool:
    """A resource that is held, watched for others or invalid exports nothing."""
    prepared = apply.prepared
    return not (apply.held or prepared.is_watched or any(problem.is_error for problem in prepared.problems))
