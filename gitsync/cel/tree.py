"""What an expression says, as a tree: made by the parser, read by the checker and the evaluator.

Macros keep their shape (a range, variables, what is worked out for each), since that is what both readers need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Position:
    """Where something stands in an expression, both from 1; columns count characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Literal:
    """A value: bool, int, `cel.values.Uint`, float, str, bytes or None."""

    value: Any
    at: Position


@dataclass(frozen=True, slots=True)
class Ident:
    """A variable, or the name of a type."""

    name: str
    at: Position


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`; `operand.?field` where it is optional; `has(operand.field)` where it is a test."""

    operand: Node
    field: str
    at: Position
    optional: bool = False
    test: bool = False


@dataclass(frozen=True, slots=True)
class Index:
    """`operand[key]`, or `operand[?key]`."""

    operand: Node
    key: Node
    at: Position
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A function, a method (with a target), or an operator: `_+_`, `-_`, `!_`, `_?_:_`, `_&&_`, `_||_`, `@in`, ….

    A function of a namespace has its whole name: `aso.parseResourceId`, `strings.quote`, `optional.of`.
    """

    function: str
    target: Node | None
    args: tuple[Node, ...]
    at: Position


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[a, ?b]`: each item, and whether it is optional."""

    items: tuple[tuple[Node, bool], ...]
    at: Position


@dataclass(frozen=True, slots=True)
class MapOf:
    """`{k: v, ?k: v}`: each key and value, and whether it is optional."""

    entries: tuple[tuple[Node, Node, bool], ...]
    at: Position


@dataclass(frozen=True, slots=True)
class Macro:
    """`over.name(variables…, args…)`: all, exists, exists_one, filter, map, transformList, transformMap,
    transformMapEntry, optMap, optFlatMap. `args` are worked out with the variables bound.
    """

    name: str
    over: Node
    variables: tuple[str, ...]
    args: tuple[Node, ...]
    at: Position


Node = Literal | Ident | Select | Index | Call | ListOf | MapOf | Macro
