"""What an expression comes to: its tree, worked out with values for its variables (CEL's language definition).

The checker has seen the tree before, but where types are dynamic only this finds out. Nothing here knows of files,
clocks or Azure, and nothing changes the values that it is given. A failure never repeats a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gitsync.cel.budget import EvaluationBudget
from gitsync.cel.functions.access import has, select_entry, select_field
from gitsync.cel.functions.comprehensions import expand
from gitsync.cel.functions.functions import call
from gitsync.cel.scope import EvaluationScope, require_bool
from gitsync.cel.syntax.tree import (
    ExpressionNode,
    FunctionCall,
    Ident,
    IndexAccess,
    ListOf,
    Literal,
    Macro,
    MapOf,
    Select,
)
from gitsync.cel.values import TYPES, EvaluationError, MapValue, Optional, name_type


def evaluate(node: ExpressionNode, variables: Mapping[str, Any], budget: EvaluationBudget | None = None) -> Any:
    """Work out a tree. `budget` is what several may spend together; by itself a tree has one of its own.

    Raises EvaluationError, and nothing else, where it has no value or is too much work.
    """
    scope = EvaluationScope(variables, budget or EvaluationBudget(), _value)
    try:
        return scope.value(node)
    except RecursionError:
        raise EvaluationError("the expression or its input is nested too deeply") from None


def _value(node: ExpressionNode, scope: EvaluationScope) -> Any:
    return _NODES[type(node)](node, scope)


def _literal(node: Literal, _scope: EvaluationScope) -> Any:
    return node.value


def _ident(node: Ident, scope: EvaluationScope) -> Any:
    if node.name in scope.names:
        return scope.names[node.name]
    if node.name in TYPES:
        return TYPES[node.name]
    raise EvaluationError(f"undeclared reference to '{node.name}'")


def _select(node: Select, scope: EvaluationScope) -> Any:
    operand = scope.value(node.operand)
    return has(operand, node.field) if node.test else select_field(operand, node.field, optional=node.optional)


def _index(node: IndexAccess, scope: EvaluationScope) -> Any:
    operand, key = scope.value(node.operand), scope.value(node.key)
    shown = str(node.key.value) if isinstance(node.key, Literal) else ""
    return select_entry(operand, key, optional=node.optional, shown=shown)


def _call(node: FunctionCall, scope: EvaluationScope) -> Any:
    parts = (*((node.target,) if node.target is not None else ()), *node.args)
    lazy = _LAZY.get((node.function, len(parts)))
    if lazy is not None:
        return lazy(scope, *parts)
    return call(scope.budget, node.function, [scope.value(part) for part in parts])


def _either(decides: bool, sign: str) -> Callable[[EvaluationScope, ExpressionNode, ExpressionNode], bool]:  # noqa: FBT001 - && and || differ in this alone
    def work_out(scope: EvaluationScope, left: ExpressionNode, right: ExpressionNode) -> bool:
        """If one side decides, the other may fail, whichever of them comes first."""
        try:
            first = require_bool(scope.value(left), sign)
        except EvaluationError:
            if require_bool(scope.value(right), sign) == decides:
                return decides
            raise
        return first if first == decides else require_bool(scope.value(right), sign)

    return work_out


def _conditional(
    scope: EvaluationScope, condition: ExpressionNode, then: ExpressionNode, otherwise: ExpressionNode
) -> Any:
    return scope.value(then if require_bool(scope.value(condition), "_?_:_") else otherwise)


def _or(scope: EvaluationScope, target: ExpressionNode, other: ExpressionNode) -> Optional:
    first = _optional_of(scope, target, "or")
    return first if first.present else _optional_of(scope, other, "or")


def _or_value(scope: EvaluationScope, target: ExpressionNode, other: ExpressionNode) -> Any:
    first = _optional_of(scope, target, "orValue")
    return first.value if first.present else scope.value(other)


def _optional_of(scope: EvaluationScope, node: ExpressionNode, where: str) -> Optional:
    value = scope.value(node)
    if not isinstance(value, Optional):
        raise EvaluationError(f"no such overload: {where}({name_type(value)})")
    return value


def _list_of(node: ListOf, scope: EvaluationScope) -> list[Any]:
    items: list[Any] = []
    for part, optional in node.items:
        if not optional:
            items.append(scope.value(part))
        elif (found := _optional_of(scope, part, "[?_]")).present:
            items.append(found.value)
    return items


def _map_of(node: MapOf, scope: EvaluationScope) -> MapValue:
    return MapValue(_entries(node, scope))


def _entries(node: MapOf, scope: EvaluationScope) -> Iterator[tuple[Any, Any]]:
    for key_node, value_node, optional in node.entries:
        key = scope.value(key_node)
        if not optional:
            yield key, scope.value(value_node)
        elif (found := _optional_of(scope, value_node, "{?_}")).present:
            yield key, found.value


_LAZY: Final[dict[tuple[str, int], Callable[..., Any]]] = {
    ("_&&_", 2): _either(False, "_&&_"),
    ("_||_", 2): _either(True, "_||_"),
    ("_?_:_", 3): _conditional,
    ("or", 2): _or,
    ("orValue", 2): _or_value,
}
"""What works out its parts itself, or not at all, by name and number of parts."""

_NODES: Final[dict[type, Callable[[Any, EvaluationScope], Any]]] = {
    Literal: _literal,
    Ident: _ident,
    Select: _select,
    IndexAccess: _index,
    FunctionCall: _call,
    ListOf: _list_of,
    MapOf: _map_of,
    Macro: expand,
}
