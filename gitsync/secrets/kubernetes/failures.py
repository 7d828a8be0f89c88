"""Readable messages for errors of the API server: the cause, and what to do about it.

Values are not shown: error texts of the API server are masked and bounded before they are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gitsync.errors import DryRunUnsupportedError, SecretStoreError, StoreNotFoundError, TransientStoreError
from gitsync.model.export import Address
from gitsync.model.secret import Secret
from gitsync.secrets.certificates import find_certificate_error
from gitsync.secrets.complaint import format_complaint
from gitsync.secrets.kubernetes.refusals import NO_DRY_RUN, REFUSING, Cause, find_cause
from gitsync.secrets.retry import PATIENT_ATTEMPTS, read_retry_after

_PASSING = frozenset({408, 409, 429, 500, 502, 503, 504})
"""Includes 409: the object was changed concurrently, so it is read again."""


_DOWN = frozenset({429, 502, 503, 504})
"""Of the server as a whole. A 500 may be about one object, as that of a webhook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCall:
    """One request, by the verb that a Role must allow; `secrets` must not show in an error. `words` replace verb and
    address in messages.
    """

    verb: str
    address: Address
    secrets: tuple[Secret, ...] = ()
    words: str = ""

    def __str__(self) -> str:
        return self.words or f"{self.verb} {self.address}"


def make_failure(
    api_call: ApiCall, status: int, headers: Mapping[str, str], body: Any, *, may_pass: bool = False
) -> SecretStoreError:
    """The error for an answer. `may_pass`: a server that has just started refuses what it will allow."""
    reason = _read_reason(body, api_call.secrets)
    cause = find_cause(api_call.verb, api_call.address, body) if status in REFUSING else None
    words = f" {cause.words}" if cause and cause.words else ""
    message = f"The API server refused to {api_call}{words} ({status}){f': {reason}' if reason else ''}."
    if status in _PASSING or may_pass:
        hint = "Find what else writes this object." if status == 409 else (cause.hint if cause else "Run again later.")
        return TransientStoreError(
            message,
            attempts=PATIENT_ATTEMPTS,
            retry_after=read_retry_after(headers),
            is_of_all=status in _DOWN,
            hint=hint,
        )
    return _find_kind(status, reason)(message, hint=_find_hint(api_call, status, cause))


def make_unreachable(api_call: object, error: Exception) -> SecretStoreError:
    """The error for a request without an answer. A certificate that is not trusted does not pass."""
    if reason := find_certificate_error(error):
        return SecretStoreError(
            f"The certificate of the API server is not accepted: {reason}.",
            hint="Check ca.crt of the service account, and that KUBERNETES_SERVICE_HOST is the API server.",
        )
    reason = (str(error) or type(error).__name__).rstrip(".")
    return TransientStoreError(
        f"The API server could not be reached to {api_call}: {reason}.",
        attempts=PATIENT_ATTEMPTS,
        is_of_all=True,
        hint="Check the network policies of the namespace of the job.",
    )


def _find_kind(status: int, reason: str) -> type[SecretStoreError]:
    if status == 404:
        return StoreNotFoundError
    return DryRunUnsupportedError if status == 400 and NO_DRY_RUN in reason else SecretStoreError


def _find_hint(api_call: ApiCall, status: int, cause: Cause | None) -> str:
    if cause:
        return cause.hint
    return {
        401: "Check that the service account still exists: its token is not accepted.",
        403: "Ask who runs the cluster which of its authorizers or admission plugins refuses this.",
        404: f"Create namespace {api_call.address.namespace}.",
        413: "Reduce its size: the limit of Kubernetes is 1 MiB.",
        422: "Fix the keys, annotations and labels that the resource exports.",
    }.get(status, "")


def _read_reason(body: Any, hidden: Iterable[Secret]) -> str:
    """The message of a Status object."""
    return format_complaint(body.get("message") if isinstance(body, dict) else None, hidden)
