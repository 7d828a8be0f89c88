"""What is where, who may change it, and what ARM reports otherwise."""

from dataclasses import replace

import pytest

from gitsync.emulator.settings import Busy, Denial, ManagementLock, Timing
from gitsync.emulator.types.behaviour import Style
from tests.emulator.asked import GROUP, OPEN, PLAIN, SUBSCRIPTION, VNET, at, emulated

SUBNET = f"{VNET}/subnets/a"
ROLE = f"{PLAIN}/providers/Microsoft.Authorization/roleAssignments/r"
BLOB = at("Microsoft.Storage/storageAccounts", "st") + "/blobServices/default"
NOWHERE = f"{SUBSCRIPTION}/resourceGroups/nowhere"
IN_NOWHERE = at("Contoso.Things/things", "one", scope=NOWHERE)

REFUSALS = [
    ("GET", NOWHERE, None, 404, "ResourceGroupNotFound", "a group that is not there"),
    ("PUT", IN_NOWHERE, {"location": "x"}, 404, "ResourceGroupNotFound", "nothing stands outside a group"),
    ("GET", IN_NOWHERE, None, 404, "ResourceGroupNotFound", "the group is looked at first"),
    ("DELETE", IN_NOWHERE, None, 404, "ResourceGroupNotFound", "absent is 204, but not in a missing group"),
    ("GET", PLAIN, None, 404, "ResourceNotFound", "a resource that is not there"),
    ("PATCH", PLAIN, {}, 404, "ResourceNotFound", "a patch creates nothing"),
    ("PUT", SUBNET, {}, 404, "ParentResourceNotFound", "a child needs its parent"),
    ("GET", f"{VNET}/parts/a", None, 404, "ParentResourceNotFound", "also to be read"),
    ("PUT", ROLE, {}, 404, "ResourceNotFound", "an extension needs what it hangs on"),
    ("POST", f"{PLAIN}/start", None, 404, "ResourceNotFound", "an action needs its resource"),
    ("PUT", NOWHERE, {}, 400, "LocationRequired", "a group says where it is"),
    ("PUT", GROUP, {"location": "eastus"}, 409, "InvalidResourceGroupLocation", "and never moves"),
    ("PUT", PLAIN, [], 400, "InvalidRequestContent", "a body is an object"),
    ("PUT", PLAIN, b"{", 400, "InvalidRequestContent", "and JSON"),
    ("PUT", f"{SUBSCRIPTION}/resourceGroups", {}, 405, "MethodNotAllowed", "a list is only read"),
    ("GET", f"{SUBSCRIPTION}/nonsense", None, 404, "NotFound", "no such path"),
    ("GET", f"{PLAIN}?api-version=", None, 400, "MissingApiVersionParameter", "every request has a version"),
    ("GET", f"{PLAIN}?api-version=latest", None, 400, "InvalidApiVersionParameter", "which is a date"),
    ("GET", f"{GROUP}/resources?$filter=tagName", None, 400, "InvalidFilterInQueryString", "a filter that is unknown"),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code", "why"), REFUSALS, ids=[row[-1] for row in REFUSALS]
)
async def test_arm_says_no(azure, group, method, path, body, status, code, why):
    reply = await azure.send_request(method, path, body)
    assert (reply.status, reply.code) == (status, code), why
    assert reply.headers["x-ms-request-id"]


ALLOWED = [
    ("DELETE", PLAIN, None, 204, "what is not there need not go"),
    ("HEAD", GROUP, None, 204, "it exists"),
    ("HEAD", NOWHERE, None, 404, "it does not"),
    ("PUT", at("Microsoft.Quota/quotas", "cores", scope=f"{SUBSCRIPTION}/providers/Microsoft.Compute/locations/x"), {}, 202, "a location is a place, not a resource"),
    ("PUT", "/providers/Microsoft.Subscription/aliases/a", {}, 201, "the tenant needs no subscription"),
    ("PUT", f"{SUBSCRIPTION}/providers/Microsoft.Authorization/roleAssignments/r", {}, 201, "a subscription is always there"),
    ("GET", SUBSCRIPTION, None, 200, "also to be read"),
    ("PUT", PLAIN, {"properties": None}, 201, "some types have no properties to give"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "status", "why"), ALLOWED, ids=[row[-1] for row in ALLOWED])
async def test_arm_says_yes(azure, group, method, path, body, status, why):
    assert (await azure.send_request(method, path, body)).status == status, why


async def test_a_singleton_that_its_provider_makes_may_have_children(azure, group):
    await azure.made(at("Microsoft.Storage/storageAccounts", "st"))
    assert (await azure.put(f"{BLOB}/containers/c", {})).status == 201


async def test_a_put_replaces_and_a_patch_merges(azure, group):
    first = {"location": "westeurope", "tags": {"a": "1"}, "properties": {"x": {"y": 1, "z": 2}, "w": 3}}
    created = await azure.put(PLAIN, first)
    patched = await azure.send_request("PATCH", PLAIN, {"tags": {"b": "2"}, "properties": {"x": {"y": 5, "z": None}}})
    replaced = await azure.put(PLAIN, {"location": "West Europe", "properties": {"w": 4}})
    assert (created.status, patched.status, replaced.status) == (201, 200, 200)
    assert patched.body["tags"] == {"b": "2"}, "tags are replaced as a whole"
    assert patched.body["properties"] == {"x": {"y": 5}, "w": 3, "provisioningState": "Succeeded"}
    assert replaced.body["properties"] == {"w": 4, "provisioningState": "Succeeded"}
    assert "tags" not in replaced.body


async def test_the_url_says_who_a_resource_is_whatever_its_body_says(azure, group):
    body = {"id": "/x", "name": "y", "type": "z", "location": "x", "properties": {"provisioningState": "Failed"}}
    reply = await azure.put(PLAIN, body)
    assert reply.body == {
        "id": PLAIN,
        "name": "one",
        "type": "Contoso.Things/things",
        "location": "x",
        "properties": {"provisioningState": "Succeeded"},
    }


async def test_a_resource_is_found_in_any_case_and_keeps_the_case_it_was_made_in(azure, group):
    await azure.put(PLAIN)
    found, written = await azure.get(PLAIN.lower()), await azure.put(PLAIN.upper())
    assert found.body["id"] == written.body["id"] == PLAIN
    assert written.status == 200


async def test_a_region_never_changes(azure, group):
    await azure.put(PLAIN)
    assert (await azure.put(PLAIN, {"location": "eastus"})).code == "InvalidResourceLocation"


async def test_what_is_nested_in_a_resource_or_hangs_on_it_goes_with_it(azure, group):
    await azure.put(PLAIN)
    await azure.put(f"{PLAIN}x")
    await azure.put(f"{PLAIN}/parts/p", {})
    await azure.put(ROLE, {})
    await azure.delete(PLAIN)
    assert azure.emulator.ids(GROUP) == [GROUP, f"{PLAIN}x"]


async def test_a_group_goes_with_all_its_content_and_takes_nothing_new_meanwhile():
    settings = replace(OPEN, operations=Timing(polls=2))
    async with emulated(settings, has_group=True) as azure:
        await azure.put(PLAIN)
        gone = await azure.delete(GROUP)
        refused = await azure.put(f"{PLAIN}2")
        shown = await azure.get(GROUP)
        again = await azure.delete(GROUP)
        polls = [await azure.get(gone.headers["Location"]) for _ in range(2)]
        left = azure.emulator.ids()
    assert (gone.status, again.status) == (202, 202)
    assert again.headers["Location"] == gone.headers["Location"], "the same operation"
    assert refused.code == "ResourceGroupBeingDeleted"
    assert shown.state == "Deleting"
    assert [poll.status for poll in polls] == [202, 200], "the read of the group was a poll too"
    assert left == []


PRECONDITIONS = [
    ({"If-None-Match": "*"}, False, 201, "create, and it is new"),
    ({"If-None-Match": "*"}, True, 412, "create, but it is there"),
    ({"If-Match": "*"}, False, 412, "update, but it is not there"),
    ({"If-Match": "*"}, True, 200, "update, and it is there"),
    ({"If-Match": "the one"}, True, 200, "what was read is what is there"),
    ({"If-Match": 'W/"stale"'}, True, 412, "somebody else wrote in between"),
]


@pytest.mark.parametrize(("headers", "there", "status", "why"), PRECONDITIONS, ids=[row[-1] for row in PRECONDITIONS])
async def test_preconditions_hold(azure, group, headers, there, status, why):
    nic = at("Microsoft.Network/networkInterfaces", "n")
    if there:
        await azure.put(nic)
    read = await azure.get(nic)
    given = {name: read.headers["ETag"] if value == "the one" else value for name, value in headers.items()}
    assert (await azure.send_request("PUT", nic, {"location": "westeurope"}, **given)).status == status, why


async def test_an_etag_moves_with_every_change(azure, group):
    nic = at("Microsoft.Network/networkInterfaces", "n")
    first = await azure.put(nic)
    second = await azure.put(nic)
    azure.emulator.change(nic, "/tags", {"a": "b"})
    assert len({first.headers["ETag"], second.headers["ETag"], (await azure.get(nic)).headers["ETag"]}) == 3


KNOWN = replace(OPEN, types={"Contoso.Things/things": ("2024-03-01",), "Contoso.Things/places": ()})
GATES = [
    (KNOWN, "PUT", PLAIN, "2024-03-01", 201, "", "a known type at a known version"),
    (KNOWN, "PUT", PLAIN, "2020-01-01", 400, "NoRegisteredProviderFound", "a version that it does not have"),
    (KNOWN, "PUT", at("Contoso.Things/places", "p"), "2020-01-01", 201, "", "no versions named: any"),
    (KNOWN, "PUT", at("Contoso.Things/others", "p"), "2024-03-01", 404, "InvalidResourceType", "a type it has not"),
    (KNOWN, "GET", at("Contoso.Else/things", "p"), "2024-03-01", 404, "InvalidResourceNamespace", "nor the namespace"),
    (replace(OPEN, subscriptions=("other",)), "GET", PLAIN, "2024-03-01", 404, "SubscriptionNotFound", "not ours"),
    (replace(OPEN, unregistered=("contoso.things",)), "PUT", PLAIN, "2024-03-01", 409, "MissingSubscriptionRegistration", "to be registered first"),
    (replace(OPEN, unregistered=("Contoso.Things",)), "GET", PLAIN, "2024-03-01", 404, "ResourceNotFound", "reading needs no registration"),
    (replace(OPEN, locks=(ManagementLock(scope=GROUP),)), "PUT", PLAIN, "2024-03-01", 201, "", "CanNotDelete lets write"),
    (replace(OPEN, locks=(ManagementLock(scope=GROUP),)), "DELETE", PLAIN, "2024-03-01", 409, "ScopeLocked", "and not delete"),
    (replace(OPEN, locks=(ManagementLock(scope=PLAIN),)), "DELETE", GROUP, "2024-03-01", 409, "ScopeLocked", "nor what holds it"),
    (replace(OPEN, locks=(ManagementLock(scope=GROUP, read_only=True),)), "PUT", PLAIN, "2024-03-01", 409, "ScopeLocked", "ReadOnly lets nothing"),
    (replace(OPEN, locks=(ManagementLock(scope=GROUP, read_only=True),)), "GET", GROUP, "2024-03-01", 200, "", "but read"),
    (replace(OPEN, denied=(Denial(action="*/things/write"),)), "PUT", PLAIN, "2024-03-01", 403, "AuthorizationFailed", "an action denied"),
    (replace(OPEN, denied=(Denial(action="*/delete"),)), "PUT", PLAIN, "2024-03-01", 201, "", "another one"),
    (replace(OPEN, denied=(Denial(scope=GROUP),)), "GET", PLAIN, "2024-03-01", 403, "AuthorizationFailed", "a scope denied, with all below"),
    (replace(OPEN, denied=(Denial(principal="who?"),)), "GET", GROUP, "2024-03-01", 200, "", "somebody else denied"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "method", "path", "version", "status", "code", "why"), GATES, ids=[row[-1] for row in GATES]
)
async def test_the_gateway_decides_first(settings, method, path, version, status, code, why):
    async with emulated(settings) as azure:
        azure.emulator.put(GROUP, {"location": "westeurope"})
        reply = await azure.send_request(method, path, {"location": "westeurope"}, version=version)
    assert (reply.status, reply.code if code else "") == (status, code), why


async def test_a_denial_names_the_action_and_the_scope():
    settings = replace(OPEN, denied=(Denial(),))
    async with emulated(settings) as azure:
        message = (await azure.put(PLAIN)).message
    assert f"to perform action 'Contoso.Things/things/write' over scope '{PLAIN}'" in message


NEIGHBOURS = [
    (Busy.RESOURCE, PLAIN, 409, "AnotherOperationInProgress", "the resource itself is busy"),
    (Busy.RESOURCE, f"{PLAIN}/parts/p", 201, None, "its children are not, unless told so"),
    (Busy.PARENT, f"{PLAIN}/parts/p", 409, "AnotherOperationInProgress", "told so, a child waits for its parent"),
    (Busy.PARENT, f"{PLAIN}2", 201, None, "another resource does not"),
]


@pytest.mark.parametrize(("busy", "path", "status", "code", "why"), NEIGHBOURS, ids=[row[-1] for row in NEIGHBOURS])
async def test_an_operation_under_way_refuses_writes(busy, path, status, code, why):
    settings = replace(OPEN, busy=busy, operations=Timing(style=Style.STATE, polls=5))
    async with emulated(settings) as azure:
        azure.emulator.put(GROUP, {"location": "westeurope"})
        await azure.put(PLAIN)
        reply = await azure.put(path)
    assert (reply.status, reply.body.get("error", {}).get("code")) == (status, code), why


async def test_a_sibling_under_way_refuses_writes_where_parents_are_held():
    settings = replace(OPEN, busy=Busy.PARENT, operations=Timing(polls=5))
    async with emulated(settings) as azure:
        azure.emulator.put(GROUP, {"location": "westeurope"})
        azure.emulator.put(VNET, {"location": "westeurope"})
        await azure.put(f"{VNET}/subnets/a", {})
        assert [reply.code for reply in (await azure.put(f"{VNET}/subnets/b", {}), await azure.put(VNET))] == [
            "AnotherOperationInProgress"
        ] * 2


async def test_what_azure_cannot_delete_or_read_it_says_so(azure, group):
    product = at("Microsoft.ApiManagement/service/products/groups", "s", "p", "g")
    for path in (product.rsplit("/", 4)[0], product.rsplit("/", 2)[0], product, BLOB.rsplit("/", 2)[0], BLOB):
        azure.emulator.put(path, {})
    undeletable, unreadable, there = (
        await azure.delete(BLOB),
        await azure.get(product),
        await azure.send_request("HEAD", product),
    )
    assert (undeletable.status, undeletable.code) == (405, "MethodNotAllowed")
    assert (unreadable.status, unreadable.body["Message"][:20]) == (405, "The requested resour")
    assert there.status == 204


LOCK = "Microsoft.Authorization/locks"
LOCKED = [
    (GROUP, "CanNotDelete", "DELETE", PLAIN, 409, "what stands in a locked group"),
    (GROUP, "CanNotDelete", "PUT", PLAIN, 200, "may still be written"),
    (GROUP, "ReadOnly", "PUT", PLAIN, 409, "unless the lock is ReadOnly"),
    (PLAIN, "CanNotDelete", "DELETE", GROUP, 409, "the group of something locked"),
    (PLAIN, "CanNotDelete", "DELETE", f"{PLAIN}2", 204, "its neighbour is free"),
    (PLAIN, "CanNotDelete", "DELETE", at(LOCK, "l", scope=PLAIN), 200, "a lock does not hold itself"),
    (SUBSCRIPTION, "CanNotDelete", "DELETE", PLAIN, 409, "the lock of a subscription"),
]


@pytest.mark.parametrize(("scope", "level", "method", "path", "status", "why"), LOCKED, ids=[row[-1] for row in LOCKED])
async def test_a_lock_that_was_made_locks(azure, group, scope, level, method, path, status, why):
    azure.emulator.put(PLAIN, {"location": "westeurope"})
    made = await azure.put(at(LOCK, "l", scope=scope), {"properties": {"level": level}})
    assert made.status == 201
    reply = await azure.send_request(method, path, {"location": "westeurope"})
    assert reply.status == status, why
    if status == 409:
        assert (reply.code, scope in reply.message) == ("ScopeLocked", True)


async def test_a_zone_does_not_go_before_its_links(azure, group):
    zone = at("Microsoft.Network/privateDnsZones", "z")
    for path in (zone, f"{zone}/A/www", f"{zone}/virtualNetworkLinks/l"):
        azure.emulator.put(path, {})
    refused = await azure.delete(zone)
    azure.emulator.remove(f"{zone}/virtualNetworkLinks/l")
    gone = await azure.delete(zone)
    assert (refused.code, gone.status) == ("CannotDeleteResource", 202)
    assert "'Microsoft.Network/privateDnsZones/z/virtualNetworkLinks/l'" in refused.message


@pytest.mark.parametrize(("size", "status"), [(2_000_000, 201), (5_000_000, 413)])
async def test_bodies_may_be_large_but_not_any_size(azure, group, size, status):
    body = b'{"location": "x", "properties": {"text": "%s"}}' % (b"x" * size)
    reply = await azure.put(PLAIN, body)
    assert reply.status == status


async def test_each_answer_has_an_id_and_keeps_the_callers(azure, group):
    own, callers = await azure.get(GROUP), await azure.get(GROUP, x_ms_correlation_request_id="mine")
    assert own.headers["x-ms-request-id"] == own.headers["x-ms-correlation-request-id"]
    assert callers.headers["x-ms-correlation-request-id"] == "mine"
    assert callers.headers["x-ms-request-id"] not in {"mine", own.headers["x-ms-request-id"]}
