"""What a rule is: a name that reports show, the evidence that it rests on, and a decision over one leaf.

A rule compares one sort of value. It returns None for a leaf of another sort, and the next rule is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.planning.diff.hints import Hints


class RuleOutcome(Enum):
    SAME = auto()
    OTHER = auto()  # the rule is the right one for this leaf, and the two sides are not the same by it
    UNTOLD = auto()  # Azure sets the value itself, whatever git requests: at first sight it proves nothing


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf that both sides have, and that is not the same letter by letter."""

    path: JsonPath
    desired: Any
    live: Any
    hints: Hints  # what is known of the resource

    @property
    def name(self) -> str:
        """The member that has the value, without case; that of the list for an entry of a list."""
        return next((step.casefold() for step in reversed(self.path) if isinstance(step, str)), "")

    def find_in_answer(self, *steps: str | int) -> Any:
        """Azure's value at another path of the answer; None if there is none."""
        value: Any = self.hints.answer
        for step in steps:
            value = value.get(step) if isinstance(value, Mapping) else None
        return value

    @property
    def above(self) -> frozenset[str]:
        """All members on the way to the leaf, without case."""
        return frozenset(step.casefold() for step in self.path if isinstance(step, str))


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalenceRule:
    """A rule that makes two values equal."""

    name: str
    evidence: str  # where Microsoft describes it, or a recording that shows it
    decide: Callable[[Leaf], RuleOutcome | None]  # None if the rule does not apply
    reads_answer: bool = False
    """The requested value is in two leaves of the answer, and a baseline has one of them; so the rule decides with a
    baseline too.
    """


def make_outcome(same: bool) -> RuleOutcome:  # noqa: FBT001 - the one thing it is about
    """The outcome of a comparison that was the right one to make."""
    return RuleOutcome.SAME if same else RuleOutcome.OTHER


def compare_without_case(leaf: Leaf) -> RuleOutcome:
    """The outcome for two texts in which the case of letters does not count."""
    return make_outcome(leaf.desired.casefold() == leaf.live.casefold())
