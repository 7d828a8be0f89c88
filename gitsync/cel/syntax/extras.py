"""What the expressions of gitsync have in addition to those of ASO, which refuses them (docs/expressions.md).

Separate from the functions themselves, so that a manifest that ASO has to read can be checked for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitsync.cel.syntax.tree import ExpressionNode, FunctionCall, Macro, iterate_children

_NAMESPACES: Final = ("base64.", "math.", "sets.")


def list_extras(tree: ExpressionNode) -> tuple[str, ...]:
    """The functions and macros of an expression that ASO does not have, each once, sorted."""
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
