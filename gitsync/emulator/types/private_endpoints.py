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
"""The state of a connection until somebody says otherwise."""


def with_state(path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """An endpoint's body as a GET shows it: with its interface, and the state of every connection."""
    for word, first in _FIRST.items():
        entries = find_value(body, ("properties", word))
        if isinstance(entries, list):
            entries = [_connection(path, word, entry, first) for entry in entries]
            body = set_value(body, f"/properties/{word}", entries)
    return merge_over(body, {"properties": {"networkInterfaces": [{"id": interface_id(path, body)}]}})


def _connection(path: str, word: str, entry: Any, first: Mapping[str, str]) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    made = {
        "id": f"{path}/{word}/{entry.get('name', '')}",
        "properties": {"provisioningState": "Succeeded", "privateLinkServiceConnectionState": dict(first)},
    }
    return merge_over(made, entry)


def interface_id(path: str, body: Mapping[str, Any]) -> str:
    """The id of an endpoint's network interface; the endpoint may say how it is called."""
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
            "privateIPAddress": _address(endpoint),
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


def _address(endpoint: StoredResource) -> str:
    """The address that the endpoint asks for, or one that its id stands for."""
    asked = find_value(endpoint.body, ("properties", "ipConfigurations"))
    given = find_value(asked[0], ("properties", "privateIPAddress")) if isinstance(asked, list) and asked else None
    number = int(uuid_of(endpoint.id.casefold(), "address")[:4], 16)
    return str(given or f"10.0.{number >> 8}.{number & 0xFF}")
