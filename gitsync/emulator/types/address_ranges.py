"""The address ranges of subnets: each must be inside its network, for a write of either.

Other values are not checked: the ranges may come from a pool of addresses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any

from gitsync.emulator.http.messages import ServerRequest, refuse
from gitsync.emulator.http.target import parse
from gitsync.emulator.patch import find_value
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import StoredResource

AddressRange = IPv4Network | IPv6Network

_SPACE = ("properties", "addressSpace", "addressPrefixes")
_SUBNETS = ("properties", "subnets")


def admit_network(
    cloud: EmulatedCloud, request: ServerRequest, _before: StoredResource | None, body: dict[str, Any]
) -> dict[str, Any]:
    """Refuse a network if a subnet would be outside it: a subnet in the body, or one that a PATCH keeps."""
    listed = find_value(body, _SUBNETS)
    if isinstance(listed, list):
        subnets = {str(entry.get("name")): entry for entry in listed if isinstance(entry, Mapping)}
    elif request.method == "PATCH":
        prefix = f"{request.target.key}/subnets/"
        subnets = {parse(subnet.id).name: subnet.body for _, subnet in cloud.store.below(prefix)}
    else:
        return body  # a PUT without subnets deletes them
    for name, subnet in subnets.items():
        _check(name, subnet, request.target.name, body)
    return body


def admit_subnet(
    cloud: EmulatedCloud, request: ServerRequest, _before: StoredResource | None, body: dict[str, Any]
) -> dict[str, Any]:
    """Refuse a subnet outside its network."""
    parent = request.target.parent
    network = cloud.find(parent) if parent else None
    if parent and network is not None:
        _check(request.target.name, body, parent.name, network.body)
    return body


def _check(subnet: str, body: Mapping[str, Any], network: str, network_body: Mapping[str, Any]) -> None:
    space = list(_list_ranges(find_value(network_body, _SPACE)))
    prefixes = find_value(body, ("properties", "addressPrefixes"))
    own = [find_value(body, ("properties", "addressPrefix")), *(prefixes if isinstance(prefixes, list) else ())]
    # A network with ranges from a pool has none in its body to compare with.
    if space and not all(any(_is_inside(network, other) for other in space) for network in _list_ranges(own)):
        raise refuse("NetcfgSubnetRangeOutsideVnet", subnet=subnet, network=network)


def _list_ranges(texts: Any) -> Iterator[AddressRange]:
    for text in texts if isinstance(texts, list) else ():
        # A body with `addressPrefixes` alone has none here, and what cannot be read as a range is not checked. As text,
        # since ipaddress takes a number, and even a boolean, as a range.
        try:
            yield ip_network(str(text), strict=False)
        except ValueError:
            continue


def _is_inside(network: AddressRange, other: AddressRange) -> bool:
    # By their ends: the type of `subnet_of` accepts no network that may be of either version.
    return network.version == other.version and (
        int(other.network_address) <= int(network.network_address)
        and int(network.broadcast_address) <= int(other.broadcast_address)
    )
