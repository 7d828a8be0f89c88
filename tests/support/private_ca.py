"""A certificate authority of our own, and a server certificate for this machine that it signed."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)
PEM = serialization.Encoding.PEM


@dataclass(frozen=True)
class PrivateCa:
    """The PEM bundle of the authority, and a server's TLS context."""

    bundle: Path
    tls: ssl.SSLContext


def make(folder: Path, *, name: str = "") -> PrivateCa:
    """Make both. The certificate is for a name in DNS, or for 127.0.0.1."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    (folder / "ca.pem").write_bytes(certificate("ca", ca_key, "ca", ca_key).public_bytes(PEM))
    (folder / "server.pem").write_bytes(
        certificate("server", key, "ca", ca_key, name).public_bytes(PEM)
        + key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "server.pem")
    return PrivateCa(folder / "ca.pem", tls)


def certificate(
    name: str, key: ec.EllipticCurvePrivateKey, issuer: str, signer: ec.EllipticCurvePrivateKey, host: str = ""
):
    hosts = [x509.DNSName(host) if host else x509.IPAddress(ip_address("127.0.0.1"))]
    now = datetime.now(UTC)  # noqa: TID251 - OpenSSL compares with the real time
    is_ca = name == issuer
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(usage(is_ca), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .sign(signer, hashes.SHA256())
    )


def usage(is_ca: bool) -> x509.KeyUsage:
    """What the key may be used for; Python 3.13 looks (RFC 5280, 4.2.1)."""
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_ca,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
