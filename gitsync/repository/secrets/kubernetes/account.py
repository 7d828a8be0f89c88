"""The API server of the cluster that the job runs in, and the job's service account.

Kubernetes gives both to every pod, in two variables and a mounted folder. gitsync never reads a kubeconfig, so a job on
a laptop does not change the cluster of that laptop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gitsync.desired.formats.json_members import read_claims, read_text
from gitsync.errors import ConfigError

FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_OUTSIDE = (
    "Run in a pod whose service account is mounted (automountServiceAccountToken), or remove the source and the "
    "sink `kubernetes`."
)

EMPTY_TOKEN = "Start the pod again. If it stays empty, check who writes the file."  # noqa: S105 - a hint
_SUBJECT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccount:
    """The account of the pod."""

    server: str  # the address of the API server
    namespace: str
    token: Path  # a file, since the kubelet renews the token before it expires
    certificates: Path  # the file of those that the server's is checked with
    name: str = ""  # namespace:name of the account, "" if its token does not have it


def read_service_account(environment: Mapping[str, str], folder: Path = FOLDER) -> ServiceAccount:
    """Read the service account of the pod; ConfigError outside of a cluster."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "")
    if not (host and port.isdigit()):
        raise ConfigError(
            "gitsync does not run in a Kubernetes pod: KUBERNETES_SERVICE_HOST and _PORT are not set to an API server.",
            hint=_OUTSIDE,
        )
    token, certificates = folder / "token", folder / "ca.crt"
    try:
        token_text = token.read_text(encoding="utf-8")
        certificates.open("rb").close()  # read by the client, which would fail later and less clearly
        namespace = (folder / "namespace").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The service account of this pod cannot be read: {error}.", hint=_OUTSIDE) from error
    if not token_text.strip():
        raise ConfigError(f"The token of the service account is empty: {token}.", hint=EMPTY_TOKEN)
    address = f"[{host}]" if ":" in host else host
    subject = read_text(read_claims(token_text), "sub")
    return ServiceAccount(
        server=f"https://{address}:{port}",
        namespace=namespace,
        token=token,
        certificates=certificates,
        name=subject.removeprefix(_SUBJECT) if subject.startswith(_SUBJECT) else "",
    )
