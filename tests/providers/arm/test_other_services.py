"""Another Azure service, reached with the credential of Azure Resource Manager: which token goes where."""

from typing import Any

import pytest

from gitsync.errors import ArmError
from gitsync.model.signin import Method, SignIn
from gitsync.providers.arm.auth.arm_access import ArmAccess
from gitsync.providers.arm.client import open_arm
from gitsync.providers.arm.cloud import make_cloud
from gitsync.providers.arm.http.messages import ArmRequest
from gitsync.providers.arm.session import Session
from tests.support.arm_rig import API, VNET, jwt
from tests.support.fake_clock import FakeClock
from tests.support.scripted_server import Say, serving

THERE = ArmRequest(method="GET", path="/v1.0/groups", target="/v1.0/groups", resource_id="x", accepts=frozenset({200}))


class TokensByScope:
    """A credential that gives each audience its own token, and forgets none."""

    def __init__(self) -> None:
        self.requested: list[str] = []

    async def get_token_info(self, *scopes: str, options: Any = None) -> Any:
        from azure.core.credentials import AccessTokenInfo

        self.requested += scopes
        return AccessTokenInfo(jwt(aud=scopes[0]), 4_000_000_000)


async def test_settings_of_the_sdk_do_not_count(monkeypatch):
    monkeypatch.setenv("AZURE_SDK_CLOUD_CONF", "NO_SUCH_CLOUD")  # the SDK raises ValueError once it reads this
    clock = FakeClock()
    async with serving() as server:
        server.on("GET", VNET, Say(200, {"id": VNET}))
        access = ArmAccess(cloud=make_cloud(server.url), sign_in=SignIn(method=Method.ANONYMOUS))
        async with open_arm(access, clock) as arm:
            live = await arm.reader(Session(deadline=clock.monotonic() + 60)).get(VNET, API)
    assert live.body == {"id": VNET}


async def test_each_service_gets_the_token_of_its_audience_and_no_other():
    clock, credential = FakeClock(), TokensByScope()
    async with serving() as arm_server, serving() as graph_server:
        arm_server.on("GET", VNET, Say(200, {"id": VNET}))
        graph_server.on("GET", "/v1.0/groups", Say(200, {"value": []}))
        access = ArmAccess(
            cloud=make_cloud(arm_server.url),
            sign_in=SignIn(method=Method.CLIENT_SECRET),
        )
        async with open_arm(access, clock, credential) as arm:
            there = arm.reach_service(make_cloud(graph_server.url))
            session = Session(deadline=clock.monotonic() + 60)
            await arm.reader(session).get(VNET, API)
            await there.send(THERE, session)
        assert credential.requested == [f"{arm_server.url}/.default", f"{graph_server.url}/.default"]
        sent = [seen.headers["authorization"] for server in (arm_server, graph_server) for seen in server.seen]
        assert sent == [f"Bearer {jwt(aud=f'{server.url}/.default')}" for server in (arm_server, graph_server)]
        assert session.requests == arm.requests.reads == 2, "both count for the run"


async def test_a_request_id_that_something_in_between_may_add_proves_no_absence():
    async with serving() as server:
        server.on("GET", VNET, Say(404, headers={"request-id": "of a proxy"}))
        access = ArmAccess(cloud=make_cloud(server.url), sign_in=SignIn(method=Method.ANONYMOUS))
        clock = FakeClock()
        async with open_arm(access, clock) as arm:
            with pytest.raises(ArmError):
                await arm.reader(Session(deadline=clock.monotonic() + 60)).get(VNET, API)
