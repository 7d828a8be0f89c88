"""Operators that reckon: `+ - * / %`, on numbers, and `+` on what can be put together.

Whole numbers have 64 bits, and what does not fit is an error; there is no arithmetic of two types (`1 + 1.0`). Division
drops what is behind the point, and a remainder has the sign of what was divided. Doubles follow IEEE 754.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from gitsync.cel.values import EvaluationError, Uint

SMALLEST_INT: Final = -(2**63)
LARGEST_INT: Final = 2**63 - 1
LARGEST_UINT: Final = 2**64 - 1

Reckon = Callable[[Any, Any], Any]


def check_int(number: int) -> int:
    if not SMALLEST_INT <= number <= LARGEST_INT:
        raise EvaluationError("integer overflow")
    return int(number)


def check_uint(number: int) -> Uint:
    if not 0 <= number <= LARGEST_UINT:
        raise EvaluationError("unsigned integer overflow")
    return Uint(number)


def _quotient(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("division by zero")
    size = abs(left) // abs(right)
    return size if (left < 0) == (right < 0) else -size


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("modulus by zero")
    size = abs(left) % abs(right)
    return -size if left < 0 else size


def _ratio(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def _bounded(reckon: Reckon, bound: Callable[[int], int]) -> Reckon:
    return lambda left, right: bound(reckon(left, right))


def _joined(left: Any, right: Any) -> Any:
    return [*left, *right]


_WHOLE: Final[dict[str, Reckon]] = {
    "_+_": operator.add,
    "_-_": operator.sub,
    "_*_": operator.mul,
    "_/_": _quotient,
    "_%_": _remainder,
}
_DOUBLE: Final[dict[str, Reckon]] = {"_+_": operator.add, "_-_": operator.sub, "_*_": operator.mul, "_/_": _ratio}

FUNCTIONS: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    **{(name, "int", "int"): _bounded(reckon, check_int) for name, reckon in _WHOLE.items()},
    **{(name, "uint", "uint"): _bounded(reckon, check_uint) for name, reckon in _WHOLE.items()},
    **{(name, "double", "double"): reckon for name, reckon in _DOUBLE.items()},
    ("-_", "int"): lambda number: check_int(-number),
    ("-_", "double"): operator.neg,
    ("!_", "bool"): operator.not_,
    ("_+_", "string", "string"): operator.add,
    ("_+_", "bytes", "bytes"): operator.add,
    ("_+_", "list", "list"): _joined,
}
