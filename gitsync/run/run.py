"""THE RUN: checkout → parse → prepare → plan → refuse → walk → record.

The edges (git, Azure, the clock) are passed in, open; the decisions are in `core`. A plan is the same run with a walk
that does not act, and nothing to record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from gitsync.arm.http.conversation import Conversation
from gitsync.arm.http.pages import list_ids
from gitsync.config.config import Config
from gitsync.errors import ArmError, ConfigError
from gitsync.model.clock import format_rfc3339
from gitsync.model.export import Address
from gitsync.model.gvk import Key
from gitsync.model.plan import Node, Plan
from gitsync.model.problem import Problem
from gitsync.model.record import Record
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.planning.expected import expect_records
from gitsync.planning.group_deletes import absorb_content, find_deleted_groups
from gitsync.planning.plan import hold_back
from gitsync.planning.uncompared_secrets import warn_uncompared_secrets
from gitsync.reconcile.attempt import begin_attempt
from gitsync.reconcile.context import RunContext
from gitsync.reconcile.identities import open_accounts, uses_global
from gitsync.reconcile.reconcile import reconcile
from gitsync.reconcile.result_builder import build_unattempted, find_forgotten_exports
from gitsync.reconcile.scheduler import run_in_order
from gitsync.reconcile.stages.prune import RESOURCES_API_VERSION
from gitsync.report.masked import mask_report
from gitsync.run.approved_plan import load_approved_plan, make_review, narrow_plan
from gitsync.run.connections import Connections
from gitsync.run.context import make_context, make_rules
from gitsync.run.load import load_run_input
from gitsync.run.plan import list_problems, make_selection, plan_run, refuse
from gitsync.run.prepare import coverage_of
from gitsync.run.write_status import write_expected, write_status
from gitsync.status.exit_code import decide_exit_code

T = TypeVar("T")


async def sync_revision(config: Config, edges: Connections, *, writes: bool) -> Report:
    """Bring Azure to the desired state of one revision, and write back the results; a plan reports the changes only.

    Raises GitsyncError if the run is refused before anything was touched (exit code 2).
    """
    started = format_rfc3339(edges.clock.now())
    state = edges.store.load()
    deadline = edges.clock.monotonic() + config.run_timeout
    given = await _in_time(load_run_input(config, edges, state, writes=writes), deadline, edges, "read the manifests")
    review = load_approved_plan(config, edges) if writes else None
    plan = narrow_plan(plan_run(config, edges, given, state), review)
    refuse(config, edges, plan, state, writes=writes)

    rules = make_rules(config, edges, review, writes=writes)
    nodes = (*plan.applies.values(), *plan.prunes.values())
    accounts = await open_accounts(nodes, given.credentials, edges.arm, edges.open_as)
    shared = make_context(config, edges, given, state, rules, accounts)
    if uses_global(accounts):
        await edges.arm.reach(rules.deadline)
        await edges.arm.sign_in(rules.deadline)
    if writes:
        await _in_time(shared.outlets.check(), rules.deadline, edges, "check the sinks of exports")
        write_expected(edges, state, expect_records(plan.applies.values(), config.agent))
    results, left = await _walked(edges, shared, plan, state.records)

    report = _report(config, edges, plan, results, left, writes=writes)
    report = replace(report, started=started, finished=format_rfc3339(edges.clock.now()))
    report = replace(report, coverage=coverage_of(edges.source.files, edges.source.ignored, given.manifests))
    report = mask_report(report, edges.redactions.mask)
    if not writes:
        return report
    whole = all(map(make_selection(config).has, state.records))
    return write_status(edges, state, report, shared.outlets.kept.written, whole=whole)


async def _in_time(work: Awaitable[T], deadline: float, edges: Connections, doing: str) -> T:
    """Do something before the walk. ConfigError if the run times out first: nothing was touched."""
    try:
        async with Conversation(deadline=deadline).in_time(edges.clock):
            return await work
    except TimeoutError as error:
        hint = "Check that the secret sources and sinks are reachable, or set a longer --run-timeout."
        raise ConfigError(f"The run timed out before it could {doing}.", hint=hint) from error


async def _walked(
    edges: Connections, run: RunContext, plan: Plan, records: Mapping[Key, Record]
) -> tuple[dict[Key, Result], tuple[Problem, ...]]:
    """Applies first, then prunes and the exports of what they forget, then a retry of what the deletes may unblock.

    The problems are those of exports that could not be cleared away.
    """

    async def one(node: Node, before: Mapping[Key, Result]) -> Result:
        result = await reconcile(node, before, run)
        edges.progress.finished(result)
        return result

    late = partial(build_unattempted, agent=run.rules.agent)
    stopping = asyncio.create_task(_end_waits(edges, run))
    try:
        edges.progress.expect(len(plan.applies) + len(plan.prunes))
        applied = await run_in_order(plan.applies, one, late, edges.stop)
        prunes = await _with_groups(hold_back(plan.prunes, plan.applies, applied.values()), run)
        pruned = await run_in_order(prunes, one, late, edges.stop)
        left = await _collected(run, find_forgotten_exports(records, {**applied, **pruned}))
        again = _second_tries(plan, applied, pruned) if run.rules.writes else {}
        retried = await run_in_order(again, one, late, edges.stop, known=applied)
    finally:
        stopping.cancel()
    return {**applied, **pruned, **retried}, left


async def _collected(run: RunContext, exported: Mapping[Key, Sequence[Address]]) -> tuple[Problem, ...]:
    """Clear away what forgotten resources exported. A plan clears nothing."""
    if not run.rules.writes:
        return ()
    conversation = run.memory.last_words(run.rules.deadline, run.clock.monotonic())
    return await run.outlets.collect(exported, run.rules.agent, lambda: conversation.in_time(run.clock))


async def _end_waits(edges: Connections, run: RunContext) -> None:
    await edges.stop.wait()
    run.memory.stop(edges.clock.monotonic())


async def _with_groups(prunes: Mapping[Key, Node], run: RunContext) -> Mapping[Key, Node]:
    """Ask of every group that is to go what it holds; one that gives no valid list goes after its content.

    Where the run is held to a reviewed plan each resource is looked at before it goes, so none goes with its group.
    """
    if run.rules.review:
        return prunes
    listings = {}
    for group in find_deleted_groups(prunes):
        path = f"{group.record.arm_id if group.record else ''}/resources"
        try:
            found = await begin_attempt(group, {}, run).reader.list(path, RESOURCES_API_VERSION)
            listings[group.key] = list_ids(found, path)
        except ArmError:
            continue
    return absorb_content(prunes, listings)


def _second_tries(plan: Plan, applied: Mapping[Key, Result], pruned: Mapping[Key, Result]) -> dict[Key, Node]:
    """Nodes that failed with a retryable error, if something was deleted since
    (docs/reference/design.md#prune).
    """
    if not any(result.record is None for result in pruned.values()):
        return {}
    failed = {key for key, result in applied.items() if not result.is_fine and result.may_mend}
    return {key: replace(plan.applies[key], record=applied[key].record) for key in plan.applies if key in failed}


def _report(
    config: Config,
    edges: Connections,
    plan: Plan,
    results: Mapping[Key, Result],
    left: Sequence[Problem],
    *,
    writes: bool,
) -> Report:
    """`left` are the exports of deleted resources that could not be removed."""
    choice = make_selection(config)
    told = tuple(results[key] for key in sorted(results) if choice.has(key))
    problems = (*warn_uncompared_secrets(told), *list_problems(plan), *left)
    return Report(
        command="sync" if writes else "plan",
        revision=edges.source.revision,
        started="",
        finished="",
        exit_code=decide_exit_code(
            told, problems, writes=writes, detailed=config.detailed_exitcode, fail_on=config.fail_on
        ),
        requests=edges.arm.requests,
        problems=problems,
        results=told,
        interrupted=edges.stop.is_set(),
        review=make_review(config, edges, told) if config.plan_out and not writes else None,
        root=edges.source.root,
    )
