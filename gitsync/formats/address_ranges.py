"""Ranges of IP addresses, as networks and subnets have them."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any

AddressRange = IPv4Network | IPv6Network


def parse_range(text: Any) -> AddressRange | None:
    """Read a range such as 10.0.0.0/8; None if it is not written as one."""
    try:
        return ip_network(text, strict=False) if isinstance(text, str) else None
    except ValueError:
        return None


def is_inside(subnet: AddressRange, ranges: Iterable[AddressRange]) -> bool:
    """Tell whether a range is inside of one of these."""
    same_family = [network for network in ranges if network.version == subnet.version]
    return any(
        int(network.network_address) <= int(subnet.network_address)
        and int(subnet.broadcast_address) <= int(network.broadcast_address)
        for network in same_family
    )
