"""What macros bind their variables to, and what comes of them, in types (CEL's language definition, "Macros").

Apart from the checker as the table of one column more: macros differ in this alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitsync.cel.types.inference import Inference
from gitsync.cel.types.types import BOOL, DYN, INT, Type, list_of, map_of, optional_of


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a macro asks of its arguments, and what it gives."""

    wanted: tuple[Type, ...]
    gives: Type


def bound(name: str, over: Type, count: int, inference: Inference) -> tuple[Type, ...] | None:
    """The types of a macro's variables; None where it cannot work on what it stands on. One variable is an item of a
    list or a key of a map; two are position and item, or key and value.
    """
    if name == "bind":
        return (over,)
    if over == DYN or over.is_param:
        return (DYN,) * count
    if name in {"optMap", "optFlatMap"}:
        return over.params if over.name == "optional_type" else None
    params = tuple(map(inference.resolved, over.params))
    pairs = {"list": (INT, *params), "map": params}
    pair = pairs.get(over.name)
    if pair is None:
        return None
    if count == 2:
        return pair
    return pair[1:] if over.name == "list" else pair[:1]


def made(name: str, variables: Sequence[Type], args: Sequence[Type]) -> Outcome:
    """What a macro asks of arguments that have these types, and what it gives."""
    last = args[-1]
    condition = (BOOL,) * (len(args) - 1)
    match name:
        case "all" | "exists" | "exists_one":
            return Outcome((BOOL,), BOOL)
        case "filter":
            return Outcome((BOOL,), list_of(variables[0]))
        case "map" | "transformList":
            return Outcome((*condition, last), list_of(last))
        case "transformMap":
            key = variables[0]
            return Outcome((*condition, last), map_of(key, last))
        case "transformMapEntry":
            return Outcome((*condition, map_of(DYN, DYN)), last)
        case "optMap":
            return Outcome((last,), optional_of(last))
        case "optFlatMap":
            return Outcome((optional_of(DYN),), last)
        case _:  # bind: its body is what it is
            return Outcome((last,), last)
