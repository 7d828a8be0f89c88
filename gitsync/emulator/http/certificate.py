"""A certificate for the emulator's own address, created when it starts.

azure-identity accepts only authorities with TLS. Separate from the server, because only this module needs the package
`cryptography`.
"""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gitsync.settings.files.target_folder import TargetFolder

_LIFE = timedelta(days=30)
_PEM = serialization.Encoding.PEM

_AUTHORITY = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)


def make_tls_context(host: str, now: datetime, keep: Path) -> ssl.SSLContext:
    """Make a server's TLS context for a host, by name or address. Only the context contains the key.

    The certificate (PEM) is written to `keep`, for clients to trust. ConfigError if that fails, or if a link in a
    checkout leads there.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _make_certificate(host, now, key).public_bytes(_PEM)
    TargetFolder(keep.parent).replace(keep.name, certificate)
    secret = key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile(suffix=".pem") as pem_file:  # the context reads only files
        pem_file.write(certificate + secret)
        pem_file.flush()
        context.load_cert_chain(pem_file.name)
    return context


def _make_certificate(host: str, now: datetime, key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gitsync emulator")])
    hosts = sorted({host, "127.0.0.1", "::1", "localhost"})
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # Clocks of containers differ, and a certificate that begins now would be refused by one that is behind.
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _LIFE)
        .add_extension(x509.SubjectAlternativeName([_make_general_name(each) for each in hosts]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_AUTHORITY, critical=True)  # Python 3.13 requires this and the two below (RFC 5280, 4.2.1)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


def _make_general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
