"""A command: a module of this package that has these names.

The table of commands is in `gitsync.cli.main`. Only the chosen command is imported, so that `--help` stays fast; for
the same reason it imports heavy packages (azure, git, rich) inside `run`.
"""

from __future__ import annotations

import argparse
from typing import Protocol

from gitsync.config.config import Config
from gitsync.errors import ExitCode

REPORT_OUTPUTS = ("text", "json", "markdown", "html", "junit", "sarif")
"""The choices of --output for a command that prints a report."""


class Command(Protocol):
    """A module `gitsync.cli.<name>`. `gitsync <name> --help` shows its docstring above the flags."""

    SETTINGS: tuple[str, ...]
    """The settings that it takes, of `gitsync.config.config.list_settings`: they are its flags, except secrets, which
    have no flag. `source` is the positional SOURCE. Every command has the flags for logs and colour and `--config`;
    they are not listed here."""

    OUTPUTS: tuple[str, ...]
    """Choices of `--output`, the default first; empty for a command without the setting `output`."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments that are not settings. Positional ones come before SOURCE."""
        ...

    def run(self, options: argparse.Namespace, config: Config) -> ExitCode:
        """Run the command and return the exit code. `options` has what `arguments` added, and `redactions`
        (`gitsync.redaction`), to which it adds each secret that it reads. It may raise GitsyncError.
        """
        ...
