"""THE RUN: checkout → parse → prepare → plan → refuse → walk → record.

The edges (git, Azure, the clock) are handed in, open; what is decided on the way is in `core`. A plan is the same run
with a walk that does not act, and nothing to record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from gitsync.arm.http.conversation import Conversation
from gitsync.arm.http.pages import ids_of
from gitsync.config.config import Config
from gitsync.errors import ArmError, ConfigError
from gitsync.model.clock import rfc3339
from gitsync.model.export import Address
from gitsync.model.gvk import Key
from gitsync.model.plan import Node, Plan
from gitsync.model.problem import Problem
from gitsync.model.record import Record
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.planning.expected import expected
from gitsync.planning.group_deletes import absorbed, doomed_groups
from gitsync.planning.plan import hold_back
from gitsync.planning.uncompared_secrets import untold_secrets
from gitsync.reconcile.attempt import begin
from gitsync.reconcile.context import Run
from gitsync.reconcile.identities import any_global, open_accounts
from gitsync.reconcile.reconcile import reconcile
from gitsync.reconcile.result_builder import forgotten, no_turn
from gitsync.reconcile.scheduler import walk
from gitsync.reconcile.stages.prune import RESOURCES_API_VERSION
from gitsync.report.masked import masked
from gitsync.run.approved_plan import narrowed, review_of, to_review
from gitsync.run.connections import Edges
from gitsync.run.context import rules_of, share
from gitsync.run.load import read
from gitsync.run.plan import choice_of, plan_run, problems_of, refuse
from gitsync.run.prepare import coverage_of
from gitsync.run.write_status import expect, publish
from gitsync.status.exit_code import exit_code

T = TypeVar("T")


async def run(config: Config, edges: Edges, *, writes: bool) -> Report:
    """Bring Azure to what one revision says, and write back what came of it; a plan tells what that would take.

    Raises GitsyncError where the run is refused before anything was touched (exit code 2).
    """
    started = rfc3339(edges.clock.now())
    state = edges.store.load()
    deadline = edges.clock.monotonic() + config.run_timeout
    given = await _in_time(read(config, edges, state, writes=writes), deadline, edges, "read what git says")
    review = review_of(config, edges) if writes else None
    plan = narrowed(plan_run(config, edges, given, state), review)
    refuse(config, edges, plan, state, writes=writes)

    rules = rules_of(config, edges, review, writes=writes)
    nodes = (*plan.applies.values(), *plan.prunes.values())
    accounts = await open_accounts(nodes, given.credentials, edges.arm, edges.open_as)
    shared = share(config, edges, given, state, rules, accounts)
    if any_global(accounts):
        await edges.arm.reach(rules.deadline)
        await edges.arm.sign_in(rules.deadline)
    if writes:
        await _in_time(shared.outlets.check(), rules.deadline, edges, "check the places that exports go to")
        expect(edges, state, expected(plan.applies.values(), config.agent))
    results, left = await _walked(edges, shared, plan, state.records)

    report = _report(config, edges, plan, results, left, writes=writes)
    report = replace(report, started=started, finished=rfc3339(edges.clock.now()))
    report = replace(report, coverage=coverage_of(edges.source.files, edges.source.ignored, given.manifests))
    report = masked(report, edges.redactions.mask)
    if not writes:
        return report
    whole = all(map(choice_of(config).has, state.records))
    return publish(edges, state, report, shared.outlets.kept.written, whole=whole)


async def _in_time(work: Awaitable[T], deadline: float, edges: Edges, doing: str) -> T:
    """Do something before the walk. ConfigError where the time of the run is up first: nothing was touched."""
    try:
        async with Conversation(deadline=deadline).in_time(edges.clock):
            return await work
    except TimeoutError as error:
        hint = "Check whether the places of secrets can be reached, or set a longer --run-timeout."
        raise ConfigError(f"The time of the run was up before it could {doing}.", hint=hint) from error


async def _walked(
    edges: Edges, run: Run, plan: Plan, records: Mapping[Key, Record]
) -> tuple[dict[Key, Result], tuple[Problem, ...]]:
    """Applies first, then prunes and the exports of what they forget, then once more what may have room now.

    The problems are those of exports that could not be cleared away.
    """

    async def one(node: Node, before: Mapping[Key, Result]) -> Result:
        result = await reconcile(node, before, run)
        edges.progress.finished(result)
        return result

    late = partial(no_turn, agent=run.rules.agent)
    stopping = asyncio.create_task(_end_waits(edges, run))
    try:
        edges.progress.expect(len(plan.applies) + len(plan.prunes))
        applied = await walk(plan.applies, one, late, edges.stop)
        prunes = await _with_groups(hold_back(plan.prunes, plan.applies, applied.values()), run)
        pruned = await walk(prunes, one, late, edges.stop)
        left = await _collected(run, forgotten(records, {**applied, **pruned}))
        again = _second_tries(plan, applied, pruned) if run.rules.writes else {}
        retried = await walk(again, one, late, edges.stop, known=applied)
    finally:
        stopping.cancel()
    return {**applied, **pruned, **retried}, left


async def _collected(run: Run, exported: Mapping[Key, Sequence[Address]]) -> tuple[Problem, ...]:
    """Clear away what forgotten resources exported. A plan clears nothing."""
    if not run.rules.writes:
        return ()
    conversation = run.memory.last_words(run.rules.deadline, run.clock.monotonic())
    return await run.outlets.collect(exported, run.rules.agent, lambda: conversation.in_time(run.clock))


async def _end_waits(edges: Edges, run: Run) -> None:
    await edges.stop.wait()
    run.memory.stop(edges.clock.monotonic())


async def _with_groups(prunes: Mapping[Key, Node], run: Run) -> Mapping[Key, Node]:
    """Ask of every group that is to go what it holds; one that gives no valid list goes after its content.

    Where the run is held to a reviewed plan each resource is looked at before it goes, so none goes with its group.
    """
    if run.rules.review:
        return prunes
    listings = {}
    for group in doomed_groups(prunes):
        path = f"{group.record.arm_id if group.record else ''}/resources"
        try:
            found = await begin(group, {}, run).reader.list(path, RESOURCES_API_VERSION)
            listings[group.key] = ids_of(found, path)
        except ArmError:
            continue
    return absorbed(prunes, listings)


def _second_tries(plan: Plan, applied: Mapping[Key, Result], pruned: Mapping[Key, Result]) -> dict[Key, Node]:
    """What failed for a reason that may mend, where something was deleted meanwhile
    (docs/reference/design.md#prune).
    """
    if not any(result.record is None for result in pruned.values()):
        return {}
    failed = {key for key, result in applied.items() if not result.is_fine and result.may_mend}
    return {key: replace(plan.applies[key], record=applied[key].record) for key in plan.applies if key in failed}


def _report(
    config: Config, edges: Edges, plan: Plan, results: Mapping[Key, Result], left: Sequence[Problem], *, writes: bool
) -> Report:
    """`left` tells what could not be cleared away behind what was deleted."""
    choice = choice_of(config)
    told = tuple(results[key] for key in sorted(results) if choice.has(key))
    problems = (*untold_secrets(told), *problems_of(plan), *left)
    return Report(
        command="sync" if writes else "plan",
        revision=edges.source.revision,
        started="",
        finished="",
        exit_code=exit_code(told, problems, writes=writes, detailed=config.detailed_exitcode, fail_on=config.fail_on),
        requests=edges.arm.requests,
        problems=problems,
        results=told,
        interrupted=edges.stop.is_set(),
        review=to_review(config, edges, told) if config.plan_out and not writes else None,
        root=edges.source.root,
    )
