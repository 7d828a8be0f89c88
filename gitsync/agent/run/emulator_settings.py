"""The settings of the emulator for a command: those of its script, with the types of ARM.

This module is here since the emulator does not import the catalog, and each command that starts one needs both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.type_paths import list_types
from gitsync.emulator.settings import EmulatorSettings, read_settings


def load_emulator_settings(script: str | Path | None, usual: EmulatorSettings | None = None) -> EmulatorSettings:
    """Read the settings of a script; without one, `usual`. Its providers list the types of ARM.

    Raises ConfigError, with file and line, for a script that cannot be read.
    """
    settings = read_settings(Path(script)) if script else usual or EmulatorSettings()
    return replace(settings, list_known_types=list_known_types)


def list_known_types(namespace: str) -> Mapping[str, tuple[str, ...]]:
    """List the api-versions of the types of a namespace, in lower case; for "", of those that have an ASO kind."""
    versions = open_catalog().list_api_versions()
    if not namespace:
        return versions
    known = {name: set(versions) for name, versions in versions.items() if name.casefold().startswith(f"{namespace}/")}
    folded = {name.casefold(): name for name in known}
    for name in list_types(namespace):
        if (arm_type := open_arm_types().find_type(name)) is not None:
            known.setdefault(folded.get(name.casefold(), name), set()).update(arm_type.versions)
    return {name: tuple(sorted(of_type, reverse=True)) for name, of_type in known.items()}
