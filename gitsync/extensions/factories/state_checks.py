"""Checks that only look at a state: a table row each, made into functions here.

A missing state agrees: the resource does not exist, or its provider has none. An empty one is a state like any other
(docs/reference/kinds.md#state-checks).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gitsync.extensions.api import CheckResult, NextCheck, ReadsAzure, Subject, block
from gitsync.model.live import Live

TERMINAL = ("succeeded", "failed", "canceled")

Allows = Callable[[str], bool]
"""Returns whether a state lets the resource be acted on."""


def allow_only(*states: str) -> Allows:
    """Agrees in these states, in lower case; the comparison ignores case."""
    return lambda state: state.casefold() in states


def allow_exactly(*states: str) -> Allows:
    """Agrees in these states, letter by letter."""
    return lambda state: state in states


def allow_except(*states: str) -> Allows:
    """Agrees in any but these states, in lower case; the comparison ignores case."""
    return lambda state: state.casefold() not in states


ONLY_WHEN_SETTLED = allow_only(*TERMINAL)


class _StateCheck:
    """Blocks while `properties.<field>` is a state that is not allowed.

    `says` is the reason, with places for {state} and {owner}.
    """

    def __init__(self, says: str, *, allows: Allows = ONLY_WHEN_SETTLED, field: str = "provisioningState") -> None:
        self._says = says
        self._allows = allows
        self._field = field

    async def _evaluate(self, live: Live | None, subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult:  # noqa: A002 - ASO's word
        state = read_state(live, self._field)
        if state is not None and not self._allows(state):
            return block(self._says.format(state=state, owner=subject.owner_name))
        return await next(subject, azure)


class OwnState(_StateCheck):
    """Looks at the state of the resource itself."""

    async def __call__(self, subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult:  # noqa: A002 - ASO's word
        return await self._evaluate(subject.live, subject, azure, next)

    def allows_listed(self, entry: Live) -> bool:
        """Return whether the entry of a list shows a state that is allowed."""
        state = read_state(entry, self._field)
        # An entry without the state shows nothing.
        return state is not None and self._allows(state)


class OwnerState(_StateCheck):
    """Looks at the state of the owner."""

    async def __call__(self, subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult:  # noqa: A002 - ASO's word
        return await self._evaluate(subject.owner, subject, azure, next)


def read_state(live: Live | None, field: str) -> str | None:
    """Return `properties.<field>`; None if it is missing, "" if it is empty."""
    properties = live.body.get("properties") if live else None
    state = properties.get(field) if isinstance(properties, Mapping) else None
    return state if isinstance(state, str) else None
