"""Values that may not be there: `a.?b`, `optional.of(x)`, `o.value()` (CEL's extension for optional values)."""

from __future__ import annotations

from collections.abc import Callable
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
    "optional": NONE,
}


def is_zero(value: Any) -> bool:
    """Tell whether a value is the one that its type has where nothing is set."""
    kind = name_type(value)
    if kind in {"list", "map", "object"}:
        return not value
    return kind in _ZEROS and bool(value == _ZEROS[kind])


def _value(optional: Optional) -> Any:
    if not optional.present:
        raise EvaluationError("optional.none() dereference")
    return optional.value


FUNCTIONS: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    ("optional.none",): lambda: NONE,
    ("optional.of", "any"): Optional,
    ("optional.ofNonZeroValue", "any"): lambda value: NONE if is_zero(value) else Optional(value),
    ("hasValue", "optional"): lambda optional: optional.present,
    ("value", "optional"): _value,
}
