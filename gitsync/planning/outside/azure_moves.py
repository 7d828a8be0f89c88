"""Values that Azure changes by itself, without a write of anybody: they are not outside changes.

Most that move are read-only by ARM's types, and are never recorded. These rows are for those that the types let anybody
write. Over 1,388 recorded pairs of reads without a write between them, three members that can be written moved: one by
Azure, which is a row, and two that somebody changed (tests/planning/outside/test_recorded_outside.py). So most rows
rest on what the types state of the same member elsewhere, or on documentation. None is about a value that people set in
the portal, and a change that weakens the estate is always reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.catalog.handed_over import FieldPair, select_rows
from gitsync.desired.formats.json_members import as_mapping, read_mapping, read_text
from gitsync.desired.formats.json_pointer import ANY, JsonPath
from gitsync.desired.formats.leaf_changes import LeafChange
from gitsync.desired.formats.list_pairing import TAGS
from gitsync.planning.diff.handed_over_values import put_value

REPORTED_NAMES: Final[Mapping[str, re.Pattern[str]]] = {
    why: re.compile(names)
    for why, names in {
        "It is when something happened, and who did it: read-only in 98 % of the types that have such a member.": (
            r"(?:accessed|created|creation|modified|changed|completed|updated)(?:At|By|On|Date|DateTime|Time|Timestamp)?"
            r"(?:Utc|UTC)?|(?:last|latest|oldest|earliest)[A-Z]\w*(?:At|By|On|Date|Time|TimeStamp|Timestamp|Point)(?:Utc|UTC)?"
            r"|last(?:Modified|Updated|Seen|Checked)|time(?:Created|Updated|Modified)|timestamp|\w*[hH]eartbeat(?:Utc)?"
            r"|next[A-Z]\w*Time"
        ),
        "It is a version that Azure makes at each change: read-only in 70 % of the types, and an echo in the rest.": (
            r"_?(?:etag|eTag|\w+Etag)|_ts"
        ),
        "It is how a write went: read-only in 94 %.": r"provisioning(?:State|Status|Details|Errors?)",
        "It is what a service reports of its work: read-only in 82 %.": (
            r"instanceView|statuses|status(?:Message|Details?|Reason)|detailedStatus|displayStatus"
            r"|errors?|(?:error|failure)(?:Code|Message|Details?|Reason|Info)|(?:provisioning|validation|health)Errors?"
            r"|health(?:State|Status|Details)?|\w+HealthStatus|replicationHealth|extendedErrorInfo"
        ),
        "It is a measurement: read-only in 83 %.": (
            r"percentComplete[d]?|percentageComplete|progressPercentage|currentCapacity|availableCapacity|usedBytes"
            r"|sizeInBytes|(?:current|observed|effective)(?!Tab|PaymentTerm|From|Until)[A-Z]\w*|protectedItems?Count|recoveryPointCount"
        ),
        "The endpoints of others are resources of their own: read-only in 76 %.": r"privateEndpointConnections",
    }.items()
}
"""Names of members that a service reports, in the spelling of ARM's types, and of all below them. A test compares the
figures with the types.
"""

_STATES: Final = re.compile(r"(?:\w+S|s)tat(?:e|us)|(?:\w+P|p)hase|peeringSyncLevel")
_CHOSEN: Final = re.compile(
    r"(?:en|dis|un)?(?:able|lock|block|allow|audit|mask)d?|(?:en|dis)abled|on|off|true|false|approved|rejected|accepted"
    r"|den(?:y|ied)|(?:un)?locked|always\w*|required?|optional|\w*enabled|\w*disabled",
    re.IGNORECASE,
)
"""Words that somebody chooses: `state: Disabled` switches something off, and `status: Approved` lets it in."""

_EXACT_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d*[1-9]\d*(?:Z|[+-]\d\d:?\d\d)?")
_VERSION_TAG: Final = re.compile(r'(?:W/)?"[^"]+"|0x[0-9A-F]{12,}')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Move:
    """A value of some types that Azure changes by itself."""

    types: re.Pattern[str]  # matches them
    path: JsonPath  # of the value, or of what holds it; `*` for any index or name
    evidence: str  # where Microsoft describes it, or a recording that shows it
    applies: Callable[[Any, Any, Mapping[str, Any]], bool] = lambda *_: True
    """Gets the value before and now, and the live body."""


def _make_move(types: str, path: str, evidence: str, **more: Any) -> _Move:
    pattern = re.compile(types.replace(".", r"\."), re.IGNORECASE)
    return _Move(types=pattern, path=tuple(path.split("/")), evidence=evidence, **more)


def _is_withheld(before: Any, now: Any, _: Mapping[str, Any]) -> bool:
    return before is None or now is None


def _is_highly_available(_: Any, __: Any, live: Mapping[str, Any]) -> bool:
    mode = read_text(read_mapping(live.get("properties"), "highAvailability"), "mode")
    return mode.casefold() in {"zoneredundant", "samezone"}


def _is_of_interface(before: Any, now: Any, _: Mapping[str, Any]) -> bool:
    """Return whether an entry of a pool stands for a network interface that joined it; others have an address."""
    return not any(read_text(as_mapping(side).get("properties"), "ipAddress") for side in (before, now))


_MOVES: Final = (
    _make_move(
        "Microsoft.ContainerService/managedClusters",
        "properties/addonProfiles/extensionManager",
        "Recorded: AKS enables it with the first cluster extension, an ARM resource of its own.",
    ),
    _make_move(
        "Microsoft.ContainerService/managedClusters/agentPools",
        "properties/nodeImageVersion",
        "AKS documentation, node images: AKS replaces them, by nodeOSUpgradeChannel also without a request.",
    ),
    *(
        _make_move(
            "Microsoft.Compute/virtualMachines",
            f"properties/storageProfile/{path}",
            "Azure/azure-powershell#13213: by design, a deallocated machine does not show them.",
            applies=_is_withheld,
        )
        for disk in ("osDisk", "dataDisks/*")
        for path in (f"{disk}/diskSizeGB", f"{disk}/managedDisk/storageAccountType")
    ),
    *(
        _make_move(
            f"Microsoft.{service}/flexibleServers",
            path,
            "High availability of flexible servers: a failover swaps the zones of both servers.",
            applies=_is_highly_available,
        )
        for service in ("DBforPostgreSQL", "DBforMySQL")
        for path in ("properties/availabilityZone", "properties/highAvailability/standbyAvailabilityZone")
    ),
    _make_move(
        "Microsoft.Network/publicIPAddresses",
        "properties/ipAddress",
        "Public IP address documentation: Azure assigns a dynamic address when it is used, and releases it.",
    ),
    _make_move(
        "Microsoft.ContainerInstance/containerGroups",
        "properties/ipAddress/ip",
        "Recorded nine times: a group gets its address once it runs.",
    ),
    _make_move(
        "Microsoft.App/(connected|managed)Environments",
        "properties/staticIp",
        "Recorded: it is the address of the cluster below the environment.",
    ),
    *(
        _make_move(
            "Microsoft.ConnectedVMwarevSphere/virtualMachineInstances",
            path,
            "Recorded: the guest reports it while it runs.",
        )
        for path in ("properties/networkProfile/networkInterfaces/*/ipSettings", "properties/osProfile/computerName")
    ),
    _make_move(
        "Microsoft.Network/loadBalancers",
        "properties/backendAddressPools/*/properties/loadBalancerBackendAddresses/*",
        "Load balancer documentation, backend pools: each network interface of a pool is an entry of this list.",
        applies=_is_of_interface,
    ),
    _make_move(
        "Microsoft.Network/loadBalancers/backendAddressPools",
        "properties/loadBalancerBackendAddresses/*",
        "Load balancer documentation, backend pools: each network interface of a pool is an entry of this list.",
        applies=_is_of_interface,
    ),
    *(
        _make_move(
            "Microsoft.Network/virtualNetworks/virtualNetworkPeerings",
            f"properties/{name}",
            "Virtual network peering documentation: it follows the address space of the remote network.",
        )
        for name in ("remoteAddressSpace", "remoteVirtualNetworkAddressSpace")
    ),
    *(
        _make_move(
            "Microsoft.Network/(expressRouteCircuits|trafficmanagerprofiles)(/.+)?",
            path,
            "API specifications: the state that Azure, or the provider of the circuit, reports.",
        )
        for path in (
            "properties/circuitProvisioningState",
            "properties/serviceProviderProvisioningState",
            "properties/endpointMonitorStatus",
            "properties/monitorConfig/profileMonitorStatus",
            "properties/endpoints/*/properties/endpointMonitorStatus",
        )
    ),
    *(
        _make_move(
            "Microsoft.ApiManagement/service",
            f"properties/hostnameConfigurations/*/certificate/{name}",
            "API Management documentation, custom domains: certificates of Key Vault rotate without a write.",
        )
        for name in ("expiry", "subject", "thumbprint")
    ),
)


def is_moved_by_azure(
    arm_type: str, change: LeafChange, live: Mapping[str, Any], told: Mapping[str, str] | None = None
) -> bool:
    """Return whether Azure made a change of a type (in any case) by itself.

    Indexes of the path are those of `live`, the body that Azure shows now. `told` is what other manifests set for the
    resource (`catalog.handed_over`).
    """
    path, before, now = change
    # A tag is somebody's own text, whatever it looks like.
    if path[0] == TAGS:
        return False
    return (
        is_reported_value(path, before, now)
        or _is_made(before, now)
        or any(_fits(move, arm_type, path) and move.applies(before, now, live) for move in _MOVES)
        or _is_handed_over(arm_type, change, live, told or {})
    )


def is_reported_value(path: JsonPath, *values: Any) -> bool:
    """Return whether a service reports the values at a path of its work, and no one chose them."""
    steps = [step for step in path if isinstance(step, str)]
    is_named = any(names.fullmatch(step) for step in steps for names in REPORTED_NAMES.values())
    return is_named or _is_state(steps[-1], values)


def _is_state(name: str, values: Iterable[Any]) -> bool:
    """Return whether a state went on by itself, as from Initiated to Connected, and no one chose it."""
    words = [value for value in values if value is not None]
    return bool(_STATES.fullmatch(name)) and all(
        isinstance(word, str) and not _CHOSEN.fullmatch(word) for word in words
    )


def _is_made(before: Any, now: Any) -> bool:
    """Return whether a machine made both values: a time to the fraction of a second, or an entity tag."""
    values = [side for side in (before, now) if side is not None]
    return all(
        isinstance(value, str) and bool(_EXACT_TIME.fullmatch(value) or _VERSION_TAG.fullmatch(value))
        for value in values
    )


def _fits(move: _Move, arm_type: str, path: JsonPath) -> bool:
    return bool(move.types.fullmatch(arm_type)) and _leads_to(move.path, path)


def _leads_to(pattern: JsonPath, path: JsonPath) -> bool:
    """Return whether a pattern matches a path, or something that holds it."""
    return len(pattern) <= len(path) and all(
        step == ANY or (isinstance(own, str) and own.casefold() == str(step).casefold())
        for step, own in zip(pattern, path, strict=False)
    )


def _is_handed_over(arm_type: str, change: LeafChange, live: Mapping[str, Any], told: Mapping[str, str]) -> bool:
    """Return whether a switch that Azure shows hands the value over: a count under an autoscaler, storage that grows.
    Where git sets the switch, Azure shows it too.
    """
    path, before, now = change
    for row in select_rows(arm_type, tuple(told)):
        # A switch owns how far a value moves, and not whether there is one.
        if len(row.path) != len(path) or not _leads_to(row.path, path) or before is None or now is None:
            continue
        # Git does not set the value, so the recorded one stands for git's side.
        pair = FieldPair(put_value(live, path, before), path, live, path, told)
        if row.fits(pair) and row.applies(pair) and row.choose(pair) == now:
            return True
    return False
