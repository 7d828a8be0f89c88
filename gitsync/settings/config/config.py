"""Every setting: one field of `Config` each, declared in the module of its group in `gitsync.settings.config.groups`.

A setting is given by a flag, a variable, a key in gitsync.yaml, or not at all; the nearest wins. The flag is the name
with dashes, the key is the flag without the leading ones, and the variable is `GITSYNC_` and the same word, unless
Azure Service Operator has a name for it (docs/reference/reconciliation.md#settings-of-aso). How they are read and
checked is in `gitsync.settings.config.load`; this module holds values alone, so that every wing may take a `Config`.

The bases of `Config` have the order of the help. In each of them, the settings that most people need come first;
`--help-all` shows the advanced ones too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from gitsync.settings.config.command_sets import EVERY_COMMAND
from gitsync.settings.config.groups.azure import AzureSettings
from gitsync.settings.config.groups.limits import LimitSettings
from gitsync.settings.config.groups.output import OutputSettings
from gitsync.settings.config.groups.secrets import SecretSettings
from gitsync.settings.config.groups.status import StatusSettings
from gitsync.settings.config.groups.what_is_read import ReadSettings
from gitsync.settings.config.groups.what_may_change import ChangeSettings
from gitsync.settings.config.setting import Setting, describe_setting


@dataclass(frozen=True, kw_only=True, eq=False)  # nothing compares two, and the methods take long to make
class Config(
    ReadSettings,
    ChangeSettings,
    OutputSettings,
    AzureSettings,
    SecretSettings,
    StatusSettings,
    LimitSettings,
):
    """All settings of one run, checked. Durations are in seconds; a `None` means "not given".

    Source settings are read through `gitsync.settings.config.config_file`, which has what the source gives.
    """

    config_file: Path | None = None  # the file that the operator's settings were read from; not a setting
    aso_origin: str = "aso"  # where the operator gives `aso`, as messages name it; not a setting


SETTINGS: Mapping[str, Setting] = {
    field.name: describe_setting(field.name, field.metadata) for group in Config.__bases__ for field in fields(group)
}
"""Every setting by the name of its field, in the order in which people are shown them."""

EVERYWHERE = tuple(name for name, setting in SETTINGS.items() if setting.commands == EVERY_COMMAND)
"""Settings that every command takes as flags."""


def list_settings(command: str) -> tuple[str, ...]:
    """The settings that a command takes, in addition to those of every command."""
    return tuple(name for name, setting in SETTINGS.items() if command in setting.commands)
