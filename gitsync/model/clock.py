"""Time, as an argument."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The time of day, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start, never going back."""
        ...

    async def sleep(self, seconds: float) -> None: ...


def format_rfc3339(moment: datetime) -> str:
    """Write a moment as Kubernetes does: RFC 3339, UTC, whole seconds."""
    return _format_second(int(moment.timestamp()))


@lru_cache(maxsize=64)  # many resources end in the same second
def _format_second(timestamp: int) -> str:
    return datetime.fromtimestamp(timestamp, UTC).isoformat().removesuffix("+00:00") + "Z"


def read_time(value: object) -> datetime | None:
    """Read a time from Azure, which has up to seven digits of a second; None for anything else."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC) if moment else None
    # A time at either end of the calendar overflows when its zone is converted.
    except (ValueError, OverflowError):
        return None
