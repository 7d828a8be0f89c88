"""Where manifests go: a folder a resource group, and files by topic."""

import pytest

from gitsync.workflows.imports.conversion.imported_manifests import ManifestStyle, make_manifests
from gitsync.workflows.imports.conversion.layout import Layout, place_manifests
from tests.workflows.imports.found import GROUP, SUBSCRIPTION, at, find

IDS = [
    GROUP,
    at("Microsoft.Network/virtualNetworks/hub"),
    at("Microsoft.Network/virtualNetworks/hub/subnets/one"),
    at("Microsoft.Network/dnsZones/example.org"),
    at("Microsoft.Storage/storageAccounts/stuff"),
    at("Microsoft.ManagedIdentity/userAssignedIdentities/me"),
    f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleAssignments/1",
]
MANIFESTS = make_manifests([find(arm_id) for arm_id in IDS], ManifestStyle(existing={}, namespace="default"))


def paths(layout, taken=()):
    placed = place_manifests(MANIFESTS, layout, taken)
    return {path: [manifest.key.kind for manifest in manifests] for path, manifests in placed.items()}


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (
            Layout.TOPIC,
            {
                "core/dns.yaml": ["DnsZone"],
                "core/identity.yaml": ["UserAssignedIdentity"],
                "core/network.yaml": ["VirtualNetwork", "VirtualNetworksSubnet"],
                "core/resource-group.yaml": ["ResourceGroup"],
                "core/storage.yaml": ["StorageAccount"],
                "subscription/identity.yaml": ["RoleAssignment"],
            },
        ),
        (
            Layout.GROUP,
            {
                "core/resources.yaml": ["ResourceGroup", "UserAssignedIdentity", "DnsZone", "VirtualNetwork",
                                        "VirtualNetworksSubnet", "StorageAccount"],
                "subscription/resources.yaml": ["RoleAssignment"],
            },
        ),
    ],
)  # fmt: skip
def test_the_files_of_a_layout(layout, expected):
    assert paths(layout) == expected


def test_a_file_a_resource():
    assert "core/virtualnetworkssubnet-hub-one.yaml" in paths(Layout.RESOURCE)
    assert len(paths(Layout.RESOURCE)) == len(IDS)


def test_a_file_that_exists_is_not_used_in_any_case():
    assert "core/network-3.yaml" in paths(Layout.TOPIC, ["Core/NETWORK.yaml", "core/network-2.yaml"])
