"""Make one report of the workers of a run: the last job of a pipeline with many of them.

It reads what they have left beside the status branch, prints the report of all of them as a sync does, and takes their
records into the status branch with one commit. A shard that did not end is a problem of the report, and the exit code
is 1: run that shard again with the same --run-id, and gather again. It sends no request to Azure.
"""

from __future__ import annotations

import argparse
import os

from gitsync.cli.command import Example
from gitsync.cli.report_forms import REPORT_OUTPUTS
from gitsync.config.config import Config, list_settings
from gitsync.errors import ConfigError, ExitCode

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
    parser.add_argument(
        "--gather", action="store_true", help="Gather the reports of all workers of the run that --run-id names."
    )


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Gather a run, print its report and return its exit code."""
    from gitsync.cli.output import tell
    from gitsync.redaction import tell_settings
    from gitsync.run.gathering import gather

    if not options.gather or not config.run_id:
        raise ConfigError(
            "gitsync report makes one report of a run of many workers.", hint="Use --gather, and --run-id of the run."
        )
    tell_settings(options.redactions, config, os.environ)
    report = gather(config, options.redactions)
    tell(report, config, os.environ)
    return report.exit_code
