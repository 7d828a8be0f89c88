"""Why the API server refused a request, by the words of its Status, and what to do about it.

Most refusals have the status 403, whatever refused them: RBAC, a quota, the end of a namespace, a policy. The reason
`Forbidden` does not tell them apart; the message and the causes do
(https://kubernetes.io/docs/reference/access-authn-authz/). Policies and webhooks may choose 400 and 422 too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitsync.model.export import Address, Holder
from gitsync.secrets.kubernetes.roles import Right, format_grant

REFUSING = frozenset({400, 403, 422})
"""The statuses of a refusal. 400 is that of a webhook which names none."""

NO_DRY_RUN = "does not support dry run"
"""The server's words if a webhook may have side effects: then nothing can be rehearsed."""

RESOURCES = {Holder.SECRET: "secrets", Holder.CONFIG_MAP: "configmaps"}
"""As a Role names them."""

_ACCOUNT = re.compile(r'User "system:serviceaccount:([^":]+):([^":]+)"')
_STARTING = re.compile(r'clusterrole\.rbac\.authorization\.k8s\.io "system:[^"]+" not found')
_EXEMPT = "Exempt the service account from it."
_POLICY = "Fix what it asks for in the annotations and labels of the export, or exempt the service account from it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """`words` continue "refused to …", "" for none; `hint` is an order."""

    words: str = ""
    hint: str


def find_cause(verb: str, address: Address, body: Any) -> Cause | None:
    """The cause of a refusal, from the body of the answer; None if it is not one of those that are known."""
    message = str(body.get("message") or "") if isinstance(body, Mapping) else ""
    namespace = address.namespace
    if 'resource "selfsubjectaccessreviews"' in message:
        return Cause(words="because system:basic-user is not bound", hint=_format_basic_user(message))
    if "cannot " in message and "resource " in message:
        right = Right(verb=verb, resource=RESOURCES[address.holder], namespace=namespace)
        return Cause(hint=format_grant([right], find_account(message)))
    if _has_cause(body, "NamespaceTerminating") or "because it is being terminated" in message:
        hint = f"Wait until namespace {namespace} is gone and create it again, or remove what exports to it."
        return Cause(words="because the namespace is being deleted", hint=hint)
    if re.search(r"(exceeded|failed|insufficient) quota", message):
        hint = f"Raise the quota of namespace {namespace}, or delete objects that nothing needs."
        return Cause(words="because of a quota", hint=hint)
    if "ValidatingAdmissionPolicy" in message:
        return Cause(words="because of an admission policy", hint=_EXEMPT if verb == "delete" else _POLICY)
    if "admission webhook" in message:
        return Cause(words="because of an admission webhook", hint=_EXEMPT if verb == "delete" else _POLICY)
    return None


def is_starting(body: Any) -> bool:
    """Tell whether the server misses roles that each server has: one that has just started has not read them yet."""
    return isinstance(body, Mapping) and _STARTING.search(str(body.get("message") or "")) is not None


def find_account(message: str) -> str:
    """The service account that a refusal names, as namespace:name; "" if it names none."""
    match = _ACCOUNT.search(message)
    return f"{match[1]}:{match[2]}" if match else ""


def _has_cause(body: Any, reason: str) -> bool:
    details = body.get("details") if isinstance(body, Mapping) else None
    causes = details.get("causes") if isinstance(details, Mapping) else None
    return any(isinstance(cause, Mapping) and cause.get("reason") == reason for cause in causes or ())


def _format_basic_user(message: str) -> str:
    account = find_account(message) or "NAMESPACE:NAME"
    return (
        "Run `kubectl create clusterrolebinding gitsync-basic-user --clusterrole system:basic-user "
        f"--serviceaccount {account}`."
    )
