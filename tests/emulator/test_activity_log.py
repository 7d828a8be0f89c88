"""The Activity Log: rows of each write, the filters that Azure documents, pages, and what is never shown."""

import json
from dataclasses import replace
from urllib.parse import quote

import pytest

from gitsync.emulator.faults import Canned, FaultRule, Match, Move
from gitsync.emulator.governance.policies import Effect, EmulatedPolicy, Operator, PolicyCondition
from gitsync.emulator.http.messages import Course
from gitsync.emulator.settings import ANONYMOUS, ChangeLogSettings, Denial, EmulatedPrincipal
from gitsync.emulator.state.store import SqliteStore
from tests.emulator.asked import GROUP, OPEN, SUBSCRIPTION, VNET, TestClock, at, emulated

ACCOUNT = at("Microsoft.Storage/storageAccounts", "one")
LOG = f"{SUBSCRIPTION}/providers/Microsoft.Insights/eventtypes/management/values"
SPAN = "eventTimestamp ge '2026-01-01T00:00:00Z' and eventTimestamp le '2026-06-01T00:00:00Z'"
BODY = {"location": "westeurope", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}, "properties": {"password": "p"}}
ROB = EmulatedPrincipal(client=ANONYMOUS, object="o-rob", tenant="t", user="rob.r@contoso.com", app="Azure CLI")
ROBOT = "5f0c7a52-5d0a-4c55-9f6e-2f0f9d9f7f10"


async def read(azure, condition="", *, span=SPAN, more="", path=LOG, version="2015-04-01"):
    return await azure.get(f"{path}?$filter={quote(span + condition)}{more}", version=version)


async def rows(azure, condition="", **requested):
    reply = await read(azure, condition, **requested)
    assert reply.status == 200, reply.body
    return reply.body["value"]


def brief(row):
    return row["eventName"]["value"], row["status"]["value"], row["subStatus"]["value"]


@pytest.fixture
async def clock():
    return TestClock()


@pytest.fixture
async def azure(clock):
    async with emulated(replace(OPEN, principals=(ROB,)), clock=clock) as azure:
        azure.emulator.put(GROUP, {"location": "westeurope"})
        clock.seconds += 10
        yield azure


async def test_a_write_has_a_begin_and_an_end(azure, clock):
    await azure.put(VNET, x_ms_correlation_request_id="c-1", x_ms_client_request_id="r-1")
    await azure.settled(VNET)
    path = f"{VNET}/subnets/a"
    await azure.put(path, {"properties": {"addressPrefix": "10.0.0.0/24"}}, x_ms_correlation_request_id="c-2")
    await azure.settled(path)
    await azure.send_request("PATCH", GROUP, {"tags": {"a": "b", "password": "p"}}, x_ms_correlation_request_id="c-3")
    clock.seconds += 600
    end, begin = await rows(azure, " and correlationId eq 'c-3'")
    assert (brief(begin), brief(end)) == (("BeginRequest", "Started", ""), ("EndRequest", "Succeeded", "OK"))
    assert {row["operationId"] for row in (begin, end)} == {"c-3"}
    assert begin["operationName"]["value"] == "Microsoft.Resources/subscriptions/resourceGroups/write"
    assert json.loads(begin["properties"]["requestbody"]) == {"tags": {"a": "b"}}, "without secrets"
    assert "requestbody" not in end["properties"]
    final, accepted, begin = await rows(azure, " and correlationId eq 'c-1'")
    assert [brief(row)[:2] for row in (begin, accepted, final)] == [
        ("BeginRequest", "Started"),
        ("EndRequest", "Accepted"),
        ("EndRequest", "Succeeded"),
    ]
    assert begin["httpRequest"] == {"clientRequestId": "r-1", "clientIpAddress": "203.0.113.7", "method": "PUT"}
    child = (await rows(azure, " and correlationId eq 'c-2'"))[0]
    assert (child["resourceId"], child["resourceGroupName"]) == (path, "net")
    assert child["resourceType"]["value"] == "Microsoft.Network/virtualNetworks/subnets"
    assert "httpRequest" not in child, "no row needs to have it"


async def test_what_runs_has_no_final_row_and_what_fails_says_why(clock):
    fails = FaultRule(
        match=Match(methods=("PUT",), type="microsoft.network/virtualnetworks"),
        course=Course(polls=1, result="Failed", error={"code": "NoAddress", "message": "There is none left."}),
    )
    sold_out = FaultRule(match=Match(methods=("PUT",), type="*/storageaccounts"), answer=Canned(code="SkuNotAvailable"))
    busy = FaultRule(match=Match(methods=("PUT",), type="*/caches"), answer=Canned(code="TooManyRequests"))
    async with emulated(replace(OPEN, rules=(fails, sold_out, busy)), clock=clock, has_group=True) as azure:
        await azure.put(VNET)
        await azure.put(ACCOUNT, BODY)
        await azure.put(at("Contoso.Cache/caches", "one"))
        await azure.put(at("Contoso.Things/things", "one", scope=f"{SUBSCRIPTION}/resourceGroups/gone"))
        clock.seconds += 600
        running = await rows(azure, " and resourceProvider eq 'Microsoft.Network'")
        await azure.settled(VNET)
        clock.seconds += 600
        over = await rows(azure, " and resourceProvider eq 'Microsoft.Network'")
        [refused, _] = await rows(azure, " and resourceProvider eq 'Microsoft.Storage'")
        [missing, _] = await rows(azure, " and resourceGroupName eq 'gone'")
        throttled = await rows(azure, " and resourceProvider eq 'Contoso.Cache'")
    assert [brief(row)[1] for row in running] == ["Accepted", "Started"]
    assert [brief(row)[1] for row in over] == ["Failed", "Accepted", "Started"]
    assert json.loads(over[0]["properties"]["statusMessage"])["error"]["code"] == "NoAddress"
    assert (brief(refused), refused["level"]) == (("EndRequest", "Failed", "Conflict"), "Error")
    assert json.loads(refused["properties"]["statusMessage"])["error"]["code"] == "SkuNotAvailable"
    assert brief(missing) == ("EndRequest", "Failed", "NotFound")
    assert throttled == [], "the gateway logs nothing of what it throttles"


async def test_reads_and_questions_are_not_logged_and_actions_are(azure, clock):
    await azure.made(ACCOUNT, BODY)
    await azure.get(ACCOUNT)
    await azure.send_request("POST", f"{SUBSCRIPTION}/providers/Microsoft.Storage/checkNameAvailability", {"name": "x"})
    await azure.send_request("POST", f"{ACCOUNT}/listKeys")
    clock.seconds += 600
    found = await rows(azure, " and resourceProvider eq 'Microsoft.Storage'")
    assert {(row["operationName"]["value"], row["resourceId"]) for row in found} == {
        ("Microsoft.Storage/storageAccounts/write", ACCOUNT),
        ("Microsoft.Storage/storageAccounts/listKeys/action", ACCOUNT),
    }


CALLERS = {
    "person": (
        {"by": "amy@contoso.com", "client": "Azure Portal"},
        "amy@contoso.com",
        {"appid": "c44b4083-3bb0-49c1-b47d-974e53cbdf3c", "name": "Amy", "appidacr": "0"},
    ),
    "application": ({"by": ROBOT}, "GUID", {"appid": ROBOT, "idtyp": "app", "appidacr": "2"}),
    "unknown": ({}, None, {}),
}


@pytest.mark.parametrize("name", CALLERS)
async def test_the_claims_say_who_it_was(azure, clock, name):
    by, caller, some = CALLERS[name]
    azure.emulator.put(ACCOUNT, BODY)
    correlation = azure.emulator.move(ACCOUNT, Move(delete=True, **by))
    clock.seconds += 600
    found = await rows(azure, f" and correlationId eq '{correlation}'")
    row, claims = found[0], found[0]["claims"]
    assert [brief(row)[1] for row in found] == ["Succeeded", "Started"]
    assert row["operationName"]["value"] == "Microsoft.Storage/storageAccounts/delete"
    object_id = claims.get("http://schemas.microsoft.com/identity/claims/objectidentifier")
    assert row.get("caller") == (object_id if caller == "GUID" else caller)
    assert {name: claims[name] for name in some} == some
    upn = claims.get("http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn")
    assert upn == (caller if name == "person" else None)
    assert ("ipaddr" in claims) is (name == "person")


async def test_the_claims_of_a_token_are_in_the_log(clock):
    identity = at("Microsoft.ManagedIdentity/userAssignedIdentities", "robot")
    robot = EmulatedPrincipal(client=ROBOT, object="o-robot", tenant="t", identity=identity)
    settings = replace(OPEN, principals=(robot, replace(ROB, client="cli")), require_token=True)
    async with emulated(settings, clock=clock) as azure:
        for principal in settings.principals:
            await azure.put(GROUP, Authorization=f"Bearer {azure.emulator.tokens.token(principal)}")
            clock.seconds += 600
        token = azure.emulator.tokens.token(robot)
        azure.headers["Authorization"] = f"Bearer {token}"
        rob, _, own, _ = await rows(azure)
    assert (rob["caller"], rob["claims"]["appid"]) == ("rob.r@contoso.com", "cli")
    assert (own["caller"], own["claims"]["appid"], own["claims"]["xms_mirid"]) == ("o-robot", ROBOT, identity)


async def test_azures_own_changes_are_not_in_it(azure, clock):
    azure.emulator.put(ACCOUNT, BODY)
    azure.emulator.move(ACCOUNT, Move(set={"/tags": {"a": "b"}}, by="System"))
    clock.seconds += 600
    assert len(await rows(azure, f" and resourceUri eq '{ACCOUNT}'")) == 2


def policy(effect, **more):
    return EmulatedPolicy(name=effect.value, scope=SUBSCRIPTION, effect=effect, **more)


async def test_policies_have_rows_of_their_own(clock):
    new = PolicyCondition(field="tags.env", operator=Operator.EXISTS, values=(False,))
    big = PolicyCondition(field="sku.name", operator=Operator.EQUALS, values=("Premium_LRS",))
    policies = (
        policy(Effect.MODIFY, conditions=(new,), field="tags.env", value="dev"),
        policy(Effect.AUDIT, conditions=(PolicyCondition(field="kind", values=(True,)),)),
        policy(Effect.DENY, conditions=(big,)),
    )
    async with emulated(replace(OPEN, policies=policies, principals=(ROB,)), clock=clock, has_group=True) as azure:
        await azure.put(ACCOUNT, BODY, x_ms_correlation_request_id="good")
        await azure.settled(ACCOUNT)
        await azure.put(ACCOUNT, BODY | {"sku": {"name": "Premium_LRS"}}, x_ms_correlation_request_id="bad")
        clock.seconds += 600
        good, bad = [await rows(azure, f" and correlationId eq '{name}'") for name in ("good", "bad")]
    of_policies = [row for row in good + bad if row["category"]["value"] == "Policy"]
    assert [(row["operationName"]["value"], row["level"], row["status"]["value"]) for row in of_policies] == [
        ("Microsoft.Authorization/policies/modify/action", "Warning", "Succeeded"),
        ("Microsoft.Authorization/policies/audit/action", "Warning", "Succeeded"),
        ("Microsoft.Authorization/policies/deny/action", "Error", "Failed"),
    ]
    assert {(row["resourceId"], row["caller"]) for row in of_policies} == {(ACCOUNT, "rob.r@contoso.com")}
    [said] = json.loads(of_policies[0]["properties"]["policies"])
    assert said["policyAssignmentId"] == f"{SUBSCRIPTION}/providers/Microsoft.Authorization/policyAssignments/modify"
    assert brief(bad[0]) == ("EndRequest", "Failed", "Forbidden")


async def test_a_remediation_is_made_by_the_identity_of_its_policy(clock):
    tag = policy(Effect.MODIFY, conditions=(PolicyCondition(),), field="tags.env", value="dev")
    async with emulated(replace(OPEN, policies=(tag,)), clock=clock) as azure:
        azure.emulator.put(ACCOUNT, BODY)
        correlation = azure.emulator.move(ACCOUNT, Move(set={"/tags/env": "dev"}, by="Modify"))
        clock.seconds += 600
        found = await rows(azure, f" and correlationId eq '{correlation}'")
    assert {row["claims"]["xms_mirid"] for row in found} == {tag.id}
    assert [row["category"]["value"] for row in found] == ["Administrative", "Policy", "Administrative"]


async def test_rows_come_late_and_go_after_90_days(azure, clock):
    azure.emulator.put(ACCOUNT, BODY)
    start, seen = clock.seconds, []
    for seconds in (179, 181, 89 * 86_400):
        clock.seconds = start + seconds
        seen.append(len(await rows(azure, " and resourceProvider eq 'Microsoft.Storage'")))
    assert seen == [0, 2, 2]
    [row, _] = await rows(azure, f" and resourceUri eq '{ACCOUNT.upper()}'")
    assert (row["eventTimestamp"], row["submissionTimestamp"]) == (
        "2026-01-01T00:00:10.001000Z",
        "2026-01-01T00:03:10Z",
    )
    clock.seconds = start + 90 * 86_400
    late = await read(azure)
    assert late.status == 400
    assert late.body == {
        "code": "BadRequest",
        "message": "The start time cannot be more than 90 days in the past.",
    }
    assert await rows(azure, span="eventTimestamp ge '2026-01-01T00:01:00Z'") == []


FILTERS = {
    "no end": ("eventTimestamp ge '2026-01-01T00:00:00Z'", 4),
    "an end before": ("eventTimestamp ge '2026-01-01T00:00:00Z' and eventTimestamp le '2026-01-01T00:00:05Z'", 2),
    "without quotes, as the Azure CLI": ("eventTimestamp ge 2026-01-01T00:00:05Z", 2),
    "another order, as the Azure CLI": (f"resourceProvider eq 'Microsoft.Storage' and {SPAN}", 2),
    "group": (f"{SPAN} and resourceGroupName eq 'NET'", 4),
    "another group": (f"{SPAN} and resourceGroupName eq 'other'", 0),
    "resource": (f"{SPAN} and resourceUri eq '{ACCOUNT}'", 2),
    "channels": (f"{SPAN} and eventChannels eq 'Admin, Operation'", 4),
    "caller and status": (f"{SPAN} and caller eq 'amy@contoso.com' and status eq 'Started'", 1),
    "no start": ("eventTimestamp le '2026-01-01T00:00:00Z'", 400),
    "nothing": ("", 400),
    "two conditions": (f"{SPAN} and resourceGroupName eq 'net' and correlationId eq 'c'", 400),
    "the same twice": (f"{SPAN} and eventTimestamp ge '2026-01-01T00:00:00Z'", 400),
    "or": (f"{SPAN} or resourceGroupName eq 'net'", 400),
    "another operator": ("eventTimestamp gt '2026-01-01T00:00:00Z'", 400),
    "another name": (f"{SPAN} and level eq 'Error'", 400),
    "no time": ("eventTimestamp ge 'yesterday'", 400),
}


@pytest.mark.parametrize("name", FILTERS)
async def test_filters(azure, clock, name):
    text, expected = FILTERS[name]
    azure.emulator.move(ACCOUNT, Move(create=BODY, by="amy@contoso.com"))
    clock.seconds += 600
    reply = await read(azure, span=text)
    assert (len(reply.body["value"]) if reply.status == 200 else reply.status) == expected
    if expected == 400:
        assert reply.body["code"] == "BadRequest", "without an error around it"


async def test_members_are_selected_and_other_versions_refused(azure, clock):
    clock.seconds += 600
    [row, _] = await rows(azure, more="&$select=eventTimestamp, caller,status")
    assert sorted(row) == ["eventTimestamp", "status"], "nobody is known to have made the group"
    for requested in ({"more": "&$select=secrets"}, {"version": "2017-03-01-preview"}):
        assert (await read(azure, **requested)).body["code"] == "BadRequest"


async def test_pages_have_an_empty_one_in_the_middle(clock):
    settings = replace(OPEN, change_log=ChangeLogSettings(activity_log_delay=0, page_size=2))
    async with emulated(settings, clock=clock) as azure:
        paths = [at("Microsoft.Storage/storageAccounts", f"s{number}") for number in range(3)]
        for path in paths:
            azure.emulator.put(path, BODY)
            clock.seconds += 10
        reply = await read(azure)
        pages = [reply.body["value"]]
        while "nextLink" in reply.body:
            clock.seconds += 10
            azure.emulator.put(f"{ACCOUNT}{len(pages)}", BODY)  # a later row moves nothing
            reply = await azure.get(reply.body["nextLink"])
            pages.append(reply.body["value"])
        wrong = await read(azure, more="&$skipToken=x")
    assert [len(page) for page in pages] == [2, 0, 2, 2]
    assert [row["resourceId"] for page in pages for row in page] == [path for path in paths[::-1] for _ in range(2)]
    assert wrong.body["code"] == "BadRequest"


async def test_who_has_rights_in_a_group_alone_is_refused(clock):
    reader = EmulatedPrincipal(client=ANONYMOUS, object="reader", read_only=True, scopes=(GROUP,))
    async with emulated(replace(OPEN, principals=(reader,)), clock=clock) as azure:
        reply = await read(azure)
    assert (reply.status, reply.code) == (403, "AuthorizationFailed")
    assert "'Microsoft.Insights/eventtypes/values/read'" in reply.message
    async with emulated(replace(OPEN, principals=(replace(reader, scopes=(SUBSCRIPTION,)),)), clock=clock) as azure:
        assert (await read(azure)).body == {"value": []}


async def test_a_denied_action_is_refused(clock):
    denied = Denial(action="Microsoft.Insights/eventtypes/values/read")
    async with emulated(replace(OPEN, denied=(denied,)), clock=clock) as azure:
        assert (await read(azure)).status == 403


async def test_it_is_in_the_state_file_and_of_one_subscription(tmp_path, clock):
    for path in (ACCOUNT, ACCOUNT.replace("0001/", "0002/")):
        async with emulated(OPEN, SqliteStore(tmp_path / "azure.db"), clock) as azure:
            azure.emulator.put(path, BODY)
            clock.seconds += 600
            found = await rows(azure)
    assert {row["resourceId"] for row in found} == {ACCOUNT}
