"""The identity of a token, read from the token itself, so that a refusal can name it.

The token is not verified: Azure does that, and nothing is decided by what is read here.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from gitsync.formats.strict_json import read_json


@dataclass(frozen=True, slots=True)
class Principal:
    """Ids as the token's claims have them; "" if there is no such claim."""

    tenant: str
    client: str
    object: str

    def __str__(self) -> str:
        ids = {"client": self.client, "object": self.object, "tenant": self.tenant}
        return ", ".join(f"{name} {value}" for name, value in ids.items() if value)


def read_principal(token: str) -> Principal | None:
    """The claims `tid`, `appid` or `azp`, and `oid` of a JWT (RFC 7519); None for anything else."""
    try:
        payload = token.removeprefix("Bearer ").split(".")[1]
        claims = read_json(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (IndexError, ValueError, binascii.Error):
        return None
    if not isinstance(claims, dict):
        return None
    return Principal(
        tenant=_read_text(claims.get("tid")),
        client=_read_text(claims.get("appid") or claims.get("azp")),
        object=_read_text(claims.get("oid")),
    )


def _read_text(claim: object) -> str:
    return claim if isinstance(claim, str) else ""
