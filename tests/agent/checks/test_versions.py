"""The check `versions`: api-versions and locations that a provider does not list, and what is requested for it."""

import pytest

from gitsync.agent.checks.check_requests import CheckRequests
from gitsync.agent.checks.versions import check_versions, evaluate, find_manifest_version, read_listings
from gitsync.model.arm_id import ArmId
from gitsync.model.check import CheckVerdict, HiddenValue, PlannedChange
from gitsync.model.gvk import Key
from gitsync.model.verdict import Action
from tests.support.arm_rig import GROUP, SUBSCRIPTION, rigged
from tests.support.scripted_server import Say

SUB = f"/subscriptions/{SUBSCRIPTION}"
PROVIDER = f"{SUB}/providers/Microsoft.Storage"
STORAGE = {
    "namespace": "Microsoft.Storage",
    "resourceTypes": [
        {
            "resourceType": "storageAccounts",
            "apiVersions": ["2024-01-01-preview", "2023-01-01", "2022-09-01"],
            "locations": ["West Europe", "North Europe"],
        },
        {"resourceType": "deletedAccounts", "apiVersions": ["2023-01-01"], "locations": []},
        {"resourceType": "operations", "apiVersions": ["2023-01-01"]},
    ],
}


def change(version="2023-01-01", location="westeurope", action=Action.CREATE, below="storageAccounts", **more):
    return PlannedChange(
        **{
            "key": Key("storage.azure.com", "StorageAccount", "default", "app"),
            "action": action,
            "arm_id": ArmId(f"{GROUP}/providers/Microsoft.Storage/storageAccounts/app"),
            "arm_type": f"Microsoft.Storage/{below}",
            "api_version": version,
            "body": None if action is Action.DELETE else {"location": location} if location else {},
            **more,
        }
    )


@pytest.mark.parametrize(
    ("change", "verdict", "path", "why"),
    [
        (change(), "fine", "", "both are listed"),
        (change(below="STORAGEACCOUNTS"), "fine", "", "types have no case"),
        (change("2024-01-01-PREVIEW"), "fine", "", "versions have no case"),
        (change(location="North Europe"), "fine", "", "a display name"),
        (change(location=None), "fine", "", "a body without a location"),
        (change("2016-01-01"), "refused", "", "a version that was cut off"),
        (change("2016-01-01", action=Action.UPDATE), "refused", "", "for changes too"),
        (change("2016-01-01", action=Action.DELETE), "refused", "", "and for deletes"),
        (change(action=Action.DELETE), "fine", "", "a delete has no location"),
        (change(location="antarctica"), "refused", "/location", "a region without the type"),
        (change(location=HiddenValue.LATER), "not-checked", "/location", "a region that only the run will know"),
        (change(below="deletedAccounts", location="antarctica"), "fine", "", "a global type is in every region"),
        (change(below="operations", location="antarctica"), "fine", "", "no locations are the same as an empty list"),
        (change(below="storageAccounts/blobServices/containers"), "fine", "", "a child that is not listed: its parent"),
        (change("2016-01-01", below="storageAccounts/managementPolicies"), "not-checked", "", "that would be a guess"),
        (change(below="unheardOf"), "not-checked", "", "no metadata is complete"),
    ],
)
def test_what_the_metadata_means_for_a_change(change, verdict, path, why):
    (finding,) = evaluate(change, read_listings(STORAGE))
    assert (finding.verdict.value, finding.path) == (verdict, path), why


def test_the_advice_names_the_api_version_of_the_manifest():
    (finding,) = evaluate(change("2016-01-01"), read_listings(STORAGE))
    assert finding.advice == "Set apiVersion to storage.azure.com/v20230101."
    assert (
        finding.message
        == "The provider does not list the api-version 2016-01-01 for Microsoft.Storage/storageAccounts."
    )


def test_the_advice_for_an_azure_resource_names_its_own_fields():
    key = Key("azure.gitsync", "AzureResource", "default", "app")
    version, location = evaluate(change("2016-01-01", location="antarctica", key=key), read_listings(STORAGE))
    assert version.advice == "Set spec.type to Microsoft.Storage/storageAccounts@2023-01-01."
    assert location.advice.startswith("Set spec.body.location to a region that it lists: ")


def test_the_advice_names_the_newest_stable_version_if_no_manifest_can_have_it():
    rows = [{"resourceType": "storageAccounts", "apiVersions": ["2099-01-01", "2099-06-01-preview"]}]
    (finding,) = evaluate(change(), read_listings({"resourceTypes": rows}))
    assert finding.advice.endswith("The newest is 2099-01-01.")


def test_what_git_no_longer_has_is_deleted_by_hand():
    (finding,) = evaluate(change("2016-01-01", action=Action.DELETE), read_listings(STORAGE))
    assert f"az resource delete --ids {GROUP}/providers/Microsoft.Storage/storageAccounts/app" in finding.advice
    assert finding.advice.endswith("--api-version 2023-01-01`.")


def test_the_advice_names_some_regions():
    names = [f"Region {letter}" for letter in "abcdefghijk"]
    rows = [{"resourceType": "storageAccounts", "apiVersions": ["2023-01-01"], "locations": names}]
    (finding,) = evaluate(change(), read_listings({"resourceTypes": rows}))
    assert finding.advice.endswith("regiona, regionb, regionc, regiond, regione, regionf, regiong, regionh and 3 more.")


def test_a_stable_version_is_preferred_to_a_newer_preview():
    versions = ["2021-04-01-preview", "2023-07-01"]
    assert find_manifest_version("Microsoft.KeyVault/vaults", versions) == "keyvault.azure.com/v1api20210401preview"
    assert find_manifest_version("Microsoft.KeyVault/vaults", ["1999-01-01"]) == ""
    rows = [{"resourceType": "vaults", "apiVersions": versions}]
    vault = change("2016-10-01", arm_type="Microsoft.KeyVault/vaults")
    assert evaluate(vault, read_listings({"resourceTypes": rows}))[0].advice.endswith(
        "keyvault.azure.com/v1api20230701."
    )


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"resourceTypes": {}},
        {"resourceTypes": [1]},
        {"resourceTypes": [{"resourceType": "storageAccounts"}]},
        {"resourceTypes": [{"resourceType": "storageAccounts", "apiVersions": []}]},
        {"resourceTypes": [{"resourceType": "storageAccounts", "apiVersions": ["2023-01-01"], "locations": "all"}]},
    ],
)
def test_unexpected_metadata_reports_nothing(answer):
    assert read_listings(answer) is None


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"resourceTypes": []}, "The provider lists no resource types."),
        ({"resourceTypes": [1]}, "Azure's list of the provider's resource types is malformed."),
        ({}, "Azure's list of the provider's resource types is malformed."),
    ],
)
async def test_without_types_nothing_is_checked(answer, message):
    class Answering:
        async def read(self, _path, _version):
            return answer

    [(_, finding)] = await check_versions([change()], Answering())
    assert (finding.verdict, finding.message) == (CheckVerdict.NOT_CHECKED, message)


async def _query(changes, *answers):
    async with rigged() as rig:
        rig.server.on("GET", PROVIDER, *answers)
        found = await check_versions(changes, CheckRequests(rig.arm, rig.talk))
        return [finding for _, finding in found], rig.server.seen


async def test_a_provider_is_asked_once():
    found, seen = await _query([change(), change("2016-01-01"), change(below="deletedAccounts")], Say(200, STORAGE))
    assert [finding.verdict.value for finding in found] == ["fine", "refused", "fine"]
    assert [(request.line.casefold(), request.query) for request in seen] == [
        (f"GET {PROVIDER}".casefold(), "api-version=2021-04-01")
    ]


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        (Say(200, {}), ""),
        (Say(200, "<html>"), ""),
        (Say(404, {"error": {"code": "InvalidResourceNamespace", "message": "no"}}), ""),
        (
            Say(403, {"error": {"code": "AuthorizationFailed", "message": "not allowed to perform action 'a/b/read'"}}),
            "a/b/read",
        ),
    ],
)
async def test_no_answer_is_not_fine(answer, right):
    (finding,), _ = await _query([change()], answer)
    assert (finding.verdict.value, finding.missing_right) == ("not-checked", right)


@pytest.mark.parametrize(
    "unknown", [{"arm_id": ArmId("/subscriptions/<id>/resourceGroups/rg")}, {"doubt": "no Secret has it"}]
)
async def test_nothing_is_asked_of_a_subscription_that_is_not_known(unknown):
    (finding,), seen = await _query([change(**unknown)])
    assert finding.message.startswith("The ARM id is not known yet")
    assert seen == []


async def test_a_resource_of_the_tenant_is_looked_up_there():
    alias = change(
        arm_id=ArmId("/providers/Microsoft.Subscription/aliases/one"), arm_type="Microsoft.Subscription/aliases"
    )
    (finding,), seen = await _query([alias])
    assert seen[0].line == "GET /providers/Microsoft.Subscription"
    assert finding.verdict == "not-checked"
