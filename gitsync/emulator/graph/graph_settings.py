"""The settings of Microsoft Graph: the callers' permissions, the page size, the throttle, and the delays of views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gitsync.settings.config.yaml_file import FieldReader, YamlNode, read_as


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDelays:
    """Seconds until a change of an object shows."""

    read: float = 0.0  # in which a new object is not found by its id
    filter: float = 0.0  # the same, by a filter
    patch: float = 0.0  # the same, by PATCH
    delete: float = 0.0  # the same, by DELETE
    gone: float = 0.0  # in which a deleted object is still shown
    links: float = 0.0  # in which a list of members or owners does not show a change


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphThrottle:
    """A token bucket for the requests of one caller: its size, and its refill per second."""

    size: int
    per_second: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSettings:
    """How Microsoft Graph answers."""

    permissions: tuple[str, ...] | None = None  # those of every caller; None for all of them
    page_size: int = 100
    delays: GraphDelays = GraphDelays()
    throttle: GraphThrottle | None = None  # None for no limit


_DELAYS: Mapping[str, FieldReader] = {
    name: (name, YamlNode.number) for name in ("read", "filter", "patch", "delete", "gone", "links")
}
_GRAPH: Mapping[str, FieldReader] = {
    "permissions": ("permissions", YamlNode.texts),
    "pageSize": ("page_size", YamlNode.positive),
    "delays": ("delays", read_as(GraphDelays, _DELAYS)),
    "throttle": (
        "throttle",
        read_as(GraphThrottle, {"size": ("size", YamlNode.count), "perSecond": ("per_second", YamlNode.number)}),
    ),
}
read_graph = read_as(GraphSettings, _GRAPH)
