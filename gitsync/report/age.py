"""Ages as kubectl prints them: two units at most, and the smaller one only while it matters."""

from __future__ import annotations

from datetime import datetime, timedelta

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86_400, 365 * 86_400

_STEPS = (
    # below this many seconds: the unit, its letter, and the smaller unit beside it (0 for none) with its letter
    (2 * _MINUTE, 1, "s", 0, ""),
    (10 * _MINUTE, _MINUTE, "m", 1, "s"),
    (3 * _HOUR, _MINUTE, "m", 0, ""),
    (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
    (2 * _DAY, _HOUR, "h", 0, ""),
    (8 * _DAY, _DAY, "d", _HOUR, "h"),
    (2 * _YEAR, _DAY, "d", 0, ""),
    (8 * _YEAR, _YEAR, "y", _DAY, "d"),
)


def format_age(since: str, now: datetime) -> str:
    """The time from an RFC 3339 moment until now, such as `5m30s`, `3h` or `12d`; `<unknown>` if it is no moment."""
    try:
        seconds = int((now - datetime.fromisoformat(since)) / timedelta(seconds=1))
    except (TypeError, ValueError):
        return "<unknown>"
    return format_seconds(max(seconds, 0))


def format_seconds(seconds: int) -> str:
    """A duration in its largest units."""
    for limit, unit, letter, smaller, smaller_letter in _STEPS:
        if seconds < limit:
            rest = seconds % unit // smaller if smaller else 0
            return f"{seconds // unit}{letter}{f'{rest}{smaller_letter}' if rest else ''}"
    return f"{seconds // _YEAR}y"
