"""What single types do in addition: role assignments, subscriptions, products, backups and private endpoints."""

from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from gitsync.emulator.settings import read_settings
from tests.emulator.asked import GROUP, OPEN, SUBSCRIPTION, at, emulated

ROLES = "/providers/Microsoft.Authorization/roleDefinitions"
OWNER, READER = "8e3af657-a8ff-443c-a75c-2fe8c4bcb635", "acdd72a7-3385-48ef-bd42-f606fba81ae7"
SOMEBODY, ANOTHER = "0d7c0b6e-0000-4000-8000-000000000001", "0d7c0b6e-0000-4000-8000-000000000002"


def grant(role=OWNER, principal=SOMEBODY):
    return {"properties": {"roleDefinitionId": f"{SUBSCRIPTION}{ROLES}/{role}", "principalId": principal}}


def assignment(name, scope=GROUP):
    return f"{scope}/providers/Microsoft.Authorization/roleAssignments/{name}"


async def test_the_roles_of_the_tenant_come_in_pages_and_not_all_are_built_in():
    async with emulated(replace(OPEN, page_size=7)) as azure:
        page = (await azure.get(ROLES)).body
        pages = [page]
        while "nextLink" in page and len(pages) < 50:
            page = (await azure.get(page["nextLink"])).body
            pages.append(page)
    assert "nextLink" not in page, "the pages end"
    roles = [role["properties"] for page in pages for role in page["value"]]
    names = [role["roleName"] for role in roles if role["type"] == "BuiltInRole"]
    assert len(names) == len(set(names)) > 20
    assert [role["type"] for role in roles].count("CustomRole") == 1


ASSIGNMENTS = [
    (grant(), 201, "", "a role for somebody"),
    ({"properties": {"roleDefinitionId": f"{ROLES}/{OWNER}", "principalId": SOMEBODY}}, 201, "", "a role of the tenant"),
    ({"properties": {"roleDefinitionId": "Owner", "principalId": SOMEBODY}}, 400, "InvalidRoleDefinitionId", "a name is no id"),
    ({"properties": {"roleDefinitionId": f"{GROUP}/owner", "principalId": SOMEBODY}}, 400, "InvalidRoleDefinitionId", "nor is the id of something else"),
    (grant(principal="wow"), 400, "InvalidPrincipalId", "a principal is a GUID"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status", "code", "why"), ASSIGNMENTS, ids=[row[-1] for row in ASSIGNMENTS])
async def test_a_role_is_assigned(azure, group, body, status, code, why):
    reply = await azure.put(assignment("a"), body)
    assert reply.status == status, why
    if code:
        assert reply.code == code


SECOND = [
    ("a", grant(), 200, "", "the same again"),
    ("a", grant(role=READER), 400, "RoleAssignmentUpdateNotPermitted", "a role never changes"),
    ("a", grant(principal=ANOTHER), 400, "RoleAssignmentUpdateNotPermitted", "nor does a principal"),
    ("b", grant(), 409, "RoleAssignmentExists", "the same under another name"),
    ("b", grant(role=READER), 201, "", "another role"),
]


@pytest.mark.parametrize(("name", "body", "status", "code", "why"), SECOND, ids=[row[-1] for row in SECOND])
async def test_a_role_is_assigned_once(azure, group, name, body, status, code, why):
    await azure.put(assignment("a"), grant())
    reply = await azure.put(assignment(name), body)
    assert reply.status == status, why
    if code:
        assert reply.code == code


async def test_one_role_may_be_assigned_at_two_scopes(azure, group):
    await azure.put(assignment("a"), grant())
    assert (await azure.put(assignment("a", SUBSCRIPTION), grant())).status == 201


ALIAS = "/providers/Microsoft.Subscription/aliases/team"


async def test_an_alias_makes_a_subscription_that_things_can_stand_in():
    async with emulated(replace(OPEN, subscriptions=("one-that-is-named",))) as azure:
        made = await azure.put(ALIAS, {"properties": {"displayName": "Team", "workload": "Production"}})
        name = made.body["properties"]["subscriptionId"]
        where = f"/subscriptions/{name}"
        assigned = await azure.put(assignment("a", where), grant())
        unknown = await azure.put(assignment("a", "/subscriptions/0d7c0b6e-0000-4000-8000-0000000000ff"), grant())
        known = await azure.get("/subscriptions")
        got, known = await azure.get(ALIAS), [entry["subscriptionId"] for entry in known.body["value"]]
    assert made.body["properties"]["provisioningState"] == "Succeeded"
    assert got.body["properties"] == made.body["properties"]
    assert (assigned.status, unknown.status, unknown.code) == (201, 404, "SubscriptionNotFound")
    assert known == sorted({"one-that-is-named", made.body["properties"]["subscriptionId"]})


async def test_an_alias_may_stand_for_a_subscription_that_is_there(azure):
    body = {"properties": {"subscriptionId": "0d7c0b6e-0000-4000-8000-000000000003"}}
    shown = (await azure.put(ALIAS, body)).body["properties"]
    assert shown["subscriptionId"] == "0d7c0b6e-0000-4000-8000-000000000003"


def cancel(azure, **more):
    return azure.send_request(
        "POST", f"{SUBSCRIPTION}/providers/Microsoft.Subscription/cancel", version="2021-10-01", **more
    )


async def test_a_canceled_subscription_can_be_read_and_emptied_and_nothing_else(azure, group):
    done, again = await cancel(azure), await cancel(azure)
    written, read, emptied = await azure.put(f"{GROUP}2"), await azure.get(GROUP), await azure.delete(GROUP)
    shown = await azure.get(SUBSCRIPTION)
    await azure.send_request("POST", f"{SUBSCRIPTION}/providers/Microsoft.Subscription/enable")
    anew = await azure.put(f"{GROUP}2")
    assert (done.status, done.body) == (200, {"subscriptionId": SUBSCRIPTION.rpartition("/")[2]})
    assert [(reply.status, reply.code) for reply in (again, written)] == [(409, "ReadOnlyDisabledSubscription")] * 2
    assert (read.status, emptied.status, anew.status) == (200, 202, 201)
    assert shown.body["state"] == "Disabled"


async def test_a_subscription_that_holds_something_is_not_canceled(azure, group):
    await azure.put(at("Contoso.Things/things", "one"))
    refused = await cancel(azure)
    path = f"{SUBSCRIPTION}/providers/Microsoft.Subscription/cancel?IgnoreResourceCheck=true"
    forced = await azure.send_request("POST", path)
    assert (refused.status, refused.code) == (400, "ResourcesExistingOnSubscription")
    assert forced.status == 200


SERVICE = at("Microsoft.ApiManagement/service", "api")
PRODUCT = f"{SERVICE}/products/gold"


def add_product(azure, *, subscribed=True):
    azure.emulator.put(SERVICE, {"location": "westeurope"})
    azure.emulator.put(PRODUCT, {"properties": {}})
    for name, product in {"one": "gold", "two": "silver"}.items() if subscribed else ():
        body = {"properties": {"scope": f"/products/{product}"}}
        azure.emulator.put(f"{SERVICE}/subscriptions/{name}", body)


PRODUCTS = [
    (PRODUCT, True, 400, ["one", "two"], "somebody subscribes to it"),
    (f"{PRODUCT}?deleteSubscriptions=true", True, 200, ["two"], "they go with it, and only they"),
    (PRODUCT, False, 200, [], "nobody does"),
]


@pytest.mark.parametrize(("path", "subscribed", "status", "left", "why"), PRODUCTS, ids=[row[-1] for row in PRODUCTS])
async def test_a_product_goes_when_nobody_subscribes_to_it(azure, group, path, subscribed, status, left, why):
    add_product(azure, subscribed=subscribed)
    reply, ids = await azure.delete(path, If_Match="*"), azure.emulator.ids(f"{SERVICE}/")
    assert reply.status == status, why
    assert [name.rpartition("/")[2] for name in ids if "/subscriptions/" in name.partition(SERVICE)[2]] == left
    assert (PRODUCT in ids) is (status == 400)


VAULT = at("Microsoft.DataProtection/backupVaults", "bv")
INSTANCE = f"{VAULT}/backupInstances/disk"
BROKEN = """
settings: {throttle: off}
rules:
  - match: {method: PUT, type: Microsoft.DataProtection/backupVaults/backupInstances, times: 1}
    move: {set: {/properties/protectionStatus: {status: ProtectionError, errorDetails: {code: %s}}}}
"""


async def synced(tmp_path, code, more=""):
    script = tmp_path / "script.yaml"
    script.write_text(BROKEN % code + more)
    async with emulated(read_settings(script), has_group=True) as azure:
        azure.emulator.put(VAULT, {"location": "westeurope"})
        body = {"properties": {"friendlyName": "d"}}
        seen = [await azure.made(INSTANCE, body), await azure.made(INSTANCE, body)]
        started = await azure.send_request("POST", f"{INSTANCE}/sync", {"syncType": "Default"}, version="2024-04-01")
        assert started.status == 202
        for _ in range(2):
            await azure.get(started.headers["Azure-AsyncOperation"])
        seen.append((await azure.get(INSTANCE)).body)
        return [shown["properties"]["protectionStatus"]["status"] for shown in seen]


FAILS = "  - {match: {method: POST}, operation: {result: Failed}}\n"
SYNCS = [
    ("UserErrorDiskIsGone", "", "ProtectionConfigured", "a mistake of its owner, which was mended"),
    ("BackupServiceIsDown", "", "ProtectionError", "an error that a sync cannot help"),
    ("UserErrorDiskIsGone", FAILS, "ProtectionError", "the sync itself fails"),
]


@pytest.mark.parametrize(("code", "more", "after", "why"), SYNCS, ids=[row[-1] for row in SYNCS])
async def test_a_sync_mends_a_protection(tmp_path, code, more, after, why):
    assert await synced(tmp_path, code, more) == ["ProtectionError", "ProtectionError", after], why


async def test_a_backup_works_from_the_start(azure, group):
    azure.emulator.put(VAULT, {"location": "westeurope"})
    assert (await azure.made(INSTANCE, {"properties": {}}))["properties"]["protectionStatus"] == {
        "status": "ProtectionConfigured"
    }


ENDPOINT = at("Microsoft.Network/privateEndpoints", "pe")
SERVED = {"name": "c", "properties": {"privateLinkServiceId": at("Microsoft.Storage/storageAccounts", "st")}}
STATE = "privateLinkServiceConnectionState"


@asynccontextmanager
async def connected(word):
    async with emulated(has_group=True) as azure:
        body = {"location": "westeurope", "properties": {"subnet": {"id": "/s"}, word: [SERVED]}}
        yield azure, await azure.made(ENDPOINT, body), body


CONNECTIONS = [
    ("manualPrivateLinkServiceConnections", "Pending", "the other side has to approve it"),
    ("privateLinkServiceConnections", "Approved", "the service is one's own"),
]


@pytest.mark.parametrize(("word", "status", "why"), CONNECTIONS, ids=[row[-1] for row in CONNECTIONS])
async def test_a_connection_begins(word, status, why):
    async with connected(word) as (_azure, shown, _body):
        ((entry,), *_) = [shown["properties"][word]]
    assert entry["properties"][STATE]["status"] == status, why
    assert entry["id"] == f"{ENDPOINT}/{word}/c"


async def test_an_approval_stays_over_a_put():
    word = CONNECTIONS[0][0]
    async with connected(word) as (azure, _shown, body):
        azure.emulator.change(ENDPOINT, f"/properties/{word}/0/properties/{STATE}", {"status": "Approved"})
        (entry,) = (await azure.made(ENDPOINT, body))["properties"][word]
    assert entry["properties"][STATE]["status"] == "Approved"


async def test_an_endpoint_has_an_interface_with_an_address():
    async with connected(CONNECTIONS[1][0]) as (azure, shown, _body):
        (interface,) = shown["properties"]["networkInterfaces"]
        found = await azure.get(interface["id"], version="2022-01-01")
        azure.emulator.remove(ENDPOINT)
        gone = await azure.get(interface["id"])
    (address,) = found.body["properties"]["ipConfigurations"]
    assert address["properties"]["primary"] is True
    assert address["properties"]["privateIPAddress"].startswith("10.0.")
    assert gone.status == 404, "it goes with its endpoint"


async def test_an_endpoint_may_say_how_its_interface_is_called_and_reached(azure, group):
    requested = {
        "customNetworkInterfaceName": "nic",
        "ipConfigurations": [{"properties": {"privateIPAddress": "10.9.8.7"}}],
    }
    await azure.made(ENDPOINT, {"location": "westeurope", "properties": requested})
    found = await azure.get(at("Microsoft.Network/networkInterfaces", "nic"))
    assert found.body["properties"]["ipConfigurations"][0]["properties"]["privateIPAddress"] == "10.9.8.7"


MISSHAPEN = [
    ("Microsoft.Compute/virtualMachineScaleSets", {"virtualMachineProfile": [1]}, "a list where an object belongs"),
    ("Microsoft.Compute/virtualMachineScaleSets", {"virtualMachineProfile": {"extensionProfile": "x"}}, "a text"),
    ("Microsoft.Compute/virtualMachineScaleSets", {"virtualMachineProfile": {"extensionProfile": {"extensions": {}}}}, "an object where a list belongs"),
    ("Microsoft.Network/virtualNetworks", {"subnets": {"a": 1}}, "an object where a list belongs"),
    ("Microsoft.Network/virtualNetworks", [], "properties that are a list"),
    ("Microsoft.Network/virtualNetworks", {"subnets": ["a"]}, "a text where an object belongs"),
    ("Microsoft.KeyVault/vaults", [1], "properties that are a list"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "properties", "why"), MISSHAPEN, ids=[f"{row[0]} {row[-1]}" for row in MISSHAPEN])
@pytest.mark.parametrize("rewrite", [True, False])
async def test_a_misshapen_body_is_refused(kind, properties, why, rewrite):
    async with emulated(replace(OPEN, rewrite=rewrite), has_group=True) as azure:
        reply = await azure.put(at(kind, "x"), {"location": "westeurope", "properties": properties})
    assert (reply.status, reply.code) == (400, "InvalidRequestContent"), why


NETWORK, SUBNETS = "Microsoft.Network/virtualNetworks", "Microsoft.Network/virtualNetworks/subnets"
HUB, FRONT = at(NETWORK, "hub"), at(SUBNETS, "hub", "front")


def network(*prefixes, **subnets):
    entries = [{"name": name, "properties": {"addressPrefix": prefix}} for name, prefix in subnets.items()]
    return {"properties": {"addressSpace": {"addressPrefixes": list(prefixes)}, "subnets": entries}}


RANGES = [
    ("PUT", HUB, network("10.0.0.0/16", front="10.0.1.0/24"), 200, "inside"),
    ("PUT", HUB, network("10.9.0.0/16", front="10.9.1.0/24"), 200, "both moved"),
    ("PUT", HUB, network("10.9.0.0/16", front="10.0.1.0/24"), 400, "the network moved"),
    ("PUT", HUB, network("10.9.0.0/16"), 200, "its subnets go"),
    ("PATCH", HUB, {"properties": {"addressSpace": {"addressPrefixes": ["10.9.0.0/16"]}}}, 400, "its subnets stay"),
    ("PUT", HUB, network("fd00::/48", "10.0.0.0/16", front="fd00::/64"), 200, "of another family"),
    ("PUT", FRONT, {"properties": {"addressPrefix": "10.0.2.0/24"}}, 200, "a subnet moves inside"),
    ("PUT", FRONT, {"properties": {"addressPrefixes": ["10.0.2.0/24", "10.9.1.0/24"]}}, 400, "one of two is outside"),
    ("PUT", FRONT, {"properties": {"addressPrefix": "soon"}}, 200, "no range at all"),
    ("PUT", FRONT, {"properties": {"addressPrefix": True}}, 200, "a boolean, which ipaddress takes for 0.0.0.1"),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "why"), RANGES, ids=[row[-1] for row in RANGES])
async def test_a_subnet_is_inside_of_its_network(azure, group, method, path, body, status, why):
    await azure.made(HUB, network("10.0.0.0/16", front="10.0.1.0/24"))
    reply = await azure.send_request(method, path, body)
    assert reply.status // 100 == status // 100, why
    if status == 400:
        assert reply.code == "NetcfgSubnetRangeOutsideVnet"
        assert "Subnet 'front'" in reply.message


RUNS = [
    ("deployments/main", {"provisioningState": "Failed", "outputResources": []}, "Failed", "a deployment that failed"),
    ("deployments/main/operations/1", {"provisioningState": "Running"}, "Running", "an operation of one"),
    ("deploymentStacks/shop", {"provisioningState": "succeeded", "resources": []}, "succeeded", "a stack"),
    ("deploymentStacks/shop", {"resources": []}, None, "a stack without a state"),
    ("templateSpecs/shop", {"provisioningState": "Failed"}, "Succeeded", "no run of a template"),
]


@pytest.mark.parametrize(("path", "properties", "state", "why"), RUNS, ids=[row[-1] for row in RUNS])
async def test_a_put_sets_what_a_template_has_made(azure, group, path, properties, state, why):
    arm_id = f"{GROUP}/providers/Microsoft.Resources/{path}"
    if "operations" in path:
        await azure.put(arm_id.rpartition("/operations")[0], {"properties": {}})
    await azure.put(arm_id, {"properties": properties})
    shown = (await azure.get(arm_id)).body["properties"]
    assert shown.get("provisioningState") == state, why
    listed = (await azure.get(arm_id.rpartition("/")[0])).body["value"]
    assert [entry["properties"] for entry in listed] == [shown], "a list shows the same"
