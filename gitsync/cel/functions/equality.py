"""When two values are equal, and which is the smaller (cel-spec, "Equality" and "Ordering").

Numbers compare as points on one line, whatever their types, and `1 == 1.0 == 1u`; but true is no number. Values of
different types are not equal, and that is no error. NaN equals nothing, itself included, in lists too.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gitsync.cel.budget import Budget
from gitsync.cel.values import EvaluationError, Optional, kind_of

NUMBERS: Final = ("int", "uint", "double")

Compare = Callable[[Budget, Any, Any], bool]


def equal(budget: Budget, left: Any, right: Any) -> bool:
    """Tell whether two values are equal; each item that is looked at costs a step."""
    budget.step()
    kind, other = kind_of(left), kind_of(right)
    if kind in NUMBERS and other in NUMBERS:
        return bool(left == right)
    if kind != other:
        return False
    return _EQUAL.get(kind, _plain)(budget, left, right)


def _plain(_budget: Budget, left: Any, right: Any) -> bool:
    return bool(left == right)


def _text(budget: Budget, left: Any, right: Any) -> bool:
    if len(left) != len(right):
        return False
    budget.characters(len(left))
    return bool(left == right)


def _lists(budget: Budget, left: Sequence[Any], right: Sequence[Any]) -> bool:
    return len(left) == len(right) and all(equal(budget, a, b) for a, b in zip(left, right, strict=True))


def _maps(budget: Budget, left: Mapping[Any, Any], right: Mapping[Any, Any]) -> bool:
    if len(left) != len(right):
        return False
    return all(holds(right, key) and equal(budget, value, right[key]) for key, value in left.items())


def _optionals(budget: Budget, left: Optional, right: Optional) -> bool:
    if not (left.present and right.present):
        return left.present == right.present
    return equal(budget, left.value, right.value)


_EQUAL: Final[dict[str, Compare]] = {
    "string": _text,
    "bytes": _text,
    "list": _lists,
    "map": _maps,
    "optional": _optionals,
}


def holds(mapping: Mapping[Any, Any], key: Any) -> bool:
    """Tell whether a map has a key. A plain dict has strings for keys, and so no others are looked for in it."""
    if type(mapping) is dict and not isinstance(key, str):
        return False
    return key in mapping


def unequal(budget: Budget, left: Any, right: Any) -> bool:
    return not equal(budget, left, right)


def within(budget: Budget, item: Any, container: Any) -> bool:
    """`item in container`: an item of a list, or a key of a map."""
    match kind_of(container):
        case "list":
            return any(equal(budget, item, other) for other in container)
        case "map" if kind_of(item) in {*NUMBERS, "bool", "string"}:
            return holds(container, item)
    raise EvaluationError(f"no such overload: in({kind_of(item)}, {kind_of(container)})")


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compared(left: Any, right: Any) -> bool:
        if any(isinstance(side, float) and math.isnan(side) for side in (left, right)):
            raise EvaluationError("NaN values cannot be ordered")
        return compare(left, right)

    return compared


_ORDER: Final = {"_<_": operator.lt, "_<=_": operator.le, "_>_": operator.gt, "_>=_": operator.ge}
_ORDERED_KINDS: Final = (
    *((left, right) for left in NUMBERS for right in NUMBERS),
    *((kind, kind) for kind in ("bool", "string", "bytes", "timestamp", "duration")),
)

FUNCTIONS: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    (name, *kinds): _ordered(compare) for name, compare in _ORDER.items() for kinds in _ORDERED_KINDS
}

MEASURED: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    ("_==_", "any", "any"): equal,
    ("_!=_", "any", "any"): unequal,
    ("@in", "any", "any"): within,
}
