"""Write-back: the expected creates before the first write, the results of the run after the last, and its heartbeat."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from gitsync.agent.reconcile.context import Connections
from gitsync.errors import ConfigError, ExitCode, PublishError, StateError
from gitsync.model.clock import Clock
from gitsync.model.export import Address, Export, Leftover
from gitsync.model.gvk import Key
from gitsync.model.problem import Level, Problem
from gitsync.model.record import Heartbeat, Record, State
from gitsync.model.report import Report
from gitsync.report import json, summary, wording
from gitsync.report.hidden_people import leave_out_of_record, leave_out_people
from gitsync.report.masked import mask_problem
from gitsync.repository.git.state.store import StateStore, Update
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOutcome:
    """What the run changed of exports."""

    config_maps: Mapping[Address, Export | None]  # those that it wrote to the status, None for one that it removed
    leftovers: Mapping[Leftover, bool]  # each export that was to be removed from a sink, and whether it is still there


class Recorder(Protocol):
    """What the end of a run needs of its connections."""

    @property
    def store(self) -> StateStore: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def redactions(self) -> Redactions: ...


def write_expected(
    connections: Connections, before: State, records: Mapping[Key, Record], agent: str, headline: str = ""
) -> Mapping[Key, Record]:
    """Record what the run may create, or is about to replace. Returns the records that another run has made for the
    same resources since `before` was read: they stay, and this run leaves the resources to the other.

    Raises StateError if the state cannot be written: nothing was sent to Azure, so the run is refused.
    """
    try:
        # Even without new records: a status that cannot be written must refuse the run before it changes anything.
        connections.store.check_writable()
        if not records:
            return {}
        return connections.store.reserve(
            Update(
                records={key: leave_out_of_record(record) for key, record in records.items()},
                revision=find_common_revision(before, connections.source.revision, agent),
                agent=agent,
                summary=None,
                report=None,
                headline=headline or f"Record {wording.format_plural(len(records), 'resource')} to create",
            )
        )
    except PublishError as error:
        raise StateError(error.message, hint=error.hint) from error


def write_status(  # noqa: PLR0913 - all that a run has to write
    connections: Connections,
    before: State,
    report: Report,
    exports: ExportOutcome,
    agent: str,
    *,
    is_complete: bool,
    notified: str | None = None,
) -> Report:
    """Record the results of the run. A failure is in the report: the changes in Azure remain.

    With `is_complete`, the run covered every earlier record. `notified` is the content of the last notification.
    """
    shown = leave_out_people(report)  # anyone who can read the repository reads the status
    records = {result.key: result.record for result in shown.results}
    remaining = [record for record in {**before.records, **records}.values() if record]
    update = Update(
        records=records,
        revision=report.revision if is_complete else find_common_revision(before, report.revision, agent),
        agent=agent,
        summary=partial(
            summary.render, remaining, revision=report.revision, problems=shown.problems, target=report.target
        ),
        report=partial(json.render, shown),
        headline=wording.format_subject(report),
        config_maps=exports.config_maps,
        leftovers=exports.leftovers,
        notified=notified,
        # A worker that was stopped has not ended: it is started again.
        exit_code=None if report.interrupted else report.exit_code,
    )
    try:
        connections.store.save(update)
    except PublishError as error:
        return add_failure(connections, report, "StatusNotWritten", error)
    return report


def notify(config: Config, recorder: Recorder, before: State, report: Report, agent: str) -> tuple[Report, str | None]:
    """Send a message if the state of the estate differs from that of the last message. Returns the report, with a
    warning if a service did not accept it, and the state that is now known; None if no message was sent.

    It is sent before the status is written, which keeps what was reported: if the write fails, or no service accepts
    the message, the next run sends it again, and nothing is lost. A run of a part of the source sends none, since it
    does not have the complete state.
    """
    # A run that was stopped does not have the state of all resources.
    if not (config.notify or config.notify_file) or report.interrupted:
        return report, None
    from gitsync.agent.notifications import message, services  # noqa: PLC0415 - most runs send nothing

    known = before.notified.get(agent, "")
    state = message.find_state(report, before.records, recorder.clock.now().date())
    try:
        addresses = services.read_addresses(config, recorder.redactions.add)  # a wrong one is worth a warning before
        # A message reports a change of the state, not each run.
        if state == known or not addresses:
            return report, None
        failed = services.send(message.make_message(state, known, report, os.environ), addresses)
    except ConfigError as error:
        return _add_warning(recorder, report, error.message, error.hint), None
    if failed:
        names = ", ".join(f"{address.number} ({address.service})" for address in failed)
        hint = "Check the address and the network. If no address accepts the message, the next run sends it again."
        report = _add_warning(recorder, report, f"The message was not accepted at address {names}.", hint)
    # Once one service has the message, sending it again would repeat it there.
    return report, state if len(failed) < len(addresses) else None


def _add_warning(recorder: Recorder, report: Report, message: str, hint: str) -> Report:
    problem = Problem(code="NotificationNotSent", message=message, hint=hint, level=Level.WARNING)
    return replace(report, problems=(*report.problems, mask_problem(problem, recorder.redactions.mask)))


def write_heartbeat(recorder: Recorder, report: Report, agent: str) -> Report:
    """Publish that a run of the complete source has succeeded. A failure is in the report."""
    # A heartbeat that stops is the alarm, so only a success may move it.
    if report.exit_code != ExitCode.FINE or report.interrupted:
        return report
    heartbeat = Heartbeat(agent=agent, time=recorder.clock.now().replace(microsecond=0), revision=report.revision)
    try:
        recorder.store.move_heartbeat(heartbeat)
    except PublishError as error:
        return add_failure(recorder, report, "HeartbeatNotMoved", error)
    return report


def add_failure(recorder: Recorder, report: Report, code: str, error: PublishError) -> Report:
    """Return the report with a problem of its own writing, which fails the run."""
    problem = Problem(code=code, message=error.message, hint=error.hint)
    problem = mask_problem(problem, recorder.redactions.mask)
    return replace(report, exit_code=report.exit_code or ExitCode.FAILED, problems=(*report.problems, problem))


def find_common_revision(before: State, revision: str | None, agent: str) -> str | None:
    """Return the revision that holds for all records of an agent if only some are new."""
    has_records = any(record.agent in {"", agent} for record in before.records.values())
    # If the revision advanced too early, a later run would not search between the two for the last manifest of a
    # removed resource, and could delete what must stay.
    return before.find_revision(agent) or before.revision if has_records else revision
