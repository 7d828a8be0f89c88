"""Resource providers are registered once a run, and waited for by all who need them."""

import asyncio

import pytest

from gitsync.errors import ArmError
from gitsync.model.report import RequestCounts
from tests.support.arm_rig import SUBSCRIPTION, Rig, StaticCredential, rigged
from tests.support.scripted_server import Say

PROVIDER = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Kusto"
REGISTER = f"{PROVIDER}/register"


def state(word: str) -> Say:
    return Say(200, {"namespace": "Microsoft.Kusto", "registrationState": word})


async def test_one_post_then_polling(rig: Rig):
    rig.server.on("POST", REGISTER, state("Registering"))
    rig.server.on("GET", PROVIDER, state("Registering"), state("Registered"))
    assert await rig.writer.register("Microsoft.Kusto", SUBSCRIPTION) is True
    assert rig.server.lines == [f"POST {REGISTER}", f"GET {PROVIDER}", f"GET {PROVIDER}"]
    assert rig.server.seen[0].query == "api-version=2021-04-01"
    assert rig.clock.slept == [1, 2]
    assert rig.arm.requests == RequestCounts(writes=1, polls=2)


async def test_many_nodes_ask_and_azure_is_asked_once(rig: Rig):
    rig.server.on("POST", REGISTER, state("Registering"))
    rig.server.on("GET", PROVIDER, state("Registering"), state("Registered"))
    names = ["Microsoft.Kusto", "microsoft.kusto", "MICROSOFT.KUSTO"]
    requested = (rig.arm.writer(rig.talk()).register(name, SUBSCRIPTION.upper()) for name in names)
    assert await asyncio.gather(*requested) == [True, True, True]
    assert len(rig.server.seen) == 3


async def test_what_was_registered_all_along_needs_no_poll(rig: Rig):
    rig.server.on("POST", REGISTER, state("Registered"))
    assert await rig.writer.register("Microsoft.Kusto", SUBSCRIPTION) is True
    assert len(rig.server.seen) == 1


async def test_two_subscriptions_are_two_registrations(rig: Rig):
    rig.server.on("POST", REGISTER, state("Registered"))
    rig.server.on("POST", REGISTER.replace(SUBSCRIPTION, "other"), state("Registered"))
    assert await rig.writer.register("Microsoft.Kusto", SUBSCRIPTION)
    assert await rig.writer.register("Microsoft.Kusto", "other")
    assert len(rig.server.seen) == 2


async def test_a_missing_right_is_named_to_everyone():
    async with rigged(credential=StaticCredential()) as rig:
        rig.server.on("POST", REGISTER, Say(403, {"error": {"code": "AuthorizationFailed", "message": "no"}}))
        for _ in range(2):
            with pytest.raises(ArmError) as caught:
                await rig.writer.register("Microsoft.Kusto", SUBSCRIPTION)
            assert f"is missing Microsoft.Kusto/register/action on /subscriptions/{SUBSCRIPTION}" in caught.value.hint
        assert len(rig.server.seen) == 1


async def test_a_registration_that_fails_is_an_error(rig: Rig):
    rig.server.on("POST", REGISTER, state("Registering"))
    rig.server.on("GET", PROVIDER, state("RegistrationFailed"))
    with pytest.raises(ArmError, match="could not register") as caught:
        await rig.writer.register("Microsoft.Kusto", SUBSCRIPTION)
    assert f"az provider register --namespace Microsoft.Kusto --subscription {SUBSCRIPTION}" in caught.value.hint


async def test_an_unanswered_post_is_looked_after_and_not_repeated(rig: Rig):
    rig.server.on("POST", REGISTER, Say(504))
    rig.server.on("GET", PROVIDER, state("Registered"))
    assert await rig.writer.register("Microsoft.Kusto", SUBSCRIPTION) is True
    assert rig.server.lines == [f"POST {REGISTER}", f"GET {PROVIDER}"]


async def test_at_the_deadline_it_is_left_and_the_next_node_only_looks():
    async with rigged(seconds=2) as rig:
        rig.server.on("POST", REGISTER, state("Registering"))
        rig.server.on("GET", PROVIDER, state("Registering"), state("Registered"))
        assert await rig.writer.register("Microsoft.Kusto", SUBSCRIPTION) is False
        assert await rig.arm.writer(rig.talk()).register("Microsoft.Kusto", SUBSCRIPTION) is True
        assert rig.server.lines.count(f"POST {REGISTER}") == 1
