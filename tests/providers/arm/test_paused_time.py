"""How long limits paused a run: waits that overlap count once, and so does one that is still going on."""

import asyncio

from gitsync.model.limits import Limit, RequestKind
from gitsync.providers.arm.http.throttle import PausedTime, Throttle
from gitsync.providers.arm.session import Session
from tests.support.fake_clock import FakeClock


def test_waits_that_overlap_count_once():
    clock = FakeClock()
    paused = PausedTime(clock)
    with paused.pausing():
        clock.elapsed = 2.0
        with paused.pausing():
            clock.elapsed = 3.0
        clock.elapsed = 5.0
        assert paused.seconds == 5.0, "it is still going on"
    clock.elapsed = 100.0
    with paused.pausing():
        clock.elapsed = 101.0
    assert paused.seconds == 6.0


async def test_a_bucket_that_is_empty_holds_requests_back_and_slots_do_not():
    clock = FakeClock()
    paused = PausedTime(clock)
    limits = {kind: Limit(2, 1) for kind in RequestKind}
    throttle = Throttle(clock, asyncio.Semaphore(1), limits, paused=paused)

    async def send_request() -> None:
        assert await throttle.admit("GET", "/subscriptions/a", Session(deadline=1e9))
        throttle.release("GET", "/subscriptions/a")

    await asyncio.gather(send_request(), send_request())
    assert paused.seconds == 0
    await asyncio.gather(send_request(), send_request(), send_request())
    assert paused.seconds == clock.elapsed == 3.0
