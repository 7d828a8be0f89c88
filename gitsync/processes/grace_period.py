"""How long the programs that a run started may still run once the run is told to end.

A signal handler begins it directly: the event loop stands still while git pushes, and hears of nothing.
"""

from __future__ import annotations

import math
import time


class Grace:
    """Until `begin`, there is no limit. From then on, the seconds that are left count down."""

    def __init__(self) -> None:
        self._begun: float | None = None

    def begin(self) -> None:
        """Start to count. A second call changes nothing. Safe in a signal handler."""
        if self._begun is None:
            self._begun = time.monotonic()

    def left(self, seconds: float) -> float:
        """What is left of `seconds` since the beginning, never less than 0; infinity before it."""
        return math.inf if self._begun is None else max(0.0, self._begun + seconds - time.monotonic())
