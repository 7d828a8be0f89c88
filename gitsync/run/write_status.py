"""Write-back: the expected creates before the first write, the results of the run after the last, and its heartbeat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from gitsync.errors import ExitCode, PublishError, StateError
from gitsync.git.state.store import Update
from gitsync.model.export import Address, Export, Leftover
from gitsync.model.gvk import Key
from gitsync.model.problem import Problem
from gitsync.model.record import Heartbeat, Record, State
from gitsync.model.report import Report
from gitsync.reconcile.context import Connections
from gitsync.report import json, summary, wording
from gitsync.report.masked import mask_problem


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOutcome:
    """What the run changed of exports. `config_maps` are those that it wrote to the status, None for one that it
    removed. `leftovers` has each export that was to be removed from a sink, and whether it is still there.
    """

    config_maps: Mapping[Address, Export | None]
    leftovers: Mapping[Leftover, bool]


def write_expected(
    connections: Connections, before: State, records: Mapping[Key, Record], agent: str, headline: str = ""
) -> Mapping[Key, Record]:
    """Record what the run may create, or is about to replace. Returns the records that another run has made for the
    same resources since `before` was read: they stay, and this run leaves the resources to the other.

    Raises StateError if the state cannot be written: nothing was sent to Azure, so the run is refused.
    """
    try:
        connections.store.check_writable()
        if not records:
            return {}
        return connections.store.reserve(
            Update(
                records=records,
                revision=_find_common_revision(before, connections.source.revision, agent),
                agent=agent,
                summary=None,
                report=None,
                headline=headline or f"Expect {wording.format_plural(len(records), 'new resource')}",
            )
        )
    except PublishError as error:
        raise StateError(error.message, hint=error.hint) from error


def write_status(
    connections: Connections,
    before: State,
    report: Report,
    exports: ExportOutcome,
    agent: str,
    *,
    is_whole: bool,
) -> Report:
    """Record the results of the run. If that fails, the report says so: the changes in Azure remain.

    `is_whole` says that the run covered every earlier record.
    """
    records = {result.key: result.record for result in report.results}
    remaining = [record for record in {**before.records, **records}.values() if record]
    update = Update(
        records=records,
        revision=report.revision if is_whole else _find_common_revision(before, report.revision, agent),
        agent=agent,
        summary=partial(
            summary.render, remaining, revision=report.revision, problems=report.problems, target=report.target
        ),
        report=partial(json.render, report),
        headline=wording.format_subject(report),
        config_maps=exports.config_maps,
        leftovers=exports.leftovers,
    )
    try:
        connections.store.save(update)
    except PublishError as error:
        return _add_failure(connections, report, "StatusNotWritten", error)
    return report


def write_heartbeat(connections: Connections, report: Report, agent: str) -> Report:
    """Publish that a whole run has succeeded. If that fails, the report says so."""
    if report.exit_code != ExitCode.FINE or report.interrupted:
        return report
    heartbeat = Heartbeat(agent=agent, time=connections.clock.now().replace(microsecond=0), revision=report.revision)
    try:
        connections.store.move_heartbeat(heartbeat)
    except PublishError as error:
        return _add_failure(connections, report, "HeartbeatNotMoved", error)
    return report


def _add_failure(connections: Connections, report: Report, code: str, error: PublishError) -> Report:
    """Return the report with a problem of its own writing, which fails the run."""
    problem = Problem(code=code, message=error.message, hint=error.hint)
    problem = mask_problem(problem, connections.redactions.mask)
    return replace(report, exit_code=report.exit_code or ExitCode.FAILED, problems=(*report.problems, problem))


def _find_common_revision(before: State, revision: str | None, agent: str) -> str | None:
    """Return the revision that holds for all records of an agent if only some are new. If it advanced too early, a
    later run would not search between the two for the last manifest of a removed resource, and could delete what must
    stay.
    """
    has_records = any(record.agent in {"", agent} for record in before.records.values())
    return before.find_revision(agent) or before.revision if has_records else revision
