"""The positions in a kind's spec: what may be in a field, in a list, in a map.

A walk over a spec needs the position of each value, so a position is made once for its kind, when it is first used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from sys import float_info
from typing import Any, Final

from gitsync.desired.catalog.aso_types import ASO_TYPES, HEADER_TYPES, SCALARS
from gitsync.model.facts import Field, FieldType, Kind, TypeFacts

_RANGES: Final[Mapping[str, dict[str, Any]]] = {
    "integer": {"range": (-(2**63), 2**63 - 1)},
    "number": {"range": (-float_info.max, float_info.max)},
}
"""The numbers that an API server can read: those of 64 bits."""

_NO_RULES: Final = frozenset(
    {"type", "arm", "mode", "meta", "required", "whenEmpty", "default", "signsIn", "optionalConfigMapPair"}
)
"""Facts about a field that do not constrain its value."""


class Members(dict[str, "SpecPosition"]):
    """The positions of the named fields of a type, made when they are first used; KeyError for any other name."""

    def __init__(self, types: Mapping[str, TypeFacts], fields: Mapping[str, Field]) -> None:
        super().__init__()
        self._types = types
        self._fields = fields

    def __missing__(self, name: str) -> SpecPosition:
        position = self[name] = make_position(self._types, self._fields[name])
        return position


@dataclass(frozen=True, kw_only=True, eq=False)
class SpecPosition:
    """One place. It equals itself alone, so what follows from it may be looked up by it."""

    types: Mapping[str, TypeFacts]  # those of the kind, by name
    shape: str  # a scalar's name, "mapping" (with `facts`), "map" or "list" (of `inner`)
    name: str = ""  # the type's, "" if it has none
    rules: Mapping[str, Any]  # the constraints of the field and of its type
    facts: TypeFacts | None = None  # of the type, for a mapping
    inner: FieldType = "any"  # the type of the values of a map or the items of a list
    fields: Mapping[str, Field] = field(default_factory=dict)  # those of `facts`

    @cached_property
    def members(self) -> Members:
        """The positions of its named fields."""
        return Members(self.types, self.fields)

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The names of the fields that must be set, sorted."""
        return tuple(sorted(name for name, facts in self.fields.items() if facts.get("required")))

    @cached_property
    def entry(self) -> SpecPosition:
        """The position of each entry of a list or a map."""
        return make_position(self.types, {"type": self.inner})


@cache
def find_root(kind: Kind) -> SpecPosition:
    """The position of a complete spec."""
    return make_position(kind.types, {"type": {"ref": kind.spec}})


def make_position(types: Mapping[str, TypeFacts], facts: Field) -> SpecPosition:
    """The position of a field, or of anything with a type."""
    rules = {name: limit for name, limit in facts.items() if name not in _NO_RULES}
    type_ = facts["type"]
    while not isinstance(type_, str) and "base" in type_:
        rules |= {name: limit for name, limit in type_.items() if name != "base"}
        type_ = type_["base"]
    if isinstance(type_, str):
        if type_ in SCALARS:
            return SpecPosition(types=types, shape=type_, name=type_, rules=_RANGES.get(type_, {}) | rules)
        return _make_mapping(types, type_, rules, ASO_TYPES[type_])
    if "ref" in type_:
        return _make_mapping(types, type_["ref"], rules, types[type_["ref"]])
    shape = "list" if "list" in type_ else "map"
    return SpecPosition(types=types, shape=shape, rules=rules, inner=type_[shape])


def _make_mapping(
    types: Mapping[str, TypeFacts], name: str, rules: Mapping[str, Any], facts: TypeFacts
) -> SpecPosition:
    return SpecPosition(types=types, shape="mapping", name=name, rules=rules, facts=facts, fields=facts["fields"])


HEADER: Final = make_position(HEADER_TYPES, {"type": {"ref": "header"}})
"""The position of what a manifest has beside its spec."""
