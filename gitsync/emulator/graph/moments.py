"""How old an object of the directory is: a view of it may lag behind."""

from __future__ import annotations

from datetime import datetime

from gitsync.emulator.state.cloud import EmulatedCloud


def compute_age(cloud: EmulatedCloud, moment: str) -> float:
    """Return the seconds since a moment."""
    return (cloud.clock.now() - datetime.fromisoformat(moment)).total_seconds()
