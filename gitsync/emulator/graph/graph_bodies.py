"""The checks of bodies that all objects of Microsoft Graph share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.emulator.graph.answers import refuse_graph, refuse_value

ODATA_TYPE = "@odata.type"
LINKS = ("owners", "members")
"""Ids of other objects, which are stored in a body and have paths of their own."""

LINK_CHANGES = "@linkChanges"
"""When they were changed, which is stored too if lists are to lag."""

Types = Mapping[str, type | tuple[type, ...]]


def check_values(body: Any, resource: str, types: Types, longest: Mapping[str, int]) -> dict[str, Any]:
    """Check the members of a body, and return it without its type. Refused if Graph would refuse it."""
    if not isinstance(body, Mapping):
        raise refuse_graph(400, "Request_BadRequest", "Unable to read JSON request payload.")
    for name, value in body.items():
        if name != ODATA_TYPE and name not in types:
            raise refuse_value(name, f"Invalid property '{name}'.")
        is_empty = value == "" or (isinstance(value, str) and len(value) > longest.get(name, 1024))
        if is_empty or not isinstance(value, types.get(name, str)):
            raise refuse_value(name, f"Invalid value specified for property '{name}' of resource '{resource}'.")
    return {name: value for name, value in body.items() if name != ODATA_TYPE}


def require_payload(changes: Mapping[str, Any]) -> None:
    if not changes:
        raise refuse_graph(400, "Request_BadRequest", "Empty Payload. JSON content expected.")


def require_values(body: Mapping[str, Any], resource: str, names: tuple[str, ...]) -> None:
    for name in names:
        if body.get(name) is None:
            raise refuse_value(name, f"A value is required for property '{name}' of resource '{resource}'.")


def refuse_read_only(name: str) -> Exception:
    return refuse_value(name, f"Property '{name}' is read-only and cannot be set.", "ReadOnlyProperty")


def hide_links(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in {*LINKS, LINK_CHANGES}}
