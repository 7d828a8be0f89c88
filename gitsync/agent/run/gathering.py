"""Gather the reports of the workers of a run: the last job of a pipeline, which has one report of all of them.

It takes what they have recorded into the status branch with one commit, and sends the message and moves the heartbeat
that a run of one worker would. A shard that did not end is a problem of the report; its records stay what they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from gitsync.agent.run.connections import open_source, open_state
from gitsync.agent.run.workers import require_branch
from gitsync.agent.run.write_status import add_failure, find_common_revision, notify, write_heartbeat
from gitsync.errors import ConfigError, ExitCode, PublishError, StateError
from gitsync.model.clock import Clock, format_rfc3339
from gitsync.model.problem import Problem
from gitsync.model.record import State
from gitsync.model.report import Report, RequestCounts, RunTarget
from gitsync.planning.status.exit_code import choose_worst
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.report import json, summary, wording
from gitsync.report.document import read_report
from gitsync.report.records import format_age
from gitsync.report.shard_reports import join_reports
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.pins import Pin, check_run_id
from gitsync.repository.git.state.recorded_run import RecordedRun, format_trailers
from gitsync.repository.git.state.store import Update
from gitsync.settings.config.config import Config
from gitsync.settings.processes.programs import Grace
from gitsync.settings.redaction import Redactions

NOT_ENDED = "ShardNotEnded"

_ENDS = {code.value: code for code in (ExitCode.FINE, ExitCode.FAILED, ExitCode.REFUSED, ExitCode.FAULT)}


class Gatherer(NamedTuple):
    """What the end of a run needs: the part of its connections without Azure."""

    store: StatusBranch
    clock: Clock
    redactions: Redactions


def gather(config: Config, redactions: Redactions) -> Report:
    """Gather the run of the settings and return its report. A second time changes nothing, and reports the same.

    Raises ConfigError or StateError if there is nothing to gather, or something of it cannot be read.
    """
    run_id, clock = check_run_id(config.run_id or ""), SystemClock()
    with open_source(config, Grace()) as source, open_state(config, source, clock) as store:
        branch = require_branch(store)
        state, run = branch.load(), branch.read_run(run_id)
        # The records of one agent must not be taken in under the name of another.
        if config.agent not in {None, run.pin.agent}:
            raise ConfigError(
                f"Run {run_id} belongs to the agent {run.pin.agent}.",
                hint=f"Set --agent {run.pin.agent}, or remove --agent.",
            )
        if not run.workers and run.gathered is None:
            raise StateError(
                f"Run {run_id} has nothing to gather: none of its {run.pin.workers} workers has a branch.",
                hint="Check the logs of the workers. If the run was gathered before, or another run came first, the "
                "status branch has their results.",
            )
        report = join_run(run, clock)
        report = replace(report, source=replace(report.source, root=source.root))
        return _write(config, Gatherer(branch, clock, redactions), run, state, report)


def join_run(run: RecordedRun, clock: Clock) -> Report:
    """Join the reports of a run. Raises StateError for one that no worker of this run has written."""
    ended = _list_ended(run)
    # The branches of a run that is not over stay. Its report has no more than they have: requests would count twice.
    is_over = not run.ended.keys() <= run.reports.keys()
    parts = [read_report(run.gathered, "the status branch")] if run.gathered is not None and is_over else []
    parts += [
        read_report(run.reports[branch.number], f"the branch of shard {branch.number}")
        for branch in run.workers
        if branch.number in run.reports
    ]
    # Anyone who can push may have written a report there.
    if any(part.revision != run.pin.revision or part.command != "sync" for part in parts):
        raise StateError(
            f"A report of run {run.run_id} is not from a sync of the pinned revision {run.pin.revision[:12]}.",
            hint="Remove the branches of its workers, and run them again.",
        )
    report = join_reports(parts or [_make_blank(run.pin, clock)])
    missing = tuple(_list_missing(run, ended, clock))
    known = (problem for problem in report.problems if problem.code != NOT_ENDED)  # of the gathering before
    codes = [_ENDS[code] for code in ended.values()] + [ExitCode.FAILED for _ in missing]
    return replace(
        report,
        exit_code=choose_worst(codes),
        interrupted=bool(missing),
        problems=tuple(sorted([*known, *missing], key=lambda problem: problem.order)),
    )


def _list_ended(run: RecordedRun) -> Mapping[int, int]:
    """List the exit codes of the shards that have ended, by number."""
    ended = {number: code for number, code in run.ended.items() if 0 < number <= run.pin.workers}
    for branch in run.workers:
        # A worker that was started again after the run was gathered has a branch again.
        ended.pop(branch.number, None)
        if branch.exit_code is not None:
            ended[branch.number] = branch.exit_code
    unexpected = sorted(number for number, code in ended.items() if code not in _ENDS)
    if unexpected:
        raise StateError(
            f"Shard {unexpected[0]} ended with {ended[unexpected[0]]}, which is not an exit code of a sync.",
            hint="Remove its branch, and run its worker again.",
        )
    return ended


def _list_missing(run: RecordedRun, ended: Mapping[int, int], clock: Clock) -> Iterator[Problem]:
    """Yield a problem for each shard that has not ended."""
    branches = {branch.number: branch for branch in run.workers}
    for number in range(1, run.pin.workers + 1):
        if number not in ended:
            recorded = "it recorded nothing"
            if branch := branches.get(number):
                age = format_age(format_rfc3339(branch.time), clock.now())
                recorded = f"its last record is {age} old"
            yield Problem(
                code=NOT_ENDED,
                message=f"Shard {number}/{run.pin.workers} of run {run.run_id} has not ended: "
                f"{recorded}. Its resources are unchanged, or partly synced.",
                hint=f"Run it again with the same --run-id: `gitsync sync --shard {number}/{run.pin.workers} "
                f"--run-id {run.run_id}`. Then gather again.",
            )


def _make_blank(pin: Pin, clock: Clock) -> Report:
    """Make the report of a run of which no shard has one."""
    return Report(
        command="sync",
        revision=pin.revision,
        started=format_rfc3339(pin.time),
        finished=format_rfc3339(clock.now()),
        exit_code=ExitCode.FAILED,
        requests=RequestCounts(),
        problems=(),
        results=(),
        target=RunTarget(revision=pin.revision, agent=pin.agent),
    )


def _write(config: Config, gatherer: Gatherer, run: RecordedRun, state: State, report: Report) -> Report:
    """Notify, take the run into the status branch and move the heartbeat. What fails of that is in the report."""
    branch, agent, is_over = gatherer.store, run.pin.agent, not report.interrupted
    # The message compares with what the run began with; what was reported last is what the branch has now.
    before = replace(branch.read_at(run.pin.status), notified=state.notified)
    report, notified = notify(config, gatherer, before, report, agent)
    # The summary has no times, so that equal records are equal bytes.
    problems = tuple(problem for problem in report.problems if problem.code != NOT_ENDED)
    update = Update(
        records={},
        # As long as a shard is missing, its records are of an earlier revision.
        revision=run.pin.revision if is_over else find_common_revision(state, run.pin.revision, agent),
        summary=partial(
            summary.render,
            list(state.records.values()),
            revision=report.revision,
            problems=problems,
            target=report.target,
        ),
        report=partial(json.render, report),
        headline=wording.format_subject(report),
        agent=agent,
        notified=notified,
        trailers=format_trailers(run.run_id, _list_ended(run)),
    )
    try:
        branch.fold(update, run.run_id, is_over=is_over)
    except PublishError as error:
        return add_failure(gatherer, report, "StatusNotWritten", error)
    return write_heartbeat(gatherer, report, agent) if config.heartbeat else report
