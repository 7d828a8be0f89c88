"""Resource Graph's tables of changes: rows for what was written, when they show, and the one query that is understood."""

from dataclasses import replace

import pytest

from gitsync.emulator.faults import Move
from gitsync.emulator.settings import ANONYMOUS, ChangeLogSettings, EmulatedPrincipal, EmulatorSettings, Limits, Timing
from gitsync.emulator.state.store import SqliteStore
from tests.emulator.asked import GROUP, OPEN, SUBSCRIPTION, VNET, TestClock, at, emulated

ACCOUNT = at("Microsoft.Storage/storageAccounts", "one")
NAME = SUBSCRIPTION.rpartition("/")[2]
SUBNET = f"{VNET}/subnets/a"
GRAPH = "/providers/Microsoft.ResourceGraph/resources"
ROB = EmulatedPrincipal(client=ANONYMOUS, object="o-rob", user="rob@contoso.com", app="Azure Portal")
BODY = {"location": "westeurope", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}, "tags": {"a": "b"}}
PAIR = ("previousValue", "newValue")
NO_ID = "00000000-0000-0000-0000-000000000000"


def query_for(*ids, since="2025-12-01T00:00:00Z", table="resourcechanges"):
    listed = ",".join("'{}'".format(name.lower().replace("'", "\\'")) for name in ids)
    return f"""{table}
| extend t = todatetime(properties.changeAttributes.timestamp), rid = tolower(tostring(properties.targetResourceId))
| where t > datetime({since}) and rid in ({listed})
| project id, t, rid, changeType = tostring(properties.changeType), attrs = properties.changeAttributes, changes = properties.changes
| order by t desc, id asc"""


async def query(azure, *ids, subscriptions=(NAME,), options=None, text="", **requested):
    body = {
        "query": text or query_for(*ids, **requested),
        "options": {"$top": 1000, "resultFormat": "objectArray"} | (options or {}),
    }
    return await azure.send_request(
        "POST", GRAPH, body | {"subscriptions": list(subscriptions)} if subscriptions else body, version="2022-10-01"
    )


async def rows(azure, *ids, **requested):
    reply = await query(azure, *ids, **requested)
    assert reply.status == 200, reply.body
    return reply.body["data"]


@pytest.fixture
async def clock():
    return TestClock()


@pytest.fixture
async def azure(clock):
    async with emulated(replace(OPEN, principals=(ROB,)), clock=clock, has_group=True) as azure:
        yield azure


async def test_a_row_says_who_changed_which_values(azure, clock):
    await azure.put(ACCOUNT, BODY, x_ms_correlation_request_id="c-1")
    await azure.settled(ACCOUNT)
    clock.seconds += 10
    changed = BODY | {"sku": {"name": "Premium_LRS"}, "tags": {"c": "d"}, "properties": {"list": [1], "password": "p"}}
    reply = await azure.put(ACCOUNT, changed, x_ms_correlation_request_id="c-2")
    assert reply.headers["x-ms-correlation-request-id"] == "c-2"
    clock.seconds += 600
    update, *created = await rows(azure, ACCOUNT)
    [create] = [row for row in created if row["changeType"] == "Create"]
    assert {name: update[name] for name in ("t", "rid", "changeType", "changes")} == {
        "t": "2026-01-01T00:00:10.000Z",
        "rid": ACCOUNT.lower(),
        "changeType": "Update",
        "changes": {
            "properties.list": {"previousValue": "null", "newValue": "[1]"},
            "sku.name": {"previousValue": "Standard_LRS", "newValue": "Premium_LRS"},
            "tags.a": {"previousValue": "b", "newValue": "null"},
            "tags.c": {"previousValue": "null", "newValue": "d"},
        },
    }
    assert update["id"].startswith(f"{ACCOUNT}/providers/Microsoft.Resources/changes/0858")
    shown = {name: value for name, value in update["attrs"].items() if "Snapshot" not in name}
    assert shown == {
        "timestamp": "2026-01-01T00:00:10.000Z",
        "changesCount": 4,
        "correlationId": "c-2",
        "changedBy": "rob@contoso.com",
        "changedByType": "User",
        "clientType": "Azure Portal",
        "operation": "microsoft.storage/storageaccounts/write",
    }
    assert (create["changeType"], create["attrs"]["changesCount"], create["changes"]) == ("Create", 0, {})
    assert create["attrs"]["correlationId"] == "c-1"
    assert "previousResourceSnapshotId" not in create["attrs"]


async def test_a_fresh_correlation_id_is_answered_and_logged(azure, clock):
    reply = await azure.put(ACCOUNT, BODY)
    clock.seconds += 600
    [row] = await rows(azure, ACCOUNT)
    assert row["attrs"]["correlationId"] == reply.headers["x-ms-correlation-request-id"]


async def test_rows_come_late_their_author_later_and_go_after_two_weeks(azure, clock):
    await azure.put(ACCOUNT, BODY)
    seen = []
    for seconds in (59, 60, 119, 120, 14 * 86_400 - 1, 14 * 86_400):
        clock.seconds = seconds
        seen.append([row["attrs"]["changedBy"] for row in await rows(azure, ACCOUNT)])
    assert seen == [[], ["Unspecified"], ["Unspecified"], ["rob@contoso.com"], ["rob@contoso.com"], []]


async def test_what_changes_nothing_or_is_refused_has_no_row(azure, clock):
    await azure.made(ACCOUNT, BODY)
    for _ in range(2):
        clock.seconds += 10
        await azure.made(ACCOUNT, BODY | {"tags": {}})
    assert (await azure.put(ACCOUNT, BODY | {"location": "eastus"})).code == "InvalidResourceLocation"
    clock.seconds += 600
    found = [row for row in await rows(azure, ACCOUNT) if row["attrs"]["changedBy"] != "System"]
    assert [row["changeType"] for row in found] == ["Update", "Create"]


async def test_azure_itself_changes_the_state_when_an_operation_ends(azure, clock):
    await azure.put(VNET, x_ms_correlation_request_id="c-1")
    clock.seconds += 30
    await azure.settled(VNET)
    clock.seconds += 600
    settled, created = await rows(azure, VNET)
    assert (created["changeType"], created["attrs"]["correlationId"]) == ("Create", "c-1")
    assert (settled["t"], settled["changeType"]) == ("2026-01-01T00:00:30.000Z", "Update")
    assert settled["changes"] == {
        "properties.provisioningState": {"previousValue": "Updating", "newValue": "Succeeded"}
    }
    shown = [settled["attrs"][name] for name in ("changedBy", "changedByType", "operation", "correlationId")]
    assert shown == ["System", "System", "Unspecified", NO_ID]


async def test_embedded_children_change_with_the_body_of_their_parent(azure, clock):
    network = {"properties": {"subnets": [{"name": "a", "properties": {"addressPrefix": "10.0.0.0/24"}}]}}
    azure.emulator.put(VNET, network)
    clock.seconds += 10
    azure.emulator.change(VNET, "/properties/subnets/0/properties/addressPrefix", "10.0.1.0/24")
    clock.seconds += 600
    [update, _] = await rows(azure, VNET)
    assert update["changes"] == {
        "properties.subnets[0].properties.addressPrefix": {"previousValue": "10.0.0.0/24", "newValue": "10.0.1.0/24"}
    }


@pytest.mark.parametrize("names", ["ab", "ba"])
async def test_an_embedded_child_changes_its_parent_at_its_index_there(azure, clock, names):
    azure.emulator.put(VNET, {"location": "westeurope"})
    for name in names:
        clock.seconds += 10
        azure.emulator.put(f"{VNET}/subnets/{name}", {"properties": {"addressPrefix": "10.0.0.0/24"}})
    clock.seconds += 10
    second = f"{VNET}/subnets/{names[1]}"
    assert azure.emulator.resource(VNET)["properties"]["subnets"][1]["id"] == second
    azure.emulator.move(second, Move(set={"/properties/addressPrefix": "10.0.1.0/24"}, by="a@b.de"))
    clock.seconds += 10
    azure.emulator.remove(second)
    clock.seconds += 600
    found = [(row["changeType"], row["attrs"]["changedBy"], row["changes"]) for row in await rows(azure, VNET)]
    one, two = "10.0.0.0/24", "10.0.1.0/24"
    assert found == [
        (kind, by, {f"properties.subnets[{location}].properties.addressPrefix": dict(zip(PAIR, values, strict=True))})
        for kind, by, location, values in (
            ("Update", "Unspecified", 1, (two, "null")),
            ("Update", "a@b.de", 1, (one, two)),
            ("Update", "Unspecified", 1, ("null", one)),
            ("Update", "Unspecified", 0, ("null", one)),
        )
    ] + [("Create", "Unspecified", {})]


async def test_a_child_has_no_rows_and_a_group_has_its_own_table(azure, clock):
    await azure.put(VNET)
    await azure.put(SUBNET, {"properties": {"addressPrefix": "10.0.0.0/24"}})
    locks = [f"{scope}/providers/Microsoft.Authorization/locks/keep" for scope in (VNET, GROUP)]
    for lock in locks:
        assert (await azure.put(lock, {"properties": {"level": "CanNotDelete"}})).status == 201
    clock.seconds += 600
    assert {row["rid"] for row in await rows(azure, VNET, SUBNET, GROUP, *locks)} == {VNET.lower()}
    groups = await rows(azure, VNET, GROUP, table="resourcecontainerchanges")
    assert [row["rid"] for row in groups] == [GROUP.lower()]


async def test_a_delete_has_a_row_once_it_is_done_and_one_for_all_that_goes_with_it(clock):
    settings = replace(OPEN, principals=(ROB,), operations=Timing(polls=1))
    async with emulated(settings, clock=clock) as azure:
        await azure.put(GROUP)
        await azure.made(ACCOUNT, BODY)
        await azure.made(VNET)
        clock.seconds += 600
        started = await azure.delete(GROUP, x_ms_correlation_request_id="gone")
        clock.seconds += 100
        before = await rows(azure, ACCOUNT, since="2026-01-01T00:10:00Z")
        while (await azure.get(started.headers["Location"])).status == 202:
            pass
        clock.seconds += 600
        found = await rows(azure, ACCOUNT, VNET, since="2026-01-01T00:10:00Z")
    assert before == []
    assert [(row["rid"], row["changeType"], row["t"][11:19]) for row in found] == [
        (VNET.lower(), "Delete", "00:11:40"),
        (ACCOUNT.lower(), "Delete", "00:11:40"),
    ]
    assert {row["attrs"]["correlationId"] for row in found} == {"gone"}
    assert not any("newResourceSnapshotId" in row["attrs"] for row in found)


AUTHORS = {
    "person": ("amy@contoso.com", "CLI", ("amy@contoso.com", "User", "CLI")),
    "application": (
        "5f0c7a52-5d0a-4c55-9f6e-2f0f9d9f7f10",
        "",
        ("5f0c7a52-5d0a-4c55-9f6e-2f0f9d9f7f10", "Application", "Unspecified"),
    ),
    "background": ("System", "", ("System", "System", "Unspecified")),
    "unknown": ("", "", ("Unspecified", "Unspecified", "Unspecified")),
}


@pytest.mark.parametrize("name", AUTHORS)
async def test_somebody_else_makes_a_change(azure, clock, name):
    by, client, author = AUTHORS[name]
    azure.emulator.put(ACCOUNT, BODY)
    correlation = azure.emulator.move(ACCOUNT, Move(set={"/sku/name": "Premium_LRS"}, by=by, client=client))
    clock.seconds += 600
    found = await rows(azure, ACCOUNT)
    [update] = [row for row in found if row["changeType"] == "Update"]
    assert tuple(update["attrs"][name] for name in ("changedBy", "changedByType", "clientType")) == author
    assert update["attrs"]["correlationId"] == correlation
    assert (correlation == NO_ID) is (by == "System")
    assert list(update["changes"]) == ["sku.name"]


async def test_a_long_value_is_cut(azure, clock):
    azure.emulator.put(ACCOUNT, BODY)
    azure.emulator.change(ACCOUNT, "/tags/a", "x" * 5000)
    clock.seconds += 600
    [changed] = [row["changes"]["tags.a"] for row in await rows(azure, ACCOUNT) if row["changes"]]
    assert len(changed["newValue"]) == 1000
    assert changed["isTruncated"] == "true"


async def test_pages_follow_a_token_that_is_good_for_its_own_query(azure, clock):
    ids = [at("Microsoft.Storage/storageAccounts", f"s{number}") for number in range(5)]
    for path in ids:
        azure.emulator.put(path, BODY)
    clock.seconds += 600
    first = await query(azure, *ids, options={"$top": 2})
    token = first.body["$skipToken"]
    second = await query(azure, *ids, options={"$top": 2, "$skipToken": token})
    third = await query(azure, *ids, options={"$top": 2, "$skipToken": second.body["$skipToken"]})
    pages = (first, second, third)
    assert [page.body["count"] for page in pages] == [2, 2, 1]
    assert [row["rid"] for page in pages for row in page.body["data"]] == sorted(path.lower() for path in ids)
    assert {(page.body["totalRecords"], page.body["resultTruncated"]) for page in pages} == {(5, "false")}
    assert "$skipToken" not in third.body
    other = await query(azure, ids[0], options={"$skipToken": token})
    assert (other.status, other.code) == (400, "BadRequest")


UNREAD = {
    "another table": "resources | project id",
    "another order": query_for(ACCOUNT).replace("t desc, id asc", "t asc"),
    "a limit": query_for(ACCOUNT) + " | limit 5",
    "more than 300 ids": query_for(*(f"/subscriptions/s/{number}" for number in range(301))),
    "no time": query_for(ACCOUNT, since="yesterday"),
    "no query": "",
}


@pytest.mark.parametrize("name", UNREAD)
async def test_other_queries_are_refused(azure, name):
    reply = await query(azure, text=UNREAD[name] or "where")
    assert (reply.status, reply.code) == (400, "BadRequest")
    assert reply.message.startswith("Please provide below info when asking for support: timestamp = 2026-01-01T")
    assert reply.body["error"]["details"][0]["code"] == "InvalidQuery"


async def test_ids_are_compared_in_lower_case_and_quotes_are_escaped(azure, clock):
    unexpected = at("Microsoft.Storage/storageAccounts", "o'one")
    azure.emulator.put(unexpected, BODY)
    clock.seconds += 600
    assert len(await rows(azure, unexpected)) == 1
    assert await rows(azure, text=query_for(unexpected).replace("o\\'one", "O\\'ONE")) == []


async def test_a_quota_of_queries_refills_every_five_seconds(clock):
    async with emulated(EmulatorSettings(limits=Limits()), clock=clock) as azure:
        replies = [await query(azure, ACCOUNT) for _ in range(16)]
        clock.seconds += 5
        replies.append(await query(azure, ACCOUNT))
    assert [reply.status for reply in replies] == [200] * 15 + [429, 200]
    assert [reply.headers["x-ms-user-quota-remaining"] for reply in replies[-4:]] == ["1", "0", "0", "14"]
    assert {reply.headers["x-ms-user-quota-resets-after"] for reply in replies} == {"00:00:05"}
    assert (replies[15].code, replies[15].headers["Retry-After"]) == ("RateLimiting", "5")


OTHER = "/subscriptions/00000000-0000-4000-8000-000000000002"
RIGHTS = {
    "reader of the group": (("*/read",), (GROUP,), [ACCOUNT]),
    "reader of another group": (("*/read",), (f"{SUBSCRIPTION}/resourceGroups/other",), []),
    "without changes": (("Microsoft.ResourceGraph/resources/read", "Microsoft.Storage/*/read"), (), []),
    "with changes": (
        ("Microsoft.ResourceGraph/resources/read", "Microsoft.Resources/changes/read", "Microsoft.Storage/*/read"),
        (),
        [ACCOUNT],
    ),
    "of another type": (
        ("Microsoft.ResourceGraph/resources/read", "Microsoft.Resources/changes/read", "Microsoft.Web/*"),
        (),
        [],
    ),
    "reader of another subscription": (("*/read",), (OTHER,), 403),
    "without queries": (("Microsoft.Storage/*",), (), 403),
}


@pytest.mark.parametrize("name", RIGHTS)
async def test_rows_that_the_caller_may_not_read_are_left_out_in_silence(clock, name):
    actions, scopes, seen = RIGHTS[name]
    reader = EmulatedPrincipal(client=ANONYMOUS, object="reader", actions=actions, scopes=scopes)
    async with emulated(replace(OPEN, principals=(reader,)), clock=clock) as azure:
        azure.emulator.put(ACCOUNT, BODY)
        clock.seconds += 600
        reply = await query(azure, ACCOUNT)
    if seen == 403:
        assert (reply.status, reply.code) == (403, "AuthorizationFailed")
    else:
        assert [row["rid"] for row in reply.body["data"]] == [path.lower() for path in seen]


OF_GROUP = "Resources | where resourceGroup in~ ('net') | project id | order by id asc"
QUERY_RIGHT = "Microsoft.ResourceGraph/resources/read"
RESOURCE_RIGHTS = [
    (("*/read",), (), [ACCOUNT], "a reader"),
    ((QUERY_RIGHT, "Microsoft.Storage/*/read"), (), [ACCOUNT], "the right to read the type, without that of changes"),
    ((QUERY_RIGHT, "Microsoft.Resources/changes/read"), (), [], "the right to read changes, without that of the type"),
    ((QUERY_RIGHT, "Microsoft.Web/*"), (), [], "the right to read another type"),
    (("*/read",), (f"{SUBSCRIPTION}/resourceGroups/other",), [], "a reader of another group"),
]


@pytest.mark.parametrize(
    ("actions", "scopes", "seen", "why"), RESOURCE_RIGHTS, ids=[row[-1] for row in RESOURCE_RIGHTS]
)
async def test_a_query_of_resources_needs_the_right_to_read_them(actions, scopes, seen, why):
    reader = EmulatedPrincipal(client=ANONYMOUS, object="reader", actions=actions, scopes=scopes)
    async with emulated(replace(OPEN, principals=(reader,))) as azure:
        azure.emulator.put(ACCOUNT, BODY)
        assert [row["id"] for row in await rows(azure, text=OF_GROUP)] == seen, why


GROUP_RIGHT = "Microsoft.Resources/subscriptions/resourceGroups/read"
GROUP_RIGHTS = [
    ((QUERY_RIGHT, "Microsoft.Resources/changes/read", GROUP_RIGHT), [GROUP], "both rights"),
    ((QUERY_RIGHT, GROUP_RIGHT), [], "the right to read groups, without that of changes"),
    ((QUERY_RIGHT, "Microsoft.Resources/changes/read"), [], "the right to read changes, without that of groups"),
]


@pytest.mark.parametrize(("actions", "seen", "why"), GROUP_RIGHTS, ids=[row[-1] for row in GROUP_RIGHTS])
async def test_a_query_of_changed_groups_needs_the_right_to_read_both(clock, actions, seen, why):
    reader = EmulatedPrincipal(client=ANONYMOUS, object="reader", actions=actions)
    async with emulated(replace(OPEN, principals=(reader,)), clock=clock) as azure:
        azure.emulator.put(GROUP, {"location": "westeurope"})
        clock.seconds += 600
        found = [row["rid"] for row in await rows(azure, GROUP, table="resourcecontainerchanges")]
    assert found == [path.lower() for path in seen], why


SUBSCRIPTIONS = [
    ((), "", 200, "any, without a setting"),
    ((NAME,), "", 200, "one that the settings name"),
    (("other",), "", 403, "one that they do not name"),
    (("other",), NAME, 200, "one that an alias created"),
]


@pytest.mark.parametrize(("named", "created", "status", "why"), SUBSCRIPTIONS, ids=[row[-1] for row in SUBSCRIPTIONS])
async def test_a_query_needs_a_subscription_that_exists(named, created, status, why):
    async with emulated(replace(OPEN, subscriptions=named)) as azure:
        if created:
            alias = {"properties": {"subscriptionId": created}}
            azure.emulator.put("/providers/Microsoft.Subscription/aliases/team", alias)
        assert (await query(azure, ACCOUNT)).status == status, why


async def test_the_log_is_in_the_state_file(tmp_path, clock):
    for body in (BODY, BODY | {"tags": {"a": "c"}}):
        async with emulated(OPEN, SqliteStore(tmp_path / "azure.db"), clock) as azure:
            azure.emulator.put(ACCOUNT, body)
            clock.seconds += 600
            found = await rows(azure, ACCOUNT)
    assert [row["changeType"] for row in found] == ["Update", "Create"]
    assert found[0]["changes"] == {"tags.a": {"previousValue": "b", "newValue": "c"}}


async def test_delays_are_settings(clock):
    at_once = ChangeLogSettings(resource_graph_delay=0, actor_delay=0)
    async with emulated(replace(OPEN, change_log=at_once, principals=(ROB,)), clock=clock, has_group=True) as azure:
        await azure.put(ACCOUNT, BODY)
        [row] = await rows(azure, ACCOUNT)
    assert row["attrs"]["changedBy"] == "rob@contoso.com"
