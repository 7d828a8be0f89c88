"""Reads a command line, reports errors in it, and shows the help of a command.

argparse only parses. Its error messages are replaced, since it neither suggests a spelling nor explains that a secret
has no flag. The help is a value: `--help`, the man pages and the page of commands print the same.
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from textwrap import fill
from typing import Any, NamedTuple, NoReturn, cast

from gitsync import list_addresses
from gitsync.cli.command import Command, Example
from gitsync.errors import ConfigError, ExitCode
from gitsync.settings.config.config import SETTINGS
from gitsync.settings.config.flags import CONFIG_VARIABLE, add_flags, format_default, list_choices
from gitsync.settings.config.setting import HelpGroup, SettingForm

HELP = "help"
"""The title of the last group of options, which has no settings."""

OWN_OPTIONS = "options"
"""The title of what only this command has, as argparse calls it."""

_ARGUMENTS = "arguments"
_RELEASE = re.compile(r"v?\d+(\.\d+)+|true|false|newest")
_COLUMN = 30  # where the text of an option begins
_WIDEST = 110  # longer lines are hard to read
_USAGES: dict[int | str | None, str] = {"?": "[{}]", "*": "[{}…]", "+": "{}…"}
"""How many times an argument may be given, by argparse's word for it; any other word: once."""

_SECRET_FLAGS = {
    f"--{setting.name.replace('_', '-')}": setting
    for setting in SETTINGS.values()
    if setting.form is SettingForm.SECRET
}


_OTHER_NAMES = {
    **dict.fromkeys(("--branch", "--tag", "--commit", "--revision", "--rev", "-b"), "--ref"),
    **dict.fromkeys(("--folder", "--dir", "--directory", "--chdir", "-f"), "--path"),
    **dict.fromkeys(("--namespace", "--namespaces", "-n"), "--target-namespaces"),
    **dict.fromkeys(("--target", "--include"), "--only"),
    **dict.fromkeys(("--format", "-o"), "--output"),
    **dict.fromkeys(("--auto-approve", "-y"), "--yes"),
    **dict.fromkeys(("--destroy", "--delete"), "--prune"),
}
"""What other tools call a flag, which is not spelt like it."""

_PLAN = "gitsync plan"
_OTHER_COMMANDS = {
    **dict.fromkeys(("apply", "up", "deploy", "reconcile", "run"), "gitsync sync"),
    **dict.fromkeys(("diff", "preview", "what-if", "whatif", "dry-run", "refresh"), _PLAN),
    **dict.fromkeys(("destroy", "delete", "down", "prune", "uninstall"), "gitsync sync --prune"),
    **dict.fromkeys(("get", "list", "ls", "state", "show", "output", "history"), "gitsync status"),
    **dict.fromkeys(("inspect", "events", "logs"), "gitsync describe"),
    **dict.fromkeys(("lint", "test", "verify", "fmt"), "gitsync validate"),
    **dict.fromkeys(("build", "template", "kustomize"), "gitsync render"),
    **dict.fromkeys(("tree", "deps"), "gitsync graph"),
    **dict.fromkeys(("export", "aztfexport"), "gitsync import"),
    **dict.fromkeys(("bootstrap", "install", "create", "new"), "gitsync init"),
    **dict.fromkeys(("check", "login", "auth", "whoami"), "gitsync doctor"),
    **dict.fromkeys(("rollback", "undo", "restore"), "gitsync revert"),
    **dict.fromkeys(("console", "query"), "gitsync eval"),
    "version": "gitsync --version",
}
"""What other tools call a command, which is not spelt like it."""

_DRY_RUNS = frozenset({"--dry-run", "--plan", "--plan-only", "--check", "--diff", "--preview", "--what-if", "--noop"})
"""How other tools only show what a command would do."""


class CommandParser(argparse.ArgumentParser):
    """The parser of one command: its own arguments, then its settings, then help."""

    def __init__(self, name: str, command: Command) -> None:
        # An abbreviation that works today could be that of two flags in the next release.
        # No one sees the usage, which argparse would write out of all flags for each command line.
        super().__init__(prog=f"gitsync {name}", usage="%(prog)s", add_help=False, allow_abbrev=False)
        self.name, self.command = name, command
        command.arguments(self)
        add_flags(self, command.SETTINGS, command.OUTPUTS)
        group = self.add_argument_group(HELP)
        ends: dict[str, Any] = {"action": _ShowHelp, "nargs": 0, "default": argparse.SUPPRESS}
        group.add_argument("-h", "--help", **ends, help="Show this help.")
        group.add_argument("--help-all", **ends, help="Show all flags.")

    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message[:1].upper()}{message[1:].removesuffix('.')}.", hint=f"Run {self.prog} --help.")


class _ShowHelp(argparse.Action):
    """Print the help of a command, and end it."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        shown_parser = cast("CommandParser", parser)
        fresh = CommandParser(shown_parser.name, shown_parser.command)  # while it parses, argparse alters a parser
        shown = build_help(fresh.name, fresh.command, fresh)
        print("\n".join(format_help(shown, everything="--help-all" in self.option_strings, width=measure_width())))
        raise SystemExit(ExitCode.FINE)


def read_arguments(name: str, command: Command, arguments: list[str]) -> argparse.Namespace:
    """Parse a command line. ConfigError if it is invalid; `--help` raises SystemExit(0)."""
    parser = CommandParser(name, command)
    arguments = _join_releases(arguments, command.SETTINGS)
    options, unknown_arguments = parser.parse_known_intermixed_args(arguments)
    if unknown_arguments:
        flags = [flag for action in parser._actions for flag in action.option_strings]  # noqa: SLF001 - no public way
        raise ConfigError(_explain_unknown(name, unknown_arguments[0], flags), hint=f"Run {parser.prog} --help.")
    return options


def _join_releases(arguments: Iterable[str], settings: Collection[str]) -> list[str]:
    """Join a flag that takes a release, or none, with the word behind it if that is one: another word is SOURCE."""
    flags = {SETTINGS[name].flag for name in settings if SETTINGS[name].form is SettingForm.RELEASE}
    joined: list[str] = []
    for word in arguments:
        # argparse would take SOURCE for the value of a flag whose value is optional.
        if joined and joined[-1] in flags:
            is_release = _RELEASE.fullmatch(word) is not None
            joined[-1] += f"={word if is_release else 'true'}"
            if is_release:
                continue
        joined.append(word)
    return joined


def suggest_word(word: str, known_words: Iterable[str]) -> str:
    """` Did you mean X?`, or "". Leading dashes are not compared."""
    from difflib import get_close_matches  # imported for a misspelt word only

    names_without_dashes = {name.lstrip("-"): name for name in sorted(known_words)}
    near = get_close_matches(word.lstrip("-"), names_without_dashes, n=1)
    return f" Did you mean {names_without_dashes[near[0]]}?" if near else ""


def _explain_unknown(name: str, argument: str, flags: list[str]) -> str:
    flag = argument.partition("=")[0]
    # First of all, and without the value: the message must not repeat a secret.
    if flag in _SECRET_FLAGS:
        variable = _SECRET_FLAGS[flag].variables[0]
        return f"Unknown flag {flag}: process lists show secrets on command lines. Set the variable {variable} instead."
    takers = sorted({taker for setting in SETTINGS.values() if flag == setting.flag for taker in setting.commands})
    if takers:
        return f"gitsync {name} has no flag {flag}. These commands have it: {', '.join(takers)}."
    if name == "sync" and flag in _DRY_RUNS:
        return f"Unknown flag {flag}. Did you mean `{_PLAN}`? It writes nothing."
    if name == "plan" and flag in _DRY_RUNS:
        return f"Unknown flag {flag}. A plan writes nothing without it."
    if flag.startswith("-"):
        meant = _OTHER_NAMES.get(flag)
        return f"Unknown flag {flag}.{f' Did you mean {meant}?' if meant in flags else suggest_word(flag, flags)}"
    return f"Unexpected argument {argument!r}."


def make_unknown_command(name: str, known_names: Iterable[str]) -> ConfigError:
    """The error for a first argument that is not a command."""
    if name.startswith("-"):
        return ConfigError(f"The command comes first, before {name}.", hint="Run gitsync COMMAND [SOURCE] [flags].")
    meant = _OTHER_COMMANDS.get(name.lower())
    suggestion = f" Did you mean `{meant}`?" if meant else suggest_word(name, known_names)
    return ConfigError(f"Unknown command {name!r}.{suggestion}", hint="Run gitsync --help.")


class Option(NamedTuple):
    """One flag or argument."""

    invocation: str  # how it is written
    text: str  # what it does
    default: str = ""  # "" for none
    variables: tuple[str, ...] = ()  # those that set it, too
    is_advanced: bool = False  # only `--help-all` shows it


class OptionGroup(NamedTuple):
    title: str
    options: tuple[Option, ...]


class CommandHelp(NamedTuple):
    """The help of one command."""

    name: str
    usage: str
    summary: str  # the first paragraph of the docstring
    description: str  # the rest of the docstring
    groups: tuple[OptionGroup, ...]  # the first one has the arguments
    examples: tuple[Example, ...]


def build_help(name: str, command: Command, parser: argparse.ArgumentParser) -> CommandHelp:
    """The help of a command, from its docstring and the arguments of its parser."""
    summary, _, description = (command.__doc__ or "").strip().partition("\n\n")
    positional = [action for action in parser._actions if not action.option_strings]  # noqa: SLF001 - no public way
    options = {
        group.title: tuple(_make_option(action, command.OUTPUTS) for action in group._group_actions)  # noqa: SLF001 - no public way
        for group in parser._action_groups  # noqa: SLF001 - no public way
    }
    options[_ARGUMENTS] = tuple(_make_option(action, command.OUTPUTS) for action in positional)
    titles = [_ARGUMENTS, OWN_OPTIONS, *HelpGroup, HELP]
    usages = [_USAGES.get(action.nargs, "{}").format(_choose_metavar(action)) for action in positional]
    return CommandHelp(
        name=name,
        usage=" ".join([f"gitsync {name}", *usages, "[flags]"]),
        summary=" ".join(summary.split()),
        description=description,
        groups=tuple(OptionGroup(title, options[title]) for title in titles if options.get(title)),
        examples=command.EXAMPLES,
    )


def _make_option(action: argparse.Action, outputs: tuple[str, ...]) -> Option:
    setting = SETTINGS.get(action.dest)
    text = str(action.help or "").replace("%%", "%")
    if setting is None:
        variables = (CONFIG_VARIABLE,) if action.dest == "config" else ()
        return Option(_format_invocation(action), text, variables=variables)
    default = format_default(setting, list_choices(setting, outputs))
    return Option(
        _format_invocation(action),
        text,
        # That a switch is off goes without saying.
        default="" if setting.form is SettingForm.SWITCH and not setting.default else default,
        variables=setting.variables,
        is_advanced=setting.is_advanced,
    )


def _format_invocation(action: argparse.Action) -> str:
    """`-o, --output FORMAT`, `--[no-]prune`, `--emulator [FILE]`; an argument by its name."""
    if not action.option_strings:
        return _choose_metavar(action)
    flags = action.option_strings
    if isinstance(action, argparse.BooleanOptionalAction):
        flags = [f"--[no-]{flags[0].removeprefix('--')}"]
    value = "" if action.nargs == 0 else _USAGES.get(action.nargs, "{}").format(_choose_metavar(action))
    return f"{', '.join(flags)} {value}".rstrip()


def _choose_metavar(action: argparse.Action) -> str:
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
    if documentation := list_addresses().get("Documentation"):
        yield from ("", f"Documentation: {documentation}")
    yield from ("", "examples:")
    for example in shown.examples:
        yield from (f"  # {example.purpose}", f"  {example.line}")


def measure_width() -> int:
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
