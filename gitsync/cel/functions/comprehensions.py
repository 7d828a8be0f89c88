"""Evaluates macros: what `all`, `filter`, `transformMap` and the others make of a list or a map.

With one variable it is an item of a list or a key of a map; with two it is index and item, or key and value. `all` and
`exists` forget an error if another item decides, as `&&` and `||` do; the others do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gitsync.cel.scope import EvaluationScope, require_bool
from gitsync.cel.syntax.tree import Macro
from gitsync.cel.values import NONE, MapValue, Optional, name_type
from gitsync.errors import EvaluationError

_KeysAndValues = Iterator[tuple[Any, Any]]


def expand(macro: Macro, scope: EvaluationScope) -> Any:
    """Evaluate a macro. Raises EvaluationError where it goes over something that has no items."""
    return _MACROS[macro.name](macro, scope, scope.evaluate(macro.over))


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
    """Iterate over the rounds that a filter lets through: the first of two arguments. With one argument, all."""
    for key, inner in _iterate_rounds(macro, scope, over):
        if len(macro.args) == 1 or require_bool(inner.evaluate(macro.args[0]), macro.name):
            yield key, inner


def _decide(macro: Macro, scope: EvaluationScope, over: Any, by: bool) -> bool:  # noqa: FBT001 - the two macros differ in this alone
    failure: EvaluationError | None = None
    for _, inner in _iterate_rounds(macro, scope, over):
        try:
            if require_bool(inner.evaluate(macro.args[0]), macro.name) == by:
                return by
        except EvaluationError as error:
            failure = failure or error
    if failure is not None:
        scope.budget.step()  # fails if the failure is the budget's own: that one is not forgotten
        raise failure
    return not by


def _exists_one(macro: Macro, scope: EvaluationScope, over: Any) -> bool:
    truths = (
        require_bool(inner.evaluate(macro.args[0]), macro.name) for _, inner in _iterate_rounds(macro, scope, over)
    )
    return sum(truths) == 1


def _filter(macro: Macro, scope: EvaluationScope, over: Any) -> list[Any]:
    rounds = _iterate_rounds(macro, scope, over)
    variable = macro.variables[0]
    return [inner.names[variable] for _, inner in rounds if require_bool(inner.evaluate(macro.args[0]), macro.name)]


def _make_list(macro: Macro, scope: EvaluationScope, over: Any) -> list[Any]:
    return [inner.evaluate(macro.args[-1]) for _, inner in _filter_rounds(macro, scope, over)]


def _merge_maps(macro: Macro, scope: EvaluationScope, over: Any) -> MapValue:
    found: dict[tuple[bool, Any], tuple[Any, Any]] = {}
    for _, inner in _filter_rounds(macro, scope, over):
        for key, value in _iterate_entries(inner.evaluate(macro.args[-1]), inner):
            if (isinstance(key, bool), key) in found:
                raise EvaluationError("the same key is in a map twice")
            found[isinstance(key, bool), key] = (key, value)
    return MapValue(found.values())


def _iterate_entries(value: Any, scope: EvaluationScope) -> _KeysAndValues:
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
    "filter": _filter,
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
