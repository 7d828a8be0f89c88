"""What is skipped, what is empty, and what is not understood: and that no message has a value."""

from __future__ import annotations

import base64
import traceback

import pytest

from gitsync.errors import ArmError, GitsyncError
from tests.extensions.asking import with_
from tests.extensions.exporting import Answers, exported

VALUE = "hunter2-hunter2"
NO_TEXT = base64.b64encode(b"\xff\xfe" + VALUE.encode()).decode()

AKS = ("containerservice.azure.com", "ManagedCluster")
BUS = ("servicebus.azure.com", "Namespace")
HUB = ("devices.azure.com", "IotHub")
IDENTITY = ("managedidentity.azure.com", "UserAssignedIdentity")
LEARNING = ("machinelearningservices.azure.com", "Workspace")
REDIS = ("cache.azure.com", "Redis")
SEARCH = ("search.azure.com", "SearchService")
STORAGE = ("storage.azure.com", "StorageAccount")
STORE = ("appconfiguration.azure.com", "ConfigurationStore")
KEYS = "/listKeys"


@pytest.mark.parametrize(
    ("kind", "suffix", "answer", "field", "expected", "why"),
    [
        (STORE, KEYS, {"value": []}, "primaryKey", None, "a store without access keys lists none"),
        (STORE, KEYS, {"value": [{"name": "primary", "value": "x"}]}, "primaryKey", None, "names have case"),
        (STORE, KEYS, {"value": [{"name": "Primary"}]}, "primaryKeyID", "", "the entry is there, its id is not"),
        (STORE, KEYS, {"value": [{"name": "Primary", "id": ""}]}, "primaryKeyID", "", "empty is not missing"),
        (HUB, "/listkeys", {"value": [{"keyName": "service"}]}, "devicePrimaryKey", None, "its policy was deleted"),
        (HUB, "/listkeys", {"value": [{"keyName": "device"}]}, "devicePrimaryKey", "", "a policy has keys"),
        (LEARNING, KEYS, {}, "userStorageKey", "", "a workspace has storage"),
        (LEARNING, KEYS, {}, "containerRegistryPassword", "", "asked for, so there should be one"),
        (LEARNING, KEYS, {"containerRegistryCredentials": None}, "containerRegistryUserName", "", "the same"),
        (
            LEARNING,
            KEYS,
            {"containerRegistryCredentials": {"passwords": None}},
            "containerRegistryPassword2",
            "",
            "the same",
        ),
        (LEARNING, KEYS, {}, "primaryNotebookAccessKey", None, "nobody has opened a notebook yet"),
        (LEARNING, KEYS, {"notebookAccessKeys": None}, "secondaryNotebookAccessKey", None, "nobody has opened one"),
        (
            LEARNING,
            KEYS,
            {"notebookAccessKeys": {}},
            "primaryNotebookAccessKey",
            "",
            "there are keys, and this is none",
        ),
        (STORAGE, KEYS, {"keys": [{"keyName": "key1", "value": "x"}]}, "key2", "", "an account has two"),
        (STORAGE, KEYS, {}, "key1", "", "an account has two"),
        (AKS, "/listClusterAdminCredential", {"kubeconfigs": []}, "adminCredentials", "", "no kubeconfig"),
        (AKS, "/listClusterAdminCredential", {"kubeconfigs": None}, "adminCredentials", "", "no kubeconfig"),
        (
            AKS,
            "/listClusterUserCredential",
            {"kubeconfigs": [{"value": "IA=="}]},
            "userCredentials",
            " ",
            "a space, decoded",
        ),
        (SEARCH, "/listQueryKeys", {"value": []}, "queryKey", None, "every query key was deleted"),
        (
            SEARCH,
            "/listQueryKeys",
            {"value": [{"name": "mine", "key": "x"}]},
            "queryKey",
            None,
            "it belongs to somebody",
        ),
        (SEARCH, "/listQueryKeys", {"value": [{"name": "default", "key": "x"}]}, "queryKey", "x", "named so by hand"),
        (SEARCH, "/listQueryKeys", {"value": [{"key": "x"}, {"name": None, "key": "y"}]}, "queryKey", "y", "the last"),
        (SEARCH, "/listQueryKeys", {"value": [{"key": "x"}, {}]}, "queryKey", "x", "neither name nor key: ignored"),
        (
            BUS,
            "/AuthorizationRules/RootManageSharedAccessKey/listKeys",
            {"primaryKey": None},
            "primaryKey",
            "",
            "no key",
        ),
    ],
)
async def test_what_is_passed_over_and_what_is_empty(kind, suffix, answer, field, expected, why):
    found = await exported(*kind, field, azure=Answers({suffix: answer}))
    assert found == ({} if expected is None else {field: expected}), why


@pytest.mark.parametrize(
    ("kind", "properties", "field", "expected", "why"),
    [
        (STORAGE, {}, "blobEndpoint", None, "an account without endpoints gives none"),
        (STORAGE, {"primaryEndpoints": None}, "webEndpoint", None, "the same"),
        (STORAGE, {"primaryEndpoints": {"blob": "https://b"}}, "webEndpoint", "", "this one alone is missing"),
        (REDIS, {}, "hostName", "", "asked for, so it should be there"),
        (REDIS, {"port": 0}, "port", "0", "a number, whatever it is"),
        (IDENTITY, {}, "clientId", "", "an identity has one"),
    ],
)
async def test_what_the_resource_does_not_tell(kind, properties, field, expected, why):
    found = await exported(*kind, field, azure=Answers(), own=with_(**properties))
    assert found == ({} if expected is None else {field: expected}), why


async def test_a_resource_that_was_not_read_tells_nothing():
    assert await exported(*REDIS, "hostName", azure=Answers()) == {"hostName": ""}


@pytest.mark.parametrize(
    ("kind", "suffix", "answer", "field", "says", "why"),
    [
        (REDIS, KEYS, {"primaryKey": {"it": VALUE}}, "primaryKey", "primaryKey is neither text", "an object"),
        (REDIS, KEYS, {"primaryKey": [VALUE]}, "primaryKey", "primaryKey is neither text", "a list"),
        (REDIS, KEYS, {"primaryKey": True}, "primaryKey", "primaryKey is neither text", "a truth"),
        (REDIS, KEYS, VALUE, "primaryKey", "primaryKey is not a path through objects", "no object at all"),
        (STORAGE, KEYS, {"keys": VALUE}, "key1", "keys is not a list of objects", "text for a list"),
        (STORAGE, KEYS, {"keys": [VALUE]}, "key1", "keys is not a list of objects", "texts for objects"),
        (
            STORAGE,
            KEYS,
            {"keys": [{"keyName": "key1", "value": {"it": VALUE}}]},
            "key1",
            "value is neither text",
            "an object",
        ),
        (STORE, KEYS, {"value": [VALUE]}, "primaryKey", "it is not a list of objects", "texts for entries"),
        (SEARCH, "/listQueryKeys", {"value": [VALUE]}, "queryKey", "it is not a list of objects", "texts for entries"),
        (
            LEARNING,
            KEYS,
            {"notebookAccessKeys": VALUE},
            "primaryNotebookAccessKey",
            "is not a path through objects",
            "text for an object",
        ),
        (
            AKS,
            "/listClusterAdminCredential",
            {"kubeconfigs": VALUE},
            "adminCredentials",
            "is not a path through objects",
            "text for a list",
        ),
        (
            AKS,
            "/listClusterAdminCredential",
            {"kubeconfigs": [{"value": VALUE}]},
            "adminCredentials",
            "not text in base64",
            "not packed",
        ),
        (
            AKS,
            "/listClusterAdminCredential",
            {"kubeconfigs": [{"value": NO_TEXT}]},
            "adminCredentials",
            "not text in base64",
            "bytes",
        ),
        (
            AKS,
            "/listClusterAdminCredential",
            {"kubeconfigs": [{"value": "ä" + VALUE}]},
            "adminCredentials",
            "not text in base64",
            "no ASCII",
        ),
    ],
)
async def test_an_answer_that_is_not_as_expected_says_so_without_its_values(kind, suffix, answer, field, says, why):
    with pytest.raises(GitsyncError) as raised:
        await exported(*kind, field, azure=Answers({suffix: answer}))
    told = "".join(traceback.format_exception(raised.value))
    assert says in str(raised.value), why
    assert suffix.removeprefix("/") in str(raised.value), "which action it was"
    assert VALUE not in told
    assert NO_TEXT not in told


@pytest.mark.parametrize(
    ("kind", "wanted", "expected", "why"),
    [
        (STORAGE, ["blobEndpoint"], [], "endpoints need no keys"),
        (STORAGE, ["blobEndpoint", "key1"], [KEYS], "one call for the key"),
        (REDIS, ["hostName", "sslPort"], [], "no key is wanted"),
        (BUS, ["endpoint"], [], "nor here, where ASO asks all the same"),
        (SEARCH, ["adminPrimaryKey"], ["/listAdminKeys"], "no query key is wanted"),
        (SEARCH, ["queryKey"], ["/listQueryKeys"], "no admin key is wanted"),
        (AKS, ["userCredentials"], ["/listClusterUserCredential"], "no admin is shown"),
        (
            ("redhatopenshift.azure.com", "OpenShiftCluster"),
            ["password"],
            ["/listCredentials"],
            "no kubeconfig is wanted",
        ),
    ],
)
async def test_nothing_is_asked_that_is_not_wanted(kind, wanted, expected, why):
    azure = Answers(
        {
            KEYS: {},
            "/listAdminKeys": {},
            "/listClusterUserCredential": {},
            "/listCredentials": {},
            "/listQueryKeys": {"value": []},
        }
    )
    await exported(*kind, *wanted, azure=azure)
    assert [path[path.rindex("/") :] for _, path, _ in azure.requested] == expected, why


class Refuses(Answers):
    """An Azure that refuses every action."""

    async def call(self, path, api_version, body=None, *, query=None):
        raise ArmError("No.", status=403, code="AuthorizationFailed")


async def test_what_azure_refuses_stays_what_it_is():
    with pytest.raises(ArmError, match="No"):
        await exported(*STORAGE, "key1", azure=Refuses())
