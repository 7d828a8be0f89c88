"""Users of PostgreSQL: roles that may sign in, their options, and the roles whose members they are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import asyncpg

from gitsync.model.provider import ProvidedResource, Provider
from gitsync.providers.databases import database_failures
from gitsync.providers.databases.database_failures import (
    Advice,
    DatabaseError,
    explain_network,
    make_failure,
    translate,
)
from gitsync.providers.databases.grants import Grants
from gitsync.providers.databases.quoting import check_text, make_verifier, quote_identifier, refuse_reserved
from gitsync.providers.databases.sign_in import ServerAccess, echo_sign_in, find_password

_LONGEST_NAME = 63  # bytes: the server cuts longer ones, and would then change another role
_DATABASE = "postgres"
_MOST_DATABASES = 5  # that are looked into for what keeps a role from being dropped
_MOST_OBJECTS = 10
_SALT_BYTES = 16

_RESERVED: Final = frozenset({"azure_pg_admin", "azure_superuser", "azuresu", "none", "pg_", "public", "replication"})

_OPTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "login": ("rolcanlogin", "LOGIN"),
    "createRole": ("rolcreaterole", "CREATEROLE"),
    "createDb": ("rolcreatedb", "CREATEDB"),
    "replication": ("rolreplication", "REPLICATION"),
}
"""Of `roleOptions` → its column of pg_roles, its word in CREATE and ALTER ROLE."""

_ADVICE: Final[Mapping[str, Advice]] = {
    "28P01": database_failures.LOGIN_FAILED,
    "28000": database_failures.LOGIN_FAILED,
    "53300": database_failures.BUSY,
    "57P01": database_failures.LOST,
    "57P02": database_failures.LOST,
    "57P03": database_failures.STARTING,
    "57014": database_failures.SILENT,
    "55P03": database_failures.OTHER_WRITER,
    "25006": database_failures.READ_ONLY,
    "42501": database_failures.NOT_ALLOWED,
    "42710": database_failures.OTHER_WRITER,
    "42704": database_failures.OTHER_WRITER,  # roles were looked up just before
    "23505": database_failures.OTHER_WRITER,
    "XX000": database_failures.OTHER_WRITER,  # "tuple concurrently updated"
    "42939": database_failures.INVALID_USER,
    "22P05": database_failures.INVALID_USER,  # a character that the encoding of the server lacks
}
"""SQLSTATE → what it means here."""

_READ_ROLE = f"SELECT oid, {', '.join(column for column, _ in _OPTIONS.values())} FROM pg_roles WHERE rolname = $1"  # noqa: S608 - columns of a table above
# 16 and later have one row for each grantor.
_READ_MEMBERSHIPS = (
    "SELECT DISTINCT r.rolname FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid WHERE m.member = $1"
)
_READ_KNOWN_ROLES = "SELECT rolname FROM pg_roles WHERE rolname = ANY($1::text[])"
_READ_DATABASES_OF = """
    SELECT DISTINCT d.datname FROM pg_shdepend s JOIN pg_database d ON d.oid = s.dbid
    WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = $1 AND d.datallowconn ORDER BY 1
"""
_READ_OBJECTS_OF = """
    SELECT s.deptype::text, pg_describe_object(s.classid, s.objid, s.objsubid) AS described FROM pg_shdepend s
    WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = $1
    AND s.dbid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    ORDER BY 1 DESC, 2 LIMIT $2
"""


class _Role(NamedTuple):
    oid: int
    options: Mapping[str, bool]
    memberships: frozenset[str]


class PostgresqlConnector(NamedTuple):
    """Opens connections to one server, as its administrator."""

    access: ServerAccess

    async def open(self, *, reads_only: bool, database: str = _DATABASE) -> PostgresqlUsers:
        """Connect and sign in. Raises DatabaseError."""
        return PostgresqlUsers(self, await translate(lambda: self._connect(database, reads_only), self.explain))

    async def _connect(self, database: str, reads_only: bool) -> asyncpg.Connection:  # noqa: FBT001 - private
        access = self.access
        settings = {
            "application_name": "gitsync",
            "statement_timeout": str(int(access.timeout * 1000)),
            # A plan cannot write, whatever is wrong with it.
            **({"default_transaction_read_only": "on"} if reads_only else {}),
        }
        return await asyncpg.connect(
            host=access.address.host,
            port=access.address.port,
            user=access.administrator,
            password=access.password.reveal(),
            database=database,
            ssl=access.tls,
            direct_tls=False,
            target_session_attrs="any",  # and not the value of the environment
            timeout=access.timeout,
            command_timeout=access.timeout + 1.0,  # the server ends a statement first, so its end is known
            statement_cache_size=0,
            server_settings=settings,
        )

    def explain(self, error: BaseException, *, outcome_unknown: bool = False) -> DatabaseError:
        """Make what an error of the driver means."""
        code, detail = getattr(error, "sqlstate", None) or "", ""
        if isinstance(error, asyncpg.PostgresConnectionError):
            advice, code = database_failures.LOST, ""
        elif isinstance(error, asyncpg.PostgresError):
            # gitsync's statements contain no password, but a verifier: a syntax error might quote that.
            advice = _ADVICE.get(code, database_failures.REFUSED)
            detail = "" if code.startswith("426") else str(error.args[0] if error.args else "")
            if "pg_hba.conf" in detail:
                advice = database_failures.NOT_LET_IN
        elif type(error) is ConnectionError and "rejected SSL upgrade" in str(error):
            advice = database_failures.WITHOUT_TLS
        elif isinstance(error, OSError):
            advice, detail = explain_network(error)
        elif isinstance(error, asyncpg.InterfaceError | asyncpg.InternalClientError):
            advice = database_failures.LOST
        else:
            advice = database_failures.MALFORMED
        return make_failure(
            advice,
            Provider.POSTGRESQL,
            self.access.address.host,
            detail=detail,
            native_code=code,
            outcome_unknown=outcome_unknown,
        )


class PostgresqlUsers:
    """Reads, writes and drops users over one connection. `is_unsure`: a write is under way, and may have been done."""

    def __init__(self, connector: PostgresqlConnector, connection: asyncpg.Connection) -> None:
        self._connector = connector
        self._connection = connection
        self.is_unsure = False

    async def read(self, user: ProvidedResource) -> dict[str, Any] | None:
        """Return a user in the words of its manifest; None if there is none."""
        role = await self._find_role(user.name)
        if role is None:
            return None
        body = user.body or {}
        # Of a prune, all that the role has is shown.
        roles = _compare_roles(user, role).show() if user.body is not None else sorted(role.memberships)
        options = body.get("roleOptions") if user.body is not None else role.options
        return {
            **echo_sign_in(body),
            **({"roles": roles} if roles or "roles" in body else {}),
            **({"roleOptions": {name: role.options.get(name) for name in options}} if options else {}),
        }

    async def write(self, user: ProvidedResource) -> None:
        """Bring a user to its body, in one transaction. Equal values are not sent."""
        role = await self._find_role(user.name)
        grants = _compare_roles(user, role)
        await self._check_roles(grants.missing)
        statements = [*_define(user, role), *_grant(user.name, grants)]
        if statements:
            await self._send(*statements)

    async def drop(self, user: ProvidedResource) -> None:
        """Drop a user; one that is gone is dropped already. Raises DatabaseError if it owns something."""
        role = await self._find_role(user.name)
        if role is None:
            return
        try:
            await self._send(f"DROP ROLE IF EXISTS {quote_identifier(user.name)}")
        except DatabaseError as refusal:
            # That code means that other objects depend on the role, which is worth a list of them.
            if refusal.native_code != "2BP01":
                raise
        else:
            return
        raise await self._explain_objects(user.name, role.oid)

    async def close(self) -> None:
        """Close the connection at once, whatever its state is."""
        self._connection.terminate()

    async def _find_role(self, name: str) -> _Role | None:
        rows = await self._fetch(_READ_ROLE, name)
        if not rows:
            return None
        memberships = await self._fetch(_READ_MEMBERSHIPS, rows[0]["oid"])
        return _Role(
            oid=rows[0]["oid"],
            options={option: rows[0][column] for option, (column, _) in _OPTIONS.items()},
            memberships=frozenset(row["rolname"] for row in memberships),
        )

    async def _check_roles(self, names: list[str]) -> None:
        """Look for roles before anything is written. Raises DatabaseError (code DatabaseRoleNotFound)."""
        known = {row["rolname"] for row in await self._fetch(_READ_KNOWN_ROLES, names)} if names else set()
        if unknown := sorted(set(names) - known):
            raise DatabaseError(
                f"{self._connector.access.address.host} has no role {', '.join(map(repr, unknown))}.",
                code="DatabaseRoleNotFound",
                hint="Create it on the server, or correct `roles`. Nothing was changed.",
            )

    async def _explain_objects(self, name: str, oid: int) -> DatabaseError:
        """Describe what keeps a role from being dropped, as far as the administrator can see it."""
        databases = [row["datname"] for row in await self._fetch(_READ_DATABASES_OF, oid)]
        described: list[str] = []
        for database in [_DATABASE, *(database for database in databases if database != _DATABASE)][:_MOST_DATABASES]:
            described += await self._describe_objects(database, oid)
        shown = "; ".join(dict.fromkeys(described)) or "objects that the administrator may not see"
        quoted = quote_identifier(name)
        where = f" in {', '.join(databases)}" if databases else ""
        return DatabaseError(
            f"The role {name!r} cannot be dropped from {self._connector.access.address.host}: {shown}.",
            code="DatabaseUserOwnsObjects",
            hint=f"Run `REASSIGN OWNED BY {quoted} TO …` and `DROP OWNED BY {quoted}`{where}, as a member of the role.",
        )

    async def _describe_objects(self, database: str, oid: int) -> list[str]:
        try:
            users = await self._connector.open(reads_only=True, database=database)
        except DatabaseError:
            return [f"something in the database {database}"]
        try:
            rows = await users._fetch(_READ_OBJECTS_OF, oid, _MOST_OBJECTS)  # noqa: SLF001 - of this class
        finally:
            await users.close()
        verbs = {"o": "owns", "a": "has rights on"}
        return [
            f"it {verbs.get(row['deptype'], 'is used by')} {row['described']} (database {database})" for row in rows
        ]

    async def _fetch(self, query: str, *arguments: object) -> list[Any]:
        return await translate(lambda: self._connection.fetch(query, *arguments), self._connector.explain)

    async def _send(self, *statements: str) -> None:
        """Send statements in one transaction."""
        *first, last = statements if len(statements) == 1 else ("BEGIN", *statements, "COMMIT")

        async def send() -> None:
            for statement in first:
                await self._connection.execute(statement)
            # Only the last answer decides, so only that may be missed.
            self.is_unsure = True
            await self._connection.execute(last)
            self.is_unsure = False

        await translate(send, self._explain_write)

    def _explain_write(self, error: BaseException) -> DatabaseError:
        has_answered = isinstance(error, asyncpg.PostgresError) and not isinstance(
            error, asyncpg.PostgresConnectionError
        )
        self.is_unsure &= not has_answered
        return self._connector.explain(error, outcome_unknown=self.is_unsure)


def check_user(user: ProvidedResource) -> None:
    """Check what a server would misunderstand. Raises DatabaseError (code InvalidDatabaseUser)."""
    hint = "Choose another `azureName`."
    name = check_text(user.name, "The name of the user", hint)
    if len(name.encode()) > _LONGEST_NAME:
        raise DatabaseError(
            f"The name {name[:100]!r} has more than {_LONGEST_NAME} bytes, and the server would cut it.",
            code="InvalidDatabaseUser",
            hint=hint,
        )
    refuse_reserved("pg_" if name.startswith("pg_") else name, _RESERVED, "PostgreSQL")
    for role in (user.body or {}).get("roles") or ():
        check_text(role, "A name in `roles`", "Fix `roles`.")


def _compare_roles(user: ProvidedResource, role: _Role | None) -> Grants:
    stated, applied = (user.body or {}).get("roles"), user.applied or {}
    return Grants(stated, applied.get("roles") or (), role.memberships if role else frozenset())


def _define(user: ProvidedResource, role: _Role | None) -> Iterator[str]:
    """Yield the statement that makes a role, or changes only those of its options that differ."""
    stated = {
        name: bool(value) for name, value in ((user.body or {}).get("roleOptions") or {}).items() if name in _OPTIONS
    }
    if role is None:
        # CREATE ROLE grants none of these by itself. Who may not have REPLICATION may not even deny it.
        words = [word for name, (_, word) in _OPTIONS.items() if stated.get(name, name == "login")]
    else:
        words = [
            word if stated[name] else f"NO{word}"
            for name, (_, word) in _OPTIONS.items()
            if name in stated and stated[name] is not role.options[name]
        ]
    if role is None or user.sets_password:
        password = find_password(user)
        words += [f"PASSWORD '{make_verifier(password, os.urandom(_SALT_BYTES))}'"] if password is not None else []
    if words or role is None:
        yield f"{'ALTER' if role else 'CREATE'} ROLE {quote_identifier(user.name)} WITH {' '.join(words)}"


def _grant(name: str, grants: Grants) -> Iterator[str]:
    quoted = quote_identifier(name)
    yield from (f"GRANT {quote_identifier(role)} TO {quoted}" for role in grants.missing)
    yield from (f"REVOKE {quote_identifier(role)} FROM {quoted}" for role in grants.surplus)


def make_connector(access: ServerAccess) -> PostgresqlConnector:
    """Make what opens connections. A token is a password like another one here."""
    return PostgresqlConnector(access)
