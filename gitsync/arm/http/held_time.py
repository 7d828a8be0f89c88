"""How long limits of Azure held a run back: a figure of its report, from the waits of single requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gitsync.model.clock import Clock


class HeldTime:
    """For how long at least one request was held back by a limit. Waits that overlap count once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held = 0
        self._since = 0.0
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        return self._seconds + (self._clock.monotonic() - self._since if self._held else 0.0)

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Count the time inside of this context."""
        if not self._held:
            self._since = self._clock.monotonic()
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            if not self._held:
                self._seconds += self._clock.monotonic() - self._since
