"""Evaluates operators: `+ - * / %` on numbers, and `+` on values that can be concatenated; `== != < <= > >= in` on all
values.

Whole numbers have 64 bits, and an overflow is an error; there is no arithmetic with two types (`1 + 1.0`). Division
truncates towards zero, and a remainder has the sign of the dividend. Doubles follow IEEE 754.

Numbers of all types compare by value, so `1 == 1.0 == 1u`; but true is not a number. Comparing values of different
types gives false, not an error. NaN equals nothing, not even itself, in lists too (cel-spec, "Equality" and
"Ordering").
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from gitsync.desired.cel.budget import EvaluationBudget
from gitsync.desired.cel.values import KEYS, Optional, Uint, name_type
from gitsync.errors import EvaluationError

SMALLEST_INT: Final = -(2**63)
LARGEST_INT: Final = 2**63 - 1
LARGEST_UINT: Final = 2**64 - 1
NUMBERS: Final = ("int", "uint", "double")

Calculate = Callable[[Any, Any], Any]
Compare = Callable[[EvaluationBudget, Any, Any], bool]
_ORDER: Final = {"_<_": operator.lt, "_<=_": operator.le, "_>_": operator.gt, "_>=_": operator.ge}
_ORDERED_KINDS: Final = (
    *((left, right) for left in NUMBERS for right in NUMBERS),
    *((kind, kind) for kind in ("bool", "string", "bytes", "timestamp", "duration")),
)


def check_int(number: int) -> int:
    if not SMALLEST_INT <= number <= LARGEST_INT:
        raise EvaluationError("integer overflow")
    return int(number)


def check_uint(number: int) -> Uint:
    if not 0 <= number <= LARGEST_UINT:
        raise EvaluationError("unsigned integer overflow")
    return Uint(number)


def _divide(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("division by zero")
    size = abs(left) // abs(right)
    # Python's `//` rounds towards minus infinity, and Go's towards zero.
    return size if (left < 0) == (right < 0) else -size


def _take_remainder(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("modulus by zero")
    # Python's `%` takes the sign of the divisor, and Go's that of the dividend.
    size = abs(left) % abs(right)
    return -size if left < 0 else size


def _divide_doubles(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    # Python raises an error for a division by zero, where IEEE 754 has an infinity with a sign.
    return math.copysign(math.inf, left) * math.copysign(1, right)


def _bound_result(calculate: Calculate, bound: Callable[[int], int]) -> Calculate:
    return lambda left, right: bound(calculate(left, right))


def is_equal(budget: EvaluationBudget, left: Any, right: Any) -> bool:
    """Return whether two values are equal; each compared item costs a step."""
    budget.step()
    kind, other = name_type(left), name_type(right)
    if kind in NUMBERS and other in NUMBERS:
        return bool(left == right)
    if kind != other:
        return False
    compare = _EQUAL.get(kind)
    return compare(budget, left, right) if compare else bool(left == right)


def _compare_texts(budget: EvaluationBudget, left: Any, right: Any) -> bool:
    # Texts of other lengths differ at no cost, and only a comparison letter by letter is charged.
    if len(left) != len(right):
        return False
    budget.charge_characters(len(left))
    return bool(left == right)


def _compare_optionals(budget: EvaluationBudget, left: Optional, right: Optional) -> bool:
    if not (left.present and right.present):
        return left.present == right.present
    return is_equal(budget, left.value, right.value)


_EQUAL: Final[dict[str, Compare]] = {
    "string": _compare_texts,
    "bytes": _compare_texts,
    "list": lambda budget, left, right: (
        len(left) == len(right) and all(is_equal(budget, a, b) for a, b in zip(left, right, strict=True))
    ),
    "map": lambda budget, left, right: (
        len(left) == len(right)
        and all(has_key(right, key) and is_equal(budget, value, right[key]) for key, value in left.items())
    ),
    "optional": _compare_optionals,
}


def has_key(mapping: Mapping[Any, Any], key: Any) -> bool:
    """Return whether a map has a key. A plain dict has string keys, so it has no other key."""
    if type(mapping) is dict and not isinstance(key, str):
        return False
    return key in mapping


def is_unequal(budget: EvaluationBudget, left: Any, right: Any) -> bool:
    return not is_equal(budget, left, right)


def contains(budget: EvaluationBudget, item: Any, container: Any) -> bool:
    """Return whether `item in container`: an item of a list, or a key of a map."""
    match name_type(container):
        case "list":
            return any(is_equal(budget, item, other) for other in container)
        case "map":
            return name_type(item) in KEYS and has_key(container, item)
        case _:
            pass
    raise EvaluationError(f"no such overload: in({name_type(item)}, {name_type(container)})")


_INTEGERS: Final[dict[str, Calculate]] = {
    "_+_": operator.add,
    "_-_": operator.sub,
    "_*_": operator.mul,
    "_/_": _divide,
    "_%_": _take_remainder,
}
_DOUBLE: Final[dict[str, Calculate]] = {
    "_+_": operator.add,
    "_-_": operator.sub,
    "_*_": operator.mul,
    "_/_": _divide_doubles,
}


FUNCTIONS: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    **{(name, "int", "int"): _bound_result(calculate, check_int) for name, calculate in _INTEGERS.items()},
    **{(name, "uint", "uint"): _bound_result(calculate, check_uint) for name, calculate in _INTEGERS.items()},
    **{(name, "double", "double"): calculate for name, calculate in _DOUBLE.items()},
    ("-_", "int"): lambda number: check_int(-number),
    ("-_", "double"): operator.neg,
    ("!_", "bool"): operator.not_,
    ("_+_", "string", "string"): operator.add,
    ("_+_", "bytes", "bytes"): operator.add,
    ("_+_", "list", "list"): lambda left, right: [*left, *right],
    **{(name, *kinds): compare for name, compare in _ORDER.items() for kinds in _ORDERED_KINDS},
}

MEASURED: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    ("_==_", "any", "any"): is_equal,
    ("_!=_", "any", "any"): is_unequal,
    ("@in", "any", "any"): contains,
}
