"""What a database server refused, in one form: each becomes a `DatabaseError` with a code and what to do about it.

Errors of drivers may hold a statement, and a statement a password. So none is chained, and the server's own words are
shown only if nothing secret was sent.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple, TypeVar

from gitsync.errors import ProviderError
from gitsync.model.provider import Provider
from gitsync.model.secret import truncate

T = TypeVar("T")

SERVICE_NAMES: Final[Mapping[Provider, str]] = {Provider.POSTGRESQL: "PostgreSQL", Provider.MYSQL: "MySQL"}
_GROUPS: Final[Mapping[Provider, str]] = {
    Provider.POSTGRESQL: "dbforpostgresql.azure.com",
    Provider.MYSQL: "dbformysql.azure.com",
}
_LONGEST = 500  # characters of a server's message


class DatabaseError(ProviderError):
    """A database server refused, did not respond, or must not be contacted. `native_code` is the server's own."""

    native_code = ""


class Advice(NamedTuple):
    """What is wrong, and what to do. Both texts may name the `{server}`, its `{service}`, and the `{group}` of its
    kinds.
    """

    code: str
    message: str
    hint: str  # an order
    is_outage: bool = False  # it may pass by itself


NOT_REACHED = Advice(
    "DatabaseNotReachable",
    "{service} on {server} does not accept the connection",
    "Check that the server runs, and that a FlexibleServersFirewallRule ({group}) or a private endpoint "
    "allows this machine. A new rule takes some minutes.",
    is_outage=True,
)
SILENT = Advice(
    "DatabaseTimeout",
    "{service} on {server} does not respond",
    "Check that a FlexibleServersFirewallRule ({group}) or a private endpoint allows this machine, and check the "
    "load of the server.",
    is_outage=True,
)
LOST = Advice(
    "DatabaseConnectionLost",
    "The connection to {service} on {server} broke",
    "Run again. If it happens again, check the server log.",
    is_outage=True,
)
UNKNOWN_HOST = Advice(
    "DatabaseNotReachable",
    "The name {server} cannot be resolved",
    "Check the DNS server. A server with private access has its name in a private DNS zone: link the zone to the "
    "network of this machine.",
    is_outage=True,
)
NOT_TRUSTED = Advice(
    "DatabaseNotTrusted",
    "The certificate of {server} is not trusted",
    "If a private CA signed it, set --ca-bundle to that CA. Nothing was sent.",
)
WITHOUT_TLS = Advice(
    "DatabaseWithoutTls",
    "{service} on {server} does not support TLS",
    "Turn on TLS for the server. No password was sent.",
)
LOGIN_FAILED = Advice(
    "DatabaseLoginFailed",
    "{service} on {server} rejects the administrator",
    "Correct `serverAdminUsername`, or the Secret of `serverAdminPassword`.",
)
NOT_LET_IN = Advice(
    "DatabaseNotReachable",
    "{service} on {server} does not allow this machine",
    "Create a FlexibleServersFirewallRule ({group}) for its address.",
    is_outage=True,
)
READ_ONLY = Advice(
    "DatabaseReadOnly",
    "{server} accepts no writes: it is a replica, or is read-only",
    "Set the owner to the primary server: users are replicated. If the server is the primary, make it writable.",
)
BUSY = Advice(
    "DatabaseBusy",
    "{server} has too many connections",
    "Run again later, or raise `max_connections` on the server.",
    is_outage=True,
)
STARTING = Advice("DatabaseStarting", "{server} is starting or stopping", "Run again in a minute.", is_outage=True)
NOT_ALLOWED = Advice(
    "DatabaseNotAllowed",
    "The administrator is not allowed to do this on {server}",
    "Grant the right to the administrator, or remove it from the manifest. Azure provides no superuser, and an "
    "administrator can grant only rights that it may pass on.",
)
OTHER_WRITER = Advice(
    "DatabaseUserChanged",
    "Someone else changed the user on {server} at the same time",
    "Run again.",
    is_outage=True,
)
INVALID_USER = Advice("InvalidDatabaseUser", "{service} does not accept this name", "Choose another `azureName`.")
INVALID_PASSWORD = Advice(
    "InvalidDatabasePassword",
    "{service} on {server} does not accept the password",
    "Store a password in the Secret that meets the server's rules.",
)
INVALID_PRIVILEGE = Advice(
    "InvalidDatabasePrivilege",
    "{service} on {server} does not have one of the privileges, or not at this level",
    "Correct `privileges` and `databasePrivileges`.",
)
MALFORMED = Advice(
    "DatabaseAnswerMalformed",
    "The response of {service} on {server} does not follow its protocol",
    "Check for a proxy between this machine and the server.",
)
REFUSED = Advice("DatabaseRefused", "{service} on {server} refused a statement", "Check the server log.")

RETRIED: Final = frozenset({BUSY.code, STARTING.code, NOT_REACHED.code})
"""Codes that are tried again within a run. Nothing was sent then but the wish for a connection."""


def make_failure(
    advice: Advice,
    service: Provider,
    server: str,
    *,
    detail: str = "",
    native_code: str = "",
    outcome_unknown: bool = False,
) -> DatabaseError:
    """Make an error from what is known of it. `detail` is of the server, and must hold nothing secret; `native_code` is
    its own code.
    """
    words = {"service": SERVICE_NAMES[service], "server": server, "group": _GROUPS[service]}
    message = advice.message.format_map(words)
    message += f" ({native_code})" if native_code else ""
    message += f": {truncate(detail, _LONGEST).rstrip('.')}." if detail else "."
    failure = DatabaseError(
        message,
        code=advice.code,
        hint=advice.hint.format_map(words),
        outcome_unknown=outcome_unknown,
    )
    failure.is_outage, failure.native_code = advice.is_outage, native_code
    return failure


def explain_network(error: OSError) -> tuple[Advice, str]:
    """Return what an error below the protocol of a database means, and its words that help."""
    match error:
        case ssl.SSLCertVerificationError():
            return NOT_TRUSTED, error.verify_message
        case ssl.SSLEOFError() | ssl.SSLSyscallError() | ssl.SSLZeroReturnError():
            return LOST, ""
        case ssl.SSLError():
            return NOT_TRUSTED, error.reason or ""
        case socket.gaierror():
            return UNKNOWN_HOST, ""
        case TimeoutError():
            return SILENT, ""
        case ConnectionError() if not isinstance(error, ConnectionRefusedError):
            return LOST, ""
        case _:
            return NOT_REACHED, error.strerror or ""


async def translate(work: Callable[[], Awaitable[T]], explain: Callable[[BaseException], DatabaseError]) -> T:
    """Do some work of a driver, whose errors become what `explain` makes of them."""
    try:
        return await work()
    except DatabaseError:
        raise
    except Exception as error:  # noqa: BLE001 - a driver raises anything for what is not of its protocol
        failure = explain(error)
    # Here and not in the handler: there, the error of the driver would stay in `__context__`, with its statement.
    raise failure
