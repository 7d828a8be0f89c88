"""Bring Azure to what git says, and write the status back.

Reads one revision of SOURCE, takes every resource through the staged checks in the order of their owners, sends what
differs, and records what came of it on the status branch or in the status folder.
"""

from __future__ import annotations

import argparse

from gitsync.cli.running import AZURE, DECIDING, OUTPUTS, READING, TELLING, VAULT, execute_run
from gitsync.cli.verbose import add_verbose
from gitsync.config.config import Config

__all__ = ["OUTPUTS", "SETTINGS", "arguments", "run"]

SETTINGS = (*READING, "allow_dirty", *AZURE, *VAULT, *DECIDING, "register_providers", "plan_file", *TELLING)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything else is a setting."""
    add_verbose(parser)


def run(options: argparse.Namespace, config: Config) -> int:
    """Run the main job and give its exit code."""
    return execute_run(options, config, writes=True)
