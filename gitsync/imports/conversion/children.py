"""The kinds below a kind, and where Azure shows resources of them: in their parent, or in a collection of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from gitsync.catalog.catalog import Catalog
from gitsync.catalog.collections import EMBEDDED
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK
from gitsync.problems.field_path import find_member
from gitsync.validation.references import parse_arm_type

_CLUSTERS: Final = "microsoft.containerservice/managedclusters"
_ENDPOINTS: Final = "properties/endpoints"
_POOLS: Final = "properties/agentPoolProfiles"
_PLACES: Final[Mapping[str, str]] = {
    **{
        f"{parent}/{member.casefold()}": f"properties/{member}"
        for parent, members in EMBEDDED.items()
        for member in members
    },
    "microsoft.compute/virtualmachinescalesets/extensions": (
        "properties/virtualMachineProfile/extensionProfile/extensions"
    ),
    "microsoft.network/loadbalancers/inboundnatrules": "properties/inboundNatRules",
    "microsoft.network/trafficmanagerprofiles/azureendpoints": _ENDPOINTS,
    "microsoft.network/trafficmanagerprofiles/externalendpoints": _ENDPOINTS,
    "microsoft.network/trafficmanagerprofiles/nestedendpoints": _ENDPOINTS,
}
"""By type: the list in the parent that shows its children. A manifest of the parent does not name them."""


def list_embedding(arm_type: str) -> frozenset[str]:
    """Name the lists in the body of a type that hold resources of their own kinds."""
    parent = arm_type.casefold()
    return frozenset(path for child, path in _PLACES.items() if child.rpartition("/")[0] == parent)


def is_separate(arm_type: str, path: str, entry: Any) -> bool:
    """Tell whether an entry in the body of a type gets a manifest of its own: a pool of nodes that its cluster can be
    without.
    """
    is_pool = arm_type.casefold() == _CLUSTERS and path == _POOLS
    return is_pool and isinstance(entry, Mapping) and not _is_system_pool(entry)


def is_in_parent(arm_type: str, body: Mapping[str, Any]) -> bool:
    """Tell whether the manifest of its parent asks for a resource: the other pools."""
    properties = body.get("properties")
    is_pool = arm_type.casefold() == f"{_CLUSTERS}/agentpools"
    return is_pool and isinstance(properties, Mapping) and _is_system_pool(properties)


def _is_system_pool(pool: Mapping[str, Any]) -> bool:
    return str(pool.get("mode", "")).casefold() == "system"


def find_embedded(child: Kind, parent: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """Find the children that a parent shows; None if it shows none of that kind, so that their
    collection has to be read.
    """
    path = _PLACES.get(child.arm_type.casefold())
    entries = find_member(parent, *path.split("/")) if path else None
    if not isinstance(entries, list):
        return None
    for entry in entries:  # a reference to a child has no properties
        if not isinstance(entry, Mapping) or not isinstance(entry.get("id"), str):
            return None
        if not isinstance(entry.get("properties"), Mapping):
            return None
    wanted = child.arm_type.casefold()
    return [entry for entry in entries if parse_arm_type(entry["id"]).casefold() == wanted]


class KindTree:
    """The newest stable version of each kind, or the one that was asked for, and the kinds below each."""

    def __init__(self, catalog: Catalog, versions: Iterable[str] = ()) -> None:
        """`versions` are api-versions of ARM that are taken where a kind has them; `used` has those that some had."""
        self._catalog = catalog
        self._versions = frozenset(versions)
        self.used: set[str] = set()

    def find(self, arm_type: str) -> Kind | None:
        home = self._catalog.home_of(arm_type)
        return self._choose(*home) if home else None

    def list_below(self, arm_type: str) -> tuple[Kind, ...]:
        return tuple(filter(None, map(self.find, _list_types(self._catalog).get(arm_type.casefold(), ()))))

    def _choose(self, group: str, kind: str) -> Kind | None:
        kinds = [self._catalog.kind(GVK(group, version, kind)) for version in self._catalog.versions(group, kind)]
        known = [kind for kind in kinds if kind]
        asked = [kind for kind in known if kind.api_version in self._versions]
        self.used.update(kind.api_version for kind in asked)
        stable = [kind for kind in known if not kind.api_version.endswith("preview")]
        return (asked or stable or known)[-1] if known else None


@cache
def _list_types(catalog: Catalog) -> Mapping[str, tuple[str, ...]]:
    """List the types below each type, in lower case."""
    children: dict[str, list[str]] = {}
    for group in catalog.groups():
        for kind in catalog.kinds(group):
            arm_type = (catalog.arm_type(group, kind) or "").casefold()
            if arm_type.count("/") > 1:
                children.setdefault(arm_type.rpartition("/")[0], []).append(arm_type)
    return {parent: tuple(sorted(types)) for parent, types in children.items()}
