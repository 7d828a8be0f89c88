"""The settings of the emulator for a command: those of its script, with the types of the catalog.

This module is here since the emulator does not import the catalog, and each command that starts one needs both.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.emulator.settings import EmulatorSettings, read_settings


def load_emulator_settings(script: str | Path | None, usual: EmulatorSettings | None = None) -> EmulatorSettings:
    """Read the settings of a script; without one, `usual`. Its providers list the types of the catalog.

    Raises ConfigError, with file and line, for a script that cannot be read.
    """
    settings = read_settings(Path(script)) if script else usual or EmulatorSettings()
    return replace(settings, list_known_types=lambda: open_catalog().list_api_versions())
