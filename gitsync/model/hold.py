"""A hold: a resource stays as it is in Azure until a date (docs/hold.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True, order=True)
class HeldUntil:
    """A hold with its last day."""

    day: date  # the last day of the hold, UTC
    reason: str  # one short line by a person, as untrusted as a manifest

    def lasts(self, today: date) -> bool:
        """Return whether the hold still applies on a date (UTC)."""
        return today <= self.day

    @property
    def sentence(self) -> str:
        """The message of a held resource in reports."""
        return f"It stays as it is {self}."

    def __str__(self) -> str:
        return f"until {self.day}: {self.reason}"
