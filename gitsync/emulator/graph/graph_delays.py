"""How views of Microsoft Graph lag: a new object is not found yet, and a deleted one is still shown."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import StoredResource

DELETED: Final = "Deleted"
"""The state of a deleted object that is still shown."""


def is_shown(cloud: EmulatedCloud, stored: StoredResource) -> bool:
    return stored.state != DELETED or compute_age(cloud, stored.changed) < cloud.settings.graph.delays.gone


def compute_age(cloud: EmulatedCloud, moment: str) -> float:
    """Return the seconds since a moment."""
    return (cloud.clock.now() - datetime.fromisoformat(moment)).total_seconds()
