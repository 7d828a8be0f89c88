"""Applications and service principals of Microsoft Graph, what is below them, and the deleted items."""

from urllib.parse import quote

import pytest

from gitsync.emulator.graph.graph_settings import GraphDelays, GraphSettings
from gitsync.emulator.settings import EmulatedPrincipal, EmulatorSettings, read_settings
from tests.emulator.asked import TestClock, emulated

APPLICATIONS, PRINCIPALS, GROUPS = "/v1.0/applications", "/v1.0/servicePrincipals", "/v1.0/groups"
DELETED = "/v1.0/directory/deletedItems"
SHOP = {"displayName": "Shop", "identifierUris": ["api://shop"]}
GRAPH = "00000003-0000-0000-c000-000000000000"
CREDENTIAL = {
    "name": "main",
    "issuer": "https://token.actions.githubusercontent.com",
    "subject": "repo:contoso/shop:ref:refs/heads/main",
    "audiences": ["api://AzureADTokenExchange"],
}


def settings(**graph):
    return EmulatorSettings(limits=None, graph=GraphSettings(**graph))


@pytest.fixture
async def directory():
    async with emulated(settings(), clock=TestClock()) as requested:
        yield requested


async def send(requested, method, path, body=None, **headers):
    return await requested.send_request(method, path, body, version="", **headers)


async def make(requested, path, body, status=201):
    reply = await send(requested, "POST", path, body)
    assert reply.status == status, reply
    return reply.body


async def test_an_application_comes_changes_and_goes_into_the_deleted_items(directory):
    created = await make(directory, APPLICATIONS, SHOP)
    path = f"{APPLICATIONS}/{created['id']}"
    assert created["appId"] != created["id"]
    assert (created["web"]["redirectUris"], created["signInAudience"]) == ([], "AzureADMyOrg")
    assert (await send(directory, "PATCH", path, {"web": {"redirectUris": ["https://a.example"]}})).status == 204
    grants = {"web": {"implicitGrantSettings": {"enableIdTokenIssuance": True}}}
    assert (await send(directory, "PATCH", path, grants)).status == 204
    web = (await send(directory, "GET", path)).body["web"]
    assert web["redirectUris"] == ["https://a.example"], "a PATCH merges objects"
    assert web["implicitGrantSettings"] == {"enableAccessTokenIssuance": False, "enableIdTokenIssuance": True}
    assert (await send(directory, "DELETE", path)).status == 204
    assert (await send(directory, "GET", path)).status == 404
    listed = (await send(directory, "GET", f"{DELETED}/microsoft.graph.application")).body["value"]
    assert [(entry["id"], entry["appId"]) for entry in listed] == [(created["id"], created["appId"])]
    assert listed[0]["deletedDateTime"] == "2026-01-01T00:00:00Z"
    kept = await send(directory, "GET", f"{DELETED}/{created['id']}")
    assert kept.body["@odata.type"] == "#microsoft.graph.application"


async def test_a_restored_application_is_the_same_with_its_credentials(directory):
    created = await make(directory, APPLICATIONS, SHOP)
    path = f"{APPLICATIONS}/{created['id']}"
    await make(directory, f"{path}/federatedIdentityCredentials", CREDENTIAL)
    await send(directory, "DELETE", path)
    assert (await send(directory, "POST", f"{DELETED}/{created['id']}/restore")).status == 200
    assert (await send(directory, "GET", path)).body["appId"] == created["appId"]
    (credential,) = (await send(directory, "GET", f"{path}/federatedIdentityCredentials")).body["value"]
    assert credential["name"] == "main"
    assert (await send(directory, "GET", f"{DELETED}/microsoft.graph.application")).body["value"] == []


async def test_a_deleted_application_holds_its_uris_until_it_is_deleted_permanently(directory):
    created = await make(directory, APPLICATIONS, SHOP)
    await send(directory, "DELETE", f"{APPLICATIONS}/{created['id']}")
    held = await send(directory, "POST", APPLICATIONS, {**SHOP, "identifierUris": ["API://shop"]})
    assert (held.status, held.body["error"]["details"][0]["code"]) == (400, "ObjectConflict")
    assert (await send(directory, "DELETE", f"{DELETED}/{created['id']}")).status == 204
    await make(directory, APPLICATIONS, SHOP)


async def test_a_deleted_application_is_gone_after_thirty_days(directory):
    created = await make(directory, APPLICATIONS, SHOP)
    await send(directory, "DELETE", f"{APPLICATIONS}/{created['id']}")
    directory.emulator.cloud.clock.seconds += 31 * 86400
    assert (await send(directory, "POST", f"{DELETED}/{created['id']}/restore")).status == 404
    await make(directory, APPLICATIONS, SHOP)


async def test_a_principal_is_of_an_application_and_goes_along_with_it(directory):
    created = await make(directory, APPLICATIONS, {**SHOP, "appRoles": [{"id": "r", "value": "Read"}]})
    principal = await make(directory, PRINCIPALS, {"appId": created["appId"]})
    assert (principal["displayName"], principal["appRoles"][0]["value"]) == ("Shop", "Read")
    roles = await send(directory, "GET", f"{PRINCIPALS}/{principal['id']}/appRoles")
    assert [role["id"] for role in roles.body["value"]] == ["r"]
    again = await send(directory, "POST", PRINCIPALS, {"appId": created["appId"].upper()})
    assert (again.status, again.code) == (409, "Request_MultipleObjectsWithSameKeyValue")
    changed = await send(directory, "PATCH", f"{PRINCIPALS}/{principal['id']}", {"appId": GRAPH})
    assert changed.status == 400
    await send(directory, "DELETE", f"{APPLICATIONS}/{created['id']}")
    assert (await send(directory, "GET", f"{PRINCIPALS}/{principal['id']}")).status == 404
    unknown = await send(directory, "POST", PRINCIPALS, {"appId": created["appId"]})
    assert (unknown.status, unknown.body["error"]["details"][0]["code"]) == (400, "NoBackingApplicationObject")


async def test_every_tenant_has_the_principal_of_microsoft_graph(directory):
    found = await list_filtered(directory, PRINCIPALS, f"appId eq '{GRAPH}'")
    assert [entry["displayName"] for entry in found] == ["Microsoft Graph"]
    assert "Mail.Send" in {role["value"] for role in found[0]["appRoles"]}


async def list_filtered(directory, path, text):
    return (await send(directory, "GET", f"{path}?$filter={quote(text)}")).body["value"]


WRONG = {
    "no name": (APPLICATIONS, {}),
    "an unknown property": (APPLICATIONS, {**SHOP, "colour": "red"}),
    "a secret": (APPLICATIONS, {**SHOP, "passwordCredentials": [{}]}),
    "an audience": (APPLICATIONS, {**SHOP, "signInAudience": "Everybody"}),
    "a URI twice": (APPLICATIONS, {**SHOP, "identifierUris": ["api://a", "api://a"]}),
    "a long URI": (APPLICATIONS, {**SHOP, "identifierUris": ["api://" + "a" * 250]}),
    "no list": (APPLICATIONS, {**SHOP, "tags": "a"}),
    "an empty text": (APPLICATIONS, {**SHOP, "description": ""}),
    "a platform": (APPLICATIONS, {**SHOP, "spa": {"homePageUrl": "x"}}),
    "no body": (APPLICATIONS, []),
    "no appId": (PRINCIPALS, {"displayName": "Shop"}),
}


@pytest.mark.parametrize(("path", "body"), WRONG.values(), ids=WRONG)
async def test_what_graph_refuses_is_refused(directory, path, body):
    refused = await send(directory, "POST", path, body)
    assert (refused.status, refused.code) == (400, "Request_BadRequest")


WRONG_CREDENTIALS = {
    "no subject": {**CREDENTIAL, "subject": None},
    "a name with a blank": {**CREDENTIAL, "name": "a b"},
    "two audiences": {**CREDENTIAL, "audiences": ["a", "b"]},
    "an issuer without TLS": {**CREDENTIAL, "issuer": "http://a"},
    "a long subject": {**CREDENTIAL, "subject": "a" * 601},
}


@pytest.mark.parametrize("body", WRONG_CREDENTIALS.values(), ids=WRONG_CREDENTIALS)
async def test_a_credential_that_graph_refuses_is_refused(directory, body):
    created = await make(directory, APPLICATIONS, SHOP)
    refused = await send(directory, "POST", f"{APPLICATIONS}/{created['id']}/federatedIdentityCredentials", body)
    assert refused.status == 400


async def test_a_credential_is_found_by_its_name_and_there_are_twenty_at_most(directory):
    created = await make(directory, APPLICATIONS, SHOP)
    path = f"{APPLICATIONS}/{created['id']}/federatedIdentityCredentials"
    for number in range(20):
        await make(directory, path, {**CREDENTIAL, "name": f"n{number}", "subject": f"s{number}"})
    assert (await send(directory, "POST", path, CREDENTIAL)).status == 400
    assert (await send(directory, "PATCH", f"{path}/n3", {"subject": "other"})).status == 204
    assert (await send(directory, "GET", f"{path}/n3")).body["subject"] == "other"
    assert (await send(directory, "PATCH", f"{path}/n3", {"subject": "s4"})).status == 409
    assert (await send(directory, "PATCH", f"{path}/n3", {"name": "new"})).status == 400
    assert (await send(directory, "DELETE", f"{path}/n3")).status == 204
    assert (await send(directory, "GET", f"{path}/n3")).status == 404


async def test_an_app_role_is_assigned_and_listed_from_both_sides(directory):
    created = await make(directory, APPLICATIONS, SHOP)
    principal = await make(directory, PRINCIPALS, {"appId": created["appId"]})
    (graph,) = await list_filtered(directory, PRINCIPALS, f"appId eq '{GRAPH}'")
    role = next(role["id"] for role in graph["appRoles"] if role["value"] == "Mail.Send")
    body = {"principalId": principal["id"], "resourceId": graph["id"], "appRoleId": role}
    path = f"{PRINCIPALS}/{graph['id']}/appRoleAssignedTo"
    made = await make(directory, path, body)
    assert made["resourceDisplayName"] == "Microsoft Graph"
    assert (await send(directory, "POST", path, body)).status == 400
    assert (await send(directory, "POST", path, {**body, "appRoleId": principal["id"]})).status == 400
    for side in (path, f"{PRINCIPALS}/{principal['id']}/appRoleAssignments"):
        assert [entry["id"] for entry in (await send(directory, "GET", side)).body["value"]] == [made["id"]]
    assert (await send(directory, "DELETE", f"{path}/{made['id']}")).status == 204
    assert (await send(directory, "GET", path)).body["value"] == []


@pytest.mark.parametrize("link", ["owners", "members"])
async def test_a_link_is_added_once_and_removed(directory, link):
    group = await make(
        directory,
        GROUPS,
        {"displayName": "A", "mailNickname": "a", "mailEnabled": False, "securityEnabled": True},
    )
    created = await make(directory, APPLICATIONS, SHOP)
    path, ref = f"{GROUPS}/{group['id']}/{link}", {"@odata.id": f"https://graph.microsoft.com/v1.0/x/{created['id']}"}
    assert (await send(directory, "POST", f"{path}/$ref", ref)).status == 204
    assert (await send(directory, "POST", f"{path}/$ref", ref)).status == 400
    (linked,) = (await send(directory, "GET", path)).body["value"]
    assert (linked["id"], linked["@odata.type"]) == (created["id"], "#microsoft.graph.application")
    assert link not in (await send(directory, "GET", f"{GROUPS}/{group['id']}")).body
    assert (await send(directory, "DELETE", f"{path}/{created['id']}/$ref")).status == 204
    assert (await send(directory, "DELETE", f"{path}/{created['id']}/$ref")).status == 404


async def test_delays_hold_for_every_kind():
    delays = GraphDelays(read=5, filter=10, patch=5, delete=5, gone=20)
    async with emulated(settings(delays=delays), clock=TestClock()) as directory:
        created = await make(directory, APPLICATIONS, SHOP)
        path = f"{APPLICATIONS}/{created['id']}"
        for method, body in (("GET", None), ("PATCH", {"displayName": "B"}), ("DELETE", None)):
            assert (await send(directory, method, path, body)).status == 404
        directory.emulator.cloud.clock.seconds += 6
        assert (await send(directory, "GET", path)).status == 200
        assert await list_filtered(directory, APPLICATIONS, "displayName eq 'Shop'") == []
        directory.emulator.cloud.clock.seconds += 6
        assert len(await list_filtered(directory, APPLICATIONS, "displayName eq 'shop'")) == 1
        assert (await send(directory, "DELETE", path)).status == 204
        assert (await send(directory, "GET", path)).status == 200, "it is still shown"
        assert (await send(directory, "PATCH", path, {"displayName": "B"})).status == 404


async def test_who_may_only_write_what_it_owns_cannot_write_the_rest():
    owner = EmulatedPrincipal(client="owner", object="owner-object", secret="s")
    base = settings(permissions=("Application.ReadWrite.OwnedBy",))
    full = EmulatorSettings(limits=None, graph=base.graph, principals=(owner,))
    async with emulated(full, clock=TestClock()) as directory:
        token = directory.emulator.tokens.token(owner, audience=directory.emulator.url)
        headers = {"Authorization": f"Bearer {token}"}
        made = await directory.send_request("POST", APPLICATIONS, SHOP, version="", **headers)
        path = f"{APPLICATIONS}/{made.body['id']}"
        assert (await directory.send_request("PATCH", path, {"tags": ["a"]}, version="", **headers)).status == 204
        assert (await send(directory, "PATCH", path, {"tags": ["b"]})).status == 403, "somebody else"
        directory.emulator.put(f"{APPLICATIONS}/00000000-0000-4000-8000-00000000000a", {"displayName": "Other"})
        other = f"{APPLICATIONS}/00000000-0000-4000-8000-00000000000a"
        assert (await directory.send_request("DELETE", other, version="", **headers)).status == 403


async def test_a_caller_is_throttled_with_a_time_to_wait(tmp_path):
    script = tmp_path / "script.yaml"
    script.write_text("settings: {throttle: off, graph: {throttle: {size: 2, perSecond: 0.1}}}")
    async with emulated(read_settings(script), clock=TestClock()) as directory:
        for _ in range(2):
            assert (await send(directory, "GET", APPLICATIONS)).status == 200
        refused = await send(directory, "GET", APPLICATIONS)
        assert (refused.status, refused.code, refused.headers["Retry-After"]) == (429, "TooManyRequests", "10")
        directory.emulator.cloud.clock.seconds += 10
        assert (await send(directory, "GET", APPLICATIONS)).status == 200


async def test_what_is_not_emulated_is_refused(directory):
    for path in ("/v1.0/users", f"{APPLICATIONS}/x/logo", f"{DELETED}/a/b", "/v1.0/directory/roles"):
        assert (await send(directory, "GET", path)).status in {400, 404}, path
