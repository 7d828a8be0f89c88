"""Read a command line, and report errors in it in the style of the other messages.

argparse parses. Its error messages are replaced, since it neither suggests a spelling nor knows that a secret has no
flag.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any, NoReturn, cast

from gitsync.cli.command import Command
from gitsync.config.config import SETTINGS
from gitsync.config.flags import add_flags
from gitsync.config.setting import SettingForm
from gitsync.errors import ConfigError, ExitCode

HELP = "help"
"""The title of the last group of options, which has no settings."""

_SECRET_FLAGS = {
    f"--{setting.name.replace('_', '-')}": setting
    for setting in SETTINGS.values()
    if setting.form is SettingForm.SECRET
}


class CommandParser(argparse.ArgumentParser):
    """The parser of one command: its own arguments, then its settings, then help."""

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(prog=f"gitsync {name}", add_help=False, allow_abbrev=False)
        self.name, self.command = name, command
        command.arguments(self)
        add_flags(self, command.SETTINGS, command.OUTPUTS)
        group = self.add_argument_group(HELP)
        ends: dict[str, Any] = {"action": _ShowHelp, "nargs": 0, "default": argparse.SUPPRESS}
        group.add_argument("-h", "--help", **ends, help="Show this help.")
        group.add_argument("--help-all", **ends, help="Show all flags.")

    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message[:1].upper()}{message[1:].removesuffix('.')}.", hint=f"See {self.prog} --help.")


class _ShowHelp(argparse.Action):
    """Print the help of a command, and end it."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from gitsync.cli.command_help import build_help, find_width, format_help

        shown_parser = cast("CommandParser", parser)
        fresh = CommandParser(shown_parser.name, shown_parser.command)  # while it parses, argparse alters a parser
        shown = build_help(fresh.name, fresh.command, fresh)
        print("\n".join(format_help(shown, everything="--help-all" in self.option_strings, width=find_width())))
        raise SystemExit(ExitCode.FINE)


def read_arguments(name: str, command: Command, arguments: list[str]) -> argparse.Namespace:
    """Parse a command line. ConfigError if it is invalid; `--help` raises SystemExit(0)."""
    parser = CommandParser(name, command)
    options, unknown_arguments = parser.parse_known_intermixed_args(arguments)
    if unknown_arguments:
        raise ConfigError(
            _explain_unknown(unknown_arguments[0], _list_flags(parser)), hint=f"See {parser.prog} --help."
        )
    return options


def suggest_word(word: str, known_words: Iterable[str]) -> str:
    """` Did you mean X?`, or "". Leading dashes are not compared."""
    from difflib import get_close_matches  # only those who made a slip pay for it

    names_without_dashes = {name.lstrip("-"): name for name in sorted(known_words)}
    near = get_close_matches(word.lstrip("-"), names_without_dashes, n=1)
    return f" Did you mean {names_without_dashes[near[0]]}?" if near else ""


def _list_flags(parser: argparse.ArgumentParser) -> list[str]:
    return [flag for action in parser._actions for flag in action.option_strings]  # noqa: SLF001 - no public way


def _explain_unknown(argument: str, flags: list[str]) -> str:
    flag = argument.partition("=")[0]
    if flag in _SECRET_FLAGS:
        variable = _SECRET_FLAGS[flag].variables[0]
        return f"Unknown flag {flag}: process lists show command lines. Set the environment variable {variable}."
    if flag.startswith("-"):
        return f"Unknown flag {flag}.{suggest_word(flag, flags)}"
    return f"Unexpected argument {argument!r}."


def make_unknown_command(name: str, known_names: Iterable[str]) -> ConfigError:
    """The error for a first argument that is not a command."""
    if name.startswith("-"):
        return ConfigError(f"The command comes first, before {name}.", hint="Run gitsync COMMAND [SOURCE] [flags].")
    return ConfigError(f"Unknown command {name!r}.{suggest_word(name, known_names)}", hint="See gitsync --help.")
