"""Groups of Microsoft Graph, as the documentation and the recordings have them."""

import pytest

from gitsync.emulator.faults import Move
from gitsync.emulator.graph.graph_settings import GraphDelays, GraphSettings
from gitsync.emulator.settings import EmulatorSettings, read_settings
from gitsync.emulator.state.store import SqliteStore
from tests.emulator.asked import TestClock, emulated

GROUPS = "/v1.0/groups"
ADMINS = {"displayName": "Admins", "mailNickname": "admins", "mailEnabled": False, "securityEnabled": True}
UNIFIED = {**ADMINS, "groupTypes": ["Unified"]}


def settings(**graph):
    return EmulatorSettings(limits=None, graph=GraphSettings(**graph))


@pytest.fixture
async def directory():
    async with emulated(settings(), clock=TestClock()) as requested:
        yield requested


async def send_request(requested, method, path, body=None, **headers):
    return await requested.send_request(method, path, body, version="", **headers)


async def make(requested, **members):
    reply = await send_request(requested, "POST", GROUPS, {**ADMINS, **members})
    assert reply.status == 201, reply
    return reply.body


async def test_a_group_comes_and_goes(directory):
    created = await send_request(directory, "POST", GROUPS, ADMINS)
    path = f"{GROUPS}/{created.body['id']}"
    assert (created.status, created.headers["Location"]) == (201, directory.emulator.url + path)
    read = await send_request(directory, "GET", path)
    assert read.body == created.body
    assert (await send_request(directory, "PATCH", path, {"description": "new"})).status == 204
    assert (await send_request(directory, "GET", path)).body["description"] == "new"
    assert (await send_request(directory, "DELETE", path)).status == 204
    gone = await send_request(directory, "GET", path)
    assert (gone.status, gone.code) == (404, "Request_ResourceNotFound")
    assert created.body["id"] in gone.message


async def test_an_answer_has_the_envelope_of_graph(directory):
    await make(directory)
    listed = await send_request(directory, "GET", GROUPS, client_request_id="mine")
    assert listed.headers["OData-Version"] == "4.0"
    assert listed.headers["Content-Type"].startswith("application/json;odata.metadata=minimal")
    assert (listed.headers["client-request-id"], "x-ms-request-id" in listed.headers) == ("mine", False)
    refused = await send_request(directory, "GET", f"{GROUPS}/x", client_request_id="mine")
    inner = refused.body["error"]["innerError"]
    assert inner == {
        "date": "2026-01-01T00:00:00",
        "request-id": refused.headers["request-id"],
        "client-request-id": "mine",
    }


async def test_what_is_absent_is_null_and_lists_are_empty(directory):
    group = await make(directory)
    assert [group[name] for name in ("description", "mail", "visibility", "isAssignableToRole")] == [None] * 4
    assert (group["groupTypes"], group["proxyAddresses"]) == ([], [])
    assert len(group) > 30, "as many members as recorded"


async def test_a_microsoft_365_group_is_mail_enabled_whatever_was_sent(directory):
    group = await make(directory, groupTypes=["Unified"])
    assert (group["mailEnabled"], group["visibility"]) == (True, "Public")
    assert group["proxyAddresses"] == [f"SMTP:{group['mail']}"]
    assert group["mail"].startswith("admins@")


REFUSED = {
    "no displayName": ({"displayName": None}, "displayName", "InvalidValue"),
    "an empty displayName": ({"displayName": ""}, "displayName", "InvalidValue"),
    "a displayName of 257": ({"displayName": "n" * 257}, "displayName", "InvalidValue"),
    "a blank in the nickname": ({"mailNickname": "a b"}, "mailNickname", "InvalidValue"),
    "an address as nickname": ({"mailNickname": "a@contoso.com"}, "mailNickname", "InvalidValue"),
    "a nickname of 65": ({"mailNickname": "n" * 65}, "mailNickname", "InvalidValue"),
    "a nickname that is not ASCII": ({"mailNickname": "é"}, "mailNickname", "InvalidValue"),
    "an empty description": ({"description": ""}, "description", "InvalidValue"),
    "another type": ({"securityEnabled": "yes"}, "securityEnabled", "InvalidValue"),
    "a property that there is not": ({"owner": "me"}, "owner", "InvalidValue"),
    "dynamic without a rule": ({"groupTypes": ["DynamicMembership"]}, "membershipRule", "InvalidValue"),
    "for roles, and no security group": (
        {"isAssignableToRole": True, "securityEnabled": False, "groupTypes": ["Unified"]},
        "isAssignableToRole",
        "InvalidValue",
    ),
}


@pytest.mark.parametrize(("members", "target", "code"), REFUSED.values(), ids=REFUSED)
async def test_a_body_that_graph_does_not_take(directory, members, target, code):
    reply = await send_request(directory, "POST", GROUPS, {**ADMINS, **members})
    assert (reply.status, reply.code) == (400, "Request_BadRequest")
    assert [(detail["target"], detail["code"]) for detail in reply.body["error"]["details"]] == [(target, code)]
    assert directory.emulator.ids(GROUPS) == []


FIXED = {
    "the types": {"groupTypes": ["Unified"]},
    "for roles": {"isAssignableToRole": True},
    "mail": {"mailEnabled": True},
    "nothing": {},
}


@pytest.mark.parametrize("change", FIXED.values(), ids=FIXED)
async def test_a_change_that_graph_does_not_take(directory, change):
    group = await make(directory)
    reply = await send_request(directory, "PATCH", f"{GROUPS}/{group['id']}", change)
    assert (reply.status, reply.code) == (400, "Request_BadRequest")


async def test_names_are_unique_only_for_microsoft_365_groups(directory):
    first, second = await make(directory), await make(directory)
    assert first["id"] != second["id"]
    other = await make(directory, groupTypes=["Unified"])
    taken = await send_request(directory, "POST", GROUPS, {**UNIFIED, "mailNickname": "ADMINS"})
    assert (taken.status, taken.body["error"]["details"][0]["code"]) == (400, "ObjectConflict")
    same = await send_request(directory, "PATCH", f"{GROUPS}/{other['id']}", {"mailNickname": "admins"})
    assert same.status == 204, "it is its own"


FILTERS = {
    "a quote": ("displayName eq 'O''Brien'", ["O'Brien"]),
    "another case": ("displayName eq 'o''brien'", ["O'Brien"]),
    "a nickname": ("mailNickname eq 'other'", ["Other"]),
    "two clauses": ("displayName eq 'Other' and securityEnabled eq true", ["Other"]),
    "none": ("displayName eq 'x'", []),
    "no filter": ("", ["O'Brien", "Other"]),
}


@pytest.mark.parametrize(("text", "names"), FILTERS.values(), ids=FILTERS)
async def test_what_a_filter_finds(directory, text, names):
    await make(directory, displayName="O'Brien")
    await make(directory, displayName="Other", mailNickname="other")
    async with directory.session.get(f"{directory.emulator.url}{GROUPS}", params={"$filter": text}) as reply:
        assert sorted(group["displayName"] for group in (await reply.json())["value"]) == names


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("displayName eq 'O'Brien'", id="a quote that is not doubled"),
        pytest.param("displayName eq Admins", id="no literal"),
        pytest.param("color eq 'red'", id="no property"),
    ],
)
async def test_a_filter_that_is_none_is_refused(directory, text):
    async with directory.session.get(f"{directory.emulator.url}{GROUPS}", params={"$filter": text}) as reply:
        assert reply.status == 400


async def test_a_long_list_has_pages():
    async with emulated(settings(page_size=3)) as requested:
        for number in range(7):
            await make(requested, mailNickname=f"n{number}")
        found, link = [], GROUPS
        while link:
            page = (await send_request(requested, "GET", link)).body
            found += [group["mailNickname"] for group in page["value"]]
            assert len(page["value"]) <= 3
            link = page.get("@odata.nextLink")
        assert sorted(found) == [f"n{number}" for number in range(7)]


DELAYS = {
    "a read": ("read", "GET", None, 200),
    "a change": ("patch", "PATCH", {"description": "a"}, 204),
    "a delete": ("delete", "DELETE", None, 204),
}


@pytest.mark.parametrize(("delay", "method", "body", "status"), DELAYS.values(), ids=DELAYS)
async def test_a_new_group_is_late(delay, method, body, status):
    clock = TestClock()
    async with emulated(settings(delays=GraphDelays(**{delay: 5})), clock=clock) as requested:
        path = f"{GROUPS}/{(await make(requested))['id']}"
        assert (await send_request(requested, method, path, body)).status == 404
        clock.seconds += 5
        assert (await send_request(requested, method, path, body)).status == status


async def test_a_filter_is_late_and_so_is_a_delete():
    clock = TestClock()
    async with emulated(settings(delays=GraphDelays(filter=5, gone=5)), clock=clock) as requested:
        path = f"{GROUPS}/{(await make(requested))['id']}"
        assert (await send_request(requested, "GET", GROUPS)).body["value"] == []
        clock.seconds += 5
        assert len((await send_request(requested, "GET", GROUPS)).body["value"]) == 1
        await send_request(requested, "DELETE", path)
        assert (await send_request(requested, "GET", path)).status == 200
        assert (await send_request(requested, "DELETE", path)).status == 404
        clock.seconds += 5
        assert (await send_request(requested, "GET", path)).status == 404
        assert (await send_request(requested, "GET", GROUPS)).body["value"] == []


RIGHTS = {
    "nothing": ([], "GET", GROUPS, None, 403),
    "reads": (["Group.Read.All"], "GET", GROUPS, None, 200),
    "reads do not write": (["Group.Read.All"], "POST", GROUPS, ADMINS, 403),
    "creates": (["Group.Create"], "POST", GROUPS, ADMINS, 201),
    "for roles": (["Group.ReadWrite.All"], "POST", GROUPS, {**ADMINS, "isAssignableToRole": True}, 403),
    "for roles, with both": (
        ["Group.ReadWrite.All", "RoleManagement.ReadWrite.Directory"],
        "POST",
        GROUPS,
        {**ADMINS, "isAssignableToRole": True},
        201,
    ),
}


@pytest.mark.parametrize(("permissions", "method", "path", "body", "status"), RIGHTS.values(), ids=RIGHTS)
async def test_what_a_permission_allows(permissions, method, path, body, status):
    async with emulated(settings(permissions=tuple(permissions))) as requested:
        reply = await send_request(requested, method, path, body)
        assert reply.status == status
        assert status != 403 or reply.code == "Authorization_RequestDenied"


async def test_somebody_moves_a_group(directory):
    path = f"{GROUPS}/{(await make(directory))['id']}"
    directory.emulator.move(path, Move(set={"/displayName": "Renamed"}, by="ana@contoso.com"))
    assert (await send_request(directory, "GET", path)).body["displayName"] == "Renamed"
    directory.emulator.remove(path)
    assert (await send_request(directory, "GET", path)).status == 404


async def test_groups_are_no_resources_of_arm(directory):
    await make(directory)
    (entry,) = (await directory.get("/_emulator/resources")).body["value"]
    assert entry["displayName"] == "Admins"
    assert directory.emulator.cloud.store.changes() == [], "ARM's logs do not know them"


async def test_a_state_in_a_file_keeps_groups_and_the_next_id(tmp_path):
    ids = []
    for _ in range(2):
        async with emulated(settings(), SqliteStore(tmp_path / "azure.db")) as requested:
            ids.append((await make(requested))["id"])
            assert len((await send_request(requested, "GET", GROUPS)).body["value"]) == len(ids)
    assert len(set(ids)) == 2


async def test_the_same_events_give_the_same_ids():
    ids = []
    for _ in range(2):
        async with emulated(settings()) as requested:
            ids.append([(await make(requested))["id"], (await make(requested))["id"]])
    assert ids[0] == ids[1]


def test_the_settings_of_a_file(tmp_path):
    file = tmp_path / "script.yaml"
    file.write_text("settings: {graph: {permissions: [Group.Read.All], pageSize: 5, delays: {read: 1, gone: 2.5}}}\n")
    assert read_settings(file).graph == GraphSettings(
        permissions=("Group.Read.All",), page_size=5, delays=GraphDelays(read=1, gone=2.5)
    )


@pytest.mark.parametrize(
    ("method", "path"),
    [
        pytest.param("GET", "/v1.0/users", id="other objects"),
        pytest.param("PUT", f"{GROUPS}/x", id="a method that there is not"),
        pytest.param("GET", f"{GROUPS}/x/transitiveMembers", id="members of members"),
    ],
)
async def test_the_rest_of_graph_is_not_played(directory, method, path):
    assert (await send_request(directory, method, path)).status == 400
