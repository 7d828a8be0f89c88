"""Readable messages for errors of the API server: the cause, and what to do about it.

Values are not shown: error texts of the API server are masked and bounded before they are reported.

Most refusals have the status 403, whatever refused them: RBAC, a quota, the end of a namespace, a policy. The reason
`Forbidden` does not distinguish them; the message and the causes do
(https://kubernetes.io/docs/reference/access-authn-authz/). Policies and webhooks may choose 400 and 422 too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitsync.errors import DryRunUnsupportedError, SecretStoreError, StoreNotFoundError, TransientStoreError
from gitsync.model.export import Address
from gitsync.model.secret import Secret
from gitsync.repository.secrets.kubernetes.cluster_rights import RESOURCES, Right, format_grant
from gitsync.repository.secrets.remote_requests import find_certificate_error, format_complaint, read_retry_after

_PASSING = frozenset({408, 409, 429, 500, 502, 503, 504})
"""Includes 409: the object was changed concurrently, so it is read again."""

_DOWN = frozenset({429, 502, 503, 504})
"""Of the server as a whole. A 500 may be about one object, as that of a webhook."""

REFUSING = frozenset({400, 403, 422})
"""The statuses of a refusal. 400 is that of a webhook which names none."""

NO_DRY_RUN = "does not support dry run"
"""The server's words if a webhook may have side effects: then nothing can be rehearsed."""

_ACCOUNT = re.compile(r'User "system:serviceaccount:([^":]+):([^":]+)"')
_STARTING = re.compile(r'clusterrole\.rbac\.authorization\.k8s\.io "system:[^"]+" not found')
_EXEMPT = "Exempt the service account from it."
_POLICY = "Fix the annotations and labels of the export that it checks, or exempt the service account from it."


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCall:
    """One request."""

    verb: str  # the one that a Role must allow
    address: Address
    secrets: tuple[Secret, ...] = ()  # must not show in an error
    words: str = ""  # replace verb and address in messages

    def __str__(self) -> str:
        return self.words or f"{self.verb} {self.address}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The cause of a failure."""

    words: str = ""  # continue "refused to …", "" for none
    hint: str  # an order


def make_failure(
    api_call: ApiCall, status: int, headers: Mapping[str, str], body: Any, *, may_pass: bool = False
) -> SecretStoreError:
    """Make the error for an answer. `may_pass`: a server that has just started refuses what it will allow."""
    reason = format_complaint(body.get("message") if isinstance(body, dict) else None, api_call.secrets)
    cause = find_cause(api_call.verb, api_call.address, body) if status in REFUSING else None
    words = f" {cause.words}" if cause and cause.words else ""
    message = f"The API server refused to {api_call}{words} ({status}){f': {reason}' if reason else ''}."
    if status in _PASSING or may_pass:
        hint = "Find what else writes this object." if status == 409 else (cause.hint if cause else "Run again later.")
        return TransientStoreError(
            message,
            retry_after=read_retry_after(headers),
            is_of_all=status in _DOWN,
            hint=hint,
        )
    kind = SecretStoreError
    if status == 404:
        kind = StoreNotFoundError
    elif status == 400 and NO_DRY_RUN in reason:  # a webhook with side effects: it does not support a dry run
        kind = DryRunUnsupportedError
    return kind(message, hint=_find_hint(api_call, status, cause))


def make_unreachable(api_call: object, error: Exception) -> SecretStoreError:
    """Make the error for a request without an answer. A certificate that is not trusted does not pass."""
    if reason := find_certificate_error(error):
        return SecretStoreError(
            f"The certificate of the API server is not accepted: {reason}.",
            hint="Check ca.crt of the service account, and that KUBERNETES_SERVICE_HOST is the API server.",
        )
    reason = (str(error) or type(error).__name__).rstrip(".")
    return TransientStoreError(
        f"The API server could not be reached to {api_call}: {reason}.",
        is_of_all=True,
        hint="Check the network policies of the namespace of the job.",
    )


def _find_hint(api_call: ApiCall, status: int, cause: Cause | None) -> str:
    if cause:
        return cause.hint
    return {
        401: "Check that the service account still exists: its token is not accepted.",
        403: "Ask an administrator of the cluster which authorizer or admission plugin denies this.",
        404: f"Create namespace {api_call.address.namespace}.",
        413: "Reduce its size: the limit of Kubernetes is 1 MiB.",
        422: "Fix the keys, annotations and labels that the resource exports.",
    }.get(status, "")


def find_cause(verb: str, address: Address, body: Any) -> Cause | None:
    """Find the cause of a refusal, from the body of the answer; None if it is not one of those that are known."""
    message = str(body.get("message") or "") if isinstance(body, Mapping) else ""
    namespace = address.namespace
    if 'resource "selfsubjectaccessreviews"' in message:
        return Cause(words="because system:basic-user is not bound", hint=_format_basic_user(message))
    if "cannot " in message and "resource " in message:
        right = Right(verb=verb, resource=RESOURCES[address.object_kind], namespace=namespace)
        return Cause(hint=format_grant([right], find_account(message)))
    details = body.get("details") if isinstance(body, Mapping) else None
    causes = (details.get("causes") if isinstance(details, Mapping) else None) or ()
    reasons = [cause.get("reason") for cause in causes if isinstance(cause, Mapping)]
    if "NamespaceTerminating" in reasons or "because it is being terminated" in message:
        hint = f"Wait until namespace {namespace} is gone and create it again, or remove what exports to it."
        return Cause(words="because the namespace is being deleted", hint=hint)
    if re.search(r"(exceeded|failed|insufficient) quota", message):
        hint = f"Raise the quota of namespace {namespace}, or delete unused objects."
        return Cause(words="because of a quota", hint=hint)
    if "ValidatingAdmissionPolicy" in message:
        return Cause(words="because of an admission policy", hint=_EXEMPT if verb == "delete" else _POLICY)
    if "admission webhook" in message:
        return Cause(words="because of an admission webhook", hint=_EXEMPT if verb == "delete" else _POLICY)
    return None


def is_starting(body: Any) -> bool:
    """Return whether the server misses roles that each server has: one that has just started has not read them yet."""
    return isinstance(body, Mapping) and _STARTING.search(str(body.get("message") or "")) is not None


def find_account(message: str) -> str:
    """Find the service account that a refusal names, as namespace:name; "" if it names none."""
    match = _ACCOUNT.search(message)
    return f"{match[1]}:{match[2]}" if match else ""


def _format_basic_user(message: str) -> str:
    account = find_account(message) or "NAMESPACE:NAME"
    return (
        "Run `kubectl create clusterrolebinding gitsync-basic-user --clusterrole system:basic-user "
        f"--serviceaccount {account}`."
    )
