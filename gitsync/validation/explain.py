"""Describe a kind, or a field of it: types, constraints, and its place in the ARM body.

Uses the facts only. The command shows the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gitsync.catalog.catalog import Catalog
from gitsync.catalog.everyday_names import Home, list_everyday_names
from gitsync.catalog.kind_names import KindMatch
from gitsync.catalog.reference_targets import find_target, list_children, list_referrers
from gitsync.catalog.type_words import describe_type, join_with_or
from gitsync.errors import ConfigError
from gitsync.model.facts import Field, Kind, Scope, TypeFacts
from gitsync.problems.suggest import suggest
from gitsync.validation.field_places import (
    ALL_CHOICES,
    FieldPlace,
    describe_place,
    describe_rules,
    find_named_type,
    find_type_facts,
    list_fields,
)
from gitsync.validation.name_rules import is_uuid_named
from gitsync.validation.references import REFERENCES

_MOST_CHILDREN = 20
_TOP = ("spec", "status")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRow:
    """One field: its depth below the requested one, its type in a word, and its notes."""

    depth: int
    name: str
    type: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`facts` are pairs of a heading and a text, about the kind. `field` is the requested field ("spec" for the kind
    itself), `notes` are its constraints, and `rows` the fields inside it. `referrers` are the fields of other kinds
    that refer to the kind, if no field was requested.
    """

    facts: tuple[tuple[str, str], ...]
    field: str
    type: str
    notes: tuple[str, ...]
    rows: tuple[FieldRow, ...]
    referrers: tuple[str, ...] = ()


def explain_kind(match: KindMatch, catalog: Catalog, *, recursive: bool = False) -> Explanation:
    """Explain a kind or a field. The fields may omit `spec`. Raises ConfigError if a field does not exist."""
    kind = match.kind
    place = _descend(kind, match.fields if match.fields and match.fields[0] in _TOP else ("spec", *match.fields))
    relations = () if match.fields else tuple(_describe_relations(kind, catalog))
    return Explanation(
        facts=(*describe_kind(kind, catalog), *relations),
        field=place.path,
        type=describe_type(place.field["type"]),
        notes=(*describe_place(place, kind), *_describe_target(place, kind, catalog)),
        rows=tuple(_make_rows(place, kind, deep=recursive)),
        referrers=() if match.fields else tuple(_list_referrers(kind, catalog)),
    )


def _descend(kind: Kind, fields: tuple[str, ...]) -> FieldPlace:
    field: Field = {"type": {"ref": kind.spec if fields[0] == "spec" else kind.status}}
    place = FieldPlace(name=fields[0], path=fields[0], arm="", field=field)
    for name in fields[1:]:
        places = {place_inside.name: place_inside for place_inside in list_fields(place, kind)}
        if name not in places:
            raise _make_no_field(place.path, name, places)
        place = places[name]
    return place


def _make_no_field(path: str, name: str, field_names: Iterable[str]) -> ConfigError:
    close = suggest(name, field_names)
    if close:
        hint = f"Did you mean {path}.{close}?"
    else:
        hint = (
            f"Known fields: {join_with_or(sorted(field_names), ALL_CHOICES)}."
            if field_names
            else f"{path} has no fields of its own."
        )
    return ConfigError(f"There is no field {path}.{name}.", hint=hint)


def _make_rows(
    place: FieldPlace, kind: Kind, *, deep: bool, outer_types: tuple[TypeFacts, ...] = ()
) -> Iterator[FieldRow]:
    """The rows of the fields inside a field; if `deep`, of all below, except inside a type that contains itself."""
    facts = find_type_facts(place.field["type"], kind)
    if facts is None or any(facts is outer for outer in outer_types):
        return
    for place_inside in list_fields(place, kind):
        name = place_inside.name
        yield FieldRow(
            depth=len(outer_types),
            name=name,
            type=describe_type(place_inside.field["type"]),
            notes=describe_place(place_inside, kind),
        )
        if deep:
            yield from _make_rows(place_inside, kind, deep=True, outer_types=(*outer_types, facts))


def describe_kind(kind: Kind, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """Facts about a kind, as pairs of a heading and a text."""
    yield "kind", kind.gvk.kind
    yield "apiVersion", kind.gvk.api_version
    others = [v for v in reversed(catalog.versions(kind.gvk.group, kind.gvk.kind)) if v != kind.gvk.version]
    if others:
        yield "also", ", ".join(others)
    yield "ARM", f"{kind.arm_type}, api-version {kind.api_version}"
    yield "owner", _describe_owner(kind)
    yield "name", _describe_name(kind)
    yield "Azure can", ", ".join(sorted(operation.lower() for operation in kind.operations))


def _describe_relations(kind: Kind, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """What people call a kind, and the kinds that it owns."""
    home = (kind.gvk.group, kind.gvk.kind)
    if names := list_everyday_names(home):
        yield "called", ", ".join(names)
    if children := list_children(home, catalog):
        more = f" and {len(children) - _MOST_CHILDREN} more kinds" if len(children) > _MOST_CHILDREN else ""
        yield "owns", ", ".join(format_home(child, home[0]) for child in children[:_MOST_CHILDREN]) + more


def _list_referrers(kind: Kind, catalog: Catalog) -> Iterator[str]:
    for one in list_referrers((kind.gvk.group, kind.gvk.kind), catalog):
        yield f"{format_home((one.group, one.kind), kind.gvk.group)}.{one.path}"


def _describe_target(place: FieldPlace, kind: Kind, catalog: Catalog) -> Iterator[str]:
    if find_named_type(place.field["type"]) in REFERENCES and (target := find_target(kind, place.path, catalog)):
        yield f"refers to a {format_home(target, kind.gvk.group)}"


def format_home(home: Home, group: str) -> str:
    """A kind, with its group unless that is `group`."""
    return home[1] if home[0] == group else f"{home[1]}.{home[0]}"


def _describe_owner(kind: Kind) -> str:
    if kind.any_owner:
        return "any resource, by group, kind and name, or by armId"
    if kind.owner is not None:
        return f"a {kind.owner[1]} ({kind.owner[0]}) by name, or by armId"
    return "none: it is in the subscription" if kind.scope is Scope.LOCATION else "none: it is in the tenant"


def _describe_name(kind: Kind) -> str:
    if kind.fixed_azure_name is not None:
        return f"always {kind.fixed_azure_name}"
    default = "a UUID made of the owner and metadata.name" if is_uuid_named(kind) else "metadata.name"
    return "; ".join([f"spec.azureName, else {default}", *describe_rules(kind.azure_name)])
