"""The live state of a resource in the shape of an ASO status, and the values of it that are exported
(docs/reference/reconciliation.md#status-shape, docs/reference/catalog.md#fields). The reverse of request/body.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gitsync.model.facts import Field, FieldType, Kind, TypeFacts


def build_aso_status(kind: Kind, body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a GET as a status, without conditions. What the facts do not know is left out; names compare without
    case where the spelling differs, as ASO reads JSON.
    """
    return _mapping(kind.types, kind.types[kind.status], body)


def collect_config_map_values(kind: Kind, wanted: Iterable[str], body: Mapping[str, Any]) -> dict[str, str]:
    """The live values of the fields of operatorSpec.configMaps, by the name of the field; null values are left out."""
    status = build_aso_status(kind, body)
    told = {field: _inside(status, kind.config_maps[field].split(".")) for field in wanted if field in kind.config_maps}
    return {field: _as_text(value) for field, value in sorted(told.items()) if value is not None}


def _mapping(types: Mapping[str, TypeFacts], facts: TypeFacts, body: Mapping[str, Any]) -> dict[str, Any]:
    chosen = _chosen(facts, body)
    status: dict[str, Any] = {}
    for name, field in facts["fields"].items():
        if field.get("meta") or (chosen is not None and name not in chosen):
            continue
        found = body if chosen and name == chosen[0] else _at(body, field)
        if found is not None:
            status[name] = _value(types, field["type"], found)
    return status


def _chosen(facts: TypeFacts, body: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Of a union the field that its content says it is, and fields of plain types; None for what is no union."""
    if not facts.get("oneOf"):
        return None
    said = _member(body, facts["discriminator"])
    values = {value.casefold(): name for value, name in facts["values"].items()}
    plain = [name for name, field in facts["fields"].items() if isinstance(field["type"], str)]
    return (values.get(said.casefold(), "") if isinstance(said, str) else "", *plain)


def _at(body: Mapping[str, Any], field: Field) -> Any:
    return _inside(body, field["arm"].split("/")) if "arm" in field else None


def _inside(value: Any, path: tuple[str, ...] | list[str]) -> Any:
    for step in path:
        value = _member(value, step) if isinstance(value, Mapping) else None
    return value


def _member(body: Mapping[str, Any], name: str) -> Any:
    if name in body:
        return body[name]
    folded = name.casefold()
    return next((value for key, value in body.items() if key.casefold() == folded), None)


def _value(types: Mapping[str, TypeFacts], type_: FieldType, value: Any) -> Any:
    if isinstance(type_, str):
        return value
    if "base" in type_:
        return _value(types, type_["base"], value)
    if "ref" in type_:
        return _mapping(types, types[type_["ref"]], value) if isinstance(value, Mapping) else value
    if "list" in type_:
        return [_value(types, type_["list"], v) for v in value] if isinstance(value, list) else value
    return {k: _value(types, type_["map"], v) for k, v in value.items()} if isinstance(value, Mapping) else value


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
