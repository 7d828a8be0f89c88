"""A new setting is written in several files, and a test names one that was forgotten (CONTRIBUTING.md lists them)."""

import re
from collections.abc import Callable, Collection
from dataclasses import fields
from pathlib import Path

import pytest

from gitsync import api
from gitsync.cli.command_table import COMMANDS, load_command
from gitsync.cli.usage import CommandParser
from gitsync.settings.config.config import EVERYWHERE, SETTINGS, Config

ROOT = Path(__file__).resolve().parents[3]
TAKEN_BY_NO_COMMAND = {"ignore", "tags", "units", "this_repository"}
"""A list of mappings, which no command line can hold."""
NOT_OF_BOTH_RUNS = {
    "from_revision": "a plan of two revisions",
    "to_revision": "a plan of two revisions",
    "plan_out": "a plan is written",
    "plan_secrets": "a sync reads secrets anyway",
    "detailed_exitcode": "the exit code of a plan",
    "plan_file": "a plan is applied",
    "yes": "a plan asks nothing",
    "allow_dirty": "a plan reads what is there",
    "register_providers": "a plan registers nothing",
    "heartbeat": "a plan moves no branch",
    "notify": "a plan sends no message",
    "notify_file": "a plan sends no message",
    "shard": "a plan has no workers",
    "shards": "a plan has no workers",
    "run_id": "a plan has no workers",
}
"""The settings that `plan` takes and `sync` does not, or the other way round, and why."""


def _read_settings() -> Collection[str]:
    """Settings that some module of the package reads from a Config, or by their names."""
    modules = (path for path in ROOT.glob("gitsync/**/*.py") if path.parent.name != "config" and path.name != "api.py")
    code = "\n".join(path.read_text(encoding="utf-8") for path in modules)
    return {name for name in SETTINGS if re.search(rf"\.{name}\b", code)}


def _documented_settings() -> Collection[str]:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    return {s.name for s in SETTINGS.values() if f"`{[*s.variables, s.key][0]}`" in page and s.help in page}


def _taken_settings() -> Collection[str]:
    """Settings that are flags of a command, or variables that it reads."""
    return (
        {name for command in COMMANDS for name in load_command(command).SETTINGS} | {*EVERYWHERE} | TAKEN_BY_NO_COMMAND
    )


LOCATIONS: dict[str, Callable[[], Collection[str]]] = {
    "gitsync/settings/config/groups, the declaration of a field of Config": lambda: {f.name for f in fields(Config)},
    "gitsync/settings/config/groups, the commands in its row": _taken_settings,
    "gitsync/api.py, the class Settings": lambda: api.Settings.__annotations__,
    "the module in which it acts: none reads it from a Config": _read_settings,
    "docs/settings.md: run `make reference`": _documented_settings,
}


@pytest.mark.parametrize("location", LOCATIONS)
def test_every_setting_has_its_location(location):
    there = set(LOCATIONS[location]())
    assert sorted(set(SETTINGS) - there) == [], f"These are not yet in: {location}."
    assert sorted(there - set(SETTINGS) - {"config_file", "aso_origin"}) == [], (
        f"These are no settings any more. Remove them from: {location}."
    )


def test_plan_and_sync_take_the_same_settings_but_for_those_that_mean_nothing_to_one():
    """A setting was once documented, read by a sync, and no flag of it: its row named the wrong commands."""
    differing = {name for name, s in SETTINGS.items() if ("plan" in s.commands) != ("sync" in s.commands)}
    wrong = sorted(differing ^ set(NOT_OF_BOTH_RUNS))
    assert wrong == [], (
        f"{wrong}: give the rows in gitsync/settings/config/groups the commands RUNS, or say in NOT_OF_BOTH_RUNS of this file "
        "why only one of plan and sync takes them."
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_takes_each_flag_that_the_page_of_settings_gives_it(command):
    """What people read, and not what the table has: the page, then the command line."""
    parser = CommandParser(command, load_command(command))
    flags = {flag for action in parser._actions for flag in action.option_strings}
    rows = re.findall(r"^\| ([^|]+) \|(?:[^|]+\|){3} ([^|]*) \|", (ROOT / "docs/settings.md").read_text(), re.MULTILINE)
    told = {
        flag
        for flags, takers in rows
        if takers == "all" or f"`{command}`" in takers
        for flag in re.findall("`(-[^`]+)`", flags)
    }
    assert rows
    assert sorted(told - flags) == [], f"gitsync {command} does not take them: run `make reference`."
