"""Answers of Microsoft Graph that are none: any JSON is an error of the provider or the requested group. Nothing else
is requested, no token leaves for another host, and no group is shown twice or as what it is not.
"""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.errors import ArmError
from gitsync.model.live import Absence, Live
from tests.providers.entra.graph_rig import ADMINS, body_of, graph, make_resource
from tests.support.hypothesis_profile import scale

ID = "00000000-0000-4000-8000-00000000000a"
OTHER_ID = "00000000-0000-4000-8000-00000000000b"
GROUP = {
    "id": ID,
    "displayName": "Admins",
    "mailNickname": "admins",
    "description": None,
    "groupTypes": [],
    "securityEnabled": True,
    "isAssignableToRole": None,
    "createdDateTime": "2026-01-01T00:00:00Z",
}
GROUPS = "/v1.0/groups"


def answers(method, path, body, status=200):
    return FaultRule(match=Match(methods=frozenset({method}), path=path), answer=Canned(status=status, body=body))


def search(*groups, **members):
    return answers("GET", GROUPS, {"value": [*groups], **members})


def read(**members):
    return answers("GET", f"{GROUPS}/{ID}", GROUP | members)


WRONG = [
    ({"id": "../../users/rob"}, "an id that leads elsewhere"),
    ({"id": ID + "\n"}, "an id with a line"),
    ({"id": ID * 1000}, "a long id"),
    ({"id": [ID]}, "an id that is no text"),
    ({"id": OTHER_ID}, "another group"),
    ({"displayName": None}, "no name"),
    ({"displayName": {"a": 1}}, "a name that is no text"),
    ({"description": ["x"]}, "a description that is no text"),
    ({"mailNickname": 7}, "a nickname that is no text"),
    ({"groupTypes": "Unified"}, "types that are no list"),
    ({"groupTypes": None}, "no types"),
    ({"groupTypes": [{"a": 1}]}, "types that are no texts"),
    ({"isAssignableToRole": "false"}, "a switch that is a text"),
    ({"isAssignableToRole": 1}, "a switch that is a number"),
]


@pytest.mark.parametrize(("members", "why"), WRONG, ids=[row[-1] for row in WRONG])
async def test_a_read_of_what_is_no_group_is_no_absence_and_no_group(members, why):
    async with graph(rules=[read(**members)]) as rig:
        with pytest.raises(ArmError) as failure:
            await rig.find(make_resource(given_id=ID))
        assert failure.value.code == "MalformedGroup", why
        assert len(str(failure.value)) < 1000


@pytest.mark.parametrize(("members", "why"), WRONG, ids=[row[-1] for row in WRONG])
async def test_a_create_with_such_an_answer_may_have_been_done(members, why):
    if members.get("id") == OTHER_ID:
        return  # no id is known before
    async with graph(rules=[answers("POST", GROUPS, GROUP | members, 201)]) as rig:
        with pytest.raises(ArmError) as failure:
            await rig.put(make_resource(mode="AlwaysCreate"))
        assert failure.value.outcome_unknown, why


async def test_a_group_that_two_pages_show_is_one():
    """A list that changes while it is read shows an entry twice."""
    async with graph(rules=[search(GROUP, GROUP | {"id": ID.upper()})]) as rig:
        live = await rig.find(make_resource())
        assert isinstance(live, Live)
        assert body_of(live)["displayName"] == "Admins"


LINKS = [
    ("https://evil.example/v1.0/groups?$skiptoken=a", "another host"),
    ("http://127.0.0.1:1/v1.0/groups", "another port"),
    ("//evil.example/v1.0/groups", "another host without a scheme"),
    (7, "no text"),
    ({}, "no text either"),
    ("https://[", "no link"),
    ("a" * 100_000, "a long one"),
    ("\x00", "a control character"),
]


@pytest.mark.parametrize(("link", "why"), LINKS, ids=[row[-1] for row in LINKS])
async def test_a_link_that_leads_elsewhere_is_not_followed(link, why):
    async with graph(rules=[search(**{"@odata.nextLink": link})]) as rig:
        with pytest.raises(ArmError):
            await rig.find(make_resource())
        assert {request.path.partition("?")[0] for request in rig.azure.requests} <= {GROUPS}, why


@pytest.mark.parametrize(
    "time", ["", "yesterday", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", 7, None, {}]
)
async def test_any_time_of_a_creation_is_taken(time):
    async with graph(rules=[read(createdDateTime=time)]) as rig:
        assert isinstance(await rig.find(make_resource(given_id=ID)), Live)


@pytest.mark.parametrize("text", ["\x1b[2Jrob", "::error::x", "<script>", "r" * 100_000, "\u202e", "\ud800"])
async def test_any_text_of_an_error_is_short_and_a_refusal(text):
    body = {"error": {"code": text, "message": text}}
    async with graph(rules=[answers("GET", GROUPS, body, 403)]) as rig:
        with pytest.raises(ArmError) as failure:
            await rig.find(make_resource())
        assert len(failure.value.message) + len(failure.value.code) < 10_000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)
MEMBERS = st.dictionaries(st.sampled_from([*GROUP]), JSON, max_size=4)
FOUND = st.fixed_dictionaries(
    {}, optional={"value": st.lists(MEMBERS.map(lambda some: GROUP | some) | JSON, max_size=3)}
)
RARE = settings(max_examples=scale(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@given(found=FOUND | JSON, status=st.sampled_from([200, 200, 200, 204, 400, 404]))
@RARE
async def test_any_answer_to_a_search_is_a_group_an_absence_or_an_error(found, status):
    async with graph(rules=[answers("GET", GROUPS, found, status)]) as rig:
        try:
            live = await rig.find(make_resource())
        except ArmError:
            return
        listed = found.get("value") if isinstance(found, dict) else None
        assert status == 200, "no absence without a list"
        assert isinstance(listed, list)
        if isinstance(live, Live):
            assert body_of(live)["displayName"].casefold() == "admins"
            json.dumps(live.body)
        else:
            assert isinstance(live, Absence)


@given(members=MEMBERS)
@RARE
async def test_any_answer_to_a_read_is_the_group_or_an_error(members):
    async with graph(rules=[read(**members)]) as rig:
        try:
            live = await rig.find(make_resource(given_id=ID))
        except ArmError as error:
            assert error.code == "MalformedGroup"
            return
        assert isinstance(live, Live)
        assert live.body["id"] == ID
        assert {type(live.body[name]) for name in ("displayName", "membershipType")} == {str}
        assert set(body_of(live)) <= set(ADMINS)
