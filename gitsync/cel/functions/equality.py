"""When two values are equal, and which is the smaller (cel-spec, "Equality" and "Ordering").

Numbers compare as points on one line, whatever their types, and `1 == 1.0 == 1u`; but true is no number. Values of
different types are not equal, and that is no error. NaN equals nothing, itself included, in lists too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gitsync.cel.budget import EvaluationBudget
from gitsync.cel.values import KEYS, EvaluationError, Optional, name_type

NUMBERS: Final = ("int", "uint", "double")

Compare = Callable[[EvaluationBudget, Any, Any], bool]


def is_equal(budget: EvaluationBudget, left: Any, right: Any) -> bool:
    """Tell whether two values are equal; each item that is looked at costs a step."""
    budget.step()
    kind, other = name_type(left), name_type(right)
    if kind in NUMBERS and other in NUMBERS:
        return bool(left == right)
    if kind != other:
        return False
    return _EQUAL.get(kind, _plain)(budget, left, right)


def _plain(_budget: EvaluationBudget, left: Any, right: Any) -> bool:
    return bool(left == right)


def _text(budget: EvaluationBudget, left: Any, right: Any) -> bool:
    if len(left) != len(right):
        return False
    budget.characters(len(left))
    return bool(left == right)


def _lists(budget: EvaluationBudget, left: Sequence[Any], right: Sequence[Any]) -> bool:
    return len(left) == len(right) and all(is_equal(budget, a, b) for a, b in zip(left, right, strict=True))


def _maps(budget: EvaluationBudget, left: Mapping[Any, Any], right: Mapping[Any, Any]) -> bool:
    if len(left) != len(right):
        return False
    return all(has_key(right, key) and is_equal(budget, value, right[key]) for key, value in left.items())


def _optionals(budget: EvaluationBudget, left: Optional, right: Optional) -> bool:
    if not (left.present and right.present):
        return left.present == right.present
    return is_equal(budget, left.value, right.value)


_EQUAL: Final[dict[str, Compare]] = {
    "string": _text,
    "bytes": _text,
    "list": _lists,
    "map": _maps,
    "optional": _optionals,
}


def has_key(mapping: Mapping[Any, Any], key: Any) -> bool:
    """Tell whether a map has a key. A plain dict has strings for keys, and so no others are looked for in it."""
    if type(mapping) is dict and not isinstance(key, str):
        return False
    return key in mapping


def is_unequal(budget: EvaluationBudget, left: Any, right: Any) -> bool:
    return not is_equal(budget, left, right)


def contains(budget: EvaluationBudget, item: Any, container: Any) -> bool:
    """`item in container`: an item of a list, or a key of a map."""
    match name_type(container):
        case "list":
            return any(is_equal(budget, item, other) for other in container)
        case "map":
            return name_type(item) in KEYS and has_key(container, item)
        case _:
            pass
    raise EvaluationError(f"no such overload: in({name_type(item)}, {name_type(container)})")


_ORDER: Final = {"_<_": operator.lt, "_<=_": operator.le, "_>_": operator.gt, "_>=_": operator.ge}
_ORDERED_KINDS: Final = (
    *((left, right) for left in NUMBERS for right in NUMBERS),
    *((kind, kind) for kind in ("bool", "string", "bytes", "timestamp", "duration")),
)

FUNCTIONS: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    (name, *kinds): compare for name, compare in _ORDER.items() for kinds in _ORDERED_KINDS
}

MEASURED: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    ("_==_", "any", "any"): is_equal,
    ("_!=_", "any", "any"): is_unequal,
    ("@in", "any", "any"): contains,
}
