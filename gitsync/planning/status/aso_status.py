"""Converts the live state of a resource to the shape of an ASO status, and the values of it that are exported
(docs/reference/reconciliation.md#status-shape, docs/reference/catalog.md#fields). The reverse of request/body.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gitsync.model.facts import FieldType, Kind, TypeFacts
from gitsync.model.secret import Placeholder


def build_aso_status(kind: Kind, body: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the body of a GET to a status, without conditions and unknown fields. Names compare without case if the
    spelling differs, as ASO reads JSON. The status of an AzureResource is the body as it is.
    """
    if kind.is_any_type:
        return dict(body)
    return _convert_mapping(kind.types, kind.types[kind.status], body)


def collect_config_map_values(kind: Kind, fields: Iterable[str], body: Mapping[str, Any]) -> dict[str, str]:
    """Collect the live values of the fields of operatorSpec.configMaps, by the name of the field; null values are left
    out.
    """
    status = build_aso_status(kind, body)
    values_by_field = {
        field: _find_inside(status, kind.config_maps[field].split(".")) for field in fields if field in kind.config_maps
    }
    return {
        # A config map has texts, and JSON and ASO spell a boolean in lower case.
        field: str(value).lower() if isinstance(value, bool) else str(value)
        for field, value in sorted(values_by_field.items())
        if value is not None
    }


def _convert_mapping(types: Mapping[str, TypeFacts], facts: TypeFacts, body: Mapping[str, Any]) -> dict[str, Any]:
    # ASO shows only the field that the discriminator selects.
    union_fields = _select_union_fields(facts, body)
    status: dict[str, Any] = {}
    for name, field in facts["fields"].items():
        if field.get("meta") or (union_fields is not None and name not in union_fields):
            continue
        value: Any = body  # for the field of a union, which stands for all of it
        if not (union_fields and name == union_fields[0]):
            value = _find_inside(body, field["arm"].split("/")) if "arm" in field else None
        if value is not None:
            status[name] = _convert_value(types, field["type"], value)
    return status


def _select_union_fields(facts: TypeFacts, body: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the field of a union that its discriminator selects, and those of plain types; None without a union."""
    if not facts.get("oneOf"):
        return None
    discriminator = _find_member(body, facts["discriminator"])
    values = {value.casefold(): name for value, name in facts["values"].items()}
    plain = [name for name, field in facts["fields"].items() if isinstance(field["type"], str)]
    return (values.get(discriminator.casefold(), "") if isinstance(discriminator, str) else "", *plain)


def _find_inside(value: Any, path: tuple[str, ...] | list[str]) -> Any:
    for step in path:
        if isinstance(value, Placeholder):  # nor is a part of it known
            return value
        value = _find_member(value, step) if isinstance(value, Mapping) else None
    return value


def _find_member(body: Mapping[str, Any], name: str) -> Any:
    # Azure nearly always spells a name as its specification does, and to fold all names takes time.
    if name in body:
        return body[name]
    folded = name.casefold()
    return next((value for key, value in body.items() if key.casefold() == folded), None)


def _convert_value(types: Mapping[str, TypeFacts], type_: FieldType, value: Any) -> Any:
    if isinstance(type_, str):
        return value
    if "base" in type_:
        return _convert_value(types, type_["base"], value)
    if "ref" in type_:
        return _convert_mapping(types, types[type_["ref"]], value) if isinstance(value, Mapping) else value
    if "list" in type_:
        return [_convert_value(types, type_["list"], v) for v in value] if isinstance(value, list) else value
    return (
        {k: _convert_value(types, type_["map"], v) for k, v in value.items()} if isinstance(value, Mapping) else value
    )
