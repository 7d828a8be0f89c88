"""Ranges of IP addresses, as networks and subnets have them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, Final, TypeVar

AddressRange = IPv4Network | IPv6Network

_Each = TypeVar("_Each")
_RANGE: Final = re.compile(r"(?P<address>[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*)/(?P<length>[0-9]{1,4})")


def parse_range(text: Any) -> AddressRange | None:
    """Read a range such as 10.0.0.0/8; None if it is not written as one."""
    try:
        # Azure takes 10.0.0.1/8 and returns 10.0.0.0/8, so the host bits do not matter here.
        return ip_network(text, strict=False) if isinstance(text, str) else None
    except ValueError:
        return None


def find_range_fault(text: str) -> str:
    """What is wrong with a text that has the form of a range, as the end of a sentence; "" for one that is right, and
    for any other text: service tags and single addresses are in the same fields.
    """
    match = _RANGE.fullmatch(text)
    if match is None:
        return ""
    try:
        address = ip_address(match["address"])
    except ValueError:
        return "which is not an address range"
    return (
        f"whose prefix is longer than {address.max_prefixlen}" if int(match["length"]) > address.max_prefixlen else ""
    )


def list_overlaps(ranges: Iterable[tuple[AddressRange, _Each]]) -> Iterator[tuple[_Each, _Each]]:
    """The owner of each range that overlaps one before it, with the owner of that: in the order of the addresses."""
    last: tuple[int, int, _Each] | None = None  # the version, the highest end so far, and whose it is
    ordered = sorted(ranges, key=lambda each: (each[0].version, int(each[0].network_address), each[0].prefixlen))
    for network, owner in ordered:
        start, end = int(network.network_address), int(network.broadcast_address)
        # Only the range that ends last can reach the next one, so one is enough and the work stays linear after the
        # sort.
        if last and last[0] == network.version and start <= last[1]:
            yield owner, last[2]
        if last is None or last[0] != network.version or end > last[1]:
            last = (network.version, end, owner)


def is_inside(subnet: AddressRange, ranges: Iterable[AddressRange]) -> bool:
    """Return whether a range is inside of one of these."""
    same_family = [network for network in ranges if network.version == subnet.version]
    return any(
        int(network.network_address) <= int(subnet.network_address)
        and int(subnet.broadcast_address) <= int(network.broadcast_address)
        for network in same_family
    )
