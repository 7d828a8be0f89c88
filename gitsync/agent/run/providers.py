"""Open the providers of a run other than ARM, each when the first of its resources is read.

The table at the end lists them all. To add one, add a folder with a `ResourceProvider`, its name in `model.provider`,
and a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gitsync.agent.reconcile.context import Connections
from gitsync.agent.reconcile.run_cache import RunCache
from gitsync.agent.reconcile.run_views import LiveReader, LiveWriter, ResourceProvider
from gitsync.model.arm_id import ArmId
from gitsync.model.live import Absence, Live
from gitsync.model.provider import ProvidedResource, Provider
from gitsync.model.secret import Secret
from gitsync.planning.diff.three_way import remove_secrets
from gitsync.providers.arm.client import Arm, Writer
from gitsync.providers.arm.lro.poll import AcceptedWrite
from gitsync.providers.arm.session import Session
from gitsync.settings.config.config import Config

if TYPE_CHECKING:
    from gitsync.providers.databases.users import Databases

OpenProvider = Callable[[Provider], ResourceProvider]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What the providers of a run share."""

    config: Config
    connections: Connections
    cache: RunCache
    begin_session: Callable[[], Session]  # begins a session for reads that serve many resources


def make_provider_opener(
    config: Config, connections: Connections, run_cache: RunCache, begin_session: Callable[[], Session]
) -> OpenProvider:
    """Return what opens a provider, once for the run."""
    run = _Run(config=config, connections=connections, cache=run_cache, begin_session=begin_session)
    return cache(lambda provider: _OPENERS[provider](run))


def _open_directory(run: _Run) -> ResourceProvider:
    from gitsync.providers.entra.directory import EntraDirectory  # noqa: PLC0415 - most runs have none

    return EntraDirectory(run.connections.clock)


def _open_users(run: _Run, service: Provider) -> ResourceProvider:
    # The emulator has no servers to connect to.
    if run.connections.azure.is_local and not run.config.database_servers:
        return PlayedUsers()
    return DatabaseUsers(run, service)


_OPENERS: Final[Mapping[Provider, Callable[[_Run], ResourceProvider]]] = {
    Provider.ENTRA: _open_directory,
    Provider.POSTGRESQL: partial(_open_users, service=Provider.POSTGRESQL),
    Provider.MYSQL: partial(_open_users, service=Provider.MYSQL),
}
"""How each provider is opened. ARM is the client of `gitsync.providers.arm`, and Azure SQL has none yet."""


@dataclass(frozen=True, slots=True)
class DatabaseUsers:
    """Users of databases on the servers of a service, which are found through ARM with the credential of each user."""

    run: _Run
    service: Provider
    opened: dict[Arm, Databases] = field(default_factory=dict)

    def reader(self, resource: ProvidedResource, arm: Arm, session: Session) -> LiveReader:
        return self._open(arm).reader(resource, session, resource.administrator_password)

    def writer(self, resource: ProvidedResource, arm: Arm, session: Session) -> LiveWriter:
        return self._open(arm).writer(resource, session, resource.administrator_password)

    def find_given_id(self, arm_id: ArmId) -> str:
        return ""

    def _open(self, arm: Arm) -> Databases:
        if arm not in self.opened:
            from gitsync.providers.databases.address import parse_servers  # noqa: PLC0415 - most runs have no users
            from gitsync.providers.databases.users import Databases  # noqa: PLC0415 - as above

            config = self.run.config
            self.opened[arm] = Databases(
                service=self.service,
                cloud=arm.cloud,
                clock=self.run.connections.clock,
                read_server=partial(self._read_server, arm),
                get_token=partial(self._get_token, arm),
                ca_bundle=Path(config.ca_bundle) if config.ca_bundle else None,
                server=parse_servers(config.database_servers).get(self.service),
            )
        return self.opened[arm]

    async def _get_token(self, arm: Arm, scope: str) -> Secret:
        return await arm.get_token(scope, self.run.begin_session())

    async def _read_server(self, arm: Arm, owner_id: ArmId) -> Live | None:
        """Read the server of a user, once after each write of this run to it."""
        catalog = self.run.connections.catalog
        group_kind = catalog.group_kind_of(owner_id.arm_type)
        kind = catalog.newest(*group_kind) if group_kind else None
        if kind is None:
            raise AssertionError(f"{owner_id} is the id of a server")
        reader = arm.reader(self.run.begin_session())
        return await self.run.cache.read_once(owner_id, partial(reader.get, owner_id, kind.api_version))


class PlayedUsers:
    """Users of databases in the emulator, which has no databases: it keeps each as a resource without secrets. No
    statement is run.
    """

    def reader(self, resource: ProvidedResource, arm: Arm, session: Session) -> LiveReader:
        return _PlayedUser(arm.writer(session))

    def writer(self, resource: ProvidedResource, arm: Arm, session: Session) -> LiveWriter:
        return _PlayedUser(arm.writer(session))

    def find_given_id(self, arm_id: ArmId) -> str:
        return ""


_PLAYED_VERSION: Final = "2024-03-01"  # that of most types in the emulator
_OF_ARM: Final = frozenset({"id", "name", "type", "systemData", "etag"})


# ruff: noqa: ARG002 - the api-version of a manifest is not one of ARM
@dataclass(frozen=True, slots=True)
class _PlayedUser:
    writer: Writer

    async def find(self, arm_id: ArmId, api_version: str) -> Live | Absence:
        """Return the user without what ARM adds to a body: a server gives it no id."""
        answer = await self.writer.find(arm_id, _PLAYED_VERSION)
        if isinstance(answer, Absence):
            return answer
        return Live(body={name: value for name, value in answer.body.items() if name not in _OF_ARM})

    async def settle(self, arm_id: ArmId, api_version: str, live: Live) -> Live | None:
        return await self.writer.settle(arm_id, _PLAYED_VERSION, live)

    async def put(
        self, arm_id: ArmId, api_version: str, body: Mapping[str, Any], *, if_match: str | None = None
    ) -> AcceptedWrite | None:
        return await self.writer.put(arm_id, _PLAYED_VERSION, remove_secrets(body), if_match=if_match)

    async def delete(self, arm_id: ArmId, api_version: str, *, if_match: str | None = None) -> AcceptedWrite | None:
        return await self.writer.delete(arm_id, _PLAYED_VERSION, if_match=if_match)

    async def wait(self, reply: AcceptedWrite) -> bool:
        return await self.writer.wait(reply)
