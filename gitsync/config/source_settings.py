"""The settings that a source may give for itself, in the gitsync.yaml at its root.

They are read at the revision whose manifests are read, so two revisions may have different ones. What the operator
gives goes first.
"""

from __future__ import annotations

from dataclasses import dataclass

from gitsync.config.config import SETTINGS, Config
from gitsync.config.config_file import read_source_settings
from gitsync.config.setting import Authority
from gitsync.config.values import parse_value
from gitsync.errors import ConfigError
from gitsync.model.unit import UnitEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """One field for each source setting of `Config`, with the default filled in."""

    namespace: str
    unknown_fields: str
    units: tuple[UnitEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """The gitsync.yaml of a source: how messages call it, and its bytes."""

    path: str
    content: bytes


def find_source_settings(config: Config, file: SourceFile | None) -> SourceSettings:
    """The operator's settings, then those of the source's file, then the defaults.

    Raises ConfigError, which names every line, if the file gives anything else or a value does not fit.
    """
    source_values = read_source_settings(file.content, file.path) if file else {}
    values, faults = {}, []
    for name, setting in SETTINGS.items():
        if setting.authority is not Authority.SOURCE:
            continue
        values[name] = setting.default
        if name in source_values:
            texts, place = source_values[name]
            try:
                values[name] = parse_value(setting, texts)
            except ValueError as error:
                faults.append(f"{place}: {setting.key}: {error}.")
        if getattr(config, name) is not None:
            values[name] = getattr(config, name)
    if faults:
        raise ConfigError("\n".join(faults))
    return SourceSettings(**values)


def find_unit_entries(file: SourceFile) -> tuple[UnitEntry, ...]:
    """The units that a source's file names. ConfigError, which lists every fault, if the file is invalid."""
    texts, _ = read_source_settings(file.content, file.path).get("units", ((), ""))
    return tuple(texts)
