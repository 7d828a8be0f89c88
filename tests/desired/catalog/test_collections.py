"""Where a resource is listed: the paths of its collections, from its id and the facts of its kind."""

import pytest

from gitsync.desired.catalog.collections import list_collections
from gitsync.model.arm_id import ArmId
from gitsync.model.facts import ListLevel
from gitsync.model.gvk import GVK

SUBSCRIPTION = "/subscriptions/S"
GROUP = f"{SUBSCRIPTION}/resourceGroups/G"
ACCOUNT = f"{GROUP}/providers/Microsoft.Storage/storageAccounts/a"
ZONE = f"{GROUP}/providers/Microsoft.Network/dnsZones/example.com"
PRIVATE_ZONE = f"{GROUP}/providers/Microsoft.Network/privateDnsZones/example.com"
ROLES = "providers/Microsoft.Authorization/roleAssignments"


def list_paths(catalog, group, kind, arm_id):
    gvk = GVK(group, catalog.versions(group, kind)[-1], kind)
    return {collection.level: collection.path for collection in list_collections(catalog.kind(gvk), ArmId(arm_id))}


@pytest.mark.parametrize(
    ("group", "kind", "arm_id", "paths", "why"),
    [
        (
            "storage.azure.com",
            "StorageAccount",
            ACCOUNT,
            {
                ListLevel.GROUP: f"{GROUP}/providers/Microsoft.Storage/storageAccounts",
                ListLevel.SUBSCRIPTION: f"{SUBSCRIPTION}/providers/Microsoft.Storage/storageAccounts",
            },
            "a resource of a group",
        ),
        (
            "storage.azure.com",
            "StorageAccountsBlobServicesContainer",
            f"{ACCOUNT}/blobServices/default/containers/c",
            {ListLevel.PARENT: f"{ACCOUNT}/blobServices/default/containers"},
            "a child is listed below its parent alone",
        ),
        (
            "resources.azure.com",
            "ResourceGroup",
            GROUP,
            {ListLevel.SUBSCRIPTION: f"{SUBSCRIPTION}/resourcegroups"},
            "a group has its own list",
        ),
        (
            "network.azure.com",
            "DnsZonesARecord",
            f"{ZONE}/A/www",
            {ListLevel.PARENT: f"{ZONE}/recordsets"},
            "a zone lists records of all types",
        ),
        (
            "network.azure.com",
            "PrivateDnsZonesTXTRecord",
            f"{PRIVATE_ZONE}/TXT/www",
            {ListLevel.PARENT: f"{PRIVATE_ZONE}/ALL"},
            "so does a private zone, under another name",
        ),
        (
            "network.azure.com",
            "PrivateDnsZonesVirtualNetworkLink",
            f"{PRIVATE_ZONE}/virtualNetworkLinks/hub",
            {ListLevel.PARENT: f"{PRIVATE_ZONE}/virtualNetworkLinks"},
            "a link is no record",
        ),
        (
            "authorization.azure.com",
            "RoleAssignment",
            f"{ACCOUNT}/{ROLES}/r",
            {
                ListLevel.SCOPE: f"{ACCOUNT}/{ROLES}",
                ListLevel.GROUP: f"{GROUP}/{ROLES}",
                ListLevel.SUBSCRIPTION: f"{SUBSCRIPTION}/{ROLES}",
            },
            "an extension is listed at what it extends",
        ),
        (
            "authorization.azure.com",
            "RoleAssignment",
            f"{SUBSCRIPTION}/{ROLES}/r",
            {ListLevel.SCOPE: f"{SUBSCRIPTION}/{ROLES}", ListLevel.SUBSCRIPTION: f"{SUBSCRIPTION}/{ROLES}"},
            "an assignment at a subscription is in no group",
        ),
        (
            "alertsmanagement.azure.com",
            "PrometheusRuleGroup",
            f"{GROUP}/providers/Microsoft.AlertsManagement/prometheusRuleGroups/p",
            {
                ListLevel.GROUP: f"{GROUP}/providers/Microsoft.AlertsManagement/prometheusRuleGroups",
                ListLevel.SUBSCRIPTION: f"{SUBSCRIPTION}/providers/Microsoft.AlertsManagement/prometheusRuleGroups",
            },
            "no SDK says so, but every provider must have these lists",
        ),
        ("subscription.azure.com", "Alias", "/providers/Microsoft.Subscription/aliases/a", {}, "nothing to list"),
    ],
)
def test_the_collections_of_a_resource(catalog, group, kind, arm_id, paths, why):
    assert list_paths(catalog, group, kind, arm_id) == paths, why
