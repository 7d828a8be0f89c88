"""Limits the work of one expression, so that no manifest can hang a run or fill its memory.

Expressions always end, but nested macros and doubled lists can take very long. Their input is an Azure response and
some secrets: thousands of characters, not millions.
"""

from __future__ import annotations

from typing import Any, Final

from gitsync.errors import EvaluationError

MOST_STEPS: Final = 200_000
"""Parts of the expression evaluated, and items of lists and maps visited: less than a second."""

MOST_CHARACTERS: Final = 10_000_000
"""Characters, bytes and list items that functions read and make: some ten megabytes."""

_SIZED: Final = (str, bytes, list)


class EvaluationBudget:
    """The remaining budget of one evaluation. Once it is used up it stays so: nothing absorbs that error."""

    __slots__ = ("_characters", "_steps")

    def __init__(self, steps: int = MOST_STEPS, characters: int = MOST_CHARACTERS) -> None:
        self._steps = steps
        self._characters = characters

    def step(self, count: int = 1) -> None:
        self._steps -= count
        if self._steps < 0:
            raise EvaluationError("the expression takes too many steps")

    def charge_characters(self, count: int) -> None:
        self._characters -= count
        if self._characters < 0:
            self._steps = 0  # so that no step follows where `&&`, `all` or `or` absorbs this error
            raise EvaluationError("the expression processes too much text")

    def charge_value(self, value: Any) -> None:
        """Charge for a value that a function reads or makes; maps and objects are charged when they are visited."""
        if isinstance(value, _SIZED):
            self.charge_characters(len(value))
