"""Values that may not be there: `a.?b`, `optional.of(x)`, `o.value()` (CEL's extension for optional values)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from gitsync.cel.values import NONE, Duration, EvaluationError, Optional, name_type

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


def is_zero(value: Any) -> bool:
    """Tell whether a value is the one that its type has where nothing is set."""
    kind = name_type(value)
    if kind == "object":
        return bool(value.is_zero())
    if kind in {"list", "map"}:
        return not value
    return kind in _ZEROS and bool(value == _ZEROS[kind])


def _value(optional: Optional) -> Any:
    if not optional.present:
        raise EvaluationError("optional.none() dereference")
    return optional.value


def _unwrap(items: Sequence[Any]) -> list[Any]:
    if not all(isinstance(item, Optional) for item in items):
        raise EvaluationError("unwrap: the list contains a value that is not optional")
    return [item.value for item in items if item.present]


FUNCTIONS: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    ("optional.none",): lambda: NONE,
    ("optional.of", "any"): Optional,
    ("optional.ofNonZeroValue", "any"): lambda value: NONE if is_zero(value) else Optional(value),
    ("optional.unwrap", "list"): _unwrap,
    ("unwrapOpt", "list"): _unwrap,
    ("first", "list"): lambda items: Optional(items[0]) if items else NONE,
    ("last", "list"): lambda items: Optional(items[-1]) if items else NONE,
    ("hasValue", "optional"): lambda optional: optional.present,
    ("value", "optional"): _value,
}
