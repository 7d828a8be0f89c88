"""Private endpoints: whether their connections are approved, and the network interface that comes with each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.emulator.http.target import parse
from gitsync.emulator.patch import find_value, merge_over, set_value
from gitsync.emulator.state.stored import StoredResource
from gitsync.emulator.types.provider_fields import uuid_of

TYPE = "microsoft.network/privateendpoints"
_MANUAL, _OWN = "manualPrivateLinkServiceConnections", "privateLinkServiceConnections"
_FIRST: Mapping[str, Mapping[str, str]] = {
    _MANUAL: {"status": "Pending", "description": "Awaiting Approval", "actionsRequired": "None"},
    _OWN: {"status": "Approved", "description": "Auto-Approved", "actionsRequired": "None"},
}
"""The initial state of a connection."""


def with_state(path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """An endpoint's body as a GET shows it: with its interface, and the state of every connection."""
    for word, first in _FIRST.items():
        entries = find_value(body, ("properties", word))
        if isinstance(entries, list):
            entries = [_complete_connection(path, word, entry, first) for entry in entries]
            body = set_value(body, f"/properties/{word}", entries)
    return merge_over(body, {"properties": {"networkInterfaces": [{"id": interface_id(path, body)}]}})


def _complete_connection(path: str, word: str, entry: Any, first: Mapping[str, str]) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    defaults = {
        "id": f"{path}/{word}/{entry.get('name', '')}",
        "properties": {"provisioningState": "Succeeded", "privateLinkServiceConnectionState": dict(first)},
    }
    return merge_over(defaults, entry)


def interface_id(path: str, body: Mapping[str, Any]) -> str:
    """The id of an endpoint's network interface; the endpoint may set its name."""
    name = find_value(body, ("properties", "customNetworkInterfaceName"))
    name = name or f"{parse(path).name}.nic.{uuid_of(path.casefold(), 'interface')}"
    return f"{parse(path).group_path}/providers/Microsoft.Network/networkInterfaces/{name}"


def interface(endpoint: StoredResource) -> StoredResource:
    """The network interface of an endpoint, as a resource that can be read."""
    path = interface_id(endpoint.id, endpoint.body)
    name = f"privateEndpointIpConfig.{uuid_of(endpoint.id.casefold(), 'address')}"
    address = {
        "id": f"{path}/ipConfigurations/{name}",
        "name": name,
        "type": "Microsoft.Network/networkInterfaces/ipConfigurations",
        "properties": {
            "primary": True,
            "privateIPAddress": _find_address(endpoint),
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


def _find_address(endpoint: StoredResource) -> str:
    """The address in the endpoint's body, or one derived from its id."""
    configurations = find_value(endpoint.body, ("properties", "ipConfigurations"))
    address = (
        find_value(configurations[0], ("properties", "privateIPAddress"))
        if isinstance(configurations, list) and configurations
        else None
    )
    number = int(uuid_of(endpoint.id.casefold(), "address")[:4], 16)
    return str(address or f"10.0.{number >> 8}.{number & 0xFF}")
