"""Defines the tree of an expression: made by the parser, read by the checker and the evaluator.

Macros keep their shape (a range, variables, the parts that are evaluated for each item), since both readers need it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Position:
    """A position in an expression, line and column from 1; columns count characters."""

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
    """A member of a value."""

    operand: ExpressionNode  # the value, as in `operand.size`
    field: str
    at: Position
    optional: bool = False  # `operand.?size`
    test: bool = False  # `has(operand.size)`


@dataclass(frozen=True, slots=True)
class IndexAccess:
    """An entry of a value."""

    operand: ExpressionNode  # the value, as in `operand["a"]`
    key: ExpressionNode
    at: Position
    optional: bool = False  # `operand[?"a"]`


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function, a method, or an operator: `_+_`, `-_`, `!_`, `_?_:_`, `_&&_`, `_||_`, `@in`, …."""

    function: str  # fully qualified if it has a namespace: `aso.parseResourceId`, `strings.quote`, `optional.of`
    target: ExpressionNode | None  # of a method, None otherwise
    args: tuple[ExpressionNode, ...]
    at: Position


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[a, ?b]`: each item, and whether it is optional."""

    items: tuple[tuple[ExpressionNode, bool], ...]
    at: Position


@dataclass(frozen=True, slots=True)
class MapOf:
    """`{k: v, ?k: v}`: each key and value, and whether it is optional."""

    entries: tuple[tuple[ExpressionNode, ExpressionNode, bool], ...]
    at: Position


@dataclass(frozen=True, slots=True)
class Macro:
    """`value.all(x, condition)`, and the like: all, exists, exists_one, filter, map, transformList, transformMap,
    transformMapEntry, optMap, optFlatMap, and bind (cel.bind).
    """

    name: str
    over: ExpressionNode  # what the macro goes over; for bind, the value of the variable
    variables: tuple[str, ...]  # the names that are bound
    args: tuple[ExpressionNode, ...]
    """Evaluated with the variables bound: the condition of all, exists, exists_one and filter; the value for each item,
    after an optional condition (`map(x, condition, made)`); the body of the others.
    """

    at: Position


ExpressionNode = Literal | Ident | Select | IndexAccess | FunctionCall | ListOf | MapOf | Macro


def iterate_children(node: ExpressionNode) -> tuple[ExpressionNode, ...]:
    """List the parts of a node, in the order of the text."""
    match node:
        case Literal() | Ident():
            return ()
        case Select():
            return (node.operand,)
        case IndexAccess():
            return (node.operand, node.key)
        case FunctionCall():
            return node.args if node.target is None else (node.target, *node.args)
        case ListOf():
            return tuple(item for item, _ in node.items)
        case MapOf():
            return tuple(part for key, value, _ in node.entries for part in (key, value))
        case Macro():
            return (node.over, *node.args)


def map_tree(node: ExpressionNode, change: Callable[[ExpressionNode], ExpressionNode]) -> ExpressionNode:
    """Return a tree with `change` applied to each node, after its parts."""
    return change(_map_parts(node, lambda part: map_tree(part, change)))


def _map_parts(node: ExpressionNode, walk: Callable[[ExpressionNode], ExpressionNode]) -> ExpressionNode:
    match node:
        case Select():
            return replace(node, operand=walk(node.operand))
        case IndexAccess():
            return replace(node, operand=walk(node.operand), key=walk(node.key))
        case FunctionCall():
            target = walk(node.target) if node.target is not None else None
            return replace(node, target=target, args=tuple(map(walk, node.args)))
        case ListOf():
            return replace(node, items=tuple((walk(item), optional) for item, optional in node.items))
        case MapOf():
            return replace(
                node, entries=tuple((walk(key), walk(value), optional) for key, value, optional in node.entries)
            )
        case Macro():
            return replace(node, over=walk(node.over), args=tuple(map(walk, node.args)))
        case _:
            return node


def iterate_depths(node: ExpressionNode) -> Iterator[int]:
    """Yield the depth of each node, the first at 1; works for trees of any depth."""
    waiting = [(node, 1)]
    while waiting:
        top, depth = waiting.pop()
        yield depth
        waiting.extend((child, depth + 1) for child in iterate_children(top))
