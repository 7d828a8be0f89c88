"""Settings as flags of a command: what argparse is given, and what `--help` shows of each.

Separate from `gitsync.settings.config.load`, which reads and checks values: help and completion need the names alone,
fast.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from gitsync.settings.config.config import EVERYWHERE, SETTINGS
from gitsync.settings.config.setting import NESTED, HelpGroup, Setting, SettingForm

CONFIG_VARIABLE = "GITSYNC_CONFIG"

_METAVARS = {
    SettingForm.LIST: "A,B",
    SettingForm.CHOICE: "WORD",
    SettingForm.COUNT: "N",
    SettingForm.POSITIVE: "N",
    SettingForm.SHARE: "SHARE",
    SettingForm.DURATION: "DURATION",
    SettingForm.URL: "URL",
    SettingForm.UUID: "UUID",
    SettingForm.RELEASE: "RELEASE",
}

OPTIONAL = frozenset({SettingForm.FILE_OR_ON, SettingForm.RELEASE})
"""Forms of which a flag without a value is true."""

_REPEATED = frozenset({SettingForm.LIST, SettingForm.VARIABLES})


def add_flags(parser: argparse.ArgumentParser, names: Iterable[str], outputs: tuple[str, ...]) -> None:
    """Give a parser the flags of settings; a secret has none, and neither has what only a variable gives."""
    taken = {*names, *EVERYWHERE}
    for setting in SETTINGS.values():
        if setting.name in taken and setting.form is not SettingForm.SECRET:
            _add_flag(parser, setting, list_choices(setting, outputs))
    find_group(parser, HelpGroup.OUTPUT).add_argument(
        "--config",
        metavar="FILE",
        # A flag that is not given leaves no trace, so that a variable or a file counts.
        default=argparse.SUPPRESS,
        help="Settings to read, instead of gitsync.yaml in the working folder.",
    )


def find_group(parser: argparse.ArgumentParser, title: str) -> argparse._ArgumentGroup:
    """The group of a parser that has a title; a new one if it has none yet."""
    there = next((group for group in parser._action_groups if group.title == title), None)  # noqa: SLF001 - no public way
    return there or parser.add_argument_group(title)


def list_choices(setting: Setting, outputs: tuple[str, ...]) -> tuple[str, ...]:
    """The words that a setting may have, or an item of its list; none if it takes any text. `outputs` are those of the
    command.
    """
    return outputs if setting.name == "output" else setting.choices


def _add_flag(parser: argparse.ArgumentParser, setting: Setting, choices: tuple[str, ...]) -> None:
    # argparse formats each help text with `%`.
    text = describe_values(setting, choices).replace("%", "%%")
    metavar = setting.metavar or _METAVARS.get(setting.form, "TEXT")
    if not setting.flag:
        if setting.is_argument:
            parser.add_argument(setting.name, nargs="?", default=argparse.SUPPRESS, metavar=metavar, help=text)
        return
    shape: dict[str, Any] = {"dest": setting.name, "default": argparse.SUPPRESS, "help": text}
    if setting.form is SettingForm.SWITCH:
        shape["action"] = argparse.BooleanOptionalAction
    else:
        shape |= {"metavar": metavar, "action": "append" if setting.form in _REPEATED else "store"}
    # A text, as a variable or a file would have it, so that one parser serves all.
    if setting.form in OPTIONAL:
        shape |= {"nargs": "?", "const": "true"}
    flags = (setting.short, setting.flag) if setting.short else (setting.flag,)
    find_group(parser, setting.group).add_argument(*flags, **shape)


def describe_values(setting: Setting, choices: tuple[str, ...]) -> str:
    """What a setting does, and the words that it may have."""
    return f"{setting.help} One of {', '.join(choices)}." if choices else setting.help


def format_default(setting: Setting, choices: tuple[str, ...]) -> str:
    """The default as a person would write it; that of the output is the first choice of the command."""
    return choices[0] if setting.name == "output" and choices else show_default(setting)


def show_default(setting: Setting) -> str:
    """A default as a person would write it; "" if there is none."""
    if setting.form is SettingForm.DURATION:
        minutes, seconds = divmod(int(setting.default), 60)
        return f"{seconds}s" if seconds else f"{minutes}m"
    if setting.form is SettingForm.SWITCH:
        return "true" if setting.default else "false"
    if setting.form is SettingForm.LIST or setting.form in NESTED:
        return ",".join(setting.default)
    if setting.form is SettingForm.VARIABLES:
        return ""
    return "" if setting.default is None else str(setting.default)
