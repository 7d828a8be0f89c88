"""Macros at work: what `all`, `filter`, `transformMap` and the others make of a list or a map.

With one variable it is an item of a list or a key of a map; with two it is place and item, or key and value. `all` and
`exists` forget an error if another item decides, as `&&` and `||` do; the others do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gitsync.cel.scope import EvaluationScope, require_bool
from gitsync.cel.syntax.tree import Macro
from gitsync.cel.values import NONE, EvaluationError, MapValue, Optional, name_type

_Pairs = Iterator[tuple[Any, Any]]


def expand(macro: Macro, scope: EvaluationScope) -> Any:
    """What comes of a macro. Raises EvaluationError where it goes over something that has no items."""
    return _MACROS[macro.name](macro, scope, scope.value(macro.over))


def _pairs(over: Any) -> _Pairs:
    """Place and item, or key and value."""
    match name_type(over):
        case "list":
            return enumerate(over)
        case "map":
            return iter(over.items())
        case kind:
            raise EvaluationError(f"no such overload: a macro over {kind}")


def _rounds(macro: Macro, scope: EvaluationScope, over: Any) -> Iterator[tuple[Any, EvaluationScope]]:
    """The variables of each item in turn, with its index or key."""
    of_map = name_type(over) == "map"
    for key, value in _pairs(over):
        scope.budget.step()
        single = (key,) if of_map else (value,)
        values = (key, value) if len(macro.variables) == 2 else single
        yield key, scope.bound(zip(macro.variables, values, strict=True))


def _chosen(macro: Macro, scope: EvaluationScope, over: Any) -> Iterator[tuple[Any, EvaluationScope]]:
    """The rounds that a filter lets through: the first of two arguments. With one argument, all."""
    for key, inner in _rounds(macro, scope, over):
        if len(macro.args) == 1 or require_bool(inner.value(macro.args[0]), macro.name):
            yield key, inner


def _decided(macro: Macro, scope: EvaluationScope, over: Any, by: bool) -> bool:  # noqa: FBT001 - the two macros differ in this alone
    failure: EvaluationError | None = None
    for _, inner in _rounds(macro, scope, over):
        try:
            if require_bool(inner.value(macro.args[0]), macro.name) == by:
                return by
        except EvaluationError as error:
            failure = failure or error
    if failure is not None:
        scope.budget.step()
        raise failure
    return not by


def _exists_one(macro: Macro, scope: EvaluationScope, over: Any) -> bool:
    return sum(require_bool(inner.value(macro.args[0]), macro.name) for _, inner in _rounds(macro, scope, over)) == 1


def _filter(macro: Macro, scope: EvaluationScope, over: Any) -> list[Any]:
    rounds = _rounds(macro, scope, over)
    variable = macro.variables[0]
    return [inner.names[variable] for _, inner in rounds if require_bool(inner.value(macro.args[0]), macro.name)]


def _list(macro: Macro, scope: EvaluationScope, over: Any) -> list[Any]:
    return [inner.value(macro.args[-1]) for _, inner in _chosen(macro, scope, over)]


def _map(macro: Macro, scope: EvaluationScope, over: Any) -> MapValue:
    return MapValue((key, inner.value(macro.args[-1])) for key, inner in _chosen(macro, scope, over))


def _map_entry(macro: Macro, scope: EvaluationScope, over: Any) -> MapValue:
    found: dict[tuple[bool, Any], tuple[Any, Any]] = {}
    for _, inner in _chosen(macro, scope, over):
        for key, value in _entries(inner.value(macro.args[-1]), inner):
            if (isinstance(key, bool), key) in found:
                raise EvaluationError("the same key is in a map twice")
            found[isinstance(key, bool), key] = (key, value)
    return MapValue(found.values())


def _entries(value: Any, scope: EvaluationScope) -> _Pairs:
    if not isinstance(value, Mapping):
        raise EvaluationError("transformMapEntry: the result is not a map")
    scope.budget.step(len(value))
    return iter(value.items())


def _optional(macro: Macro, scope: EvaluationScope, over: Any) -> Any:
    if not isinstance(over, Optional):
        raise EvaluationError(f"no such overload: {name_type(over)}.{macro.name}")
    if not over.present:
        return NONE
    return _bind(macro, scope, over.value)


def _opt_map(macro: Macro, scope: EvaluationScope, over: Any) -> Any:
    found = _optional(macro, scope, over)
    return Optional(found) if over.present else NONE


def _opt_flat_map(macro: Macro, scope: EvaluationScope, over: Any) -> Optional:
    found = _optional(macro, scope, over)
    if not isinstance(found, Optional):
        raise EvaluationError("optFlatMap: the result is not an optional")
    return found


def _bind(macro: Macro, scope: EvaluationScope, over: Any) -> Any:
    return scope.bound([(macro.variables[0], over)]).value(macro.args[0])


_MACROS: Final[dict[str, Callable[[Macro, EvaluationScope, Any], Any]]] = {
    "all": lambda macro, scope, over: _decided(macro, scope, over, by=False),
    "exists": lambda macro, scope, over: _decided(macro, scope, over, by=True),
    "exists_one": _exists_one,
    "filter": _filter,
    "map": _list,
    "transformList": _list,
    "transformMap": _map,
    "transformMapEntry": _map_entry,
    "optMap": _opt_map,
    "optFlatMap": _opt_flat_map,
    "bind": _bind,
}
