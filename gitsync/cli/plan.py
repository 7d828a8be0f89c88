"""Show what sync would do, and write nothing.

It runs the same stages as sync except those that write, and needs only read access. With --from it shows what changes
between two revisions, from the manifests alone: it sends no request to Azure, and needs no login and no subscription.
"""

from __future__ import annotations

import argparse

from gitsync.cli.running import AZURE, DECIDING, OUTPUTS, READING, TELLING, VAULT, execute_revision_plan, execute_run
from gitsync.cli.verbose import add_verbose
from gitsync.config.config import Config

__all__ = ["OUTPUTS", "SETTINGS", "arguments", "run"]

SETTINGS = (
    *READING,
    *AZURE,
    *VAULT,
    *DECIDING,
    *TELLING,
    "plan_out",
    "plan_secrets",
    "detailed_exitcode",
    "from_revision",
    "to_revision",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add `-v`: all other flags are settings."""
    add_verbose(parser, "; show the bodies of creates")


def run(options: argparse.Namespace, config: Config) -> int:
    """Run a plan and give its exit code."""
    if config.from_revision is not None or config.to_revision is not None:
        return execute_revision_plan(options, config)
    return execute_run(options, config, writes=False)
