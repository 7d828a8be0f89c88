"""What sync and plan share: a run with signals and progress, and the report at its end."""

from __future__ import annotations

import argparse
import asyncio

from gitsync.cli.interruption import Begins, Interruption
from gitsync.cli.offline import READING as OFFLINE
from gitsync.cli.output import REPORT_OUTPUTS, print_report, show_progress, write_report
from gitsync.config import Config
from gitsync.logs import Redactions
from gitsync.model.report import Report
from gitsync.model.secret import Secret

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
DECIDING = ("prune", "max_deletes", "adopt", "always_put", "agent")
TELLING = ("status_branch", "report_dir", "output")


def execute(options: argparse.Namespace, config: Config, *, writes: bool) -> int:
    """Run once, print the report and give the exit code.

    Raises GitsyncError where the run is refused, and the faults of ours that ended single turns, once all is written.
    """
    redactions: Redactions = options.redactions
    interruption = Interruption()
    report = asyncio.run(_run(config, redactions, interruption, writes=writes))
    try:
        if config.report_dir:
            write_report(report, config.report_dir)
    finally:  # last, since nobody may be reading it to its end
        print_report(report, config)
    faults = [result.fault for result in report.results if result.fault]
    if faults:
        raise ExceptionGroup("in the turns of single resources", faults)
    return interruption.exit_code(report)


async def _run(config: Config, redactions: Redactions, interruption: Interruption, *, writes: bool) -> Report:
    from gitsync import api

    def redact(secret: Secret) -> None:
        redactions.add(secret.reveal())

    stop = asyncio.Event()
    with interruption.heard(), show_progress() as progress:
        begins = Begins(progress, interruption, stop)
        return await api.execute(config, writes=writes, stop=stop, progress=begins, redact=redact)
