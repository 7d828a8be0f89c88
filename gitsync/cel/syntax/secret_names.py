"""Which secrets ASO reads from Azure for an expression: those that it selects by name, as `secret.primaryKey`.

ASO overlooks other ways to name one, and gitsync does not (`checker` finds those): `secret["primaryKey"]`,
`secret.?primaryKey`, and any secret in the body of optMap and optFlatMap.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitsync.cel.syntax.tree import ExpressionNode, Ident, Macro, Select, iterate_children

_OVERLOOKED: Final = frozenset({"optMap", "optFlatMap", "bind"})
"""Macros that CEL expands to a fold whose result is the body: ASO looks at all parts of a fold but its result."""


def list_selected_secrets(tree: ExpressionNode) -> frozenset[str]:
    """The keys of `secret` that ASO asks for. Names are all that it compares, also those that a macro binds."""
    return frozenset(node.field for node in _iterate_seen(tree) if isinstance(node, Select) and _is_secret(node))


def _is_secret(node: Select) -> bool:
    return not node.optional and isinstance(node.operand, Ident) and node.operand.name == "secret"


def _iterate_seen(tree: ExpressionNode) -> Iterator[ExpressionNode]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        is_overlooked = isinstance(node, Macro) and node.name in _OVERLOOKED
        waiting.extend((node.over,) if isinstance(node, Macro) and is_overlooked else iterate_children(node))
