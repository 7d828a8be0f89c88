"""The client and the emulator share no code, and have to agree on what Azure Resource Manager is."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gitsync.emulator.faults import Canned, Drop, FaultRule, Match
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import Bucket, EmulatedPrincipal, EmulatorSettings, Limits, Timing
from gitsync.emulator.types.behaviour import Style
from gitsync.errors import ArmError
from gitsync.model.report import RequestCounts
from gitsync.model.secret import Secret
from gitsync.model.signin import Method, SignIn
from gitsync.providers.arm.auth.arm_access import ArmAccess, Network
from gitsync.providers.arm.client import Arm, open_arm
from gitsync.providers.arm.cloud import make_cloud
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.providers.arm.session import Session
from tests.support.arm_rig import anonymous
from tests.support.fake_clock import FakeClock
from tests.support.private_ca import make

SUB = "11111111-2222-3333-4444-555555555555"
RG = f"/subscriptions/{SUB}/resourceGroups/rg"
VNET = f"{RG}/providers/Microsoft.Network/virtualNetworks/hub"
API = "2024-05-01"
BODY = {"location": "westus", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}}


@asynccontextmanager
async def emulated(settings: EmulatorSettings | None = None) -> AsyncIterator[tuple[Emulator, Arm, FakeClock]]:
    clock = FakeClock()
    async with Emulator(settings) as azure, open_arm(anonymous(azure.url), clock) as arm:
        writer = arm.writer(talk(clock))
        assert await writer.wait(await writer.put(RG, "2021-04-01", {"location": "westus"}))
        yield azure, arm, clock


def talk(clock: FakeClock, seconds: float = 1800) -> Session:
    return Session(deadline=clock.monotonic() + seconds)


@pytest.mark.parametrize("style", list(Style))
async def test_create_read_update_and_delete_in_every_style(style: Style):
    async with emulated(EmulatorSettings(operations=Timing(style=style, polls=2))) as (_azure, arm, clock):
        writer = arm.writer(talk(clock))
        assert await writer.get(VNET, API) is None
        for _ in range(2):
            assert await writer.wait(await writer.put(VNET, API, BODY)) is True
            live = await writer.get(VNET, API)
            assert live is not None
            assert live.provisioning_state == "Succeeded"
        assert await writer.wait(await writer.delete(VNET, API)) is True
        assert await writer.get(VNET, API) is None
        assert await writer.wait(await writer.delete(VNET, API)) is True, "gone is gone"


async def test_an_operation_that_fails_carries_azures_words():
    broken = {"status": "Failed", "error": {"code": "OutOfAddresses", "message": "none left"}}
    rule = FaultRule(match=Match(poll=True), answer=Canned(status=200, body=broken))
    async with emulated(EmulatorSettings(operations=Timing(style=Style.ASYNC, polls=2), rules=(rule,))) as (
        _azure,
        arm,
        clock,
    ):
        writer = arm.writer(talk(clock))
        with pytest.raises(ArmError) as caught:
            await writer.wait(await writer.put(VNET, API, BODY))
        assert (caught.value.code, caught.value.message) == ("OutOfAddresses", "none left")


async def test_a_put_below_nothing_is_refused_with_azures_code():
    async with emulated() as (_azure, arm, clock):
        with pytest.raises(ArmError) as caught:
            await arm.writer(talk(clock)).put(VNET.replace("/rg/", "/none/"), API, BODY)
        assert (caught.value.status, caught.value.code) == (404, "ResourceGroupNotFound")
        assert caught.value.request_id


async def test_work_that_was_done_though_the_connection_broke_is_not_repeated():
    rule = FaultRule(match=Match(methods=frozenset({"PUT"}), type="microsoft.network/*"), drop=Drop.AFTER)
    async with emulated(EmulatorSettings(rules=(rule,))) as (_azure, arm, clock):
        writer = arm.writer(talk(clock))
        with pytest.raises(ArmError) as caught:
            await writer.put(VNET, API, BODY)
        assert caught.value.outcome_unknown
        assert await writer.get(VNET, API) is not None, "it was done"
        assert arm.requests == RequestCounts(reads=1, writes=2)


async def test_a_provider_is_registered_and_waited_for():
    async with emulated(EmulatorSettings(unregistered=("Microsoft.Network",))) as (_azure, arm, clock):
        writer = arm.writer(talk(clock))
        with pytest.raises(ArmError) as caught:
            await writer.put(VNET, API, BODY)
        assert caught.value.code == "MissingSubscriptionRegistration"
        assert await writer.register("Microsoft.Network", SUB) is True
        assert await writer.wait(await writer.put(VNET, API, BODY)) is True


async def test_a_list_of_many_pages():
    async with emulated(EmulatorSettings(page_size=2, operations=Timing(style=Style.DONE))) as (_azure, arm, clock):
        writer = arm.writer(talk(clock))
        names = [f"v{n}" for n in range(7)]
        for name in names:
            await writer.put(VNET.replace("hub", name), API, BODY)
        found = await writer.list(VNET.rpartition("/")[0], API)
        assert sorted(entry["name"] for entry in found) == names


async def test_a_crowd_of_readers_keeps_within_the_buckets():
    """With ARM's answers for guidance, a client that measures the limits is hardly ever refused."""
    small = Bucket(size=20, per_second=200)
    clock = SystemClock()
    limits = Limits(reads=small, writes=small, deletes=small)
    async with Emulator(EmulatorSettings(limits=limits)) as azure, open_arm(anonymous(azure.url), clock) as arm:
        talks = [Session(deadline=clock.monotonic() + 60) for _ in range(40)]
        found = await asyncio.gather(*(arm.reader(talk).get(VNET, API) for talk in talks))
        assert found == [None] * 40
        refused = sum(attempt.status == 429 for talk in talks for attempt in talk.failures)
        assert arm.requests.reads == 40 + refused


async def test_signing_in_with_the_emulators_own_tokens(tmp_path):
    """Over TLS with a private authority, as in a cloud of one's own; and a right that is missing is named."""
    ca = make(tmp_path)
    reader = EmulatedPrincipal(client="client-1", object="object-1", secret="s3cret", read_only=True)
    settings = EmulatorSettings(require_token=True, principals=(reader,))
    clock, azure = SystemClock(), Emulator(settings)
    url = await azure.start(tls=ca.tls)
    access = ArmAccess(
        cloud=make_cloud(url, "https://management.core.windows.net/", url),
        sign_in=SignIn(
            method=Method.CLIENT_SECRET, tenant_id=settings.tenant, client_id="client-1", client_secret=Secret("s3cret")
        ),
        network=Network(ca_bundle=ca.bundle),
    )
    try:
        async with open_arm(access, clock) as arm:
            who = await arm.sign_in()
            assert who is not None
            assert (who.tenant, who.client, who.object) == (settings.tenant, "client-1", "object-1")
            writer = arm.writer(Session(deadline=clock.monotonic() + 60))
            assert await writer.get(RG, "2021-04-01") is None
            with pytest.raises(ArmError) as caught:
                await writer.put(RG, "2021-04-01", {"location": "westus"})
    finally:
        await azure.stop()
    assert caught.value.code == "AuthorizationFailed"
    assert "client client-1, object object-1" in caught.value.hint
    assert f"resourceGroups/write on {RG}" in caught.value.hint
