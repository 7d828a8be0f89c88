"""Graph is late: what a new or deleted group looks like for some seconds, and what is made of it."""

import pytest

from gitsync.emulator.faults import Canned, Drop, FaultRule, Match
from gitsync.errors import ArmError, DeadlineError
from gitsync.model.live import Absence, Live
from tests.providers.entra.graph_rig import ADMINS, body_of, graph, make_resource

CHANGED = {**ADMINS, "description": "another"}


async def test_a_read_that_is_late_says_absent_and_the_id_is_kept():
    async with graph(read=10, filter=3600) as rig:
        resource = make_resource()
        await rig.put(resource)
        created = rig.sent()
        assert isinstance(await rig.find(resource), Absence), "the stages of a run read it again"
        rig.clock.elapsed += 10
        assert body_of(await rig.find(resource)) == ADMINS
        assert created + rig.sent() == [("POST", 201), ("GET", 404), ("GET", 200)], "it is never searched"


async def test_a_group_that_no_read_finds_for_long_is_not_created_twice():
    async with graph(read=300) as rig:
        resource = make_resource()
        await rig.put(resource)
        for _ in range(8):
            assert isinstance(await rig.find(resource), Absence)
            rig.clock.elapsed += 10
        with pytest.raises(ArmError) as caught:
            await rig.put(resource)
        assert (caught.value.status, caught.value.code) == (404, "Request_ResourceNotFound")
        assert len(rig.ids()) == 1


LATE = {
    "the read before": {"read": 20},
    "the change itself": {"patch": 20},
    "both": {"read": 10, "patch": 20},
}


@pytest.mark.parametrize("delays", LATE.values(), ids=LATE)
async def test_a_change_of_a_new_group_waits_for_it(delays):
    async with graph(**delays) as rig:
        await rig.put(make_resource())
        await rig.put(make_resource(CHANGED))
        assert body_of(await rig.find(make_resource(CHANGED))) == CHANGED
        assert 20 <= rig.clock.elapsed < 40


async def test_the_wait_for_a_new_group_ends_with_the_time_of_its_resource():
    async with graph(patch=3600) as rig:
        await rig.put(make_resource())
        writer = rig.writer(make_resource(CHANGED), rig.session(seconds=15))
        with pytest.raises(DeadlineError, match="before Microsoft Graph was consistent") as caught:
            await writer.put("", "", CHANGED)
        assert (caught.value.code, rig.clock.elapsed <= 15) == ("DeadlineExceeded", True)


async def test_a_404_for_the_delete_of_a_new_group_is_no_proof():
    async with graph(delete=10) as rig:
        await rig.put(make_resource())
        rig.sent()
        await rig.delete(make_resource())
        sent = rig.sent()
        assert (sent[0], sent[-1], rig.ids()) == (("DELETE", 404), ("DELETE", 204), [])


async def test_the_next_run_knows_by_its_time_that_a_group_is_new():
    async with graph(delete=10) as rig:
        await rig.put(make_resource())
        later = rig.next_run()
        pruned = make_resource(None, given_id=rig.ids()[0])
        assert isinstance(await later.find(pruned), Live)
        await later.delete(pruned)
        assert rig.ids() == []


async def test_an_old_group_that_answers_404_to_a_delete_is_gone():
    async with graph() as rig:
        group_id = await rig.make()
        rig.clock.elapsed += 3600
        pruned, later = make_resource(None, given_id=group_id), rig.next_run()
        assert isinstance(await later.find(pruned), Live)
        rig.azure.remove(f"/v1.0/groups/{group_id}")
        await later.delete(pruned)
        assert rig.sent() == [("GET", 200), ("DELETE", 404)]


async def test_a_deleted_group_that_is_still_shown_is_gone_for_the_run():
    async with graph(gone=30) as rig:
        resource = make_resource()
        await rig.put(resource)
        deleted = (await rig.find(resource)).body["id"]
        await rig.delete(resource)
        rig.sent()
        assert isinstance(await rig.find(resource), Absence)
        assert rig.sent() == [], "the 204 was proof"
        await rig.put(resource)
        assert (await rig.find(resource)).body["id"] != deleted


async def test_a_group_that_vanished_before_its_change_is_left_to_the_next_run():
    async with graph() as rig:
        group_id = await rig.make()
        rig.clock.elapsed += 3600
        resource, later = make_resource(CHANGED, given_id=group_id), rig.next_run()
        await later.find(resource)
        rig.azure.remove(f"/v1.0/groups/{group_id}")
        with pytest.raises(ArmError, match="does not exist") as caught:
            await later.put(resource)
        assert caught.value.status == 404
        assert rig.ids() == []


async def test_a_search_after_a_lost_answer_ends_with_the_time_of_its_resource():
    async with graph(rules=[FaultRule(match=Match(methods=("POST",), nth=(1,)), drop=Drop.AFTER)], filter=3600) as rig:
        resource = make_resource()
        with pytest.raises(ArmError):
            await rig.put(resource)
        with pytest.raises(DeadlineError, match="no search has found the group yet"):
            await rig.reader(resource, rig.session(seconds=20)).find("", "")


async def test_a_create_that_was_not_done_is_waited_for_once():
    lost = FaultRule(match=Match(methods=("POST",), nth=(1,)), drop=Drop.BEFORE)
    async with graph(rules=[lost]) as rig:
        resource = make_resource()
        with pytest.raises(ArmError):
            await rig.put(resource)
        assert isinstance(await rig.find(resource), Absence)
        assert 60 <= rig.clock.elapsed < 75
        rig.sent()
        assert isinstance(await rig.find(resource), Absence)
        assert rig.sent() == [("GET", 200)]


async def test_a_group_is_new_whatever_graph_says_of_the_time():
    """Its clock may differ from ours."""
    group = {"id": "00000000-0000-4000-8000-000000000001", "groupTypes": [], "createdDateTime": "2020-01-01T00:00:00Z"}
    created = Canned(status=201, body={**ADMINS, **group})
    async with graph(rules=[FaultRule(match=Match(methods=("POST",)), answer=created)]) as rig:
        await rig.put(make_resource())
        await rig.delete(make_resource())
        sent = rig.sent()
        assert sent.count(("DELETE", 404)) > 5
        assert rig.clock.elapsed >= 60, "then it counts as gone"
