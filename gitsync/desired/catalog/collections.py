"""The collections that a resource is in: the paths at which Azure lists resources of its type.

Which levels have a list is a fact of the type (`Kind.lists`), known from public SDKs. A type that they do not list is
taken to have the lists that ARM's resource-provider contract demands of every provider. So a server may refuse a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from gitsync.model.arm_id import ArmId
from gitsync.model.facts import Kind, ListLevel, Scope

EMBEDDED: Final = {
    "microsoft.network/networksecuritygroups": ("securityRules",),
    "microsoft.network/routetables": ("routes",),
    "microsoft.network/virtualnetworks": ("subnets", "virtualNetworkPeerings"),
}
"""By type: the properties in which a resource shows its children, each as their own GET does (docs/requests.md#children
has the evidence).
"""

_CONTRACT: Final = {
    Scope.RESOURCE_GROUP: frozenset({ListLevel.GROUP, ListLevel.SUBSCRIPTION}),
    Scope.EXTENSION: frozenset({ListLevel.SCOPE}),
    Scope.LOCATION: frozenset({ListLevel.SUBSCRIPTION}),
    Scope.TENANT: frozenset[ListLevel](),
}
"""The lists of a type without a parent (resource-provider contract, "GET resource collection")."""

_RECORDS: Final = ("a", "aaaa", "caa", "cname", "mx", "ns", "ptr", "srv", "txt")

_NAMES: Final = {
    **{f"microsoft.network/dnszones/{record}": "recordsets" for record in _RECORDS},
    **{f"microsoft.network/privatednszones/{record}": "ALL" for record in _RECORDS},
    "microsoft.resources/resourcegroups": "resourcegroups",
}
"""By type: the last step of its lists, if that is not the last step of the type. A zone lists its records of all types
at once (RecordSets_ListByDnsZone, and RecordSets_List of private zones).
"""


class Collection(NamedTuple):
    """One list: where it is requested, and at which level that is."""

    path: str
    level: ListLevel


def list_collections(kind: Kind, arm_id: ArmId) -> tuple[Collection, ...]:
    """The lists that may show a resource, the narrowest first; none if it has no such id, or is not ARM's."""
    if not kind.is_arm:
        return ()
    return tuple(Collection(path, level) for level in _list_levels(kind) if (path := _make_path(kind, arm_id, level)))


def list_embedded(kind: Kind, body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The children that a body shows; none if it has no such list."""
    properties = body.get("properties")
    for member in EMBEDDED.get(kind.arm_type.casefold(), ()):
        entries = properties.get(member) if isinstance(properties, Mapping) else None
        yield from (entry for entry in entries if isinstance(entry, Mapping)) if isinstance(entries, list) else ()


@cache
def _list_levels(kind: Kind) -> tuple[ListLevel, ...]:
    is_child = kind.scope is Scope.RESOURCE_GROUP and kind.arm_type.count("/") > 1
    levels = kind.lists or (frozenset({ListLevel.PARENT}) if is_child else _CONTRACT[kind.scope])
    # The enum has the narrowest level first, whatever the order of the set is
    return tuple(level for level in ListLevel if level in levels)


def _make_path(kind: Kind, arm_id: ArmId, level: ListLevel) -> str:
    """The path of the list at a level; "" if the id has no such level."""
    if level is ListLevel.PARENT or level is ListLevel.SCOPE or kind.scope is Scope.LOCATION:
        last = _NAMES.get(kind.arm_type.casefold())
        collection = arm_id.rstrip("/").rpartition("/")[0]
        return f"{collection.rpartition('/')[0]}/{last}" if last else collection
    subscription, group = arm_id.subscription, arm_id.resource_group
    if not subscription or (level is ListLevel.GROUP and not group):
        return ""
    container = f"/resourceGroups/{group}" if level is ListLevel.GROUP else ""
    return f"/subscriptions/{subscription}{container}/providers/{kind.arm_type}"
