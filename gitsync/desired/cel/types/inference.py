"""Infers whether types fit each other, and the types of calls and macros (CEL's type checking, with type parameters and
dyn).

The checker walks trees; this module has only types.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from gitsync.desired.cel.types.signatures import Overload
from gitsync.desired.cel.types.types import (
    BOOL,
    DYN,
    INT,
    NULL,
    Type,
    make_list_type,
    make_map_type,
    make_optional_type,
    make_type_parameter,
)


class Inference:
    """The bindings of an expression's type parameters so far."""

    def __init__(self) -> None:
        self._found: dict[str, Type] = {}
        self._earlier: list[tuple[str, Type | None]] = []  # to undo if a call does not fit after all
        self._numbers = count()

    def make_fresh(self) -> Type:
        """Make a type to be inferred, for example of the items of an empty list."""
        return make_type_parameter(str(next(self._numbers)))

    def resolve(self, type_: Type) -> Type:
        """Replace parameters of a type by their bindings."""
        while type_.is_param and (found := self._found.get(type_.name)) is not None:
            type_ = found
        if not type_.params:
            return type_
        return Type(type_.name, tuple(map(self.resolve, type_.params)), type_.fields)

    def settle(self, type_: Type) -> Type:
        """Resolve a type at the end: parameters without a binding are dyn."""
        known = self.resolve(type_)
        if known.is_param:
            return DYN
        if not known.params:
            return known
        return Type(known.name, tuple(map(self.settle, known.params)), known.fields)

    def fits(self, wanted: Sequence[Type], given: Sequence[Type]) -> bool:
        """Return whether each given type matches the wanted one; keeps the bindings of type parameters if all do."""
        before = len(self._earlier)
        if len(wanted) == len(given) and all(map(self._fit, wanted, given)):
            return True
        # A call that does not fit must leave no trace: the next overload is tried with the earlier bindings.
        while len(self._earlier) > before:
            name, type_ = self._earlier.pop()
            if type_ is None:
                del self._found[name]
            else:
                self._found[name] = type_
        return False

    def _keep(self, name: str, type_: Type) -> None:
        self._earlier.append((name, self._found.get(name)))
        self._found[name] = type_

    def join(self, types: Iterable[Type]) -> Type:
        """Join the types of a list's items to one: dyn if they differ, a type to be inferred if there are none."""
        joined: Type | None = None
        for type_ in types:
            if joined is None:
                joined = type_
            elif self.fits([joined], [type_]):
                joined = type_ if _is_wider(self.resolve(type_), self.resolve(joined)) else joined
            else:
                return DYN
        return self.make_fresh() if joined is None else joined

    def infer_call(self, overloads: Iterable[Overload], given: Sequence[Type]) -> Type | None:
        """Infer the type of a call; dyn if several overloads fit and differ, None if none fits."""
        result: Type | None = None
        for overload in overloads:
            wanted, gives = self._rename_parameters(overload)
            if self.fits(wanted, given):
                now = self.resolve(gives)
                # With a dyn argument several overloads may fit, and only a run shows which one is called.
                result = now if result is None or result == now else DYN
        return result

    def _rename_parameters(self, overload: Overload) -> tuple[Sequence[Type], Type]:
        """Give an overload its own parameters, so that two calls do not share them."""
        if not overload.is_generic:
            return overload.args, overload.result
        names: dict[str, Type] = {}

        def rename(type_: Type) -> Type:
            if type_.is_param:
                return names.setdefault(type_.name, self.make_fresh())
            return Type(type_.name, tuple(map(rename, type_.params)), type_.fields) if type_.params else type_

        return [rename(arg) for arg in overload.args], rename(overload.result)

    def _fit(self, wanted: Type, given: Type) -> bool:
        if wanted.is_param:
            return self._stand_for(wanted, given)
        if given.is_param:
            return self._stand_for(given, wanted)
        if DYN in (wanted, given):
            return True
        if NULL in (wanted, given):
            return wanted.is_nullable and given.is_nullable
        # Types as values compare, whatever their types: `type(x) == string`.
        if wanted.name == "type":
            return given.name == "type"
        alike = wanted.name == given.name and len(wanted.params) == len(given.params)
        return alike and all(map(self._fit, wanted.params, given.params))

    def _stand_for(self, parameter: Type, type_: Type) -> bool:
        """Return whether a parameter may be a type; the wider of the earlier and the new binding is kept."""
        known, other = self.resolve(parameter), self.resolve(type_)
        if known == other:
            return True
        if known.is_param or other.is_param:
            open_, meant = (other, known) if other.is_param else (known, other)
            # A type that contains itself would have no end.
            if _mentions(meant, open_):
                return False
            self._keep(open_.name, meant)
            return True
        if not self._fit(known, other):
            return False
        if _is_wider(other, known):
            self._keep(self._find_last(parameter).name, other)
        return True

    def _find_last(self, parameter: Type) -> Type:
        """Find the parameter at the end of a chain of parameters that are bound to each other."""
        while (found := self._found.get(parameter.name)) is not None and found.is_param:
            parameter = found
        return parameter


def _is_wider(first: Type, other: Type) -> bool:
    """Return whether the first type is the second with dyn in place of some types."""
    if first == DYN:
        return other != DYN
    if first == other or first.name != other.name or len(first.params) != len(other.params):
        return False
    pairs = list(zip(first.params, other.params, strict=True))
    return all(mine == theirs or _is_wider(mine, theirs) for mine, theirs in pairs)


def _mentions(type_: Type, parameter: Type) -> bool:
    return type_ == parameter or any(_mentions(inner, parameter) for inner in type_.params)


@dataclass(frozen=True, slots=True)
class MacroTypes:
    """The types that a macro needs for its arguments, and the type of its result."""

    wanted: tuple[Type, ...]
    gives: Type


def bind_types(name: str, over: Type, count: int, inference: Inference) -> tuple[Type, ...] | None:
    """Find the types of a macro's variables; None if it does not support the type of its target. One variable is an
    item of a list or a key of a map; two are position and item, or key and value.
    """
    if name == "bind":
        return (over,)
    if over == DYN or over.is_param:
        return (DYN,) * count
    if name in {"optMap", "optFlatMap"}:
        return over.params if over.name == "optional_type" else None
    params = tuple(map(inference.resolve, over.params))
    pairs = {"list": (INT, *params), "map": params}
    pair = pairs.get(over.name)
    if pair is None:
        return None
    if count == 2:
        return pair
    return pair[1:] if over.name == "list" else pair[:1]


def infer_macro(name: str, variables: Sequence[Type], args: Sequence[Type]) -> MacroTypes:
    """Infer the needed types of a macro's arguments, and the type of its result."""
    last = args[-1]
    condition = (BOOL,) * (len(args) - 1)
    match name:
        case "all" | "exists" | "exists_one":
            return MacroTypes((BOOL,), BOOL)
        case "filter":
            return MacroTypes((BOOL,), make_list_type(variables[0]))
        case "map" | "transformList":
            return MacroTypes((*condition, last), make_list_type(last))
        case "transformMap":
            key = variables[0]
            return MacroTypes((*condition, last), make_map_type(key, last))
        case "transformMapEntry":
            return MacroTypes((*condition, make_map_type(DYN, DYN)), last)
        case "optMap":
            return MacroTypes((last,), make_optional_type(last))
        case "optFlatMap":
            return MacroTypes((make_optional_type(DYN),), last)
        case _:  # bind: the type of its body
            return MacroTypes((last,), last)
