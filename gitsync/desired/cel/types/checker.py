"""Checks whether an expression fits its variables, and finds its type (CEL's language definition, "Type checking").

The checker collects every problem of an expression; a wrong part gets the type dyn, so that each mistake is reported
once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

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
)
from gitsync.desired.cel.types.format_strings import check_format
from gitsync.desired.cel.types.inference import Inference, bind_types, infer_macro
from gitsync.desired.cel.types.signatures import VARIADIC, list_overloads
from gitsync.desired.cel.types.types import (
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
from gitsync.desired.cel.values import Uint
from gitsync.desired.problems.suggest import suggest

_LITERALS: Final[Mapping[type, Type]] = {
    type(None): NULL, bool: BOOL, int: INT, Uint: UINT, float: DOUBLE, str: STRING, bytes: BYTES,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mistake:
    """One type error, worded as in CEL, and a hint."""

    at: Position
    said: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """The checked expression."""

    type: Type  # of the result
    mistakes: tuple[Mistake, ...]  # every one, in reading order
    secrets: frozenset[str]  # the keys of `secret` that it names
    uses_secret_object: bool  # it uses `secret` other than by key


def check(tree: ExpressionNode, variables: Mapping[str, Type]) -> Checked:
    """Check an expression with these variables; never raises for a tree that the parser made."""
    checker = _Checker(variables)
    type_ = checker.settle(checker.infer_type(tree))
    mistakes = sorted(checker.mistakes, key=lambda mistake: (mistake.at.line, mistake.at.column))
    return Checked(type_, tuple(mistakes), frozenset(checker.secrets), checker.uses_secret_object)


class _Checker:
    """A walk over one tree; `_scopes` has the variables, the innermost last."""

    def __init__(self, variables: Mapping[str, Type]) -> None:
        self.mistakes: list[Mistake] = []
        self.secrets: set[str] = set()
        self.uses_secret_object = False
        self._inference = Inference()
        self._seen: dict[int, Type] = {}  # by identity: the tree outlives the walk
        self._scopes: list[Mapping[str, Type]] = [variables]

    def settle(self, type_: Type) -> Type:
        return self._inference.settle(type_)

    def infer_type(self, node: ExpressionNode) -> Type:
        self._seen[id(node)] = type_ = self._infer_node(node)
        return type_

    def _infer_node(self, node: ExpressionNode) -> Type:
        match node:
            case Literal() | Ident():
                return self._infer_name(node) if isinstance(node, Ident) else _LITERALS[type(node.value)]
            case Select():
                return self._infer_select(node)
            case IndexAccess():
                return self._infer_index(node)
            case FunctionCall():
                return self._infer_call(node)
            case ListOf():
                return self._infer_list(node)
            case MapOf():
                return self._infer_map(node)
            case Macro():
                return self._infer_macro(node)

    def _report(self, at: Position, said: str, hint: str = "") -> Type:
        self.mistakes.append(Mistake(at, said, hint))
        return DYN

    def _infer_name(self, node: Ident) -> Type:
        if self._is_secret(node):
            self.uses_secret_object = True
        # The innermost variable of a name hides the others.
        for scope in reversed(self._scopes):
            if node.name in scope:
                return scope[node.name]
        if node.name in NAMED:
            return make_type_type(NAMED[node.name])
        names = {name for scope in self._scopes for name in scope}
        return self._report(
            node.at, f"undeclared reference to '{node.name}' (in container '')", _suggest_name(node.name, names)
        )

    def _is_secret(self, node: ExpressionNode) -> bool:
        """Return whether this is the variable `secret` of the environment, and not one that a macro binds."""
        is_named_so = isinstance(node, Ident) and node.name == "secret"
        return is_named_so and not any("secret" in scope for scope in self._scopes[1:])

    def _infer_operand(self, node: ExpressionNode, key: Any) -> Type:
        """Infer the type of an operand; a named key of `secret` counts as that key, and not as all of `secret`."""
        if self._is_secret(node) and isinstance(key, str):
            self.secrets.add(key)
            return self._scopes[0].get("secret", DYN)
        return self.infer_type(node)

    def _infer_select(self, node: Select) -> Type:
        operand = self._inference.resolve(self._infer_operand(node.operand, node.field))
        was_optional = operand.name == "optional_type"
        inner = self._inference.resolve(operand.params[0]) if was_optional else operand
        found = self._infer_field(inner, node)
        if node.test:
            return BOOL
        # A field of an optional is an optional, and an optional field is not wrapped twice.
        if not (was_optional or node.optional) or found.name == "optional_type":
            return found
        return make_optional_type(found)

    def _infer_field(self, owner: Type, node: Select) -> Type:
        if owner.name == "map":
            if self._inference.fits([owner.params[0]], [STRING]):
                return self._inference.resolve(owner.params[1])
            return self._report(node.at, f"found no matching overload for '_[_]' applied to '({owner}, string)'")
        if owner.fields is not None:
            found = owner.fields.get(node.field)
            if found is None:
                return self._report(node.at, f"undefined field '{node.field}'", _suggest_name(node.field, owner.fields))
            return found
        if owner == DYN or owner.is_param:
            return DYN
        return self._report(node.at, f"type '{self.settle(owner)}' does not support field selection")

    def _infer_index(self, node: IndexAccess) -> Type:
        key = node.key.value if isinstance(node.key, Literal) else None
        operand = self._infer_operand(node.operand, key)
        name = "_[?_]" if node.optional else "_[_]"
        return self._infer_overload(name, (operand, self.infer_type(node.key)), node.at)

    def _infer_call(self, node: FunctionCall) -> Type:
        if node.function not in list_overloads():
            # Mistakes inside the call are reported too.
            for part in (node.target, *node.args):
                if part is not None:
                    self.infer_type(part)
            hint = _suggest_name(node.function, (name for name in list_overloads() if name[0].isalpha()))
            return self._report(node.at, f"undeclared reference to '{node.function}' (in container '')", hint)
        args = tuple(map(self.infer_type, node.args))
        if node.target is not None:
            found = self._infer_overload(node.function, (self.infer_type(node.target), *args), node.at, is_method=True)
            return self._check_format(node, found) if node.function == "format" else found
        if node.function in VARIADIC and len(args) > 1:
            args = (make_list_type(self._inference.join(args)),)
        return self._infer_overload(node.function, args, node.at)

    def _check_format(self, node: FunctionCall, found: Type) -> Type:
        # The clauses of a literal format string are checked as well; the types of its values are known by then.
        for at, said in check_format(node, lambda value: self.settle(self._seen.get(id(value), DYN))):
            self._report(at, said)
        return found

    def _infer_overload(self, name: str, given: tuple[Type, ...], at: Position, *, is_method: bool = False) -> Type:
        rows = (row for row in list_overloads().get(name, ()) if row.is_method is is_method)
        result = self._inference.infer_call(rows, given)
        return self._report_no_overload(name, given, at, is_method=is_method) if result is None else result

    def _report_no_overload(self, name: str, given: tuple[Type, ...], at: Position, *, is_method: bool = False) -> Type:
        words = [str(self.settle(type_)) for type_ in given]
        applied = f"{words[0]}.({', '.join(words[1:])})" if is_method else f"({', '.join(words)})"
        return self._report(at, f"found no matching overload for '{name}' applied to '{applied}'", _advise(name, words))

    def _infer_list(self, node: ListOf) -> Type:
        return make_list_type(
            self._inference.join([self._infer_entry(item, is_optional) for item, is_optional in node.items])
        )

    def _infer_entry(self, node: ExpressionNode, is_optional: bool) -> Type:  # noqa: FBT001 - as the tree has it
        type_ = self._inference.resolve(self.infer_type(node))
        if not is_optional or type_ == DYN:
            return type_
        if type_.name != "optional_type":
            return self._report(
                node.at, f"expected type '{self.settle(make_optional_type(type_))}' but found '{self.settle(type_)}'"
            )
        return type_.params[0]

    def _infer_map(self, node: MapOf) -> Type:
        keys = [self._inference.resolve(self.infer_type(key)) for key, _, _ in node.entries]
        values = [self._infer_entry(value, is_optional) for _, value, is_optional in node.entries]
        return make_map_type(self._inference.join(keys), self._inference.join(values))

    def _infer_macro(self, node: Macro) -> Type:
        over = self._inference.resolve(self.infer_type(node.over))
        types = bind_types(node.name, over, len(node.variables), self._inference)
        if types is None:
            given = self.settle(over)
            said = f"expression of type '{given}' cannot be range of a comprehension (must be list, map, or dynamic)"
            if node.name in {"optMap", "optFlatMap"}:
                said = f"found no matching overload for '{node.name}' applied to '{given}'"
            self._report(node.over.at, said)
            # With dyn, the body is still checked, and the wrong range is reported once.
            types = (DYN,) * len(node.variables)
        self._scopes.append(dict(zip(node.variables, types, strict=True)))
        args = [self._inference.resolve(self.infer_type(arg)) for arg in node.args]
        self._scopes.pop()
        outcome = infer_macro(node.name, types, args)
        for arg, wanted, given in zip(node.args, outcome.wanted, args, strict=True):
            if not self._inference.fits([wanted], [given]):
                self._report(arg.at, f"expected type '{self.settle(wanted)}' but found '{self.settle(given)}'")
        return self._inference.resolve(outcome.gives)


def _suggest_name(word: str, choices: Iterable[str]) -> str:
    found = suggest(word, choices)
    return f"Did you mean '{found}'?" if found else ""


def _advise(name: str, given: list[str]) -> str:
    # The most frequent mistake: adding a value that is not text to text.
    if name == "_+_" and "string" in given:
        return "Convert it first: string(…)."
    return ""
