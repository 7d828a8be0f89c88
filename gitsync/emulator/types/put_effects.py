"""What a PUT does to members that its body lacks, by type, as far as it is more than to remove them.

A PUT replaces: that is the rule of Azure Resource Manager, and what recordings show of most members. The tables have
the recorded exceptions, the `kept` rows and those with a value in put_effects.tsv of the catalog, which
tools/build_put_effects.py derives. `*` stands for the entries of a list that both bodies have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitsync.emulator.patch import GONE, fill_absent

KEPT: Final[Mapping[str, tuple[str, ...]]] = {
    "microsoft.compute/virtualmachines": (
        "/properties/storageProfile/dataDisks/*/deleteOption",
        "/properties/storageProfile/dataDisks/*/managedDisk/id",
        "/properties/storageProfile/dataDisks/*/managedDisk/storageAccountType",
    ),
    "microsoft.databoxedge/databoxedgedevices/orders": ("/properties/shipmentType",),
    "microsoft.network/trafficmanagerprofiles/azureendpoints": ("/properties/priority",),
    "microsoft.web/sites/slots": ("/properties/serverFarmId",),
}
"""Members that Azure keeps."""

DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "microsoft.compute/galleries/images/versions": {
        "/properties/safetyProfile/allowDeletionOfReplicatedLocations": False
    },
    "microsoft.compute/hostgroups/hosts": {"/properties/autoReplaceOnFailure": True},
    "microsoft.containerinstance/containergroups": {
        "/properties/containers/*/properties/environmentVariables": [],
        "/properties/containers/*/properties/ports": [],
        "/properties/sku": "Standard",
    },
    "microsoft.kusto/clusters": {"/sku/capacity": 2},
    "microsoft.network/connections": {"/properties/ipsecPolicies": []},
    "microsoft.network/dnszones/aaaa": {"/properties/AAAARecords": []},
    "microsoft.network/dnszones/caa": {"/properties/caaRecords": []},
    "microsoft.network/dnszones/txt": {"/properties/TXTRecords": []},
    "microsoft.network/loadbalancers/backendaddresspools": {"/properties/loadBalancerBackendAddresses": []},
    "microsoft.network/networksecuritygroups/securityrules": {
        "/properties/destinationAddressPrefixes": [],
        "/properties/sourcePortRanges": [],
    },
    "microsoft.network/networkwatchers/flowlogs": {
        "/properties/retentionPolicy/days": 0,
        "/properties/retentionPolicy/enabled": False,
    },
    "microsoft.network/virtualhubs/routemaps": {"/properties/rules": []},
    "microsoft.network/vpngateways/vpnconnections": {
        "/properties/routingConfiguration/propagatedRouteTables/labels": ["default"],
        "/properties/vpnLinkConnections/*/properties/ipsecPolicies": [],
    },
    "microsoft.sql/managedinstances": {"/properties/minimalTlsVersion": "None", "/properties/zoneRedundant": False},
}
"""The values that Azure resets members to; others are gone."""


def apply_put_effects(kind: str, before: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a PUT with what Azure keeps or resets of the stored body before it."""
    arm_type = kind.casefold()
    # For `fill_absent`, GONE stands for the earlier value: the member is kept.
    effects = dict.fromkeys(KEPT.get(arm_type, ()), GONE) | dict(DEFAULTS.get(arm_type, {}))
    for pointer, default in effects.items():
        body = fill_absent(before, body, pointer, default)
    return dict(body)
