"""The real client against a scripted server, with a clock that moves when slept on."""

import base64
import json
import time
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from gitsync.model.signin import Method, SignIn
from gitsync.providers.arm.auth.arm_access import ArmAccess, Network
from gitsync.providers.arm.client import Arm, Reader, Writer, open_arm
from gitsync.providers.arm.cloud import make_cloud
from gitsync.providers.arm.session import Session
from tests.support.fake_clock import FakeClock
from tests.support.scripted_server import ScriptedServer, serving

API = "2024-05-01"
SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg"
VNET = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/hub"
OPERATION = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Network/locations/westus/operations/op1"
TENANT, CLIENT, OBJECT = "tenant-id", "client-id", "object-id"


@dataclass
class Rig:
    server: ScriptedServer
    clock: FakeClock
    arm: Arm
    session: Session
    access: ArmAccess

    @property
    def reader(self) -> Reader:
        return self.arm.reader(self.session)

    @property
    def writer(self) -> Writer:
        return self.arm.writer(self.session)

    def talk(self, seconds: float = 1800) -> Session:
        return Session(deadline=self.clock.monotonic() + seconds)


@asynccontextmanager
async def rigged(*, seconds: float = 1800, credential: Any = None, access: Callable[[str], ArmAccess] | None = None):
    """`access` makes the settings from the server's URL; anonymous where neither is given."""
    clock = FakeClock()
    async with serving() as server:
        made = access(server.url) if access else anonymous(server.url)
        async with open_arm(made, clock, credential) as arm:
            yield Rig(server, clock, arm, Session(deadline=clock.monotonic() + seconds), made)


def anonymous(url: str, **network: Any) -> ArmAccess:
    return ArmAccess(
        cloud=make_cloud(url),
        sign_in=SignIn(method=Method.ANONYMOUS),
        network=Network(**network),
    )


def jwt(**claims: Any) -> str:
    """A token with these claims and no signature worth the name."""

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'none'})}.{part(claims)}.c2lnbmF0dXJl"


class StaticCredential:
    """Hands out one token; counts how often."""

    def __init__(self, token: str | None = None) -> None:
        self.token = token or jwt(tid=TENANT, appid=CLIENT, oid=OBJECT)
        self.requested: list[str] = []

    async def get_token_info(self, *scopes: str, options: Any = None) -> Any:
        from azure.core.credentials import AccessTokenInfo

        self.requested.extend(scopes)
        return AccessTokenInfo(self.token, int(time.time()) + 3600)


def moving(state: str = "Updating", **members: Any) -> dict[str, Any]:
    return {"id": VNET, "name": "hub", "properties": {"provisioningState": state}, **members}
