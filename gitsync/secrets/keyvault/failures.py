"""Readable messages for errors of Key Vault: a table by code, then by status.

Values of secrets are not shown: error texts of Key Vault are masked and bounded before they are reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gitsync.errors import (
    SecretInTransitionError,
    SecretNameTakenError,
    SecretStoreError,
    StoreForbiddenError,
    TransientStoreError,
)
from gitsync.model.secret import Secret
from gitsync.secrets.complaint import format_complaint
from gitsync.secrets.retry import PATIENT_ATTEMPTS, read_retry_after

_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_NO_CODE, _NO_REASON = "without a code", "without a reason"
_WITHOUT_CAUSE = frozenset({_NO_CODE, _NO_REASON, "Forbidden"})
_IN_BETWEEN = frozenset({"ObjectIsBeingRecovered", "ObjectIsBeingDeleted"})


class VaultPermission(StrEnum):
    """What the identity must be allowed to do, and how to allow it."""

    READ = "Grant the identity the role `Key Vault Secrets User`, or get and list in the vault's access policy."
    WRITE = (
        "Grant the identity the role `Key Vault Secrets Officer`, or get, list, set, delete and recover in the vault's "
        "access policy."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request. `doing` is what it does, for people; `secret` must not show in an error."""

    method: str
    path: str
    doing: str
    needs: VaultPermission = VaultPermission.READ
    body: Mapping[str, Any] | None = field(default=None, repr=False)
    secret: Secret | None = None


_CAUSES_BY_CODE: dict[str, tuple[str, str]] = {
    "SecretDisabled": ("It is disabled.", "Enable or remove it."),
    "ForbiddenByFirewall": (
        "The firewall of the vault blocks this machine.",
        "Allow its address in the firewall of the vault, or run in a network with access to the vault.",
    ),
    "ForbiddenByConnection": (
        "The vault is reachable only through its private endpoints.",
        "Run in a network with a private endpoint of the vault.",
    ),
    "ObjectIsDeletedButRecoverable": (
        "A secret of this name is deleted, and Key Vault keeps its name until it is purged.",
        "Recover or purge it: `az keyvault secret recover` or `purge`.",
    ),
}

_CAUSES_BY_STATUS: dict[int, tuple[str, str]] = {
    401: (
        "Key Vault does not accept the token.",
        "Check that the vault's tenant is that of the identity, or one of --additional-tenants.",
    ),
    429: ("Key Vault is throttling requests.", "Run again later, or use a separate vault for the run."),
}


def make_failure(ask: Ask, vault: str, status: int, headers: Mapping[str, str], body: Any) -> SecretStoreError:
    """The error for an answer."""
    code, reason = _read_reason(body, ask.secret)
    cause, hint = (
        _CAUSES_BY_CODE.get(code) or _CAUSES_BY_STATUS.get(status) or ("", ask.needs.value if status == 403 else "")
    )
    message = " ".join(filter(None, (f"{vault} refused to {ask.doing} ({status} {code}).", cause, reason)))
    if status in _PASSING or code in _IN_BETWEEN:
        is_of_all = code not in _IN_BETWEEN
        return (TransientStoreError if is_of_all else SecretInTransitionError)(
            message,
            attempts=PATIENT_ATTEMPTS,
            retry_after=read_retry_after(headers),
            is_of_all=is_of_all,
            hint=hint,
        )
    if status == 403 and code in _WITHOUT_CAUSE:
        return StoreForbiddenError(message, hint=hint)
    return (SecretNameTakenError if status == 409 else SecretStoreError)(message, hint=hint)


def _read_reason(body: Any, secret: Secret | None) -> tuple[str, str]:
    """The innermost code of an error body, and its message."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return _NO_REASON, ""
    inner = error.get("innererror") or error.get("innerError")
    code = (inner.get("code") if isinstance(inner, dict) else None) or error.get("code") or _NO_CODE
    reason = format_complaint(error.get("message"), [secret] if secret else [])
    return str(code), f"{reason}." if reason else ""
