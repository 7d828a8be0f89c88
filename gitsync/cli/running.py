"""What sync and plan share: a run with signals and progress, and the report at its end."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gitsync.cli.offline import READING as OFFLINE
from gitsync.cli.output import REPORT_OUTPUTS, show_progress, tell
from gitsync.config import Config
from gitsync.core.exitcode import INTERRUPTED, NOT_READY
from gitsync.logs import Redactions
from gitsync.model.report import Report
from gitsync.model.secret import Secret
from gitsync.repo.plan_file import write_plan

OUTPUTS = REPORT_OUTPUTS

READING = (*OFFLINE, "strict")
AZURE = (
    "tenant_id",
    "client_id",
    "client_secret",
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
    "resource_timeout",
    "run_timeout",
)
DECIDING = ("prune", "max_deletes", "adopt", "always_put", "flap_limit", "agent", "digest_key")
TELLING = ("status_branch", "report_dir", "output", "fail_on")


@dataclass(slots=True)
class Interruption:
    """Which signal ended the run, if one did."""

    by: signal.Signals | None = None

    def exit_code(self, report: Report) -> int:
        """130 for Ctrl-C; at least 1 where the run was told to stop; else the report's own."""
        if self.by is signal.SIGINT:
            return INTERRUPTED
        return report.exit_code or NOT_READY if self.by else report.exit_code


def execute(options: argparse.Namespace, config: Config, *, writes: bool) -> int:
    """Run once, print the report and give the exit code.

    Raises GitsyncError where the run is refused, and the faults of ours that ended single turns, once all is written.
    """
    redactions: Redactions = options.redactions
    supervised = _supervised(config, lambda secret: redactions.add(secret.reveal()), writes=writes)
    report, interruption = asyncio.run(supervised)
    tell(report, config, os.environ)
    if config.plan_out and report.review and not report.interrupted:
        write_plan(Path(config.plan_out), report.review)
    faults = [result.fault for result in report.results if result.fault]
    if faults:
        raise ExceptionGroup("in the turns of single resources", faults)
    return interruption.exit_code(report)


def rehearse(options: argparse.Namespace, config: Config) -> int:
    """Plan from two revisions alone, print the report and give the exit code. GitsyncError where it is refused."""
    from gitsync import rehearsal
    from gitsync.arm.clock import SystemClock

    redactions: Redactions = options.redactions
    report = rehearsal.run(config, SystemClock(), lambda secret: redactions.add(secret.reveal()))
    tell(report, config, os.environ)
    return report.exit_code


async def _supervised(config: Config, redact: Callable[[Secret], None], *, writes: bool) -> tuple[Report, Interruption]:
    """SIGTERM and Ctrl-C let the run end in order: no new work, status written."""
    from gitsync import api

    stop, interruption = asyncio.Event(), Interruption()

    def end(by: signal.Signals) -> None:
        interruption.by = by
        stop.set()

    loop = asyncio.get_running_loop()
    for one in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(one, end, one)
    with show_progress() as progress:
        report = await api.execute(config, writes=writes, stop=stop, progress=progress, redact=redact)
    return report, interruption
