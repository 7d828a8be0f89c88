"""Readable messages for errors of the API server: the missing permission, or the cause.

Values are not shown: error texts of the API server are masked and bounded before they are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gitsync.model.export import Address, Holder
from gitsync.model.secret import Secret
from gitsync.secrets.complaint import format_complaint
from gitsync.secrets.protocols import VaultError
from gitsync.secrets.retry import PassingError, read_retry_after

RESOURCES = {Holder.SECRET: "secrets", Holder.CONFIG_MAP: "configmaps"}
"""As a Role names them."""

_ATTEMPTS = 6
_CONNECTIONS = 3
_PASSING = frozenset({408, 409, 429, 500, 502, 503, 504})
"""Includes 409: the object was changed concurrently, so it is read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """One request, by the verb that a Role must allow; `secrets` must not show in an error."""

    verb: str
    address: Address
    secrets: tuple[Secret, ...] = ()

    def __str__(self) -> str:
        return f"{self.verb} {self.address}"


class AbsentError(VaultError):
    """There is no such object; or, when creating one, no such namespace."""


def make_failure(doing: Doing, status: int, headers: Mapping[str, str], body: Any) -> VaultError:
    """The error for an answer."""
    reason = _read_reason(body, doing.secrets)
    message = f"The API server refused to {doing} ({status}){f': {reason}' if reason else ''}."
    if status in _PASSING:
        hint = "Find what else writes this object." if status == 409 else "Run again later."
        return PassingError(message, attempts=_ATTEMPTS, retry_after=read_retry_after(headers), hint=hint)
    kind = AbsentError if status == 404 else VaultError
    return kind(message, hint=_find_hint(doing, status))


def make_unreachable(doing: object, error: Exception) -> VaultError:
    return PassingError(
        f"The API server could not be reached to {doing}: {str(error) or type(error).__name__}",
        attempts=_CONNECTIONS,
        hint="Check the network policies of the namespace of the job.",
    )


def _find_hint(doing: Doing, status: int) -> str:
    address = doing.address
    return {
        401: "Check that the service account still exists: its token is not accepted.",
        403: f"Grant the service account of the job a Role in namespace {address.namespace} that allows it to "
        f"{doing.verb} {RESOURCES[address.holder]}.",
        404: f"Create namespace {address.namespace}.",
        413: "Reduce its size: the limit of Kubernetes is 1 MiB.",
        422: "Fix the keys, annotations and labels that the resource exports.",
    }.get(status, "")


def _read_reason(body: Any, hidden: Iterable[Secret]) -> str:
    """The message of a Status object."""
    return format_complaint(body.get("message") if isinstance(body, dict) else None, hidden)
