"""Combine the reports of a run with several workers: the last job of such a pipeline.

It reads what the workers left beside the status branch, prints one report as a sync does, and records their results on
the status branch with one commit. A shard that did not end is a problem in the report, and the exit code is 1: run that
shard again with the same --run-id, then gather again. It sends no request to Azure.
"""

from __future__ import annotations

import argparse
import os

from gitsync.cli.command import Example
from gitsync.cli.report_forms import REPORT_OUTPUTS
from gitsync.errors import ConfigError, ExitCode
from gitsync.settings.config.config import Config, list_settings

SETTINGS = list_settings("report")
OUTPUTS = REPORT_OUTPUTS
EXAMPLES = (
    Example(
        "The last job of a pipeline, also if a worker failed",
        'gitsync report --gather --run-id "$GITHUB_RUN_ID" --report report',
    ),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is reported."""
    parser.add_argument("--gather", action="store_true", help="Combine the reports of all workers of the run --run-id.")


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Gather a run, print its report and return its exit code."""
    from gitsync.agent.run.gathering import gather
    from gitsync.cli.output import tell
    from gitsync.settings.redaction import tell_settings

    if not options.gather or not config.run_id:
        raise ConfigError(
            "gitsync report combines the reports of a run with several workers.",
            hint="Add --gather and the --run-id of the run.",
        )
    # Reports of workers may quote settings of this job, which has the same secrets.
    tell_settings(options.redactions, config, os.environ)
    report = gather(config, options.redactions)
    tell(report, config, os.environ)
    return report.exit_code
