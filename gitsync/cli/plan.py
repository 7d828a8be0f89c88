"""Show what a sync would do, and write nothing.

It runs the stages of a sync except those that write, and needs only read access. With --from it shows what changes
between two revisions, from the manifests alone: it sends no request to Azure, and needs no login and no subscription.
"""

from __future__ import annotations

import argparse

from gitsync.cli.command import Example, add_verbosity
from gitsync.cli.report_forms import REPORT_OUTPUTS
from gitsync.errors import ExitCode
from gitsync.settings.config.config import Config, list_settings

SETTINGS = list_settings("plan")
OUTPUTS = REPORT_OUTPUTS
EXAMPLES = (
    Example("What would a sync of the working folder change?", "gitsync plan"),
    Example("What does this branch change? Offline, without a login", "gitsync plan --from origin/main"),
    Example("Save a plan for `gitsync sync --plan`", "gitsync plan --out ../plan.json"),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add `-v` and `-q`: all other flags are settings."""
    add_verbosity(parser, "; show the bodies of creates")


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Run a plan and give its exit code."""
    from gitsync.cli.running import execute_revision_plan, execute_run

    if config.from_revision is not None or config.to_revision is not None:
        return execute_revision_plan(options, config)
    return execute_run(options, config, writes=False)
