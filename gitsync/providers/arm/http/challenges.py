"""Challenges of Azure Resource Manager: a 401 that demands a token with more claims, such as multifactor
authentication (https://learn.microsoft.com/entra/identity-platform/claims-challenge).

azure-core requests such a token and sends the request once more, so an application passes by itself. The login of a
person cannot: `gitsync.providers.arm.auth.challenge_advice` shows the command to sign in again.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

from gitsync.desired.formats.strict_json import read_json

_INSUFFICIENT = re.compile(r"\berror=\"?insufficient_claims\b", re.IGNORECASE)
_CLAIMS = re.compile(r"\bclaims=\"([A-Za-z0-9_+/=-]{1,8000})\"", re.IGNORECASE)


def read_claims_challenge(headers: Mapping[str, str]) -> str:
    """Read the claims of a challenge, as JSON; "" for any other answer, and for claims that are not base64 of JSON."""
    challenge = headers.get("www-authenticate", "")
    encoded = _CLAIMS.search(challenge) if _INSUFFICIENT.search(challenge) else None
    return decode_claims(encoded[1]) if encoded else ""


def decode_claims(encoded: str) -> str:
    """Decode claims from base64 with either alphabet; "" if they are not a JSON object in it."""
    try:
        text = base64.b64decode(encoded.translate(_URL_SAFE) + "=" * (-len(encoded) % 4), validate=True).decode()
        return text if isinstance(read_json(text.encode()), dict) else ""
    except ValueError:
        return ""


_URL_SAFE = str.maketrans("-_", "+/")
