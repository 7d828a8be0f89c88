"""Every function and operator by its name and the types of its arguments, and how one is called.

Operators that do not work out all of their sides (`&&`, `||`, `? :`, `or`) are the evaluator's business. A function of
the second table is given the budget, since it can do much work for little text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from gitsync.cel import optionals
from gitsync.cel.budget import EvaluationBudget
from gitsync.cel.functions import (
    arithmetic,
    conversions,
    equality,
    format,  # noqa: A004 - the module is named after the function that it is about
    further,
    matching,
    resource_id,
    strings,
    times,
)
from gitsync.cel.values import EvaluationError, name_type

OverloadKey = tuple[str, ...]
"""A name, then the kind of each argument, or "any" for all of them."""

_PLAIN: Final[dict[OverloadKey, Callable[..., Any]]] = {
    ("size", "list"): len,
    ("size", "map"): len,
    **arithmetic.FUNCTIONS,
    **equality.FUNCTIONS,
    **conversions.FUNCTIONS,
    **times.FUNCTIONS,
    **strings.FUNCTIONS,
    **optionals.FUNCTIONS,
    **further.FUNCTIONS,
}
_MEASURED: Final[dict[OverloadKey, Callable[..., Any]]] = {
    **equality.MEASURED,
    **strings.MEASURED,
    **format.MEASURED,
    **matching.MEASURED,
    **resource_id.MEASURED,
    **further.MEASURED,
}
_OF_MANY: Final = frozenset({"math.greatest", "math.least"})

NAMES: Final = frozenset(key[0] for key in (*_PLAIN, *_MEASURED)) | _OF_MANY
"""Every function and operator that `call` knows."""


def call(budget: EvaluationBudget, name: str, args: list[Any]) -> Any:
    """Call a function; the target of a method is its first argument.

    Raises EvaluationError where there is no function for the types of the arguments, and whatever the function refuses.
    """
    for value in args:
        budget.weigh(value)
    result = _called(budget, name, args)
    budget.weigh(result)
    return result


def _called(budget: EvaluationBudget, name: str, args: list[Any]) -> Any:
    if name in _OF_MANY:
        return further.find_extreme(name, args)
    exact = (name, *map(name_type, args))
    for key in (exact, (name, *("any",) * len(args))):
        if key in _PLAIN:
            return _PLAIN[key](*args)
        if key in _MEASURED:
            return _MEASURED[key](budget, *args)
    raise EvaluationError(f"no such overload: {name}({', '.join(exact[1:])})")
