"""The macros: methods that bind variables, and are therefore no functions (CEL's language definition, "Macros"; the
extensions for two variables and for optional values).

Apart, as a table: the parser asks it what a call is, the checker what comes of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gitsync.cel.syntax.tree import ExpressionNode, Ident, Macro, Position


@dataclass(frozen=True, slots=True)
class MacroForm:
    """How a macro may be written: how many variables, then how many arguments. `name` is what the tree calls it."""

    name: str
    variables: int
    args: int


_ONE: Final = {
    "all": (1,),
    "exists": (1,),
    "exists_one": (1,),
    "filter": (1,),
    "map": (1, 2),
    "optMap": (1,),
    "optFlatMap": (1,),
}
_TWO: Final = {
    "all": (1,),
    "exists": (1,),
    "exists_one": (1,),
    "existsOne": (1,),
    "transformList": (1, 2),
    "transformMap": (1, 2),
    "transformMapEntry": (1, 2),
}
_ALSO: Final = {"existsOne": "exists_one"}
"""Other names of macros. With one variable, exists_one has no other."""

_FORMS: Final = {
    (name, variables + args): MacroForm(_ALSO.get(name, name), variables, args)
    for variables, names in ((1, _ONE), (2, _TWO))
    for name, counts in names.items()
    for args in counts
}


def match_macro(name: str, over: ExpressionNode, given: tuple[ExpressionNode, ...], at: Position) -> Macro | None:
    """The macro that a method call stands for; None where it is a method. ValueError where a variable is no name."""
    form = _FORMS.get((name, len(given)))
    if form is None:
        return None
    variables = _names(given[: form.variables])
    return Macro(form.name, over, variables, given[form.variables :], at)


def bind(given: tuple[ExpressionNode, ...], at: Position) -> Macro:
    """`cel.bind(x, value, body)`. ValueError where it is not written so."""
    if len(given) != 3:
        raise ValueError("cel.bind() takes a variable, its value, and an expression")
    return Macro("bind", given[1], _names(given[:1]), given[2:], at)


def _names(given: tuple[ExpressionNode, ...]) -> tuple[str, ...]:
    names = tuple(node.name for node in given if isinstance(node, Ident) and "." not in node.name)
    if len(names) != len(given):
        raise ValueError("argument is not an identifier")
    if len(set(names)) != len(names):
        raise ValueError(f"variable {names[0]!r} is used twice")
    return names
