"""From the text of an expression to its tree (CEL's language definition, "Syntax").

Recursive descent, with precedence levels for binary operators. Limits apply to the length of the text (lexer), to
nested brackets, and to the depth of the tree, so that hostile text cannot overflow the stack.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn

from gitsync.cel.syntax.lexer import Token, format_error, split_tokens
from gitsync.cel.syntax.literals import parse_double, parse_int
from gitsync.cel.syntax.macros import bind, match_macro
from gitsync.cel.syntax.tree import (
    ExpressionNode,
    FunctionCall,
    Ident,
    IndexAccess,
    ListOf,
    Literal,
    MapOf,
    Position,
    Select,
    iterate_depths,
)  # fmt: skip
from gitsync.cel.types.signatures import list_namespaced
from gitsync.cel.types.types import NAMED
from gitsync.errors import ExpressionError

MOST_BRACKETS: Final = 32
"""How many brackets, parentheses and calls may stand inside one another."""
MOST_DEPTH: Final = 100
"""How deep a tree may be: a row of 99 additions, say."""

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
    """The tree of an expression. ExpressionError, with line and column, where it is none or one too deep."""
    parser = _Parser(text)
    tree = parser.whole()
    if any(depth > MOST_DEPTH for depth in iterate_depths(tree)):
        said = f"Syntax error: expression is nested deeper than {MOST_DEPTH} levels"
        raise ExpressionError(format_error(tree.at, said), hint="Build long texts with format() or join().")
    return tree


class _Parser:
    """A place in a row of words; each method reads one form of the grammar from there on."""

    def __init__(self, text: str) -> None:
        self._tokens = list(split_tokens(text))
        self._place = 0
        self._brackets = 0

    def whole(self) -> ExpressionNode:
        tree = self._expression()
        if self._next.form != "end":
            self._refuse("<EOF>")
        return tree

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _take(self) -> Token:
        token = self._next
        self._place += 1
        return token

    def _is(self, *signs: str) -> bool:
        return self._next.form == "sign" and self._next.text in signs

    def _took(self, sign: str) -> Token | None:
        return self._take() if self._is(sign) else None

    def _expect(self, sign: str) -> Token:
        if not self._is(sign):
            self._refuse(f"'{sign}'")
        return self._take()

    def _refuse(self, wanted: str) -> NoReturn:
        found = self._next
        said = "unexpected end of expression" if found.form == "end" else f"mismatched input '{found.text}'"
        raise ExpressionError(format_error(found.at, f"Syntax error: {said}, expecting {wanted}"))

    def _expression(self) -> ExpressionNode:
        condition = self._binary(1)
        asked = self._took("?")
        if asked is None:
            return condition
        first = self._binary(1)
        self._expect(":")
        second = self._inside(self._expression)
        return FunctionCall("_?_:_", None, (condition, first, second), asked.at)

    def _binary(self, least: int) -> ExpressionNode:
        left = self._unary()
        while (level := self._level()) >= least:
            sign = self._take()
            name = "@in" if sign.text == "in" else f"_{sign.text}_"
            left = FunctionCall(name, None, (left, self._binary(level + 1)), sign.at)
        return left

    def _level(self) -> int:
        return _LEVELS.get(self._next.text, 0)

    def _unary(self) -> ExpressionNode:
        """Two signs in a row cancel each other out, as in CEL; a minus before a number is the number's."""
        signs: list[Token] = []
        while self._is("!", "-") and (not signs or self._next.text == signs[0].text):
            signs.append(self._take())
        if signs and signs[0].text == "-" and self._next.is_number:
            return self._wrapped(signs[:-1], self._postfix(self._negative(signs[-1])))
        return self._wrapped(signs, self._postfix(self._primary()))

    def _wrapped(self, signs: list[Token], node: ExpressionNode) -> ExpressionNode:
        return FunctionCall(f"{signs[0].text}_", None, (node,), signs[0].at) if len(signs) % 2 else node

    def _negative(self, minus: Token) -> ExpressionNode:
        number = self._take()
        return self._number(f"-{number.text}", number.form, minus.at)

    def _number(self, text: str, form: str, at: Position) -> ExpressionNode:
        try:
            return Literal(parse_int(text) if form == "int" else parse_double(text), at)
        except ValueError as error:
            raise ExpressionError(format_error(at, f"Syntax error: {error}")) from error

    def _postfix(self, node: ExpressionNode) -> ExpressionNode:
        while True:
            if dot := self._took("."):
                node = self._member(node, dot)
            elif bracket := self._took("["):
                is_optional = self._took("?") is not None
                key = self._inside(self._expression)
                self._expect("]")
                node = IndexAccess(node, key, bracket.at, is_optional)
            else:
                return node

    def _member(self, node: ExpressionNode, dot: Token) -> ExpressionNode:
        is_optional = self._took("?") is not None
        if self._next.form == "quoted":
            return Select(node, self._take().text.strip("`"), dot.at, optional=is_optional)
        name = self._name("a field's name", _NOT_SELECTABLE).text
        if is_optional:
            return Select(node, name, dot.at, optional=True)
        if bracket := self._took("("):
            return self._called(node, name, bracket)
        dotted = _dotted(node)
        if dotted and f"{dotted}.{name}" in _DOTTED_TYPES:
            return Ident(f"{dotted}.{name}", node.at)
        return Select(node, name, dot.at)

    def _called(self, target: ExpressionNode, name: str, bracket: Token) -> ExpressionNode:
        args = self._arguments()
        if isinstance(target, Ident) and f"{target.name}.{name}" in list_namespaced():
            return FunctionCall(f"{target.name}.{name}", None, args, bracket.at)
        try:
            if isinstance(target, Ident) and (target.name, name) == ("cel", "bind"):
                return bind(args, bracket.at)
            return match_macro(name, target, args, bracket.at) or FunctionCall(name, target, args, bracket.at)
        except ValueError as error:
            raise ExpressionError(format_error(bracket.at, str(error))) from error

    def _arguments(self) -> tuple[ExpressionNode, ...]:
        if self._took(")"):
            return ()
        args = [self._inside(self._expression)]
        while self._took(","):
            args.append(self._inside(self._expression))
        self._expect(")")
        return tuple(args)

    def _primary(self) -> ExpressionNode:
        token = self._next
        if token.is_number:
            return self._number(self._take().text, token.form, token.at)
        if token.form in {"uint", "string", "bytes"}:
            return Literal(self._take().value, token.at)
        if token.text in _WORDS and token.form == "name":
            return Literal(_WORDS[self._take().text], token.at)
        if token.form == "name" or self._is("."):
            return self._named()
        forms = {"(": self._parenthesised, "[": self._list, "{": self._map}
        form = forms.get(token.text) if token.form == "sign" else None
        if form is None:
            self._refuse("an expression")
        return form()

    def _name(self, wanted: str, forbidden: frozenset[str]) -> Token:
        if self._next.form != "name" or self._next.text in forbidden:
            self._refuse(wanted)
        return self._take()

    def _named(self) -> ExpressionNode:
        self._took(".")
        token = self._name("a name", _NOT_SELECTABLE)
        if token.text in _RESERVED:
            raise ExpressionError(format_error(token.at, f"Syntax error: reserved identifier: {token.text}"))
        if self._is("{"):
            said = f"Syntax error: '{token.text}' cannot be built here: only lists and maps have literals"
            raise ExpressionError(format_error(self._next.at, said))
        if bracket := self._took("("):
            args = self._arguments()
            return self._has(args, bracket) if token.text == "has" else FunctionCall(token.text, None, args, bracket.at)
        return Ident(token.text, token.at)

    def _has(self, args: tuple[ExpressionNode, ...], bracket: Token) -> ExpressionNode:
        match args:
            case (Select(operand=operand, field=field, at=at, optional=False),):
                return Select(operand, field, at, test=True)
            case (_,):
                raise ExpressionError(format_error(args[0].at, "invalid argument to has() macro"))
            case _:
                raise ExpressionError(format_error(bracket.at, "has() takes one field, as in has(self.spec.location)"))

    def _parenthesised(self) -> ExpressionNode:
        self._expect("(")
        node = self._inside(self._expression)
        self._expect(")")
        return node

    def _list(self) -> ExpressionNode:
        at = self._expect("[").at
        items: list[tuple[ExpressionNode, bool]] = []
        while not self._is("]"):
            is_optional = self._took("?") is not None
            items.append((self._inside(self._expression), is_optional))
            if not self._took(","):
                break
        self._expect("]")
        return ListOf(tuple(items), at)

    def _map(self) -> ExpressionNode:
        at = self._expect("{").at
        entries: list[tuple[ExpressionNode, ExpressionNode, bool]] = []
        while not self._is("}"):
            is_optional = self._took("?") is not None
            key = self._inside(self._expression)
            self._expect(":")
            entries.append((key, self._inside(self._expression), is_optional))
            if not self._took(","):
                break
        self._expect("}")
        return MapOf(tuple(entries), at)

    def _inside(self, read: Callable[[], ExpressionNode]) -> ExpressionNode:
        """What stands inside brackets, or after the colon of a condition: one level further down."""
        self._brackets += 1
        if self._brackets > MOST_BRACKETS:
            said = f"Syntax error: brackets are nested deeper than {MOST_BRACKETS} levels"
            raise ExpressionError(format_error(self._next.at, said))
        node = read()
        self._brackets -= 1
        return node


def _dotted(node: ExpressionNode) -> str:
    """`a.b` where that is all that a node says."""
    match node:
        case Ident():
            return node.name
        case Select(operand=Ident() as first, optional=False, test=False):
            return f"{first.name}.{node.field}"
        case _:
            return ""
