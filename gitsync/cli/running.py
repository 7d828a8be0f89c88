"""Shared by sync and plan: a run with signals and progress, and the report at its end."""

from __future__ import annotations

import argparse
import asyncio
import os
from functools import partial
from pathlib import Path

from gitsync.cli.confirmation import make_confirm
from gitsync.cli.interruption import Begins, Interruption
from gitsync.cli.output import show_progress, tell, write_files
from gitsync.cli.verbosity import list_left_out
from gitsync.config.config import Config
from gitsync.errors import ExitCode
from gitsync.git.state.plan_file import encode
from gitsync.model.report import Report
from gitsync.redaction import Redactions


def execute_run(options: argparse.Namespace, config: Config, *, writes: bool) -> ExitCode:
    """Run once, print the report and return the exit code.

    Raises GitsyncError if the run is refused. After everything is written, it raises the internal errors that ended the
    reconciliation of single resources.
    """
    from gitsync.run.run import execute

    redactions: Redactions = options.redactions
    interruption, stop = Interruption(), asyncio.Event()
    try:
        display = show_progress(quiet=options.quiet)
        with asyncio.Runner() as runner, interruption.heard(runner.get_loop()), display as progress:
            begins = Begins(progress, interruption, stop)
            run = execute(
                config,
                writes=writes,
                stop=stop,
                progress=begins,
                redactions=redactions,
                grace=interruption.grace,
                confirm=make_confirm(config, progress.pause),
            )
            report = runner.run(run)
        _hand_out(options, report, config)
    finally:
        interruption.close()
    faults = [result.fault for result in report.results if result.fault]
    if faults:
        raise ExceptionGroup("while single resources were reconciled", faults)
    return interruption.exit_code(report)


def _hand_out(options: argparse.Namespace, report: Report, config: Config) -> None:
    try:
        if config.plan_out and report.review and not report.interrupted:
            file = Path(config.plan_out)
            write_files(file.parent, {file.name: partial(encode, report.review)}, config, "plan")
    finally:
        tell(report, config, os.environ, verbose=options.verbose, quiet=options.quiet)
        list_left_out(options, config, report.coverage)


def execute_revision_plan(options: argparse.Namespace, config: Config) -> ExitCode:
    """Plan from two revisions, print the report and return the exit code. GitsyncError if the run is refused."""
    from gitsync.arm.clock import SystemClock
    from gitsync.run import revision_plan as rehearsal

    redactions: Redactions = options.redactions
    report = rehearsal.plan_revisions(config, SystemClock(), redactions)
    tell(report, config, os.environ, verbose=options.verbose, quiet=options.quiet)
    list_left_out(options, config, report.coverage)
    return report.exit_code
