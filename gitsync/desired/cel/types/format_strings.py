"""Splits format strings into clauses (`%s`, `%.2f`, `%%`), and checks whether a literal one fits its list literal
(cel-go's string extension, version 3, which reports both at compile time).

Separate from the checker, which uses signatures of functions: `format` takes a list of any types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from gitsync.desired.cel.syntax.syntax_tree import ExpressionNode, FunctionCall, ListOf, Literal, MapOf, Position
from gitsync.desired.cel.types.types import Type

_CLAUSE: Final = re.compile(r"%(?:(?P<percent>%)|(?:\.(?P<digits>[0-9]{1,18}))?(?P<letter>[sdfebxXo]))", re.ASCII)

TypeOf = Callable[[ExpressionNode], Type]
"""The type of a part of the expression; dyn if it is unknown."""

_INTEGERS: Final = frozenset({"int", "uint"})
_FRACTION: Final = frozenset({"double", "string"})
_TEXT: Final = frozenset({
    "list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null",
})  # fmt: skip

_TAKEN: Final = {
    "s": _TEXT,
    "d": _INTEGERS,
    "o": _INTEGERS,
    "b": _INTEGERS | {"bool"},
    "x": _INTEGERS | {"string", "bytes"},
    "X": _INTEGERS | {"string", "bytes"},
    "f": _FRACTION,
    "e": _FRACTION,
}
"""The types that a clause accepts. `%f` and `%e` accept text since "NaN" and "Infinity" are text."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause that takes a value."""

    letter: str  # such as `d` or `s`
    precision: int | None  # None if the clause gives none


def split_clauses(template: str) -> Iterator[str | Clause]:
    """Yield the text and the clauses of a format string in order. Raises ValueError for a `%` that does not begin a
    clause.
    """
    here = 0
    while (at := template.find("%", here)) >= 0:
        yield template[here:at]
        found = _CLAUSE.match(template, at)
        if found is None:
            raise ValueError("unrecognized clause; use %s %d %f %e %b %o %x %X, or %% for a percent sign")
        yield "%" if found["percent"] else Clause(found["letter"], int(found["digits"]) if found["digits"] else None)
        here = found.end()
    yield template[here:]


def check_format(call: FunctionCall, type_of: TypeOf) -> Iterator[tuple[Position, str]]:
    """Yield the mistakes of a call of `format`, with their positions; none if its parts are not literals."""
    template, values = _find_literals(call)
    if template is None or values is None:
        return
    try:
        clauses = [part for part in split_clauses(template) if isinstance(part, Clause)]
    except ValueError as error:
        yield call.at, f"could not parse formatting clause: {error}"
        return
    if len(clauses) > len(values):
        yield call.at, f"index {len(values)} out of range: there are more clauses than values"
    elif len(clauses) < len(values):
        yield call.at, f"too many arguments supplied to string.format (expected {len(clauses)}, got {len(values)})"
    for clause, value in zip(clauses, values, strict=False):
        yield from _check_value(clause, value, type_of)


def _find_literals(call: FunctionCall) -> tuple[str | None, list[ExpressionNode] | None]:
    template = call.target.value if isinstance(call.target, Literal) else None
    values = call.args[0] if len(call.args) == 1 else None
    return (
        template if isinstance(template, str) else None,
        [item for item, _ in values.items] if isinstance(values, ListOf) else None,
    )


def _check_value(clause: Clause, value: ExpressionNode, type_of: TypeOf) -> Iterator[tuple[Position, str]]:
    type_ = type_of(value)
    if type_.name != "dyn" and type_.name not in _TAKEN[clause.letter]:
        said = f"%{clause.letter} cannot show a value of type {type_.name}"
        yield value.at, f"error during formatting: {said}"
    elif clause.letter == "s":
        for inner in _list_parts(value):
            yield from _check_value(clause, inner, type_of)


def _list_parts(value: ExpressionNode) -> tuple[ExpressionNode, ...]:
    """List the parts of a list or map literal, which `%s` shows as well."""
    match value:
        case ListOf():
            return tuple(item for item, _ in value.items)
        case MapOf():
            return tuple(part for key, entry, _ in value.entries for part in (key, entry))
        case _:
            return ()
