"""What the token of a job presents to Entra ID, and the commands that make an identity trust it.

A federated credential must have issuer, subject and audience of the token exactly: case counts, and the subject may
contain the ids of a GitHub repository
(https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations). Nothing else of the token
is kept: neither its other claims nor its signature.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from dataclasses import dataclass

from gitsync.desired.formats.json_members import as_mapping, read_claims, read_text

_LONGEST = 600
"""Characters of each value of a federated credential."""

_FILE_OR_FLAG = ("@", "-")
"""The Azure CLI reads a file in place of a value with the first, and a flag with the second."""

_LONGEST_NAME = 60  # characters of the subject in the name of a credential, which may have 120
_CLIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobIdentity:
    """The claims that a federated credential is compared with."""

    subject: str
    issuer: str
    audience: str

    @property
    def fits(self) -> bool:
        """Return whether a federated credential can have these values, and a command can name them."""
        return all(
            value.isprintable() and len(value) <= _LONGEST and not value.startswith(_FILE_OR_FLAG)
            for value in (self.subject, self.issuer, self.audience)
        )

    @property
    def credential_name(self) -> str:
        """The name of a credential for this subject: a create under the name of another one would replace that."""
        words = re.sub(r"[^A-Za-z0-9]+", "-", self.subject).strip("-")[:_LONGEST_NAME].rstrip("-") or "gitsync"
        return f"{words}-{hashlib.sha256(f'{self.issuer} {self.subject}'.encode()).hexdigest()[:8]}"


def read_job_identity(token: str) -> JobIdentity | None:
    """Read the claims of a job's token, whose signature is not checked; None for anything without all three."""
    claims = as_mapping(read_claims(token))
    found = JobIdentity(
        subject=read_text(claims, "sub"), issuer=read_text(claims, "iss"), audience=_read_audience(claims.get("aud"))
    )
    return found if found.subject and found.issuer and found.audience else None


def _read_audience(value: object) -> str:
    """Read the audience."""
    # The audience may be a list (RFC 7519 §4.1.3), as in Kubernetes.
    audiences = [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
    return next((text for text in audiences if "AzureADTokenExchange" in text), audiences[0] if audiences else "")


def format_identity_command(job: JobIdentity) -> str:
    """Format the command that makes a managed identity trust the job, for a POSIX shell."""
    words = ["az", "identity", "federated-credential", "create", "--identity-name", "IDENTITY"]
    words += ["--resource-group", "GROUP", "--name", job.credential_name, "--issuer", job.issuer]
    return shlex.join([*words, "--subject", job.subject, "--audiences", job.audience])


def format_binding_command() -> str:
    """Format the command that binds a managed identity to the AKS cluster of the job."""
    words = ["az", "aks", "identity-binding", "create", "--resource-group", "GROUP", "--cluster-name", "CLUSTER"]
    return shlex.join([*words, "--name", "gitsync", "--managed-identity-resource-id", "IDENTITY-ID"])


def format_application_command(job: JobIdentity, client_id: str) -> str:
    """Format the command that makes an application trust the job, for a POSIX shell."""
    members = {"name": job.credential_name, "issuer": job.issuer, "subject": job.subject, "audiences": [job.audience]}
    words = ["az", "ad", "app", "federated-credential", "create"]
    words += ["--id", client_id if _CLIENT.fullmatch(client_id) else "CLIENT-ID"]
    return shlex.join([*words, "--parameters", json.dumps(members, ensure_ascii=False)])
