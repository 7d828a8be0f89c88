"""The real clock. Everything else takes a `Clock`, so that tests simulate hours of waiting."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class SystemClock:
    """Time of day in UTC, seconds since an arbitrary start, and asyncio's sleep."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - other modules get this clock

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
