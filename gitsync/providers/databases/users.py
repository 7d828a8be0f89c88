"""What reads and writes the users of databases in a run: a reader or writer for each, as ARM's client has them.

The server of a user is the owner, at the name that it has in Azure. A password or a token goes to no other host.
"""

# ruff: noqa: ARG002 - arguments that mean something to ARM alone
from __future__ import annotations

import asyncio
import ssl
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from gitsync import DISTRIBUTION
from gitsync.errors import DeadlineError
from gitsync.model.arm_id import ArmId
from gitsync.model.clock import Clock, format_rfc3339
from gitsync.model.live import Absence, Live
from gitsync.model.provider import ProvidedResource, Provider
from gitsync.model.result import FailedRequest, Wait
from gitsync.model.secret import Secret
from gitsync.providers.arm.auth.arm_access import read_trust
from gitsync.providers.arm.cloud import Cloud
from gitsync.providers.arm.lro.poll import AcceptedWrite
from gitsync.providers.arm.session import Session
from gitsync.providers.databases.address import ServerAddress, choose_token_scope, read_address
from gitsync.providers.databases.database_failures import RETRIED, SERVICE_NAMES, DatabaseError
from gitsync.providers.databases.sign_in import ServerAccess, choose_administrator, find_password
from gitsync.settings.backoff import Backoff, retry

T = TypeVar("T")

ReadServer = Callable[[str], Awaitable[Live | None]]
"""Reads a server by its ARM id; None if it does not exist."""
GetToken = Callable[[str], Awaitable[Secret]]
"""Gets an Entra ID token for a scope."""

_MOST_CONNECTIONS = 4
"""To one server at a time: small ones take fifty in all, from all of their clients."""
_BACKOFF: Final = Backoff(tries=5)
"""For a server that is busy or just starts: 1, 2, 4 and 8 seconds between its tries."""
_EXTRA = "databases"


class Users(Protocol):
    """The users of one server, over one connection."""

    @property
    def is_unsure(self) -> bool:
        """Whether a write is under way that may have been done."""
        ...

    async def read(self, user: ProvidedResource) -> dict[str, Any] | None: ...
    async def write(self, user: ProvidedResource) -> None: ...
    async def drop(self, user: ProvidedResource) -> None: ...
    async def close(self) -> None: ...


class Connector(Protocol):
    """Opens connections to one server."""

    async def open(self, *, reads_only: bool) -> Users: ...


@dataclass(frozen=True, kw_only=True)
class Databases:
    """The servers of one service of databases in one run."""

    service: Provider
    cloud: Cloud
    clock: Clock
    read_server: ReadServer  # reads the server of a user from ARM
    get_token: GetToken  # gets an Entra ID token for the service
    ca_bundle: Path | None = None  # a PEM file, trusted instead of the system's certificates
    server: ServerAddress | None = None  # on this machine, stands in for all of them, in tests
    timeout: float = 30.0  # seconds: to connect, and of each statement; the deadline of a user ends both sooner

    def reader(self, user: ProvidedResource, session: Session, password: Secret | None = None) -> UserReader:
        """Return what reads a user. `password` is the administrator's, for a prune; otherwise `user.body` has it."""
        return UserReader(self, user, session, password)

    def writer(self, user: ProvidedResource, session: Session, password: Secret | None = None) -> UserWriter:
        """Return what writes and deletes a user."""
        return UserWriter(self, user, session, password)

    @cached_property
    def tls(self) -> ssl.SSLContext:
        """What servers are verified with. Raises ConfigError for a bundle that cannot be read."""
        trust = read_trust(self.ca_bundle)
        return ssl.create_default_context() if trust is True else trust

    @cached_property
    def slots(self) -> defaultdict[ServerAddress, asyncio.Semaphore]:
        return defaultdict(lambda: asyncio.Semaphore(_MOST_CONNECTIONS))

    async def find_server(self, owner_id: ArmId) -> ServerAddress | None:
        """Find where a server is; None if it does not exist. Raises ProviderError if Azure does not show it, or shows
        an address that cannot be used.
        """
        server = await self.read_server(owner_id)
        if server is None:
            return None
        return self.server or read_address(owner_id, server, self.service, self.cloud)


class UserReader:
    """Reads one user. The ARM id and the api-version that its methods take are labels only."""

    def __init__(self, databases: Databases, user: ProvidedResource, session: Session, password: Secret | None) -> None:
        self._databases = databases
        self._user = user
        self._session = session
        self._password = password
        self._service = databases.service

    async def find(self, arm_id: ArmId, api_version: str) -> Live | Absence:
        """Return the user in the words of its manifest, without passwords, or that there is none.

        Raises ProviderError if its server gave no usable answer, or must not be contacted.
        """
        self._check()
        address = await self._databases.find_server(self._user.owner_id)
        if address is None:
            return Absence(code="ParentResourceNotFound", message=f"The server {self._user.owner_id} does not exist.")
        body = await self._request(address, lambda users: users.read(self._user), reads_only=True)
        if body is None:
            message = f"{SERVICE_NAMES[self._service]} on {address.host} has no user {self._user.name!r}."
            return Absence(code="ResourceNotFound", message=message)
        return Live(body=body)

    async def settle(self, arm_id: ArmId, api_version: str, live: Live) -> Live | None:
        """Return the user as it is: nothing moves it."""
        return live

    def _check(self) -> None:
        _load(self._service).check_user(self._user)
        administrator = choose_administrator(self._user, self._password, self._service)
        if administrator.name == self._user.name:
            raise DatabaseError(
                f"The user {self._user.name!r} is the administrator that signs in.",
                code="InvalidDatabaseUser",
                hint="Remove the manifest: the administrator comes with the server.",
            )

    async def _request(self, address: ServerAddress, work: Callable[[Users], Awaitable[T]], *, reads_only: bool) -> T:
        """Do some work over a connection of its own. Raises ProviderError; a DeadlineError if the time is over."""
        users: Users | None = None
        try:
            async with self._session.in_time(self._databases.clock), self._databases.slots[address]:
                users = await self._connect(address, reads_only=reads_only)
                try:
                    return await work(users)
                finally:
                    await users.close()
        except TimeoutError:
            is_unsure = users is not None and users.is_unsure
        raise self._make_late(address, is_unsure=is_unsure)

    async def _connect(self, address: ServerAddress, *, reads_only: bool) -> Users:
        connector = await self._make_connector(address)
        clock, session, before = self._databases.clock, self._session, len(self._session.failures)

        async def open_once() -> Users:
            session.requests += 1
            try:
                return await connector.open(reads_only=reads_only)
            except DatabaseError as error:
                attempt = FailedRequest(
                    at=format_rfc3339(clock.now()),
                    stage=session.stage,
                    status=0,
                    code=error.code,
                    message=error.message,
                )
                session.failures.append(attempt)
                raise

        async def pause(seconds: float) -> None:
            failed = session.failures[before:]
            with session.waiting(Wait(failed[-1].code, clock.monotonic() + seconds, len(failed) + 1)):
                await clock.sleep(seconds)

        return await retry(open_once, _find_backoff, clock, pause)

    async def _make_connector(self, address: ServerAddress) -> Connector:
        administrator = choose_administrator(self._user, self._password, self._service)
        password, is_token = administrator.password, administrator.password is None
        if password is None:
            password = await self._databases.get_token(choose_token_scope(self._databases.cloud))
        databases = self._databases
        access = ServerAccess(address, databases.tls, administrator.name, password, is_token, databases.timeout)
        return _load(self._service).make_connector(access)

    def _make_late(self, address: ServerAddress, *, is_unsure: bool) -> DeadlineError | DatabaseError:
        what = "end a write of" if is_unsure else "query"
        message = f"{self._session.end_reason} before {address.host} could {what} the user {self._user.name!r}."
        message = f"{message} {self._session.last_error()}".rstrip()
        if not is_unsure:
            return DeadlineError(message, code=self._session.end_code)
        return DatabaseError(message, code=self._session.end_code, outcome_unknown=True)


class UserWriter(UserReader):
    """Writes and deletes one user. Hold the write lock of its server: two writers disturb each other."""

    async def put(
        self,
        arm_id: ArmId,
        api_version: str,
        body: Mapping[str, Any],
        *,
        if_match: str | None = None,
    ) -> AcceptedWrite | None:
        """Bring the user to a body. Only what differs on the server is sent.

        Returns None: all is done. Raises ProviderError; with `outcome_unknown` a write may have been done.
        """
        self._check()
        user = replace(self._user, body=body)
        # A password that cannot be sent is refused before the server is contacted.
        find_password(user)
        address = await self._databases.find_server(user.owner_id)
        if address is None:
            raise DatabaseError(f"The server {user.owner_id} does not exist.", code="ParentResourceNotFound")
        await self._request(address, lambda users: users.write(user), reads_only=False)
        return None

    async def delete(
        self,
        arm_id: ArmId,
        api_version: str,
        *,
        if_match: str | None = None,
        query: Mapping[str, str] | None = None,
    ) -> AcceptedWrite | None:
        """Drop the user. A missing user, or one on a missing server, counts as dropped.

        Returns None: all is done. Raises ProviderError, with what the user owns if that forbids it.
        """
        address = await self._databases.find_server(self._user.owner_id)
        # A user is gone with its server, so a Secret that went with them must not fail the delete.
        if address is None:
            return None
        self._check()
        await self._request(address, lambda users: users.drop(self._user), reads_only=False)
        return None

    async def wait(self, reply: AcceptedWrite) -> bool:
        """Return that all is done: no write of a user is left running."""
        return True


def _find_backoff(failure: BaseException) -> Backoff | None:
    return _BACKOFF if isinstance(failure, DatabaseError) and failure.code in RETRIED else None


class _Service(Protocol):
    """What the module of a service has."""

    def check_user(self, user: ProvidedResource) -> None: ...

    def make_connector(self, access: ServerAccess) -> Connector: ...


def _load(service: Provider) -> _Service:
    """Import the module of a service: only a run with such users needs its driver. Raises DatabaseError without it."""
    package = "asyncpg" if service is Provider.POSTGRESQL else "PyMySQL"
    try:
        if service is Provider.POSTGRESQL:
            from gitsync.providers.databases import postgresql  # noqa: PLC0415 - see above

            return postgresql
        from gitsync.providers.databases import mysql  # noqa: PLC0415 - see above
    except ModuleNotFoundError as error:
        raise DatabaseError(
            f"{SERVICE_NAMES[service]} users need the package {package}, which is not installed.",
            code="PackageMissing",
            hint=f"Run `pip install '{DISTRIBUTION}[{_EXTRA}]'`.",
        ) from error
    return mysql
