"""What git cannot restore: each gap is listed once, and nothing else is."""

from __future__ import annotations

import pytest

from gitsync.agent.run.prepared_manifests import PLACEHOLDER_SUBSCRIPTION
from gitsync.model.export import Address, Export, ObjectKind, Owner
from gitsync.model.gvk import Key
from gitsync.model.record import Record, State
from gitsync.model.secret import Secret
from tests.support.parts import build
from tests.workflows.rehearsal.short_manifests import (
    GROUP,
    GUID,
    OTHER,
    SUBSCRIPTION,
    any_in_group,
    find,
    group_id,
    in_group,
    network_id,
    one,
    show,
)

NETWORK = in_group("VirtualNetwork", "hub", "addressSpace: {addressPrefixes: [10.0.0.0/16]}")
SUBNET = one("VirtualNetworksSubnet", "one", "owner: {name: hub}\naddressPrefix: 10.0.1.0/24")
ACCOUNT = "kind: StorageV2\nsku: {name: Standard_LRS}"
IDENTITY = in_group("UserAssignedIdentity", "app")


def peering(arm_id: str, name: str = "peering") -> str:
    return one(
        "VirtualNetworksVirtualNetworkPeering",
        name,
        f"owner: {{name: hub}}\nremoteVirtualNetwork: {{reference: {{armId: {arm_id}}}}}",
    )


def role(spec: str, role_definition: str = "{wellKnownName: Reader}") -> str:
    owner = "owner: {group: resources.azure.com, kind: ResourceGroup, name: rg}"
    return one("RoleAssignment", "reader", f"{owner}\nroleDefinitionReference: {role_definition}\n{spec}")


def person_on(arm_id: str) -> str:
    """The role of a person on a resource by its ARM id."""
    owner = "{group: resources.azure.com, kind: ResourceGroup, name: rg}"
    return role(f"principalId: {GUID}\nprincipalType: User").replace(owner, f"{{armId: {arm_id}}}")


STORE_ID = f"{group_id('rg')}/providers/Microsoft.Storage/storageAccounts/store"
REMOTE = "spec.remoteVirtualNetwork.reference.armId"
PEERING = f"owner VirtualNetworksVirtualNetworkPeering/peering {REMOTE}"
OUTSIDE = [
    ([GROUP, NETWORK, SUBNET], [], "all is declared"),
    (
        [NETWORK, SUBNET],
        ["owner VirtualNetwork/hub spec.owner!"],
        "an owner that no manifest declares is one gap, and not another one of what is below",
    ),
    (
        [one("VirtualNetwork", "hub", f"owner: {{armId: {group_id('shared')}}}\nlocation: westeurope"), SUBNET],
        ["owner VirtualNetwork/hub spec.owner.armId!"],
        "an owner by its ARM id",
    ),
    (
        [GROUP, one("VirtualNetwork", "hub", f"owner: {{armId: {group_id('RG')}}}\nlocation: westeurope"), SUBNET],
        [],
        "an ARM id of what a manifest declares, in another case",
    ),
    ([GROUP, NETWORK, peering(network_id("spoke"))], [f"{PEERING}!"], "a reference by an ARM id"),
    (
        [GROUP, NETWORK, peering(network_id("spoke")), peering(network_id("spoke"), "second")],
        [f"{PEERING}!"],
        "one gap for all that name the same",
    ),
    (
        [GROUP, NETWORK, peering(network_id("spoke", subscription=OTHER))],
        [PEERING],
        "another subscription is not empty, and git does not have what is there",
    ),
    (
        [
            GROUP,
            NETWORK,
            peering(network_id("spoke", "net", subscription=OTHER)),
            peering(network_id("far", "net", subscription=OTHER), "second"),
        ],
        [PEERING],
        "a group of another subscription is one gap",
    ),
    (
        [GROUP, NETWORK, peering(network_id("hub", subscription=OTHER))],
        [f"id VirtualNetworksVirtualNetworkPeering/peering {REMOTE}!"],
        "an id of another subscription, of what a manifest declares in this one",
    ),
    (
        [GROUP, NETWORK, peering(network_id("hub/subnets/front", subscription=OTHER))],
        [f"id VirtualNetworksVirtualNetworkPeering/peering {REMOTE}!"],
        "an id of another subscription, of a part of what a manifest declares in this one",
    ),
    (
        [one("ResourceGroup", "rg", policy="skip"), NETWORK, SUBNET],
        ["owner ResourceGroup/rg!"],
        "gitsync does not create what it only watches",
    ),
    (
        [GROUP, in_group("VirtualNetwork", "hub", policy="skip"), SUBNET],
        ["owner VirtualNetwork/hub!"],
        "a watched resource, and what is below it",
    ),
    (
        [GROUP, in_group("VirtualNetwork", "hub", policy="skip")],
        ["owner VirtualNetwork/hub!"],
        "nothing depends on it, and a sync fails without it",
    ),
    (
        [one("ResourceGroup", "rg", policy="skip"), in_group("VirtualNetwork", "hub", policy="skip")],
        ["owner ResourceGroup/rg!"],
        "of a watched tree the top alone",
    ),
    (
        [one("ResourceGroup", "rg", policy="skip"), one("ResourceGroup", "rg", policy="skip", namespace="team")],
        ["owner ResourceGroup/rg!"],
        "one resource that two namespaces watch",
    ),
    (
        [GROUP, one("ResourceGroup", "rg", policy="skip", namespace="team")],
        [],
        "another manifest writes the same resource",
    ),
    ([one("ResourceGroup", "rg", policy="detach-on-delete"), NETWORK], [], "it is created, if never deleted"),
    (
        [
            GROUP,
            in_group("StorageAccount", "store", ACCOUNT, policy="skip"),
            one("StorageAccountsBlobService", "store", "owner: {name: store}"),
        ],
        ["owner StorageAccount/store!"],
        "the service of an account that nobody makes",
    ),
    (
        [
            GROUP,
            NETWORK,
            SUBNET,
            in_group("LoadBalancer", "lb", "frontendIPConfigurations: [{name: fe, privateIPAddress: 10.0.1.9}]"),
            in_group(
                "PrivateLinkService",
                "link",
                "loadBalancerFrontendIpConfigurations:\n- reference:\n    armId: "
                f"{group_id('rg')}/providers/Microsoft.Network/loadBalancers/lb/frontendIPConfigurations/fe",
            ),
        ],
        [],
        "a part of another resource comes with it",
    ),
    (
        [
            GROUP,
            NETWORK,
            role(
                f"principalId: {GUID}\nprincipalType: User",
                f"{{armId: /subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{GUID}}}",
            ),
        ],
        [],
        "Azure has its roles by itself",
    ),
    (
        [
            one(
                "RoleAssignment",
                "reader",
                f"owner: {{armId: /subscriptions/{SUBSCRIPTION}}}\nroleDefinitionReference: {{wellKnownName: Reader}}\n"
                f"principalId: {GUID}\nprincipalType: Group",
            )
        ],
        [],
        "a subscription itself is there",
    ),
    (
        [
            one(
                "RoleAssignment",
                "reader",
                "owner: {armId: /providers/Microsoft.Management/managementGroups/corp}\n"
                f"roleDefinitionReference: {{wellKnownName: Reader}}\nprincipalId: {GUID}\nprincipalType: Group",
            )
        ],
        [],
        "a management group outlives a subscription",
    ),
    (
        [
            GROUP,
            in_group("ManagedCluster", "aks", "dnsPrefix: aks\nidentity: {type: SystemAssigned}"),
            person_on(group_id("MC_rg_aks_westeurope")),
        ],
        ["data ManagedCluster/aks"],
        "the group of a cluster's nodes comes with the cluster",
    ),
    (
        [GROUP, person_on(f"{group_id('NetworkWatcherRG')}/providers/Microsoft.Network/networkWatchers/w")],
        [],
        "Azure makes its network watchers",
    ),
    (
        [GROUP, in_group("StorageAccount", "store", ACCOUNT), person_on(f"{STORE_ID}/blobServices/default")],
        ["data StorageAccount/store"],
        "the default service comes with its account",
    ),
    (
        [
            GROUP,
            in_group("StorageAccount", "store", ACCOUNT),
            person_on(f"{STORE_ID}/blobServices/default/containers/logs"),
        ],
        ["owner RoleAssignment/reader spec.owner.armId!", "data StorageAccount/store"],
        "a container does not come with its account",
    ),
    (
        [
            GROUP,
            in_group("LoadBalancer", "lb", "inboundNatRules: [{name: ssh}]"),
            person_on(f"{group_id('rg')}/providers/Microsoft.Network/loadBalancers/lb/inboundNatRules/ssh"),
        ],
        [],
        "what the body of a parent has inside",
    ),
]


@pytest.mark.parametrize(("documents", "expected", "why"), OUTSIDE, ids=[row[2] for row in OUTSIDE])
def test_what_is_outside_of_git(documents, expected, why):
    assert show(find("".join(documents))) == expected, why


def test_without_a_subscription_in_the_settings_every_id_counts_as_one_of_it():
    documents = GROUP + NETWORK + peering(network_id("hub")) + peering(network_id("spoke"), "second")
    second = f"owner VirtualNetworksVirtualNetworkPeering/second {REMOTE}!"
    assert show(find(documents, subscription=PLACEHOLDER_SUBSCRIPTION)) == [second]


def test_a_gap_reports_who_needs_what_and_what_to_do():
    (gap,) = find({"net/hub.yaml": NETWORK + SUBNET})
    assert (str(gap.source), gap.field, gap.stops) == ("net/hub.yaml:7", "spec.owner", True)
    assert gap.message == "No manifest declares ResourceGroup/rg. 2 resources depend on it."
    assert gap.hint == "Add its manifest, or create it before a rebuild."


def test_what_others_of_a_group_elsewhere_are_is_counted():
    ids = [network_id(name, "net", subscription=OTHER) for name in ("a", "b", "c")]
    (gap,) = find("".join((GROUP, NETWORK, *(peering(arm_id, name) for arm_id, name in zip(ids, "abc", strict=True)))))
    assert gap.message == (
        f"{ids[0]} is in another subscription, and no manifest declares it or 2 others of its resource group. 3 resources "
        "depend on it."
    )


VAULT = "https://secrets.vault.azure.net"
LOGIN = "administratorLogin: admin\nadministratorLoginPassword: {name: admin, key: password}"
SERVER = in_group("FlexibleServer", "db", f"{LOGIN}\ncreateMode: PointInTimeRestore")
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: admin, namespace: default}\nstringData: {password: x}\n---\n"
FIELD = "spec.administratorLoginPassword"
READER = role("principalIdFromConfig: {name: app, key: principalId}\nprincipalType: ServicePrincipal")
EXPORTS = in_group(
    "UserAssignedIdentity", "app", "operatorSpec: {configMaps: {principalId: {name: app, key: principalId}}}"
)

VALUES = [
    ([GROUP, SERVER, SECRET], {}, [], "a manifest declares it"),
    ([GROUP, SERVER], {}, [f"value FlexibleServer/db {FIELD}"], "a variable of the environment may have it"),
    (
        [GROUP, SERVER],
        {"secret_sources": ("manifests",)},
        [f"value FlexibleServer/db {FIELD}!"],
        "nothing else is looked at",
    ),
    (
        [GROUP, SERVER, SECRET.replace("password:", "other:")],
        {"secret_sources": ("manifests",)},
        [f"value FlexibleServer/db {FIELD}!"],
        "a Secret without the key",
    ),
    (
        [GROUP, SERVER],
        {"secret_sources": ("manifests", "key-vault"), "key_vault": VAULT},
        [f"value FlexibleServer/db {FIELD}"],
        "a key vault outside of the estate",
    ),
    (
        [
            GROUP,
            SERVER,
            in_group("Vault", "kv", "azureName: secrets\nproperties: {createMode: createOrRecover, tenantId: x}"),
        ],
        {"secret_sources": ("manifests", "key-vault"), "key_vault": VAULT},
        [f"value FlexibleServer/db {FIELD}!"],
        "a key vault that is lost with the estate",
    ),
    ([GROUP, READER, EXPORTS], {}, [], "a resource exports it"),
    ([GROUP, READER, IDENTITY], {}, ["value RoleAssignment/reader spec.principalIdFromConfig!"], "nothing exports it"),
    (
        [
            GROUP,
            READER,
            in_group(
                "UserAssignedIdentity",
                "app",
                "operatorSpec: {configMapExpressions: [{name: app, value: 'self.status.ids'}]}",
            ),
        ],
        {},
        [],
        "an expression may export any key",
    ),
    (
        [one("ResourceGroup", "rg", credential="team-a")],
        {},
        ['value ResourceGroup/rg metadata.annotations["serviceoperator.azure.com/credential-from"]'],
        "the Secret of a credential",
    ),
]


@pytest.mark.parametrize(("documents", "settings", "expected", "why"), VALUES, ids=[row[3] for row in VALUES])
def test_values_that_git_does_not_have(documents, settings, expected, why):
    assert show(find("".join(documents), **settings)) == expected, why


def test_a_missing_value_reports_where_the_settings_look_for_it():
    sources = ("manifests", "folder", "environment", "key-vault", "kubernetes")
    (gap,) = find(GROUP + SERVER, secret_sources=sources, secrets_folder="/run/secrets", key_vault=VAULT)
    assert gap.message == (
        "No manifest declares key password of Secret default/admin, and no resource exports it; FlexibleServer/db needs "
        "it. A run looks for it in /run/secrets/default/admin/password, the variable "
        f"GITSYNC_SECRET_DEFAULT_ADMIN_PASSWORD, the secret default--admin--password in {VAULT} or the cluster of the "
        "job."
    )
    assert gap.hint == "Add it to git, encrypted with SOPS, or keep a copy outside the subscription."


def test_what_several_need_is_one_gap():
    (gap,) = find("".join((GROUP, SERVER, SERVER.replace("name: db", "name: other"))))
    assert "FlexibleServer/db and 1 more need it" in gap.message


def test_a_secret_that_records_name_as_a_credential_is_missed_too():
    key = Key("resources.azure.com", "ResourceGroup", "default", "rg")
    record = build(
        Record,
        key=key,
        api_version="resources.azure.com/v1api20200601",
        arm_id=group_id("rg"),
        arm_api_version="2020-06-01",
        credential="aso-credential",
    )
    (gap,) = find(GROUP, state=State({key: record}))
    assert gap.message.startswith("No manifest declares Secret default/aso-credential")
    assert find(GROUP + SECRET.replace("name: admin", "name: aso-credential"), state=State({key: record})) == ()


PAIR = "spec.principalId"
ISSUER = f"https://westeurope.oic.prod-aks.azure.com/{OTHER}/{GUID}/"
CLUSTER = in_group("ManagedCluster", "aks", "dnsPrefix: aks\nidentity: {type: SystemAssigned}")
WORKSPACE = in_group("Workspace", "logs")
ENVIRONMENT = in_group(
    "ManagedEnvironment",
    "env",
    f"appLogsConfiguration: {{destination: log-analytics, logAnalyticsConfiguration: {{customerId: {GUID}}}}}",
)


def record_of(address: str) -> str:
    zone = in_group("PrivateDnsZone", "zone", "azureName: corp.example")
    return zone + one("PrivateDnsZonesARecord", "a", f"owner: {{name: zone}}\naRecords: [{{ipv4Address: {address}}}]")


def credential(issuer: str) -> str:
    spec = f"owner: {{name: app}}\nissuer: {issuer}\nsubject: a\naudiences: [b]"
    return one("FederatedIdentityCredential", "web", spec)


IDS = [
    (
        [GROUP, IDENTITY, role(f"principalId: {GUID}\nprincipalType: ServicePrincipal")],
        [f"id RoleAssignment/reader {PAIR}"],
        "the principal of an identity, perhaps",
    ),
    ([GROUP, role(f"principalId: {GUID}")], [], "the estate has no identity"),
    ([GROUP, IDENTITY, role(f"principalId: {GUID}\nprincipalType: Group")], [], "a group outlives a subscription"),
    (
        [GROUP, CLUSTER, IDENTITY, credential(ISSUER)],
        ["id FederatedIdentityCredential/web spec.issuer", "data ManagedCluster/aks"],
        "the issuer of a cluster",
    ),
    ([GROUP, IDENTITY, credential(ISSUER)], [], "the issuer of a cluster elsewhere"),
    (
        [GROUP, CLUSTER, IDENTITY, credential(f"https://login.microsoftonline.com/{OTHER}/v2.0")],
        ["data ManagedCluster/aks"],
        "a tenant",
    ),
    (
        [GROUP, WORKSPACE, ENVIRONMENT],
        [
            "id ManagedEnvironment/env spec.appLogsConfiguration.logAnalyticsConfiguration.customerId",
            "data Workspace/logs",
        ],
        "the id of a workspace",
    ),
    ([GROUP, ENVIRONMENT], [], "the id of a workspace elsewhere"),
    (
        [GROUP, NETWORK, record_of("10.0.3.4")],
        ["id PrivateDnsZonesARecord/a spec.aRecords[0].ipv4Address"],
        "an address that Azure gave",
    ),
    ([GROUP, NETWORK, record_of("192.168.0.4")], [], "an address of another network"),
    (
        [
            GROUP,
            NETWORK,
            in_group("NetworkInterface", "nic", "ipConfigurations: [{name: a, privateIPAddress: 10.0.3.4}]"),
            record_of("10.0.3.4"),
        ],
        [],
        "an address that a manifest gives",
    ),
    (
        [GROUP, IDENTITY, in_group("Vault", "kv", f"properties: {{createMode: recover, tenantId: {GUID}}}")],
        [],
        "a tenant is not of the estate",
    ),
    (
        [
            GROUP,
            IDENTITY,
            in_group(
                "Vault",
                "kv",
                "properties:\n  createMode: recover\n  tenantId: x\n  accessPolicies:\n"
                f"  - {{objectId: {GUID}, tenantId: x}}",
            ),
        ],
        ["id Vault/kv spec.properties.accessPolicies[0].objectId"],
        "an access policy",
    ),
]


@pytest.mark.parametrize(("documents", "expected", "why"), IDS, ids=[row[2] for row in IDS])
def test_ids_that_a_rebuilt_estate_does_not_have(documents, expected, why):
    assert show(find("".join(documents))) == expected, why


@pytest.mark.parametrize(
    ("identities", "hint"),
    [
        (
            IDENTITY,
            "Export principalId of UserAssignedIdentity/app to a ConfigMap, and set spec.principalIdFromConfig instead",
        ),
        (
            EXPORTS,
            "Set spec.principalIdFromConfig to {name: app, key: principalId} instead, which UserAssignedIdentity/app exports",
        ),
        (
            IDENTITY + in_group("UserAssignedIdentity", "other"),
            "Export it to a ConfigMap, and set spec.principalIdFromConfig instead",
        ),
    ],
    ids=["it exports nothing yet", "it exports the id", "several identities"],
)
def test_the_hint_names_the_export_to_use(identities, hint):
    (gap,) = find(GROUP + identities + role(f"principalId: {GUID}"))
    assert gap.hint == f"{hint}; for a user or a group, set principalType."
    assert (gap.stops, gap.message) == (
        False,
        "If this is the principal of a managed identity of this estate, it changes in a rebuild.",
    )


def exported(value: str, key: str = "principalId", namespace: str = "default") -> State:
    """A status with a config map that the identity exported."""
    address = Address(ObjectKind.CONFIG_MAP, namespace, "app-ids")
    owner = Owner(Key("managedidentity.azure.com", "UserAssignedIdentity", "default", "app"))
    return State({}, config_maps={address: Export(address=address, owner=owner, data={key: Secret(value)})})


def test_an_id_that_a_resource_exported_is_known_with_what_to_use():
    documents = GROUP + IDENTITY + role(f"principalId: {GUID.upper()}")
    (gap,) = find(documents, state=exported(GUID))
    assert (gap.stops, gap.field) == (True, PAIR)
    assert gap.message == (
        "UserAssignedIdentity/app exports this id as key principalId of ConfigMap default/app-ids. After a rebuild, the "
        "id is different."
    )
    assert gap.hint == "Set spec.principalIdFromConfig to {name: app-ids, key: principalId} instead."
    (gap,) = find(documents, state=exported(GUID, namespace="team"))
    assert (
        gap.hint == "Export it to a ConfigMap in namespace default, and name that ConfigMap in "
        "spec.principalIdFromConfig."
    )


def test_an_exported_id_in_a_field_that_takes_no_config_map_is_known_too():
    (first, *_) = find(GROUP + WORKSPACE + IDENTITY + ENVIRONMENT, state=exported(GUID))
    assert first.hint == "Change it once that resource is rebuilt: no field of this kind takes it from a ConfigMap."
    assert "UserAssignedIdentity/app" in first.message


@pytest.mark.parametrize(("value", "key"), [(GUID, "tenantId"), ("westeurope", "region")])
def test_an_exported_value_that_stays_as_it_is_is_not_a_gap(value, key):
    documents = GROUP + IDENTITY + in_group("Vault", "kv", f"properties: {{createMode: recover, tenantId: {GUID}}}")
    assert find(documents, state=exported(value, key)) == ()


BLOBS = one("StorageAccountsBlobService", "blobs", "owner: {name: store}") + one(
    "StorageAccountsBlobServicesContainer", "logs", "owner: {name: blobs}"
)
DATABASE = one("ServersDatabase", "sales", "owner: {name: sql}\nlocation: westeurope")
COSMOS = in_group("DatabaseAccount", "cosmos", "databaseAccountOfferType: Standard")

DATA = [
    ([GROUP, in_group("StorageAccount", "store", ACCOUNT), BLOBS], ["data StorageAccount/store"], "with what is below"),
    ([GROUP, in_group("Server", "sql")], ["data Server/sql"], "a server whose databases git does not have"),
    ([GROUP, in_group("Server", "sql"), DATABASE], ["data ServersDatabase/sales"], "databases are restored one by one"),
    (
        [
            GROUP,
            in_group("Server", "sql"),
            DATABASE.replace("location:", "createMode: PointInTimeRestore\n  location:"),
        ],
        [],
        "the manifest says from what it is restored",
    ),
    ([GROUP, in_group("FlexibleServer", "db")], ["data FlexibleServer/db"], "PostgreSQL"),
    ([GROUP, COSMOS], ["data DatabaseAccount/cosmos"], "Cosmos DB"),
    ([GROUP, in_group("Disk", "disk", "creationData: {createOption: Empty}")], ["data Disk/disk"], "an empty disk"),
    ([GROUP, in_group("Disk", "disk", "creationData: {createOption: Copy}")], [], "a disk made of a snapshot"),
    (
        [GROUP, in_group("Namespace", "hubs"), one("NamespacesEventhub", "hub", "owner: {name: hubs}")],
        [],
        "events pass by",
    ),
    ([GROUP, in_group("DnsZone", "zone", "azureName: corp.example")], [], "the records of a zone are in git"),
    ([GROUP, in_group("StorageAccount", "store", ACCOUNT, policy="skip")], ["owner StorageAccount/store!"], "watched"),
    ([GROUP, in_group("Vault", "kv", "properties: {tenantId: x}")], ["name Vault/kv"], "a name that is held"),
    ([GROUP, in_group("Vault", "kv", "properties: {tenantId: x, createMode: createOrRecover}")], [], "it is recovered"),
    ([GROUP, in_group("Vault", "kv", "properties: {tenantId: x, createMode: purgeThenCreate}")], [], "it is purged"),
    ([GROUP, in_group("Service", "apim", "restore: true")], [], "a service that is restored"),
    ([GROUP, in_group("Service", "apim")], ["name Service/apim"], "a service that is not"),
    (
        [GROUP, in_group("ConfigurationStore", "store", "sku: {name: free}")],
        ["data ConfigurationStore/store"],
        "the free tier holds no name",
    ),
    ([GROUP, WORKSPACE], ["data Workspace/logs"], "any PUT recovers it: its name is no gap"),
]


@pytest.mark.parametrize(("documents", "expected", "why"), DATA, ids=[row[2] for row in DATA])
def test_what_comes_back_empty_or_not_under_its_name(documents, expected, why):
    assert show(find("".join(documents))) == expected, why


@pytest.mark.parametrize(
    ("documents", "hint"),
    [
        (
            in_group("FlexibleServer", "db"),
            (
                "To restore it, set spec.createMode: PointInTimeRestore with spec.sourceServerResourceReference and "
                "spec.pointInTimeUTC."
            ),
        ),
        (COSMOS, "To restore it, set spec.createMode: Restore with spec.restoreParameters."),
        (
            in_group("Server", "sql") + DATABASE,
            (
                "To restore it, set spec.createMode: PointInTimeRestore with spec.sourceDatabaseReference and "
                "spec.restorePointInTime."
            ),
        ),
        (
            in_group("Disk", "disk", "creationData: {createOption: Empty}"),
            "To restore it, set spec.creationData.createOption: Copy with spec.creationData.sourceResourceReference.",
        ),
        (in_group("StorageAccount", "store", ACCOUNT), "Restore its data from a backup after a rebuild."),
        (
            in_group("Vault", "kv", "properties: {tenantId: x, enablePurgeProtection: true}"),
            "To recover it with its contents if it was deleted, set spec.properties.createMode: createOrRecover.",
        ),
        (
            in_group("ConfigurationStore", "store", "sku: {name: standard}"),
            (
                "To recover it with its contents, set spec.createMode: Recover for a rebuild. To delete it permanently, purge "
                f"it: `az appconfig purge --name store --location westeurope --subscription {SUBSCRIPTION}`."
            ),
        ),
    ],
    ids=["PostgreSQL", "Cosmos DB", "SQL", "disk", "storage", "vault", "configuration store"],
)
def test_the_hint_names_the_restore_that_the_kind_has(documents, hint):
    assert [gap.hint for gap in find(GROUP + documents)] == [hint]


CLUSTER_TYPE, VAULT_TYPE = (
    "Microsoft.ContainerService/managedClusters@2024-09-01",
    "Microsoft.KeyVault/vaults@2023-07-01",
)
DISK_TYPE, LINK_TYPE = "Microsoft.Compute/disks@2024-03-02", "Microsoft.Network/privateEndpoints@2024-01-01"
ANY_TYPE = [
    (
        [any_in_group(CLUSTER_TYPE, "aks", "{location: westeurope}"), person_on(group_id("MC_rg_aks_westeurope"))],
        ["data AzureResource/aks"],
        "the group of a cluster's nodes comes with the cluster",
    ),
    ([any_in_group(DISK_TYPE, "d", "{properties: {creationData: {createOption: Copy}}}")], [], "a copy of a snapshot"),
    ([any_in_group(VAULT_TYPE, "kv", "{properties: {createMode: recover}}")], [], "it is recovered"),
    (
        [any_in_group("Microsoft.ApiManagement/service@2024-05-01", "a", "{properties: {restore: true}}")],
        [],
        "restored",
    ),
    (
        [any_in_group(LINK_TYPE, "link", f"{{properties: {{subnet: {{id: {network_id('net', 'far')}/subnets/a}}}}}}")],
        ["owner AzureResource/link spec.body.properties.subnet.id!"],
        "an id in a body names something that git does not have",
    ),
    (
        [
            IDENTITY,
            any_in_group(
                "Microsoft.Authorization/roleAssignments@2022-04-01", GUID, f"{{properties: {{principalId: {GUID}}}}}"
            ),
        ],
        [f"id AzureResource/{GUID} spec.body.properties.principalId"],
        "an id that changes",
    ),
]


@pytest.mark.parametrize(("documents", "expected", "why"), ANY_TYPE, ids=[row[2] for row in ANY_TYPE])
def test_the_rules_of_a_type_hold_for_any_kind(documents, expected, why):
    assert show(find(GROUP + "".join(documents))) == expected, why


def test_a_hint_names_the_field_of_the_body():
    (gap,) = find(GROUP + any_in_group(VAULT_TYPE, "kv", "{location: westeurope, properties: {}}"))
    assert "set spec.body.properties.createMode: recover for a rebuild" in gap.hint
    identity = any_in_group(
        "Microsoft.Authorization/roleAssignments@2022-04-01", GUID, f"{{properties: {{principalId: {GUID}}}}}"
    )
    (gap,) = find(GROUP + IDENTITY + identity)
    assert "set spec.body.properties.principalId.$configMap instead" in gap.hint


def test_what_stops_a_rebuild_comes_first():
    documents = (
        in_group("StorageAccount", "store", ACCOUNT),
        in_group("Vault", "kv", "properties: {tenantId: x}"),
        in_group("FlexibleServer", "db", LOGIN),
        IDENTITY,
        role(f"principalId: {GUID}"),
        NETWORK,
        peering(network_id("far", subscription=OTHER)),
    )
    gaps = find("".join(documents), secret_sources=("manifests",))
    assert [(gap.stops, str(gap.kind)) for gap in gaps] == [
        (True, "owner"),
        (True, "value"),
        (False, "owner"),
        (False, "id"),
        (False, "name"),
        (False, "data"),
        (False, "data"),
    ]
