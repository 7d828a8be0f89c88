"""Reconcile Azure with git, and write the status back.

Reads one revision of SOURCE, takes every resource through the staged checks in the order of their owners, sends what
differs, and records the results on the status branch or in the status folder.
"""

from __future__ import annotations

import argparse
from functools import partial

from gitsync.cli.running import AZURE, DECIDING, OUTPUTS, READING, TELLING, VAULT, execute_run
from gitsync.cli.verbose import add_verbose

__all__ = ["OUTPUTS", "SETTINGS", "arguments", "run"]

SETTINGS = (
    *READING,
    "allow_dirty",
    *AZURE,
    *VAULT,
    *DECIDING,
    "register_providers",
    "plan_file",
    "yes",
    *TELLING,
    "heartbeat",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add `-v`: all other flags are settings."""
    add_verbose(parser)


run = partial(execute_run, writes=True)
"""Run a sync and return its exit code."""
