"""Every type that keeps what was deleted, beside key vaults: how it is listed, what it holds, and both options."""

import pytest

from gitsync.emulator.settings import EmulatorSettings, read_settings
from gitsync.emulator.state.deleted_resources import ConfiguredDeletion
from gitsync.emulator.state.store import SqliteStore
from gitsync.errors import ConfigError
from tests.emulator.asked import GROUP, SUBSCRIPTION, TestClock, at, emulated

OTHER_GROUP = f"{SUBSCRIPTION}/resourceGroups/other"
PROVIDERS = f"{SUBSCRIPTION}/providers"
HSM, ACCOUNT = at("Microsoft.KeyVault/managedHSMs", "held"), at("Microsoft.CognitiveServices/accounts", "held")
SERVICE, STORE = (
    at("Microsoft.ApiManagement/service", "held"),
    at("Microsoft.AppConfiguration/configurationStores", "held"),
)
WORKSPACE = at("Microsoft.OperationalInsights/workspaces", "held")
VAULT = at("Microsoft.KeyVault/vaults", "held")
BODY = {"location": "westeurope", "tags": {"a": "b"}, "sku": {"name": "Standard"}, "properties": {"old": True}}
DATES = {"deletionDate": "2026-01-01T00:00:00.000000Z"}


async def delete(azure, path, body=BODY):
    await azure.made(path, body)
    reply = await azure.delete(path)
    while reply.status == 202:
        reply = await azure.get(reply.headers["Location"])
    assert reply.status == 200


def row(provider, word, member, path, purged, **more):
    return {
        "id": f"{PROVIDERS}/{provider}/locations/westeurope/{word}/held",
        "name": "held",
        "properties": {member: path, **DATES, "scheduledPurgeDate": f"2026-{purged}T00:00:00.000000Z", **more},
    }


MEMBERS = {"location": "westeurope", "tags": {"a": "b"}, "purgeProtectionEnabled": False}
ROWS = [
    (
        HSM,
        row("Microsoft.KeyVault", "deletedManagedHSMs", "mhsmId", HSM, "04-01", **MEMBERS)
        | {"type": "Microsoft.Keyvault/deletedManagedHSMs"},
        "a managed HSM says whether it is protected, and spells its provider as it was recorded",
    ),
    (
        SERVICE,
        row("Microsoft.ApiManagement", "deletedservices", "serviceId", SERVICE, "01-03")
        | {"type": "Microsoft.ApiManagement/deletedservices", "location": "westeurope"},
        "an API Management service has its location outside, and is kept for two days",
    ),
    (
        STORE,
        row(
            "Microsoft.AppConfiguration",
            "deletedConfigurationStores",
            "configurationStoreId",
            STORE,
            "01-08",
            **MEMBERS,
        )
        | {"type": "Microsoft.AppConfiguration/deletedConfigurationStores"},
        "a configuration store is kept for seven days",
    ),
]


@pytest.mark.parametrize(("path", "entry", "why"), ROWS, ids=[row[-1] for row in ROWS])
async def test_what_was_deleted_is_listed_and_read_as_recorded(path, entry, why):
    async with emulated(clock=TestClock(), has_group=True) as azure:
        await delete(azure, path)
        reply = await azure.get(entry["id"])
        listed = await azure.get(f"{PROVIDERS}/{entry['id'].split('/')[4]}/{entry['id'].split('/')[-2]}")
    assert reply.body == entry, why
    assert listed.body["value"] == [entry], why


async def test_a_deleted_account_is_the_whole_account_below_its_group():
    path = f"{PROVIDERS}/Microsoft.CognitiveServices/locations/westeurope/resourceGroups/net/deletedAccounts/held"
    async with emulated(clock=TestClock(), has_group=True) as azure:
        await delete(azure, ACCOUNT, {**BODY, "kind": "OpenAI"})
        read, elsewhere = await azure.get(path), await azure.get(path.replace("/net/", "/other/"))
        listed = await azure.get(f"{PROVIDERS}/Microsoft.CognitiveServices/deletedAccounts")
    assert read.body == listed.body["value"][0]
    assert (read.body["id"], read.body["type"]) == (path, "Microsoft.CognitiveServices/deletedAccounts")
    assert (read.body["kind"], read.body["sku"], read.body["location"]) == (
        "OpenAI",
        {"name": "Standard"},
        "westeurope",
    )
    assert read.body["properties"]["scheduledPurgeDate"] == "2026-01-03T00:00:00.000000Z"
    assert elsewhere.status == 404


async def test_deleted_workspaces_are_whole_and_only_listed(azure, group):
    await delete(azure, WORKSPACE)
    for scope in (SUBSCRIPTION, GROUP):
        listed = await azure.get(f"{scope}/providers/Microsoft.OperationalInsights/deletedWorkspaces")
        assert [entry["id"] for entry in listed.body["value"]] == [WORKSPACE], scope
    other = await azure.get(f"{OTHER_GROUP}/providers/Microsoft.OperationalInsights/deletedWorkspaces")
    reply = await azure.get(f"{PROVIDERS}/Microsoft.OperationalInsights/locations/westeurope/deletedWorkspaces/held")
    assert (other.code, reply.status) == ("ResourceGroupNotFound", 404)


def wanting(**properties):
    return {"location": "westeurope", "sku": {"name": "Standard"}, "properties": {"new": True, **properties}}


HELD = [
    (VAULT, wanting(), "ConflictError", "a vault holds its name"),
    (HSM, wanting(), "ConflictError", "a managed HSM too"),
    (ACCOUNT, wanting(), "FlagMustBeSetForRestore", "an account wants to be restored"),
    (SERVICE, wanting(), "ServiceAlreadyExistsInSoftDeletedState", "a service wants to be undeleted"),
    (STORE, wanting(), "NameUnavailable", "a store says no more than that"),
    (STORE, wanting(createMode="Default"), "NameUnavailable", "whatever the mode is"),
    (SERVICE, wanting(restore=False), "ServiceAlreadyExistsInSoftDeletedState", "a flag that is off is none"),
    (WORKSPACE, {"location": "northeurope"}, "Conflict", "a workspace comes back to its region only"),
]


@pytest.mark.parametrize(("path", "body", "code", "why"), HELD, ids=[row[-1] for row in HELD])
async def test_the_name_is_held(azure, group, path, body, code, why):
    await delete(azure, path)
    reply = await azure.put(path, body)
    assert (reply.status, reply.code) == (409, code), why
    assert "{" not in reply.message


ELSEWHERE = [
    (HSM, wanting(createMode="recover"), "ConflictError", "a managed HSM comes back to its group only"),
    (SERVICE, wanting(restore=True), "ServiceAlreadyExistsInSoftDeletedState", "so does a service"),
    (STORE, wanting(createMode="Recover"), "NameUnavailable", "so does a store"),
    (WORKSPACE, wanting(), "Conflict", "the name of a workspace is not unique in its subscription"),
    (ACCOUNT, wanting(), "", "an account of the other group may have the name"),
]


@pytest.mark.parametrize(("path", "body", "code", "why"), ELSEWHERE, ids=[row[-1] for row in ELSEWHERE])
async def test_a_name_is_held_in_other_groups(azure, group, path, body, code, why):
    await delete(azure, path)
    await azure.put(OTHER_GROUP)
    reply = await azure.put(path.replace(GROUP, OTHER_GROUP), body)
    assert (reply.status, reply.code) == (409, code) if code else reply.status == 201, why


RECOVERED = [
    (HSM, wanting(createMode="recover"), "createMode", "as a vault"),
    (ACCOUNT, wanting(restore=True), "restore", "by its flag"),
    (SERVICE, wanting(restore=True), "restore", "the rest of the body is ignored"),
    (STORE, wanting(createMode="Recover"), "createMode", "in the case of its own API"),
    (WORKSPACE, {"location": "westeurope"}, "", "a plain PUT is enough"),
]


@pytest.mark.parametrize(("path", "body", "word", "why"), RECOVERED, ids=[row[-1] for row in RECOVERED])
async def test_a_recovery_brings_back_what_was(azure, group, path, body, word, why):
    await delete(azure, path)
    back = await azure.made(path, body)
    namespace = path.split("/")[6]
    listed = [
        await azure.get(f"{PROVIDERS}/{namespace}/{kind}")
        for kind in ("deletedManagedHSMs", "deletedAccounts", "deletedservices", "deletedConfigurationStores")
    ]
    assert (back["properties"]["old"], back["tags"]) == (True, {"a": "b"}), why
    assert not {"new", word} & {*back["properties"]}
    assert all(page.body["value"] == [] for page in listed), "it is deleted no more"


NOTHING = [
    (ACCOUNT, wanting(restore=True), "CanNotRestoreANonExistingResource", "no account was deleted"),
    (SERVICE, wanting(restore=True), "ServiceUndeleteNotPossible", "no service was deleted"),
]


@pytest.mark.parametrize(("path", "body", "code", "why"), NOTHING, ids=[row[-1] for row in NOTHING])
async def test_nothing_can_be_recovered_where_nothing_was_deleted(azure, group, path, body, code, why):
    assert (await azure.put(path, body)).code == code, why


async def test_a_vault_that_was_not_deleted_has_an_error_of_its_own(azure):
    path = f"{PROVIDERS}/Microsoft.KeyVault/locations/westeurope/deletedVaults/held"
    read, purged = await azure.get(path), await azure.send_request("POST", f"{path}/purge")
    assert (read.status, read.code, purged.code) == (404, "DeletedVaultNotFound", "DeletedVaultNotFound")


PURGES = [
    (HSM, "POST", "Microsoft.KeyVault/locations/westeurope/deletedManagedHSMs/held/purge"),
    (STORE, "POST", "Microsoft.AppConfiguration/locations/westeurope/deletedConfigurationStores/held/purge"),
    (SERVICE, "DELETE", "Microsoft.ApiManagement/locations/westeurope/deletedservices/held"),
    (ACCOUNT, "DELETE", "Microsoft.CognitiveServices/locations/westeurope/resourceGroups/net/deletedAccounts/held"),
]


@pytest.mark.parametrize(("path", "method", "purge"), PURGES, ids=[row[-1] for row in PURGES])
async def test_a_purge_frees_the_name(azure, group, path, method, purge):
    await delete(azure, path)
    reply = await azure.send_request(method, f"{PROVIDERS}/{purge}")
    assert reply.status == 202
    assert "/locations/westeurope/operationResults/" in reply.headers["Location"]
    while reply.status == 202:
        reply = await azure.get(reply.headers["Location"])
    assert (await azure.put(path, wanting())).status in {201, 202}


async def test_a_protected_store_cannot_be_purged(azure, group):
    await delete(azure, STORE, wanting(enablePurgeProtection=True))
    path = f"{PROVIDERS}/Microsoft.AppConfiguration/locations/westeurope/deletedConfigurationStores/held"
    refused, kept = await azure.send_request("POST", f"{path}/purge"), await azure.get(path)
    assert refused.message == "Operation 'DeletedConfigurationStorePurge' is not allowed."
    assert kept.body["properties"]["purgeProtectionEnabled"] is True


KEPT_NOT = [
    (STORE, {**BODY, "sku": {"name": "Free"}}, "", "the free tier of App Configuration keeps nothing"),
    (WORKSPACE, BODY, "?force=true", "a forced delete of a workspace keeps nothing"),
]


@pytest.mark.parametrize(("path", "body", "query", "why"), KEPT_NOT, ids=[row[-1] for row in KEPT_NOT])
async def test_some_deletes_keep_nothing(azure, group, path, body, query, why):
    await azure.made(path, body)
    reply = await azure.delete(path + query)
    while reply.status == 202:
        reply = await azure.get(reply.headers["Location"])
    assert (await azure.put(path, {"location": "northeurope"})).status == 201, why


async def test_the_name_is_free_when_its_time_is_over():
    clock = TestClock()
    async with emulated(clock=clock, has_group=True) as azure:
        await delete(azure, SERVICE)
        clock.seconds = 47 * 3600
        held = await azure.put(SERVICE, wanting())
        clock.seconds = 49 * 3600
        free = await azure.put(SERVICE, wanting())
        listed = await azure.get(f"{PROVIDERS}/Microsoft.ApiManagement/deletedservices")
    assert (held.status, free.status, listed.body) == (409, 201, {"value": []})


async def test_the_settings_say_what_was_deleted_once_for_a_state(tmp_path):
    settings = EmulatorSettings(limits=None, deleted=(ConfiguredDeletion(id=VAULT, location="westeurope"),))
    protected = EmulatorSettings(
        deleted=(ConfiguredDeletion(id=HSM, location="West Europe", purge_protection=True),), limits=None
    )
    path = f"{PROVIDERS}/Microsoft.KeyVault/locations/westeurope/deletedVaults/held"
    async with emulated(settings, SqliteStore(tmp_path / "state"), has_group=True) as azure:
        refused = await azure.put(VAULT, wanting())
        reply = await azure.send_request("POST", f"{path}/purge")
        while reply.status == 202:
            reply = await azure.get(reply.headers["Location"])
    async with emulated(settings, SqliteStore(tmp_path / "state")) as azure:
        gone = await azure.get(path)
    async with emulated(protected) as azure:
        hsms = await azure.get(f"{PROVIDERS}/Microsoft.KeyVault/deletedManagedHSMs")
    assert (refused.code, gone.status) == ("ConflictError", 404), "what was purged stays purged"
    assert hsms.body["value"][0]["properties"]["purgeProtectionEnabled"] is True


WRONG = [
    (
        "deleted: [{id: /subscriptions/s/x, location: a}]",
        "has a type without soft delete",
        "only some types hold names",
    ),
    ("deleted: [{location: a}]", "missing keys: id", "it must be said what was deleted"),
    ("takenNames: [{type: a/b}]", "missing keys: name", "a name is needed"),
    (
        "takenNames: [{type: a/b, name: x, where: y}]",
        "takenNames[0].where: there is no such key",
        "other keys are mistakes",
    ),
]


@pytest.mark.parametrize(("text", "message", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_a_mistake_in_the_settings_has_its_line(tmp_path, text, message, why):
    script = tmp_path / "script.yaml"
    script.write_text(f"settings:\n  throttle: off\n  {text}\n")
    with pytest.raises(ConfigError) as caught:
        read_settings(script)
    assert f"{script}:3: " in str(caught.value), why
    assert message in str(caught.value)
