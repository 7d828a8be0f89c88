"""A walk over a manifest's spec, side by side with the types of its kind.

Each check looks at visits and at nothing else, so that types, unions, maps, lists and nulls are understood once.
Null counts as absent in a mapping, as an API server prunes it; in a list it stays and has the wrong type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from gitsync.catalog.aso_types import ASO_TYPES, SCALARS
from gitsync.model.facts import Field, FieldType, Kind, TypeFacts
from gitsync.model.secret import Placeholder, Secret
from gitsync.problems.field_path import FieldPath


class Visit(NamedTuple):
    """One value, and the type of its place. A tuple, since a run makes one of each value of each manifest.

    `shape` is a scalar's name, "mapping" (named fields: `facts`), "map" or "list" (of `inner`). `name` is the type's
    name if it has one. `rules` are the constraints of the field and of its type. `fits` tells whether the value has
    that shape; only then it has children.
    """

    path: FieldPath
    value: Any
    shape: str
    name: str = ""
    rules: Mapping[str, Any] = {}
    facts: TypeFacts | None = None
    inner: FieldType = "any"
    fits: bool = True

    @property
    def fields(self) -> Mapping[str, Field]:
        """The named fields that are allowed here."""
        return self.facts["fields"] if self.facts else {}

    @property
    def present(self) -> Mapping[str, Any]:
        """The known fields that are set here."""
        fields = self.fields
        members = self.value.items() if fields else ()
        return {key: value for key, value in members if value is not None and key in fields}


def visit_spec(kind: Kind, spec: Any) -> list[Visit]:
    """Every value of a spec that has a place in its kind, parents first, in the order of the manifest."""
    visits: list[Visit] = []
    _visit(visits, kind.types, ("spec",), spec, {"type": {"ref": kind.spec}})
    return visits


def fits(shape: str, value: Any) -> bool:
    """Tell whether an API server accepts the value for the shape: no string for a number, no boolean for a string; a
    number without a fraction is an integer, and an integer is a number.
    """
    match shape:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return not isinstance(value, bool) and (
                isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            )
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
        case "list":
            return isinstance(value, list)
        case "mapping" | "map":
            return isinstance(value, dict)
        case _:
            return True


def _visit(visits: list[Visit], types: Mapping[str, TypeFacts], path: FieldPath, value: Any, place: Field) -> None:
    visit = _make_visit(types, path, value, place)
    visits.append(visit)
    if visit.fits:
        for key, child, inner in _list_children(visit):
            _visit(visits, types, (*path, key), child, inner)


def _make_visit(types: Mapping[str, TypeFacts], path: FieldPath, value: Any, place: Field) -> Visit:
    rules: dict[str, Any] = dict(place)
    type_: FieldType = rules.pop("type")
    while not isinstance(type_, str) and "base" in type_:
        rules |= {name: limit for name, limit in type_.items() if name != "base"}
        type_ = type_["base"]
    if isinstance(value, Placeholder) or (isinstance(value, Secret) and type_ == "string"):
        return Visit(path, value, "any")  # its text is not known, or not looked at
    if isinstance(type_, str):
        if type_ in SCALARS:
            return Visit(path, value, type_, type_, rules, fits=fits(type_, value))
        return Visit(path, value, "mapping", type_, rules, ASO_TYPES[type_], fits=isinstance(value, dict))
    if "ref" in type_:
        name = type_["ref"]
        return Visit(path, value, "mapping", name, rules, types[name], fits=isinstance(value, dict))
    shape = "list" if "list" in type_ else "map"
    return Visit(path, value, shape, "", rules, inner=type_[shape], fits=fits(shape, value))


def _list_children(visit: Visit) -> Iterator[tuple[str | int, Any, Field]]:
    inner: Field = {"type": visit.inner}
    if visit.shape == "list":
        yield from ((position, value, inner) for position, value in enumerate(visit.value))
    elif visit.shape == "map":
        yield from ((key, value, inner) for key, value in visit.value.items() if value is not None)
    elif visit.shape == "mapping":
        fields = visit.fields
        yield from ((k, v, fields[k]) for k, v in visit.value.items() if v is not None and k in fields)
