"""A host that cannot be right ends the run before it begins; one that has answered may be out for a while."""

import json
import socket
from pathlib import Path

import pytest

from gitsync.errors import ConfigError, TransportError
from gitsync.model.secret import Secret
from gitsync.model.signin import Method, SignIn
from gitsync.providers.arm.auth.arm_access import ArmAccess, Network
from gitsync.providers.arm.client import open_arm
from gitsync.providers.arm.cloud import make_cloud
from gitsync.providers.arm.session import Session
from tests.providers.arm.raw_server import complete, raw_server
from tests.support.arm_rig import API, VNET, anonymous, moving
from tests.support.fake_clock import FakeClock
from tests.support.private_ca import PrivateCa, make
from tests.support.scripted_server import Say, serving


@pytest.fixture(scope="module")
def private_ca(tmp_path_factory: pytest.TempPathFactory) -> PrivateCa:
    return make(tmp_path_factory.mktemp("ca"))


def refusing() -> str:
    """The URL of a port that no one listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def abroad(url: str, authority: str = "https://login.invalid") -> ArmAccess:
    sign_in = SignIn(method=Method.CLIENT_SECRET, tenant_id="t", client_id="c", client_secret=Secret("s3cret"))
    return ArmAccess(cloud=make_cloud(url, "https://arm.invalid", authority), sign_in=sign_in, network=Network())


async def refusal(access: ArmAccess, clock: FakeClock, step: str) -> ConfigError:
    async with open_arm(access, clock) as arm:
        with pytest.raises(ConfigError) as caught:
            await getattr(arm, step)()
    return caught.value


async def test_a_host_that_cannot_be_resolved_is_refused_at_once():
    clock = FakeClock()
    error = await refusal(abroad("https://arm.invalid"), clock, "reach")
    assert error.message.startswith("https://arm.invalid cannot be reached: Cannot connect to host arm.invalid:443")
    assert "Check the host name" in error.hint
    assert clock.slept == []


async def test_a_certificate_that_is_not_trusted_is_refused_at_once(private_ca: PrivateCa):
    clock = FakeClock()
    async with serving(private_ca.tls) as server:
        error = await refusal(anonymous(server.url), clock, "reach")
    assert "certificate verify failed" in error.message
    assert "--ca-bundle" in error.hint
    assert (clock.slept, server.seen) == ([], [])


async def test_a_port_that_refuses_has_fifteen_seconds():
    clock = FakeClock()
    error = await refusal(anonymous(refusing()), clock, "reach")
    assert "cannot be reached" in error.message
    assert "Check the address" in error.hint
    assert 15 <= clock.elapsed < 32


async def test_a_port_that_refuses_is_not_asked_again_by_who_has_no_patience():
    """As the doctor, which a person waits for."""
    clock = FakeClock()
    assert "cannot be reached" in (await refusal(anonymous(refusing(), patience=0), clock, "reach")).message
    assert clock.slept == []


async def test_an_authority_that_cannot_be_resolved_is_refused_at_once():
    clock = FakeClock()
    error = await refusal(abroad("https://arm.invalid"), clock, "sign_in")
    assert "login.invalid" in error.message
    assert "Check the host name" in error.hint
    assert clock.slept == []


async def test_an_authority_that_is_not_trusted_is_refused_at_once(private_ca: PrivateCa):
    clock = FakeClock()
    async with serving(private_ca.tls) as server:
        error = await refusal(abroad("https://arm.invalid", server.url), clock, "sign_in")
    assert "certificate verify failed" in error.message
    assert (clock.slept, server.seen) == ([], [])


async def test_reaching_asks_nothing_and_leaves_its_connection_to_the_first_request(private_ca: PrivateCa):
    clock = FakeClock()
    async with serving(private_ca.tls) as server:
        server.on("GET", VNET, Say(200, moving()))
        async with open_arm(anonymous(server.url, ca_bundle=private_ca.bundle), clock) as arm:
            await arm.reach()
            assert server.seen == []
            assert await arm.reader(Session(deadline=clock.monotonic() + 60)).get(VNET, API) is not None
        assert len(server.connections) == 1


async def test_a_request_to_a_host_that_cannot_be_right_is_not_tried_again():
    """As that of a resource whose credential names another cloud: the resource fails, and no one waits for it."""
    clock = FakeClock()
    access = anonymous(refusing())
    async with open_arm(access, clock) as arm:
        talk = Session(deadline=clock.monotonic() + 1800)
        with pytest.raises(TransportError):
            await arm.reader(talk).get(VNET, API)
        assert clock.elapsed < 32
        later = Session(deadline=clock.monotonic() + 1800)
        with pytest.raises(TransportError):
            await arm.reader(later).get(VNET, API)
        assert len(later.failures) == 1, "it had its time"


async def test_a_host_that_answered_once_may_be_out_until_the_deadline():
    async def answer(_line: str):
        yield complete(json.dumps({"id": VNET}).encode())

    clock = FakeClock()
    async with raw_server(answer) as url:
        arms = open_arm(anonymous(url), clock)
        arm = await arms.__aenter__()
        await arm.reader(Session(deadline=clock.monotonic() + 60)).get(VNET, API)
    before, talk = clock.elapsed, Session(deadline=clock.monotonic() + 600)
    with pytest.raises(TransportError):
        await arm.reader(talk).get(VNET, API)
    await arms.__aexit__(None, None, None)
    assert clock.elapsed - before > 500


async def test_a_proxy_that_cannot_be_resolved_is_refused_at_once(tmp_path: Path):
    clock = FakeClock()
    access = ArmAccess(
        cloud=make_cloud("https://arm.invalid", "https://arm.invalid", "https://login.invalid"),
        network=Network(environment={"HTTPS_PROXY": "http://proxy.invalid:3128"}),
    )
    error = await refusal(access, clock, "reach")
    assert "proxy.invalid" in error.message
    assert "HTTPS_PROXY" in error.hint
