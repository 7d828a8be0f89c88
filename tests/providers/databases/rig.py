"""Users of a server on this machine, as a run manages them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gitsync.model.arm_id import ArmId
from gitsync.model.clock import Clock
from gitsync.model.gvk import GVK, Key
from gitsync.model.live import Absence, Live
from gitsync.model.provider import Kept, ProvidedResource, Provider
from gitsync.model.secret import Secret
from gitsync.model.verdict import Comparison
from gitsync.planning.diff.three_way import Remembered, compare, make_baseline, remove_secrets
from gitsync.providers.arm.cloud import Cloud, make_cloud
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.providers.arm.session import Session
from gitsync.providers.databases.address import ServerAddress
from gitsync.providers.databases.users import Databases
from tests.support.database_servers import ADMIN, ADMIN_PASSWORD, Server

GROUPS = {Provider.POSTGRESQL: "dbforpostgresql.azure.com", Provider.MYSQL: "dbformysql.azure.com"}
OWNER = "/subscriptions/s/resourceGroups/g/providers/Microsoft.DBfor/flexibleServers/main"
READY = Live(body={"properties": {"fullyQualifiedDomainName": "main.postgres.database.azure.com", "state": "Ready"}})
PASSWORD = "first password"


@dataclass
class Rig:
    """Users of one server."""

    service: Provider
    address: ServerAddress | None
    ca: Path | None = None
    clock: Clock = field(default_factory=SystemClock)
    cloud: Cloud = field(default_factory=make_cloud)
    server: Live | None = READY
    token: str = "a token"
    seconds: float = 60.0  # the time that each call has
    timeout: float = 30.0  # the time of each statement
    scopes: list[str] = field(default_factory=list)
    session: Session | None = None

    async def find(self, user: ProvidedResource, password: Secret | None = None) -> Mapping[str, Any] | None:
        """The body of a user; None if there is none."""
        found = await self.databases.reader(user, self.begin(), password).find(ArmId(""), "")
        return None if isinstance(found, Absence) else found.body

    async def put(self, user: ProvidedResource) -> None:
        assert user.body is not None
        assert await self.databases.writer(user, self.begin()).put(ArmId(""), "", user.body) is None

    async def delete(self, user: ProvidedResource, password: str | None = ADMIN_PASSWORD) -> None:
        writer = self.databases.writer(user, self.begin(), Secret(password) if password is not None else None)
        assert await writer.delete(ArmId(""), "") is None

    def begin(self) -> Session:
        self.session = Session(deadline=self.clock.monotonic() + self.seconds)
        return self.session

    @property
    def databases(self) -> Databases:
        async def read_server(owner_id: str) -> Live | None:
            assert owner_id == OWNER
            return self.server

        async def get_token(scope: str) -> Secret:
            self.scopes.append(scope)
            return Secret(self.token)

        return Databases(
            service=self.service,
            cloud=self.cloud,
            clock=self.clock,
            read_server=read_server,
            get_token=get_token,
            ca_bundle=self.ca,
            timeout=self.timeout,
            server=self.address,
        )

    def user(self, name: str, *, password: str = PASSWORD, sets_password: bool = False, applied: Any = None, **body: Any) -> ProvidedResource:  # fmt: skip
        """A user as git states it."""
        local = {
            "serverAdminUsername": ADMIN,
            "serverAdminPassword": Secret(ADMIN_PASSWORD),
            "password": Secret(password),
        }
        body = body if "aadUser" in body else {"localUser": local, **body}
        return self._provide(name, body=body, applied=applied, sets_password=sets_password)

    def prune(
        self,
        name: str,
        *,
        applied: Any = None,
        administrator: str = ADMIN,
        suffix: str = "",
        has_password: bool = True,
        alias: str = "",
    ) -> ProvidedResource:
        """A user that git does not have any more."""
        password_from = ("admin", "password") if has_password else None
        kept = Kept(administrator=administrator, password_from=password_from, alias=alias)
        return self._provide(name, applied=applied, kept=kept, suffix=suffix)

    def _provide(self, name: str, *, suffix: str = "", **fields: Any) -> ProvidedResource:
        group = GROUPS[self.service]
        return ProvidedResource(
            key=Key(group, "User", "default", "user"),
            gvk=GVK(group, "v1", "User"),
            arm_id=ArmId(f"{OWNER}/users/{quote(name, safe='', errors='replace')}{suffix}"),
            name=name,
            owner_id=ArmId(OWNER),
            **fields,
        )


def make_rig(service: Provider, server: Server, **fields: Any) -> Rig:
    return Rig(service, ServerAddress("localhost", server.port), server.ca, **fields)


def evaluate(user: ProvidedResource, live: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> Comparison:
    """What a run reports of a user that it wrote itself, and saw as `before`; at first sight without that."""
    assert user.body is not None
    applied = remove_secrets(user.body)
    remembered = Remembered(applied=applied, baseline=make_baseline(user.body, before)) if before else None
    return compare(user.body, live, remembered)
