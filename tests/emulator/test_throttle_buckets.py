"""ARM's token buckets."""

from dataclasses import replace

from gitsync.emulator.settings import Bucket, EmulatedPrincipal, EmulatorSettings, Limits
from tests.emulator.asked import GROUP, OPEN, PLAIN, TestClock, emulated

SMALL = replace(OPEN, limits=Limits(reads=Bucket(size=3, per_second=1), writes=Bucket(size=2, per_second=0.5)))


def test_buckets_have_the_sizes_of_arm():
    limits = EmulatorSettings().limits
    assert (limits.reads.size, limits.reads.per_second) == (250, 25)
    assert (limits.writes.size, limits.writes.per_second) == (200, 10)
    assert (limits.deletes.size, limits.deletes.per_second) == (200, 10)


async def test_an_empty_bucket_refuses_and_says_for_how_long():
    async with emulated(SMALL, clock=TestClock()) as azure:
        left = [(await azure.get(GROUP)).headers["x-ms-ratelimit-remaining-subscription-reads"] for _ in range(3)]
        refused, written = await azure.get(GROUP), await azure.put(GROUP)
    assert left == ["2", "1", "0"]
    assert (refused.status, refused.code, refused.headers["Retry-After"]) == (429, "SubscriptionRequestsThrottled", "1")
    assert "Please try again after '1' seconds." in refused.message
    assert written.status == 201, "writes have a bucket of their own"
    assert written.headers["x-ms-ratelimit-remaining-subscription-writes"] == "1"


async def test_a_bucket_fills_with_time_and_never_beyond_its_size():
    clock = TestClock()
    async with emulated(SMALL, clock=clock) as azure:
        for _ in range(3):
            await azure.put(GROUP)
        refused = await azure.put(GROUP)
        await clock.sleep(float(refused.headers["Retry-After"]))
        after = await azure.put(GROUP)
        await clock.sleep(1000)
        rested = await azure.put(GROUP)
    assert refused.headers["Retry-After"] == "2"
    assert after.status == 200
    assert rested.headers["x-ms-ratelimit-remaining-subscription-writes"] == "1"


async def test_each_subscription_and_each_principal_has_buckets_of_its_own():
    clock = TestClock()
    principals = tuple(EmulatedPrincipal(client=name, object=name) for name in ("a", "b"))
    settings = replace(SMALL, principals=principals)
    async with emulated(settings, clock=clock) as azure:
        tokens = [azure.emulator.tokens.token(principal) for principal in principals]
        requested = [
            (tokens[0], GROUP),
            (tokens[0], GROUP),
            (tokens[0], PLAIN),
            (tokens[1], GROUP),
            (tokens[0], "/subscriptions/other"),
        ]
        assert [
            (await azure.get(path, Authorization=f"Bearer {token}")).headers[
                "x-ms-ratelimit-remaining-subscription-reads"
            ]
            for token, path in requested
        ] == ["2", "1", "0", "2", "2"]


async def test_what_belongs_to_no_subscription_is_counted_for_the_tenant():
    async with emulated(SMALL, clock=TestClock()) as azure:
        reply = await azure.get("/subscriptions")
    assert reply.headers["x-ms-ratelimit-remaining-tenant-reads"] == "2"


async def test_throttling_can_be_off():
    async with emulated(OPEN) as azure:
        reply = await azure.get(GROUP)
    assert not [name for name in reply.headers if "ratelimit" in name]


async def test_the_background_jobs_of_a_subscription_are_shared_and_reads_need_none():
    clock = TestClock()
    principals = tuple(EmulatedPrincipal(client=name, object=name) for name in ("a", "b"))
    settings = replace(OPEN, principals=principals, limits=Limits(jobs=Bucket(size=1, per_second=0.5)))
    async with emulated(settings, clock=clock) as azure:
        tokens = [f"Bearer {azure.emulator.tokens.token(principal)}" for principal in principals]
        first = await azure.put(GROUP, Authorization=tokens[0])
        refused = await azure.put(GROUP, Authorization=tokens[1])
        read = await azure.get(GROUP, Authorization=tokens[1])
        await clock.sleep(2)
        after = await azure.put(GROUP, Authorization=tokens[1])
    assert (first.status, refused.status, read.status, after.status) == (201, 429, 200, 200)
    assert "could not be processed due to an excessive volume of traffic" in refused.message
    assert "Retry-After" not in refused.headers
