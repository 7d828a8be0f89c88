"""Implied resources: a provider has them, or creates them with others.

They are computed on request and are not in the store, so that they exist as long as their owners. Once one is
PUT, it is in the store and replaces the implied one.
"""

from __future__ import annotations

from gitsync.emulator.http.target import Target, parse
from gitsync.emulator.identity import roles
from gitsync.emulator.state import deleted_vaults as graves
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.stored import StoredResource, make_implied
from gitsync.emulator.types import messaging_rules as buses
from gitsync.emulator.types import private_endpoints as endpoints
from gitsync.emulator.types import singletons

_DELETED = ("microsoft.keyvault/locations/deletedvaults", "microsoft.keyvault/deletedvaults")


def find(cloud: EmulatedCloud, target: Target) -> StoredResource | None:
    """The resource that a path names, stored or implied; None if it does not exist."""
    return cloud.find(target) or one(cloud, target)


def one(cloud: EmulatedCloud, target: Target) -> StoredResource | None:
    """The implied resource that a path names; None if its owner does not exist."""
    matches = [
        resource for resource in below(cloud, target) if parse(resource.id).name.casefold() == target.name.casefold()
    ]
    return matches[0] if matches else None


def below(cloud: EmulatedCloud, target: Target) -> list[StoredResource]:
    """The implied resources of a type, by name; `target` names one of them or the collection."""
    return [
        *roles.list_roles(target),
        *_list_rules(cloud, target),
        *_list_deleted_vaults(cloud, target),
        *_list_interfaces(cloud, target),
        *singletons.list_singletons(cloud, target),
    ]


def _list_rules(cloud: EmulatedCloud, target: Target) -> list[StoredResource]:
    rules = buses.IMPLIED.get(target.type.casefold(), {})
    parent = target.parent
    owner = cloud.find(parent) if rules and parent is not None else None
    if parent is None or owner is None:
        return []
    word = target.types[-1]
    return [
        make_implied(owner, f"{parent.path}/{word}/{name}", {"properties": {"rights": list(rights)}})
        for name, rights in rules.items()
    ]


def _list_deleted_vaults(cloud: EmulatedCloud, target: Target) -> list[StoredResource]:
    if target.type.casefold() not in _DELETED:
        return []
    location = graves.normalize_region(target.names[0]) if target.type.casefold() == _DELETED[0] else ""
    deleted_vaults = graves.list_deleted(cloud.store, target.subscription)
    return [graves.show_deleted(vault, target) for vault in deleted_vaults if location in {"", vault["location"]}]


def _list_interfaces(cloud: EmulatedCloud, target: Target) -> list[StoredResource]:
    if target.type.casefold() != "microsoft.network/networkinterfaces":
        return []
    rows = cloud.store.below(f"{target.scope}/providers/{endpoints.TYPE}/".casefold())
    return [
        endpoints.interface(endpoint) for _, endpoint in rows if parse(endpoint.id).type.casefold() == endpoints.TYPE
    ]
