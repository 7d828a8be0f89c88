"""What a user should have and has, of one list of its manifest: what to grant, what to revoke, and how to show it.

A list that a manifest states is the whole truth, even an empty one. Of one that it does not state, only what gitsync
granted before is revoked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple


class Grants(NamedTuple):
    """One list of grants."""

    stated: Sequence[str] | None  # as the manifest has it, None if it does not
    granted_before: Sequence[str]  # as gitsync last granted it
    live: frozenset[str]  # what the server has
    fold: Callable[[str], str] = str  # gives the server's name for an entry of the manifest

    @property
    def missing(self) -> list[str]:
        """What to grant, by the server's names."""
        return sorted({self.fold(entry) for entry in self.stated or ()} - self.live)

    @property
    def surplus(self) -> list[str]:
        """What to revoke, by the server's names."""
        if self.stated is not None:
            return sorted(self.live - {self.fold(entry) for entry in self.stated})
        return sorted(self.live & {self.fold(entry) for entry in self.granted_before})

    def show(self) -> list[str]:
        """What the server has, in the words and the order of the manifest; what it has beyond comes after, sorted."""
        return [*self._known(self.stated or ()), *self.surplus]

    def _known(self, entries: Iterable[str]) -> list[str]:
        return [entry for entry in entries if self.fold(entry) in self.live]
