"""Azure's recorded answers to checks, where they are available: the emulator answers in the same shapes."""

import json

import pytest

from gitsync.emulator.http.target import parse
from gitsync.emulator.settings import (
    ANONYMOUS,
    EmulatedPrincipal,
    EmulatedQuota,
    EmulatorSettings,
    ListedType,
    TakenName,
)
from gitsync.emulator.state.deleted_resources import SHOWN, SOFT_DELETES, ConfiguredDeletion
from gitsync.emulator.types.names import NAME_CHECKS
from gitsync.emulator.types.quotas import USAGE_NAMESPACES
from tests.emulator.asked import TestClock, emulated
from tests.support.recordings import FOLDER, needs_recordings

CHECKS = FOLDER / "arm-traffic-az" / "checks"

pytestmark = needs_recordings(CHECKS)


def read(*names):
    lines = [line for name in names for line in (CHECKS / f"{name}.jsonl").read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines]


def read_if_there(*names):
    return read(*names) if CHECKS.exists() else []


def path_of(row):
    return row["path"].replace("/subscriptions/00000000-0000-0000-0000-000000000000", "/subscriptions/1")


def version_of(row):
    return dict(pair.split("=", 1) for pair in row["query"].split("&"))["api-version"]


def shape(value):
    """The members of a value, at every depth; a list has the shape of its first entry."""
    if isinstance(value, dict):
        return {name: shape(member) for name, member in value.items() if name != "tags"}
    return [shape(member) for member in value[:1]] if isinstance(value, list) else None


DELETED = [
    row
    for row in read_if_there("deletedVaults", "deletedManagedHSMs", "deletedServices", "deletedConfigurationStores")
    if row["status"] == 200
    and row["method"] == "GET"
    and "properties" in (row["answer"] or {})
    and "value" not in row["answer"]
    if parse(row["path"]).type.casefold() in SHOWN
]


def make_deletion(entry):
    """What the settings have to say for an entry."""
    properties = entry["properties"]
    former = next(value for name, value in properties.items() if name.endswith("Id"))
    return ConfiguredDeletion(
        id=former.replace("/subscriptions/00000000-0000-0000-0000-000000000000", "/subscriptions/1"),
        location=entry.get("location") or properties["location"],
        purge_protection=properties.get("purgeProtectionEnabled", False),
    )


@pytest.mark.parametrize("row", DELETED, ids=[row["path"].rpartition("/")[2] for row in DELETED])
async def test_what_was_deleted_is_shown_as_recorded(row):
    recorded = row["answer"]
    async with emulated(EmulatorSettings(limits=None, deleted=(make_deletion(recorded),))) as azure:
        shown = (await azure.get(path_of({"path": recorded["id"]}), version=version_of(row))).body
    assert shape(shown) == shape(recorded)
    assert (shown["id"], shown["type"]) == (path_of({"path": recorded["id"]}), recorded["type"])


async def test_a_deleted_account_is_shown_as_recorded():
    row = next(row for row in read("deletedAccounts") if row["method"] == "GET")
    former = path_of(row).replace(
        "locations/SOUTHCENTRALUS/resourceGroups/clitest.rg000001/deletedAccounts", "accounts"
    )
    account = former.replace("/providers/", "/resourceGroups/clitest.rg000001/providers/")
    body = {"location": "SOUTHCENTRALUS", "kind": "FormRecognizer", "sku": {"name": "S0"}}
    async with emulated(EmulatorSettings(limits=None)) as azure:
        await azure.put("/subscriptions/1/resourceGroups/clitest.rg000001")
        await azure.made(account, {**body, "properties": {"publicNetworkAccess": "Enabled"}})
        await azure.delete(account)
        shown = (await azure.get(path_of(row), version=version_of(row))).body
    recorded = row["answer"]
    assert (shown["type"], shown["location"], shown["sku"]) == (recorded["type"], recorded["location"], recorded["sku"])
    assert {*shown} <= {*recorded}
    assert {*shown["properties"]} <= {*recorded["properties"]}
    assert {"deletionDate", "scheduledPurgeDate"} <= {*shown["properties"]}


NAMES = [
    row
    for row in read_if_there("nameAvailability")
    if row["status"] == 200 and row["method"] == "POST"
    if (target := parse(row["path"])) and (target.namespace.casefold(), target.types[-1].casefold()) in NAME_CHECKS
    if len(target.types) == 1 or target.types[0] == "locations"
    if "DBfor" not in row["path"] or "flexibleServers" in row["sent"]["type"]  # others are retired
]


@pytest.mark.parametrize(
    "row", NAMES, ids=[f"{index}-{parse(row['path']).namespace}" for index, row in enumerate(NAMES)]
)
async def test_a_name_is_answered_as_recorded(row):
    target = parse(row["path"])
    unique = NAME_CHECKS[target.namespace.casefold(), target.types[-1].casefold()]
    recorded = row["answer"]
    is_free = recorded[unique.flag]
    taken = () if is_free else (TakenName(type=unique.type, name=row["sent"][unique.member]),)
    sent = row["sent"]
    if target.namespace == "Microsoft.Cdn":
        sent = {**sent, "type": unique.type}
    async with emulated(EmulatorSettings(limits=None, taken_names=taken)) as azure:
        reply = await azure.send_request("POST", path_of(row), sent, version=version_of(row))
    assert (reply.status, {*reply.body}) == (200, {*recorded})
    assert {name: value for name, value in reply.body.items() if name != "type"} == {
        name: value for name, value in recorded.items() if name != "type"
    }


USAGES = [row for row in read_if_there("usages") if parse(row["path"]).namespace.casefold() in USAGE_NAMESPACES]


@pytest.mark.parametrize(
    "row", USAGES, ids=[f"{index}-{parse(row['path']).namespace}" for index, row in enumerate(USAGES)]
)
async def test_usages_are_listed_as_recorded(row):
    target = parse(row["path"])
    recorded = row["answer"]["value"]
    quotas = tuple(
        EmulatedQuota(
            provider=target.namespace,
            location=target.names[0],
            name=entry["name"]["value"],
            limit=entry["limit"],
            used=entry["currentValue"],
        )
        for entry in recorded
    )
    async with emulated(EmulatorSettings(limits=None, quotas=quotas)) as azure:
        shown = (await azure.get(path_of(row), version=version_of(row))).body["value"]
    assert [(entry["name"]["value"], entry["limit"], entry["currentValue"]) for entry in shown[: len(recorded)]] == [
        (entry["name"]["value"], entry["limit"], entry["currentValue"]) for entry in recorded
    ]
    assert {entry["limit"] for entry in shown[len(recorded) :]} <= {2**31 - 1}, "newer names, without a limit"
    for ours, theirs in zip(shown, recorded, strict=False):
        assert {*theirs} <= {*ours}, "older versions lack isAdjustable"


PROVIDERS = [
    row for row in read_if_there("provider") if row["status"] == 200 and "resourceTypes" in (row["answer"] or {})
]


@pytest.mark.parametrize("row", PROVIDERS, ids=[row["answer"]["namespace"] for row in PROVIDERS])
async def test_a_provider_is_shown_as_recorded(row):
    recorded = row["answer"]
    listed = tuple(
        ListedType(
            type=f"{recorded['namespace']}/{entry['resourceType']}",
            api_versions=tuple(entry["apiVersions"]),
            locations=tuple(entry.get("locations", ())),
            capabilities=tuple(entry["capabilities"].split(", ")) if "capabilities" in entry else (),
        )
        for entry in recorded["resourceTypes"]
    )
    async with emulated(EmulatorSettings(limits=None, versions=listed)) as azure:
        shown = (await azure.get(path_of(row), version=version_of(row))).body
    ours = {entry["resourceType"]: entry for entry in shown["resourceTypes"]}
    for theirs in recorded["resourceTypes"]:
        same = ours[theirs["resourceType"]]
        assert same["apiVersions"] == theirs["apiVersions"]
        # Some providers spell a display name in their own case.
        assert [*map(str.casefold, same["locations"])] == [*map(str.casefold, theirs.get("locations", []))]
        assert same["capabilities"] == theirs.get("capabilities", "None")
    assert {"id", "namespace", "registrationPolicy", "registrationState", "resourceTypes"} == {*shown}


PURGES = [
    row
    for row in read_if_there("deletedVaults", "deletedManagedHSMs", "deletedAccounts", "deletedServices")
    if row["method"] in {"POST", "DELETE"}
]


@pytest.mark.parametrize("row", PURGES, ids=[f"{row['method']}-{row['path'].split('/')[-2]}" for row in PURGES])
async def test_a_purge_is_answered_as_recorded(row):
    target = parse(row["path"].removesuffix("/purge"))
    kind = SHOWN[target.type.casefold()]
    group = target.names[1] if SOFT_DELETES[kind].holds_in_group else "any"
    former = f"/subscriptions/1/resourceGroups/{group}/providers/{kind}/{target.names[-1]}"
    deletion = ConfiguredDeletion(id=former, location=target.names[0])
    async with emulated(EmulatorSettings(limits=None, deleted=(deletion,))) as azure:
        reply = await azure.send_request(row["method"], path_of(row), version=version_of(row))
    assert reply.status == row["status"]
    polled = {"azure-asyncoperation", "location"}
    assert {name.casefold() for name in reply.headers} & polled == {*row["headers"]} & polled


AMY = EmulatedPrincipal(client=ANONYMOUS, object="o-amy", tenant="t", user="someone@example.com", app="Azure CLI")


async def test_rows_of_the_activity_log_are_shown_as_recorded():
    clock, row = TestClock(), read("activityLog")[-1]
    recorded = row["answer"]["value"]
    async with emulated(EmulatorSettings(limits=None, principals=(AMY,)), clock=clock) as azure:
        for request in reversed(recorded):
            if request["status"]["value"] != "Started":
                continue
            clock.seconds += 10
            method, path = request["httpRequest"]["method"], request["resourceId"]
            if request["resourceGroupName"]:
                azure.emulator.put(parse(path).group_path, {})
            sent = {"x-ms-client-request-id": request["httpRequest"]["clientRequestId"]}
            sent["x-ms-correlation-request-id"] = request["correlationId"]
            await azure.send_request(method, path, json.loads(request["properties"].get("requestbody", "null")), **sent)
        clock.seconds += 600
        span = "eventTimestamp ge 2026-01-01T00:00:00Z and resourceProvider eq Microsoft.Authorization"
        shown = (await azure.get(f"{row['path']}?$filter={span}", version="2015-04-01")).body["value"]
    ours = {(request["correlationId"], request["status"]["value"]): request for request in shown}
    for request in recorded:
        mine = ours[request["correlationId"], request["status"]["value"]]
        assert {*mine} == {*request}
        assert {*mine["claims"]} <= {*request["claims"]}
        for name in ("operationName", "resourceType", "resourceProviderName", "category", "eventName", "status"):
            assert mine[name]["value"] == request[name]["value"], name
        for name in ("caller", "channels", "level", "operationId", "resourceId", "resourceGroupName"):
            assert mine[name] == request[name], name
        if mine["subStatus"]["value"] == request["subStatus"]["value"]:  # Azure calls an updated role Created
            assert mine["subStatus"] == request["subStatus"]
        assert {*request["properties"]} - {*mine["properties"]} <= {"responseBody"}


async def test_a_start_long_ago_is_refused_as_recorded():
    row = read("activityLog")[0]
    async with emulated() as azure:
        reply = await azure.get(
            f"{path_of(row)}?{row['query'].partition('&')[2].replace('+', '%2B')}", version=version_of(row)
        )
    assert (reply.status, reply.body) == (row["status"], row["answer"])


async def test_a_query_of_resource_graph_is_refused_as_recorded():
    row = next(row for row in read("resourceGraph") if row["status"] == 400)
    async with emulated() as azure:
        reply = await azure.send_request("POST", row["path"], row["sent"], version=version_of(row))
    error, recorded = reply.body["error"], row["answer"]["error"]
    assert (reply.status, error["code"], error["details"][0]) == (400, recorded["code"], recorded["details"][0])
    assert error["message"].split("timestamp")[0] == recorded["message"].split("timestamp")[0]
    names = {name for name in row["headers"] if name.startswith("x-ms-user-quota")}
    assert {name: reply.headers[name] for name in names} == {name: row["headers"][name] for name in names}
