"""The sign of life of an agent: when its last run succeeded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """`time` is the end of the last run that succeeded, in UTC and whole seconds. `revision` is the commit that it
    read; None if it read a folder that is in no repository.
    """

    agent: str
    time: datetime
    revision: str | None
