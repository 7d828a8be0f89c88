"""The identity that signs in to Azure, and how: the values of a credential's settings or Secret.

Separate from `gitsync.arm`, which opens credentials: the credential of a resource is chosen without Azure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gitsync.model.secret import Secret


class Method(StrEnum):
    """How to get a token, as the setting `--credential` names it."""

    DEFAULT = "default"
    WORKLOAD_IDENTITY = "workload-identity"
    MANAGED_IDENTITY = "managed-identity"
    CLIENT_SECRET = "client-secret"  # noqa: S105 - the name of a method
    CLIENT_CERTIFICATE = "client-certificate"
    IDENTITY_FILE = "identity-file"
    ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """Who signs in. "" and None mean "not set".

    `secret_name` is the Secret that returns so, as namespace/name; "" for the settings. `client_certificate` is PEM or
    PKCS#12, the latter in base64. `identity_file` holds the credentials of a user-assigned identity; if a Secret names
    it, it must be in `identity_folder`. `environment` has the variables of CI systems
    (`ACTIONS_ID_TOKEN_REQUEST_URL` and `_TOKEN`; `SYSTEM_OIDCREQUESTURI`, `SYSTEM_ACCESSTOKEN` and
    `AZURESUBSCRIPTION_SERVICE_CONNECTION_ID`).
    """

    method: Method = Method.DEFAULT
    tenant_id: str = ""
    client_id: str = ""
    client_secret: Secret | None = None
    client_certificate: Secret | None = None
    client_certificate_path: str = ""
    client_certificate_password: Secret | None = None
    federated_token_file: str = ""
    identity_file: str = ""
    identity_folder: str = ""
    additional_tenants: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret_name: str = field(default="", compare=False)

    @property
    def title(self) -> str:
        """What a message calls it."""
        if self.secret_name:
            return f'credential Secret "{self.secret_name}" ({self.method})'
        return f"--credential {self.method}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherCloud:
    """Another cloud than the run's, as a Secret names it: all three values, not checked."""

    endpoint: str
    audience: str
    authority: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """All that a credential's Secret reports. `cloud` is None for the run's own."""

    subscription: str
    sign_in: SignIn
    cloud: OtherCloud | None = None
