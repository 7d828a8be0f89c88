"""Print a shell completion script for gitsync: bash, zsh or fish.

Add the line for your shell to its start-up file:
  bash  ~/.bashrc                    source <(gitsync completion bash)
  zsh   ~/.zshrc, after compinit     source <(gitsync completion zsh)
  fish  ~/.config/fish/config.fish   gitsync completion fish | source
It completes commands, flags, values, kinds and resources. Resources come from the status branch, as last fetched, and
from the YAML files in SOURCE; no request is sent.
"""

from __future__ import annotations

import argparse

from gitsync.cli.command import Example
from gitsync.errors import ExitCode
from gitsync.settings.config.config import Config

SETTINGS = ()
OUTPUTS = ()
EXAMPLES = (Example("In this shell alone", "source <(gitsync completion bash)"),)

SHELLS = {"bash": "gitsync.bash", "zsh": "_gitsync", "fish": "gitsync.fish"}
"""By the name of the shell: the file with its script, as the shell calls it."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=list(SHELLS), help="bash, zsh or fish.")


def run(options: argparse.Namespace, _config: Config) -> ExitCode:
    """Print the script."""
    from importlib.resources import files

    script = files("gitsync.cli.shell") / SHELLS[options.shell]
    print(script.read_text(encoding="utf-8"), end="")
    return ExitCode.FINE
