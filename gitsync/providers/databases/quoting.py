"""Names, texts and passwords in statements: the only functions that put a value of a manifest into SQL, and what they
refuse.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import stringprep
import unicodedata
from collections.abc import Collection
from typing import Final

from gitsync.providers.databases.database_failures import DatabaseError

_PRIVILEGE: Final = re.compile(r"[A-Z_]+( [A-Z_]+)*")
_CLAUSES: Final = frozenset({"ON", "TO", "FROM", "WITH", "IDENTIFIED", "REQUIRE"})
_HOST: Final = re.compile(r"[A-Za-z0-9._%:/-]{1,255}")
_WILDCARD: Final = re.compile(r"[\\%_]")


def quote_identifier(name: str) -> str:
    """Quote a name for PostgreSQL."""
    return '"' + name.replace('"', '""') + '"'


def quote_backticks(name: str) -> str:
    """Quote a name for MySQL."""
    # A backslash means nothing special between backticks.
    return "`" + name.replace("`", "``") + "`"


def quote_text(text: str, *, escapes: bool) -> str:
    """Quote a text for MySQL. `escapes`: the server reads a backslash as an escape, which its status shows
    (`NO_BACKSLASH_ESCAPES`).
    """
    return "'" + (text.replace("\\", "\\\\") if escapes else text).replace("'", "''") + "'"


def escape_database(name: str) -> str:
    """Escape a name of a database in GRANT, where `_` and `%` stand for any characters."""
    return _WILDCARD.sub(r"\\\g<0>", name)


def unescape_database(pattern: str) -> str | None:
    """Return the only database that a pattern of GRANT stands for; None if it stands for several."""
    name, is_escaped = "", False
    for character in pattern:
        if not is_escaped and character in "%_":
            return None
        is_escaped = not is_escaped and character == "\\"
        name += "" if is_escaped else character
    return f"{name}\\" if is_escaped else name


def fold_privilege(privilege: str) -> str:
    """Return a privilege as servers write it: in capitals, with single blanks.

    Raises DatabaseError (code InvalidDatabasePrivilege) for what cannot be the name of one: it goes into a statement as
    it is.
    """
    folded = " ".join(privilege.upper().split())
    if not _PRIVILEGE.fullmatch(folded) or not _CLAUSES.isdisjoint(folded.split()):
        raise DatabaseError(
            f"{privilege[:100]!r} is not the name of a privilege.",
            code="InvalidDatabasePrivilege",
            hint="Correct `privileges` and `databasePrivileges`. Write names such as SELECT, one in each entry.",
        )
    return folded


def refuse_reserved(name: str, reserved: Collection[str], service: str) -> None:
    """Refuse the name of a user that a server has itself. Raises DatabaseError (code InvalidDatabaseUser)."""
    if name in reserved:
        raise DatabaseError(
            f"The name {name!r} is reserved by {service}.",
            code="InvalidDatabaseUser",
            hint="Choose another `azureName`.",
        )


def check_host(host: str) -> str:
    """Return the host of a MySQL user, which servers keep in lower case. Raises DatabaseError for what is none."""
    if not _HOST.fullmatch(host):
        raise DatabaseError(
            f"{host[:255]!r} is not a host from which a user may connect.",
            code="InvalidDatabaseUser",
            hint="Correct `hostname`. Write an address, a name in DNS, or a pattern with %.",
        )
    return host.lower()


def check_text(text: str, what: str, hint: str) -> str:
    """Return a name or a password that can be sent as it is.

    Raises DatabaseError (code InvalidDatabaseUser) for an empty text, a NUL, or half of a surrogate pair.
    """
    flaw = "is empty" if not text else "has a NUL character" if "\0" in text else ""
    try:
        text.encode()
    except UnicodeEncodeError:
        flaw = "is not valid Unicode"
    if flaw:
        # The text is not quoted, since it may be a password.
        raise DatabaseError(f"{what} {flaw}.", code="InvalidDatabaseUser", hint=hint)
    return text


# SCRAM-SHA-256 of PostgreSQL: a password as the server keeps it, so that the password itself is never sent. RFC 5803
# has the form, RFC 4013 how a password is prepared.


ITERATIONS = 4096
"""As the server's own default."""

_PROHIBITED = (
    stringprep.in_table_c12,
    stringprep.in_table_c21_c22,
    stringprep.in_table_c3,
    stringprep.in_table_c4,
    stringprep.in_table_c5,
    stringprep.in_table_c6,
    stringprep.in_table_c7,
    stringprep.in_table_c8,
    stringprep.in_table_c9,
    stringprep.in_table_a1,
)


def make_verifier(password: str, salt: bytes, iterations: int = ITERATIONS) -> str:
    """Return what PostgreSQL stores for a password."""
    salted = hashlib.pbkdf2_hmac("sha256", prepare(password).encode(), salt, iterations)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    stored_key = hashlib.sha256(client_key).digest()
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    salt_text, stored_text, server_text = (base64.b64encode(part).decode() for part in (salt, stored_key, server_key))
    return f"SCRAM-SHA-256${iterations}:{salt_text}${stored_text}:{server_text}"


def prepare(password: str) -> str:
    """Prepare a password by SASLprep."""
    mapped = "".join(
        " " if stringprep.in_table_c12(character) else character
        for character in password
        if not stringprep.in_table_b1(character)
    )
    normalized = unicodedata.normalize("NFKC", mapped)
    if not normalized or any(test(character) for character in normalized for test in _PROHIBITED):
        # A password that may not be prepared stays as it is, as PostgreSQL and its clients have it.
        return password
    if any(map(stringprep.in_table_d1, normalized)) and (
        any(map(stringprep.in_table_d2, normalized))
        or not (stringprep.in_table_d1(normalized[0]) and stringprep.in_table_d1(normalized[-1]))
    ):
        return password
    return normalized
