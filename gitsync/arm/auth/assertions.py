"""Vouches for a client with its certificate, the whole chain of it included (RFC 7523, RFC 7515 §4.1.6).

Managed identities are asked for the chain, and azure-identity's asynchronous credential sends the thumbprint alone.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import pkcs12

from gitsync.model.clock import Clock

_LIFE = 600
"""Seconds that an assertion is good for: it is sent at once."""


def make_assertion_source(certificate: bytes, client: str, audience: str, clock: Clock) -> Callable[[], str]:
    """Return a function that makes assertions. `certificate` is PKCS#12 or PEM, with its RSA key and without a
    password; `audience` is the URL that tokens are asked of. Raises ValueError for anything else.
    """
    key, chain = _load(certificate)
    if not isinstance(key, RSAPrivateKey) or not chain:
        raise ValueError("an RSA key and its certificate are needed")
    header = {
        "alg": "PS256",
        "typ": "JWT",
        "x5t#S256": _encode_base64url(chain[0].fingerprint(hashes.SHA256())),
        "x5c": [base64.b64encode(one.public_bytes(serialization.Encoding.DER)).decode() for one in chain],
    }

    def make() -> str:
        now = int(clock.now().timestamp())
        claims = {"aud": audience, "iss": client, "sub": client, "jti": str(uuid4()), "nbf": now, "exp": now + _LIFE}
        content = f"{_encode_json(header)}.{_encode_json(claims)}"
        hash_ = hashes.SHA256()
        pss_padding = padding.PSS(mgf=padding.MGF1(hash_), salt_length=hash_.digest_size)
        return f"{content}.{_encode_base64url(key.sign(content.encode(), pss_padding, hash_))}"

    return make


def _load(certificate: bytes) -> tuple[Any, list[x509.Certificate]]:
    """Return the key, and the certificates from the client's own upwards."""
    if b"-----BEGIN" in certificate:
        key = serialization.load_pem_private_key(certificate, None)
        return key, x509.load_pem_x509_certificates(certificate)
    own_key, own, others = pkcs12.load_key_and_certificates(certificate, None)
    return own_key, [one for one in (own, *others) if one is not None]


def _encode_json(value: dict[str, Any]) -> str:
    return _encode_base64url(json.dumps(value, separators=(",", ":")).encode())


def _encode_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
