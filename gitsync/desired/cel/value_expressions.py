"""Compiles the expressions of values that flow from one resource to another (docs/values.md).

`resource("PublicIPAddress/egress")` stands for another resource. Its argument is a literal, so the resources that an
expression needs are known offline. In the tree, a variable takes the place of each call, so that checker and evaluator
need no rule of their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gitsync.desired.cel.expressions import check_expression, make_refused, parse_expression
from gitsync.desired.cel.syntax.lexer import format_error
from gitsync.desired.cel.syntax.syntax_tree import (
    ExpressionNode,
    FunctionCall,
    Ident,
    Literal,
    Position,
    Select,
    iterate_children,
    map_tree,
)
from gitsync.desired.cel.types.types import Type
from gitsync.errors import ExpressionError

RESOURCE: Final = "resource"
"""The function that names another resource."""

_FORM: Final = 'Write the name as text, as in resource("PublicIPAddress/egress").'


@dataclass(frozen=True, slots=True)
class ValueExpression:
    """A parsed expression."""

    text: str
    tree: ExpressionNode  # with a variable in place of each call of `resource`
    names: Mapping[str, Position]  # the arguments of `resource`, each with the position of its first call

    def find_id_name(self) -> str:
        """Find the name of the resource whose ARM id the expression is; "" if it is anything else."""
        tree = self.tree
        is_id = isinstance(tree, Select) and tree.field == "id" and not (tree.optional or tree.test)
        operand = tree.operand if isinstance(tree, Select) and is_id else None
        written = (name for name in self.names if isinstance(operand, Ident) and operand.name == name_variable(name))
        return next(written, "")

    def list_read_names(self) -> frozenset[str]:
        """List the resources of which the expression needs more than id and name."""
        waiting, read = [self.tree], set[str]()
        while waiting:
            node = waiting.pop()
            if isinstance(node, Ident):
                read.add(node.name)
            # Names make the id, so a run has both before the resource exists.
            if not (isinstance(node, Select) and isinstance(node.operand, Ident) and node.field in {"id", "name"}):
                waiting.extend(iterate_children(node))
        return frozenset(name for name in self.names if name_variable(name) in read)

    def refuse(self, at: Position, said: str, hint: str) -> ExpressionError:
        """Return the error for something that is wrong at a position."""
        return make_refused(self.text, format_error(at, said), hint)


@lru_cache(maxsize=1024)
def parse_value(text: str) -> ValueExpression:
    """Parse an expression. Raises ExpressionError with the mistake, its line and column, and a hint."""
    names: dict[str, Position] = {}

    def replace_call(node: ExpressionNode) -> ExpressionNode:
        if isinstance(node, Literal) and node.value is None:
            # Null leaves the field out, also as one branch of a condition, where CEL wants one type.
            return FunctionCall("dyn", None, (node,), node.at)
        if not isinstance(node, FunctionCall) or node.function != RESOURCE or node.target is not None:
            return node
        name = node.args[0].value if len(node.args) == 1 and isinstance(node.args[0], Literal) else None
        # A computed name would hide which resources the expression needs, and so the edges of the plan.
        if not isinstance(name, str) or not name:
            raise make_refused(text, format_error(node.at, "resource takes one literal text"), _FORM)
        names.setdefault(name, node.at)
        return Ident(name_variable(name), node.at)

    tree = map_tree(parse_expression(text), replace_call)
    return ValueExpression(text, tree, names)


def name_variable(name: str) -> str:
    """Return the name of the variable for a call: how the call is written, which no expression can name itself."""
    return f"{RESOURCE}({json.dumps(name, ensure_ascii=False)})"


def check_value(expression: ValueExpression, types: Mapping[str, Type]) -> Type:
    """Return the type of an expression. `types` are those of the resources, by the names in the expression.

    Raises ExpressionError with every mistake, its line and column, and a hint.
    """
    variables = {name_variable(name): type_ for name, type_ in types.items()}
    checked = check_expression(expression.text, expression.tree, variables)
    if checked.secrets or checked.uses_secret_object:  # the checker counts its uses where it is a variable
        raise make_refused(expression.text, "undeclared reference to 'secret'", "")
    return checked.type
