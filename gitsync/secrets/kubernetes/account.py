"""The API server of the cluster that the job runs in, and the job's service account.

Kubernetes gives both to every pod, in two variables and a mounted folder. gitsync never reads a kubeconfig, so a job on
a laptop does not change the cluster of that laptop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gitsync.errors import ConfigError

FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_OUTSIDE = (
    "Run in a pod whose service account is mounted (automountServiceAccountToken), or remove the source and the "
    "sink `kubernetes`."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccount:
    """The token is a file, since the kubelet renews it before it expires."""

    server: str
    namespace: str
    token: Path
    certificates: Path


def find_service_account(environment: Mapping[str, str], folder: Path = FOLDER) -> ServiceAccount:
    """The service account of the pod; ConfigError outside of a cluster."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "")
    if not (host and port.isdigit()):
        raise ConfigError(
            "gitsync does not run in a Kubernetes pod: KUBERNETES_SERVICE_HOST and _PORT are not set to an API server.",
            hint=_OUTSIDE,
        )
    token, certificates = folder / "token", folder / "ca.crt"
    try:
        token.open("rb").close()
        certificates.open("rb").close()
        namespace = (folder / "namespace").read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigError(f"The service account of this pod cannot be read: {error}.", hint=_OUTSIDE) from error
    address = f"[{host}]" if ":" in host else host
    return ServiceAccount(
        server=f"https://{address}:{port}", namespace=namespace, token=token, certificates=certificates
    )
