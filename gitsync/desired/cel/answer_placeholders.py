"""Placeholders for the answer of a `secretAction`, for `gitsync eval`: Azure does not publish which members it has.

The expression shows the members that it needs: `secret.keys[0].value` needs an object with a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gitsync.desired.cel.syntax.syntax_tree import (
    ExpressionNode,
    Ident,
    IndexAccess,
    Literal,
    Select,
    iterate_children,
)
from gitsync.model.secret import MASKED

_MOST_ENTRIES: Final = 100  # of a list: an index may be any number

_Steps = tuple[str | int, ...]


def make_placeholder(tree: ExpressionNode) -> Mapping[str, Any]:
    """Make an answer with each member of `secret` that an expression names; its texts are <secret>."""
    answer = _build(list(_list_paths(tree)))
    return answer if isinstance(answer, Mapping) else {}


def _build(paths: Sequence[_Steps]) -> Any:
    """Build the value that has all paths: an object, a list if all first steps are indexes, or a text."""
    inner: dict[str | int, list[_Steps]] = {}
    for first, *rest in filter(None, paths):
        inner.setdefault(first, []).append(tuple(rest))
    indexes = [step for step in inner if isinstance(step, int)]
    if indexes and len(indexes) == len(inner):
        return [_build(inner.get(index, ())) for index in range(max(indexes) + 1)]
    return {str(step): _build(rest) for step, rest in inner.items()} or MASKED


def _list_paths(tree: ExpressionNode) -> Iterator[_Steps]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        waiting.extend(iterate_children(node))
        yield _find_path(node)


def _find_path(node: ExpressionNode) -> _Steps:
    """Return the steps from `secret` to a node; none for any other node."""
    steps: list[str | int] = []
    while isinstance(node, Select | IndexAccess):
        step = node.field if isinstance(node, Select) else _read_key(node.key)
        if step is None:
            return ()
        steps.append(step)
        node = node.operand
    return tuple(reversed(steps)) if isinstance(node, Ident) and node.name == "secret" else ()


def _read_key(key: ExpressionNode) -> str | int | None:
    """Return a key that the expression states; None for one that it computes."""
    value = key.value if isinstance(key, Literal) else None
    is_index = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_ENTRIES
    return value if is_index or isinstance(value, str) else None
