"""Watch a run, or a search, from outside: the first and the last line of its log, its metrics and its traces.

Metrics and traces are written at its end, also if the run is refused or ends with an error. Metrics that cannot be
written fail a run that did its work, and are only logged for one that failed itself. Traces never fail a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from loguru import logger

from gitsync.desired.problems.problem_codes import find_code_meaning
from gitsync.errors import SUCCESS, ExitCode, GitsyncError, PublishError, SourceError, UnsafePathError
from gitsync.model.clock import Clock
from gitsync.model.problem import Problem
from gitsync.model.report import Report, RunTarget
from gitsync.planning.run_problems import DEFAULT_AGENT
from gitsync.report.headline import format_headline
from gitsync.report.masked import mask_problem
from gitsync.report.progress import Figures, Progress, RunEnd, Silent, Timeline
from gitsync.report.traces import export_traces, is_traced
from gitsync.repository.git.source.location import Url, parse_location
from gitsync.settings.config.config import Config
from gitsync.settings.files.output_path import choose_output_path
from gitsync.settings.files.whole_files import open_parent, read_file, replace_file
from gitsync.settings.redaction import Redactions

_UNALARMING = SUCCESS | {ExitCode.STDOUT_CLOSED}
"""Exit codes of runs that ended as they should. With the last, the reader of the report is gone; the work is done."""
_LARGEST = 1_000_000
"""Bytes of an earlier file of metrics; one run of a hundred thousand resources has some thousands."""
_READABLE = 0o644
"""The mode of the file: the collector is another user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWatch:
    """The watch of one run: what it requests, and when it began."""

    config: Config  # its settings decide what to show
    environment: Mapping[str, str]  # names what a pipeline wants to show
    redactions: Redactions
    clock: Clock
    command: str  # the one that people entered
    timeline: Timeline
    progress: Progress  # what the run gets, which has the timeline in front only if something needs one
    started_at: datetime
    started: float  # the same as `started_at`, in the clock's monotonic seconds

    def ended(self, report: Report) -> Report:
        """Write the requested metrics and traces of a run that ended. A failure to write metrics is in the report."""
        # A run that was stopped has not done its work, even if nothing in it failed.
        code = report.exit_code or (ExitCode.FAILED if report.interrupted else ExitCode.FINE)
        end = self._describe(code, report)
        self._export(end)
        try:
            self._write_metrics(end)
        except PublishError as error:
            problem = Problem(code="MetricsNotWritten", message=error.message, hint=error.hint)
            problems = (*report.problems, mask_problem(problem, self.redactions.mask))
            return replace(report, exit_code=report.exit_code or ExitCode.FAILED, problems=problems)
        return report

    def searched(self, exit_code: ExitCode, figures: Figures) -> None:
        """Write the requested metrics and traces of a search, whose report is printed. PublishError if that fails."""
        end = replace(self._describe(exit_code, None), figures=figures)
        self._export(end)
        self._write_metrics(end)

    def failed(self, error: Exception) -> None:
        """Write the requested metrics and traces of a run that this error ended."""
        end = self._describe(error.exit_code if isinstance(error, GitsyncError) else ExitCode.FAULT, None)
        self._export(end)
        try:
            self._write_metrics(end)
        except PublishError as failure:
            logger.warning("{} {}", failure.message, failure.hint)

    def _describe(self, exit_code: ExitCode, report: Report | None) -> RunEnd:
        mask = self.redactions.mask
        return RunEnd(
            command=self.command,
            agent=self.config.agent or DEFAULT_AGENT,
            source=mask(_name_source(self.config)),
            status=mask(self.config.status_branch or self.config.status_dir or ""),
            started_at=self.started_at,
            ended_at=self.clock.now(),
            started=self.started,
            exit_code=exit_code,
            is_success=exit_code in SUCCESS,
            is_complete=not self.config.only,
            report=report,
            visits=self.timeline.visits,
        )

    def _write_metrics(self, end: RunEnd) -> None:
        if not self.config.metrics:
            return
        from gitsync.report.metrics import render  # noqa: PLC0415 - most runs write no metrics

        file = Path(self.config.metrics)
        try:
            choose_output_path(file, self.config.source)
            with open_parent(file, self.config.source) as folder:
                # A run that fails keeps the time of the last success, which only the file has.
                before = read_file(folder, file.name, _LARGEST) or b""
                text = render(end, before.decode("utf-8", "replace"))
                replace_file(folder, file.name, text.encode(), _READABLE)
        except UnsafePathError as error:
            raise PublishError(f"The metrics cannot be written: {error.message}", hint=error.hint) from error
        except OSError as error:
            raise PublishError(
                f"The metrics cannot be written to {file}: {error.strerror}.", hint="Set --metrics to another file."
            ) from error

    def _export(self, end: RunEnd) -> None:
        """Send the traces. Any failure is logged: a collector that is down must not fail a run."""
        if not is_traced(self.environment):
            return
        try:
            export_traces(end, self.environment)
        except PublishError as failure:
            logger.warning("{} {}", failure.message, failure.hint)
        except Exception as failure:  # noqa: BLE001 - of the exporter, which may be any package
            logger.warning("The traces cannot be sent: {}", type(failure).__name__)


def begin_watch(
    config: Config,
    environment: Mapping[str, str],
    redactions: Redactions,
    clock: Clock,
    progress: Progress | None,
    *,
    command: str,
) -> RunWatch:
    """Begin to watch a run, whose progress is shown by `progress`."""
    progress = progress or Silent()
    timeline = Timeline(progress, clock.monotonic)
    return RunWatch(
        config=config,
        environment=environment,
        redactions=redactions,
        clock=clock,
        command=command,
        timeline=timeline,
        # Each resource calls the progress, so the timeline is in between only if something is made of it.
        progress=timeline if config.metrics or is_traced(environment) else progress,
        started_at=clock.now(),
        started=clock.monotonic(),
    )


def _name_source(config: Config) -> str:
    """Return the URL without a password, or the folder, of a SOURCE that may not be there."""
    try:
        location = parse_location(config.source)
    except SourceError:
        return ""
    return location.text if isinstance(location, Url) else str(location.path)


def log_start(command: str, target: RunTarget) -> None:
    """Log what the run reads and writes to; what is not known is left out."""
    fields = {
        "command": command,
        "repository": target.repository,
        "revision": target.revision,
        "ref": target.ref,
        "subscription": target.subscription,
        "subscription_name": target.subscription_name,
        "other_subscriptions": ", ".join(target.other_subscriptions),
        "endpoint": target.endpoint,
        "identity": target.identity,
        "agent": target.agent,
    }
    logger.bind(**{name: value for name, value in fields.items() if value}).info("Run started")


def log_end(command: str, code: ExitCode, report: Report | None, error: Exception | None = None) -> None:
    """Log the end of a run with its figures: as an error if the exit code is one."""
    fields: dict[str, Any] = {"command": command, "exit_code": code}
    if report is not None:
        requests = report.requests
        fields |= {
            "headline": format_headline(report),
            **{outcome.value: count for outcome, count in report.outcomes.items()},
            "problems": len(report.problems),
            "reads": requests.reads,
            "writes": requests.writes,
            "deletes": requests.deletes,
            "polls": requests.polls,
            "questions": requests.checks,
        }
        if codes := sorted({problem.code for problem in report.problems if problem.is_error}):
            fields["error_codes"] = codes
    # A run that ends with an error before it starts has no report: its message is on stderr, and only its code is here,
    # for `gitsync explain`.
    if error is not None:
        refusal = find_code_meaning(str(error).partition(":")[0])
        fields |= {"error": type(error).__name__} | ({"advice": refusal.code} if refusal else {})
    logger.bind(**fields).log("INFO" if code in _UNALARMING else "ERROR", "Run ended")
