"""Schemas as flat tables, so that those of a CRD and those of the catalog's facts compare property by property.

A table has a row for each property by its path: `spec.tags{}` is a value of a map, and `spec.zones[]` an entry of a
list. A row has the type in OpenAPI's words (and `any` for any JSON), `required`, and the rules by their names in
OpenAPI.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitsync.model.facts import Kind

Row = dict[str, Any]
Table = dict[str, Row]

RULES = ("enum", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum", "multipleOf", "pattern")
_TEXT: Row = {"type": "string"}
_MUST: Row = {"type": "string", "required": True}
_REFERENCE: Table = {"armId": _TEXT, "group": _TEXT, "kind": _TEXT, "name": _TEXT}
_LABELS: Row = {"type": "map"}
_EXPORTED: Table = {"annotations": _LABELS, "annotations{}": _TEXT, "labels": _LABELS, "labels{}": _TEXT, "name": _MUST}

OWN_TYPES: Mapping[str, Table] = {
    "arbitraryOwner": _REFERENCE,
    "condition": {
        "lastTransitionTime": _MUST,
        "message": _TEXT,
        "observedGeneration": {"type": "integer"},
        "reason": _MUST,
        "severity": _TEXT,
        "status": _MUST,
        "type": _MUST,
    },
    "configMapDestination": {**_EXPORTED, "key": _MUST},
    "configMapReference": {"key": _MUST, "name": _MUST},
    "destinationExpression": {**_EXPORTED, "key": _TEXT, "value": _MUST},
    "knownOwner": {"armId": _TEXT, "name": _TEXT},
    "reference": _REFERENCE,
    "secretDestination": {**_EXPORTED, "key": _MUST},
    "secretMapReference": {"name": _MUST},
    "secretReference": {"key": _MUST, "name": _MUST},
    "wellKnownReference": {**_REFERENCE, "wellKnownName": _TEXT},
}
"""The properties of ASO's own types, of which the facts have the name alone."""

_NESTED = {"list": ("array", "[]"), "map": ("map", "{}")}


def flatten_schema(schema: Mapping[str, Any], path: str, *, required: bool = False) -> Iterator[tuple[str, Row]]:
    """The rows of a schema of OpenAPI, as a CRD has it."""
    extra = schema.get("additionalProperties")
    kind = "map" if isinstance(extra, Mapping) else schema.get("type", "any")
    row: Row = {"type": kind, **{rule: schema[rule] for rule in RULES if rule in schema}}
    yield path, row | ({"required": True} if required else {})
    names = schema.get("required", ())
    for name, inner in schema.get("properties", {}).items():
        yield from flatten_schema(inner, f"{path}.{name}", required=name in names)
    if isinstance(extra, Mapping):
        yield from flatten_schema(extra, f"{path}{{}}")
    if kind == "array":
        yield from flatten_schema(schema["items"], f"{path}[]")


def flatten_kind(kind: Kind) -> Table:
    """The rows of the spec and the status of a kind of the catalog."""
    table: Table = {}
    for part, name in (("spec", kind.spec), ("status", kind.status)):
        if name:
            table |= dict(_flatten_type({"ref": name}, kind.types, part, {}))
    return table


def _flatten_type(described: Any, types: Mapping[str, Any], path: str, rules: Row) -> Iterator[tuple[str, Row]]:
    if isinstance(described, str):
        if described in OWN_TYPES:
            yield path, {"type": "object", **rules}
            yield from ((f"{path}.{name}", dict(row)) for name, row in OWN_TYPES[described].items())
        else:
            yield path, {"type": described, **rules}
        return
    for word, (kind, mark) in _NESTED.items():
        if word in described:
            yield path, {"type": kind, **rules}
            yield from _flatten_type(described[word], types, f"{path}{mark}", {})
            return
    if "ref" not in described:  # a named type with rules of its own
        yield from _flatten_type(described["base"], types, path, {**_read_rules(described), **rules})
        return
    yield path, {"type": "object", **rules}
    for name, field in types[described["ref"]]["fields"].items():
        own = _read_rules(field) | ({"required": True} if field.get("required") else {})
        yield from _flatten_type(field["type"], types, f"{path}.{name}", own)


def _read_rules(facts: Mapping[str, Any]) -> Row:
    """The rules of a field or of a named type, whose numbers the facts have as text."""
    return {rule: facts[rule] if rule in {"enum", "pattern"} else float(facts[rule]) for rule in RULES if rule in facts}
