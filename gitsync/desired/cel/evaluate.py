"""Evaluates the tree of an expression with values for its variables (CEL's language definition): names, access to
fields and entries, operators that may skip some of their parts, and macros.

The checker has seen the tree before, but dynamic types are only known here. This module uses no files, clocks or Azure,
and changes no value that it gets. A failure never repeats a value. It names a field or key only if that is a literal of
the expression: a computed one may be a secret.

A macro with one variable binds it to an item of a list or a key of a map; with two they are index and item, or key and
value. `all` and `exists` ignore an error if another item decides, as `&&` and `||` do; the others do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitsync.desired.cel.budget import EvaluationBudget
from gitsync.desired.cel.functions.functions import call
from gitsync.desired.cel.functions.operators import NUMBERS, has_key
from gitsync.desired.cel.syntax.syntax_tree import (
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
from gitsync.desired.cel.values import KEYS, NONE, TYPES, MapValue, Optional, name_type
from gitsync.errors import EvaluationError

_MISSING: Final = object()

_KeysAndValues = Iterator[tuple[Any, Any]]


def evaluate(node: ExpressionNode, variables: Mapping[str, Any], budget: EvaluationBudget | None = None) -> Any:
    """Evaluate a tree. `budget` may be shared by several trees; without it the tree has its own.

    Raises EvaluationError, and nothing else, if the tree has no value or takes too much work.
    """
    scope = EvaluationScope(variables, budget or EvaluationBudget())
    try:
        return scope.evaluate(node)
    # The depth of a tree is limited, that of an Azure response is not.
    except RecursionError:
        raise EvaluationError("the expression or its input is nested too deeply") from None


@dataclass(frozen=True, slots=True)
class EvaluationScope:
    """The variables that a part of the expression sees, with their values, and the budget."""

    names: Mapping[str, Any]
    budget: EvaluationBudget

    def evaluate(self, node: ExpressionNode) -> Any:
        """Evaluate a part of the expression; it costs a step."""
        self.budget.step()
        return _NODES[type(node)](node, self)

    def bind(self, names: Iterable[tuple[str, Any]]) -> EvaluationScope:
        """Make a scope with more names, which hide the outer ones."""
        return replace(self, names={**self.names, **dict(names)})


def _require_bool(value: Any, where: str) -> bool:
    """Return a value that must be true or false. Raises EvaluationError for any other."""
    if not isinstance(value, bool):
        raise EvaluationError(f"no such overload: {where}({name_type(value)})")
    return value


def _evaluate_name(node: Ident, scope: EvaluationScope) -> Any:
    if node.name in scope.names:
        return scope.names[node.name]
    if node.name in TYPES:
        return TYPES[node.name]
    raise EvaluationError(f"undeclared reference to '{node.name}'")


def _evaluate_select(node: Select, scope: EvaluationScope) -> Any:
    operand = scope.evaluate(node.operand)
    return _has_field(operand, node.field) if node.test else _select_field(operand, node.field, optional=node.optional)


def _evaluate_index(node: IndexAccess, scope: EvaluationScope) -> Any:
    operand, key = scope.evaluate(node.operand), scope.evaluate(node.key)
    # A computed key may be a secret, which messages must not show.
    shown = str(node.key.value) if isinstance(node.key, Literal) else ""
    return _select_entry(operand, key, optional=node.optional, shown=shown)


def _evaluate_call(node: FunctionCall, scope: EvaluationScope) -> Any:
    parts = (*((node.target,) if node.target is not None else ()), *node.args)
    lazy = _LAZY.get((node.function, len(parts)))
    if lazy is not None:
        return lazy(scope, *parts)
    return call(scope.budget, node.function, [scope.evaluate(part) for part in parts])


def _make_logical(decides: bool, sign: str) -> Callable[[EvaluationScope, ExpressionNode, ExpressionNode], bool]:  # noqa: FBT001 - && and || differ in this alone
    def evaluate_sides(scope: EvaluationScope, left: ExpressionNode, right: ExpressionNode) -> bool:
        try:
            first = _require_bool(scope.evaluate(left), sign)
        except EvaluationError:
            # If one side decides, the other may fail, whichever of them comes first.
            if _require_bool(scope.evaluate(right), sign) == decides:
                return decides
            raise
        return first if first == decides else _require_bool(scope.evaluate(right), sign)

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


def _select_field(operand: Any, field: str, *, optional: bool) -> Any:
    """Evaluate `operand.field` or `operand.?field`. Optional access, and any access to an optional, gives an
    optional.
    """
    if isinstance(operand, Optional):
        return _select_field(operand.value, field, optional=True) if operand.present else NONE
    if optional:
        return Optional(_find_member(operand, field)) if _has_field(operand, field) else NONE
    found = _find_member(operand, field)
    if found is _MISSING:
        raise EvaluationError(f"no such key: {field}")
    return found


def _has_field(operand: Any, field: str) -> bool:
    """Evaluate `has(operand.field)`: a key that is there, or a field that is not its zero value."""
    if isinstance(operand, Optional):
        return operand.present and _has_field(operand.value, field)
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


def _select_entry(operand: Any, key: Any, *, optional: bool, shown: str) -> Any:
    """Evaluate `operand[key]` or `operand[?key]`; `shown` is the key if it is a literal, else empty."""
    if isinstance(operand, Optional):
        return _select_entry(operand.value, key, optional=True, shown=shown) if operand.present else NONE
    found, missing = _find_entry(operand, key)
    if optional:
        return NONE if found is _MISSING else Optional(found)
    if found is _MISSING:
        raise EvaluationError(f"{missing}: {shown}" if shown else missing)
    return found


def _find_entry(operand: Any, key: Any) -> tuple[Any, str]:
    """Find the value of a key, or _MISSING, and the message for a missing one."""
    kinds = name_type(operand), name_type(key)
    match kinds:
        case ("list", "int" | "uint" | "double"):
            if not math.isfinite(key) or key != int(key):
                raise EvaluationError("a list index must be a whole number")
            return operand[int(key)] if 0 <= key < len(operand) else _MISSING, "index out of bounds"
        case ("map", kind) if kind in KEYS or kind in NUMBERS:
            return operand[key] if has_key(operand, key) else _MISSING, "no such key"
    raise EvaluationError(f"no such overload: {kinds[0]}[{kinds[1]}]")


def _iterate_pairs(over: Any) -> _KeysAndValues:
    """Iterate over index and item of a list, or key and value of a map."""
    match name_type(over):
        case "list":
            return enumerate(over)
        case "map":
            return iter(over.items())
        case kind:
            raise EvaluationError(f"no such overload: a macro over {kind}")


def _iterate_rounds(macro: Macro, scope: EvaluationScope, over: Any) -> Iterator[tuple[Any, EvaluationScope]]:
    """Bind the variables to each item in turn; yield its index or key and the scope."""
    of_map = name_type(over) == "map"
    for key, value in _iterate_pairs(over):
        scope.budget.step()
        single = (key,) if of_map else (value,)
        values = (key, value) if len(macro.variables) == 2 else single
        yield key, scope.bind(zip(macro.variables, values, strict=True))


def _filter_rounds(macro: Macro, scope: EvaluationScope, over: Any) -> Iterator[tuple[Any, EvaluationScope]]:
    """Iterate over the rounds that pass the filter, the first of two arguments. With one argument, all."""
    for key, inner in _iterate_rounds(macro, scope, over):
        if len(macro.args) == 1 or _require_bool(inner.evaluate(macro.args[0]), macro.name):
            yield key, inner


def _decide(macro: Macro, scope: EvaluationScope, over: Any, by: bool) -> bool:  # noqa: FBT001 - the two macros differ in this alone
    failure: EvaluationError | None = None
    for _, inner in _iterate_rounds(macro, scope, over):
        try:
            if _require_bool(inner.evaluate(macro.args[0]), macro.name) == by:
                return by
        except EvaluationError as error:
            # An item that decides outweighs the errors of all others, as one side of `&&` or `||` does.
            failure = failure or error
    if failure is not None:
        scope.budget.step()  # fails if the budget is used up: that error is not ignored
        raise failure
    return not by


def _exists_one(macro: Macro, scope: EvaluationScope, over: Any) -> bool:
    truths = (
        _require_bool(inner.evaluate(macro.args[0]), macro.name) for _, inner in _iterate_rounds(macro, scope, over)
    )
    return sum(truths) == 1


def _make_list(macro: Macro, scope: EvaluationScope, over: Any) -> list[Any]:
    return [inner.evaluate(macro.args[-1]) for _, inner in _filter_rounds(macro, scope, over)]


def _merge_maps(macro: Macro, scope: EvaluationScope, over: Any) -> MapValue:
    found: dict[tuple[bool, Any], tuple[Any, Any]] = {}
    for _, inner in _filter_rounds(macro, scope, over):
        for key, value in _iterate_made(inner.evaluate(macro.args[-1]), inner):
            # In Python, True and 1 are one key of a dict, and in CEL they are two.
            if (isinstance(key, bool), key) in found:
                raise EvaluationError("the map has the same key twice")
            found[isinstance(key, bool), key] = (key, value)
    return MapValue(found.values())


def _iterate_made(value: Any, scope: EvaluationScope) -> _KeysAndValues:
    if not isinstance(value, Mapping):
        raise EvaluationError("transformMapEntry: the result is not a map")
    scope.budget.step(len(value))
    return iter(value.items())


def _map_optional(macro: Macro, scope: EvaluationScope, over: Any) -> Any:
    if not isinstance(over, Optional):
        raise EvaluationError(f"no such overload: {name_type(over)}.{macro.name}")
    if not over.present:
        return NONE
    return _bind(macro, scope, over.value)


def _wrap_mapped(macro: Macro, scope: EvaluationScope, over: Any) -> Any:
    found = _map_optional(macro, scope, over)
    return Optional(found) if over.present else NONE


def _require_mapped(macro: Macro, scope: EvaluationScope, over: Any) -> Optional:
    found = _map_optional(macro, scope, over)
    if not isinstance(found, Optional):
        raise EvaluationError("optFlatMap: the result is not an optional")
    return found


def _bind(macro: Macro, scope: EvaluationScope, over: Any) -> Any:
    return scope.bind([(macro.variables[0], over)]).evaluate(macro.args[0])


_MACROS: Final[dict[str, Callable[[Macro, EvaluationScope, Any], Any]]] = {
    "all": lambda macro, scope, over: _decide(macro, scope, over, by=False),
    "exists": lambda macro, scope, over: _decide(macro, scope, over, by=True),
    "exists_one": _exists_one,
    "filter": lambda macro, scope, over: [
        inner.names[macro.variables[0]]
        for _, inner in _iterate_rounds(macro, scope, over)
        if _require_bool(inner.evaluate(macro.args[0]), macro.name)
    ],
    "map": _make_list,
    "transformList": _make_list,
    "transformMap": lambda macro, scope, over: MapValue(
        (key, inner.evaluate(macro.args[-1])) for key, inner in _filter_rounds(macro, scope, over)
    ),
    "transformMapEntry": _merge_maps,
    "optMap": _wrap_mapped,
    "optFlatMap": _require_mapped,
    "bind": _bind,
}

_LAZY: Final[dict[tuple[str, int], Callable[..., Any]]] = {
    ("_&&_", 2): _make_logical(False, "_&&_"),
    ("_||_", 2): _make_logical(True, "_||_"),
    ("_?_:_", 3): lambda scope, condition, then, otherwise: scope.evaluate(
        then if _require_bool(scope.evaluate(condition), "_?_:_") else otherwise
    ),
    ("or", 2): _evaluate_or,
    ("orValue", 2): _evaluate_or_value,
}
"""Operators and methods that decide which of their parts are evaluated, by name and number of parts."""

_NODES: Final[dict[type, Callable[[Any, EvaluationScope], Any]]] = {
    Literal: lambda node, _: node.value,
    Ident: _evaluate_name,
    Select: _evaluate_select,
    IndexAccess: _evaluate_index,
    FunctionCall: _evaluate_call,
    ListOf: _build_list,
    MapOf: lambda node, scope: MapValue(_iterate_entries(node, scope)),
    Macro: lambda macro, scope: _MACROS[macro.name](macro, scope, scope.evaluate(macro.over)),
}
