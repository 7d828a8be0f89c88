"""What a command is: a module of this package that has these names.

The table of commands is in `gitsync.cli.main`. A command is imported when it was chosen, so that `--help` stays quick;
for the same reason it imports heavy packages (azure, git, rich) inside `run`.
"""

from __future__ import annotations

import argparse
from typing import Protocol

from gitsync.config.config import Config


class Command(Protocol):
    """A module `gitsync.cli.<name>`. Its docstring is what `gitsync <name> --help` says above the flags."""

    SETTINGS: tuple[str, ...]
    """Names of the fields of `Config` that it uses: they are its flags, secrets apart, which have none. `source` is the
    positional SOURCE. The flags about logs and colour, and `--config`, are every command's and not named here."""

    OUTPUTS: tuple[str, ...]
    """Choices of `--output`, the default first; empty for a command that does not take the setting `output`."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments that are no settings. Positional ones stand before SOURCE."""
        ...

    def run(self, options: argparse.Namespace, config: Config) -> int:
        """Do it, and give the exit code. `options` holds what `arguments` added, and `redactions`
        (`gitsync.redaction`) for a secret that is read on the way. A GitsyncError may leave it.
        """
        ...
