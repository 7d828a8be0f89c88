"""The check `names`: what holds the name of a create, what is requested for it, and the options."""

from dataclasses import replace

import pytest

from gitsync.agent.checks.names import (
    SOFT_DELETES,
    check_names,
    evaluate_answer,
    evaluate_holder,
    find_holder,
    read_holders,
)
from gitsync.model.check import HiddenValue, PlannedChange
from gitsync.model.gvk import Key
from gitsync.model.verdict import Action
from tests.agent.checks.asking import GROUP, SUB, change, only, requesting, show, storage
from tests.support.scripted_server import Say

FINE, REFUSED, WARNING, NOT_CHECKED = "fine", "refused", "warning", "not-checked"

VAULT = f"{GROUP}/providers/Microsoft.KeyVault/vaults/kv1"
HSM = f"{GROUP}/providers/Microsoft.KeyVault/managedHSMs/kv1"
ACCOUNT = f"{GROUP}/providers/Microsoft.CognitiveServices/accounts/kv1"
SERVICE = f"{GROUP}/providers/Microsoft.ApiManagement/service/kv1"
STORE = f"{GROUP}/providers/Microsoft.AppConfiguration/configurationStores/kv1"
WORKSPACE = f"{GROUP}/providers/Microsoft.OperationalInsights/workspaces/kv1"
COSMOS = f"{GROUP}/providers/Microsoft.DocumentDB/databaseAccounts/db1"
ADDRESS = f"{GROUP}/providers/Microsoft.Network/publicIPAddresses/ip1"
DELETED_VAULTS = f"{SUB}/providers/Microsoft.KeyVault/deletedVaults"
PURGED = "2027-01-30"


def row(arm_id: str, *, location: str = "westeurope", name: str = "kv1", **properties) -> dict:
    """An entry of a list of deleted resources, as Azure shows each type: see SOFT_DELETES."""
    if arm_id == ACCOUNT:
        shown = (
            f"{SUB}/providers/Microsoft.CognitiveServices/locations/{location}/resourceGroups/rg/deletedAccounts/{name}"
        )
        return {"id": shown, "name": name, "location": location.upper(), "properties": properties}
    if arm_id == WORKSPACE:
        return {"id": arm_id, "name": name, "location": location, "properties": properties}
    if arm_id == SERVICE:
        return {"name": name, "location": "West Europe", "properties": {"serviceId": arm_id, **properties}}
    member = {VAULT: "vaultId", HSM: "mhsmId", STORE: "configurationStoreId"}[arm_id]
    return {
        "name": name,
        "properties": {member: arm_id, "location": location, "scheduledPurgeDate": f"{PURGED}T00:00:59Z", **properties},
    }


def create(arm_id: str, mode=None, *, location="westeurope", group: str = "rg", **more) -> PlannedChange:
    soft = SOFT_DELETES[change(arm_id).arm_type.casefold()]
    properties = {} if mode is None else {soft.recover[0]: mode}
    arm_id = arm_id.replace("/rg/", f"/{group}/")
    return change(arm_id, {"location": location, "properties": properties}, **more)


def evaluate(change: PlannedChange, entry: dict):
    soft = SOFT_DELETES[change.arm_type.casefold()]
    holder = find_holder(change, soft, read_holders([entry], soft))
    return None if holder is None else evaluate_holder(change, soft, holder)


@pytest.mark.parametrize(
    ("arm_id", "code", "mode"),
    [
        (VAULT, "ConflictError", "recover"),
        (HSM, "ConflictError", "recover"),
        (ACCOUNT, "FlagMustBeSetForRestore", True),
        (SERVICE, "ServiceAlreadyExistsInSoftDeletedState", True),
        (STORE, "NameUnavailable", "Recover"),
    ],
)
def test_what_was_deleted_holds_the_name_until_it_is_recovered(arm_id, code, mode):
    finding = evaluate(create(arm_id), row(arm_id))
    assert (finding.verdict, finding.code) == (REFUSED, code)
    assert evaluate(create(arm_id, mode), row(arm_id)).verdict == FINE
    assert evaluate(create(arm_id, mode, location="northeurope"), row(arm_id)).verdict == REFUSED
    assert evaluate(create(arm_id), row(arm_id, name="other")) is None


@pytest.mark.parametrize(
    ("create", "entry", "verdict", "why"),
    [
        (create(VAULT, "recover", group="new"), row(VAULT), REFUSED, "a vault comes back in its former group only"),
        (create(VAULT, "RECOVER", location="West Europe"), row(VAULT), FINE, "modes and regions have no case"),
        (create(VAULT, "default"), row(VAULT), REFUSED, "a mode that does not recover"),
        (create(VAULT, "createOrRecover"), row(VAULT), FINE, "the run recovers it"),
        (create(VAULT, "purgeThenCreate"), row(VAULT), FINE, "the run purges it, as the manifest says"),
        (create(VAULT, "default", purges=True), row(VAULT), FINE, "the same, where the body already is Azure's"),
        (create(VAULT, purges=True), row(VAULT, purgeProtectionEnabled=True), REFUSED, "what is protected stays"),
        (create(VAULT, HiddenValue.LATER), row(VAULT), NOT_CHECKED, "a mode that only the run will know"),
        (create(VAULT, location=HiddenValue.LATER), row(VAULT), NOT_CHECKED, "or a region"),
        (create(WORKSPACE), row(WORKSPACE), WARNING, "any PUT recovers a workspace, data and settings included"),
        (create(WORKSPACE, location="northeurope"), row(WORKSPACE), REFUSED, "elsewhere its name is not unique"),
        (create(ACCOUNT, True, group="new"), row(ACCOUNT), None, "the name of an account is that of its group"),
    ],
)
def test_a_deleted_resource_must_fit_to_recover_it(create, entry, verdict, why):
    finding = evaluate(create, entry)
    assert (finding and finding.verdict) == verdict, why


def test_of_two_deleted_workspaces_that_of_the_group_counts():
    soft = SOFT_DELETES["microsoft.operationalinsights/workspaces"]
    rows = [{**row(WORKSPACE), "id": WORKSPACE.replace("/rg/", f"/{group}/")} for group in ("aaa", "rg", "zzz")]
    assert find_holder(create(WORKSPACE), soft, read_holders(rows, soft)).group == "rg"
    assert find_holder(create(WORKSPACE, group="new"), soft, read_holders(rows, soft)).group == "aaa"


def test_a_subdomain_is_held_as_well():
    body = {"location": "westeurope", "properties": {"customSubDomainName": "Talk"}}
    finding = evaluate(change(ACCOUNT.replace("kv1", "new"), body), row(ACCOUNT, customSubDomainName="TALK"))
    assert (finding.verdict, finding.code) == (REFUSED, "CustomDomainInUse")
    assert finding.message.startswith("The deleted Cognitive Services account kv1 holds the subdomain.")
    assert "set spec.azureName to kv1 and spec.properties.restore: true." in finding.advice


def test_the_advice_for_an_azure_resource_names_its_own_fields():
    key = Key("azure.gitsync", "AzureResource", "default", "kv1")
    for arm_id, field in ((VAULT, "createMode: recover"), (SERVICE, "restore: true")):
        there = replace(create(arm_id, location="northeurope"), key=key)
        advice = evaluate(there, row(arm_id)).advice
        assert f"and spec.body.properties.{field}." in advice
        assert "set spec.body.location to " in advice


@pytest.mark.parametrize(
    ("create", "entry", "message", "advice"),
    [
        (
            create(VAULT),
            row(VAULT),
            (
                f"The deleted key vault kv1 holds the name until {PURGED}. "
                "It was in resource group rg and location westeurope."
            ),
            (
                "To recover it with its contents, set spec.properties.createMode: recover. To delete it permanently, purge it: "
                f"`az keyvault purge --name kv1 --location westeurope --subscription {SUB[15:]}`. Otherwise choose another name."
            ),
        ),
        (
            create(VAULT, location="northeurope", group="new"),
            row(VAULT, purgeProtectionEnabled=True),
            (
                f"The deleted key vault kv1 holds the name until {PURGED}. "
                "It was in resource group rg and location westeurope."
            ),
            (
                "To recover it with its contents, set the owner to resource group rg and spec.location to westeurope and "
                f"spec.properties.createMode: recover. It is protected: it cannot be purged before {PURGED}. "
                "Otherwise choose another name."
            ),
        ),
        (
            create(SERVICE),
            row(SERVICE),
            (
                "The deleted API Management service kv1 holds the name. "
                "It was in resource group rg and location West Europe."
            ),
            (
                "To recover it with its contents, set spec.restore: true. To delete it permanently, purge it: `az apim "
                f"deletedservice purge --service-name kv1 --location 'West Europe' --subscription {SUB[15:]}`. "
                "Otherwise choose another name."
            ),
        ),
    ],
)
def test_a_finding_shows_the_two_options(create, entry, message, advice):
    finding = evaluate(create, entry)
    assert (finding.message, finding.advice) == (message, advice)


@pytest.mark.parametrize("arm_id", [VAULT, HSM, ACCOUNT, SERVICE, STORE])
@pytest.mark.parametrize("entry", [{}, {"name": 1}, {"name": "x"}, {"name": "x", "properties": {"vaultId": 1}}])
def test_an_unexpected_entry_reports_nothing(arm_id, entry):
    assert read_holders([row(arm_id), entry], SOFT_DELETES[change(arm_id).arm_type.casefold()]) is None


@pytest.mark.parametrize(
    ("answer", "verdict", "code"),
    [
        ({"nameAvailable": True}, FINE, ""),
        ({"nameAvailable": True, "reason": "Valid", "message": ""}, FINE, ""),
        ({"nameAvailable": False, "reason": "AlreadyExists", "message": "Taken."}, REFUSED, "AlreadyExists"),
        ({"nameAvailable": False}, REFUSED, "AlreadyExists"),
        ({"nameAvailable": False, "reason": "AccountNameInvalid"}, REFUSED, "InvalidResourceName"),
        ({"nameAvailable": False, "reason": "Invalid"}, REFUSED, "InvalidResourceName"),
        ({"nameAvailable": False, "reason": "SubscriptionIsDisabled"}, WARNING, "NameUnavailable"),
        ({"nameAvailable": "false"}, NOT_CHECKED, "UnusableAnswer"),
        ({}, NOT_CHECKED, "UnusableAnswer"),
    ],
)
def test_what_the_answer_about_a_name_means(answer, verdict, code):
    finding = evaluate_answer(answer, "stapp1")
    assert (finding.verdict, finding.code) == (verdict, code)
    assert "form" not in finding.advice or code == "InvalidResourceName"


def say(*rows) -> Say:
    return Say(200, {"value": list(rows)})


def forbid(action: str) -> Say:
    return Say(403, {"error": {"code": "AuthorizationFailed", "message": f"not allowed to perform action '{action}'"}})


TAKEN = Say(200, {"nameAvailable": False, "reason": "AlreadyExists", "message": "Taken."})
FREE = Say(200, {"nameAvailable": True})
CHECK_STORAGE = f"{SUB}/providers/Microsoft.Storage/checkNameAvailability"
CHECK_VAULT = f"{SUB}/providers/Microsoft.KeyVault/checkNameAvailability"


async def test_a_free_name_is_one_question():
    async with requesting() as (rig, requests):
        rig.server.on("POST", CHECK_STORAGE, FREE)
        found = await check_names([storage(), storage(group=f"{GROUP}2", name="stapp1")], requests)
        assert show(found) == [("stapp1", FINE, "")] * 2
        (seen,) = rig.server.seen
        assert (seen.query, seen.body) == (
            "api-version=2025-08-01",
            {"name": "stapp1", "type": "Microsoft.Storage/storageAccounts"},
        )


@pytest.mark.parametrize(
    ("resource", "verdict"),
    [
        (Say(404, {"error": {"code": "ResourceNotFound", "message": "no"}}), REFUSED),
        (Say(200, {"id": storage().arm_id}), FINE),
        (forbid("Microsoft.Storage/storageAccounts/read"), NOT_CHECKED),
    ],
)
async def test_a_taken_name_may_be_our_own(resource, verdict):
    async with requesting() as (rig, requests):
        rig.server.on("POST", CHECK_STORAGE, TAKEN)
        rig.server.on("GET", storage().arm_id, resource)
        finding = only(await check_names([storage()], requests))
        assert finding.verdict == verdict
        assert rig.server.lines == [f"POST {CHECK_STORAGE}", f"GET {storage().arm_id}"]


async def test_a_holder_in_this_subscription_needs_no_other_question():
    async with requesting() as (rig, requests):
        rig.server.on("GET", DELETED_VAULTS, say(row(VAULT)))
        changes = [create(VAULT), create(VAULT, "recover"), create(VAULT, group="other")]
        assert [finding.verdict for _, finding in await check_names(changes, requests)] == [REFUSED, FINE, REFUSED]
        assert rig.server.lines == [f"GET {DELETED_VAULTS}"]


async def test_the_recovery_of_nothing_is_refused():
    async with requesting() as (rig, requests):
        rig.server.on("GET", DELETED_VAULTS, say())
        finding = only(await check_names([create(VAULT, "recover")], requests))
        assert (finding.verdict, finding.code) == (REFUSED, "SoftDeletedVaultDoesNotExist")
        assert finding.message == "There is no deleted key vault kv1 that could be recovered."


async def test_what_was_recovered_already_is_fine():
    async with requesting() as (rig, requests):
        rig.server.on("GET", DELETED_VAULTS, say())
        rig.server.on("GET", VAULT, Say(200, {"id": VAULT}))
        assert only(await check_names([create(VAULT, "recover")], requests)).verdict == FINE


@pytest.mark.parametrize(
    ("deleted", "availability", "expected"),
    [
        (say(), FREE, [(FINE, "")]),
        (say(), TAKEN, [(REFUSED, "AlreadyExists")]),
        (forbid("Microsoft.KeyVault/deletedVaults/read"), FREE, [(NOT_CHECKED, "AuthorizationFailed")]),
        (forbid("Microsoft.KeyVault/deletedVaults/read"), TAKEN, [(REFUSED, "AlreadyExists")]),
        (say({"name": 1}), FREE, [(NOT_CHECKED, "UnusableAnswer")]),
        (
            forbid("a/read"),
            forbid("b/read"),
            [(NOT_CHECKED, "AuthorizationFailed"), (NOT_CHECKED, "AuthorizationFailed")],
        ),
    ],
)
async def test_no_answer_is_not_fine(deleted, availability, expected):
    async with requesting() as (rig, requests):
        rig.server.on("GET", DELETED_VAULTS, deleted)
        rig.server.on("POST", CHECK_VAULT, availability)
        found = await check_names([create(VAULT)], requests)
        assert [(finding.verdict, finding.code) for _, finding in found] == expected


async def test_the_right_that_is_missing_is_named():
    async with requesting() as (rig, requests):
        rig.server.on("POST", CHECK_STORAGE, forbid("Microsoft.Storage/checknameavailability/read"))
        finding = only(await check_names([storage()], requests))
        assert finding.missing_right == "Microsoft.Storage/checknameavailability/read"


@pytest.mark.parametrize(("status", "verdict"), [(200, REFUSED), (404, FINE), (403, NOT_CHECKED)])
async def test_the_name_of_a_cosmos_account_is_asked_by_head(status, verdict):
    async with requesting() as (rig, requests):
        path = "/providers/Microsoft.DocumentDB/databaseAccountNames/db1"
        rig.server.on("HEAD", path, Say(status))
        assert only(await check_names([change(COSMOS)], requests)).verdict == verdict
        assert rig.server.lines[0] == f"HEAD {path}"


@pytest.mark.parametrize(
    ("body", "answer", "expected"),
    [
        ({"domainNameLabel": "shop"}, {"available": True}, [("ip1", FINE, "")]),
        ({"domainNameLabel": "shop"}, {"available": False}, [("ip1", REFUSED, "AlreadyExists")]),
        ({"domainNameLabel": HiddenValue.LATER}, {}, [("ip1", NOT_CHECKED, "ValueNotKnownYet")]),
        ({}, {}, []),
    ],
)
async def test_the_label_of_a_public_address_is_asked_for_in_its_region(body, answer, expected):
    async with requesting() as (rig, requests):
        path = f"{SUB}/providers/Microsoft.Network/locations/westeurope/CheckDnsNameAvailability"
        rig.server.on("GET", path, Say(200, answer))
        address = change(ADDRESS, {"location": "West Europe", "properties": {"dnsSettings": body}})
        found = await check_names([address], requests)
        assert show(found) == expected
        assert all(finding.path == "/properties/dnsSettings/domainNameLabel" for _, finding in found if finding.code)
        assert not answer or rig.server.seen[0].query == "api-version=2025-01-01&domainNameLabel=shop"


@pytest.mark.parametrize(
    "other",
    [
        storage(action=Action.UPDATE),
        storage(action=Action.DELETE),
        change(f"{GROUP}/providers/Microsoft.Network/virtualNetworks/hub"),
        change(f"{GROUP}/providers/Microsoft.ServiceBus/namespaces/bus"),
    ],
)
async def test_other_changes_are_not_concerned(other):
    async with requesting() as (rig, requests):
        assert await check_names([other], requests) == []
        assert rig.server.lines == []


@pytest.mark.parametrize("unknown", [storage("<name>"), storage(doubt="no Secret has its subscription")])
async def test_a_name_that_is_not_known_yet_is_not_asked_for(unknown):
    async with requesting() as (rig, requests):
        finding = only(await check_names([unknown], requests))
        assert finding.verdict == NOT_CHECKED
        assert finding.message == unknown.id_gap != ""
        assert rig.server.lines == []


@pytest.mark.parametrize(
    ("arm_id", "live", "verdict", "why"),
    [
        (VAULT, {"properties": {"softDeleteRetentionInDays": 7}}, REFUSED, "its own delete would hold the name"),
        (WORKSPACE, {}, REFUSED, "the create would bring the deleted one back"),
        (STORE, {"sku": {"name": "standard"}}, REFUSED, "as a store does"),
        (STORE, {"sku": {"name": "Free"}}, FINE, "but not a free one"),
        (storage().arm_id, {}, FINE, "the name of an account is free at once"),
    ],
)
async def test_a_replacement_must_not_keep_its_own_name(arm_id, live, verdict, why):
    async with requesting() as (rig, requests):
        finding = only(await check_names([change(arm_id, live_body=live, replaces=True)], requests))
        assert finding.verdict == verdict, why
        assert arm_id != VAULT or "for 7 days" in finding.message
        assert rig.server.lines == []
