"""SCRAM-SHA-256 of PostgreSQL: a password as the server keeps it, so that the password itself is never sent.

RFC 5803 has the form, RFC 4013 how a password is prepared.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import stringprep
import unicodedata

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
    """Prepare a password by SASLprep. One that may not be prepared stays as it is, as PostgreSQL and its clients have
    it.
    """
    mapped = "".join(
        " " if stringprep.in_table_c12(character) else character
        for character in password
        if not stringprep.in_table_b1(character)
    )
    normalized = unicodedata.normalize("NFKC", mapped)
    if not normalized or any(test(character) for character in normalized for test in _PROHIBITED):
        return password
    if any(map(stringprep.in_table_d1, normalized)) and (
        any(map(stringprep.in_table_d2, normalized))
        or not (stringprep.in_table_d1(normalized[0]) and stringprep.in_table_d1(normalized[-1]))
    ):
        return password
    return normalized
