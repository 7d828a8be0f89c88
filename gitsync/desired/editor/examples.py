"""A valid manifest of each kind: its owner, its required fields, and a value for each that its rules accept.

Of the kinds that people use most, an example has the usual fields too. What depends on Azure, such as the sizes that a
region has, is left to people.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.kind_names import choose_newest_version
from gitsync.desired.catalog.later_versions import find_lacking
from gitsync.desired.catalog.reference_targets import find_target
from gitsync.desired.catalog.spec_visitor import visit_spec
from gitsync.desired.editor.usual_fields import USUAL_FIELDS
from gitsync.desired.validation.constraints import list_violations
from gitsync.desired.validation.explain import (
    KindField,
    find_spec,
    find_type_facts,
    list_fields,
    list_members,
    resolve_rules,
)
from gitsync.desired.validation.name_rules import list_name_faults
from gitsync.model.facts import Field, Kind
from gitsync.model.gvk import GVK

GROUP: Final = ("resources.azure.com", "ResourceGroup")

VALUES: Final[Mapping[str, tuple[Any, ...]]] = {
    "addressPrefix": ("10.0.0.0/24",),
    "addressPrefixes": ("10.0.0.0/16",),
    "authorizedIPRanges": ("203.0.113.0/24",),
    "domainManagement": ("CustomerManaged",),
    "endIpAddress": ("203.0.113.20",),
    "location": ("westeurope", "global"),
    "mode": ("System",),
    "principalType": ("ServicePrincipal",),
    "publisherEmail": ("platform@example.com",),
    "startIpAddress": ("203.0.113.10",),
    "tenantId": ("00000000-0000-0000-0000-000000000000",),
    "principalId": ("00000000-0000-0000-0000-000000000000",),
    "objectId": ("00000000-0000-0000-0000-000000000000",),
    "version": ("1.0",),
}
"""Values that make sense in a field of a name."""

TEXTS: Final = (
    "example",
    "Example",
    "https://example.com",
    "203.0.113.10",
    "10.0.0.0/16",
    "00000000-0000-0000-0000-000000000000",
    "08:00",
    "+01:00",
    "1.0.0.0",
    "ZXhhbXBsZQ==",
    "a",
    "example-manifest-that-is-long-enough",
)
NAMES: Final = ("example", "example1", "Example", "example-name", "a1", "00000000-0000-0000-0000-000000000000")
NUMBERS: Final = (1, 2, 10, 100, 1000, 0)


class NoExampleError(Exception):
    """The tables of this module have no value that a field accepts: a fault of gitsync, which nothing catches. The
    message is the path of the field.
    """


def build_example(kind: Kind, catalog: Catalog) -> Mapping[str, Any]:
    """Build a valid manifest of a kind. NoExampleError if a required field has rules that no known value meets."""
    required = _ExampleBuilder(kind, catalog).build_object(find_spec(kind))
    spec = {**_build_identity(kind), **required, **_choose_usual(kind)}
    document: dict[str, Any] = {
        "apiVersion": kind.gvk.api_version,
        "kind": kind.gvk.kind,
        "metadata": {"name": "example"},
    }
    return {**document, "spec": spec} if spec else document


def build_examples(catalog: Catalog) -> Mapping[str, Mapping[str, Any]]:
    """Build an example of each kind at its newest version, by its name; with the group, if several groups have the
    kind.
    """
    group_kinds = [(group, name) for group in catalog.groups() for name in catalog.kinds(group)]
    names = [name for _, name in group_kinds]
    examples = {}
    for group, name in group_kinds:
        kind = catalog.kind(GVK(group, choose_newest_version(group, name, catalog), name))
        label = name if names.count(name) == 1 else f"{name}.{group}"
        if kind is not None:
            examples[label] = build_example(kind, catalog)
    return examples


def _choose_usual(kind: Kind) -> Mapping[str, Any]:
    """Choose the usual fields of a kind; none at a version that lacks one of them, or does not accept its value."""
    fields = USUAL_FIELDS.get((kind.gvk.group, kind.gvk.kind), {})
    fits = not find_lacking(kind, fields) and all(
        _is_valid(visit.value, visit.rules) for visit in visit_spec(kind, fields)
    )
    return fields if fits else {}


def _build_identity(kind: Kind) -> Mapping[str, Any]:
    """Build the owner, and the name in Azure where that of the manifest cannot be one."""
    identity: dict[str, Any] = {}
    # Without azureName the name of the manifest counts, and some kinds do not take `example`.
    if kind.fixed_azure_name is None and any(list_name_faults("example", kind)):
        identity["azureName"] = _choose((name for name in NAMES if not any(list_name_faults(name, kind))), "azureName")
    if kind.any_owner:
        identity["owner"] = {"group": GROUP[0], "kind": GROUP[1], "name": "example"}
    elif kind.owner is not None:
        identity["owner"] = {"name": "example"}
    return identity


class _ExampleBuilder:
    """Builds values for the fields of one kind."""

    def __init__(self, kind: Kind, catalog: Catalog) -> None:
        self._kind = kind
        self._catalog = catalog

    def build_object(self, kind_field: KindField) -> dict[str, Any]:
        """Build the required fields of an object; of a union, its first member."""
        facts = find_type_facts(kind_field.facts["type"], self._kind)
        chosen = set(list_members(facts)[:1]) if facts and facts.get("oneOf") else set()
        fields = tuple(list_fields(kind_field, self._kind))
        if len(fields) == 1:  # an object around a reference is nothing without it
            chosen = {fields[0].name}
        return {
            field.name: self._build_value(field.facts, field)
            for field in fields
            if self._is_shown(field) or field.name in chosen
        }

    def _is_shown(self, kind_field: KindField) -> bool:
        if kind_field.path in {"spec.owner", "spec.azureName"}:
            return False
        return bool(kind_field.facts.get("required")) or kind_field.path == "spec.location"

    def _build_value(self, field: Field, kind_field: KindField) -> Any:
        type_, rules = resolve_rules(field)
        if isinstance(type_, str):
            return self._build_named(type_, rules, kind_field)
        if "ref" in type_:
            return self.build_object(replace(kind_field, facts={"type": type_}))
        if "map" in type_:  # its keys are names of the author
            return {}
        return [self._build_value({"type": type_["list"]}, kind_field) for _ in range(int(rules.get("minItems", 1)))]

    def _build_named(self, name: str, rules: Mapping[str, Any], kind_field: KindField) -> Any:
        if name == "any":
            return {}
        if name in _OBJECTS:
            return dict(_OBJECTS[name])
        if name in {"reference", "wellKnownReference", "arbitraryOwner"}:
            return self._refer(name, kind_field)
        return _choose(
            (value for value in _list_values(name, rules, kind_field) if _is_valid(value, rules)), kind_field.path
        )

    def _refer(self, name: str, kind_field: KindField) -> Mapping[str, Any]:
        if name == "wellKnownReference":
            return {"wellKnownName": "Reader"}
        group, kind = find_target(self._kind, kind_field.path, self._catalog) or GROUP
        return {"group": group, "kind": kind, "name": "example"}


_OBJECTS: Final[Mapping[str, Mapping[str, str]]] = {
    "secretReference": {"name": "example", "key": "value"},
    "secretMapReference": {"name": "example"},
    "configMapReference": {"name": "example", "key": "value"},
    "secretDestination": {"name": "example", "key": "value"},
    "configMapDestination": {"name": "example", "key": "value"},
    "destinationExpression": {"name": "example", "key": "value", "value": "self.status.id"},
}


def _list_values(name: str, rules: Mapping[str, Any], kind_field: KindField) -> Iterator[Any]:
    """List values to try, the most sensible first."""
    usual = VALUES.get(kind_field.name, ())
    yield from (value for value in usual if isinstance(value, str) is (name == "string"))
    yield from rules.get("enum", ())
    if name == "string":
        yield from TEXTS
    elif name == "boolean":
        yield True
    else:
        yield from (int(float(str(rules[limit]))) for limit in ("minimum", "maximum") if limit in rules)
        yield from NUMBERS


def _is_valid(value: Any, rules: Mapping[str, Any]) -> bool:
    return next(list_violations(value, rules), None) is None


def _choose(values: Iterable[Any], path: str) -> Any:
    """Choose the first value. NoExampleError if there is none."""
    for value in values:
        return value
    raise NoExampleError(path)
