"""How long to wait between two polls: the Retry-After of Azure, else doubling, and never past the deadline."""

from __future__ import annotations

from dataclasses import dataclass

from gitsync.arm.session import Session
from gitsync.model.clock import Clock

LAST_LOOK = 1.0
"""Seconds before the deadline that are kept for a last poll."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Seconds between polls if Azure does not say: doubling from `first` to `most`."""

    first: float = 1.0
    most: float = 60.0

    def after(self, polls: int) -> float:
        return min(self.most, self.first * 2.0 ** min(polls, 32))


@dataclass(frozen=True, slots=True)
class Pace:
    """The interval of a run, with its clock."""

    clock: Clock
    interval: Interval

    async def pause(self, requested: float | None, polls: int, session: Session) -> bool:
        """Wait the seconds that Azure requested, else the interval after so many polls.

        Returns False at once if Azure requested more than the deadline leaves, or no time is left.
        """
        remaining = session.deadline - self.clock.monotonic()
        seconds = requested or min(self.interval.after(polls), remaining - LAST_LOOK)
        if seconds <= 0 or seconds > remaining:
            return False
        await self.clock.sleep(seconds)
        return True
