"""Request buckets: how many may go, when, and what Azure's answers change about it."""

import asyncio
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitsync.model.limits import ARM_LIMITS, Limit, RequestKind
from gitsync.model.report import LimitUse
from gitsync.providers.arm.http.messages import Response
from gitsync.providers.arm.http.throttle import Throttle, classify_method
from gitsync.providers.arm.session import Session
from tests.support.fake_clock import FakeClock
from tests.support.hypothesis_profile import scale

SUB = "/subscriptions/AAAA"
VNET = f"{SUB}/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v"
VAULT = f"{SUB}/resourceGroups/g/providers/Microsoft.KeyVault/vaults/v"
SMALL = {RequestKind.READS: Limit(3, 2), RequestKind.WRITES: Limit(2, 1), RequestKind.DELETES: Limit(1, 1)}
FOREVER = Session(deadline=1e9)


async def times(throttle: Throttle, clock: FakeClock, count: int, path: str = VNET, method: str = "GET") -> list[float]:
    """When each of so many requests may go, in the order of asking."""
    admitted: list[float] = []

    async def send_request() -> None:
        assert await throttle.admit(method, path, FOREVER)
        admitted.append(round(clock.elapsed, 3))
        throttle.release(method, path)

    await asyncio.gather(*(send_request() for _ in range(count)))
    return admitted


def make_throttle(clock: FakeClock, limits=ARM_LIMITS) -> Throttle:
    return Throttle(clock, asyncio.Semaphore(1000), limits)


def hold(throttle: Throttle, seconds: float, method: str = "GET", cause: str = "gateway") -> None:
    """A 429 to a request for VNET that was sent long ago, after the one before."""
    throttle.pause(method, VNET, answer(429, x_ms_failure_cause=cause), "TooManyRequests", seconds, next(MOMENTS))


MOMENTS = count(2000.0)


def answer(status: int = 200, **headers: str) -> Response:
    return Response(status=status, headers={name.replace("_", "-"): value for name, value in headers.items()})


def remaining(middle: str, kind: str, left: int) -> Response:
    return Response(status=200, headers={f"x-ms-ratelimit-remaining-{middle}-{kind}": str(left)})


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("GET", "reads"),
        ("HEAD", "reads"),
        ("PUT", "writes"),
        ("PATCH", "writes"),
        ("POST", "writes"),
        ("DELETE", "deletes"),
    ],
)
def test_what_a_request_counts_as(method: str, kind: str):
    assert classify_method(method) == kind


async def test_a_burst_and_then_the_rate():
    clock = FakeClock()
    throttle = make_throttle(clock, SMALL)
    assert await times(throttle, clock, 6) == [0, 0, 0, 0.5, 1, 1.5]


async def test_arms_own_sizes():
    clock = FakeClock()
    throttle = make_throttle(clock)
    reads, writes = await times(throttle, clock, 260), await times(throttle, clock, 201, method="PUT")
    assert reads[249] == 0
    assert reads[259] == pytest.approx(10 / 25)
    start = writes[0]
    assert writes[199] == start
    assert writes[200] == pytest.approx(start + 0.1)


async def test_kinds_and_subscriptions_have_buckets_of_their_own():
    clock = FakeClock()
    throttle = make_throttle(clock, SMALL)
    assert await times(throttle, clock, 3) == [0, 0, 0]
    assert await times(throttle, clock, 2, method="PUT") == [0, 0]
    assert await times(throttle, clock, 3, path="/subscriptions/BBBB/resourceGroups/g") == [0, 0, 0]
    assert await times(throttle, clock, 3, path="/providers/Microsoft.Subscription/aliases/x") == [0, 0, 0]
    assert await times(throttle, clock, 1, path=VNET.lower()) == [0.5], "the same subscription without case"


@pytest.mark.parametrize(
    ("middle", "left", "expected", "why"),
    [
        ("subscription", 1, [0, 0.5, 1], "others spent of our bucket"),
        ("subscription", 0, [0.5, 1, 1.5], "nothing is left"),
        ("subscription", 2, [0, 0, 0.5], "what we believed anyway"),
        ("subscription", 9, [0, 0, 0], "we are granted a larger bucket"),
        ("subscription-global", 9, [0, 0, 0.5], "what all principals have left says nothing of ours"),
        ("subscription-global", 1, [0, 0.5, 1], "unless it is nearly nothing"),
        ("tenant", 0, [0, 0, 0.5], "another scope's"),
    ],
)
async def test_the_remaining_headers_correct_a_bucket(middle: str, left: int, expected: list[float], why: str):
    clock = FakeClock()
    throttle = make_throttle(clock, SMALL)
    await times(throttle, clock, 1)
    throttle.learn("GET", VNET, remaining(middle, "reads", left))
    assert await times(throttle, clock, 3) == expected, why


async def test_a_header_of_another_kind_or_none_changes_nothing():
    clock = FakeClock()
    throttle = make_throttle(clock, SMALL)
    throttle.learn("GET", VNET, remaining("subscription", "writes", 0))
    throttle.learn("GET", VNET, answer(x_ms_ratelimit_remaining_subscription_reads="many"))
    throttle.learn("GET", VNET, answer(x_ms_ratelimit_remaining_resource="Microsoft.Compute/GetVM;0"))
    assert await times(throttle, clock, 3) == [0, 0, 0]


async def test_a_tenants_requests_learn_from_the_tenants_headers():
    path = "/providers/Microsoft.Subscription/aliases/x"
    clock = FakeClock()
    throttle = make_throttle(clock, SMALL)
    throttle.learn("GET", path, remaining("tenant", "reads", 0))
    assert await times(throttle, clock, 1, path=path) == [0.5]


async def test_a_quota_holds_everyone_back_and_leaves_no_burst():
    clock = FakeClock()
    throttle = make_throttle(clock, SMALL)
    hold(throttle, 10)
    assert await times(throttle, clock, 2, path=VAULT) == [11, 12]
    assert await times(throttle, clock, 1, method="PUT") == [12], "but not what counts elsewhere"


async def test_those_who_wait_already_are_held_back_too():
    clock = FakeClock()
    throttle = make_throttle(clock, SMALL)
    waiting = asyncio.create_task(times(throttle, clock, 5))
    while len(clock.slept) < 1:  # noqa: ASYNC110 - the clock has no event for it
        await asyncio.sleep(0)
    hold(throttle, 10)
    assert await waiting == [0, 0, 0, 11, 12]


async def test_a_tired_provider_holds_back_its_own_requests_alone():
    clock = FakeClock()
    throttle = make_throttle(clock, SMALL)
    hold(throttle, 10, cause="service")
    assert await times(throttle, clock, 1, path=VAULT) == [0]
    assert await times(throttle, clock, 1, path=VNET) == [10]


async def test_another_operation_on_one_resource_holds_nobody_back():
    clock = FakeClock()
    throttle = make_throttle(clock, SMALL)
    for code in ("RetryableError", "RetryableErrorDueToAnotherOperation"):
        throttle.pause("PUT", VNET, answer(429), code, 10, clock.monotonic())
    assert await times(throttle, clock, 2, method="PUT") == [0, 0]


async def test_who_would_wait_past_the_deadline_is_told_at_once():
    clock = FakeClock()
    throttle = make_throttle(clock, SMALL)
    await times(throttle, clock, 3)
    soon, later = Session(deadline=clock.monotonic() + 0.4), Session(deadline=clock.monotonic() + 0.6)
    assert await throttle.admit("GET", VNET, soon) is False
    assert clock.slept == []
    assert await throttle.admit("GET", VNET, later) is True


@pytest.mark.parametrize("cause", ["service", "gateway"])
async def test_a_pause_past_the_deadline_is_not_waited_for(cause: str):
    clock = FakeClock()
    throttle = make_throttle(clock, SMALL)
    hold(throttle, 100, cause=cause)
    assert await throttle.admit("GET", VNET, Session(deadline=clock.monotonic() + 50)) is False
    assert clock.elapsed == 0


async def test_a_deadline_brought_forward_ends_the_wait():
    clock = FakeClock()
    throttle = make_throttle(clock, SMALL)
    await times(throttle, clock, 3)
    hold(throttle, 10)
    session = Session(deadline=clock.monotonic() + 60)
    waiting = asyncio.create_task(throttle.admit("GET", VNET, session))
    await asyncio.sleep(0)
    session.deadline = clock.monotonic()
    hold(throttle, 20)
    assert await waiting is False


async def test_who_gives_up_makes_room():
    clock = FakeClock()
    throttle = make_throttle(clock, SMALL)
    await times(throttle, clock, 3)
    quitter = asyncio.create_task(throttle.admit("GET", VNET, FOREVER))
    await asyncio.sleep(0)
    quitter.cancel()
    assert await times(throttle, clock, 1) == [0.5]


@settings(max_examples=scale(10), deadline=None)
@given(burst=st.integers(1, 20), rate=st.integers(1, 50), count=st.integers(1, 25))
async def test_no_window_holds_more_than_the_bucket_allows(burst: int, rate: int, count: int):
    clock = FakeClock()
    throttle = make_throttle(clock, {RequestKind.READS: Limit(burst, rate)})
    admitted = await times(throttle, clock, count)
    for first in range(count):
        for last in range(first, count):
            most = burst + rate * (admitted[last] - admitted[first])
            assert last - first + 1 <= most + 0.1


class CoarseClock(FakeClock):
    """A clock that a wait of less than a nanosecond does not move, as that of a machine that is up for long."""

    async def sleep(self, seconds: float) -> None:
        assert seconds >= 1e-9, "whoever waits for less may wait for ever"
        await super().sleep(seconds)


@pytest.mark.parametrize("elapsed", [0.0, 26.2 / 3, 333.333, 1e6 / 7])
async def test_no_wait_is_too_short_for_a_clock(elapsed: float):
    clock = CoarseClock()
    clock.elapsed = elapsed
    throttle = make_throttle(clock, {RequestKind.READS: Limit(3, 25 / 3)})
    assert len(await times(throttle, clock, 60)) == 60


async def test_the_use_of_a_limit_is_shown():
    clock = FakeClock()
    throttle = make_throttle(clock, {RequestKind.READS: Limit(20, 2), RequestKind.WRITES: Limit(10, 1)})
    assert throttle.list_limits() == []
    await times(throttle, clock, 18)
    assert throttle.list_limits() == [LimitUse("reads", 18, 2, False, clock.monotonic())], "a tenth is left"
    await times(throttle, clock, 1)
    await times(throttle, clock, 1, method="PUT")
    assert [(use.taken, use.is_near) for use in throttle.list_limits()] == [(19, True), (1, False)]
    clock.elapsed += 1
    assert [use.is_near for use in throttle.list_limits()] == [False, False], "two came back"
    hold(throttle, 30)
    held = throttle.list_limits()[0]
    assert (held.per_second, held.is_near, held.paused_until) == (1, True, clock.monotonic() + 30)
