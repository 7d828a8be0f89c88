"""Reconcile Azure with git, and write the status back.

Reads one revision of SOURCE, processes every resource in stages (owners first), sends what differs, and records the
results on the status branch or in the status folder.
"""

from __future__ import annotations

import argparse

from gitsync.cli.command import Example, add_verbosity
from gitsync.cli.report_forms import REPORT_OUTPUTS
from gitsync.errors import ExitCode
from gitsync.settings.config.config import Config, list_settings

SETTINGS = list_settings("sync")
OUTPUTS = REPORT_OUTPUTS
EXAMPLES = (
    Example("Reconcile what the working folder declares", "gitsync sync"),
    Example(
        "Also delete what was removed from git, but three resources at most", "gitsync sync --prune --max-deletes 3"
    ),
    Example("Try it without Azure: the emulator keeps its state in a file", "gitsync sync --emulator ../azure.db"),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add `-v` and `-q`: all other flags are settings."""
    add_verbosity(parser)


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Run a sync and return its exit code."""
    from gitsync.cli.running import execute_run

    return execute_run(options, config, writes=True)
