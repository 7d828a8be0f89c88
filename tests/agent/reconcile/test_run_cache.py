"""What a run remembers of what it read, and what a write makes it forget."""

from __future__ import annotations

import asyncio

import pytest

from gitsync.agent.reconcile.run_cache import RunCache
from gitsync.errors import ArmError
from gitsync.extensions.api import LookupRequest
from gitsync.model.arm_id import ArmId
from gitsync.model.live import Live
from tests.support.builders import group_id, vnet_id

SEEN = Live(body={"name": "seen"})
ANEW = Live(body={"name": "read anew"})
SUBNET = f"{vnet_id()}/subnets/one"


async def read() -> Live:
    return ANEW


@pytest.mark.parametrize(
    ("written", "expected", "why"),
    [
        (group_id("other"), SEEN, "a write elsewhere says nothing of it"),
        (f"{vnet_id()}2", SEEN, "nor one to what only begins with its name"),
        (group_id(), SEEN, "nor one to what it lies in"),
        (vnet_id().upper() + "/", ANEW, "a write to it, however its id is spelled"),
        (SUBNET, ANEW, "a write to a child shows in it"),
    ],
)
async def test_what_is_read_is_kept_until_a_write_may_have_changed_it(written, expected, why):
    cache = RunCache()
    cache.keep(vnet_id(), SEEN)
    cache.note_write(ArmId(written))
    assert await cache.read_once(ArmId(vnet_id().lower()), read) is expected, why


async def test_one_read_serves_all():
    cache, reads = RunCache(), []

    async def count() -> Live:
        reads.append(None)
        await asyncio.sleep(0)
        return ANEW

    await asyncio.gather(*(cache.read_once(vnet_id(), count) for _ in range(3)))
    assert len(reads) == 1


async def test_a_question_for_the_run_is_asked_until_it_has_an_answer():
    cache, reads = RunCache(), []
    lookup = LookupRequest("/roles", "1", lists=True, for_the_run=True)
    answers = iter([ArmError("No."), (), ({"name": "a"},), ({"name": "never asked for"},)])

    async def list_once():
        reads.append(None)
        await asyncio.sleep(0)
        answer = next(answers)
        if isinstance(answer, ArmError):
            raise answer
        return answer

    with pytest.raises(ArmError):
        await cache.look_up_once(lookup, list_once)
    assert await cache.look_up_once(lookup, list_once) == ()
    found = await asyncio.gather(*(cache.look_up_once(lookup, list_once) for _ in range(3)))
    assert found == [({"name": "a"},)] * 3
    assert len(reads) == 3, "neither a failure nor an empty list is kept, and what is kept serves all"


@pytest.mark.parametrize(
    ("sizes", "kept", "why"),
    [
        ([1000], [True], "as nearly all are"),
        ([2 << 20], [False], "a large one is read again when it is asked for"),
        ([1 << 20] * 40, [True] * 32 + [False] * 8, "all together have a bound"),
    ],
)
async def test_what_is_kept_has_a_bound(sizes, kept, why):
    cache = RunCache()
    for number, size in enumerate(sizes):
        cache.keep(ArmId(f"{vnet_id()}{number}"), Live(body={"name": "seen"}, bytes_read=size))
    found = [await cache.read_once(ArmId(f"{vnet_id()}{number}"), read) for number in range(len(sizes))]
    assert [live.body == {"name": "seen"} for live in found] == kept, why


async def test_what_is_forgotten_makes_room():
    cache = RunCache()
    for _ in range(100):
        cache.keep(vnet_id(), Live(body={"name": "seen"}, bytes_read=1 << 20))
        cache.note_write(ArmId(SUBNET))
    cache.keep(vnet_id(), Live(body={"name": "seen"}, bytes_read=1 << 20))
    assert (await cache.read_once(vnet_id(), read)).body == {"name": "seen"}
