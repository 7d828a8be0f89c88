"""Checks that only look at a state: a table row each, made into functions here.

A state that is not there agrees: the resource does not exist, or its provider has none (extensions.md §2, §3).
"""

from __future__ import annotations

from collections.abc import Mapping

from gitsync.extensions.points import CheckResult, NextCheck, ReadsAzure, Subject, block
from gitsync.model.live import Live

TERMINAL = ("succeeded", "failed", "canceled")


class OwnState:
    """Blocks while the resource's own state is not one of `allowed` (lower case).

    `says` is the reason, with places for {state} and {owner}.
    """

    def __init__(self, says: str, *, allowed: tuple[str, ...] = TERMINAL, field: str = "provisioningState") -> None:
        self._says = says
        self._allowed = allowed
        self._field = field

    async def __call__(self, subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult:  # noqa: A002 - ASO's word
        state = state_of(subject.live, self._field)
        if state is not None and state.casefold() not in self._allowed:
            return block(self._says.format(state=state, owner=subject.owner_name))
        return await next(subject, azure)


class OwnerState(OwnState):
    """The same of the owner's state."""

    async def __call__(self, subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult:  # noqa: A002 - ASO's word
        state = state_of(subject.owner, self._field)
        if state is not None and state.casefold() not in self._allowed:
            return block(self._says.format(state=state, owner=subject.owner_name))
        return await next(subject, azure)


def state_of(live: Live | None, field: str) -> str | None:
    """Return `properties.<field>`; None where it is missing, "" where it is empty."""
    properties = live.body.get("properties") if live else None
    state = properties.get(field) if isinstance(properties, Mapping) else None
    return state if isinstance(state, str) else None
