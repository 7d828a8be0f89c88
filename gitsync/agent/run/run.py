"""THE RUN: checkout → parse → prepare → plan → refuse → walk → record.

`execute` opens the connections (git, Azure, secret stores), and `sync_revision` runs with them. A plan is the same run
with a walk that does not act, and nothing to record.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Iterable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from gitsync.agent.reconcile.context import Connections, RunContext
from gitsync.agent.reconcile.identities import Identities, open_identities
from gitsync.agent.reconcile.rules import OutsideUse
from gitsync.agent.run.connections import make_contact, open_connections
from gitsync.agent.run.context_builder import add_lists, make_context, make_rules
from gitsync.agent.run.guards import (
    Confirm,
    count_changes,
    demand_consent,
    guard_plan,
    is_first_sync,
    load_approved_plan,
    make_review,
)
from gitsync.agent.run.identity_notes import add_identity_changes, list_refused_deletes
from gitsync.agent.run.prepared_manifests import coverage_of
from gitsync.agent.run.run_checks import check_before_writes, check_results, count_repeated, count_unrepeated
from gitsync.agent.run.run_exports import collect_export_needs
from gitsync.agent.run.run_input import RunInput, load_run_input
from gitsync.agent.run.run_plan import covers, list_problems, plan_run
from gitsync.agent.run.walk import walk
from gitsync.agent.run.watch import begin_watch, log_start
from gitsync.agent.run.workers import count_sharing, cut, drop_bodies
from gitsync.agent.run.write_status import ExportOutcome, notify, write_expected, write_heartbeat, write_status
from gitsync.desired.formats.people import make_log_mask
from gitsync.desired.manifests.selection import Selection, make_selection
from gitsync.errors import ConfigError
from gitsync.model.attribution import Who
from gitsync.model.check import CheckName
from gitsync.model.clock import format_rfc3339
from gitsync.model.gvk import Key
from gitsync.model.plan import Node, Plan, Review
from gitsync.model.record import State
from gitsync.model.report import Report, ReportPlan, ReportSource, RunTarget
from gitsync.model.result import Result
from gitsync.model.schedule import Schedule
from gitsync.planning.changed_fields import locate_fields
from gitsync.planning.claims import expect_records
from gitsync.planning.diff.secret_changes import warn_uncompared_secrets
from gitsync.planning.planned_writes import foresee
from gitsync.planning.planner import skip_taken
from gitsync.planning.replacement import warn_unused_consents
from gitsync.planning.run_problems import decide_agent
from gitsync.planning.status.exit_code import decide_exit_code
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.providers.arm.session import Session
from gitsync.report.hidden_people import leave_out_people
from gitsync.report.masked import mask_exception, mask_report, mask_target
from gitsync.report.progress import Progress
from gitsync.repository.git.state.worker_store import WorkerStore
from gitsync.repository.secrets.export_sinks import Collected
from gitsync.settings.config.config import Config
from gitsync.settings.processes.programs import Grace
from gitsync.settings.redaction import Redactions, tell_settings

T = TypeVar("T")


async def execute(  # noqa: PLR0913 - what a run is given from outside
    config: Config,
    *,
    writes: bool,
    stop: asyncio.Event | None = None,
    progress: Progress | None = None,
    redactions: Redactions | None = None,
    grace: Grace | None = None,
    confirm: Confirm | None = None,
    outside_use: OutsideUse = OutsideUse.REPORT,
) -> Report:
    """Open the connections, run once, and close them.

    Once `stop` is set the run begins nothing more and ends in order. `redactions` gets every secret value that the run
    reads, for use in logs; neither the report nor an exception shows one. Once `grace` begins, programs that the run
    started end with it. `confirm` is called before the first sync of a target.
    """
    redactions = redactions or Redactions()
    tell_settings(redactions, config, os.environ)
    command = "sync" if writes else "plan"
    watch = begin_watch(config, os.environ, redactions, SystemClock(), progress, command=command)
    try:
        async with open_connections(
            config, stop or asyncio.Event(), watch.progress, redactions, grace, writes=writes
        ) as connections:
            report = await sync_revision(config, connections, confirm, writes=writes, outside_use=outside_use)
        return watch.ended(report)
    except Exception as error:
        watch.failed(error)
        failure = mask_exception(error, make_log_mask(redactions.mask))
        if failure is error:
            raise
    raise failure  # outside of the handler, or what was masked away would be its context


async def sync_revision(
    config: Config,
    connections: Connections,
    confirm: Confirm | None = None,
    *,
    writes: bool,
    outside_use: OutsideUse = OutsideUse.REPORT,
) -> Report:
    """Bring Azure to the desired state of one revision, and write back the results; a plan reports the changes only.

    Raises GitsyncError if the run is refused before anything was touched (exit code 2).
    """
    started_at = format_rfc3339(connections.clock.now())
    state = connections.store.load()
    deadline = connections.clock.monotonic() + config.run_timeout
    agent = decide_agent(config.agent, state.records.values(), os.environ.get("POD_NAMESPACE", ""))
    loading = load_run_input(config, connections, state, agent, writes=writes)
    config, state, run_input = await _in_time(loading, deadline, connections, "read the manifests")
    # Before Azure is contacted: a plan that was made from other input refuses the run at once.
    review = load_approved_plan(config, connections) if writes else None
    plan, selection, run_input = _plan(config, connections, run_input, state, agent, review, writes=writes)
    make_run_rules = partial(make_rules, config, connections, review, agent, writes=writes, outside_use=outside_use)
    rules = make_run_rules()
    identities = await _open_identities(plan, run_input, connections)
    target = await make_contact(config, connections, identities, agent, rules.deadline)
    log_start("sync" if writes else "plan", target)
    make_run = partial(make_context, config, connections, run_input, state, identities=identities)
    # A wrong subscription is noticed best before anything is written to it.
    if writes and confirm and not connections.azure.is_local and is_first_sync(state, agent):
        await _confirm_first(make_run(rules=replace(rules, writes=False)), plan, target, confirm)
        rules = make_run_rules()  # the deadline starts at the answer
    run = add_lists(config, make_run(rules=rules), plan)
    if writes:
        # A sink that cannot be written to would fail after the resources exist, with their secrets not exported.
        needs = collect_export_needs(plan, prune=config.prune)
        await _in_time(run.export_sinks.check(needs), rules.deadline, connections, "check the sinks of exports")
        # Recorded before the first write: if the run is killed, the next one finds what it may have created.
        taken = write_expected(connections, state, expect_records(plan.applies.values(), agent), agent)
        plan = skip_taken(plan, taken)
        await check_before_writes(run, plan)
    results, collected = await walk(run, plan, state, selection, config.max_deletes)
    results = await _check_writes(results, config, run, plan, state)

    selected = (results[key] for key in sorted(results) if selection.has(key))
    report = _make_report(config, run, run_input, plan, selected, collected)
    report = _mask(replace(report, target=target, started=started_at), config, connections)
    return _write_back(config, run, state, collected, report, selection) if writes else report


async def _open_identities(plan: Plan, run_input: RunInput, connections: Connections) -> Identities:
    nodes: tuple[Node, ...] = (*plan.applies.values(), *plan.prunes.values())
    azure = connections.azure
    return await open_identities(nodes, run_input.credentials, azure.arm, azure.ids, azure.open_as)


def _mask(report: Report, config: Config, connections: Connections) -> Report:
    """Mask the secrets of a report; with `--who off` also names of people. Otherwise each format decides on names."""
    masked = mask_report(report, connections.redactions.mask)
    return leave_out_people(masked) if config.who == Who.OFF else masked


def _plan(  # noqa: PLR0913 - what a plan and its guards depend on
    config: Config,
    connections: Connections,
    run_input: RunInput,
    state: State,
    agent: str,
    review: Review | None,
    *,
    writes: bool,
) -> tuple[Plan, Selection, RunInput]:
    """Plan the run, and guard it; also return what it covers, and the input that it still needs.

    Raises GitsyncError if the run is refused.
    """
    worker, selection = connections.store, make_selection(config)
    # A worker plans its own part, once the run as a whole is guarded: by the pinned state, so that the guards come to
    # the same end in all workers.
    known = worker.pinned if isinstance(worker, WorkerStore) else state
    plan = plan_run(config, connections, run_input, known, agent, review=review)
    plan = guard_plan(config, connections, plan, known, agent, writes=writes)
    if not isinstance(worker, WorkerStore):
        return plan, selection, run_input
    # Cut from the input that all workers read alike, so each finds the same shards without asking the others.
    shards = cut(worker, run_input)
    shard = shards[worker.number - 1]
    connections.azure.arm.divide_limits(count_sharing(shard, shards))
    selection = replace(selection, keys=shard.keys)
    plan = plan_run(config, connections, run_input, state, agent, selection)
    return plan, selection, drop_bodies(run_input, shard)


async def _check_writes(
    results: dict[Key, Result], config: Config, run: RunContext, plan: Plan, state: State
) -> dict[Key, Result]:
    """Check with Azure what it would refuse of a plan, and find who made the changes there."""
    results = results if run.rules.writes else await check_results(run, results)
    if config.who == Who.OFF or not any(result.has_changed_in_azure for result in results.values()):
        return results
    from gitsync.agent.run.authors import add_authors  # noqa: PLC0415 - most runs find no change

    return await add_authors(run, plan, state, results)


def _write_back(
    config: Config, run: RunContext, state: State, collected: Collected, report: Report, selection: Selection
) -> Report:
    connections = run.connections
    is_complete = all(
        selection.has(key) and covers(connections.source, record) for key, record in state.records.items()
    )
    exports = ExportOutcome(config_maps=run.export_sinks.kept.written, leftovers=collected.still_there)
    # A part of the source does not have all of its resources, so it cannot report the state of the estate.
    knows_all = not config.only and selection.keys is None
    report, notified = notify(config, connections, state, report, run.rules.agent) if knows_all else (report, None)
    report = write_status(
        connections, state, report, exports, run.rules.agent, is_complete=is_complete, notified=notified
    )
    return write_heartbeat(connections, report, run.rules.agent) if config.heartbeat and knows_all else report


async def _in_time(awaitable: Awaitable[T], deadline: float, connections: Connections, step: str) -> T:
    """Do something before the walk. ConfigError if the run times out first: nothing was touched."""
    try:
        async with Session(deadline=deadline).in_time(connections.clock):
            return await awaitable
    except TimeoutError as error:
        hint = "Check that the secret sources and sinks are reachable, or set a longer --run-timeout."
        raise ConfigError(f"The run timed out before it could {step}.", hint=hint) from error


async def _confirm_first(rehearsal: RunContext, plan: Plan, target: RunTarget, confirm: Confirm) -> None:
    """Read from Azure what the run would change, and prompt. Raises DeclinedError if the answer is no."""
    results, _ = await walk(rehearsal, plan, State({}), Selection(), None)
    demand_consent(confirm, mask_target(target, rehearsal.redactions.mask), count_changes(results.values()))


def _make_report(
    config: Config,
    run: RunContext,
    run_input: RunInput,
    plan: Plan,
    selected: Iterable[Result],
    collected: Collected,
) -> Report:
    connections, writes = run.connections, run.rules.writes
    noted = add_identity_changes(selected, plan, run.identities, run_input)
    reported = locate_fields(noted, plan.applies, connections.catalog)
    refused = (*plan.problems, *list_refused_deletes(reported, plan, run_input))
    problems = (
        *warn_uncompared_secrets(reported),
        *warn_unused_consents(reported, plan.applies),
        *list_problems(replace(plan, problems=refused)),
        *run_input.lookup.warn_unread(),  # values that a plan could not read
        *run.lists.warn_distrusted(),
        *collected.problems,  # exports of deleted resources that could not be removed
    )
    return Report(
        command="sync" if writes else "plan",
        revision=connections.source.revision,
        started="",
        finished=format_rfc3339(connections.clock.now()),
        exit_code=decide_exit_code(
            reported, problems, writes=writes, detailed_exitcode=config.detailed_exitcode, fail_on=config.fail_on
        ),
        requests=connections.azure.arm.requests,
        use=connections.azure.arm.use,
        who=Who(config.who),
        problems=problems,
        results=reported,
        interrupted=connections.stop.is_set(),
        source=ReportSource(
            root=connections.source.root,
            coverage=coverage_of(connections.source, run_input.manifests, looks_around=not writes),
        ),
        plan=_describe_plan(config, run, reported),
    )


def _describe_plan(config: Config, run: RunContext, reported: tuple[Result, ...]) -> ReportPlan:
    writes = run.rules.writes
    return ReportPlan(
        checks=tuple(name for name in CheckName if name in config.checks),
        unrepeated=count_unrepeated(run, reported),
        schedule=Schedule() if writes else _foresee_sync(config, run, reported),
        review=make_review(config, run.connections, reported) if config.plan_out and not writes else None,
    )


def _foresee_sync(config: Config, run: RunContext, reported: tuple[Result, ...]) -> Schedule:
    first = count_repeated(run, reported)
    return foresee(reported, config.request_share, first=first, is_local=run.connections.azure.is_local)
