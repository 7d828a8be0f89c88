"""A real kube-apiserver with its etcd on the loopback interface, for tools/try_api_server.py and tools/try_jobs.py.

Nothing else of a cluster runs, unless the tool starts it: no controller counts quotas or ends namespaces, so that both
stand still as they were put. All files are in one folder, and both programs end with the context.
"""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

ADMIN = "admin-token"
PATIENCE = 120  # seconds for the server to become ready
_DAY = timedelta(days=1)


class Refused(RuntimeError):  # noqa: N818 - it is a refusal of the server
    """The server refused a request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Server:
    """A server of the Kubernetes API, which takes requests of an administrator."""

    port: int  # on this machine
    ca: Path  # the certificate that its own is checked with
    command: list[str]  # starts it
    process: subprocess.Popen[bytes] | None = None  # None before it is started

    def start(self) -> None:
        self.process = start(self.command, self.ca.parent)

    def stop(self) -> None:
        if self.process:
            end(self.process)

    def send_request(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request. Raises Refused with the text of the server if it refuses."""
        try:
            return json.loads(self._send(method, path, body))
        except HTTPError as error:
            with error:
                raise Refused(error.code, f"{method} {path}: {error.code} {error.read().decode()}") from error

    def is_ready(self) -> bool:
        try:
            return self._send("GET", "/readyz", None) == b"ok"
        except (URLError, OSError):
            return False

    def wait_for(self, path: str) -> None:
        """Wait until a kind that was just defined is served. RuntimeError if it is not."""
        latest = time.monotonic() + PATIENCE
        while True:
            try:
                self.send_request("GET", path)
            except RuntimeError:
                if time.monotonic() > latest:
                    raise
                time.sleep(0.2)  # noqa: TID251 - programs of others take real time
            else:
                return

    def _send(self, method: str, path: str, body: Any) -> bytes:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {ADMIN}", "Content-Type": kind}
        content = None if body is None else json.dumps(body).encode()
        request = Request(f"https://127.0.0.1:{self.port}{path}", content, headers, method=method)
        with urlopen(request, context=ssl.create_default_context(cafile=self.ca), timeout=30) as answer:  # noqa: S310 - the URL is our own
            return bytes(answer.read())


@contextmanager
def running(kube_apiserver: str, etcd: str, folder: Path) -> Iterator[Server]:
    """Start both programs, wait until the server is ready, and end them. TimeoutError if it does not become ready."""
    make_certificates(folder)
    (folder / "tokens.csv").write_text(f"{ADMIN},admin,admin,system:masters\n")
    etcd_port, peer_port, port = find_free_ports(3)
    store = start(make_etcd_command(etcd, folder, etcd_port, peer_port), folder)
    server = Server(port, folder / "ca.pem", make_command(kube_apiserver, folder, etcd_port, port))
    try:
        server.start()
        wait_until_ready(server)
        yield server
    finally:
        server.stop()
        end(store)


def start(command: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """Start a program, whose output goes to a file."""
    with (folder / f"{Path(command[0]).name}.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)


def end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(60)


def make_etcd_command(etcd: str, folder: Path, port: int, peer_port: int) -> list[str]:
    url, peer_url = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    settings = {
        "data-dir": str(folder / "etcd"),
        "listen-client-urls": url,
        "advertise-client-urls": url,
        "listen-peer-urls": peer_url,
        "initial-advertise-peer-urls": peer_url,
        "initial-cluster": f"default={peer_url}",
    }
    return [etcd, *make_flags(settings)]


def make_command(kube_apiserver: str, folder: Path, etcd_port: int, port: int) -> list[str]:
    settings = {
        "etcd-servers": f"http://127.0.0.1:{etcd_port}",
        "bind-address": "127.0.0.1",
        "secure-port": str(port),
        "tls-cert-file": str(folder / "server.pem"),
        "tls-private-key-file": str(folder / "server.key"),
        "token-auth-file": str(folder / "tokens.csv"),
        "authorization-mode": "RBAC",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": str(folder / "server.key"),
        "service-account-signing-key-file": str(folder / "server.key"),
        "service-cluster-ip-range": "10.96.0.0/24",
        "endpoint-reconciler-type": "none",
        "enable-admission-plugins": "NamespaceLifecycle,ResourceQuota,ValidatingAdmissionPolicy",
    }
    return [kube_apiserver, *make_flags(settings)]


def make_flags(settings: Mapping[str, str]) -> list[str]:
    return [f"--{name}={value}" for name, value in settings.items()]


def wait_until_ready(server: Server) -> None:
    latest = time.monotonic() + PATIENCE
    while not server.is_ready():
        if time.monotonic() > latest or (server.process and server.process.poll() is not None):
            raise TimeoutError("The API server did not become ready; see the logs in its folder.")
        time.sleep(0.5)  # noqa: TID251 - programs of others take real time


def make_kubeconfig(server: Server) -> str:
    cluster = {"server": f"https://127.0.0.1:{server.port}", "certificate-authority": str(server.ca)}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "one", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": ADMIN}}],
            "contexts": [{"name": "one", "context": {"cluster": "one", "user": "admin"}}],
            "current-context": "one",
        }
    )


def find_free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in sockets]
    for listener in sockets:
        listener.close()
    return ports


def make_certificates(folder: Path) -> None:
    """A CA, and a certificate for 127.0.0.1 that it signed."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    pem = serialization.Encoding.PEM
    (folder / "ca.pem").write_bytes(make_certificate("ca", ca_key, ca_key).public_bytes(pem))
    (folder / "server.pem").write_bytes(make_certificate("server", key, ca_key).public_bytes(pem))
    (folder / "server.key").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    )


def make_certificate(
    name: str, key: ec.EllipticCurvePrivateKey, signer: ec.EllipticCurvePrivateKey
) -> x509.Certificate:
    now = datetime.now(UTC)  # noqa: TID251 - OpenSSL compares with the real time
    is_ca = key is signer
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    return (
        x509.CertificateBuilder()
        .subject_name(make_name(name))
        .issuer_name(make_name("ca"))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _DAY)
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .add_extension(address, critical=False)
        .sign(signer, hashes.SHA256())
    )


def make_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
