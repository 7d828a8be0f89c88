"""Members of groups: what is added and removed, in how many requests, and what Graph shows too late."""

from __future__ import annotations

import pytest

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.errors import ArmError
from tests.providers.entra.graph_rig import ADMINS, body_of, graph, make_resource

IDS = [f"{number:08x}-0000-4000-8000-000000000000" for number in range(1, 60)]


def with_members(ids, *, member="memberIds", applied=None, given_id=""):
    body = {**ADMINS, member: {f"UserAssignedIdentity/m{object_id[6:8]}": object_id for object_id in ids}}
    return make_resource(body, given_id=given_id, applied=applied)


def links(rig) -> list[str]:
    """The ids of all members, sorted."""
    (group_id,) = (found for found in rig.ids() if rig.group(found)["displayName"] == ADMINS["displayName"])
    return sorted(rig.group(group_id)["members"])


async def test_forty_five_members_are_three_requests_and_a_second_put_is_none():
    async with graph(page_size=7) as rig:
        resource = with_members(IDS[:45])
        await rig.put(resource)
        writes = [entry for entry in rig.sent() if entry[0] != "GET"]
        assert writes == [("POST", 201), *[("PATCH", 204)] * 3]
        assert links(rig) == IDS[:45]
        assert body_of(await rig.find(resource)) == {**resource.body}
        rig.sent()
        await rig.put(resource)
        assert {method for method, _ in rig.sent()} == {"GET"}


ROWS = [
    ("memberIds", IDS[:3], IDS[2:5], IDS[2:5], "a complete list removes the others"),
    ("memberIds", IDS[:3], [], [], "an empty complete list removes all"),
    ("addedMemberIds", IDS[:3], IDS[2:5], IDS[:5], "an added list keeps the others"),
    ("addedMemberIds", IDS[:3], [], IDS[:3], "an empty one changes nothing"),
]


@pytest.mark.parametrize(("member", "before", "wanted", "after", "why"), ROWS, ids=[row[-1] for row in ROWS])
async def test_what_a_list_makes_of_the_members(member, before, wanted, after, why):
    async with graph() as rig:
        await rig.put(with_members(before))
        (group_id,) = rig.ids()
        later = rig.next_run()
        await later.put(with_members(wanted, member=member, given_id=group_id))
        assert links(rig) == after, why
        shown = body_of(await later.find(with_members(wanted, member=member, given_id=group_id)))[member]
        assert sorted(shown.values()) == wanted


async def test_an_added_list_removes_what_it_added_before_and_shows_its_name():
    async with graph() as rig:
        await rig.put(with_members(IDS[:3]))
        (group_id,) = rig.ids()
        applied = {"addedMemberIds": {"SecurityGroup/old": IDS[1]}}
        resource = with_members(IDS[:1], member="addedMemberIds", applied=applied, given_id=group_id)
        later = rig.next_run()
        shown = body_of(await later.find(resource))["addedMemberIds"]
        assert shown == {"UserAssignedIdentity/m01": IDS[0], "SecurityGroup/old": IDS[1]}
        await later.put(resource)
        assert links(rig) == [IDS[0], IDS[2]]


async def test_a_list_that_lags_behind_neither_repeats_nor_loses_a_write():
    async with graph(links=30) as rig:
        resource = with_members(IDS[:3])
        await rig.put(resource)
        assert body_of(await rig.find(resource)) == resource.body
        (group_id,) = rig.ids()
        smaller = with_members(IDS[:2], given_id=group_id)
        await rig.put(smaller)
        assert body_of(await rig.find(smaller)) == smaller.body


async def test_a_run_that_sees_an_old_list_adds_what_graph_refuses_and_goes_on():
    async with graph(links=30) as rig:
        await rig.put(with_members(IDS[:3]))
        (group_id,) = rig.ids()
        rig.sent()
        await rig.next_run().put(with_members(IDS[:4], given_id=group_id))
        assert ("PATCH", 400) in rig.sent()
        assert links(rig) == IDS[:4]


async def test_a_member_that_graph_does_not_have_yet_is_waited_for():
    async with graph(read=20) as rig:
        group_id = await rig.make({"displayName": "Other", "mailNickname": "other"})
        await rig.put(with_members([group_id]))
        assert links(rig) == [group_id]


async def test_a_member_that_never_comes_is_an_error_after_a_minute():
    canned = Canned(status=404, body={"error": {"code": "Request_ResourceNotFound", "message": "no such object"}})
    async with graph(rules=[FaultRule(match=Match(path="*/members/$ref"), answer=canned)]) as rig:
        with pytest.raises(ArmError) as caught:
            await rig.put(with_members(IDS[:1]))
        assert caught.value.code == "Request_ResourceNotFound"


async def test_a_throttled_addition_is_sent_again():
    canned = Canned(status=429, code="TooManyRequests", headers={"Retry-After": "3"})
    async with graph(rules=[FaultRule(match=Match(methods=("PATCH",), nth=(1, 2)), answer=canned)]) as rig:
        await rig.put(with_members(IDS[:2]))
        assert links(rig) == IDS[:2]
        assert rig.sent()[-3:] == [("PATCH", 429), ("PATCH", 429), ("PATCH", 204)]


MISSING = [
    (("Group.Create",), "GroupMember.Read.All", "the list"),
    (("Group.Read.All", "Group.Create"), "GroupMember.ReadWrite.All", "the addition"),
]


@pytest.mark.parametrize(("permissions", "named", "why"), MISSING, ids=[row[-1] for row in MISSING])
async def test_a_refusal_names_the_permission(permissions, named, why):
    async with graph(permissions=permissions) as rig:
        with pytest.raises(ArmError) as caught:
            await rig.put(with_members(IDS[:1]))
        assert named in caught.value.hint, why


async def test_a_group_without_the_annotation_is_not_asked_for_its_members():
    async with graph() as rig:
        await rig.put(make_resource())
        await rig.find(make_resource())
        assert not [request for request in rig.azure.requests if "members" in request.path]
