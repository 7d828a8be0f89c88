"""Functions that ASO's own expressions do not have, and that CEL's libraries offer: base64, least and greatest, sets.

Each works as in cel-go's `ext`. Lists are sets here: neither order nor repetition counts.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, Final

from gitsync.cel.budget import EvaluationBudget
from gitsync.cel.functions.equality import FUNCTIONS as ORDER
from gitsync.cel.functions.equality import NUMBERS, contains
from gitsync.cel.values import EvaluationError, name_type


def _decode(text: str) -> bytes:
    """Read base64, with or without the padding at its end."""
    bare = text.rstrip("=")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise EvaluationError("base64.decode: the text is not base64") from None


def find_extreme(name: str, values: Sequence[Any]) -> Any:
    """`math.least` or `math.greatest` of some numbers, or of one list of them."""
    numbers = values[0] if len(values) == 1 and name_type(values[0]) == "list" else values
    if not numbers:
        raise EvaluationError(f"{name}: there is no number to choose from")
    if any(name_type(number) not in NUMBERS for number in numbers):
        raise EvaluationError(f"no such overload: {name}({', '.join(map(name_type, numbers))})")
    before = ORDER["_<_" if name == "math.least" else "_>_", "double", "double"]
    chosen, *others = numbers
    for number in others:
        chosen = number if before(number, chosen) else chosen
    return chosen


def _contains(budget: EvaluationBudget, whole: Sequence[Any], part: Sequence[Any]) -> bool:
    return all(contains(budget, item, whole) for item in part)


def _equivalent(budget: EvaluationBudget, one: Sequence[Any], other: Sequence[Any]) -> bool:
    return _contains(budget, one, other) and _contains(budget, other, one)


def _intersects(budget: EvaluationBudget, one: Sequence[Any], other: Sequence[Any]) -> bool:
    return any(contains(budget, item, other) for item in one)


FUNCTIONS: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    ("base64.encode", "bytes"): lambda raw: base64.b64encode(raw).decode(),
    ("base64.decode", "string"): _decode,
}

MEASURED: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    ("sets.contains", "list", "list"): _contains,
    ("sets.equivalent", "list", "list"): _equivalent,
    ("sets.intersects", "list", "list"): _intersects,
}
