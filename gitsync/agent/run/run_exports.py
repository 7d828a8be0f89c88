"""Find what a run exports: Secrets that no sink takes, what it may write to the sinks, and what it removes at its end.

A secret that nothing uses and no sink takes is not read, and the run warns. Config maps are kept next to the status, or
harmless to read. The rights on the sinks are checked before anything is touched. The run removes the exports of
resources that it forgot, and those that earlier runs could not remove.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from gitsync.agent.reconcile.context import RunContext
from gitsync.agent.reconcile.result_builder import collect_forgotten_exports
from gitsync.desired.formats.name_list import name_first
from gitsync.desired.manifests.selection import EVERYTHING, Selection
from gitsync.desired.request.exports import find_addresses, may_export
from gitsync.desired.request.fill import list_values
from gitsync.model.export import Address, Leftover, ObjectKind, Owner
from gitsync.model.gvk import Key
from gitsync.model.plan import Plan
from gitsync.model.problem import Level, Problem
from gitsync.model.record import State
from gitsync.model.resource import Prepared
from gitsync.model.result import Result
from gitsync.repository.secrets.export_sinks import Collected, collect_exported_again, list_tried, warn_left_over
from gitsync.repository.secrets.protocols import ExportNeeds

_MOST_NAMES = 3


def list_needed_secrets(prepared: Iterable[Prepared]) -> frozenset[Address]:
    """List the Secrets that the requests of these resources use."""
    return frozenset(
        address
        for resource in prepared
        if resource.template
        for address, _ in list_values(resource.template.gaps, resource.key.namespace)
        if address.object_kind is ObjectKind.SECRET
    )


def warn_unused_exports(prepared: Sequence[Prepared], selection: Selection = EVERYTHING) -> tuple[Problem, ...]:
    """Return one warning for all Secrets that the selected resources export, except those that a request uses.

    The caller has made sure that no sink takes Secrets.
    """
    needed = list_needed_secrets(prepared)
    exports = sorted(
        f"{address.name} of {entry.key.kind}/{entry.key.name}"
        for entry in prepared
        if may_export(entry.resource)
        for address in {address for address, _ in find_addresses(entry.resource)} - needed
        if address.object_kind is ObjectKind.SECRET and selection.has(entry.key)
    )
    if not exports:
        return ()
    names = name_first(exports, _MOST_NAMES)
    warning = Problem(
        code="ExportedNowhere",
        level=Level.WARNING,
        message=f"No sink takes these exported Secrets, so their values are not read: {names}.",
        hint="Set a sink with --export-to, such as folder or key-vault.",
    )
    return (warning,)


def collect_export_needs(plan: Plan, *, prune: bool) -> ExportNeeds:
    """Collect the exports of the resources that the run applies, and with `prune`, those of the resources that it
    deletes.
    """
    written: set[Address] = set()
    for apply in plan.applies.values():
        prepared = apply.prepared
        # A resource that is held, watched for others or invalid exports nothing.
        exports_nothing = (
            apply.skipped_because or prepared.is_watched or any(problem.is_error for problem in prepared.problems)
        )
        if may_export(prepared.resource) and not exports_nothing:
            written |= {address for address, _ in find_addresses(prepared.resource)}
    removed = {
        address for node in plan.prunes.values() if prune and not node.kept_because for address in node.record.exports
    }
    return ExportNeeds(written=tuple(sorted(written)), removed=tuple(sorted(removed)))


def select_leftovers(state: State, run: RunContext, selection: Selection) -> tuple[Leftover, ...]:
    """Select the leftovers of the run's agent, of resources that the run is about."""
    selected = (leftover for leftover in state.leftovers if selection.has(leftover.owner.key))
    return list_tried(selected, run.rules.agent, run.rules.repository)


async def remove_exports(
    run: RunContext, state: State, results: Mapping[Key, Result], leftovers: Collection[Leftover]
) -> Collected:
    """Remove from the sinks what no resource exports any more. A plan removes nothing, and lists the leftovers."""
    if not run.rules.writes:
        return Collected(problems=warn_left_over(leftovers))
    records = {**state.records, **{key: result.record for key, result in results.items()}}
    exports = {key: record.exports for key, record in records.items() if record is not None}
    # A resource may export the object again by now: then it must stay.
    exported_again = collect_exported_again(leftovers, exports)
    # Also after a stop, a few seconds are left: an export that stays behind may be a secret.
    session = run.sessions.begin_last(run.rules.deadline, run.clock.monotonic())
    forgotten = [
        (Owner(key, run.rules.agent, run.rules.repository), address)
        for key, addresses in collect_forgotten_exports(state.records, results).items()
        for address in addresses
    ]
    collected = await run.export_sinks.collect(
        forgotten,
        [leftover for leftover in leftovers if leftover not in exported_again],
        lambda: session.in_time(run.clock),
    )
    return Collected(still_there={**exported_again, **collected.still_there}, problems=collected.problems)
