"""The bound on all answers that are read at once: it holds, and no one waits without end."""

import asyncio
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.providers.arm.client import open_arm
from gitsync.providers.arm.http.answer_budget import FREE, MOST_TOGETHER, AnswerBudget
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.providers.arm.session import Session
from tests.providers.arm.raw_server import complete, raw_server
from tests.support.arm_rig import API, VNET, anonymous

MB = 1 << 20


async def read(budget, pieces, seen):
    with budget.share() as share:
        for piece in pieces:
            await share.note(piece)
            seen.append(budget.used)
            await asyncio.sleep(0)
    return sum(pieces)


ANSWERS = st.lists(st.lists(st.integers(1, 12), max_size=6), min_size=1, max_size=12)


@given(ANSWERS)
async def test_all_answers_are_read_and_the_bound_is_passed_by_one_of_them_alone(answers):
    budget, seen = AnswerBudget(most=4 * MB), []
    sizes = [[piece * MB // 4 for piece in pieces] for pieces in answers]
    done = await asyncio.wait_for(asyncio.gather(*(read(budget, pieces, seen) for pieces in sizes)), 30)
    assert done == [sum(pieces) for pieces in sizes]
    assert budget.used == 0
    assert max(seen, default=0) <= 4 * MB + max(map(sum, sizes))


async def test_small_answers_are_not_counted():
    budget, seen = AnswerBudget(most=0), []
    await asyncio.gather(*(read(budget, [FREE], seen) for _ in range(50)))
    assert set(seen) == {0}


@pytest.mark.parametrize("is_waiting", [True, False], ids=["while it waits", "while it reads"])
async def test_a_read_that_is_given_up_gives_back_its_share(is_waiting):
    budget = AnswerBudget(most=1 * MB)
    go = asyncio.Event()

    async def hold(size):
        with budget.share() as share:
            await share.note(size)
            await go.wait()

    first = asyncio.create_task(hold(1 * MB))
    await asyncio.sleep(0)
    second = asyncio.create_task(hold(1 * MB))
    await asyncio.sleep(0)
    given_up, other = (second, first) if is_waiting else (first, second)
    given_up.cancel()
    await asyncio.wait([given_up])
    go.set()
    await asyncio.wait_for(other, 30)
    assert budget.used == 0


def large_vnet(megabytes):
    body = {"id": VNET, "name": "hub", "properties": {"provisioningState": "Succeeded", "text": "x" * (megabytes * MB)}}
    return complete(json.dumps(body).encode())


async def test_seven_answers_of_nearly_the_largest_size_take_the_memory_of_a_few():
    """They come at the same time, piece by piece."""
    answer = large_vnet(15)

    async def serve(_line):
        for at in range(0, len(answer), 1 << 16):
            yield answer[at : at + (1 << 16)]

    clock = SystemClock()
    async with raw_server(serve) as url, open_arm(anonymous(url), clock) as arm:
        session = Session(deadline=clock.monotonic() + 300)

        async def read_size():
            live = await arm.reader(session).get(VNET, API)
            return live.bytes_read

        tracemalloc.start()
        try:
            sizes = await asyncio.gather(*(read_size() for _ in range(7)))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert min(sizes) > 15 * MB
    assert peak < MOST_TOGETHER + 5 * 16 * MB
