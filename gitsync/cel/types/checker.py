"""Whether an expression fits its variables, and which type comes of it (CEL's language definition, "Type checking").

The checker collects every problem of an expression; a wrong part has the type dyn from there on, so that each mistake
is reported once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.cel.syntax.tree import (
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
)
from gitsync.cel.types.format_check import check_format
from gitsync.cel.types.inference import Inference
from gitsync.cel.types.ranges import bind_types, infer_macro
from gitsync.cel.types.signatures import VARIADIC, list_overloads
from gitsync.cel.types.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    INT,
    NAMED,
    NULL,
    STRING,
    UINT,
    Type,
    make_list_type,
    make_map_type,
    make_optional_type,
    make_type_type,
)  # fmt: skip
from gitsync.cel.values import Uint
from gitsync.problems.suggest import suggest

_LITERALS: Final[Mapping[type, Type]] = {
    type(None): NULL, bool: BOOL, int: INT, Uint: UINT, float: DOUBLE, str: STRING, bytes: BYTES,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mistake:
    """One type error, in the words of CEL, and a hint."""

    at: Position
    said: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of an expression: its type, every mistake in reading order, the keys of `secret` that it names, and
    whether it uses `secret` otherwise than by the name of a key.
    """

    type: Type
    mistakes: tuple[Mistake, ...]
    secrets: frozenset[str]
    uses_secret_whole: bool


def check(tree: ExpressionNode, variables: Mapping[str, Type]) -> Checked:
    """The type of an expression in which these variables stand; never raises for a tree that the parser made."""
    checker = _Checker(variables)
    type_ = checker.settled(checker.type_of(tree))
    mistakes = sorted(checker.mistakes, key=lambda mistake: (mistake.at.line, mistake.at.column))
    return Checked(type_, tuple(mistakes), frozenset(checker.secrets), checker.uses_secret_whole)


class _Checker:
    """A walk over one tree; `_scopes` has the variables, the innermost last."""

    def __init__(self, variables: Mapping[str, Type]) -> None:
        self.mistakes: list[Mistake] = []
        self.secrets: set[str] = set()
        self.uses_secret_whole = False
        self._inference = Inference()
        self._seen: dict[int, Type] = {}  # by identity: the tree outlives the walk
        self._scopes: list[Mapping[str, Type]] = [variables]

    def settled(self, type_: Type) -> Type:
        return self._inference.settled(type_)

    def type_of(self, node: ExpressionNode) -> Type:
        self._seen[id(node)] = type_ = self._type_of(node)
        return type_

    def _type_of(self, node: ExpressionNode) -> Type:
        match node:
            case Literal() | Ident():
                return self._ident(node) if isinstance(node, Ident) else _LITERALS[type(node.value)]
            case Select():
                return self._select(node)
            case IndexAccess():
                return self._index(node)
            case FunctionCall():
                return self._call(node)
            case ListOf():
                return self._list(node)
            case MapOf():
                return self._map(node)
            case Macro():
                return self._macro(node)

    def _wrong(self, at: Position, said: str, hint: str = "") -> Type:
        self.mistakes.append(Mistake(at, said, hint))
        return DYN

    def _ident(self, node: Ident) -> Type:
        if self._is_secret(node):
            self.uses_secret_whole = True
        for scope in reversed(self._scopes):
            if node.name in scope:
                return scope[node.name]
        if node.name in NAMED:
            return make_type_type(NAMED[node.name])
        names = {name for scope in self._scopes for name in scope}
        return self._wrong(
            node.at, f"undeclared reference to '{node.name}' (in container '')", _meant(node.name, names)
        )

    def _is_secret(self, node: ExpressionNode) -> bool:
        """Whether this is the variable `secret` of the environment, and not one that a macro binds."""
        is_named_so = isinstance(node, Ident) and node.name == "secret"
        return is_named_so and not any("secret" in scope for scope in self._scopes[1:])

    def _operand(self, node: ExpressionNode, key: Any) -> Type:
        """The type of what is selected from; a key of `secret` that is named counts as that, and not as the whole."""
        if self._is_secret(node) and isinstance(key, str):
            self.secrets.add(key)
            return self._scopes[0].get("secret", DYN)
        return self.type_of(node)

    def _select(self, node: Select) -> Type:
        operand = self._inference.resolved(self._operand(node.operand, node.field))
        was_optional = operand.name == "optional_type"
        inner = self._inference.resolved(operand.params[0]) if was_optional else operand
        found = self._field(inner, node)
        if node.test:
            return BOOL
        if not (was_optional or node.optional) or found.name == "optional_type":
            return found
        return make_optional_type(found)

    def _field(self, owner: Type, node: Select) -> Type:
        if owner.name == "map":
            if self._inference.fits([owner.params[0]], [STRING]):
                return self._inference.resolved(owner.params[1])
            return self._wrong(node.at, f"found no matching overload for '_[_]' applied to '({owner}, string)'")
        if owner.fields is not None:
            found = owner.fields.get(node.field)
            if found is None:
                return self._wrong(node.at, f"undefined field '{node.field}'", _meant(node.field, owner.fields))
            return found
        if owner == DYN or owner.is_param:
            return DYN
        return self._wrong(node.at, f"type '{self.settled(owner)}' does not support field selection")

    def _index(self, node: IndexAccess) -> Type:
        key = node.key.value if isinstance(node.key, Literal) else None
        operand = self._operand(node.operand, key)
        name = "_[?_]" if node.optional else "_[_]"
        return self._overload(name, (operand, self.type_of(node.key)), node.at)

    def _call(self, node: FunctionCall) -> Type:
        if node.function not in list_overloads():
            for part in (node.target, *node.args):
                if part is not None:
                    self.type_of(part)
            hint = _meant(node.function, (name for name in list_overloads() if name[0].isalpha()))
            return self._wrong(node.at, f"undeclared reference to '{node.function}' (in container '')", hint)
        args = tuple(map(self.type_of, node.args))
        if node.target is not None:
            found = self._overload(node.function, (self.type_of(node.target), *args), node.at, is_method=True)
            return self._format(node, found) if node.function == "format" else found
        if node.function in VARIADIC and len(args) > 1:
            args = (make_list_type(self._inference.joined(args)),)
        return self._overload(node.function, args, node.at)

    def _format(self, node: FunctionCall, found: Type) -> Type:
        """The clauses of a literal format string are checked as well; its values have been seen by then."""
        for at, said in check_format(node, lambda value: self.settled(self._seen.get(id(value), DYN))):
            self._wrong(at, said)
        return found

    def _overload(self, name: str, given: tuple[Type, ...], at: Position, *, is_method: bool = False) -> Type:
        rows = (row for row in list_overloads().get(name, ()) if row.is_method is is_method)
        result = self._inference.called(rows, given)
        return self._no_overload(name, given, at, is_method=is_method) if result is None else result

    def _no_overload(self, name: str, given: tuple[Type, ...], at: Position, *, is_method: bool = False) -> Type:
        words = [str(self.settled(type_)) for type_ in given]
        applied = f"{words[0]}.({', '.join(words[1:])})" if is_method else f"({', '.join(words)})"
        return self._wrong(at, f"found no matching overload for '{name}' applied to '{applied}'", _advice(name, words))

    def _list(self, node: ListOf) -> Type:
        return make_list_type(
            self._inference.joined([self._entry(item, is_optional) for item, is_optional in node.items])
        )

    def _entry(self, node: ExpressionNode, is_optional: bool) -> Type:  # noqa: FBT001 - as the tree has it
        type_ = self._inference.resolved(self.type_of(node))
        if not is_optional or type_ == DYN:
            return type_
        if type_.name != "optional_type":
            return self._wrong(
                node.at, f"expected type '{self.settled(make_optional_type(type_))}' but found '{self.settled(type_)}'"
            )
        return type_.params[0]

    def _map(self, node: MapOf) -> Type:
        keys = [self._inference.resolved(self.type_of(key)) for key, _, _ in node.entries]
        values = [self._entry(value, is_optional) for _, value, is_optional in node.entries]
        return make_map_type(self._inference.joined(keys), self._inference.joined(values))

    def _macro(self, node: Macro) -> Type:
        over = self._inference.resolved(self.type_of(node.over))
        types = bind_types(node.name, over, len(node.variables), self._inference)
        if types is None:
            self._wrong(node.over.at, _no_range(node.name, self.settled(over)))
            types = (DYN,) * len(node.variables)
        self._scopes.append(dict(zip(node.variables, types, strict=True)))
        args = [self._inference.resolved(self.type_of(arg)) for arg in node.args]
        self._scopes.pop()
        outcome = infer_macro(node.name, types, args)
        for arg, wanted, given in zip(node.args, outcome.wanted, args, strict=True):
            if not self._inference.fits([wanted], [given]):
                self._wrong(arg.at, f"expected type '{self.settled(wanted)}' but found '{self.settled(given)}'")
        return self._inference.resolved(outcome.gives)


def _no_range(name: str, over: Type) -> str:
    if name in {"optMap", "optFlatMap"}:
        return f"found no matching overload for '{name}' applied to '{over}'"
    return f"expression of type '{over}' cannot be range of a comprehension (must be list, map, or dynamic)"


def _meant(word: str, choices: Iterable[str]) -> str:
    found = suggest(word, choices)
    return f"Did you mean '{found}'?" if found else ""


def _advice(name: str, given: list[str]) -> str:
    """The mistake that is made most: something that is no text is added to text."""
    if name == "_+_" and "string" in given:
        return "Convert it first: string(…)."
    return ""
