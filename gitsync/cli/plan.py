"""Show what sync would do, and write nothing.

The same run with the acting stages left out: it needs no more than the right to read.
"""

from __future__ import annotations

import argparse

from gitsync.cli.running import AZURE, DECIDING, OUTPUTS, READING, TELLING, execute
from gitsync.config import Config

__all__ = ["OUTPUTS", "SETTINGS", "arguments", "run"]

SETTINGS = (*READING, *AZURE, *DECIDING, *TELLING, "plan_out", "detailed_exitcode")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything is a setting."""


def run(options: argparse.Namespace, config: Config) -> int:
    """Run a plan and give its exit code."""
    return execute(options, config, writes=False)
