"""Users of MySQL and MariaDB: accounts `name@host`, and their privileges on the server and on databases."""

from __future__ import annotations

import asyncio
import hashlib
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

import pymysql

from gitsync.desired.formats.user_names import ANY_HOST, parse_user
from gitsync.model.provider import ProvidedResource, Provider
from gitsync.providers.databases import database_failures
from gitsync.providers.databases.database_failures import (
    Advice,
    DatabaseError,
    explain_network,
    make_failure,
    translate,
)
from gitsync.providers.databases.mysql_privileges import Dialect, Privileges, compare_privileges
from gitsync.providers.databases.quoting import check_host, check_text, fold_privilege, quote_text, refuse_reserved
from gitsync.providers.databases.sign_in import ServerAccess, echo_sign_in, find_password

T = TypeVar("T")

_RESERVED: Final = frozenset(
    {"azure_superuser", "mariadb.sys", "mysql.infoschema", "mysql.session", "mysql.sys", "root"}
)

_ADVICE: Final[Mapping[int, Advice]] = {
    1040: database_failures.BUSY,
    1203: database_failures.BUSY,
    1226: database_failures.BUSY,
    1053: database_failures.STARTING,
    1045: database_failures.LOGIN_FAILED,
    1130: database_failures.NOT_LET_IN,
    1044: database_failures.NOT_ALLOWED,
    1142: database_failures.NOT_ALLOWED,
    1227: database_failures.NOT_ALLOWED,
    1410: database_failures.NOT_ALLOWED,
    1290: database_failures.READ_ONLY,
    1836: database_failures.READ_ONLY,
    1792: database_failures.READ_ONLY,
    1396: database_failures.OTHER_WRITER,
    1133: database_failures.OTHER_WRITER,
    1141: database_failures.OTHER_WRITER,
    1205: database_failures.OTHER_WRITER,
    1470: database_failures.INVALID_USER,
    1819: database_failures.INVALID_PASSWORD,
    1064: database_failures.INVALID_PRIVILEGE,
    1149: database_failures.INVALID_PRIVILEGE,
    1221: database_failures.INVALID_PRIVILEGE,
    1144: database_failures.INVALID_PRIVILEGE,
    2013: database_failures.LOST,
    2006: database_failures.LOST,
    2026: database_failures.WITHOUT_TLS,
}
"""Number of an error → what it means here."""

_TELLING: Final = frozenset({database_failures.NOT_ALLOWED, database_failures.READ_ONLY, database_failures.NOT_LET_IN})
"""Where the words of the server say more, and quote nothing of a statement, which may have a password."""

_READ_ACCOUNTS = "SELECT User, Host FROM mysql.user WHERE User = %s"
_READ_PRIVILEGES = (
    "SELECT GRANTEE, PRIVILEGE_TYPE, IS_GRANTABLE FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = %s"
)
_READ_DATABASE_PRIVILEGES = (
    "SELECT GRANTEE, PRIVILEGE_TYPE, IS_GRANTABLE, TABLE_SCHEMA FROM information_schema.SCHEMA_PRIVILEGES "
    "WHERE GRANTEE = %s"
)
_READ_VARIABLES = "SHOW VARIABLES WHERE Variable_name IN ('lower_case_table_names', 'partial_revokes')"


class _Account(NamedTuple):
    """One account of a server."""

    name: str
    quoted: str  # its name with its host
    exists: bool  # False for one that is still to be created
    privileges: Privileges


class MysqlConnector(NamedTuple):
    """Opens connections to one server, as its administrator."""

    access: ServerAccess

    async def open(self, *, reads_only: bool) -> MysqlUsers:  # noqa: ARG002 - as that of PostgreSQL
        """Connect and sign in. Raises DatabaseError."""
        return await translate(self._connect, self.explain)

    async def _connect(self) -> MysqlUsers:
        access = self.access
        async with asyncio.timeout(access.timeout):
            line = await asyncio.to_thread(socket.create_connection, access.address, access.timeout)
        thread = _Thread(line, access.timeout)
        connection = pymysql.Connection(
            host=access.address.host,
            port=access.address.port,
            user=access.administrator,
            password=access.password.reveal().encode(),  # the driver supports Latin-1 only
            charset="utf8mb4",
            ssl=access.tls,  # without TLS the driver gives up before it signs in
            read_timeout=access.timeout,
            write_timeout=access.timeout,
            autocommit=True,
            # A server may request the password in plain text: it gets tokens only, which Azure's servers read that way.
            auth_plugin_map={} if access.is_token else {"mysql_clear_password": _Refusal, "dialog": _Refusal},
            program_name="gitsync",
            defer_connect=True,
        )
        users = MysqlUsers(self, connection, thread)
        try:
            await thread.run(connection.connect, line)
        # Also when the task is cancelled: no one else has the socket yet.
        except BaseException:
            await users.close()
            raise
        return users

    def explain(self, error: BaseException, *, outcome_unknown: bool = False) -> DatabaseError:
        """Make what an error of the driver means."""
        # What the driver wraps: a certificate that is not trusted, a timeout.
        wraps = isinstance(error, pymysql.Error)
        cause = (getattr(error, "original_exception", None) or error.__context__) if wraps else error
        number = error.args[0] if isinstance(error, pymysql.Error) and error.args else 0
        number = number if isinstance(number, int) else 0
        if isinstance(cause, OSError):
            # The number of the driver shows less than the error of the network that it wraps.
            advice, detail = explain_network(cause)
            number = 0
        elif not number:  # the driver gave up on what it got
            advice, detail = database_failures.MALFORMED, ""
        else:
            advice = _ADVICE.get(number, database_failures.REFUSED)
            detail = str(error.args[1]) if advice in _TELLING and len(error.args) > 1 else ""
        return make_failure(
            advice,
            Provider.MYSQL,
            self.access.address.host,
            detail=detail,
            native_code=str(number or ""),
            outcome_unknown=outcome_unknown,
        )


class MysqlUsers:
    """Reads, writes and drops users over one connection. `is_unsure`: a write is under way, and may have been done."""

    def __init__(self, connector: MysqlConnector, connection: pymysql.Connection[Any], thread: _Thread) -> None:
        self._connector = connector
        self._connection = connection
        self._thread = thread
        self.is_unsure = False

    async def read(self, user: ProvidedResource) -> dict[str, Any] | None:
        """Return a user in the words of its manifest; None if there is none."""
        account = await self._make_account(user)
        if not account.exists:
            return None
        body = user.body or {}
        host = {"hostname": body["hostname"]} if body.get("hostname") else {}
        return host | echo_sign_in(body) | account.privileges.show(body)

    async def write(self, user: ProvidedResource) -> None:
        """Bring a user to its body. Equal values are not sent."""
        account = await self._make_account(user)
        # Each is done by itself: MySQL has no transactions for users.
        for statement in (*self._define(user, account), *account.privileges.list_statements(account.quoted)):
            await self._send(statement)

    async def drop(self, user: ProvidedResource) -> None:
        """Drop a user; one that is gone is dropped already."""
        account = await self._make_account(user)
        if account.exists:
            await self._send(f"DROP USER IF EXISTS {account.quoted}")

    async def close(self) -> None:
        """Close the connection at once, whatever its state is."""
        self._thread.cut()
        self._connection._force_close()  # noqa: SLF001 - close() would wait for the server

    async def _make_account(self, user: ProvidedResource) -> _Account:
        name, host = make_account_name(user)
        # Names are compared here, exactly: a server folds case and blanks, each in its own way.
        rows = await self._fetch(_READ_ACCOUNTS, name)
        exists = any(row[0] == name and row[1].lower() == host for row in rows)
        grantee = f"'{name}'@'{host}'"  # which the server does not escape either
        held: dict[str, bool] = {}
        held_of_databases: dict[str, dict[str, bool]] = {}
        if exists:
            rows = await self._fetch(_READ_PRIVILEGES, grantee)
            held = {row[1].upper(): row[2] == "YES" for row in rows if row[0] == grantee}
            for row in await self._fetch(_READ_DATABASE_PRIVILEGES, grantee):
                if row[0] == grantee:
                    held_of_databases.setdefault(row[3], {})[row[1].upper()] = row[2] == "YES"
        return _Account(
            name=name,
            quoted=f"{self._quote(name)}@{self._quote(host)}",
            exists=exists,
            privileges=compare_privileges(user, held, held_of_databases, await self._choose_dialect()),
        )

    async def _choose_dialect(self) -> Dialect:
        variables = {row[0]: str(row[1]).upper() for row in await self._fetch(_READ_VARIABLES)}
        return Dialect(
            is_mariadb=self._is_mariadb,
            # With partial revokes, a server has no wildcards.
            has_wildcards=variables.get("partial_revokes") != "ON",
            folds_names=variables.get("lower_case_table_names", "0") != "0",
        )

    @property
    def _is_mariadb(self) -> bool:
        return "mariadb" in self._connection.server_version.lower()

    def _define(self, user: ProvidedResource, account: _Account) -> Iterator[str]:
        if "aadUser" in (user.body or {}):
            if not account.exists:
                login, alias = self._quote(user.name), self._quote(account.name)
                yield f"CREATE AADUSER IF NOT EXISTS {login} AS {alias}"
        elif not account.exists or user.sets_password:
            verb, password = "ALTER" if account.exists else "CREATE", self._quote_password(find_password(user) or "")
            yield f"{verb} USER {account.quoted} IDENTIFIED BY {password}"

    def _quote_password(self, password: str) -> str:
        # MySQL keeps passwords out of its logs. MariaDB does not, and takes what it would store instead.
        if not self._is_mariadb:
            return self._quote(password)
        digest = hashlib.sha1(hashlib.sha1(password.encode()).digest()).hexdigest()  # noqa: S324 - as the server has it
        return f"PASSWORD '*{digest.upper()}'"

    def _quote(self, text: str) -> str:
        status = self._connection.server_status
        return quote_text(text, escapes=not status & pymysql.constants.SERVER_STATUS.SERVER_STATUS_NO_BACKSLASH_ESCAPES)

    async def _fetch(self, query: str, *arguments: str) -> Sequence[tuple[Any, ...]]:
        def fetch() -> Sequence[tuple[Any, ...]]:
            with self._connection.cursor() as cursor:
                cursor.execute(query, arguments or None)
                # Without a table, nothing is known: an empty result would mean that the user does not exist.
                if cursor.description is None:
                    raise pymysql.InternalError("The server responded to a query without a result.")
                return [tuple(map(_read_text, row)) for row in cursor.fetchall()]

        return await translate(lambda: self._thread.run(fetch), self._connector.explain)

    async def _send(self, statement: str) -> None:
        self.is_unsure = True
        await translate(lambda: self._thread.run(self._connection.query, statement), self._explain_write)
        self.is_unsure = False

    def _explain_write(self, error: BaseException) -> DatabaseError:
        number = error.args[0] if isinstance(error, pymysql.Error) and error.args else 0
        has_answered = (
            isinstance(number, int) and number >= 1000 and number // 1000 != 2
        )  # 2000 to 2999 are the client's
        self.is_unsure = not has_answered
        failure = self._connector.explain(error, outcome_unknown=self.is_unsure)
        if number == 1045:  # not at the login, but of a GRANT
            failure = make_failure(
                database_failures.NOT_ALLOWED,
                Provider.MYSQL,
                self._connector.access.address.host,
                native_code=str(number),
            )
        return failure


class _Thread:
    """Runs the driver, which blocks, beside the event loop. When it takes too long, its connection is cut, which ends
    it.
    """

    def __init__(self, line: socket.socket, timeout: float) -> None:
        self._line = line.dup()  # since TLS takes the socket itself over
        self._timeout = timeout

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        work = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
        try:
            async with asyncio.timeout(self._timeout):
                return await asyncio.shield(work)
        except (TimeoutError, asyncio.CancelledError):
            self.cut()
            # A thread cannot be cancelled, but a call on a socket that was cut returns at once.
            await asyncio.wait([work])
            # asyncio logs an exception that is never retrieved, and that of a driver may have a statement in it.
            work.cancelled() or work.exception()  # it is known why
            raise

    def cut(self) -> None:
        try:
            self._line.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the server was quicker
        finally:
            self._line.close()


class _Refusal:
    """Answers a server that requests a password in plain text, or by prompts of its own."""

    def __init__(self, _connection: object) -> None: ...

    def authenticate(self, _packet: object) -> NoReturn:
        raise pymysql.OperationalError(1045, "the server requests the password in plain text")


def check_user(user: ProvidedResource) -> None:
    """Check what a server would misunderstand. Raises DatabaseError (codes InvalidDatabaseUser and
    InvalidDatabasePrivilege).
    """
    body, before = user.body or {}, user.applied or {}
    types = [user_type for user_type in ("aadUser", "localUser") if user_type in before]
    if body and (changed := next((user_type for user_type in types if user_type not in body), "")):
        raise DatabaseError(
            f"The user {user.name!r} was created with `{changed}`, which cannot change.",
            code="InvalidDatabaseUser",
            hint=f"Restore `{changed}`, or give the user another `azureName`.",
        )
    for name in dict.fromkeys((user.name, make_account_name(user)[0])):  # in this order, so the error is the same
        _check_name(name, "The name of the user", "Choose another `azureName`.")
        refuse_reserved(name, _RESERVED, "MySQL")
    for privilege in body.get("privileges") or ():
        fold_privilege(privilege)
    for database, privileges in (body.get("databasePrivileges") or {}).items():
        _check_name(database, "A name in `databasePrivileges`", "Fix `databasePrivileges`.")
        for privilege in privileges or ():
            fold_privilege(privilege)


def make_account_name(user: ProvidedResource) -> tuple[str, str]:
    """Return the name and the host of a user inside of MySQL."""
    stated = (user.applied or {}) if user.body is None else user.body
    aad_user = stated.get("aadUser")
    if isinstance(aad_user, Mapping) or user.kept.alias:
        # An Entra ID user may have an alias there, and has no host.
        return (aad_user or {}).get("alias") or user.kept.alias or user.name, ANY_HOST
    # A record of a create that was not seen has the id alone.
    host = stated.get("hostname") or parse_user(user.arm_id.name).host
    return user.name, check_host(host)


def _check_name(name: str, what: str, hint: str) -> None:
    check_text(name, what, hint)
    # Servers keep names without blanks at the end, and in an encoding of three bytes: they would change another user.
    if name != name.rstrip(" ") or any(ord(character) > 0xFFFF for character in name):
        flaw = "ends with a blank" if name.endswith(" ") else "has a character that MySQL cannot keep in names"
        raise DatabaseError(f"{what}, {name[:100]!r}, {flaw}.", code="InvalidDatabaseUser", hint=hint)


def _read_text(value: Any) -> Any:
    """Some columns of the server's own tables come as bytes."""
    return value.decode() if isinstance(value, bytes) else value


def make_connector(access: ServerAccess) -> MysqlConnector:
    """Make what opens connections."""
    return MysqlConnector(access)
