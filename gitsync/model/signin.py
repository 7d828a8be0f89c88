"""The identity that signs in to Azure, and its method: the values of the settings or of a credential Secret.

Separate from `gitsync.providers.arm`, which opens credentials: choosing the credential of a resource needs no request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gitsync.model.identity import IdentityIds
from gitsync.model.secret import Secret


class Method(StrEnum):
    """The ways to get a token: the values of the setting `--credential`."""

    DEFAULT = "default"
    WORKLOAD_IDENTITY = "workload-identity"
    MANAGED_IDENTITY = "managed-identity"
    CLIENT_SECRET = "client-secret"  # noqa: S105 - the name of a method
    CLIENT_CERTIFICATE = "client-certificate"
    IDENTITY_FILE = "identity-file"
    ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """The identity that signs in. "" and None mean "not set"."""

    method: Method = Method.DEFAULT
    tenant_id: str = ""
    client_id: str = ""
    client_secret: Secret | None = None  # of the application, to sign in with
    client_certificate: Secret | None = None  # PEM, or PKCS#12 in base64
    client_certificate_path: str = ""
    client_certificate_password: Secret | None = None  # of the certificate's key, if the key is encrypted
    federated_token_file: str = ""  # a path; the file is read again when it changes
    identity_file: str = ""
    """The path of the credentials of a user-assigned identity; if a Secret names it, it must be in `identity_folder`.
    """

    file_ids: IdentityIds | None = None  # the only ids that this file may have; None for any
    identity_folder: str = ""  # the only folder whose files credential Secrets may name
    additional_tenants: tuple[str, ...] = ()  # others to get tokens for
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The variables of CI systems (`ACTIONS_ID_TOKEN_REQUEST_URL` and `_TOKEN`; `SYSTEM_OIDCREQUESTURI`,
    `SYSTEM_ACCESSTOKEN` and `AZURESUBSCRIPTION_SERVICE_CONNECTION_ID`), and of AKS (`AZURE_KUBERNETES_TOKEN_PROXY`).
    """

    secret_name: str = field(default="", compare=False)
    """The Secret that specifies it, as namespace/name; "" for the settings."""

    @property
    def title(self) -> str:
        """The name of the credential in messages."""
        if self.secret_name:
            return f'credential Secret "{self.secret_name}" ({self.method})'
        return f"--credential {self.method}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherCloud:
    """Another cloud than the run's, from a Secret: all three values, unchecked."""

    endpoint: str
    audience: str
    authority: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The content of a credential Secret."""

    subscription: str
    sign_in: SignIn
    cloud: OtherCloud | None = None  # None for the run's own cloud
