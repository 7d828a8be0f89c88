"""Where a path of Go's names is in the JSON of ARM."""

from __future__ import annotations

from collections.abc import Sequence

from extract_facts.field_types import name_struct
from extract_facts.go_source import GoField, GoPackage
from extract_facts.not_supported import NotSupportedError

_EXPLICIT = "explicitEmptyCollection"


def find_fields(struct: str, path: Sequence[str], arm: GoPackage) -> list[GoField]:
    """The fields on a path of Go's names. NotSupportedError if ARM's struct lacks one, or JSON its name."""
    fields: list[GoField] = []
    for name in path:
        field = arm.structs.get(struct, {}).get(name)
        if field is None:
            raise NotSupportedError(f"ARM's struct {struct} has no field {name}")
        if not field.json_name:
            raise NotSupportedError(f"{struct}.{name} has no name in JSON")
        fields.append(field)
        struct = name_struct(field.type)
    return fields


def join_names(fields: Sequence[GoField]) -> str:
    """The path in JSON, its segments joined by "/"."""
    return "/".join(field.json_name for field in fields)


def describe_empty(field: GoField) -> str | None:
    """What JSON has for a list or map that is not set: "null" or "empty"; None if it lacks it then."""
    if field.omits_empty or not field.type.startswith(("[]", "map[")):
        return None
    return "empty" if field.tags.get("serializationType") == _EXPLICIT else "null"
