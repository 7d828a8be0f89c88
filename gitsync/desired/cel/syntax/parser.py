"""Parses the text of an expression to its tree (CEL's language definition, "Syntax" and "Macros").

Recursive descent, with precedence levels for binary operators. Limits apply to the length of the text (lexer), to
nested brackets, and to the depth of the tree, so that hostile text cannot overflow the stack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NoReturn

from gitsync.desired.cel.syntax.lexer import Token, format_error, parse_double, parse_int, split_tokens
from gitsync.desired.cel.syntax.syntax_tree import (
    ExpressionNode,
    FunctionCall,
    Ident,
    IndexAccess,
    ListOf,
    Literal,
    Macro,
    MapOf,
    Position,
    Select,
    iterate_depths,
)  # fmt: skip
from gitsync.desired.cel.types.signatures import list_namespaced
from gitsync.desired.cel.types.types import NAMED
from gitsync.errors import ExpressionError

MOST_BRACKETS: Final = 32
"""The maximum nesting of brackets, parentheses and calls."""
MOST_DEPTH: Final = 100
"""The maximum depth of a tree: for example, a sequence of 99 additions."""

_LEVELS: Final = {"||": 1, "&&": 2, **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in"), 3)}
_LEVELS.update({"+": 4, "-": 4, "*": 5, "/": 5, "%": 5})
_WORDS: Final = {"true": True, "false": False, "null": None}
_NOT_SELECTABLE: Final = frozenset({*_WORDS, "in"})
_RESERVED: Final = frozenset({
    "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package",
    "namespace", "return", "var", "void", "while",
})  # fmt: skip
_DOTTED_TYPES: Final = frozenset(name for name in NAMED if "." in name)


def parse(text: str) -> ExpressionNode:
    """Parse an expression to its tree. Raises ExpressionError, with line and column, for a text that is not an
    expression or is nested too deeply.
    """
    parser = _Parser(text)
    tree = parser.parse()
    # Chains of operators and members grow the tree without brackets, so it is measured once it is made.
    if any(depth > MOST_DEPTH for depth in iterate_depths(tree)):
        said = f"Syntax error: expression is nested deeper than {MOST_DEPTH} levels"
        raise ExpressionError(format_error(tree.at, said), hint="Build long texts with format() or join().")
    return tree


class _Parser:
    """A position in a sequence of tokens; each method reads one form of the grammar from there on."""

    def __init__(self, text: str) -> None:
        self._tokens = list(split_tokens(text))
        self._index = 0
        self._brackets = 0

    def parse(self) -> ExpressionNode:
        tree = self._parse_expression()
        if self._next.form != "end":
            self._refuse("<EOF>")
        return tree

    @property
    def _next(self) -> Token:
        return self._tokens[self._index]

    def _take(self) -> Token:
        token = self._next
        self._index += 1
        return token

    def _is(self, *signs: str) -> bool:
        return self._next.form == "sign" and self._next.text in signs

    def _take_if(self, sign: str) -> Token | None:
        return self._take() if self._is(sign) else None

    def _expect(self, sign: str) -> Token:
        if not self._is(sign):
            self._refuse(f"'{sign}'")
        return self._take()

    def _refuse(self, wanted: str) -> NoReturn:
        found = self._next
        said = "unexpected end of expression" if found.form == "end" else f"mismatched input '{found.text}'"
        raise ExpressionError(format_error(found.at, f"Syntax error: {said}, expecting {wanted}"))

    def _parse_expression(self) -> ExpressionNode:
        condition = self._parse_binary(1)
        mark = self._take_if("?")
        if mark is None:
            return condition
        # As in CEL's grammar, only the last of the three parts may be a condition without brackets.
        first = self._parse_binary(1)
        self._expect(":")
        second = self._parse_inside(self._parse_expression)
        return FunctionCall("_?_:_", None, (condition, first, second), mark.at)

    def _parse_binary(self, least: int) -> ExpressionNode:
        left = self._parse_unary()
        while (level := self._find_level()) >= least:
            sign = self._take()
            name = "@in" if sign.text == "in" else f"_{sign.text}_"
            left = FunctionCall(name, None, (left, self._parse_binary(level + 1)), sign.at)
        return left

    def _find_level(self) -> int:
        return _LEVELS.get(self._next.text, 0)

    def _parse_unary(self) -> ExpressionNode:
        # Two signs in sequence cancel each other out, as in CEL; a minus before a number belongs to the number.
        signs: list[Token] = []
        while self._is("!", "-") and (not signs or self._next.text == signs[0].text):
            signs.append(self._take())
        # The smallest int fits 64 bits only with its sign, so a minus belongs to the number.
        if signs and signs[0].text == "-" and self._next.is_number:
            return self._wrap(signs[:-1], self._parse_postfix(self._parse_negative(signs[-1])))
        return self._wrap(signs, self._parse_postfix(self._parse_primary()))

    def _wrap(self, signs: list[Token], node: ExpressionNode) -> ExpressionNode:
        return FunctionCall(f"{signs[0].text}_", None, (node,), signs[0].at) if len(signs) % 2 else node

    def _parse_negative(self, minus: Token) -> ExpressionNode:
        number = self._take()
        return self._make_number(f"-{number.text}", number.form, minus.at)

    def _make_number(self, text: str, form: str, at: Position) -> ExpressionNode:
        try:
            return Literal(parse_int(text) if form == "int" else parse_double(text), at)
        except ValueError as error:
            raise ExpressionError(format_error(at, f"Syntax error: {error}")) from error

    def _parse_postfix(self, node: ExpressionNode) -> ExpressionNode:
        while True:
            if dot := self._take_if("."):
                node = self._parse_member(node, dot)
            elif bracket := self._take_if("["):
                is_optional = self._take_if("?") is not None
                key = self._parse_inside(self._parse_expression)
                self._expect("]")
                node = IndexAccess(node, key, bracket.at, is_optional)
            else:
                return node

    def _parse_member(self, node: ExpressionNode, dot: Token) -> ExpressionNode:
        is_optional = self._take_if("?") is not None
        if self._next.form == "quoted":
            return Select(node, self._take().text.strip("`"), dot.at, optional=is_optional)
        name = self._expect_name("a field's name", _NOT_SELECTABLE).text
        if is_optional:
            return Select(node, name, dot.at, optional=True)
        if bracket := self._take_if("("):
            return self._parse_call(node, name, bracket)
        # `google.protobuf.Timestamp` is the name of a type, and selects nothing.
        dotted = _format_dotted(node)
        if dotted and f"{dotted}.{name}" in _DOTTED_TYPES:
            return Ident(f"{dotted}.{name}", node.at)
        return Select(node, name, dot.at)

    def _parse_call(self, target: ExpressionNode, name: str, bracket: Token) -> ExpressionNode:
        args = self._parse_arguments()
        # The name of a namespace is not a variable, so the checker must not look for one.
        if isinstance(target, Ident) and f"{target.name}.{name}" in list_namespaced():
            return FunctionCall(f"{target.name}.{name}", None, args, bracket.at)
        try:
            if isinstance(target, Ident) and (target.name, name) == ("cel", "bind"):
                return make_bind(args, bracket.at)
            return match_macro(name, target, args, bracket.at) or FunctionCall(name, target, args, bracket.at)
        except ValueError as error:
            raise ExpressionError(format_error(bracket.at, str(error))) from error

    def _parse_arguments(self) -> tuple[ExpressionNode, ...]:
        if self._take_if(")"):
            return ()
        args = [self._parse_inside(self._parse_expression)]
        while self._take_if(","):
            args.append(self._parse_inside(self._parse_expression))
        self._expect(")")
        return tuple(args)

    def _parse_primary(self) -> ExpressionNode:
        token = self._next
        if token.is_number:
            return self._make_number(self._take().text, token.form, token.at)
        if token.form in {"uint", "string", "bytes"}:
            return Literal(self._take().value, token.at)
        if token.text in _WORDS and token.form == "name":
            return Literal(_WORDS[self._take().text], token.at)
        if token.form == "name" or self._is("."):
            return self._parse_name()
        forms = {"(": self._parse_parenthesised, "[": self._parse_list, "{": self._parse_map}
        form = forms.get(token.text) if token.form == "sign" else None
        if form is None:
            self._refuse("an expression")
        return form()

    def _expect_name(self, wanted: str, forbidden: frozenset[str]) -> Token:
        if self._next.form != "name" or self._next.text in forbidden:
            self._refuse(wanted)
        return self._take()

    def _parse_name(self) -> ExpressionNode:
        # A name from the root. Without containers, it is the same as without the dot.
        self._take_if(".")
        token = self._expect_name("a name", _NOT_SELECTABLE)
        if token.text in _RESERVED:
            raise ExpressionError(format_error(token.at, f"Syntax error: reserved identifier: {token.text}"))
        if self._is("{"):
            said = f"Syntax error: '{token.text}' cannot be built here: only lists and maps have literals"
            raise ExpressionError(format_error(self._next.at, said))
        if bracket := self._take_if("("):
            args = self._parse_arguments()
            return (
                self._make_has(args, bracket)
                if token.text == "has"
                else FunctionCall(token.text, None, args, bracket.at)
            )
        return Ident(token.text, token.at)

    def _make_has(self, args: tuple[ExpressionNode, ...], bracket: Token) -> ExpressionNode:
        match args:
            # `has(a[b])` and `has(a)` have no meaning in CEL: it tests a field.
            case (Select(operand=operand, field=field, at=at, optional=False),):
                return Select(operand, field, at, test=True)
            case (_,):
                raise ExpressionError(format_error(args[0].at, "invalid argument to has() macro"))
            case _:
                raise ExpressionError(format_error(bracket.at, "has() takes one field, as in has(self.spec.location)"))

    def _parse_parenthesised(self) -> ExpressionNode:
        self._expect("(")
        node = self._parse_inside(self._parse_expression)
        self._expect(")")
        return node

    def _parse_list(self) -> ExpressionNode:
        at = self._expect("[").at
        items: list[tuple[ExpressionNode, bool]] = []
        while not self._is("]"):
            is_optional = self._take_if("?") is not None
            items.append((self._parse_inside(self._parse_expression), is_optional))
            # CEL allows a comma after the last item.
            if not self._take_if(","):
                break
        self._expect("]")
        return ListOf(tuple(items), at)

    def _parse_map(self) -> ExpressionNode:
        at = self._expect("{").at
        entries: list[tuple[ExpressionNode, ExpressionNode, bool]] = []
        while not self._is("}"):
            is_optional = self._take_if("?") is not None
            key = self._parse_inside(self._parse_expression)
            self._expect(":")
            entries.append((key, self._parse_inside(self._parse_expression), is_optional))
            if not self._take_if(","):
                break
        self._expect("}")
        return MapOf(tuple(entries), at)

    def _parse_inside(self, read: Callable[[], ExpressionNode]) -> ExpressionNode:
        """Parse the content of brackets, or what follows the colon of a condition: one level further down."""
        self._brackets += 1
        if self._brackets > MOST_BRACKETS:
            said = f"Syntax error: brackets are nested deeper than {MOST_BRACKETS} levels"
            raise ExpressionError(format_error(self._next.at, said))
        node = read()
        self._brackets -= 1
        return node


def _format_dotted(node: ExpressionNode) -> str:
    """Write a node that is only names as `a.b`."""
    match node:
        case Ident():
            return node.name
        case Select(operand=Ident() as first, optional=False, test=False):
            return f"{first.name}.{node.field}"
        case _:
            return ""


# Macros are methods that bind variables, and are therefore not functions (CEL's language definition, "Macros"; the
# extensions for two variables and for optional values).


@dataclass(frozen=True, slots=True)
class MacroForm:
    """A form of a macro."""

    name: str  # that in the tree
    variables: int  # their number
    args: int  # the number of the arguments behind them


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
    """Find the macro of a method call; None if it is a method. Raises ValueError if a variable is not a name."""
    form = _FORMS.get((name, len(given)))
    if form is None:
        return None
    variables = _require_names(given[: form.variables])
    return Macro(form.name, over, variables, given[form.variables :], at)


def make_bind(given: tuple[ExpressionNode, ...], at: Position) -> Macro:
    """Make the macro of `cel.bind(x, value, body)`. Raises ValueError for other arguments."""
    if len(given) != 3:
        raise ValueError("cel.bind() takes a variable, its value, and an expression")
    return Macro("bind", given[1], _require_names(given[:1]), given[2:], at)


def _require_names(given: tuple[ExpressionNode, ...]) -> tuple[str, ...]:
    names = tuple(node.name for node in given if isinstance(node, Ident) and "." not in node.name)
    if len(names) != len(given):
        raise ValueError("argument is not an identifier")
    if len(set(names)) != len(names):
        raise ValueError(f"variable {names[0]!r} is used twice")
    return names
