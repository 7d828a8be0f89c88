"""What resources give out when they are called: the shapes that Azure answers in, the same keys each time."""

import base64
import json
from dataclasses import replace

import pytest

from tests.emulator.asked import GROUP, OPEN, at, emulated
from tests.support.recordings import FOLDER as RECORDINGS
from tests.support.recordings import needs_recordings

RECORDED = RECORDINGS / "arm-traffic" / "actions"
STD = {"primaryKey", "secondaryKey", "primaryConnectionString", "secondaryConnectionString"}
PAIR = {"primaryKey", "secondaryKey"}
RULE = STD | {"keyName"}
NAMESPACE, HUBS, BUS = "Microsoft.EventHub/namespaces", "Microsoft.NotificationHubs/namespaces", "Microsoft.ServiceBus/namespaces"  # fmt: skip

ACTIONS = [
    ("Microsoft.ApiManagement/service/gateways", "listKeys", {"primary", "secondary"}, "a gateway of its own hosting"),
    ("Microsoft.ApiManagement/service/subscriptions", "listSecrets", PAIR, "a subscription to an API"),
    ("Microsoft.AppConfiguration/configurationStores", "listKeys", {"value", "nextLink"}, "four keys, in pages"),
    ("Microsoft.Cache/redis", "listKeys", PAIR, "a cache"),
    ("Microsoft.Cache/redisEnterprise/databases", "listKeys", PAIR, "a database of a cluster"),
    ("Microsoft.CognitiveServices/accounts", "listKeys", {"key1", "key2"}, "an account"),
    ("Microsoft.Communication/communicationServices", "listKeys", STD, "keys and connection strings"),
    ("Microsoft.ContainerService/managedClusters", "listClusterAdminCredential", {"kubeconfigs"}, "of the admin"),
    ("Microsoft.ContainerService/managedClusters", "listClusterUserCredential", {"kubeconfigs"}, "of a user"),
    ("Microsoft.Devices/IotHubs", "listkeys", {"value"}, "five policies, in pages"),
    ("Microsoft.DocumentDB/databaseAccounts", "listKeys", {"primaryMasterKey", "secondaryMasterKey", "primaryReadonlyMasterKey", "secondaryReadonlyMasterKey"}, "four keys"),
    ("Microsoft.EventGrid/topics", "listKeys", {"key1", "key2"}, "a topic"),
    (f"{NAMESPACE}/authorizationRules", "listKeys", RULE, "a rule of a namespace"),
    (f"{NAMESPACE}/eventhubs/authorizationRules", "listKeys", RULE, "a rule of a hub"),
    ("Microsoft.MachineLearningServices/workspaces", "listKeys", {"userStorageKey", "userStorageResourceId", "appInsightsInstrumentationKey", "containerRegistryCredentials", "notebookAccessKeys"}, "keys of what it works with"),
    (f"{HUBS}/AuthorizationRules", "listKeys", RULE, "a rule of a namespace of notifications"),
    (f"{HUBS}/notificationHubs/AuthorizationRules", "listKeys", RULE, "a rule of a notification hub"),
    ("Microsoft.OperationalInsights/workspaces", "sharedKeys", {"primarySharedKey", "secondarySharedKey"}, "another word"),
    ("Microsoft.RedHatOpenShift/openShiftClusters", "listAdminCredentials", {"kubeconfig"}, "a kubeconfig"),
    ("Microsoft.RedHatOpenShift/openShiftClusters", "listCredentials", {"kubeadminUsername", "kubeadminPassword"}, "a user"),
    ("Microsoft.Search/searchServices", "listAdminKeys", PAIR, "of whoever manages it"),
    ("Microsoft.Search/searchServices", "listQueryKeys", {"value", "nextLink"}, "of whoever asks it, in pages"),
    (f"{BUS}/AuthorizationRules", "ListKeys", RULE, "a rule of a bus, in another case"),
    (f"{BUS}/topics/authorizationRules", "ListKeys", RULE, "a rule of a topic"),
    (f"{BUS}/queues/authorizationRules", "listKeys", RULE, "a rule of a queue"),
    ("Microsoft.SignalRService/signalR", "listKeys", STD, "a hub of messages"),
    ("Microsoft.Storage/storageAccounts", "listKeys", {"keys"}, "two keys"),
]  # fmt: skip


def names_of(kind):
    return [f"n{depth}" for depth in range(kind.count("/"))]


def make(hand, kind, names):
    """A resource and all that it is nested in."""
    hand.put(GROUP, {"location": "westeurope"})
    words = kind.split("/")
    for depth in range(1, len(words)):
        hand.put(at("/".join(words[: depth + 1]), *names[:depth]), {"location": "westeurope"})
    return at(kind, *names)


async def requested(kind, action, settings=OPEN):
    async with emulated(settings) as azure:
        path = make(azure.emulator, kind, names_of(kind))
        return await azure.send_request("POST", f"{path}/{action}"), await azure.send_request(
            "POST", f"{path.upper()}/{action.upper()}"
        )


def texts(value):
    """Every text in an answer, base64 undone where it is some."""
    if isinstance(value, dict):
        return [text for member in value.values() for text in texts(member)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize(("kind", "action", "members", "why"), ACTIONS, ids=[f"{row[0]}/{row[1]}" for row in ACTIONS])
async def test_a_resource_gives_its_keys(kind, action, members, why):
    first, again = await requested(kind, action)
    assert first.status == again.status == 200, first.body
    assert set(first.body) == members, why
    assert max(map(len, texts(first.body))) >= 32, "long enough to be found where it leaks"
    if "kubeconfig" not in str(members):
        secret = {text for text in texts(first.body) if len(text) == 44}
        assert secret == {text for text in texts(again.body) if len(text) == 44}, "in any case, the same each time"


async def test_keys_are_those_of_one_resource_and_of_one_purpose(azure):
    found = []
    for name in ("one", "two"):
        make(azure.emulator, "Microsoft.Cache/redis", [name])
        found.append(await azure.send_request("POST", at("Microsoft.Cache/redis", name) + "/listKeys"))
    assert len({reply.body[member] for reply in found for member in sorted(PAIR)}) == 4


REFUSED = [
    ("Microsoft.Cache/redis", "listKeys", False, 404, "ResourceNotFound", "there is none that could be asked"),
    ("Microsoft.Cache/redisEnterprise/databases", "listKeys", False, 404, "ParentResourceNotFound", "nor its parent"),
    (f"{NAMESPACE}/authorizationRules", "listKeys", False, 404, "ParentResourceNotFound", "nor a namespace"),
    ("Microsoft.Cache/redis", "makeCoffee", True, 404, "InvalidResourceType", "no such action"),
]


@pytest.mark.parametrize(
    ("kind", "action", "there", "status", "code", "why"), REFUSED, ids=[row[-1] for row in REFUSED]
)
async def test_an_action_is_refused(azure, kind, action, there, status, code, why):
    azure.emulator.put(GROUP, {"location": "westeurope"})
    if there:
        make(azure.emulator, kind, names_of(kind))
    reply = await azure.send_request("POST", f"{at(kind, *names_of(kind))}/{action}")
    assert (reply.status, reply.code) == (status, code), why


IMPLIED = [
    (NAMESPACE, "authorizationRules/RootManageSharedAccessKey", "Event Hubs"),
    (BUS, "AuthorizationRules/RootManageSharedAccessKey", "Service Bus"),
    (HUBS, "AuthorizationRules/RootManageSharedAccessKey", "Notification Hubs"),
    (f"{HUBS}/notificationHubs", "AuthorizationRules/DefaultFullSharedAccessSignature", "a notification hub"),
]


@pytest.mark.parametrize(("kind", "rule", "why"), IMPLIED, ids=[row[-1] for row in IMPLIED])
async def test_a_namespace_has_a_rule_that_nobody_made(azure, kind, rule, why):
    path = make(azure.emulator, kind, names_of(kind))
    shown, keys = await azure.get(f"{path}/{rule}"), await azure.send_request("POST", f"{path}/{rule}/listKeys")
    listed = await azure.get(f"{path}/{rule.split('/', maxsplit=1)[0]}")
    name = rule.rpartition("/")[2]
    assert shown.body["properties"]["rights"] == ["Listen", "Manage", "Send"], why
    assert keys.body["keyName"] == name
    assert (
        f"SharedAccessKeyName={name};SharedAccessKey={keys.body['primaryKey']}" in keys.body["primaryConnectionString"]
    )
    assert name in [entry["name"] for entry in listed.body["value"]]


async def test_an_implied_rule_goes_with_its_namespace_and_one_that_is_put_stands_for_it(azure):
    path = make(azure.emulator, NAMESPACE, ["ns"])
    rule = f"{path}/authorizationRules/RootManageSharedAccessKey"
    put = await azure.put(rule, {"properties": {"rights": ["Listen"]}})
    listed = await azure.get(f"{path}/authorizationRules")
    azure.emulator.remove(path)
    listed, gone = listed.body["value"], await azure.send_request("POST", f"{rule}/listKeys")
    assert put.status == 200
    assert [entry["properties"]["rights"] for entry in listed] == [["Listen"]]
    assert gone.status == 404


@pytest.mark.parametrize("follow", ["GET", "POST"])
@pytest.mark.parametrize(("kind", "action", "count"), [("Microsoft.AppConfiguration/configurationStores", "listKeys", 4), ("Microsoft.Devices/IotHubs", "listkeys", 5)])  # fmt: skip
async def test_keys_come_in_pages(kind, action, count, follow):
    async with emulated(replace(OPEN, page_size=2)) as azure:
        path = make(azure.emulator, kind, ["one"])
        reply, names = await azure.send_request("POST", f"{path}/{action}"), []
        for _ in range(10):
            names += [entry.get("name") or entry["keyName"] for entry in reply.body["value"]]
            if not reply.body.get("nextLink"):
                break
            reply = await azure.send_request(follow, reply.body["nextLink"])
    assert len(names) == len(set(names)) == count


async def test_the_kubeconfig_of_a_cluster_is_base64_of_a_text_with_its_token():
    first, _ = await requested("Microsoft.ContainerService/managedClusters", "listClusterAdminCredential")
    (entry,) = first.body["kubeconfigs"]
    assert entry["name"] == "clusterAdmin"
    text = base64.b64decode(entry["value"], validate=True).decode()
    assert "kind: Config" in text
    assert len(text.split("token: ")[1].strip()) == 44


async def test_a_hosted_cluster_takes_its_time_for_a_credential(azure):
    kind = "Microsoft.RedHatOpenShift/hcpOpenShiftClusters"
    path = make(azure.emulator, kind, ["one"])
    started = await azure.send_request("POST", f"{path}/requestAdminCredential", version="2024-06-10-preview")
    running = await azure.get(started.headers["Location"])
    status = await azure.get(started.headers["Azure-AsyncOperation"])
    done, cluster = await azure.get(started.headers["Location"]), await azure.get(path)
    assert (started.status, running.status, done.status) == (202, 202, 200)
    assert status.body["status"] == "Succeeded"
    assert set(done.body) == {"expirationTimestamp", "kubeconfig"}
    assert "kind: Config" in done.body["kubeconfig"]
    assert cluster.body["properties"]["provisioningState"] == "Succeeded", "the cluster itself is left alone"


def recorded():
    files = sorted(RECORDED.glob("*.jsonl")) if RECORDED.is_dir() else []
    rows = [json.loads(line) for path in files for line in path.read_text("utf-8").splitlines()]
    return {row["path"]: row for row in rows if "Microsoft.Subscription" not in row["path"]}


def shape(value):
    if isinstance(value, dict):
        return {name: shape(member) for name, member in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return type(value).__name__


@needs_recordings(RECORDED)
@pytest.mark.parametrize("path", recorded())
async def test_an_answer_has_the_shape_that_was_recorded(azure, path):
    row = recorded()[path] if RECORDED.is_dir() else {}
    words = path.split("/")
    azure.emulator.put("/".join(words[:5]), {"location": "westeurope"})
    for end in range(9, len(words), 2):
        azure.emulator.put("/".join(words[:end]), {"location": "westeurope"})
    assert shape((await azure.send_request("POST", path, version=row["apiVersion"])).body) == shape(row["response"])
