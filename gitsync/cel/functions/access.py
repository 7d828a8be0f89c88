"""Access to values: a field of an object or a map, an entry by its key, an item by its index.

Optional access returns an optional, which is none if there is no value; so does every further access to an optional.
Messages name a field or key only if it is a literal of the expression: a computed one may be a secret.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gitsync.cel.functions.equality import NUMBERS, has_key
from gitsync.cel.values import KEYS, NONE, EvaluationError, Optional, name_type

_MISSING = object()


def select_field(operand: Any, field: str, *, optional: bool) -> Any:
    """`operand.field`, `operand.?field`."""
    if isinstance(operand, Optional):
        return select_field(operand.value, field, optional=True) if operand.present else NONE
    if optional:
        return Optional(_member(operand, field)) if has(operand, field) else NONE
    found = _member(operand, field)
    if found is _MISSING:
        raise EvaluationError(f"no such key: {field}")
    return found


def has(operand: Any, field: str) -> bool:
    """`has(operand.field)`: a key that is there, or a field that is not its zero value."""
    if isinstance(operand, Optional):
        return operand.present and has(operand.value, field)
    match name_type(operand):
        case "map":
            return field in operand
        case "object":
            return bool(operand.has(field))
        case _:
            return False


def _member(operand: Any, field: str) -> Any:
    match name_type(operand):
        case "map":
            return operand.get(field, _MISSING)
        case "object":
            return operand.member(field)
        case _:
            return _MISSING


def select_entry(operand: Any, key: Any, *, optional: bool, shown: str) -> Any:
    """`operand[key]`, `operand[?key]`; `shown` is the key as the expression says it, or empty."""
    if isinstance(operand, Optional):
        return select_entry(operand.value, key, optional=True, shown=shown) if operand.present else NONE
    found, missing = _entry(operand, key)
    if optional:
        return NONE if found is _MISSING else Optional(found)
    if found is _MISSING:
        raise EvaluationError(f"{missing}: {shown}" if shown else missing)
    return found


def _entry(operand: Any, key: Any) -> tuple[Any, str]:
    """What is under a key, or _MISSING, and what to say then."""
    kinds = name_type(operand), name_type(key)
    match kinds:
        case ("list", "int" | "uint" | "double"):
            return _item(operand, key), "index out of bounds"
        case ("map", kind) if kind in KEYS or kind in NUMBERS:
            return _value(operand, key), "no such key"
    raise EvaluationError(f"no such overload: {kinds[0]}[{kinds[1]}]")


def _item(items: Sequence[Any], place: float) -> Any:
    if not math.isfinite(place) or place != int(place):
        raise EvaluationError("an index of a list is a whole number")
    return items[int(place)] if 0 <= place < len(items) else _MISSING


def _value(mapping: Mapping[Any, Any], key: Any) -> Any:
    return mapping[key] if has_key(mapping, key) else _MISSING
