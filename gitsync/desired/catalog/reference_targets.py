"""The kinds that references are to, and so the fields that refer to a kind.

The facts do not say to which kind a reference is, but the name of the field mostly does: `vnetSubnetReference` is to a
subnet, `diskEncryptionSet.reference` to a DiskEncryptionSet. Its last words are looked up among the kinds of the same
group, and in a table. For all others the target is unknown, and nothing is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.everyday_names import GroupKind, normalize_name
from gitsync.desired.catalog.kind_names import choose_newest_version
from gitsync.model.facts import Field, FieldType, Kind
from gitsync.model.gvk import GVK

_REFERENCES: Final = frozenset({"reference", "wellKnownReference"})
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_FILLERS: Final = ("References", "Reference", "Resource", "Resources", "Arm", "Id")
_VAGUE: Final = frozenset(
    {
        "account",
        "image",
        "policy",
        "privatelinkservice",
        "rule",
        "service",
        "snapshot",
        "subscription",
        "workspace",
    }
)
"""Names of kinds without a meaning in the name of a field: `privateLinkServiceReference` may be to any kind."""

_TARGETS: Final[Mapping[GroupKind, str]] = {
    ("apimanagement.azure.com", "Service"): "apiManagementService",
    ("app.azure.com", "ManagedEnvironment"): "managedEnvironment",
    ("authorization.azure.com", "RoleDefinition"): "roleDefinition",
    ("compute.azure.com", "CapacityReservationGroup"): "capacityReservationGroup",
    ("compute.azure.com", "Disk"): "managedDisk",
    ("compute.azure.com", "DiskEncryptionSet"): "diskEncryptionSet",
    ("containerregistry.azure.com", "Registry"): "containerRegistry",
    ("documentdb.azure.com", "DatabaseAccount"): "cosmosDbAccount",
    ("eventhub.azure.com", "NamespacesAuthorizationRule"): "eventHubAuthorizationRule",
    ("eventhub.azure.com", "NamespacesEventhub"): "eventHub",
    ("insights.azure.com", "ActionGroup"): "actionGroup",
    ("insights.azure.com", "Component"): "applicationInsights",
    ("insights.azure.com", "DataCollectionEndpoint"): "dataCollectionEndpoint",
    ("insights.azure.com", "DataCollectionRule"): "dataCollectionRule",
    ("keyvault.azure.com", "Vault"): "keyVault sourceVault akv",
    (
        "managedidentity.azure.com",
        "UserAssignedIdentity",
    ): "userAssignedIdentity userAssignedIdentities userIdentity managedIdentity",
    ("network.azure.com", "ApplicationSecurityGroup"): "applicationSecurityGroup",
    ("network.azure.com", "DnsZone"): "dnsZone",
    ("network.azure.com", "NetworkInterface"): "networkInterface",
    ("network.azure.com", "NetworkSecurityGroup"): "networkSecurityGroup",
    ("network.azure.com", "PrivateDnsZone"): "privateDnsZone",
    ("network.azure.com", "PublicIPAddress"): "publicIPAddress publicIp",
    ("network.azure.com", "PublicIPPrefix"): "publicIPPrefix",
    ("network.azure.com", "TrafficManagerProfile"): "trafficManagerProfile",
    ("network.azure.com", "VirtualNetwork"): "virtualNetwork",
    ("network.azure.com", "VirtualNetworksSubnet"): "subnet virtualNetworkRule",
    ("operationalinsights.azure.com", "Workspace"): "workspace",
    ("resources.azure.com", "ResourceGroup"): "resourceGroup",
    ("servicebus.azure.com", "NamespacesQueue"): "serviceBusQueue",
    ("servicebus.azure.com", "NamespacesTopic"): "serviceBusTopic",
    ("sql.azure.com", "ServersDatabase"): "sqlDb",
    ("sql.azure.com", "ServersElasticPool"): "elasticPool",
    ("storage.azure.com", "StorageAccount"): "storageAccount",
    ("storage.azure.com", "StorageAccountsBlobServicesContainer"): "storageContainer",
    ("web.azure.com", "ServerFarm"): "serverFarm",
    ("web.azure.com", "Site"): "functionApp webApp",
}
"""The words at the end of a field's name that name the kind of another group that it refers to."""

_OTHERS: Final[Mapping[tuple[str, str], GroupKind]] = {
    ("ApplicationGateway", "firewallPolicy"): ("network.azure.com", "WebApplicationFirewallPolicy"),
    ("FleetsMember", "clusterResourceReference"): ("containerservice.azure.com", "ManagedCluster"),
    ("SecurityPolicy", "wafPolicy"): ("network.frontdoor.azure.com", "WebApplicationFirewallPolicy"),
    ("ContainerApp", "environmentReference"): ("app.azure.com", "ManagedEnvironment"),
    ("Job", "environmentReference"): ("app.azure.com", "ManagedEnvironment"),
    ("DnsForwardingRuleset", "dnsResolverOutboundEndpoints"): ("network.azure.com", "DnsResolversOutboundEndpoint"),
    ("ContainerGroup", "subnetIds"): ("network.azure.com", "VirtualNetworksSubnet"),
    ("NetworkWatchersFlowLog", "storageReference"): ("storage.azure.com", "StorageAccount"),
    ("RedisLinkedServer", "linkedRedisCacheReference"): ("cache.azure.com", "Redis"),
    ("TrafficManagerProfilesNestedEndpoint", "targetResourceReference"): ("network.azure.com", "TrafficManagerProfile"),
    ("RoleDefinition", "assignableScopesReferences"): ("resources.azure.com", "ResourceGroup"),
    ("Route", "originGroup"): ("cdn.azure.com", "AfdOriginGroup"),
    ("Route", "customDomains"): ("cdn.azure.com", "AfdCustomDomain"),
}
"""By kind and field: fields whose words do not say it."""


@dataclass(frozen=True, slots=True, order=True)
class Referrer:
    """A field of a kind that refers to a kind."""

    group: str
    kind: str
    path: str


def find_target(kind: Kind, path: str, catalog: Catalog) -> GroupKind | None:
    """The group and kind that a reference at a path (`spec.subnet.reference`) is to; None if that is unknown."""
    words = _find_words(path)
    if words is None:
        return None
    name, steps = words
    if (other := _OTHERS.get((kind.gvk.kind, name))) is not None:
        return other
    group = kind.gvk.group
    own_kinds, targets = _index_kinds(group, catalog), _index_targets()
    # The longest end of the name comes first: `privateDnsZone` would otherwise be a `dnsZone`.
    for start in range(len(steps)):
        wanted = normalize_name("".join(steps[start:]))
        # A kind of the same group is meant more often than one of another group that is called the same.
        if wanted in own_kinds and wanted not in _VAGUE:
            return group, own_kinds[wanted]
        if wanted in targets:
            return targets[wanted]
    return None


def list_references(kind: Kind) -> Iterator[str]:
    """The paths of all references in a spec, sorted."""
    yield from sorted(_list_references(kind, kind.spec, "spec", ()))


def list_referrers(group_kind: GroupKind, catalog: Catalog) -> tuple[Referrer, ...]:
    """The fields of all kinds, at their newest versions, that refer to a kind, sorted."""
    return _index_referrers(catalog).get(group_kind, ())


def list_children(group_kind: GroupKind, catalog: Catalog) -> tuple[GroupKind, ...]:
    """The kinds that a kind owns, sorted."""
    return tuple(kind.gvk[::2] for kind in _list_kinds(catalog) if kind.owner == group_kind)


@cache
def _list_kinds(catalog: Catalog) -> tuple[Kind, ...]:
    """Every kind at its newest version, sorted."""
    group_kinds = ((group, name) for group in catalog.groups() for name in catalog.kinds(group))
    kinds = (catalog.kind(GVK(group, choose_newest_version(group, name, catalog), name)) for group, name in group_kinds)
    return tuple(kind for kind in kinds if kind is not None)


@cache
def _index_referrers(catalog: Catalog) -> Mapping[GroupKind, tuple[Referrer, ...]]:
    found: dict[GroupKind, list[Referrer]] = {}
    for kind in _list_kinds(catalog):
        for path in list_references(kind):
            if (target := find_target(kind, path, catalog)) is not None:
                found.setdefault(target, []).append(Referrer(kind.gvk.group, kind.gvk.kind, path))
    return MappingProxyType({group_kind: tuple(sorted(set(referrers))) for group_kind, referrers in found.items()})


def _list_references(kind: Kind, type_name: str, path: str, containing: tuple[str, ...]) -> Iterator[str]:
    # A type that contains itself would have no end.
    if type_name in containing:
        return
    for name, field in kind.types[type_name]["fields"].items():
        inner = find_inner(field)
        if isinstance(inner, str):
            if inner in _REFERENCES:
                yield f"{path}.{name}"
        else:
            yield from _list_references(kind, inner["ref"], f"{path}.{name}", (*containing, type_name))


def find_inner(field: Field) -> FieldType:
    """The type of a field, or of the members of its lists and maps."""
    type_ = field["type"]
    while isinstance(type_, Mapping) and "ref" not in type_:
        type_ = next(type_[word] for word in ("base", "list", "map") if word in type_)
    return type_


def _find_words(path: str) -> tuple[str, list[str]] | None:
    """The field whose name shows the target of a reference, and its words; None if no word is left."""
    *_, before, last = path.split(".")
    name = before if last in {"reference", "references"} else last
    steps = _WORD.findall(name[:1].upper() + name[1:])
    while steps and steps[-1] in _FILLERS:
        steps.pop()
    return (name, steps) if steps else None


@cache
def _index_kinds(group: str, catalog: Catalog) -> Mapping[str, str]:
    return MappingProxyType({normalize_name(kind): kind for kind in catalog.kinds(group)})


@cache
def _index_targets() -> Mapping[str, GroupKind]:
    return MappingProxyType(
        {normalize_name(word): group_kind for group_kind, words in _TARGETS.items() for word in words.split()}
    )
