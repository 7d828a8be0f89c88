"""What Azure changes by itself, and what looks like it and is not."""

import re
from functools import cache

import pytest

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.planning.outside.azure_moves import REPORTED_NAMES
from tests.support.outside_views import (
    ACCOUNT,
    BALANCER,
    CLUSTER,
    LOGIC,
    POOL,
    SERVER,
    find,
    properties,
)

MACHINE = ("Microsoft.Compute/virtualMachines", "2024-07-01")
PEERING = ("Microsoft.Network/virtualNetworks/virtualNetworkPeerings", "2024-05-01")
ADDRESS = ("Microsoft.Network/publicIPAddresses", "2024-05-01")
GROUP_OF_CONTAINERS = ("Microsoft.ContainerInstance/containerGroups", "2023-05-01")
HUB = ("Microsoft.EventHub/namespaces", "2024-01-01")
ITEM = ("Microsoft.RecoveryServices/vaults/backupFabrics/protectionContainers/protectedItems", "2024-04-01")
QUEUE = ("Microsoft.ServiceBus/namespaces/queues", "2021-11-01")
SCALE_SET = ("Microsoft.Compute/virtualMachineScaleSets", "2024-07-01")
CONNECTION = ("Microsoft.Network/privateEndpoints", "2024-05-01")
MEMBER = {"name": "g_nic"}
ADDRESSED = {"name": "a", "properties": {"ipAddress": "10.0.0.4"}}


def pool(*addresses, **more):
    return properties(
        backendAddressPools=[{"name": "p", "properties": {"loadBalancerBackendAddresses": [*addresses]}}], **more
    )


@pytest.mark.parametrize(
    ("resource_type", "before", "now", "is_told", "why"),
    [
        (CLUSTER, properties(), properties(addonProfiles={"extensionManager": {"enabled": True}}), False, "recorded"),
        (CLUSTER, properties(), properties(addonProfiles={"azurepolicy": {"enabled": True}}), True, "somebody enables it"),
        (
            POOL,
            properties(count=1, enableAutoScaling=True, minCount=1, maxCount=5),
            properties(count=4, enableAutoScaling=True, minCount=1, maxCount=5),
            False,
            "the autoscaler counts, also if git does not mention it",
        ),
        (
            POOL,
            properties(count=1, enableAutoScaling=True, minCount=1, maxCount=5),
            properties(count=9, enableAutoScaling=True, minCount=1, maxCount=5),
            True,
            "the autoscaler stays within its limits",
        ),
        (POOL, properties(count=1), properties(count=4), True, "somebody scales"),
        (
            POOL,
            properties(nodeImageVersion="AKSUbuntu-2204-202401.1.0"),
            properties(nodeImageVersion="AKSUbuntu-2204-202402.1.0"),
            False,
            "images of nodes",
        ),
        (
            CLUSTER,
            properties(kubernetesVersion="1.29.2", autoUpgradeProfile={"upgradeChannel": "stable"}),
            properties(kubernetesVersion="1.30.1", autoUpgradeProfile={"upgradeChannel": "stable"}),
            False,
            "a channel upgrades",
        ),
        (
            CLUSTER,
            properties(kubernetesVersion="1.30.1", autoUpgradeProfile={"upgradeChannel": "none"}),
            properties(kubernetesVersion="1.31.1", autoUpgradeProfile={"upgradeChannel": "none"}),
            True,
            "somebody upgrades",
        ),
        (
            HUB,
            {"sku": {"name": "Standard", "capacity": 1}, **properties(isAutoInflateEnabled=True, maximumThroughputUnits=9)},
            {"sku": {"name": "Standard", "capacity": 3}, **properties(isAutoInflateEnabled=True, maximumThroughputUnits=9)},
            False,
            "auto-inflate",
        ),
        (HUB, {"sku": {"name": "Standard", "capacity": 1}}, {"sku": {"name": "Standard", "capacity": 3}}, True, "a size"),
        (SCALE_SET, {"sku": {"capacity": 1}}, {"sku": {"capacity": 3}}, True, "no autoscale setting is known"),
        (
            MACHINE,
            properties(storageProfile={"osDisk": {"diskSizeGB": 30, "createOption": "FromImage"}}),
            properties(storageProfile={"osDisk": {"createOption": "FromImage"}}),
            False,
            "a deallocated machine does not show it",
        ),
        (
            MACHINE,
            properties(storageProfile={"osDisk": {"diskSizeGB": 30}}),
            properties(storageProfile={"osDisk": {"diskSizeGB": 64}}),
            True,
            "somebody resizes the disk",
        ),
        (
            SERVER,
            properties(availabilityZone="1", highAvailability={"mode": "ZoneRedundant", "standbyAvailabilityZone": "2"}),
            properties(availabilityZone="2", highAvailability={"mode": "ZoneRedundant", "standbyAvailabilityZone": "1"}),
            False,
            "a failover",
        ),
        (SERVER, properties(availabilityZone="1"), properties(availabilityZone="2"), True, "no failover without a standby"),
        (ADDRESS, properties(), properties(ipAddress="20.1.2.3"), False, "a dynamic address"),
        (GROUP_OF_CONTAINERS, properties(), properties(ipAddress={"ip": "20.1.2.3"}), False, "an address, once it runs"),
        (GROUP_OF_CONTAINERS, properties(), properties(ipAddress={"type": "Public"}), True, "somebody opens it"),
        (PEERING, properties(peeringState="Initiated"), properties(peeringState="Connected"), False, "a state"),
        (
            PEERING,
            properties(peeringSyncLevel="FullyInSync", remoteAddressSpace={"addressPrefixes": ["10.0.0.0/8"]}),
            properties(peeringSyncLevel="RemoteNotInSync", remoteAddressSpace={"addressPrefixes": ["10.1.0.0/16"]}),
            False,
            "it follows the remote network",
        ),
        (PEERING, properties(allowForwardedTraffic=False), properties(allowForwardedTraffic=True), True, "a switch"),
        (BALANCER, pool(MEMBER), pool(MEMBER, {"name": "g_nic2"}), False, "an interface joins a pool"),
        (BALANCER, pool(), pool(ADDRESSED), True, "somebody adds an address"),
        (
            ITEM,
            properties(protectedItemType="MicrosoftClassicCompute", protectionState="IRPending"),
            properties(protectedItemType="MicrosoftClassicCompute", protectionState="Protected"),
            False,
            "a backup that runs",
        ),
        (QUEUE, properties(status="Active"), properties(status="Disabled"), True, "somebody disables it"),
        (LOGIC, properties(state="Enabled"), properties(state="Disabled"), True, "somebody disables it"),
        (
            CONNECTION,
            properties(privateLinkServiceConnections=[{"name": "a", "properties": {"groupIds": ["x"]}}]),
            properties(privateLinkServiceConnections=[{"name": "a", "properties": {"groupIds": ["y"]}}]),
            True,
            "somebody changes what it connects to",
        ),
        (
            LOGIC,
            properties(definition={"etag": "a", "lastModifiedTime": "2024-01-01"}),
            properties(definition={"etag": "b", "lastModifiedTime": "2024-01-02"}),
            False,
            "names of what services report",
        ),
        (
            LOGIC,
            properties(definition={"at": "2024-01-01T10:11:12.1234567Z"}),
            properties(definition={"at": "2024-01-02T10:11:12.7654321Z"}),
            False,
            "no person sets a fraction of a second",
        ),
        (
            LOGIC,
            properties(definition={"startTime": "2024-01-01T10:00:00Z"}),
            properties(definition={"startTime": "2024-01-02T10:00:00Z"}),
            True,
            "somebody may set a full hour",
        ),
        (ACCOUNT, {"tags": {"etag": "a"}}, {"tags": {"etag": "b"}}, True, "tags are those of people"),
        (ACCOUNT, {"sku": {"name": "Standard_LRS"}}, {"sku": {"name": "Standard_GRS"}}, True, "a size"),
    ],
)  # fmt: skip
def test_moves(resource_type, before, now, is_told, why):
    assert bool(find(resource_type, {}, before, now)) is is_told, why


def test_an_autoscale_setting_in_git_owns_the_capacity():
    sides = {"sku": {"capacity": 1}}, {"sku": {"capacity": 3}}
    assert find(SCALE_SET, {}, *sides, told=(("autoscaleSetting", "a"),)) == []


@cache
def count_types():
    """By the name of a member: the types that have it read-only, and those that have it for anybody, each at its newest
    api-version.
    """
    read_only, writable, types = {}, {}, open_arm_types()
    for name in types.list_names():
        found = types.find_type(name)
        version = (found.newest_stable or found.newest_preview) if found else None
        body_type = types.find_body(name, version) if version else None
        if body_type is not None:
            walk(body_type, name, False, frozenset(), read_only, writable)
    return read_only, writable


def walk(type_, name, is_read_only, above, read_only, writable):
    if id(type_) in above or len(above) > 9:
        return
    above = above | {id(type_)}
    if type_.item is not None:
        walk(type_.item, name, is_read_only, above, read_only, writable)
        return
    for part in (type_, *type_.list_variants()) if type_.is_object else ():
        for member in part.members.values():
            is_own = is_read_only or member.is_read_only
            (read_only if is_own else writable).setdefault(member.name, set()).add(name)
            walk(member.type, name, is_own, above, read_only, writable)
    if type_.others is not None:
        walk(type_.others, name, is_read_only, above, read_only, writable)


@pytest.mark.parametrize("why", REPORTED_NAMES)
def test_the_figures_of_names_are_those_of_the_types(why):
    read_only, writable = count_types()
    names = [name for name in {*read_only, *writable} if REPORTED_NAMES[why].fullmatch(name)]
    own, others = (sum(len(found.get(name, ())) for name in names) for found in (read_only, writable))
    stated = int(re.search(r"(\d+) %", why)[1])
    assert stated >= 70
    assert abs(100 * own / (own + others) - stated) <= 2, (own, others)
