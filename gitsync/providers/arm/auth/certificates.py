"""Signs in with a certificate: from a text, from a file, or from the credentials file of a user-assigned identity.

Separate from the other credentials, because no error may show the content of a certificate, and because a Secret of a
manifest may name such a file: gitsync reads it only from the folder that a setting allows.

A user-assigned identity vouches for itself with the complete chain of its certificate (RFC 7523, RFC 7515 §4.1.6):
managed identities must send the chain, and azure-identity's asynchronous credential sends the thumbprint alone.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from azure.identity.aio import CertificateCredential, ClientAssertionCredential
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import pkcs12

from gitsync.desired.formats.strict_json import read_json
from gitsync.errors import ConfigError
from gitsync.model.clock import Clock
from gitsync.model.identity import IdentityIds
from gitsync.model.secret import Secret
from gitsync.model.signin import SignIn
from gitsync.providers.arm.cloud import parse_origin

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")
_PEM = b"-----BEGIN"
_MOST = 1_000_000  # bytes of a file; the largest certificate chains have some thousands
_LIFE = 600
"""Seconds that an assertion is good for: it is sent at once."""

_IDS = ("client_id", "tenant_id")
_FIELDS = (*_IDS, "client_secret", "authentication_endpoint")
"""Members of the file of a user-assigned identity, as the data plane of managed identities issues it."""


def open_certificate_credential(sign_in: SignIn, options: dict[str, Any]) -> CertificateCredential:
    """Open the credential of a certificate with its private key. ConfigError if it is not one, or the password is
    wrong.
    """
    certificate = sign_in.client_certificate
    data = _read(Path(sign_in.client_certificate_path)) if certificate is None else _decode(certificate, sign_in)
    password = sign_in.client_certificate_password.reveal() if sign_in.client_certificate_password else None
    try:
        return CertificateCredential(
            sign_in.tenant_id, sign_in.client_id, certificate_data=data, password=password, **options
        )
    except (ValueError, TypeError) as error:  # cryptography raises TypeError for a missing password
        raise _make_certificate_error(sign_in) from error


def open_identity_file_credential(sign_in: SignIn, options: dict[str, Any], clock: Clock) -> ClientAssertionCredential:
    """Open the credential of a user-assigned identity, whose file has its certificate and the authority.

    Raises ConfigError if the file is outside the allowed folder, cannot be read, or is not such a file.
    """
    fields = _read_fields(_find_identity_file(sign_in), sign_in)
    authority = fields["authentication_endpoint"].rstrip("/")
    origin = parse_origin(authority)
    if origin is None or origin[0] != "https" or not all(_ID.fullmatch(fields[name]) for name in _IDS):
        raise _make_identity_error(sign_in)
    # The file may have been replaced since the allow-list accepted its ids.
    if sign_in.file_ids is not None and not _get_ids(fields).is_same(sign_in.file_ids):
        raise ConfigError(
            f"The identity file of {_name_source(sign_in)} has other ids than those that were checked.",
            hint="Run the command again.",
        )
    options = {**options, "authority": authority, "disable_instance_discovery": True}  # a regional one is not listed
    audience = f"{authority}/{fields['tenant_id']}/oauth2/v2.0/token"
    try:
        make_assertion = make_assertion_source(
            base64.b64decode(fields["client_secret"]), fields["client_id"], audience, clock
        )
        return ClientAssertionCredential(fields["tenant_id"], fields["client_id"], make_assertion, **options)
    except (ValueError, TypeError) as error:
        raise _make_identity_error(sign_in) from error


def read_file_ids(sign_in: SignIn) -> IdentityIds:
    """Read the ids in the credentials file of a user-assigned identity. ConfigError if it cannot be read."""
    return _get_ids(_read_fields(_find_identity_file(sign_in), sign_in))


def _get_ids(fields: Mapping[str, str]) -> IdentityIds:
    return IdentityIds(*(fields[name] for name in _IDS))


def _decode(certificate: Secret, sign_in: SignIn) -> bytes:
    """Decode a certificate: PEM as it is; anything else is base64 of PKCS#12 or of PEM."""
    text = certificate.reveal()
    if text.lstrip().encode().startswith(_PEM):
        return text.encode()
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (ValueError, binascii.Error) as error:
        raise _make_certificate_error(sign_in) from error


def _find_identity_file(sign_in: SignIn) -> Path:
    """Find the identity's file; one that a Secret names only if a setting allows it (links are followed first)."""
    path = Path(sign_in.identity_file)
    if not sign_in.secret_name:  # a setting, by the person who runs gitsync, may name any file
        return path
    folder = Path(sign_in.identity_folder).resolve() if sign_in.identity_folder else None
    if folder is None or not path.resolve().is_relative_to(folder):
        raise ConfigError(
            f'Credential Secret "{sign_in.secret_name}" names a file outside the identity folder.',
            hint="Set --identity-folder to the folder of the identity files, and keep the file in it.",
        )
    return path.resolve()


def _read_fields(path: Path, sign_in: SignIn) -> dict[str, str]:
    try:
        document = read_json(_read(path))
    except ValueError as error:
        raise _make_identity_error(sign_in) from error
    members = document if isinstance(document, dict) else {}
    fields = {name: value for name in _FIELDS if isinstance(value := members.get(name), str) and value}
    if len(fields) < len(_FIELDS):
        raise _make_identity_error(sign_in)
    return fields


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}.", hint="Check the path and its permissions."
        ) from error


def _make_certificate_error(sign_in: SignIn) -> ConfigError:
    hint = "Use PEM, or PKCS#12 in base64, with an RSA key. If it is encrypted, check the password."
    return ConfigError(f"The certificate of {_name_source(sign_in)} cannot be used.", hint=hint)


def _make_identity_error(sign_in: SignIn) -> ConfigError:
    hint = f"Use JSON with {', '.join(_FIELDS)}; client_secret in base64, the last an https URL."
    return ConfigError(f"The identity file of {_name_source(sign_in)} cannot be used.", hint=hint)


def _name_source(sign_in: SignIn) -> str:
    return f'credential Secret "{sign_in.secret_name}"' if sign_in.secret_name else "the settings"


def make_assertion_source(certificate: bytes, client: str, audience: str, clock: Clock) -> Callable[[], str]:
    """Return a function that makes assertions. `certificate` is PKCS#12 or PEM, with its RSA key and without a
    password; `audience` is the URL that issues the tokens. Raises ValueError for anything else.
    """
    key, chain = _load(certificate)
    if not isinstance(key, RSAPrivateKey) or not chain:
        raise ValueError("an RSA key and its certificate are needed")
    header = {
        "alg": "PS256",
        "typ": "JWT",
        "x5t#S256": _encode_base64url(chain[0].fingerprint(hashes.SHA256())),
        "x5c": [
            base64.b64encode(certificate.public_bytes(serialization.Encoding.DER)).decode() for certificate in chain
        ],
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
    # The chain of PEM begins with the client's own certificate; PKCS#12 keeps that one apart.
    if b"-----BEGIN" in certificate:
        key = serialization.load_pem_private_key(certificate, None)
        return key, x509.load_pem_x509_certificates(certificate)
    own_key, own, others = pkcs12.load_key_and_certificates(certificate, None)
    return own_key, [member for member in (own, *others) if member is not None]


def _encode_json(value: dict[str, Any]) -> str:
    return _encode_base64url(json.dumps(value, separators=(",", ":")).encode())


def _encode_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
