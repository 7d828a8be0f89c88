"""Heartbeats, as `gitsync status` shows them: how long ago each agent last succeeded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from gitsync.logging import escape_controls
from gitsync.model.clock import format_rfc3339
from gitsync.model.heartbeat import Heartbeat
from gitsync.report.headline import shorten_revision

_UNITS = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def list_heartbeats(heartbeats: Iterable[Heartbeat], now: datetime) -> list[str]:
    """One line for each agent: the age, the time and the revision of its last success."""
    return [_format_heartbeat(heartbeat, now) for heartbeat in heartbeats]


def build_heartbeats(heartbeats: Iterable[Heartbeat], now: datetime) -> list[Mapping[str, Any]]:
    """The same for JSON and YAML."""
    return [
        {
            "agent": heartbeat.agent,
            "lastSuccess": format_rfc3339(heartbeat.time),
            "ageSeconds": _find_age(heartbeat, now),
            "revision": heartbeat.revision,
        }
        for heartbeat in heartbeats
    ]


def _format_heartbeat(heartbeat: Heartbeat, now: datetime) -> str:
    at = f", at {shorten_revision(heartbeat.revision)}" if heartbeat.revision else ""
    age = _format_age(_find_age(heartbeat, now))
    return f"Last success of {escape_controls(heartbeat.agent)}: {age} ({format_rfc3339(heartbeat.time)}{at})."


def _find_age(heartbeat: Heartbeat, now: datetime) -> int:
    """Seconds; negative if the clock of the agent is ahead of this one."""
    return int((now.replace(microsecond=0) - heartbeat.time).total_seconds())


def _format_age(seconds: int) -> str:
    """Like kubectl: the two largest units. A time to come is shown as one, since a clock is wrong then."""
    left, words = abs(seconds), list[str]()
    for size, unit in _UNITS:
        number, left = divmod(left, size)
        if number or words:
            words.append(f"{number}{unit}")
    shown = "".join(words[:2]) or "0s"
    return f"{shown} ahead of this clock" if seconds < 0 else f"{shown} ago"
