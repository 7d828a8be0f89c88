"""The declaration of a setting: the form of each row in `gitsync.settings.config.groups`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar, dataclass_transform

_Group = TypeVar("_Group")

VARIABLE_PREFIX = "GITSYNC_VAR_"
"""How the variables of the environment begin that give variables of manifests; no others are read for them."""


class SettingForm(StrEnum):
    """How a setting is written, and so how its text becomes a value."""

    TEXT = "text"
    LIST = "list"  # separated by commas; a flag may stand several times
    SWITCH = "switch"  # true or false; --x and --no-x
    CHOICE = "choice"
    COUNT = "count"  # a whole number from 0
    POSITIVE = "positive"  # a whole number from 1
    SHARE = "share"  # a number over 0, at most 1
    DURATION = "duration"  # 90s, 30m, 1h30m; the value is in seconds
    URL = "url"
    UUID = "uuid"
    FILE_OR_ON = "file-or-on"  # true (the value is ""), false (None), or a file
    RELEASE = "release"  # of ASO: true (the value is "newest"), false (""), or a number such as 2.20
    SHARD = "shard"  # 2/8: a number from 1, and that of all; the value is the text
    UNITS = "units"  # a list of mappings; in a file only, and the value is a tuple of model.unit.UnitEntry
    IGNORE = "ignore"  # a list of paths and mappings; in a file only, a tuple of model.written_rules.RuleEntry
    TAGS = "tags"  # values by name; in a file only, a tuple of RuleEntry
    IDENTITIES = "identities"  # YAML, or its file; the value is a model.allowed_identities.AllowedIdentities
    VARIABLES = "variables"  # NAME=VALUE, each in a flag or a variable of its own; the value is a tuple of pairs
    SECRET = "secret"  # noqa: S105 - the name of a form; a variable only, and the value is a model.secret.Secret


NESTED = frozenset({SettingForm.UNITS, SettingForm.IGNORE, SettingForm.TAGS})
"""Forms that only a file has. Its reader has their lines, and makes their values."""

RULES = frozenset({SettingForm.IGNORE, SettingForm.TAGS})


class HelpGroup(StrEnum):
    """The groups that help and documentation show settings in, the most used one first."""

    READ = "what is read"
    CHANGE = "what may change"
    OUTPUT = "output"  # it also has --config, -v and -q
    AZURE = "Azure and the identity"
    SECRETS = "Secrets and ConfigMaps"
    STATUS = "status and records"
    LIMITS = "limits"


class Authority(StrEnum):
    """Who may give a setting."""

    OPERATOR = "operator"  # only the operator: where requests and secrets go, what runs, what may be deleted
    SOURCE = "source"  # the repository too: it describes the manifests and nothing else


class Setting(NamedTuple):
    """The declaration of one setting."""

    name: str  # of its member of `Config`
    form: SettingForm
    authority: Authority  # who may give it: the operator, or the source
    default: Any
    help: str  # the text of `--help`, the man pages and docs/settings.md
    group: HelpGroup  # the heading in the help
    commands: frozenset[str]  # those that take it
    is_advanced: bool  # only `--help-all` shows it
    variables: tuple[str, ...]  # those of the environment that set it
    switches: Mapping[str, str]  # variables that select a value of the setting if they are true
    choices: tuple[str, ...]  # the only values; empty for any
    pattern: str  # that the whole text must match; "" for any
    metavar: str  # what stands for the value in the help
    flag: str  # "" if there is none
    short: str  # the flag of one letter; "" if there is none

    @property
    def key(self) -> str:
        """The key in gitsync.yaml: the flag without its dashes; "" for a secret, which no file holds."""
        return "" if self.form is SettingForm.SECRET else self.flag.removeprefix("--") or self.name.replace("_", "-")

    @property
    def is_argument(self) -> bool:
        """Whether a command line has its value without a flag, by its position."""
        return not self.flag and bool(self.metavar)

    @property
    def ways(self) -> str:
        """How an operator gives it, as an order."""
        options = ", ".join(word for word in (self.flag or self.metavar, f"the variable {self.variables[0]}") if word)
        return f"Use {options}, or a file that --config names."


@dataclass_transform(kw_only_default=True, frozen_default=True)
def setting_group(settings: type[_Group]) -> type[_Group]:
    """Give `Config`, which inherits the class, the settings of one group of the help as fields."""
    # Only a Config is ever made: methods of the class itself would slow down every start for nothing.
    return dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)(settings)


def declare_setting(  # noqa: PLR0913 - one row of a table
    group: HelpGroup,
    default: Any,
    help: str,  # noqa: A002 - as argparse calls it
    commands: frozenset[str],
    *,
    is_advanced: bool = False,
    form: SettingForm = SettingForm.TEXT,
    authority: Authority = Authority.OPERATOR,
    variables: tuple[str, ...] = (),
    switches: Mapping[str, str] | None = None,
    choices: tuple[str, ...] = (),
    pattern: str = "",
    metavar: str = "",
    flag: str | None = None,
    short: str = "",
) -> Any:
    """Declare a field of `Config`. `variables` replaces the one made from its name, `flag` the flag."""
    row = {
        "default": default,
        "authority": authority,
        "form": SettingForm.CHOICE if choices and form is SettingForm.TEXT else form,
        "help": help,
        "group": group,
        "commands": commands,
        "is_advanced": is_advanced,
        "variables": variables,
        "switches": switches or {},
        "choices": choices,
        "pattern": pattern,
        "metavar": metavar,
        "flag": flag,
        "short": short,
    }
    # The field of a source setting is None until the settings of a source are read: only so is it known whether the
    # operator gave it.
    unset = None if authority is Authority.SOURCE else default
    return field(default=unset, metadata=row, repr=form is not SettingForm.SECRET)


def describe_setting(name: str, row: Mapping[str, Any]) -> Setting:
    members = dict(row)
    flag = f"--{name.replace('_', '-')}" if members["flag"] is None else members["flag"]
    variables = members["variables"] or ("GITSYNC_" + (flag.removeprefix("--").replace("-", "_") or name).upper(),)
    if members["form"] in NESTED:
        variables = ()
    return Setting(**members | {"name": name, "flag": flag, "variables": variables})
