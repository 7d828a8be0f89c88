"""Where a part of an expression is worked out: the variables that it sees, and what is left to spend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gitsync.cel.budget import EvaluationBudget
from gitsync.cel.syntax.tree import ExpressionNode
from gitsync.cel.values import EvaluationError, name_type


@dataclass(frozen=True, slots=True)
class EvaluationScope:
    """Names with their values; `read` is the evaluator, passed in so that macros need not know it."""

    names: Mapping[str, Any]
    budget: EvaluationBudget
    read: Callable[[ExpressionNode, EvaluationScope], Any]

    def value(self, node: ExpressionNode) -> Any:
        """The value of a part of the expression; it costs a step."""
        self.budget.step()
        return self.read(node, self)

    def bound(self, names: Iterable[tuple[str, Any]]) -> EvaluationScope:
        """The same with some more names, which hide those of outside."""
        return replace(self, names={**self.names, **dict(names)})


def require_bool(value: Any, where: str) -> bool:
    """A value where true or false must stand. Raises EvaluationError for any other."""
    if not isinstance(value, bool):
        raise EvaluationError(f"no such overload: {where}({name_type(value)})")
    return value
