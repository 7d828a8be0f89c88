"""An estate with strays of 30 kinds, and with as many resources that look like strays and are none."""

from __future__ import annotations

from pathlib import Path

from tests.support.filled_store import read_version
from tests.support.world import SUBSCRIPTION, World

ROOT = f"/subscriptions/{SUBSCRIPTION}"
SHOP = f"{ROOT}/resourceGroups/shop"
PROVIDERS = f"{SHOP}/providers"
NETWORK = f"{PROVIDERS}/Microsoft.Network"
HUB = f"{NETWORK}/virtualNetworks/hub"
ACCOUNT = f"{PROVIDERS}/Microsoft.Storage/storageAccounts/shopdata"
SQL = f"{PROVIDERS}/Microsoft.Sql/servers/shopsql"
BUS = f"{PROVIDERS}/Microsoft.ServiceBus/namespaces/shopbus"
READER = f"{ROOT}/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
HERE = {"location": "westeurope"}

MANIFESTS = {
    "shop.yaml": """\
        apiVersion: resources.azure.com/v1api20200601
        kind: ResourceGroup
        metadata: {name: shop}
        spec: {location: westeurope}
        ---
        apiVersion: network.azure.com/v20250301
        kind: VirtualNetwork
        metadata: {name: hub}
        spec: {owner: {name: shop}, location: westeurope, addressSpace: {addressPrefixes: [10.0.0.0/16]}}
        ---
        apiVersion: network.azure.com/v20250301
        kind: VirtualNetworksSubnet
        metadata: {name: own}
        spec: {owner: {name: hub}, addressPrefix: 10.0.0.0/24}
        ---
        apiVersion: network.azure.com/v20250301
        kind: NetworkSecurityGroup
        metadata: {name: guard}
        spec: {owner: {name: shop}, location: westeurope}
        ---
        apiVersion: network.azure.com/v20250301
        kind: RouteTable
        metadata: {name: routes}
        spec: {owner: {name: shop}, location: westeurope}
        ---
        apiVersion: network.azure.com/v20250301
        kind: PublicIPAddress
        metadata: {name: front}
        spec: {owner: {name: shop}, location: westeurope, sku: {name: Standard}, publicIPAllocationMethod: Static}
        ---
        apiVersion: network.azure.com/v20250301
        kind: LoadBalancer
        metadata: {name: balancer}
        spec:
          owner: {name: shop}
          location: westeurope
          sku: {name: Standard}
          frontendIPConfigurations:
          - name: front
            publicIPAddress:
              reference: {group: network.azure.com, kind: PublicIPAddress, name: front}
          inboundNatRules:
          - name: ssh
            protocol: Tcp
            frontendPort: 22
            backendPort: 22
            frontendIPConfiguration:
              reference: {armId: FRONT}
        ---
        apiVersion: network.azure.com/v1api20180501
        kind: DnsZone
        metadata: {name: shop.example}
        spec: {owner: {name: shop}, location: global}
        ---
        apiVersion: storage.azure.com/v20250601
        kind: StorageAccount
        metadata: {name: shopdata}
        spec:
          {owner: {name: shop}, location: westeurope, kind: StorageV2, sku: {name: Standard_LRS}, accessTier: Hot}
        ---
        apiVersion: storage.azure.com/v20250601
        kind: StorageAccountsBlobService
        metadata: {name: shopdata-blobs}
        spec: {owner: {name: shopdata}}
        ---
        apiVersion: storage.azure.com/v20250601
        kind: StorageAccountsBlobServicesContainer
        metadata: {name: pictures}
        spec: {owner: {name: shopdata-blobs}}
        ---
        apiVersion: servicebus.azure.com/v20240101
        kind: Namespace
        metadata: {name: shopbus}
        spec: {owner: {name: shop}, location: westeurope, sku: {name: Standard}}
        """.replace("FRONT", f"{NETWORK}/loadBalancers/balancer/frontendIPConfigurations/front"),
    "sql.yaml": """\
        apiVersion: sql.azure.com/v20211101
        kind: Server
        metadata: {name: shopsql}
        spec: {owner: {name: shop}, location: westeurope, version: "12.0"}
        """,
    "gone.yaml": """\
        apiVersion: managedidentity.azure.com/v20230131
        kind: UserAssignedIdentity
        metadata:
          name: former
          annotations: {serviceoperator.azure.com/reconcile-policy: detach-on-delete}
        spec: {owner: {name: shop}, location: westeurope}
        """,
    "kept.yaml": """\
        apiVersion: managedidentity.azure.com/v20230131
        kind: UserAssignedIdentity
        metadata: {name: recorded}
        spec: {owner: {name: shop}, location: westeurope}
        """,
}


def assign(scope: str, number: int) -> tuple[str, dict[str, object]]:
    """A role assignment of its own number at a scope."""
    name = f"00000000-0000-4000-8000-{number:012}"
    properties = {"roleDefinitionId": READER, "principalId": f"11111111-1111-1111-1111-{number:012}"}
    return f"{scope}/providers/Microsoft.Authorization/roleAssignments/{name}", {"properties": properties}


STRAYS = {
    # directly in the group
    f"{PROVIDERS}/Microsoft.Storage/storageAccounts/logs2024": HERE
    | {"kind": "StorageV2", "sku": {"name": "Standard_LRS"}},
    f"{NETWORK}/virtualNetworks/lab": HERE | {"properties": {"addressSpace": {"addressPrefixes": ["10.9.0.0/16"]}}},
    f"{NETWORK}/publicIPAddresses/extra": HERE | {"sku": {"name": "Standard"}},
    f"{NETWORK}/networkSecurityGroups/open": HERE,
    f"{NETWORK}/natGateways/out": HERE | {"sku": {"name": "Standard"}},
    f"{PROVIDERS}/Microsoft.ManagedIdentity/userAssignedIdentities/robot": HERE,
    f"{PROVIDERS}/Microsoft.Compute/disks/data": HERE
    | {"managedBy": f"{PROVIDERS}/Microsoft.Compute/virtualMachines/vm", "properties": {"diskSizeGB": 8}},
    f"{PROVIDERS}/Microsoft.Compute/snapshots/before": HERE | {"properties": {"diskSizeGB": 8}},
    f"{PROVIDERS}/Microsoft.Cache/redis/cache": HERE
    | {"properties": {"sku": {"name": "Basic", "family": "C", "capacity": 0}}},
    f"{PROVIDERS}/Microsoft.DocumentDB/databaseAccounts/orders": HERE
    | {"properties": {"databaseAccountOfferType": "Standard", "locations": [{"locationName": "westeurope"}]}},
    f"{PROVIDERS}/Microsoft.Web/serverfarms/plan": HERE | {"sku": {"name": "B1"}},
    f"{PROVIDERS}/Microsoft.OperationalInsights/workspaces/logs": HERE,
    f"{PROVIDERS}/Microsoft.Logic/workflows/flow": HERE,
    f"{PROVIDERS}/Microsoft.Maps/accounts/map": HERE | {"sku": {"name": "G2"}},
    # children of gitsync's resources
    f"{HUB}/subnets/by-hand": {"properties": {"addressPrefix": "10.0.9.0/24"}},
    f"{NETWORK}/networkSecurityGroups/guard/securityRules/any": {
        "properties": {"access": "Allow", "direction": "Inbound", "priority": 100, "protocol": "*"}
    },
    f"{NETWORK}/routeTables/routes/routes/internet": {
        "properties": {"addressPrefix": "0.0.0.0/0", "nextHopType": "Internet"}
    },
    f"{NETWORK}/loadBalancers/balancer/inboundNatRules/rdp": {
        "properties": {"protocol": "Tcp", "frontendPort": 3389, "backendPort": 3389}
    },
    f"{NETWORK}/dnsZones/shop.example/A/test": {"properties": {"TTL": 60, "ARecords": [{"ipv4Address": "10.0.0.1"}]}},
    f"{NETWORK}/dnsZones/shop.example/TXT/verify": {"properties": {"TTL": 60, "TXTRecords": [{"value": ["x"]}]}},
    f"{ACCOUNT}/blobServices/default/containers/export": {"properties": {}},
    f"{ACCOUNT}/queueServices/default/queues/jobs": {"properties": {}},
    f"{ACCOUNT}/tableServices/default/tables/rows": {"properties": {}},
    f"{ACCOUNT}/managementPolicies/default": {"properties": {"policy": {"rules": []}}},
    f"{SQL}/databases/copy": HERE,
    f"{SQL}/firewallRules/home": {"properties": {"startIpAddress": "203.0.113.7", "endIpAddress": "203.0.113.7"}},
    f"{BUS}/queues/test": {"properties": {}},
    f"{BUS}/topics/test": {"properties": {}},
    # children of strays
    f"{PROVIDERS}/Microsoft.Storage/storageAccounts/logs2024/blobServices/default/containers/old": {"properties": {}},
    f"{NETWORK}/virtualNetworks/lab/subnets/one": {"properties": {"addressPrefix": "10.9.0.0/24"}},
    # what extends others
    **dict([assign(SHOP, 1), assign(HUB, 2), assign(f"{PROVIDERS}/Microsoft.Logic/workflows/flow", 3)]),
    f"{ACCOUNT}/providers/Microsoft.EventGrid/eventSubscriptions/uploads": {
        "properties": {
            "destination": {"endpointType": "WebHook", "properties": {"endpointUrl": "https://example.com/hook"}}
        }
    },
    f"{HUB}/providers/Microsoft.Insights/diagnosticSettings/all": {"properties": {"workspaceId": f"{SHOP}/x"}},
}
"""By ARM id: what somebody created behind git's back, as it was PUT."""

FORMER = f"{PROVIDERS}/Microsoft.ManagedIdentity/userAssignedIdentities/former"
"""Once in git with `detach-on-delete`: git has let go of it."""

BEYOND = {f"{ROOT}/resourceGroups/other": HERE, **dict([assign(ROOT, 4)])}
"""Strays beyond the groups that git has."""

NO_STRAYS = {
    # by Azure itself
    f"{ACCOUNT}/blobServices/default/containers/$logs": {"properties": {}},
    f"{NETWORK}/networkWatchers/NetworkWatcher_westeurope": HERE,
    f"{PROVIDERS}/microsoft.alertsmanagement/smartDetectorAlertRules/Failure Anomalies - web": {"location": "global"},
    # by an owner
    f"{PROVIDERS}/Microsoft.Compute/disks/vm_OsDisk": HERE
    | {
        "managedBy": f"{PROVIDERS}/Microsoft.Compute/virtualMachines/vm",
        "properties": {"osType": "Linux", "diskSizeGB": 30},
    },
    # elsewhere
    f"{ROOT}/resourceGroups/other/providers/Microsoft.Network/virtualNetworks/theirs": HERE
    | {"properties": {"addressSpace": {"addressPrefixes": ["10.8.0.0/16"]}}},
    f"{ROOT}/resourceGroups/MC_nodes": HERE | {"managedBy": f"{SHOP}/aks"},
    f"{ROOT}/resourceGroups/MC_nodes/providers/Microsoft.Network/publicIPAddresses/nodes": HERE,
    f"{ROOT}/resourceGroups/NetworkWatcherRG": HERE,
}
"""What is not a stray, as it was PUT. What the emulator makes by itself, as Azure does, comes on top."""

TRACKED = {
    arm_id
    for arm_id in (*STRAYS, FORMER)
    if arm_id.removeprefix(f"{PROVIDERS}/").count("/") == 2 and "roleAssignments" not in arm_id
}
"""The strays that Resource Graph has: those directly in a group."""


def make_estate(folder: Path) -> World:
    """Sync the manifests, remove two of them, and create the strays."""
    world = World(folder)
    world.says_files(MANIFESTS).sync()
    left = {path: text for path, text in MANIFESTS.items() if path not in {"gone.yaml", "kept.yaml"}}
    world.says_files({**left, "kept.yaml": MANIFESTS["kept.yaml"]}).sync(prune=True)
    world.says_files(left)  # `recorded` has a record, and no manifest any more
    for arm_id, body in {**STRAYS, **BEYOND, **NO_STRAYS}.items():
        answer = world.outside("PUT", arm_id, body, api_version=read_version(arm_id))
        assert not answer or "error" not in answer, (arm_id, answer)
    return world
