"""How close a throttle comes to a server whose buckets are not those of ARM: a simulation of thousands of seconds.

The bound is the time that the server's bucket allows at best: (requests - burst) / refill.
"""

import asyncio
import math
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitsync.providers.arm.http.messages import Response
from gitsync.providers.arm.http.throttle import Throttle
from gitsync.providers.arm.session import Session
from tests.providers.arm.virtual_clock import VirtualClock
from tests.support.hypothesis_profile import scale

HUB, SPOKE = (f"/subscriptions/{name}/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v" for name in "ab")
FOREVER = Session(deadline=math.inf)
LEFT = "x-ms-ratelimit-remaining-subscription-reads"


@dataclass
class Bucket:
    """The server's."""

    clock: VirtualClock
    size: float
    per_second: float
    tells: bool = True  # answers show how much is left
    others: float = 0.0  # how much of the refill other clients take
    refused: list[float] = field(default_factory=list)  # times of requests
    taken: list[float] = field(default_factory=list)  # times of requests
    _tokens: float = math.inf
    _filled_at: float = 0.0

    def answer(self) -> Response:
        came_back = (self.clock.seconds - self._filled_at) * (self.per_second - self.others)
        self._tokens, self._filled_at = min(self.size, self._tokens + came_back), self.clock.seconds
        is_empty = self._tokens < 1
        (self.refused if is_empty else self.taken).append(self.clock.seconds)
        self._tokens -= not is_empty
        left = {LEFT: str(int(self._tokens))} if self.tells else {}
        if not is_empty:
            return Response(status=200, headers=left)
        return Response(
            status=429, headers={"Retry-After": str(math.ceil((1 - self._tokens) / self.per_second)), **left}
        )


async def send_request(throttle: Throttle, clock: VirtualClock, bucket: Bucket, path: str, round_trip: float) -> None:
    """One request until it is answered, as the retrier sends it."""
    while True:
        assert await throttle.admit("GET", path, FOREVER)
        sent_at = clock.seconds
        await clock.sleep(round_trip / 2)
        answer = bucket.answer()
        await clock.sleep(round_trip / 2)
        throttle.release("GET", path)
        throttle.learn("GET", path, answer)
        if answer.status == 200:
            return
        seconds = float(answer.headers["Retry-After"])
        throttle.pause("GET", path, answer, "SubscriptionRequestsThrottled", seconds, sent_at)
        await clock.sleep(seconds)


async def simulate(count: int, *, slots=20, round_trip=0.05, paths=(HUB,), share=1.0, **bucket) -> Bucket:
    """The server's bucket after so many requests to each path; the last one's, if there are several."""
    clock = VirtualClock()
    throttle = Throttle(clock, asyncio.Semaphore(slots), share=share)
    buckets = {path: Bucket(clock, **bucket) for path in paths}

    async def request_all() -> None:
        asks = [
            send_request(throttle, clock, bucket, path, round_trip)
            for path, bucket in buckets.items()
            for _ in range(count)
        ]
        await asyncio.gather(*asks)

    await clock.run(request_all())
    return buckets[paths[-1]]


SERVERS = [
    ({"size": 250 / 20, "per_second": 25 / 20}, "a twentieth of ARM's"),
    ({"size": 250 / 20, "per_second": 25 / 20, "tells": False}, "that does not tell what is left"),
    ({"size": 50, "per_second": 5}, "a fifth"),
    ({"size": 250, "per_second": 1}, "a large burst and a small refill"),
    ({"size": 12, "per_second": 8}, "a small burst and a large refill"),
    ({"size": 50, "per_second": 5, "others": 3.5}, "shared with others who take most of it"),
]


@pytest.mark.parametrize(("server", "why"), SERVERS, ids=[row[-1] for row in SERVERS])
async def test_it_takes_hardly_longer_than_the_bucket_allows(server, why):
    refill = server["per_second"] - server.get("others", 0)
    count = int(server["size"] + min(400, refill * 100))
    bucket = await simulate(count, **server)
    assert bucket.taken[-1] <= 1.05 * (count - server["size"]) / refill, why
    if bucket.tells:
        assert max(bucket.refused, default=0) < 20, "refusals are at the beginning"
        assert len(bucket.refused) < 25


async def test_arms_own_buckets_refuse_nothing():
    assert (await simulate(500, size=250, per_second=25)).refused == []


async def test_others_who_share_arms_bucket_cause_hardly_a_refusal():
    """The counts show what the others take before there is nothing left."""
    assert len((await simulate(500, size=250, per_second=25, others=10)).refused) <= 2


async def test_a_share_of_the_limits_leaves_the_rest_to_others():
    taken = (await simulate(300, share=0.5, size=250, per_second=25)).taken
    within = max(count - 12.5 * at for count, at in enumerate(taken, 1))
    assert within <= 125, "half of the burst, and half of the refill"
    assert taken[-1] == pytest.approx((300 - 125) / 12.5, abs=2)


async def test_each_subscription_has_a_pace_of_its_own():
    alone, together = [await simulate(60, paths=paths, size=12, per_second=1.25) for paths in ((HUB,), (SPOKE, HUB))]
    assert together.taken[-1] <= 1.05 * alone.taken[-1]


@settings(max_examples=scale(15), deadline=None)
@example(size=8, per_second=25, slots=38, round_trip=0.5)  # more is refilled in a round trip than the bucket holds
@given(
    size=st.integers(8, 60),
    per_second=st.floats(0.5, 25),
    slots=st.integers(1, 40),
    round_trip=st.sampled_from([0.01, 0.1, 0.5]),
)
async def test_no_server_is_much_slower_than_it_must_be(size, per_second, slots, round_trip):
    count = int(size + min(100, 40 * per_second))
    bucket = await simulate(count, slots=slots, round_trip=round_trip, size=size, per_second=per_second)
    # A count may not include the requests in flight, so one round trip takes at most a burst, less the reserve.
    least = max((count - size) / per_second, count * round_trip / min(slots, size - 1))
    assert bucket.taken[-1] <= 1.05 * least + 3 / per_second + 5 * round_trip + 1, "some answers and a second to learn"
