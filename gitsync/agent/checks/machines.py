"""The machines that a body needs, and the sizes of machines that a region offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitsync.desired.formats.arm_path import normalize_region
from gitsync.desired.formats.json_members import list_mappings, read_mapping
from gitsync.errors import UnknownSizeError
from gitsync.model.check import HiddenValue


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineGroup:
    """Machines of one size that a resource has."""

    size: str
    count: int
    most: int  # to how many its autoscaler may go
    zones: tuple[str, ...]  # none if the body names none
    is_spot: bool  # they have a quota of their own
    path: str  # where the body has it
    name: str = ""  # distinguishes those of one resource

    def exceed(self, before: MachineGroup | None) -> bool:
        """Return whether these need something that Azure does not have of them yet."""
        if before is None or self.size.casefold() != before.size.casefold() or self.is_spot != before.is_spot:
            return True
        return not set(self.zones) <= set(before.zones) or self.count > before.count or self.most > before.most


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSize:
    """A size of machines that Azure offers."""

    name: str
    family: str  # the name of its quota
    cores: int
    zones: frozenset[str]  # those in which this subscription may use it
    is_closed: bool  # this subscription may not use it in the region


def read_size(row: Mapping[str, Any], region: str) -> MachineSize | None:
    """Read an entry of the list of SKUs; None if it is not a size of machines in the region."""
    name, family = row.get("name"), row.get("family")
    offers = [
        each for each in list_mappings(row, "locationInfo") if normalize_region(str(each.get("location"))) == region
    ]
    listed = {normalize_region(str(each)) for each in _list(row.get("locations"))}
    if str(row.get("resourceType")).casefold() != "virtualmachines" or not isinstance(name, str):
        return None
    if not isinstance(family, str) or region not in listed | {region for _ in offers}:
        return None
    capabilities = {str(each.get("name")): each.get("value") for each in list_mappings(row, "capabilities")}
    cores = str(capabilities.get("vCPUs"))
    if not cores.isascii() or not cores.isdecimal():
        return None
    zones = {str(zone) for each in offers for zone in _list(each.get("zones"))}
    is_closed = False
    for restriction in list_mappings(row, "restrictions"):
        info = read_mapping(restriction, "restrictionInfo")
        where = {normalize_region(str(each)) for each in _list(info.get("locations")) or [region]}
        if region in where and str(restriction.get("type")).casefold() == "location":
            is_closed = True
        elif region in where:
            zones -= {str(zone) for zone in _list(info.get("zones"))}
    return MachineSize(name=name, family=family, cores=int(cores), zones=frozenset(zones), is_closed=is_closed)


def read_machine(body: Mapping[str, Any]) -> list[MachineGroup]:
    """Find the one machine of a virtual machine. This and the others raise UnknownSizeError."""
    properties = read_mapping(body, "properties")
    if properties.get("host") or properties.get("hostGroup"):  # a dedicated host has cores of its own
        return []
    size = _read_text(read_mapping(properties, "hardwareProfile"), "vmSize", "/properties/hardwareProfile/vmSize")
    spot = _is_spot(properties, "priority", "/properties/priority")
    path = "/properties/hardwareProfile/vmSize"
    return [MachineGroup(size=size, count=1, most=1, zones=_read_zones(body, "zones"), is_spot=spot, path=path)]


def read_scale_set(body: Mapping[str, Any]) -> list[MachineGroup]:
    """Find the machines of a scale set."""
    sku, profile = read_mapping(body, "sku"), read_mapping(read_mapping(body, "properties"), "virtualMachineProfile")
    if not sku:  # a flexible set whose machines are made one by one
        return []
    count = _read_count(sku, "capacity", "/sku/capacity", 0)
    spot = _is_spot(profile, "priority", "/properties/virtualMachineProfile/priority")
    size, zones = _read_text(sku, "name", "/sku/name"), _read_zones(body, "zones")
    return [MachineGroup(size=size, count=count, most=count, zones=zones, is_spot=spot, path="/sku/name")]


def read_cluster(body: Mapping[str, Any]) -> list[MachineGroup]:
    """Find the machines of the pools that a managed cluster names itself."""
    properties, path = read_mapping(body, "properties"), "/properties/agentPoolProfiles"
    if isinstance(properties.get("agentPoolProfiles"), HiddenValue):
        raise UnknownSizeError(path)
    pools = list_mappings(properties, "agentPoolProfiles")
    return [_read_pool(pool, f"{path}/{index}") for index, pool in enumerate(pools)]


def read_pool(body: Mapping[str, Any]) -> list[MachineGroup]:
    """Find the machines of an agent pool."""
    return [_read_pool({**read_mapping(body, "properties"), "name": ""}, "/properties")]


def _read_pool(pool: Mapping[str, Any], path: str) -> MachineGroup:
    count, scales = _read_count(pool, "count", f"{path}/count", 1), pool.get("enableAutoScaling") is True
    if scales:
        count = max(count, _read_count(pool, "minCount", f"{path}/minCount", 0))
    return MachineGroup(
        size=_read_text(pool, "vmSize", f"{path}/vmSize"),
        count=count,
        most=max(count, _read_count(pool, "maxCount", f"{path}/maxCount", 0)) if scales else count,
        zones=_read_zones(pool, "availabilityZones"),
        is_spot=_is_spot(pool, "scaleSetPriority", f"{path}/scaleSetPriority"),
        path=f"{path}/vmSize",
        name=str(pool.get("name")),
    )


def _read_text(body: Mapping[str, Any], name: str, path: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:  # not known yet, or Azure chooses
        raise UnknownSizeError(path)
    return value


def _read_count(body: Mapping[str, Any], name: str, path: str, default: int) -> int:
    value = body.get(name, default)
    if not isinstance(value, int):
        raise UnknownSizeError(path)
    return value


def _is_spot(body: Mapping[str, Any], name: str, path: str) -> bool:
    value = body.get(name) or "Regular"
    if not isinstance(value, str):
        raise UnknownSizeError(path)
    return value.casefold() in {"spot", "low"}


def _read_zones(body: Mapping[str, Any], name: str) -> tuple[str, ...]:
    zones = body.get(name) or []
    if not isinstance(zones, list) or not all(isinstance(zone, str) for zone in zones):
        raise UnknownSizeError(f"/{name}")
    return tuple(zones)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
