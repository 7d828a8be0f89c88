"""Finds where ASO reads an expression otherwise than gitsync (docs/expressions.md): functions that it refuses, and
secrets that it overlooks, so that a manifest that ASO has to read can be checked for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitsync.cel.syntax.tree import ExpressionNode, FunctionCall, Ident, Macro, Select, iterate_children

_NAMESPACES: Final = ("base64.", "math.", "sets.")


def list_extras(tree: ExpressionNode) -> tuple[str, ...]:
    """List the functions and macros of an expression that ASO does not have, each once, sorted."""
    return tuple(sorted(set(_iterate_extras(tree))))


def _iterate_extras(tree: ExpressionNode) -> Iterator[str]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        waiting.extend(iterate_children(node))
        if isinstance(node, FunctionCall) and node.function.startswith(_NAMESPACES):
            yield node.function
        elif isinstance(node, Macro) and node.name == "bind":
            yield "cel.bind"


_OVERLOOKED: Final = frozenset({"optMap", "optFlatMap", "bind"})
"""Macros that CEL expands to a fold whose result is the body: ASO looks at all parts of a fold but its result."""


def list_selected_secrets(tree: ExpressionNode) -> frozenset[str]:
    """List the secrets that ASO reads from Azure for an expression: those that it selects as `secret.primaryKey`. Names
    are all that it compares, also those that a macro binds.

    ASO overlooks other ways to name one, and gitsync does not (`checker` finds those): `secret["primaryKey"]`,
    `secret.?primaryKey`, and any secret in the body of optMap and optFlatMap.
    """
    return frozenset(
        node.field
        for node in _iterate_seen(tree)
        if isinstance(node, Select) and isinstance(node.operand, Ident)
        if node.operand.name == "secret" and not node.optional
    )


def _iterate_seen(tree: ExpressionNode) -> Iterator[ExpressionNode]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        is_overlooked = isinstance(node, Macro) and node.name in _OVERLOOKED
        waiting.extend((node.over,) if isinstance(node, Macro) and is_overlooked else iterate_children(node))
