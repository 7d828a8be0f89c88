"""The time of the machine, unless a caller passes another clock."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class EmulatorClock:
    """Satisfies `gitsync.model.clock.Clock`."""

    def now(self) -> datetime:
        return datetime.now(tz=UTC)  # noqa: TID251 - the emulator reads the time only here

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def format_time(moment: datetime) -> str:
    """Format a time as ARM writes it, to the microsecond."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
