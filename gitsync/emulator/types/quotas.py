"""Quotas and VM sizes: what a region has left, and what it offers.

The lists (`usages` of a provider in a region, `skus` of Microsoft.Compute) and the refusal of a PUT read the same rows
of the settings. Resources in the emulator are added to the usage in the settings, so usages change with creates and
deletes. Cores are those of the sizes in the settings: a machine of another size needs none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.emulator.http.messages import Refused, ServerRequest, ServerResponse, make_page, refuse
from gitsync.emulator.http.target import Target, parse
from gitsync.emulator.patch import find_value
from gitsync.emulator.settings import EmulatedQuota, EmulatedSku
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.deleted_resources import normalize_region
from gitsync.emulator.state.store import StoredResource

_COMPUTE: Final = "microsoft.compute"
_CLUSTER: Final = "microsoft.containerservice/managedclusters"
_POOL: Final = f"{_CLUSTER}/agentpools"
_LOCATION = re.compile(r"location eq '([^']*)'", re.IGNORECASE)

USAGE_NAMESPACES: Final = (_COMPUTE, "microsoft.network", "microsoft.storage", "microsoft.cognitiveservices")
"""The providers that list their usages."""

_UNLIMITED: Final = 2**31 - 1
"""Azure's limit for an unlimited quota."""

QuotaKey = tuple[str, str]
"""A namespace and the name of one of its quotas, in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedMachines:
    """The machines of one size that a resource has."""

    size: str  # as the body names it
    count: int
    zones: tuple[str, ...] = ()  # none if the body names none
    is_spot: bool = False  # they count against a quota of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A quota that counts each resource of a type."""

    name: str
    path: tuple[str, ...] = ()  # if set, only those count whose body has the value there
    value: str = ""


_COUNTED: Final[Mapping[str, tuple[Counted, ...]]] = {
    "microsoft.compute/availabilitysets": (Counted(name="availabilitySets"),),
    "microsoft.compute/virtualmachines": (Counted(name="virtualMachines"),),
    "microsoft.compute/virtualmachinescalesets": (Counted(name="virtualMachineScaleSets"),),
    "microsoft.network/applicationgateways": (Counted(name="ApplicationGateways"),),
    "microsoft.network/applicationsecuritygroups": (Counted(name="ApplicationSecurityGroups"),),
    "microsoft.network/loadbalancers": (
        Counted(name="LoadBalancers"),
        Counted(name="StandardSkuLoadBalancers", path=("sku", "name"), value="standard"),
    ),
    "microsoft.network/natgateways": (Counted(name="NatGateways"),),
    "microsoft.network/networkinterfaces": (Counted(name="NetworkInterfaces"),),
    "microsoft.network/networksecuritygroups": (Counted(name="NetworkSecurityGroups"),),
    "microsoft.network/networkwatchers": (Counted(name="NetworkWatchers"),),
    "microsoft.network/privateendpoints": (Counted(name="PrivateEndpoints"),),
    "microsoft.network/privatelinkservices": (Counted(name="PrivateLinkServices"),),
    "microsoft.network/publicipaddresses": (
        Counted(name="PublicIPAddresses"),
        Counted(name="StaticPublicIPAddresses", path=("properties", "publicIPAllocationMethod"), value="static"),
        Counted(name="StandardSkuPublicIpAddresses", path=("sku", "name"), value="standard"),
    ),
    "microsoft.network/publicipprefixes": (Counted(name="PublicIpPrefixes"),),
    "microsoft.network/routetables": (Counted(name="RouteTables"),),
    "microsoft.network/virtualnetworks": (Counted(name="VirtualNetworks"),),
    "microsoft.storage/storageaccounts": (Counted(name="StorageAccounts"),),
}
"""By type, in lower case. `_MACHINES` has the types that need cores."""

_SENTENCES: Final[Mapping[QuotaKey, str]] = {
    ("microsoft.network", "publicipaddresses"): "PublicIPCountLimitReached",
    ("microsoft.network", "staticpublicipaddresses"): "StaticPublicIPCountLimitReached",
    ("microsoft.storage", "storageaccounts"): "MaxStorageAccountsCountPerSubscriptionExceeded",
}
"""The codes of quotas with their own refusal texts."""


def list_usages(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer the GET of the usages of a provider in a region."""
    cloud.require_scope(request)
    target = request.target
    location = normalize_region(target.names[0])
    used = _count_used(cloud, target.subscription, location)
    rows = [
        (f"{index:06}", _make_usage(quota, used, target))
        for index, quota in enumerate(_list_provider_quotas(cloud, target.namespace, location))
    ]
    return make_page(request, rows, lambda row: row, cloud.settings.page_size)


def list_skus(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer the GET of VM sizes; `$filter` supports the location only, and any other filter is ignored."""
    cloud.require_scope(request)
    match = _LOCATION.fullmatch(request.query.get("$filter", "").strip())
    rows = [
        (f"{index:06}", _make_sku(sku))
        for index, sku in enumerate(cloud.settings.skus)
        if match is None or normalize_region(sku.location) == normalize_region(match[1])
    ]
    return make_page(request, rows, lambda row: row, cloud.settings.page_size)


def check_quota(
    cloud: EmulatedCloud, request: ServerRequest, before: StoredResource | None, body: Mapping[str, Any]
) -> None:
    """Refuse a write of machines whose size is not offered, or that exceed a quota."""
    target = request.target
    location = _choose_location(cloud, target, body)
    present = {(each.size, each.zones) for each in _list_machines(cloud, target, before.body)} if before else set()
    for machines in _list_machines(cloud, target, body):
        # Machines that already run stay, even if their region no longer offers the size.
        if (machines.size, machines.zones) not in present and not _is_offered(cloud, machines, location):
            words: dict[str, Any] = {"location": location, "zones": ",".join(machines.zones), "id": target.path}
            raise refuse("SkuNotAvailable", subscription=target.subscription, **words)
    quotas = _list_quotas(cloud, location)
    # Counting reads all resources of the subscription, so it is left out where nothing is limited.
    if not quotas:
        return
    used = _count_used(cloud, target.subscription, location)
    wanted = _count_used(cloud, target.subscription, location, (target, body))
    for quota in quotas:
        key = (quota.provider.casefold(), quota.name.casefold())
        need = wanted[key] - used[key]
        # A write that needs no more than before passes, even above a limit that was lowered since.
        if need > 0 and quota.used + wanted[key] > quota.limit:
            raise _exceed(quota, target, quota.used + used[key], need)


def _exceed(quota: EmulatedQuota, target: Target, used: int, need: int) -> Refused:
    """Make the refusal of a write that exceeds a quota."""
    what = {"cores": "Total Regional Cores", "lowprioritycores": "LowPriorityCores"}.get(quota.name.casefold())
    what = what or (f"{quota.name} Cores" if quota.name.casefold().endswith("family") else quota.name)
    total = used + need
    words: dict[str, Any] = {"what": what, "location": quota.location, "limit": quota.limit, "used": used, "need": need}
    words |= {"total": total, "subscription": target.subscription, "name": target.name, "group": target.group}
    if target.type.casefold() in {_CLUSTER, _POOL}:
        return refuse("QuotaExceeded", cluster=target.names[0], **words)
    return refuse(_SENTENCES.get((quota.provider.casefold(), quota.name.casefold()), "OperationNotAllowed"), **words)


def _list_quotas(cloud: EmulatedCloud, location: str) -> list[EmulatedQuota]:
    return [quota for quota in cloud.settings.quotas if normalize_region(quota.location) == location]


def _list_provider_quotas(cloud: EmulatedCloud, namespace: str, location: str) -> list[EmulatedQuota]:
    """List the quotas of a provider in a region: those of the settings, then all others, which are unlimited."""
    provider = namespace.casefold()
    limited = [quota for quota in _list_quotas(cloud, location) if quota.provider.casefold() == provider]
    names = [counted.name for kind, row in _COUNTED.items() if kind.partition("/")[0] == provider for counted in row]
    if provider == _COMPUTE:
        families = {sku.family for sku in cloud.settings.skus if normalize_region(sku.location) == location}
        names += ["cores", "lowPriorityCores", *sorted(families)]
    known = {quota.name.casefold() for quota in limited}
    return limited + [
        EmulatedQuota(provider=namespace, location=location, name=name, limit=_UNLIMITED)
        for name in names
        if name.casefold() not in known
    ]


def _make_usage(quota: EmulatedQuota, used: Counter[QuotaKey], target: Target) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "currentValue": quota.used + used[quota.provider.casefold(), quota.name.casefold()],
        "limit": quota.limit,
        "name": {"localizedValue": quota.name, "value": quota.name},
        "unit": "Count",
    }
    if target.namespace.casefold() == "microsoft.network":
        usage |= {"id": f"{target.path}/{quota.name}", "isAdjustable": True}
    return usage


def _make_sku(sku: EmulatedSku) -> dict[str, Any]:
    return {
        "resourceType": "virtualMachines",
        "name": sku.name,
        "tier": sku.name.partition("_")[0],
        "size": sku.name.partition("_")[2],
        "family": sku.family,
        "locations": [sku.location],
        "locationInfo": [{"location": sku.location, "zones": list(sku.zones), "zoneDetails": []}],
        "capabilities": [{"name": "vCPUs", "value": str(sku.cores)}],
        "restrictions": [
            {
                "type": restriction.type,
                "values": [sku.location],
                "restrictionInfo": {
                    "locations": [sku.location],
                    **({"zones": list(restriction.zones)} if restriction.type == "Zone" else {}),
                },
                "reasonCode": restriction.reason,
            }
            for restriction in sku.restricted
        ],
    }


def _is_offered(cloud: EmulatedCloud, machines: EmulatedMachines, location: str) -> bool:
    """Return whether a region offers a size in its zones. A region without sizes in the settings offers any."""
    sizes = {sku.name.casefold(): sku for sku in cloud.settings.skus if normalize_region(sku.location) == location}
    sku = sizes.get(machines.size.casefold())
    if not sizes or sku is None:
        return not sizes
    closed_zones = {zone for restriction in sku.restricted for zone in restriction.zones}
    is_closed = any(restriction.type == "Location" for restriction in sku.restricted)
    return not is_closed and {*machines.zones} <= {*sku.zones} - closed_zones


def _count_used(
    cloud: EmulatedCloud, subscription: str, location: str, changed: tuple[Target, Mapping[str, Any]] | None = None
) -> Counter[QuotaKey]:
    """Count the usage of a subscription in a region; `changed` is a resource with its new body."""
    rows = {
        key: (parse(resource.id), resource.body)
        for key, resource in cloud.store.below(f"/subscriptions/{subscription}/".casefold())
        if parse(key).type in _COUNTED or parse(key).type in _MACHINES
    }
    if changed is not None:
        rows[changed[0].key] = changed
    used: Counter[QuotaKey] = Counter()
    for target, body in rows.values():
        if _choose_location(cloud, target, body) == location:
            used.update(_count(cloud, target, body, rows))
    return used


def _count(
    cloud: EmulatedCloud, target: Target, body: Mapping[str, Any], keys: Mapping[str, object]
) -> Counter[QuotaKey]:
    """Count the usage of one resource. `keys` are those of all resources: an agent pool among them counts
    separately.
    """
    needs: Counter[QuotaKey] = Counter()
    for counted in _COUNTED.get(target.type.casefold(), ()):
        if not counted.path or str(find_value(body, counted.path)).casefold() == counted.value:
            needs[target.namespace.casefold(), counted.name.casefold()] += 1
    for machines in _list_machines(cloud, target, body, keys):
        sku = next((sku for sku in cloud.settings.skus if sku.name.casefold() == machines.size.casefold()), None)
        # A size without a row has no family either: it needs no cores, so nothing is added under the empty name.
        cores = machines.count * sku.cores if sku is not None else 0
        # Spot machines of all families share one quota.
        names = ["lowprioritycores"] if machines.is_spot else ["cores", sku.family.casefold() if sku else ""]
        needs.update({(_COMPUTE, name): cores for name in names})
    return needs


def _choose_location(cloud: EmulatedCloud, target: Target, body: Mapping[str, Any]) -> str:
    """Choose the region of a resource; an agent pool is in the region of its cluster."""
    parent = target.parent if target.type.casefold() == _POOL else None
    cluster = cloud.store.resource(parent.key) if parent is not None else None
    return normalize_region((cluster.body if cluster is not None else body).get("location"))


def _list_machines(
    cloud: EmulatedCloud, target: Target, body: Mapping[str, Any], keys: Mapping[str, object] | None = None
) -> list[EmulatedMachines]:
    """List the machines of a resource, without a cluster's pools that are separate resources."""
    find = _MACHINES.get(target.type.casefold())
    if find is None:
        return []
    if target.type.casefold() == _CLUSTER:
        own = keys if keys is not None else cloud.store.keys(f"{target.key}/agentpools/")
        profiles = find_value(body, ("properties", "agentPoolProfiles"))
        return [
            _read_pool(profile)
            for profile in (profiles if isinstance(profiles, list) else [])
            if isinstance(profile, Mapping) and f"{target.key}/agentpools/{profile.get('name')}".casefold() not in own
        ]
    return list(find(body))


def _read_machine(body: Mapping[str, Any]) -> Iterator[EmulatedMachines]:
    size = find_value(body, ("properties", "hardwareProfile", "vmSize"))
    is_hosted = any(find_value(body, ("properties", name)) for name in ("host", "hostGroup"))
    if isinstance(size, str) and not is_hosted:  # a dedicated host has its own cores
        yield EmulatedMachines(
            size=size, count=1, zones=_read_zones(body.get("zones")), is_spot=_is_spot(body, ("properties", "priority"))
        )


def _read_scale_set(body: Mapping[str, Any]) -> Iterator[EmulatedMachines]:
    size, count = find_value(body, ("sku", "name")), find_value(body, ("sku", "capacity"))
    is_spot = _is_spot(body, ("properties", "virtualMachineProfile", "priority"))
    if isinstance(size, str):
        yield EmulatedMachines(
            size=size, count=_read_count(count), zones=_read_zones(body.get("zones")), is_spot=is_spot
        )


def _read_machine_pool(body: Mapping[str, Any]) -> Iterator[EmulatedMachines]:
    properties = body.get("properties")
    if isinstance(properties, Mapping):
        yield _read_pool(properties)


def _read_pool(pool: Mapping[str, Any]) -> EmulatedMachines:
    # The autoscaler starts as many machines as its minimum, however few `count` names.
    least = _read_count(pool.get("minCount")) if pool.get("enableAutoScaling") is True else 0
    return EmulatedMachines(
        size=str(pool.get("vmSize") or ""),
        count=max(_read_count(pool.get("count", 1)), least),
        zones=_read_zones(pool.get("availabilityZones")),
        is_spot=_is_spot(pool, ("scaleSetPriority",)),
    )


def _read_count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _read_zones(value: Any) -> tuple[str, ...]:
    return tuple(str(zone) for zone in value) if isinstance(value, list) else ()


def _is_spot(body: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    # Low is the former name of Spot, which Azure still accepts.
    return str(find_value(body, path)).casefold() in {"spot", "low"}


_MACHINES: Final[Mapping[str, Callable[[Mapping[str, Any]], Iterator[EmulatedMachines]]]] = {
    "microsoft.compute/virtualmachines": _read_machine,
    "microsoft.compute/virtualmachinescalesets": _read_scale_set,
    _CLUSTER: _read_machine_pool,
    _POOL: _read_machine_pool,
}
"""Functions that find the machines of a body, by type in lower case."""
