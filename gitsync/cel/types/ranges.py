"""What macros bind their variables to, and what comes of them, in types (CEL's language definition, "Macros").

Apart from the checker as the table of one column more: macros differ in this alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitsync.cel.types.inference import Inference
from gitsync.cel.types.types import BOOL, DYN, INT, Type, make_list_type, make_map_type, make_optional_type


@dataclass(frozen=True, slots=True)
class MacroTypes:
    """What a macro asks of its arguments, and what it gives."""

    wanted: tuple[Type, ...]
    gives: Type


def bind_types(name: str, over: Type, count: int, inference: Inference) -> tuple[Type, ...] | None:
    """The types of a macro's variables; None if it does not support the type of its target. One variable is an
    item of a list or a key of a map; two are position and item, or key and value.
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


def infer_macro(name: str, variables: Sequence[Type], args: Sequence[Type]) -> MacroTypes:
    """What a macro asks of arguments that have these types, and what it gives."""
    last = args[-1]
    condition = (BOOL,) * (len(args) - 1)
    match name:
        case "all" | "exists" | "exists_one":
            return MacroTypes((BOOL,), BOOL)
        case "filter":
            return MacroTypes((BOOL,), make_list_type(variables[0]))
        case "map" | "transformList":
            return MacroTypes((*condition, last), make_list_type(last))
        case "transformMap":
            key = variables[0]
            return MacroTypes((*condition, last), make_map_type(key, last))
        case "transformMapEntry":
            return MacroTypes((*condition, make_map_type(DYN, DYN)), last)
        case "optMap":
            return MacroTypes((last,), make_optional_type(last))
        case "optFlatMap":
            return MacroTypes((make_optional_type(DYN),), last)
        case _:  # bind: its body is what it is
            return MacroTypes((last,), last)
