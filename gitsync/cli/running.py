"""Shared by sync and plan: a run with signals and progress, and the report at its end."""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path

from gitsync.cli.confirmation import make_confirm
from gitsync.cli.interruption import Begins, Interruption
from gitsync.cli.offline import READING as OFFLINE
from gitsync.cli.output import REPORT_OUTPUTS, show_progress, tell
from gitsync.cli.verbose import list_left_out
from gitsync.config.config import Config
from gitsync.git.state.plan_file import write_plan
from gitsync.model.report import Report
from gitsync.redaction import Redactions

OUTPUTS = REPORT_OUTPUTS

READING = (*OFFLINE, "strict", "trusted_keys")
AZURE = (
    "tenant_id",
    "client_id",
    "client_secret",
    "client_certificate",
    "client_certificate_path",
    "client_certificate_password",
    "identity_file",
    "identity_folder",
    "allow_multi_env_management",
    "federated_token_file",
    "additional_tenants",
    "credential",
    "endpoint",
    "audience",
    "authority",
    "user_agent_suffix",
    "ca_bundle",
    "emulator",
    "emulator_script",
    "concurrency",
    "request_share",
    "resource_timeout",
    "run_timeout",
)
VAULT = (
    "secret_sources",
    "secrets_folder",
    "config_maps_folder",
    "key_vault",
    "export_to",
    "export_folder",
    "export_sops_folder",
    "export_dotenv",
)
DECIDING = (
    "prune",
    "max_deletes",
    "allow_rollback",
    "adopt",
    "always_put",
    "reads",
    "flap_limit",
    "agent",
    "digest_key",
    "previous_digest_key",
)
TELLING = ("status_branch", "report_dir", "metrics", "output", "fail_on")


def execute_run(options: argparse.Namespace, config: Config, *, writes: bool) -> int:
    """Run once, print the report and return the exit code.

    Raises GitsyncError if the run is refused. After everything is written, it raises the internal errors that ended the
    reconciliation of single resources.
    """
    from gitsync.run.run import execute

    redactions: Redactions = options.redactions
    interruption, stop = Interruption(), asyncio.Event()
    try:
        with asyncio.Runner() as runner, interruption.heard(runner.get_loop()), show_progress() as progress:
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
            write_plan(Path(config.plan_out), report.review)
    finally:
        tell(report, config, os.environ, verbose=options.verbose)
        list_left_out(options, config, report.coverage)


def execute_revision_plan(options: argparse.Namespace, config: Config) -> int:
    """Plan from two revisions, print the report and return the exit code. GitsyncError if the run is refused."""
    from gitsync.arm.clock import SystemClock
    from gitsync.run import revision_plan as rehearsal

    redactions: Redactions = options.redactions
    report = rehearsal.plan_revisions(config, SystemClock(), redactions)
    tell(report, config, os.environ, verbose=options.verbose)
    list_left_out(options, config, report.coverage)
    return report.exit_code
