"""Subnets outside of their network: Azure refuses them (NetcfgSubnetRangeOutsideVnet), after the network is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, Final

from gitsync.model.gvk import Key
from gitsync.model.policy import RECONCILE_POLICY, Policy
from gitsync.problems.field_path import FieldPath
from gitsync.problems.finding import Finding
from gitsync.validation.member import Member

SUBNET: Final = ("network.azure.com", "VirtualNetworksSubnet")

Network = IPv4Network | IPv6Network


def check_address_prefixes(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """Findings of every subnet that has an address range outside of those of its network.

    Networks that gitsync does not write, and ranges that are not written as such, are left alone.
    """
    networks = {member.key: _find_ranges(member) for member in members if member.key.kind == "VirtualNetwork"}
    for member in members:
        owner = member.owner.key if member.owner else None
        if (member.key.group, member.key.kind) == SUBNET and owner is not None and networks.get(owner):
            for path, text in _list_prefixes(member.resource.spec):
                subnet = _parse(text)
                if subnet is not None and not _is_inside(subnet, networks[owner]):
                    yield member, _make_finding(path, text, owner, networks[owner])


def _find_ranges(member: Member) -> tuple[Network, ...]:
    """The ranges of a network; none if one of them is unknown, or the network is only read."""
    space = member.resource.spec.get("addressSpace")
    prefixes = space.get("addressPrefixes") if isinstance(space, dict) else None
    ranges = [_parse(text) for text in prefixes] if isinstance(prefixes, list) else []
    is_read = member.resource.annotations.get(RECONCILE_POLICY) == Policy.SKIP.value
    known = tuple(one for one in ranges if one is not None)
    return () if is_read or len(known) < len(ranges) else known


def _list_prefixes(spec: Any) -> Iterator[tuple[FieldPath, str]]:
    if isinstance(text := spec.get("addressPrefix"), str):
        yield ("spec", "addressPrefix"), text
    prefixes = spec.get("addressPrefixes")
    for index, text in enumerate(prefixes if isinstance(prefixes, list) else ()):
        if isinstance(text, str):
            yield ("spec", "addressPrefixes", index), text


def _parse(text: Any) -> Network | None:
    try:
        return ip_network(text, strict=False) if isinstance(text, str) else None
    except ValueError:
        return None


def _is_inside(subnet: Network, ranges: Iterable[Network]) -> bool:
    same_family = [one for one in ranges if one.version == subnet.version]
    return any(
        int(one.network_address) <= int(subnet.network_address)
        and int(subnet.broadcast_address) <= int(one.broadcast_address)
        for one in same_family
    )


def _make_finding(path: FieldPath, text: str, owner: Key, ranges: Iterable[Network]) -> Finding:
    listed = ", ".join(str(one) for one in ranges)
    return Finding(
        code="SubnetOutsideNetwork",
        path=path,
        message=f"{text} is not inside the address space of VirtualNetwork/{owner.name}: {listed}.",
        hint="Use a range inside of it, or add one to spec.addressSpace.addressPrefixes of the network.",
    )
