"""Whether a pattern matches somewhere in a text, in time that grows with both and no faster.

All ways through the pattern are followed at once, one character after the other (Thompson's construction), so no
pattern can cause exponential backtracking; each way at each character is a step of the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from gitsync.cel.budget import EvaluationBudget
from gitsync.cel.functions.letters import Letters
from gitsync.cel.functions.patterns import (
    Alternation,
    Assertion,
    Concatenation,
    Part,
    PatternReader,
    Repeat,
    make_pattern_error,
)

MOST_STATES: Final = 20_000
"""How large a pattern may be once its repetitions are written out."""


@dataclass(slots=True, eq=False)
class _State:
    """A place in the pattern: what the next character must be, or what edge must be here; then where it goes on."""

    test: Letters | Assertion | None = None
    after: list[_State] = field(default_factory=list)


class _Builder:
    """Builds the states of a pattern from its end to its start."""

    def __init__(self, budget: EvaluationBudget) -> None:
        self._left = MOST_STATES
        self._budget = budget

    def build(self, part: Part, then: _State) -> _State:
        """Return the state in which `part` starts, and after which it goes on with `then`."""
        match part:
            case Concatenation():
                for each in reversed(part.parts):
                    then = self.build(each, then)
                return then
            case Alternation():
                return self._state(None, [self.build(each, then) for each in part.parts])
            case Repeat():
                return self._repeat(part, then)
            case Letters() | Assertion():
                return self._state(part, [then])

    def _state(self, test: Letters | Assertion | None, after: list[_State]) -> _State:
        self._budget.step()
        self._left -= 1
        if self._left < 0:
            raise make_pattern_error("the pattern is too large once its repetitions are written out")
        return _State(test, after)

    def _repeat(self, repeat: Repeat, then: _State) -> _State:
        if repeat.most is None:
            loop = self._state(None, [])
            loop.after += [self.build(repeat.part, loop), then]
            start = loop
        else:
            start = then
            for _ in range(repeat.most - repeat.least):
                start = self._state(None, [self.build(repeat.part, start), then])
        for _ in range(repeat.least):
            start = self._state(None, [self.build(repeat.part, start)])
        return start


_Here = tuple[str, str]
"""The characters before and after a place; "" at the ends of the text."""


def _is_word(letter: str) -> bool:
    return letter == "_" or (letter.isascii() and letter.isalnum())


_EDGES: Final[dict[str, Callable[[str, str], bool]]] = {
    "^": lambda before, _: not before,
    "$": lambda _, after: not after,
    "(": lambda before, _: before in {"", "\n"},
    ")": lambda _, after: after in {"", "\n"},
    "b": lambda before, after: _is_word(before) != _is_word(after),
    "B": lambda before, after: _is_word(before) == _is_word(after),
}


def _reached(states: Iterable[_State], here: _Here, budget: EvaluationBudget) -> dict[_State, None]:
    """All states that can be reached from some without another character, in a fixed order."""
    found: dict[_State, None] = {}
    waiting = list(states)
    while waiting:
        state = waiting.pop()
        if state in found:
            continue
        budget.step()
        found[state] = None
        if state.test is None or (isinstance(state.test, Assertion) and _EDGES[state.test.name](*here)):
            waiting += state.after
    return found


def matches(budget: EvaluationBudget, text: str, pattern: str) -> bool:
    """Tell whether a pattern of RE2 matches somewhere in a text. Raises EvaluationError for what is no such pattern."""
    budget.step(len(pattern))
    last = _State()
    start = _Builder(budget).build(PatternReader(pattern).read(), last)
    current: list[_State] = []
    before = ""
    for letter in [*text, ""]:
        reached = _reached([*current, start], (before, letter), budget)
        if last in reached:
            return True
        current = [state.after[0] for state in reached if letter and _takes(state, letter, budget)]
        before = letter
    return False


def _takes(state: _State, letter: str, budget: EvaluationBudget) -> bool:
    """Tell whether a state goes on with a character."""
    if not isinstance(state.test, Letters):
        return False
    budget.step(state.test.weight)
    return state.test.holds(letter)


MEASURED: Final[dict[tuple[str, ...], Callable[..., Any]]] = {("matches", "string", "string"): matches}
