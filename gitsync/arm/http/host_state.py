"""The state of a host that has not answered yet: it decides when a retry stops making sense.

A name that cannot be resolved, a certificate that is not trusted and a port that refuses are mistakes of the settings
or the network, unless the host has answered in this run: then they are outages, and pass.
"""

from __future__ import annotations

from gitsync.arm.http.failures import TransportError
from gitsync.model.clock import Clock

PATIENCE = 15.0
"""Seconds for a host that has not answered yet, such as a proxy that starts beside the run."""


class Host:
    """One host for the length of a run."""

    def __init__(self, clock: Clock, patience: float) -> None:
        """`patience` is in seconds: how long it may refuse connections before it has answered anything."""
        self._clock = clock
        self._patience = patience
        self._has_answered = False
        self._silent_since: float | None = None

    def answered(self) -> None:
        self._has_answered = True

    def may_answer(self, error: BaseException) -> bool:
        """Tell whether a retry makes sense after an error."""
        if self._has_answered or not isinstance(error, TransportError) or error.was_sent:
            return True
        if error.is_wrong_host:
            return False
        now = self._clock.monotonic()
        self._silent_since = now if self._silent_since is None else self._silent_since
        return now - self._silent_since < self._patience
