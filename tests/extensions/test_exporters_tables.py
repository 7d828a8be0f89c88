"""Where every field of every exporter stands: in the answer of which action, or in the resource itself."""

from __future__ import annotations

import base64

import pytest

from tests.extensions.asking import subject, with_
from tests.extensions.exporting import Answers, exported, exporters

FOUR = ("primaryKey", "secondaryKey", "primaryConnectionString", "secondaryConnectionString")


def packed(text):
    return base64.b64encode(text.encode()).decode()


def flat(*names):
    """An answer whose members are fields of the same names."""
    return {name: f"the {name}" for name in names}, {name: f"the {name}" for name in names}


def row(group, kind, suffix, api_version, shape, method="POST"):
    answer, fields = shape
    return f"{group}.azure.com", kind, method, suffix, api_version, answer, fields


def entries(by, names, members):
    """A list whose entries bear names, and the fields that come of it."""
    listed = [
        {by: named, **{member: f"{named}'s {member}" for member in members.values()}, "other": "no"}
        for named in names.values()
    ]
    fields = {f"{s}{e}": f"{named}'s {member}" for s, named in names.items() for e, member in members.items()}
    return {"value": listed}, fields


STORE = entries(
    "name",
    {
        "primary": "Primary",
        "secondary": "Secondary",
        "primaryReadOnly": "Primary Read Only",
        "secondaryReadOnly": "Secondary Read Only",
    },
    {"Key": "value", "KeyID": "id", "ConnectionString": "connectionString"},
)
HUB = entries(
    "keyName",
    {
        "iotHubOwner": "iothubowner",
        "service": "service",
        "device": "device",
        "registryRead": "registryRead",
        "registryReadWrite": "registryReadWrite",
    },
    {"PrimaryKey": "primaryKey", "SecondaryKey": "secondaryKey"},
)
LEARNING = (
    {
        "userStorageKey": "storage",
        "userStorageResourceId": "/not/a/key",
        "appInsightsInstrumentationKey": "insights",
        "containerRegistryCredentials": {
            "location": "westeurope",
            "username": "somebody",
            "passwords": [{"name": "password", "value": "one"}, {"name": "password2", "value": "two"}],
        },
        "notebookAccessKeys": {"primaryAccessKey": "first", "secondaryAccessKey": "second"},
    },
    {
        "userStorageKey": "storage",
        "appInsightsInstrumentationKey": "insights",
        "containerRegistryUserName": "somebody",
        "containerRegistryPassword": "one",
        "containerRegistryPassword2": "two",
        "primaryNotebookAccessKey": "first",
        "secondaryNotebookAccessKey": "second",
    },
)
ACCOUNT_KEYS = (
    {"keys": [{"keyName": f"key{n}", "value": f"value {n}"} for n in (1, 2)]},
    {"key1": "value 1", "key2": "value 2"},
)
ROOT = "RootManageSharedAccessKey"
FULL = "DefaultFullSharedAccessSignature"


def kubeconfig(field):
    configs = [{"name": "first", "value": packed("kind: Config")}, {"name": "second", "value": packed("no")}]
    return {"kubeconfigs": configs}, {field: "kind: Config"}


ACTIONS = [
    row(
        "apimanagement",
        "ServiceGateway",
        "/listKeys",
        "2022-08-01",
        ({"primary": "a", "secondary": "b"}, {"primaryKey": "a", "secondaryKey": "b"}),
    ),
    row("apimanagement", "Subscription", "/listSecrets", "2022-08-01", flat(*FOUR[:2])),
    row("appconfiguration", "ConfigurationStore", "/listKeys", "2022-05-01", STORE, "PAGES"),
    row("cache", "Redis", "/listKeys", "2021-06-01", flat(*FOUR[:2])),
    row("cache", "RedisEnterpriseDatabase", "/listKeys", "2022-01-01", flat(*FOUR[:2])),
    row("cognitiveservices", "Account", "/listKeys", "2025-06-01", flat("key1", "key2")),
    row("communication", "CommunicationService", "/listKeys", "2020-08-20", flat(*FOUR)),
    row("containerservice", "Fleet", "/listCredentials", "2025-03-01", kubeconfig("userCredentials")),
    row(
        "containerservice",
        "ManagedCluster",
        "/listClusterAdminCredential",
        "2022-04-01",
        kubeconfig("adminCredentials"),
    ),
    row(
        "containerservice", "ManagedCluster", "/listClusterUserCredential", "2022-04-01", kubeconfig("userCredentials")
    ),
    row("devices", "IotHub", "/listkeys", "2023-06-30", HUB, "PAGES"),
    row(
        "documentdb",
        "DatabaseAccount",
        "/listKeys",
        "2021-10-15",
        flat("primaryMasterKey", "secondaryMasterKey", "primaryReadonlyMasterKey", "secondaryReadonlyMasterKey"),
    ),
    row("eventgrid", "Topic", "/listKeys", "2021-12-01", flat("key1", "key2")),
    row("eventhub", "Namespace", f"/authorizationRules/{ROOT}/listKeys", "2024-01-01", flat(*FOUR)),
    row("eventhub", "NamespacesAuthorizationRule", "/listKeys", "2024-01-01", flat(*FOUR)),
    row("eventhub", "NamespacesEventhubsAuthorizationRule", "/listKeys", "2024-01-01", flat(*FOUR)),
    row("machinelearningservices", "Workspace", "/listKeys", "2021-07-01", LEARNING),
    row("notificationhubs", "Namespace", f"/AuthorizationRules/{ROOT}/listKeys", "2017-04-01", flat(*FOUR)),
    row("notificationhubs", "NotificationHub", f"/AuthorizationRules/{FULL}/listKeys", "2017-04-01", flat(*FOUR)),
    row(
        "operationalinsights", "Workspace", "/sharedKeys", "2020-08-01", flat("primarySharedKey", "secondarySharedKey")
    ),
    row(
        "redhatopenshift",
        "OpenShiftCluster",
        "/listAdminCredentials",
        "2023-11-22",
        ({"kubeconfig": packed("kind: Config")}, {"adminCredentials": packed("kind: Config")}),
    ),
    row(
        "redhatopenshift",
        "OpenShiftCluster",
        "/listCredentials",
        "2023-11-22",
        ({"kubeadminUsername": "me", "kubeadminPassword": "pw"}, {"username": "me", "password": "pw"}),
    ),
    row(
        "search",
        "SearchService",
        "/listAdminKeys",
        "2025-05-01",
        ({"primaryKey": "a", "secondaryKey": "b"}, {"adminPrimaryKey": "a", "adminSecondaryKey": "b"}),
    ),
    row(
        "search",
        "SearchService",
        "/listQueryKeys",
        "2025-05-01",
        ({"value": [{"name": None, "key": "q"}, {"name": "mine", "key": "no"}]}, {"queryKey": "q"}),
        "PAGES",
    ),
    row("servicebus", "Namespace", f"/AuthorizationRules/{ROOT}/listKeys", "2021-11-01", flat(*FOUR)),
    row("servicebus", "NamespacesAuthorizationRule", "/listKeys", "2021-11-01", flat(*FOUR)),
    row("servicebus", "TopicAuthorizationRule", "/ListKeys", "2021-11-01", flat(*FOUR)),
    row("signalrservice", "SignalR", "/listKeys", "2023-02-01", flat(*FOUR)),
    row("storage", "StorageAccount", "/listKeys", "2024-01-01", ACCOUNT_KEYS),
]

DOMAIN_NAME = ({"fullyQualifiedDomainName": "db.example"}, {"fullyQualifiedDomainName": "db.example"})
SERVICES = ("blob", "dfs", "file", "queue", "table", "web")
TOLD = [
    (
        "cache.azure.com",
        "Redis",
        {"hostName": "r.example", "port": 6379, "sslPort": 6380},
        {"hostName": "r.example", "port": "6379", "sslPort": "6380"},
    ),
    ("dbformariadb.azure.com", "Server", *DOMAIN_NAME),
    ("dbformysql.azure.com", "FlexibleServer", *DOMAIN_NAME),
    ("dbforpostgresql.azure.com", "FlexibleServer", *DOMAIN_NAME),
    ("documentdb.azure.com", "DatabaseAccount", *flat("documentEndpoint")),
    ("managedidentity.azure.com", "UserAssignedIdentity", *flat("clientId", "principalId", "tenantId")),
    (
        "servicebus.azure.com",
        "Namespace",
        {"serviceBusEndpoint": "https://b.example"},
        {"endpoint": "https://b.example"},
    ),
    (
        "storage.azure.com",
        "StorageAccount",
        {"primaryEndpoints": {name: f"https://{name}.example" for name in SERVICES}},
        {f"{name}Endpoint": f"https://{name}.example" for name in SERVICES},
    ),
]

FIELDS_OF_ACTIONS = [(*cells[:-1], field, value) for cells in ACTIONS for field, value in cells[-1].items()]
FIELDS_TOLD = [(*cells[:-1], field, value) for cells in TOLD for field, value in cells[-1].items()]


@pytest.mark.parametrize(
    ("group", "kind", "method", "suffix", "api_version", "answer", "field", "value"),
    FIELDS_OF_ACTIONS,
    ids=[f"{cells[0].split('.')[0]}-{cells[1]}-{cells[6]}" for cells in FIELDS_OF_ACTIONS],
)
async def test_a_field_stands_in_the_answer_of_one_action(
    group, kind, method, suffix, api_version, answer, field, value
):
    azure = Answers({suffix: answer})
    assert await exported(group, kind, field, azure=azure) == {field: value}
    assert azure.requested == [(method, subject(group, kind).arm_id + suffix, api_version)]


@pytest.mark.parametrize(
    ("group", "kind", "properties", "field", "value"),
    FIELDS_TOLD,
    ids=[f"{cells[0].split('.')[0]}-{cells[1]}-{cells[3]}" for cells in FIELDS_TOLD],
)
async def test_a_field_stands_in_the_resource_itself(group, kind, properties, field, value):
    azure = Answers()
    assert await exported(group, kind, field, azure=azure, own=with_(**properties)) == {field: value}
    assert azure.requested == []


async def test_the_subscription_of_an_identity_stands_in_its_id():
    group, kind = "managedidentity.azure.com", "UserAssignedIdentity"
    subscription = subject(group, kind).arm_id.split("/")[2]
    assert await exported(group, kind, "subscriptionId", azure=Answers()) == {"subscriptionId": subscription}


def test_every_field_of_every_exporter_has_a_row():
    rows = {(c[0], c[1], c[6]) for c in FIELDS_OF_ACTIONS} | {(c[0], c[1], c[3]) for c in FIELDS_TOLD}
    rows.add(("managedidentity.azure.com", "UserAssignedIdentity", "subscriptionId"))
    assert rows == {(*kind, field) for kind, keys in exporters().items() for field in keys.fields}


@pytest.mark.parametrize("kind", sorted(exporters()), ids="-".join)
async def test_all_that_is_wanted_comes_with_one_call_of_each_action(kind):
    actions = [cells for cells in ACTIONS if cells[:2] == kind]
    azure = Answers({cells[3]: cells[5] for cells in actions})
    told = {name: value for cells in TOLD if cells[:2] == kind for name, value in cells[2].items()}
    wanted = exporters()[kind].fields
    assert (await exported(*kind, *wanted, azure=azure, own=with_(**told))).keys() == wanted
    assert sorted(azure.requested) == sorted((c[2], subject(*kind).arm_id + c[3], c[4]) for c in actions)


@pytest.mark.parametrize("kind", sorted(exporters()), ids="-".join)
async def test_nothing_is_asked_for_what_nobody_knows(kind):
    azure = Answers()
    assert await exported(*kind, "noSuchField", azure=azure) == {}
    assert azure.requested == []
