"""The help of a command as values: usage, description, and options in groups.

`--help`, the man pages and the page of commands print the same values. argparse only parses.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterable, Iterator
from textwrap import fill
from typing import NamedTuple

from gitsync.cli.command import Command
from gitsync.cli.usage import HELP
from gitsync.config.config import SETTINGS
from gitsync.config.flags import CONFIG_VARIABLE, find_default, list_choices
from gitsync.config.setting import HelpGroup, SettingForm

OWN_OPTIONS = "options"
"""The title of what only this command has, as argparse calls it."""

_ARGUMENTS = "arguments"
_COLUMN = 30  # where the text of an option begins
_WIDEST = 110  # longer lines are hard to read
_USAGES: dict[int | str | None, str] = {"?": "[{}]", "*": "[{}…]"}
"""How many times an argument may be given, by argparse's word for it; any other word: once."""


class Option(NamedTuple):
    """One flag or argument: how it is written, what it does, its default ("" for none), and its variables."""

    invocation: str
    text: str
    default: str = ""
    variables: tuple[str, ...] = ()
    is_advanced: bool = False


class OptionGroup(NamedTuple):
    title: str
    options: tuple[Option, ...]


class CommandHelp(NamedTuple):
    """`summary` is the first paragraph of the docstring, `description` the rest. The first group has the arguments."""

    name: str
    usage: str
    summary: str
    description: str
    groups: tuple[OptionGroup, ...]


def build_help(name: str, command: Command, parser: argparse.ArgumentParser) -> CommandHelp:
    """The help of a command, from its docstring and the arguments of its parser."""
    summary, _, description = (command.__doc__ or "").strip().partition("\n\n")
    positional = [action for action in parser._actions if not action.option_strings]  # noqa: SLF001 - no public way
    options = {group.title: _make_options(group, command.OUTPUTS) for group in parser._action_groups}  # noqa: SLF001 - no public way
    options[_ARGUMENTS] = tuple(_make_option(action, command.OUTPUTS) for action in positional)
    titles = [_ARGUMENTS, OWN_OPTIONS, *HelpGroup, HELP]
    return CommandHelp(
        name=name,
        usage=" ".join([f"gitsync {name}", *map(_format_usage, positional), "[flags]"]),
        summary=" ".join(summary.split()),
        description=description,
        groups=tuple(OptionGroup(title, options[title]) for title in titles if options.get(title)),
    )


def _make_options(group: argparse._ArgumentGroup, outputs: tuple[str, ...]) -> tuple[Option, ...]:
    return tuple(_make_option(action, outputs) for action in group._group_actions)  # noqa: SLF001 - no public way


def _make_option(action: argparse.Action, outputs: tuple[str, ...]) -> Option:
    setting = SETTINGS.get(action.dest)
    text = str(action.help or "").replace("%%", "%")
    if setting is None:
        variables = (CONFIG_VARIABLE,) if action.dest == "config" else ()
        return Option(_format_invocation(action), text, variables=variables)
    default = find_default(setting, list_choices(setting, outputs))
    return Option(
        _format_invocation(action),
        text,
        default="" if setting.form is SettingForm.SWITCH and not setting.default else default,
        variables=setting.variables,
        is_advanced=setting.is_advanced,
    )


def _format_invocation(action: argparse.Action) -> str:
    """`-o, --output FORMAT`, `--[no-]prune`, `--emulator [FILE]`; an argument by its name."""
    if not action.option_strings:
        return _find_metavar(action)
    flags = action.option_strings
    if isinstance(action, argparse.BooleanOptionalAction):
        flags = [f"--[no-]{flags[0].removeprefix('--')}"]
    value = "" if action.nargs == 0 else _USAGES.get(action.nargs, "{}").format(_find_metavar(action))
    return f"{', '.join(flags)} {value}".rstrip()


def _format_usage(action: argparse.Action) -> str:
    return _USAGES.get(action.nargs, "{}").format(_find_metavar(action))


def _find_metavar(action: argparse.Action) -> str:
    return str(action.metavar or action.dest.upper())


def format_help(shown: CommandHelp, *, everything: bool, width: int) -> Iterator[str]:
    """The lines of `--help`; with `everything`, advanced settings and variables too."""
    yield from (f"usage: {shown.usage}", "", shown.summary)
    yield from (["", shown.description] if shown.description else [])
    for group in shown.groups:
        options = [option for option in group.options if everything or not option.is_advanced]
        if options:
            yield from ("", f"{group.title}:")
            yield from _format_options(options, everything=everything, width=width)
    hidden = sum(option.is_advanced for group in shown.groups for option in group.options)
    yield from ("", *_format_note(shown.name, 0 if everything else hidden, width))


def find_width() -> int:
    """Columns of the terminal, with a limit; 80 if there is none."""
    return min(shutil.get_terminal_size().columns, _WIDEST)


def _format_options(options: Iterable[Option], *, everything: bool, width: int) -> Iterator[str]:
    """Flags of one letter are in a column of their own."""
    for option in options:
        is_long = option.invocation.startswith("--")
        first = f"  {'    ' if is_long else ''}{option.invocation}"
        notes = (option.default and f"default {option.default}", *(option.variables if everything else ()))
        note = ", ".join(filter(None, notes))
        text = f"{option.text} [{note}]" if note else option.text
        yield from _place_text(first, text, width)


def _place_text(first: str, text: str, width: int) -> Iterator[str]:
    """An option with its text beside it, or below it if the option is long."""
    margin = " " * _COLUMN
    lines = fill(text, width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False).splitlines()
    if len(first) + 2 <= _COLUMN and lines:
        yield first.ljust(_COLUMN) + lines[0][_COLUMN:]
        yield from lines[1:]
    else:
        yield from (first, *lines)


def _format_note(name: str, hidden: int, width: int) -> Iterator[str]:
    """Where the rest is."""
    text = "A flag may also be a variable (--max-deletes: GITSYNC_MAX_DELETES) or a key of gitsync.yaml (max-deletes)."
    if hidden:
        text += f" `gitsync {name} --help-all` shows {hidden} more flags, and the variable of each."
    yield from fill(text, width, break_on_hyphens=False).splitlines()
