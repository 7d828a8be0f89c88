"""Runs sync and plan: with signals and progress, the prompt before the first sync of a target, and the report at the
end.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gitsync.agent.reconcile.rules import OutsideUse
from gitsync.agent.run.guards import ChangeCounts, Confirm
from gitsync.cli.command import list_left_out
from gitsync.cli.ending import choose_exit_code
from gitsync.cli.interruption import Begins, Interruption
from gitsync.cli.output import show_progress, tell, write_files
from gitsync.errors import DeclinedError, ExitCode
from gitsync.model.report import Report, RunTarget
from gitsync.report.text import Extent
from gitsync.repository.git.state.plan_file import encode_plan
from gitsync.settings.config.config import Config
from gitsync.settings.logging import neutralize
from gitsync.settings.redaction import Redactions

Pause = Callable[[], AbstractContextManager[None]]
"""Takes the live display away while the context lasts."""

_YES = frozenset({"y", "yes"})


def make_confirm(config: Config, pause: Pause) -> Confirm | None:
    """Make the prompt `Continue? [y/N]` before the first sync of a target; None for runs without a prompt: with
    `--yes`, with a reviewed plan, for the emulator, and if stdin or stderr is not a terminal.
    """
    if config.plan_file or not needs_confirmation(config):
        return None
    return lambda target, counts: _confirm(target, counts, pause)


def needs_confirmation(config: Config) -> bool:
    """Return whether a person can answer a prompt, and the target is not the emulator."""
    # stdout may be a pipe: the prompt is on stderr, and the answer comes from stdin.
    return not config.yes and config.emulator is None and sys.stdin.isatty() and sys.stderr.isatty()


def confirm(config: Config, prompt: str, declined: str) -> None:
    """Ask on a terminal whether to go on, unless no person can answer. DeclinedError, with the sentence `declined`, if
    the answer is no.
    """
    if not needs_confirmation(config):
        return
    print(f"{prompt} [y/N] ", end="", file=sys.stderr, flush=True)
    if not _read_yes():
        raise DeclinedError(declined, hint="Answer y, or set --yes.")


def _read_yes() -> bool:
    """Read the answer to a prompt. No answer means no."""
    return sys.stdin.readline().strip().casefold() in _YES


def _confirm(target: RunTarget, counts: ChangeCounts, pause: Pause) -> bool:
    """Print the target and the counts on stderr, and read a line of stdin. No answer means no."""
    # The live display would redraw over the prompt.
    with pause():
        print(neutralize(format_confirmation(target, counts)), end="", file=sys.stderr, flush=True)
        return _read_yes()


def format_confirmation(target: RunTarget, counts: ChangeCounts) -> str:
    """Write the prompt, without a newline at its end."""
    from gitsync.report.text import format_target

    would = f"create {counts.creates}, update or adopt {counts.updates}, delete {counts.deletes}"
    hindered = f" {counts.hindered} would fail or wait." if counts.hindered else ""
    lines = [*format_target(target), "", f"Nothing is recorded for this target yet. This sync would {would}.{hindered}"]
    return "\n".join([*lines, "Continue? [y/N] "])


def execute_run(
    options: argparse.Namespace,
    config: Config,
    *,
    writes: bool,
    extent: Extent = Extent.ALL,
    outside_use: OutsideUse = OutsideUse.REPORT,
) -> ExitCode:
    """Run once, print the report and return the exit code. `extent` is how much of the report is printed.

    Raises GitsyncError if the run is refused. After everything is written, it raises the internal errors that ended the
    reconciliation of single resources.
    """
    interruption = Interruption()
    with _log_end(options, "sync" if writes else "plan") as end:
        try:
            end.report = report = execute_quietly(options, config, interruption, writes=writes, outside_use=outside_use)
            _hand_out(options, report, config, extent=extent)
        finally:
            interruption.close()
        faults = [result.ending.fault for result in report.results if result.ending.fault]
        # After the report: what was written is recorded and shown, before the command ends as a bug.
        if faults:
            raise ExceptionGroup("while single resources were reconciled", faults)
        end.code = interruption.exit_code(report)
        return end.code


def execute_quietly(
    options: argparse.Namespace,
    config: Config,
    interruption: Interruption,
    *,
    writes: bool,
    outside_use: OutsideUse = OutsideUse.REPORT,
) -> Report:
    """Run once with progress, and return the report without printing it. Raises GitsyncError if the run is refused."""
    from gitsync.agent.run.run import execute

    redactions: Redactions = options.redactions
    stop = asyncio.Event()
    display = show_progress(options.log_mask, prints=options.prints_progress, says_changes=writes, quiet=options.quiet)
    with asyncio.Runner() as runner, interruption.heard(runner.get_loop()), display as progress:
        run = execute(
            config,
            writes=writes,
            stop=stop,
            progress=Begins(progress, interruption, stop),
            redactions=redactions,
            grace=interruption.grace,
            confirm=make_confirm(config, progress.pause),
            outside_use=outside_use,
        )
        return runner.run(run)


@dataclass
class _RunEnd:
    """The end of a run, as far as it has come."""

    report: Report | None = None
    code: ExitCode = ExitCode.FINE


@contextmanager
def _log_end(options: argparse.Namespace, command: str) -> Iterator[_RunEnd]:
    """Log the end of a run, also of one that an error ends: an alert may wait for it. Where a person reads the log, the
    report or the error message has it.
    """
    from gitsync.agent.run.watch import log_end

    end = _RunEnd()
    try:
        yield end
    except Exception as error:
        if not options.prints_progress:
            log_end(command, choose_exit_code(error), end.report, error)
        raise
    if not options.prints_progress:
        log_end(command, end.code, end.report)


def _hand_out(options: argparse.Namespace, report: Report, config: Config, *, extent: Extent) -> None:
    try:
        # A plan of half the resources must not be applied as if it was approved in full.
        if config.plan_out and report.plan.review and not report.interrupted:
            file = Path(config.plan_out)
            write_files(file.parent, {file.name: partial(encode_plan, report.plan.review)}, config, "plan")
    finally:
        tell(report, config, os.environ, verbose=options.verbose, quiet=options.quiet, extent=extent)
        list_left_out(options, config, report.source.coverage)


def execute_revision_plan(options: argparse.Namespace, config: Config) -> ExitCode:
    """Plan from two revisions, print the report and return the exit code. GitsyncError if the run is refused."""
    from gitsync.agent.run import revision_plan as rehearsal
    from gitsync.providers.arm.real_clock import SystemClock

    redactions: Redactions = options.redactions
    with _log_end(options, "plan") as end:
        end.report = report = rehearsal.plan_revisions(config, SystemClock(), redactions)
        end.code = report.exit_code
        tell(report, config, os.environ, verbose=options.verbose, quiet=options.quiet)
        list_left_out(options, config, report.source.coverage)
        return end.code
