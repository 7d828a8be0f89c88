"""How to sign in to the server of a user: as which administrator, and with which password or token."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any, NamedTuple

from gitsync.model.provider import ProvidedResource, Provider
from gitsync.model.secret import Placeholder, Secret
from gitsync.providers.databases.address import ServerAddress
from gitsync.providers.databases.database_failures import SERVICE_NAMES, DatabaseError
from gitsync.providers.databases.quoting import check_text


class ServerAccess(NamedTuple):
    """How to reach one server."""

    address: ServerAddress
    tls: ssl.SSLContext
    administrator: str  # the login that signs in
    password: Secret
    is_token: bool  # the password is an Entra ID token
    timeout: float  # seconds: to connect, and of each statement


class Administrator(NamedTuple):
    """The login of a server's administrator."""

    name: str
    password: Secret | None  # None if a token signs in


def choose_administrator(user: ProvidedResource, kept_password: Secret | None, service: Provider) -> Administrator:
    """Choose who signs in: as in the manifest, or, for a prune, as in its record.

    Raises DatabaseError if the name is missing, or the password is one that this run does not read.
    """
    if user.body is None:
        if user.kept.password_from is not None and kept_password is None:
            secret, key = user.kept.password_from
            raise DatabaseError(
                f"The Secret {secret} has no key {key}: the password of the administrator {user.kept.administrator}.",
                code="SecretNotFound",
                hint="Restore the Secret until the user is deleted.",
            )
        administrator = Administrator(user.kept.administrator, kept_password)
    else:
        stated = get_sign_in(user.body)
        administrator = Administrator(stated.get("serverAdminUsername", ""), stated.get("serverAdminPassword"))
    check_text(administrator.name, "`serverAdminUsername`", "Set it to the administrator of the server.")
    # Only for MySQL may a token sign in, in place of a password.
    if administrator.password is None and service is not Provider.MYSQL:
        raise DatabaseError(
            f"The administrator of {SERVICE_NAMES[service]} needs a password.",
            code="InvalidDatabaseUser",
            hint="Set `serverAdminPassword`.",
        )
    if administrator.password is not None:
        reveal(administrator.password, "The password of the administrator")
    return administrator


def find_password(user: ProvidedResource) -> str | None:
    """Find the password that the user should have; None if it has none of its own, as one of Entra ID.

    Raises DatabaseError if this run does not read it.
    """
    body = user.body or {}
    if not isinstance(body.get("localUser"), Mapping):
        return None
    password = body["localUser"].get("password")
    return reveal(password if isinstance(password, Secret) else Secret(""), "The password of the user")


def get_sign_in(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a body that shows who the user is, and who manages it."""
    part = body.get("localUser") or body.get("aadUser")
    return part if isinstance(part, Mapping) else {}


def echo_sign_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same as the live state of a user shows it: it is not compared, and has no secret."""
    return {
        name: {key: value for key, value in part.items() if not isinstance(value, Secret)}
        for name, part in body.items()
        if name in {"localUser", "aadUser"} and isinstance(part, Mapping)
    }


def reveal(secret: Secret, what: str) -> str:
    """Return a password that can be sent.

    Raises DatabaseError (code SecretNotRead) for a placeholder: then no server is contacted, and nothing is known.
    """
    if isinstance(secret, Placeholder):
        why = secret.why or "a plan does not read it"
        raise DatabaseError(
            f"{what} is not known: {why} ({secret.reveal()}).",
            code="SecretNotRead",
            hint="Run the plan with --plan-secrets to compare the user with the database.",
        )
    return check_text(secret.reveal(), what, "Fix the Secret.")
