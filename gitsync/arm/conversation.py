"""What one node says with Azure: how long it may talk, what failed so far, how much it asked.

The one mutable value of this package that the driver shares: it sets the stage, the client counts and remembers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gitsync.model.result import Attempt, Stage


@dataclass(slots=True)
class Conversation:
    """`deadline` is in the clock's monotonic seconds. `requests` counts what was sent, polls and failed tries too."""

    deadline: float
    stage: Stage = Stage.OBSERVE
    attempts: list[Attempt] = field(default_factory=list)
    requests: int = 0
