"""The grace period of the programs that a run started, after the run is stopped.

A signal handler starts it directly: the event loop is blocked while git pushes, and receives no signals.
"""

from __future__ import annotations

import math
import time


class Grace:
    """Until `begin`, there is no limit. From then on, the remaining seconds count down."""

    def __init__(self) -> None:
        self._begun: float | None = None

    def begin(self) -> None:
        """Start the countdown. A second call changes nothing. Safe in a signal handler."""
        if self._begun is None:
            self._begun = time.monotonic()

    def left(self, seconds: float) -> float:
        """The remaining part of `seconds` since `begin`, never less than 0; infinity before it."""
        return math.inf if self._begun is None else max(0.0, self._begun + seconds - time.monotonic())
