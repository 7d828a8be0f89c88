"""Calls functions and operators by their name and the types of their arguments; and defines the libraries that are too
small for a module: optional values, and base64, math and sets, which ASO does not have.

`evaluate` has the operators that do not need all of their operands (`&&`, `||`, `? :`, `or`). Each library works as in
cel-go's `ext`.
"""

from __future__ import annotations

import base64
import binascii
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from gitsync.desired.cel.budget import EvaluationBudget
from gitsync.desired.cel.functions import (
    conversions,
    format,  # noqa: A004 - the module has the name of its function
    matching,
    operators,
    resource_id,
    strings,
    times,
)
from gitsync.desired.cel.functions.operators import NUMBERS, contains
from gitsync.desired.cel.values import NONE, Duration, Optional, name_type
from gitsync.errors import EvaluationError

_ZEROS: Final[dict[str, Any]] = {
    "null_type": None,
    "bool": False,
    "int": 0,
    "uint": 0,
    "double": 0.0,
    "string": "",
    "bytes": b"",
    "duration": Duration(0),
}
"""The zero value of each type."""

OverloadKey = tuple[str, ...]
"""A name, then the kind of each argument, or "any" for all of them."""

_OF_MANY: Final = frozenset({"math.greatest", "math.least"})


def call(budget: EvaluationBudget, name: str, args: list[Any]) -> Any:
    """Call a function; the target of a method is its first argument.

    Raises EvaluationError if there is no function for the types of the arguments, and if the function fails.
    """
    for value in args:
        budget.charge_value(value)
    result = _call_overload(budget, name, args)
    budget.charge_value(result)
    return result


def _call_overload(budget: EvaluationBudget, name: str, args: list[Any]) -> Any:
    if name in _OF_MANY:
        return _choose_extreme(name, args)
    exact = (name, *map(name_type, args))
    # The exact types come first: an overload for "any" is for all others.
    for key in (exact, (name, *("any",) * len(args))):
        if key in _PLAIN:
            return _PLAIN[key](*args)
        if key in _MEASURED:
            return _MEASURED[key](budget, *args)
    raise EvaluationError(f"no such overload: {name}({', '.join(exact[1:])})")


def is_zero(value: Any) -> bool:
    """Return whether a value is the zero value of its type."""
    kind = name_type(value)
    if kind == "object":
        return bool(value.is_zero())
    if kind in {"list", "map"}:
        return not value
    return kind in _ZEROS and bool(value == _ZEROS[kind])


def _require_value(optional: Optional) -> Any:
    if not optional.present:
        raise EvaluationError("optional.none() dereference")
    return optional.value


def _unwrap(items: Sequence[Any]) -> list[Any]:
    if not all(isinstance(item, Optional) for item in items):
        raise EvaluationError("unwrap: the list contains a value that is not optional")
    return [item.value for item in items if item.present]


def _decode_base64(text: str) -> bytes:
    """Read base64, with or without the padding at its end."""
    # Go's decoder takes both forms, and Python's demands the padding.
    bare = text.rstrip("=")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise EvaluationError("base64.decode: the text is not base64") from None


def _choose_extreme(name: str, values: Sequence[Any]) -> Any:
    """Choose the `math.least` or `math.greatest` of some numbers, or of one list of them."""
    numbers = values[0] if len(values) == 1 and name_type(values[0]) == "list" else values
    if not numbers:
        raise EvaluationError(f"{name}: the list of numbers is empty")
    if any(name_type(number) not in NUMBERS for number in numbers):
        raise EvaluationError(f"no such overload: {name}({', '.join(map(name_type, numbers))})")
    is_before = operator.lt if name == "math.least" else operator.gt
    chosen, *others = numbers
    for number in others:
        chosen = number if is_before(number, chosen) else chosen
    return chosen


def _contains_all(budget: EvaluationBudget, elements: Sequence[Any], part: Sequence[Any]) -> bool:
    return all(contains(budget, item, elements) for item in part)


_PLAIN: Final[dict[OverloadKey, Callable[..., Any]]] = {
    ("size", "list"): len,
    ("size", "map"): len,
    **operators.FUNCTIONS,
    **conversions.FUNCTIONS,
    **times.FUNCTIONS,
    **strings.FUNCTIONS,
    ("optional.none",): lambda: NONE,
    ("optional.of", "any"): Optional,
    ("optional.ofNonZeroValue", "any"): lambda value: NONE if is_zero(value) else Optional(value),
    ("optional.unwrap", "list"): _unwrap,
    ("unwrapOpt", "list"): _unwrap,
    ("first", "list"): lambda items: Optional(items[0]) if items else NONE,
    ("last", "list"): lambda items: Optional(items[-1]) if items else NONE,
    ("hasValue", "optional"): lambda optional: optional.present,
    ("value", "optional"): _require_value,
    ("base64.encode", "bytes"): lambda raw: base64.b64encode(raw).decode(),
    ("base64.decode", "string"): _decode_base64,
}
_MEASURED: Final[dict[OverloadKey, Callable[..., Any]]] = {
    **operators.MEASURED,
    **strings.MEASURED,
    **format.MEASURED,
    **matching.MEASURED,
    **resource_id.MEASURED,
    # Lists are sets here: neither order nor repetition counts.
    ("sets.contains", "list", "list"): _contains_all,
    ("sets.equivalent", "list", "list"): lambda budget, first, other: (
        _contains_all(budget, first, other) and _contains_all(budget, other, first)
    ),
    ("sets.intersects", "list", "list"): lambda budget, first, other: any(
        contains(budget, item, other) for item in first
    ),
}
"""Functions that get the budget, since they can do much work for little text."""


NAMES: Final = frozenset(key[0] for key in (*_PLAIN, *_MEASURED)) | _OF_MANY
"""Every function and operator that `call` supports."""
