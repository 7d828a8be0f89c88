"""The settings of Microsoft Graph: the callers' permissions, the page size, and the delay of each view of a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gitsync.settings.config.yaml_file import FieldReader, YamlNode, read_as


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDelays:
    """Seconds until a change of a group shows."""

    read: float = 0.0  # in which a new group is not found by its id
    filter: float = 0.0  # the same, by a filter
    patch: float = 0.0  # the same, by PATCH
    delete: float = 0.0  # the same, by DELETE
    gone: float = 0.0  # in which a deleted group is still shown
    links: float = 0.0  # in which a list of members or owners does not show a change


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSettings:
    """How Microsoft Graph answers."""

    permissions: tuple[str, ...] | None = None  # those of every caller; None for all of them
    page_size: int = 100
    delays: GraphDelays = GraphDelays()


_DELAYS: Mapping[str, FieldReader] = {
    name: (name, YamlNode.number) for name in ("read", "filter", "patch", "delete", "gone", "links")
}
_GRAPH: Mapping[str, FieldReader] = {
    "permissions": ("permissions", YamlNode.texts),
    "pageSize": ("page_size", YamlNode.count),
    "delays": ("delays", read_as(GraphDelays, _DELAYS)),
}
read_graph = read_as(GraphSettings, _GRAPH)
