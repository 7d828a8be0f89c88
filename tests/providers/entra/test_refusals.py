"""What Graph refuses, and answers that are none: an error that shows what to do, never "absent"."""

import pytest

from gitsync.emulator.faults import Canned, Drop, FaultRule, Match
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatedPrincipal, EmulatorSettings
from gitsync.errors import ArmError
from gitsync.model.live import Absence
from gitsync.model.signin import Method, SignIn
from gitsync.providers.arm.client import open_arm
from gitsync.providers.arm.cloud import make_cloud
from gitsync.providers.entra.directory import EntraDirectory
from tests.providers.entra.graph_rig import ADMINS, GraphRig, body_of, graph, make_resource
from tests.support.arm_rig import ArmAccess, StaticCredential, anonymous
from tests.support.fake_clock import FakeClock

ID = "00000000-0000-4000-8000-000000000001"
ONE = {"@odata.context": "…", "id": ID, "displayName": "Admins", "mailNickname": "admins", "groupTypes": []}
FOR_ROLES = {**ADMINS, "isAssignableToRole": True}


async def find(rig):
    await rig.find(make_resource())


async def read(rig):
    await rig.find(make_resource(given_id=ID))


async def create(rig):
    await rig.put(make_resource())


async def create_for_roles(rig):
    await rig.put(make_resource(FOR_ROLES))


async def change(rig):
    add(rig, ADMINS)
    await rig.put(make_resource({**ADMINS, "description": "new"}, given_id=ID))


async def delete(rig):
    add(rig, ADMINS)
    await rig.delete(make_resource(None, given_id=ID))


def add(rig, body):
    rig.azure.put(f"/v1.0/groups/{ID}", {name: body[name] for name in ("displayName", "mailNickname", "description")})


DENIED = {
    "a search": (find, [], "Group.Read.All"),
    "a read": (read, [], "Group.Read.All"),
    "a create": (create, ["Group.Read.All"], "Group.ReadWrite.All"),
    "a change by who may only create": (change, ["Group.Read.All", "Group.Create"], "Group.Create is not enough"),
    "a create for roles": (create_for_roles, ["Group.ReadWrite.All"], "RoleManagement.ReadWrite.Directory"),
    "a delete": (delete, ["Group.Read.All", "Group.Create"], "Group.ReadWrite.All"),
}


@pytest.mark.parametrize(("act", "permissions", "missing"), DENIED.values(), ids=DENIED)
async def test_a_permission_that_is_missing_is_named(act, permissions, missing):
    async with graph(permissions=tuple(permissions)) as rig:
        with pytest.raises(ArmError) as caught:
            await act(rig)
    error = caught.value
    assert (error.status, error.code) == (403, "Authorization_RequestDenied")
    assert error.message == "Insufficient privileges to complete the operation."
    assert missing in error.hint
    assert "role" not in error.hint.replace("RoleManagement", "").casefold() or "isAssignableToRole" in error.hint
    assert error.request_id


async def test_a_plan_needs_only_the_permission_to_read():
    async with graph(permissions=("Group.Read.All",)) as rig:
        add(rig, ADMINS)
        assert body_of(await rig.find(make_resource())) == ADMINS


@pytest.mark.parametrize(
    "status",
    [pytest.param(429, id="throttled"), pytest.param(503, id="not available"), pytest.param(504, id="too late")],
)
async def test_a_read_is_tried_again_after_the_time_that_graph_asks_for(status):
    canned = Canned(status=status, code="Busy", headers={"Retry-After": "7"})
    async with graph(rules=[FaultRule(match=Match(type="microsoft.graph/groups", nth=(1,)), answer=canned)]) as rig:
        assert isinstance(await rig.find(make_resource()), Absence)
        assert 7.0 in rig.clock.slept


async def test_a_write_that_was_throttled_is_sent_again():
    canned = Canned(status=429, code="TooManyRequests", headers={"Retry-After": "3"})
    async with graph(rules=[FaultRule(match=Match(methods=("POST",), nth=(1, 2)), answer=canned)]) as rig:
        await create(rig)
        assert rig.sent() == [("POST", 429), ("POST", 429), ("POST", 201)]


UNEXPECTED = {
    "a page of a proxy": Canned(status=200, body="<html>sign in</html>"),
    "nothing": Canned(status=200),
    "a list": Canned(status=200, body=[]),
    "no value": Canned(status=200, body={"@odata.context": "…"}),
    "a value that is no list": Canned(status=200, body={"value": {}}),
    "an entry that is none": Canned(status=200, body={"value": ["Admins"]}),
    "an entry without an id": Canned(status=200, body={"value": [{**ONE, "id": None}]}),
    "an id that is none": Canned(status=200, body={"value": [{**ONE, "id": "../x"}]}),
    "an error in disguise": Canned(status=200, body={"error": {"code": "x", "message": "y"}, "value": []}),
    "a page elsewhere": Canned(status=200, body={"value": [], "@odata.nextLink": "https://evil.example/v1.0/groups"}),
    "a circle": Canned(status=200, body={"value": [], "@odata.nextLink": "{base}/v1.0/groups?$skiptoken=a"}),
    "a 404 of the search": Canned(status=404, body={"error": {"code": "Request_ResourceNotFound", "message": "no"}}),
}


@pytest.mark.parametrize("canned", UNEXPECTED.values(), ids=UNEXPECTED)
async def test_an_odd_answer_to_a_search_is_no_absence(canned):
    async with graph(rules=[FaultRule(match=Match(methods=("GET",)), answer=canned)]) as rig:
        with pytest.raises(ArmError) as caught:
            await find(rig)
        assert caught.value.code != "Request_ResourceNotFound" or caught.value.status == 404


MALFORMED_GROUPS = {
    "a page of a proxy": Canned(status=200, body="<html>sign in</html>"),
    "another group": Canned(status=200, body={**ONE, "id": "00000000-0000-4000-8000-000000000002"}),
    "no id": Canned(status=200, body={"displayName": "Admins"}),
    "no name": Canned(status=200, body={**ONE, "displayName": None}),
    "odd types": Canned(status=200, body={**ONE, "groupTypes": None}),
    "a description that is none": Canned(status=200, body={**ONE, "description": {}}),
    "a 404 of a proxy": Canned(status=404, body="<html>not here</html>"),
    "a 404 without a body": Canned(status=404),
    "a 404 without an error": Canned(status=404, body={"message": "no route"}),
    "a 401": Canned(status=401, body={"error": {"code": "InvalidAuthenticationToken", "message": "expired"}}),
    "a 400": Canned(status=400, body={"error": {"code": "Request_BadRequest", "message": "no"}}),
}


@pytest.mark.parametrize("canned", MALFORMED_GROUPS.values(), ids=MALFORMED_GROUPS)
async def test_an_odd_answer_to_a_read_is_no_absence(canned):
    async with graph(rules=[FaultRule(match=Match(methods=("GET",)), answer=canned)]) as rig:
        with pytest.raises(ArmError):
            await read(rig)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"error": {"code": "Request_ResourceNotFound", "message": "no"}}, id="of the documentation"),
        pytest.param(
            {"error": {"code": "InternalServerError", "message": '{"code":"ResourceNotFound"}'}}, id="recorded"
        ),
    ],
)
async def test_the_status_decides_about_absence_whatever_the_code(body):
    rule = FaultRule(match=Match(methods=("GET", "DELETE")), answer=Canned(status=404, body=body))
    async with graph(rules=[rule]) as rig:
        assert isinstance(await rig.find(make_resource(given_id=ID)), Absence)
        await rig.delete(make_resource(None, name="pruned", given_id=ID))


async def test_a_create_without_an_id_in_its_answer_may_have_been_done():
    rule = FaultRule(match=Match(methods=("POST",)), answer=Canned(status=201, body={"displayName": "Admins"}))
    async with graph(rules=[rule]) as rig:
        with pytest.raises(ArmError, match="it has no id") as caught:
            await create(rig)
        assert caught.value.outcome_unknown


@pytest.mark.parametrize(
    "nickname",
    [
        pytest.param("admins@contoso.com", id="an address, which the CRD's comment allows"),
        pytest.param("a b", id="a blank"),
        pytest.param("ä", id="not ASCII"),
        pytest.param("n" * 65, id="too long"),
    ],
)
async def test_what_graph_says_of_a_value_is_passed_on(nickname):
    async with graph() as rig:
        with pytest.raises(ArmError, match="mailNickname") as caught:
            await rig.put(make_resource({**ADMINS, "mailNickname": nickname}))
        assert (caught.value.status, caught.value.code) == (400, "Request_BadRequest")
        assert caught.value.details[0]["target"] == "mailNickname"


async def test_a_graph_that_cannot_be_reached_is_called_by_its_name():
    async with graph(rules=[FaultRule(match=Match(methods=("POST",)), drop=Drop.BEFORE)]) as rig:
        with pytest.raises(ArmError, match="Microsoft Graph did not respond"):
            await create(rig)


class TestTokens:
    """Who asks, and with a token for what."""

    async def test_one_credential_gives_a_token_for_graph_and_it_is_used(self):
        team = EmulatedPrincipal(client="team", object="team-object", secret="s")
        settings = EmulatorSettings(require_token=True, principals=(team,), limits=None)
        clock = FakeClock()
        async with Emulator(settings, clock=clock) as azure:
            credential = StaticCredential(azure.tokens.token(team, audience=azure.url))
            access = ArmAccess(cloud=make_cloud(azure.url), sign_in=SignIn(method=Method.CLIENT_SECRET))
            async with open_arm(access, clock, credential) as arm:
                rig = GraphRig(azure, clock, arm, EntraDirectory(clock))
                await create(rig)
            assert credential.requested == [f"{azure.url}/.default"]
            assert azure.requests[-1].client == "team"

    async def test_a_token_that_is_not_accepted_says_so(self):
        clock = FakeClock()
        async with (
            Emulator(EmulatorSettings(require_token=True), clock=clock) as azure,
            open_arm(anonymous(azure.url), clock) as arm,
        ):
            with pytest.raises(ArmError) as caught:
                await read(GraphRig(azure, clock, arm, EntraDirectory(clock)))
        assert (caught.value.status, caught.value.code) == (401, "InvalidAuthenticationToken")
        assert "is not accepted by Microsoft Graph" in caught.value.hint
