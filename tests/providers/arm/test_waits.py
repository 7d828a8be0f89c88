"""What a session reports it waits for, at each point that waits."""

import asyncio
from collections.abc import Awaitable

import pytest

from gitsync.model.limits import Limit, RequestKind
from gitsync.model.result import Wait
from gitsync.providers.arm.http.messages import Response
from gitsync.providers.arm.http.throttle import Throttle
from gitsync.providers.arm.session import Session
from gitsync.providers.arm.write_locks import WriteLocks
from tests.support.arm_rig import API, GROUP, SUBSCRIPTION, VNET, Rig, moving
from tests.support.fake_clock import FakeClock
from tests.support.scripted_server import Say

START_TIME = FakeClock().monotonic()
PROVIDER = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Kusto"
REGISTERING, REGISTERED = (Say(200, {"registrationState": state}) for state in ("Registering", "Registered"))


async def watch(work: Awaitable[object], session: Session) -> list[Wait]:
    """Do something, and return what its session waited for, one after another."""
    seen: list[Wait] = []
    task = asyncio.ensure_future(work)
    while not task.done():
        if session.wait and seen[-1:] != [session.wait]:
            seen.append(session.wait)
        await asyncio.sleep(0)
    await task
    assert session.wait is None, "it waits no longer"
    return seen


def open_session() -> Session:
    return Session(deadline=1e9)


@pytest.mark.parametrize(
    ("answers", "waits"),
    [
        ([], []),
        (
            [Say(429, None, {"Retry-After": "64"}), Say(429, None, {"Retry-After": "5"})],
            [("throttled", 64, 2), ("throttled", 69, 3)],
        ),
        (
            [Say(503, {"error": {"code": "ServerBusy", "message": "no"}}, {"Retry-After": "9"})],
            [("503 ServerBusy", 9, 2)],
        ),
    ],
    ids=["answered", "throttled", "busy"],
)
async def test_a_try_that_is_repeated_says_when(rig: Rig, answers: list[Say], waits: list[tuple[str, int, int]]):
    rig.server.on("GET", VNET, *answers, Say(200, moving("Succeeded")))
    seen = await watch(rig.reader.get(VNET, API), rig.session)
    # After a 429 a try waits for its turn too, which is another wait.
    assert [
        (request.reason, int(request.until - START_TIME), request.next_try) for request in seen if request.next_try
    ] == waits


async def test_an_operation_is_work_of_azure(rig: Rig):
    rig.server.on("PUT", VNET, Say(201, moving("Creating")))
    rig.server.on("GET", VNET, Say(200, moving("Creating")), Say(200, moving("Succeeded")))
    reply = await rig.writer.put(VNET, API, {})
    assert await watch(rig.writer.wait(reply), rig.session) == [Wait("Azure works")]


async def test_a_registration_is_named_to_all_who_wait_for_it(rig: Rig):
    rig.server.on("POST", f"{PROVIDER}/register", REGISTERING)
    rig.server.on("GET", PROVIDER, REGISTERING, REGISTERED)
    sessions = [rig.talk(), rig.talk()]
    calls = [rig.arm.writer(session).register("Microsoft.Kusto", SUBSCRIPTION) for session in sessions]
    waits = [watch(call, session) for call, session in zip(calls, sessions, strict=True)]
    assert await asyncio.gather(*waits) == [[Wait("waits for the registration of Microsoft.Kusto")]] * 2


@pytest.mark.parametrize(
    ("arm_id", "reason"),
    [
        (f"{VNET}/subnets/a", "waits for the write lock of virtualNetworks/hub"),
        (GROUP, "waits for the write lock of resourceGroups/rg"),
    ],
)
async def test_a_write_lock_is_named_by_whoever_waits_for_it(arm_id: str, reason: str):
    locks, first, second = WriteLocks(), open_session(), open_session()

    async def write(session: Session) -> None:
        async with locks.acquire(arm_id, session):
            assert session.wait is None
            await asyncio.sleep(0.001)

    one, other = await asyncio.gather(watch(write(first), first), watch(write(second), second))
    assert (one, other) == ([], [Wait(reason)])


async def test_a_limit_is_named_with_the_time_of_the_turn():
    clock = FakeClock()
    throttle = Throttle(clock, asyncio.Semaphore(100), {RequestKind.READS: Limit(1, 0.5)})
    sessions = [open_session() for _ in range(3)]
    waits = [watch(throttle.admit("GET", VNET, session), session) for session in sessions]
    first, second, third = await asyncio.gather(*waits)
    assert first == [], "what need not wait says nothing"
    assert second == [Wait("waits for the limit of reads", START_TIME + 2)]
    assert third[0] == Wait("waits for the limit of reads", START_TIME + 4)


@pytest.mark.parametrize("cause", ["gateway", "service"])
async def test_a_429_is_named_to_requests_that_azure_did_not_refuse(cause: str):
    clock, session = FakeClock(), open_session()
    throttle = Throttle(clock, asyncio.Semaphore(1), {RequestKind.READS: Limit(10, 10)})
    refusal = Response(status=429, headers={"x-ms-failure-cause": cause})
    throttle.pause("GET", VNET, refusal, "TooManyRequests", 30, clock.monotonic())
    waits = await watch(throttle.admit("GET", VNET, session), session)
    assert [wait.reason for wait in waits] == ["throttled"]
    assert waits[0].until == pytest.approx(START_TIME + 30, abs=0.5)


async def test_open_requests_are_what_a_slot_waits_for():
    throttle, session = Throttle(FakeClock(), asyncio.Semaphore(1)), open_session()
    assert await throttle.admit("GET", VNET, open_session())
    waiting = asyncio.create_task(watch(throttle.admit("GET", VNET, session), session))
    await asyncio.sleep(0.001)
    throttle.release("GET", VNET)
    assert await waiting == [Wait("waits for answers to other requests")]
