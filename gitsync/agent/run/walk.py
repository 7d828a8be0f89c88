"""THE WALK: every resource in its turn, each as soon as everything that it depends on has a result.

Requests are limited, resources are not: one that waits for Azure holds nothing that another needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from graphlib import TopologicalSorter

from gitsync.agent.reconcile.context import RunContext
from gitsync.agent.reconcile.reconcile import reconcile
from gitsync.agent.reconcile.result_builder import build_unattempted
from gitsync.agent.reconcile.stages.prune import RESOURCES_API_VERSION
from gitsync.agent.run.lifted_locks import forget_lifted, reserve_lifts, restore_lifted, view_open, view_standing
from gitsync.agent.run.replacements import Due, RunNodes, replace_resources, settle_replacements
from gitsync.agent.run.run_exports import remove_exports, select_leftovers
from gitsync.desired.manifests.selection import Selection
from gitsync.errors import ArmError
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import AZURE_RESOURCE, Key
from gitsync.model.plan import Apply, Node, Plan, Prune
from gitsync.model.record import State
from gitsync.model.result import Result
from gitsync.model.verdict import Action, Written
from gitsync.planning.delete_guards import Evidence, Moment, collect_former_dependents, decide_deletes
from gitsync.planning.delete_scope import absorb_content, compare_contents, list_deleted_groups
from gitsync.planning.embedded_children import group_by_owner
from gitsync.planning.managed_locks import split_turns
from gitsync.planning.replacement import add_takes
from gitsync.providers.arm.http.response_bodies import list_ids
from gitsync.repository.secrets.export_sinks import Collected


def _may_embed(owner: Key, *, plan: Plan, run: RunContext) -> bool:
    """Return whether the body of an owner may have to include its children."""
    apply = plan.applies.get(owner) if owner[:2] == AZURE_RESOURCE else None
    kind = run.catalog.kind_of(apply.prepared.resource) if apply else None
    return run.registry.modifies(*(kind.rule_key if kind else owner[:2]))


async def walk(
    run: RunContext, plan: Plan, state: State, selection: Selection, most_deletes: int | None = None
) -> tuple[dict[Key, Result], Collected]:
    """First the locks that are lifted, last those that are created, and between them all else. `most_deletes` is the
    limit of the settings.
    """
    # Known before the first PUT: the body of a parent may have to include its children.
    run = replace(run, children=group_by_owner(plan, partial(_may_embed, plan=plan, run=run)))
    stop_watcher = asyncio.create_task(_end_waits(run))
    try:
        nodes: dict[Key, Node] = {**plan.applies, **plan.prunes}
        run.connections.progress.expect({key: node.depends_on for key, node in nodes.items()})
        turns = await reserve_lifts(run, state, split_turns(plan))
        run_nodes = _bind_nodes(run)
        first = await run_nodes(turns.first) if turns.first else {}
        run.cache.lock_view = view_standing(run, state, turns, first)
        left = forget_lifted(state, first)
        applied = await run_nodes(turns.usual.applies, known=first)
        usual, collected = await _end_usual(run, turns.usual, left, selection, most_deletes, {**first, **applied})
        first |= await restore_lifted(run, turns, first, usual)
        done = {**first, **usual}
        run.cache.lock_view = view_open(turns, run.cache.lock_view, usual)
        done |= await run_nodes(turns.last, known=done) if turns.last else {}
    finally:
        stop_watcher.cancel()
    return add_takes(done, state.records, plan.applies), collected


def _bind_nodes(run: RunContext) -> RunNodes:
    """Bind `run_in_order` to a run: what is left are the nodes, and the results that are known."""
    return partial(
        run_in_order,
        run=partial(reconcile, run=run),
        build_unattempted=partial(_build_rest, run),
        stop=run.connections.stop,
    )


def _build_rest(run: RunContext, node: Node) -> Result:
    return build_unattempted(node, run.rules.agent, run.clock.now())


async def _end_usual(
    run: RunContext,
    plan: Plan,
    state: State,
    selection: Selection,
    most_deletes: int | None,
    known: Mapping[Key, Result],
) -> tuple[dict[Key, Result], Collected]:
    """After the applies: prunes, the resources that are replaced, and the exports of what was forgotten; then a retry
    of what the deletes may unblock. `known` are the results of the applies, and of the locks so far.
    """
    leftovers, run_nodes = select_leftovers(state, run, selection), _bind_nodes(run)
    applied = {key: known[key] for key in plan.applies}
    first = {key: result for key, result in known.items() if key not in applied}
    # A list that was wrong about one resource may be wrong about others: read those too.
    doubtful = _keep_records(plan, applied, run.lists.take_doubtful())
    applied |= await run_nodes(doubtful, known={**first, **applied})
    # After all applies: what is below a replaced resource must be known before anything is deleted.
    applied, due = await settle_replacements(run, plan, state, applied, most_deletes)
    pruned = await run_nodes(await _decide_deletes(plan, applied, run), known=first)
    both: Collection[Key] = due
    if due and run.rules.writes:
        applied, due, both = await _replace_in_turn(
            run, plan, state, applied, due, most_deletes=most_deletes, run_nodes=run_nodes
        )
        applied |= {key: _build_rest(run, plan.applies[key]) for key in due}
    collected = await remove_exports(run, state, {**first, **applied, **pruned}, leftovers)
    # A delete may free a name or a reference that an apply failed for.
    frees = any(result.record is None for result in pruned.values()) or collected.has_freed(leftovers)
    has_time = run.clock.monotonic() < run.rules.deadline
    tried = {key: result for key, result in applied.items() if key not in both}
    second_tries = _collect_second_tries(plan, tried) if run.rules.writes and frees and has_time else {}
    applied = _add_later(applied, await run_nodes(second_tries, known={**first, **applied}))
    return {**applied, **pruned}, collected


async def _replace_in_turn(  # noqa: PLR0913 - what a replacement needs of the walk
    run: RunContext,
    plan: Plan,
    state: State,
    applied: dict[Key, Result],
    due: dict[Key, Due],
    *,
    most_deletes: int | None,
    run_nodes: RunNodes,
) -> tuple[dict[Key, Result], dict[Key, Due], set[Key]]:
    """Replace what is due, then what that has made due: a new resource may export a value that another one cannot take
    in place. Returns the results, what a stop has left, and all that has had both halves.
    """
    replaced = dict[Key, Due]()
    while due and not run.connections.stop.is_set():
        applied = _add_later(applied, await replace_resources(run, plan, state, applied, due, run_nodes))
        replaced |= due
        applied, due = await settle_replacements(run, plan, state, applied, most_deletes, replaced)
    return applied, due, {*due, *replaced, *(key for replacement in replaced.values() for key in replacement.takes)}


def _add_later(earlier: Mapping[Key, Result], later: Mapping[Key, Result]) -> dict[Key, Result]:
    """Return the results with those of another try. What the earlier try has written stays written."""
    joined = dict(earlier)
    for key, result in later.items():
        first = earlier[key]
        # The second try found the resource as it should be: what the first one did is the change to report.
        did_nothing = result.action is Action.NONE and result.ending.written is Written.NOTHING
        ending = replace(
            result.ending,
            sent=tuple(dict.fromkeys((*first.ending.sent, *result.ending.sent))),
            written=first.ending.written if did_nothing else result.ending.written,
        )
        joined[key] = replace(result, action=first.action if did_nothing else result.action, ending=ending)
    return joined


async def _end_waits(run: RunContext) -> None:
    await run.connections.stop.wait()
    run.sessions.end(run.clock.monotonic())


async def _decide_deletes(plan: Plan, applied: Mapping[Key, Result], run: RunContext) -> Mapping[Key, Prune]:
    """Decide once more which resources are kept, after the applies: what a resource that failed may still need, and a
    group with anything else in it. A group without a valid list goes after its content.
    """
    needed_by = collect_former_dependents(plan.applies, applied.values())
    # Without --prune nothing is deleted, so no list is worth its request.
    groups = list_deleted_groups(plan.prunes, needed_by) if run.rules.prune else ()
    listings = await _list_groups(groups, run)
    evidence = Evidence(needed_by=needed_by, contents=compare_contents(plan.prunes, listings))
    prunes = decide_deletes(plan.prunes, evidence, Moment.GROUPS)
    # If the run is limited to a reviewed plan, each resource is read before it goes, so none goes with its group.
    return prunes if run.rules.approval.review else absorb_content(prunes, listings)


async def _list_groups(groups: Iterable[Prune], run: RunContext) -> dict[Key, list[ArmId]]:
    listings = {}
    for group in groups:
        path = f"{group.record.arm_id}/resources"
        session = run.begin_session()
        try:
            reader = run.identities[group.key].azure().reader(session)
            listings[group.key] = list_ids(await reader.list(path, RESOURCES_API_VERSION), path)
        except ArmError:
            continue  # unknown content: the group waits until its own content is deleted one by one
    return listings


def _collect_second_tries(plan: Plan, applied: Mapping[Key, Result]) -> dict[Key, Apply]:
    """Applies that failed with a retryable error, for a run that has deleted something since
    (docs/reference/design.md#prune).
    """
    failed = {key for key, result in applied.items() if not result.is_fine and result.ending.is_retryable}
    return _keep_records(plan, applied, failed)


def _keep_records(plan: Plan, applied: Mapping[Key, Result], keys: Collection[Key]) -> dict[Key, Apply]:
    """Return some applies once more, with the records that the run has made of them."""
    return {key: replace(plan.applies[key], record=applied[key].record) for key in plan.applies if key in keys}


RunNode = Callable[[Node, Mapping[Key, Result]], Awaitable[Result]]


async def run_in_order(
    nodes: Mapping[Key, Node],
    run: RunNode,
    build_unattempted: Callable[[Node], Result],
    stop: asyncio.Event,
    known: Mapping[Key, Result] | None = None,
) -> dict[Key, Result]:
    """Return one result a node, in the order of their ends.

    Every key of `depends_on` must be a node or have a `known` result, without cycles. Once `stop` is set, no further
    node begins but what a delete has taken along: `build_unattempted` makes the results of the rest, and nodes under
    way are waited for.
    """
    results = dict(known or {})
    sorter = TopologicalSorter({key: [k for k in node.depends_on if k in nodes] for key, node in nodes.items()})
    sorter.prepare()
    running: dict[asyncio.Task[Result], Key] = {}
    ended: asyncio.Queue[asyncio.Task[Result]] = asyncio.Queue()
    while sorter.is_active():
        # In the order of keys, so that two runs of one revision send the same requests in the same order.
        for key in sorted(sorter.get_ready()):
            before = {other: results[other] for other in nodes[key].depends_on if other in results}
            is_left = stop.is_set() and not _goes_along(nodes[key], before)
            # A result anyway: what depends on this node gets one too, and the walk ends in order.
            awaitable = _return_result(build_unattempted(nodes[key])) if is_left else run(nodes[key], before)
            task = asyncio.ensure_future(awaitable)
            task.add_done_callback(ended.put_nowait)
            running[task] = key
        # Of those that ended together, the order must not depend on the event loop.
        for task in sorted(await _wait_for_ended(ended), key=lambda task: running[task]):
            key = running.pop(task)
            results[key] = task.result()
            sorter.done(key)
    return {key: results[key] for key in results if key in nodes}


def _goes_along(node: Node, before: Mapping[Key, Result]) -> bool:
    """Return whether the delete of another resource, which has begun, takes a resource along: that needs no request."""
    within = before.get(node.within) if isinstance(node, Prune) and node.within else None
    return within is not None and within.action is Action.DELETE


async def _wait_for_ended(ended: asyncio.Queue[asyncio.Task[Result]]) -> list[asyncio.Task[Result]]:
    """Return the tasks that ended, at least one. asyncio.wait would check all running tasks each time."""
    tasks = [await ended.get()]
    while not ended.empty():
        tasks.append(ended.get_nowait())
    return tasks


async def _return_result(result: Result) -> Result:
    return result
