"""Implied resources: they exist by themselves, or a provider creates them with others.

They are computed on request and are not in the store, so they exist as long as their owners. A PUT stores one, which
then replaces the implied one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitsync.emulator.governance.listed import list_governing
from gitsync.emulator.http.target import Target, parse
from gitsync.emulator.identity.roles import list_roles
from gitsync.emulator.patch import find_value, merge_over, set_value
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.deleted_resources import find_by_path, show_deleted
from gitsync.emulator.state.store import StoredResource, make_implied
from gitsync.emulator.types.keys import IMPLIED_RULES
from gitsync.emulator.types.provider_fields import make_uuid


def find_resource(cloud: EmulatedCloud, target: Target) -> StoredResource | None:
    """Find the resource that a path names, stored or implied; None if it does not exist."""
    return cloud.find(target) or find_implied(cloud, target)


def find_implied(cloud: EmulatedCloud, target: Target) -> StoredResource | None:
    """Find the implied resource that a path names; None if its owner does not exist."""
    matches = [
        resource
        for resource in list_implied(cloud, target)
        if parse(resource.id).name.casefold() == target.name.casefold()
    ]
    return matches[0] if matches else None


def list_implied(cloud: EmulatedCloud, target: Target) -> list[StoredResource]:
    """List the implied resources of a type, by name; `target` names one of them or the collection."""
    now = cloud.clock.now().timestamp()
    return [
        *list_roles(target),
        *list_governing(cloud.settings, target),
        *_list_rules(cloud, target),
        *(show_deleted(row, target) for row in find_by_path(cloud.store, target, now)),
        *_list_interfaces(cloud, target),
        *_list_singletons(cloud, target),
    ]


def _list_rules(cloud: EmulatedCloud, target: Target) -> list[StoredResource]:
    rules = IMPLIED_RULES.get(target.type.casefold(), {})
    parent = target.parent
    owner = cloud.find(parent) if rules and parent is not None else None
    if parent is None or owner is None:
        return []
    type_name = target.types[-1]
    return [
        make_implied(owner, f"{parent.path}/{type_name}/{name}", {"properties": {"rights": list(rights)}})
        for name, rights in rules.items()
    ]


def _list_interfaces(cloud: EmulatedCloud, target: Target) -> list[StoredResource]:
    if target.type.casefold() != "microsoft.network/networkinterfaces":
        return []
    rows = cloud.store.below(f"{target.scope}/providers/{ENDPOINT_TYPE}/".casefold())
    # The prefix also has what is below endpoints, such as their DNS zone groups.
    return [make_interface(endpoint) for _, endpoint in rows if parse(endpoint.id).type.casefold() == ENDPOINT_TYPE]


# Singletons: resources with a fixed name that Azure creates and deletes with their parent. The recordings have PUTs of
# these, and no DELETE. `provider_fields` has their content before the first PUT.


_COSMOS: Final = "microsoft.documentdb/databaseaccounts"
_ACCOUNT: Final = "microsoft.storage/storageaccounts"

_NAMES: Final[Mapping[str, str]] = {
    "microsoft.dbforpostgresql/flexibleservers/advancedthreatprotectionsettings": "Default",
    **{f"{_ACCOUNT}/{service}services": "default" for service in ("blob", "file", "queue", "table")},
}
"""Singletons of every parent, by type in lower case."""

_THROUGHPUTS: Final = frozenset(
    f"{_COSMOS}/{parent}/throughputsettings"
    for parent in (
        "cassandrakeyspaces",
        "cassandrakeyspaces/tables",
        "gremlindatabases",
        "gremlindatabases/graphs",
        "mongodbdatabases",
        "mongodbdatabases/collections",
        "sqldatabases",
        "sqldatabases/containers",
        "tables",
    )
)
"""Settings that a database or container has if its `options` include a throughput."""


def _list_singletons(cloud: EmulatedCloud, target: Target) -> list[StoredResource]:
    """List the singleton of the type that `target` names, also if it is stored; none if its parent does not exist."""
    parent = target.parent
    owner = cloud.find(parent) if parent is not None else None
    if parent is None or owner is None:
        return []
    kind = target.type.casefold()
    if kind in _NAMES:
        return [_make_singleton(owner, parent, target, _NAMES[kind], {})]
    # Throughput settings exist only if the database was created with a throughput.
    options = find_value(owner.body, ("properties", "options")) if kind in _THROUGHPUTS else None
    return [_make_singleton(owner, parent, target, "default", {"properties": {"resource": options}})] if options else []


def _make_singleton(
    owner: StoredResource, parent: Target, target: Target, name: str, body: Mapping[str, Any]
) -> StoredResource:
    return make_implied(owner, f"{parent.path}/{target.types[-1]}/{name}", body)


# Private endpoints: whether their connections are approved, and the network interface that comes with each.


ENDPOINT_TYPE = "microsoft.network/privateendpoints"
_MANUAL, _OWN = "manualPrivateLinkServiceConnections", "privateLinkServiceConnections"
_FIRST: Mapping[str, Mapping[str, str]] = {
    _MANUAL: {"status": "Pending", "description": "Awaiting Approval", "actionsRequired": "None"},
    _OWN: {"status": "Approved", "description": "Auto-Approved", "actionsRequired": "None"},
}
"""The initial state of a connection."""


def add_connection_states(path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Show an endpoint's body as in a GET: with its interface, and the state of every connection."""
    for list_name, first in _FIRST.items():
        entries = find_value(body, ("properties", list_name))
        if isinstance(entries, list):
            entries = [_complete_connection(path, list_name, entry, first) for entry in entries]
            body = set_value(body, f"/properties/{list_name}", entries)
    return merge_over(body, {"properties": {"networkInterfaces": [{"id": make_interface_id(path, body)}]}})


def _complete_connection(path: str, list_name: str, entry: Any, first: Mapping[str, str]) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    defaults = {
        "id": f"{path}/{list_name}/{entry.get('name', '')}",
        "properties": {"provisioningState": "Succeeded", "privateLinkServiceConnectionState": dict(first)},
    }
    return merge_over(defaults, entry)


def make_interface_id(path: str, body: Mapping[str, Any]) -> str:
    """Make the id of an endpoint's network interface; the endpoint may set its name."""
    name = find_value(body, ("properties", "customNetworkInterfaceName"))
    name = name or f"{parse(path).name}.nic.{make_uuid(path.casefold(), 'interface')}"
    return f"{parse(path).group_path}/providers/Microsoft.Network/networkInterfaces/{name}"


def make_interface(endpoint: StoredResource) -> StoredResource:
    """Make the network interface of an endpoint, as a resource that can be read."""
    path = make_interface_id(endpoint.id, endpoint.body)
    name = f"privateEndpointIpConfig.{make_uuid(endpoint.id.casefold(), 'address')}"
    address = {
        "id": f"{path}/ipConfigurations/{name}",
        "name": name,
        "type": "Microsoft.Network/networkInterfaces/ipConfigurations",
        "properties": {
            "primary": True,
            "privateIPAddress": _choose_address(endpoint),
            "privateIPAddressVersion": "IPv4",
            "privateIPAllocationMethod": "Dynamic",
            "provisioningState": "Succeeded",
            "subnet": find_value(endpoint.body, ("properties", "subnet")),
        },
    }
    return StoredResource(
        id=path,
        body={
            "location": endpoint.body.get("location"),
            "properties": {"ipConfigurations": [address], "privateEndpoint": {"id": endpoint.id}},
        },
        api_version=endpoint.api_version,
        number=endpoint.number,
        created=endpoint.created,
        changed=endpoint.created,
        by=endpoint.by,
    )


def _choose_address(endpoint: StoredResource) -> str:
    """Choose the address in the endpoint's body, or one derived from its id."""
    configurations = find_value(endpoint.body, ("properties", "ipConfigurations"))
    address = (
        find_value(configurations[0], ("properties", "privateIPAddress"))
        if isinstance(configurations, list) and configurations
        else None
    )
    number = int(make_uuid(endpoint.id.casefold(), "address")[:4], 16)
    return str(address or f"10.0.{number >> 8}.{number & 0xFF}")
