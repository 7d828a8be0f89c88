"""The help of every command, as `--help` shows it."""

from __future__ import annotations

from gitsync.cli.command_table import COMMANDS, load_command
from gitsync.cli.usage import CommandHelp, CommandParser, build_help


def build_helps() -> dict[str, CommandHelp]:
    """The help of each command by its name, in the order of the help."""
    commands = {name: load_command(name) for name in COMMANDS}
    return {name: build_help(name, command, CommandParser(name, command)) for name, command in commands.items()}
