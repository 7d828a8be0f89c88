"""Evaluates the tree of an expression with values for its variables (CEL's language definition).

The checker has seen the tree before, but where types are dynamic only this finds out. Nothing here knows of files,
clocks or Azure, and nothing changes the values that it is given. A failure never repeats a value. It names a field or
key only if that is a literal of the expression: a computed one may be a secret.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gitsync.cel.functions.comprehensions import expand
from gitsync.cel.functions.functions import call
from gitsync.cel.functions.operators import NUMBERS, has_key
from gitsync.cel.scope import EvaluationBudget, EvaluationScope, require_bool
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
from gitsync.cel.values import KEYS, NONE, TYPES, MapValue, Optional, name_type
from gitsync.errors import EvaluationError

_MISSING: Final = object()


def evaluate(node: ExpressionNode, variables: Mapping[str, Any], budget: EvaluationBudget | None = None) -> Any:
    """Evaluate a tree. `budget` is what several may spend together; by itself a tree has one of its own.

    Raises EvaluationError, and nothing else, where it has no value or is too much work.
    """
    scope = EvaluationScope(variables, budget or EvaluationBudget(), _evaluate_node)
    try:
        return scope.evaluate(node)
    except RecursionError:
        raise EvaluationError("the expression or its input is nested too deeply") from None


def _evaluate_node(node: ExpressionNode, scope: EvaluationScope) -> Any:
    return _NODES[type(node)](node, scope)


def _evaluate_name(node: Ident, scope: EvaluationScope) -> Any:
    if node.name in scope.names:
        return scope.names[node.name]
    if node.name in TYPES:
        return TYPES[node.name]
    raise EvaluationError(f"undeclared reference to '{node.name}'")


def _evaluate_select(node: Select, scope: EvaluationScope) -> Any:
    operand = scope.evaluate(node.operand)
    return has(operand, node.field) if node.test else select_field(operand, node.field, optional=node.optional)


def _evaluate_index(node: IndexAccess, scope: EvaluationScope) -> Any:
    operand, key = scope.evaluate(node.operand), scope.evaluate(node.key)
    shown = str(node.key.value) if isinstance(node.key, Literal) else ""
    return select_entry(operand, key, optional=node.optional, shown=shown)


def _evaluate_call(node: FunctionCall, scope: EvaluationScope) -> Any:
    parts = (*((node.target,) if node.target is not None else ()), *node.args)
    lazy = _LAZY.get((node.function, len(parts)))
    if lazy is not None:
        return lazy(scope, *parts)
    return call(scope.budget, node.function, [scope.evaluate(part) for part in parts])


def _make_logical(decides: bool, sign: str) -> Callable[[EvaluationScope, ExpressionNode, ExpressionNode], bool]:  # noqa: FBT001 - && and || differ in this alone
    def evaluate_sides(scope: EvaluationScope, left: ExpressionNode, right: ExpressionNode) -> bool:
        try:
            first = require_bool(scope.evaluate(left), sign)
        except EvaluationError:
            # If one side decides, the other may fail, whichever of them comes first.
            if require_bool(scope.evaluate(right), sign) == decides:
                return decides
            raise
        return first if first == decides else require_bool(scope.evaluate(right), sign)

    return evaluate_sides


def _evaluate_or(scope: EvaluationScope, target: ExpressionNode, other: ExpressionNode) -> Optional:
    first = _evaluate_optional(scope, target, "or")
    return first if first.present else _evaluate_optional(scope, other, "or")


def _evaluate_or_value(scope: EvaluationScope, target: ExpressionNode, other: ExpressionNode) -> Any:
    first = _evaluate_optional(scope, target, "orValue")
    return first.value if first.present else scope.evaluate(other)


def _evaluate_optional(scope: EvaluationScope, node: ExpressionNode, where: str) -> Optional:
    value = scope.evaluate(node)
    if not isinstance(value, Optional):
        raise EvaluationError(f"no such overload: {where}({name_type(value)})")
    return value


def _build_list(node: ListOf, scope: EvaluationScope) -> list[Any]:
    items: list[Any] = []
    for part, optional in node.items:
        if not optional:
            items.append(scope.evaluate(part))
        elif (found := _evaluate_optional(scope, part, "[?_]")).present:
            items.append(found.value)
    return items


def _iterate_entries(node: MapOf, scope: EvaluationScope) -> Iterator[tuple[Any, Any]]:
    for key_node, value_node, optional in node.entries:
        key = scope.evaluate(key_node)
        if not optional:
            yield key, scope.evaluate(value_node)
        elif (found := _evaluate_optional(scope, value_node, "{?_}")).present:
            yield key, found.value


def select_field(operand: Any, field: str, *, optional: bool) -> Any:
    """Evaluate `operand.field` or `operand.?field`. Optional access, and any access to an optional,
    gives an optional.
    """
    if isinstance(operand, Optional):
        return select_field(operand.value, field, optional=True) if operand.present else NONE
    if optional:
        return Optional(_find_member(operand, field)) if has(operand, field) else NONE
    found = _find_member(operand, field)
    if found is _MISSING:
        raise EvaluationError(f"no such key: {field}")
    return found


def has(operand: Any, field: str) -> bool:
    """Evaluate `has(operand.field)`: a key that is there, or a field that is not its zero value."""
    if isinstance(operand, Optional):
        return operand.present and has(operand.value, field)
    match name_type(operand):
        case "map":
            return field in operand
        case "object":
            return bool(operand.has(field))
        case _:
            return False


def _find_member(operand: Any, field: str) -> Any:
    match name_type(operand):
        case "map":
            return operand.get(field, _MISSING)
        case "object":
            return operand.read_member(field)
        case _:
            return _MISSING


def select_entry(operand: Any, key: Any, *, optional: bool, shown: str) -> Any:
    """Evaluate `operand[key]` or `operand[?key]`; `shown` is the key as the expression says it, or empty."""
    if isinstance(operand, Optional):
        return select_entry(operand.value, key, optional=True, shown=shown) if operand.present else NONE
    found, missing = _find_entry(operand, key)
    if optional:
        return NONE if found is _MISSING else Optional(found)
    if found is _MISSING:
        raise EvaluationError(f"{missing}: {shown}" if shown else missing)
    return found


def _find_entry(operand: Any, key: Any) -> tuple[Any, str]:
    """Find what is under a key, or _MISSING; and what to say then."""
    kinds = name_type(operand), name_type(key)
    match kinds:
        case ("list", "int" | "uint" | "double"):
            if not math.isfinite(key) or key != int(key):
                raise EvaluationError("an index of a list is a whole number")
            return operand[int(key)] if 0 <= key < len(operand) else _MISSING, "index out of bounds"
        case ("map", kind) if kind in KEYS or kind in NUMBERS:
            return operand[key] if has_key(operand, key) else _MISSING, "no such key"
    raise EvaluationError(f"no such overload: {kinds[0]}[{kinds[1]}]")


_LAZY: Final[dict[tuple[str, int], Callable[..., Any]]] = {
    ("_&&_", 2): _make_logical(False, "_&&_"),
    ("_||_", 2): _make_logical(True, "_||_"),
    ("_?_:_", 3): lambda scope, condition, then, otherwise: scope.evaluate(
        then if require_bool(scope.evaluate(condition), "_?_:_") else otherwise
    ),
    ("or", 2): _evaluate_or,
    ("orValue", 2): _evaluate_or_value,
}
"""Operators and methods that evaluate their parts themselves, or not at all, by name and number of parts."""

_NODES: Final[dict[type, Callable[[Any, EvaluationScope], Any]]] = {
    Literal: lambda node, _: node.value,
    Ident: _evaluate_name,
    Select: _evaluate_select,
    IndexAccess: _evaluate_index,
    FunctionCall: _evaluate_call,
    ListOf: _build_list,
    MapOf: lambda node, scope: MapValue(_iterate_entries(node, scope)),
    Macro: expand,
}
