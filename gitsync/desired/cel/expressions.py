"""Compiles the text of an export expression for evaluation: parsed, checked, with its type
(docs/reference/reconciliation.md#export-expressions); and finds where ASO differs from gitsync (docs/expressions.md):
functions that it refuses, and secrets that it overlooks.

`exports` compiles those of a manifest; `value_expressions` has the expressions of values from other resources.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gitsync.desired.cel.syntax.lexer import format_error
from gitsync.desired.cel.syntax.parser import parse
from gitsync.desired.cel.syntax.syntax_tree import ExpressionNode, FunctionCall, Ident, Macro, Select, iterate_children
from gitsync.desired.cel.types.checker import Checked, check
from gitsync.desired.cel.types.kinds import make_self_type
from gitsync.desired.cel.types.types import DYN, STRING, Type, make_map_type
from gitsync.errors import ExpressionError
from gitsync.model.facts import Kind
from gitsync.model.secret import truncate

TEXTS: Final = make_map_type(STRING, STRING)
"""The type of `secret`, and of an expression that gives many keys."""

EXPORTABLE: Final = (STRING, TEXTS)
"""The types that an expression of an export may have."""

_MOST_MISTAKES: Final = 3
_SHOWN: Final = 200
_LONGEST_COMPLAINT: Final = 1000  # characters; it may quote a literal, or list the types of thousands of arguments
_NAMESPACES: Final = ("base64.", "math.", "sets.")

_OVERLOOKED: Final = frozenset({"optMap", "optFlatMap", "bind"})
"""Macros that CEL expands to a fold whose result is the body: ASO looks at all parts of a fold except its result."""


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """The variables that an expression may name, with their types."""

    variables: Mapping[str, Type]


UNTYPED: Final = Environment({"self": DYN, "secret": TEXTS})
"""For a `self` without a known type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledExpression:
    """An expression that has been checked."""

    text: str
    tree: ExpressionNode
    type: Type  # of the result
    secrets: frozenset[str]  # the keys of `secret` that it names, in any way
    uses_secret_object: bool  # it also uses `secret` in other ways, so the names are not complete


@lru_cache(maxsize=256)
def build_environment(kind: Kind) -> Environment:
    """Build the environment of the expressions in manifests of a kind."""
    # The answer of an action may have any form.
    return Environment({"self": make_self_type(kind), "secret": DYN if kind.is_any_type else TEXTS})


# Checks and exports compile the same few expressions again and again.
@lru_cache(maxsize=1024)
def compile_expression(text: str, environment: Environment) -> CompiledExpression:
    """Compile an expression. Raises ExpressionError with every mistake, its line and column, and a hint."""
    tree = parse_expression(text)
    found = check_expression(text, tree, environment.variables)
    return CompiledExpression(
        text=text, tree=tree, type=found.type, secrets=found.secrets, uses_secret_object=found.uses_secret_object
    )


def parse_expression(text: str) -> ExpressionNode:
    """Parse an expression. Raises ExpressionError with the mistake, its line and column, and a hint."""
    try:
        return parse(text)
    except ExpressionError as error:
        raise make_refused(text, error.message, error.hint) from error


def check_expression(text: str, tree: ExpressionNode, variables: Mapping[str, Type]) -> Checked:
    """Check the tree of an expression. Raises ExpressionError with every mistake, its line and column, and a hint."""
    found = check(tree, variables)
    if found.mistakes:
        told = found.mistakes[:_MOST_MISTAKES]
        more = len(found.mistakes) - len(told)
        said = "; ".join(format_error(mistake.at, mistake.said) for mistake in told)
        hint = next((mistake.hint for mistake in told if mistake.hint), "")
        raise make_refused(text, f"{said}; and {more} more" if more else said, hint)
    return found


def quote_expression(text: str) -> str:
    """Quote an expression as messages show it; cut if it is long."""
    return json.dumps(truncate(text, _SHOWN), ensure_ascii=False)


def make_refused(text: str, said: str, hint: str) -> ExpressionError:
    """Make the error of an expression that does not compile, in the words of ASO."""
    told = truncate(said, _LONGEST_COMPLAINT)
    return ExpressionError(f"failed to compile CEL expression: {quote_expression(text)}: {told}", hint=hint)


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


def list_selected_secrets(tree: ExpressionNode) -> frozenset[str]:
    """List the secrets that ASO reads from Azure for an expression: those that it selects as `secret.primaryKey`. ASO
    compares names only, so a variable of a macro with that name counts too.

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
