"""What one node says with Azure: how long it may talk, what failed so far, how much it asked.

The one mutable value of this package that the driver shares: it sets the stage, the client counts and remembers.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from gitsync.model.result import Attempt, Stage

LAST_ANSWER = 5.0
"""Seconds that the answer to a request under way is waited for where the conversation is ended."""


@dataclass(slots=True)
class Conversation:
    """`deadline` is in the clock's monotonic seconds. `requests` counts what was sent, polls and failed tries too.
    `limit` is that of the request under way.
    """

    deadline: float
    stage: Stage = Stage.OBSERVE
    attempts: list[Attempt] = field(default_factory=list)
    requests: int = 0
    limit: asyncio.Timeout | None = None

    def end(self, now: float) -> None:
        """Bring the deadline forward: nothing more is asked, and what was asked has a few seconds to be answered."""
        self.deadline = now
        if self.limit is not None:
            self.limit.reschedule(asyncio.get_running_loop().time() + LAST_ANSWER)
