"""Lists and their pages."""

import csv
from dataclasses import replace

import pytest

from gitsync.emulator.http.target import parse
from tests.emulator.asked import GROUP, OPEN, PLAIN, SUBSCRIPTION, VNET, at, emulated
from tests.support.recordings import FOLDER, needs_recordings

OTHER = f"{SUBSCRIPTION}/resourceGroups/other"
ELSEWHERE = at("Contoso.Things/things", "two", scope=OTHER)
ROLE = "Microsoft.Authorization/roleAssignments"
ZONE = at("Microsoft.Network/dnsZones", "a.b")
PRIVATE = at("Microsoft.Network/privateDnsZones", "a.b")
DIAGNOSTICS = "Microsoft.Insights/diagnosticSettings"


def world(azure):
    hand = azure.emulator
    for group in (GROUP, OTHER):
        hand.put(group, {"location": "westeurope"})
    for path in (PLAIN, ELSEWHERE, VNET):
        hand.put(path, {"location": "westeurope", "sku": {"name": "S"}, "properties": {"a": 1}})
    part = f"{PLAIN}/parts/p"
    for path in (f"{VNET}/subnets/a", part, at(DIAGNOSTICS, "d", scope=PLAIN), at(DIAGNOSTICS, "e", scope=part)):
        hand.put(path, {"properties": {}})
    for scope, name in ((SUBSCRIPTION, "top"), (GROUP, "r"), (PLAIN, "s"), (OTHER, "away")):
        hand.put(at(ROLE, name, scope=scope), {"properties": {"principalId": f"of-{name}"}})
    for record in ("A/www", "TXT/www"):
        hand.put(f"{ZONE}/{record}", {"properties": {}})
    for record in (ZONE, PRIVATE, f"{PRIVATE}/A/www", f"{PRIVATE}/virtualNetworkLinks/l"):
        hand.put(record, {"properties": {}})


def roles(*names):
    scopes = {"top": SUBSCRIPTION, "r": GROUP, "s": PLAIN, "away": OTHER}
    return sorted((at(ROLE, name, scope=scopes[name]) for name in names), key=str.casefold)


async def listed(path, settings=OPEN):
    async with emulated(settings) as azure:
        world(azure)
        return await azure.get(path)


LISTS = [
    (f"{SUBSCRIPTION}/resourcegroups", [GROUP, OTHER], "groups, in any case of the word"),
    (f"{GROUP}/resources", [PLAIN, VNET], "tracked resources only: no subnet, no role assignment"),
    (f"{SUBSCRIPTION}/resources", [PLAIN, VNET, ELSEWHERE], "those of every group"),
    (f"{SUBSCRIPTION}/resources?$filter=resourceType eq 'contoso.things/things'", [PLAIN, ELSEWHERE], "of one type"),
    (f"{SUBSCRIPTION}/resources?$filter=resourceType eq 'Contoso.Things/things' and name eq 'two'", [ELSEWHERE], "and name"),
    (f"{GROUP}/providers/Contoso.Things/things", [PLAIN], "a type in a group"),
    (f"{SUBSCRIPTION}/providers/contoso.things/THINGS", [PLAIN, ELSEWHERE], "a type in a subscription, in any case"),
    (f"{VNET}/subnets", [f"{VNET}/subnets/a"], "children of one parent"),
    (f"{PLAIN}/parts", [f"{PLAIN}/parts/p"], "of any type"),
    (f"{PLAIN}/providers/{DIAGNOSTICS}", [at(DIAGNOSTICS, "d", scope=PLAIN)], "extensions of one resource"),
    (f"{SUBSCRIPTION}/providers/{DIAGNOSTICS}", [], "and not those of the resources of a subscription"),
    (f"{PLAIN}/providers/{ROLE}", roles("r", "s", "top"), "the roles at a resource and above it"),
    (f"{GROUP}/providers/{ROLE}", roles("s", "r", "top"), "above a group and below it"),
    (f"{SUBSCRIPTION}/providers/{ROLE}", roles("s", "r", "away", "top"), "all of a subscription"),
    (f"{SUBSCRIPTION}/providers/{ROLE}?$filter=atScope()", roles("top"), "and nothing below, if asked so"),
    (f"{SUBSCRIPTION}/providers/{ROLE}?$filter=principalId eq 'OF-S'", roles("s"), "those of one principal"),
    (f"{ZONE}/recordsets", [f"{ZONE}/A/www", f"{ZONE}/TXT/www"], "all records of a zone"),
    (f"{ZONE}/all", [f"{ZONE}/A/www", f"{ZONE}/TXT/www"], "by its other name"),
    (f"{ZONE}/TXT", [f"{ZONE}/TXT/www"], "those of one type"),
    (f"{PRIVATE}/ALL", [f"{PRIVATE}/A/www"], "of a private zone: a link to a network is no record"),
    (f"{GROUP}/providers/Contoso.Things/nothings", [], "a type of which there is none"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "ids", "why"), LISTS, ids=[row[-1] for row in LISTS])
async def test_a_list_holds(path, ids, why):
    reply = await listed(path)
    assert reply.status == 200, reply.body
    assert [entry["id"].casefold() for entry in reply.body["value"]] == [arm_id.casefold() for arm_id in ids], why
    assert "nextLink" not in reply.body


LISTED = FOLDER / "aso-facts" / "lists.tsv"


def list_locations(kind, row):
    """Where a type may be listed: the names of the columns, and the paths."""
    namespace, *words = kind.split("/")
    parent = "/".join([namespace, *words[:-1]])
    names = [f"n{depth}" for depth in range(len(words))]
    if len(words) > 1:
        return {"parent": f"{at(parent, *names[:-1])}/{words[-1]}"}
    if row["scope"] == "Extension":
        return {"scope_list": f"{PLAIN}/providers/{kind}"}
    return {"group": f"{GROUP}/providers/{kind}", "subscription": f"{SUBSCRIPTION}/providers/{kind}"}


def is_list_known(row):
    """Whether an API description was there to look in: one that gets the type, or lists it somewhere."""
    return bool(row["item_known"] or any(row[column] for column in ("group", "subscription", "parent", "scope_list")))


@needs_recordings(LISTED)
async def test_each_type_is_listed_where_azures_api_descriptions_list_it(azure):
    rows = list(csv.DictReader(LISTED.read_text("utf-8").splitlines(), delimiter="\t"))
    world(azure)
    answered = {}
    for row in rows:
        for column, path in list_locations(row["arm_type"], row).items():
            for ancestor in parse(path).ancestors:
                azure.emulator.put(ancestor.path, {})
            item = f"{path}/made".replace(SUBSCRIPTION + "/providers", GROUP + "/providers")
            azure.emulator.put(item, {"location": "westeurope"})
            reply = await azure.get(path)
            entries = reply.body.get("value", ()) if reply.status == 200 else ()
            is_listed = item.casefold() in {entry["id"].casefold() for entry in entries}
            answered[row["arm_type"], column] = is_listed if reply.status == 200 else reply.status
            azure.emulator.remove(item)
    known = {
        (row["arm_type"], column): bool(row[column])
        for row in rows
        if is_list_known(row)
        for column in list_locations(row["arm_type"], row)
        if row["arm_type"] != "Microsoft.EventGrid/eventSubscriptions"  # it also has lists of single resources
    }
    assert len(known) > 250
    unexpected = {
        location: answered[location]
        for location, has_list in known.items()
        if answered[location] not in (_ANSWERS[has_list])
    }
    assert unexpected == {}


_ANSWERS = {True: {True}, False: {404, 405}}


async def test_the_lists_of_arm_itself_leave_properties_out_and_those_of_providers_do_not():
    assert "properties" not in (await listed(f"{GROUP}/resources")).body["value"][0]
    assert (await listed(f"{GROUP}/resources")).body["value"][0]["sku"] == {"name": "S"}
    assert (await listed(f"{GROUP}/providers/Contoso.Things/things")).body["value"][0]["properties"]["a"] == 1


async def test_a_list_can_be_asked_for_times_and_states():
    entry = (await listed(f"{GROUP}/resources?$expand=createdTime,changedTime,provisioningState")).body["value"][0]
    assert entry["provisioningState"] == "Succeeded"
    assert entry["createdTime"] == entry["changedTime"]


@pytest.mark.parametrize(
    ("size", "top", "pages"), [(2, "", [2, 2, 1]), (1000, "&$top=3", [3, 2]), (2, "&$top=3", [2, 2, 1])]
)
async def test_pages_follow_each_other_to_the_end(size, top, pages):
    async with emulated(replace(OPEN, page_size=size)) as azure:
        azure.emulator.put(GROUP, {"location": "westeurope"})
        for number in range(5):
            azure.emulator.put(f"{PLAIN}{number}", {"location": "westeurope"})
        link, found = f"{GROUP}/resources?api-version=2021-04-01{top}", []
        while link:
            reply = await azure.get(link)
            found.append([entry["name"] for entry in reply.body["value"]])
            link = reply.body.get("nextLink")
            assert link is None or link.startswith(azure.emulator.url)
    assert [len(page) for page in found] == pages
    assert [name for page in found for name in page] == [f"one{number}" for number in range(5)]


async def test_a_token_that_was_never_given_out_is_refused():
    assert (await listed(f"{GROUP}/resources?$skiptoken=%21")).code == "InvalidRequestContent"


async def test_subscriptions_are_those_that_hold_something_or_are_named():
    reply = await listed("/subscriptions", replace(OPEN, subscriptions=("named",)))
    assert [entry["subscriptionId"] for entry in reply.body["value"]] == [SUBSCRIPTION.split("/")[2], "named"]


async def test_built_in_roles_are_listed_everywhere_and_found_by_their_ids(azure):
    roles = await azure.get("/providers/Microsoft.Authorization/roleDefinitions")
    reader = next(role for role in roles.body["value"] if role["properties"]["roleName"] == "Reader")
    path = f"{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{reader['name']}"
    found = await azure.get(path)
    assert reader["properties"]["type"] == "BuiltInRole"
    assert found.body["properties"]["roleName"] == "Reader"


async def test_a_provider_is_registered_after_a_few_polls():
    settings = replace(OPEN, unregistered=("Contoso.Things",), registration_polls=2)
    provider = f"{SUBSCRIPTION}/providers/contoso.things"
    async with emulated(settings) as azure:
        azure.emulator.put(GROUP, {"location": "westeurope"})
        refused = await azure.put(PLAIN)
        states = [(await azure.get(provider)).body["registrationState"]]
        states += [(await azure.send_request("POST", f"{provider}/register")).body["registrationState"]]
        states += [(await azure.get(provider)).body["registrationState"] for _ in range(2)]
        written = await azure.put(PLAIN)
        states += [(await azure.send_request("POST", f"{provider}/unregister")).body["registrationState"]]
        index = await azure.get(f"{SUBSCRIPTION}/providers")
    assert refused.code == "MissingSubscriptionRegistration"
    assert refused.body["error"]["details"][0]["target"] == "Contoso.Things"
    assert states == ["NotRegistered", "Registering", "Registering", "Registered", "NotRegistered"]
    assert written.status == 201
    assert [entry["namespace"] for entry in index.body["value"]] == [
        "Contoso.Things",
        "Microsoft.Authorization",
        "Microsoft.Resources",
    ]


ACTIONS = [
    (
        "Microsoft.Storage/storageAccounts",
        "listKeys",
        lambda body: [key["keyName"] for key in body["keys"]],
        ["key1", "key2"],
    ),
    ("Microsoft.Cache/redis", "listkeys", sorted, ["primaryKey", "secondaryKey"]),
    ("Microsoft.OperationalInsights/workspaces", "sharedKeys", sorted, ["primarySharedKey", "secondarySharedKey"]),
]


@pytest.mark.parametrize(("kind", "action", "seen", "expected"), ACTIONS, ids=[row[0] for row in ACTIONS])
async def test_an_action_gives_the_same_keys_each_time(azure, kind, action, seen, expected):
    azure.emulator.put(GROUP, {"location": "westeurope"})
    azure.emulator.put(at(kind, "a"), {"location": "westeurope"})
    first, second = [await azure.send_request("POST", f"{at(kind, 'a')}/{action}") for _ in range(2)]
    assert seen(first.body) == expected
    assert first.body == second.body


async def test_an_action_that_nobody_knows_is_refused(azure):
    world(azure)
    assert (await azure.send_request("POST", f"{PLAIN}/explode")).code == "InvalidResourceType"


async def test_entries_of_update_strategies_have_no_etag_as_recorded():
    """Their reads have one."""
    path = at("Microsoft.ContainerService/fleets/updateStrategies", "f", "s")
    async with emulated(OPEN) as azure:
        for one in (GROUP, path.rpartition("/updateStrategies")[0], path):
            azure.emulator.put(one, {"location": "westeurope", "properties": {}})
        read, listed = await azure.get(path), await azure.get(path.rpartition("/")[0])
    assert listed.body["value"] == [{name: value for name, value in read.body.items() if name != "eTag"}]
    assert "eTag" in read.body
