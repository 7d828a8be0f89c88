"""Unions: structs of ARM that are sent as the content of their one field that is set."""

from __future__ import annotations

import re
from typing import Any

from extract_facts.go_source import GoField, GoPackage
from extract_facts.not_supported import NotSupportedError

_DISCRIMINATOR = re.compile(r'discriminator := rawJson\["([^"]+)"\]')
_VALUE = re.compile(r'discriminator == "([^"]*)" \{\s*\w+\.(\w+) =')


def read_union(arm_struct: str, fields: dict[str, GoField], arm: GoPackage) -> dict[str, Any]:
    """The facts of a union; none for a struct that is not one. `fields` are those of the manifest's struct.
    NotSupportedError for a union whose value Azure's response does not show.
    """
    if arm.method(arm_struct, "MarshalJSON") is None:
        return {}
    method = arm.method(arm_struct, "UnmarshalJSON")
    if method is None:
        return {"oneOf": True}
    found = _DISCRIMINATOR.search(method.text)
    values = {value: fields[field].json_name for value, field in _VALUE.findall(method.text) if field in fields}
    if found is None or not values:
        raise NotSupportedError(f"the union {arm_struct} has no discriminator", method.node)
    return {"oneOf": True, "discriminator": found[1], "values": values}
