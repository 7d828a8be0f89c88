"""Read a command line, and report errors in it in the style of the other messages.

argparse parses. Its error messages are replaced, since it neither suggests a spelling nor knows that a secret has no
flag.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NoReturn

from gitsync.cli.command import Command
from gitsync.config.config import SETTINGS
from gitsync.config.load import add_flags
from gitsync.config.setting import SettingForm
from gitsync.errors import ConfigError

_SECRET_FLAGS = {
    f"--{setting.name.replace('_', '-')}": setting
    for setting in SETTINGS.values()
    if setting.form is SettingForm.SECRET
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message[:1].upper()}{message[1:].removesuffix('.')}.", hint=f"See {self.prog} --help.")


def read_arguments(name: str, command: Command, arguments: list[str]) -> argparse.Namespace:
    """Parse a command line. ConfigError if it is invalid; `--help` raises SystemExit(0)."""
    parser = _make_parser(name, command)
    options, unknown_arguments = parser.parse_known_intermixed_args(arguments)
    if unknown_arguments:
        raise ConfigError(
            _explain_unknown(unknown_arguments[0], _list_flags(parser)), hint=f"See {parser.prog} --help."
        )
    return options


def _make_parser(name: str, command: Command) -> argparse.ArgumentParser:
    """The parser of one command: its own arguments, then its settings."""
    parser = _Parser(
        prog=f"gitsync {name}",
        description=command.__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="[Brackets] show the environment variable of a setting; its key in gitsync.yaml is the flag name.",
    )
    command.arguments(parser)
    add_flags(parser, command.SETTINGS, command.OUTPUTS)
    positional = (action for action in parser._actions if not action.option_strings)  # noqa: SLF001 - no public way
    parser.usage = " ".join(["%(prog)s", *map(_format_usage, positional), "[flags]"])
    return parser


_USAGES: dict[int | str | None, str] = {"?": "[{}]", "*": "[{}…]"}
"""How many times an argument may be given, by argparse's word for it; any other word: once."""


def _format_usage(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest)
    return _USAGES.get(action.nargs, "{}").format(name)


def suggest_word(word: str, known_words: Iterable[str]) -> str:
    """` Did you mean X?`, or "". Leading dashes are not compared."""
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
