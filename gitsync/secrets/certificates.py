"""Finds the certificate that was not accepted in an error of an HTTP client.

Separate from the places, since both have clients that wrap it, each in its own way. It does not pass, so that no run
waits for it.
"""

from __future__ import annotations

import ssl


def find_certificate_error(error: BaseException | None) -> str:
    """Why a certificate was not accepted, as OpenSSL says it; "" if the error has another cause."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        reason = getattr(error, "verify_message", "")  # aiohttp's error of this type has none; its cause does
        if isinstance(error, ssl.SSLCertVerificationError) and reason:
            return str(reason)
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return ""
