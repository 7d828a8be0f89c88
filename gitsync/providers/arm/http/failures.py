"""Azure's refusals in one form: every answer that a request does not expect becomes an `ArmError` here.

Both shapes of ARM's error bodies are read (docs/reference/arm.md#error-bodies). Everything that is shown or written is
bounded and scrubbed of tokens and of the secrets that were sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from gitsync.desired.formats.json_members import read_mapping
from gitsync.desired.formats.policy_violations import (
    POLICY_REFUSAL,
    TokenDemand,
    list_violations,
    read_token_demand,
)
from gitsync.errors import ArmError, PolicyTokenMissingError, TokenRefusedError
from gitsync.model.live import Absence
from gitsync.model.provisioning_state import FAILED_STATES
from gitsync.model.secret import truncate
from gitsync.providers.arm.auth.principal import Principal
from gitsync.providers.arm.http.challenges import read_claims_challenge
from gitsync.providers.arm.http.messages import CORRELATION_ID, UNKNOWN_CODE, ArmRequest, Response, mask_payload

UNKNOWN_MESSAGE = "There was an unknown deployment error"
"""ASO's text for a body without a message (docs/reference/arm.md#error-bodies)."""

_TOKEN_CODES = frozenset({"invalid_token", "invalidauthenticationtoken", "expiredauthenticationtoken"})
_RIGHTS_CODES = frozenset({"authorizationfailed", "forbidden", "linkedauthorizationfailed", "unknownerror"})
_INVALID_TOKEN = re.compile(r"\berror=\"?invalid_token\b", re.IGNORECASE)

OUTCOME_UNKNOWN = frozenset({408, 500, 502, 503, 504})
"""Statuses after which a write may have been done anyway: ARM gives up on a provider after 60 s, and the provider
continues.
"""

_LONGEST_PLAIN = 500  # characters of a message that is not an ARM error
_LONGEST = 4000  # characters of a text; ARM's longest ones have some 2,000
_LONGEST_CODE = 200
_SHORTEST_KEY = 8
_ERROR_MEMBERS = frozenset({"error", "code", "message", "details", "innererror", "status", "target"})
_MOST_DETAILS = 20
_DEEPEST_DETAIL = 8  # levels; Azure's own have up to four
_TOKEN = re.compile(r"eyJ[\w-]{8,}\.[\w-]+(\.[\w-]*)?|(?<=://)[^/@\s]+(?=@)|(?i:bearer\s+[\w.~+/-]{16,}=*)")
_DENIED = re.compile(r"perform action '(?P<action>[^']+)' over scope '(?P<scope>[^']+)'")


def refuses_token(answer: Response) -> bool:
    """Return whether Azure rejected the token itself: it expired early, or was revoked (RFC 6750 §3.1)."""
    # A challenge for more claims does not reject the token, whatever its code: the policy has answered it, and a third
    # try would be refused as well.
    if answer.status != 401 or read_claims_challenge(answer.headers):
        return False
    challenge = answer.headers.get("www-authenticate", "")
    return bool(_INVALID_TOKEN.search(challenge)) or read_error(answer)[0].casefold() in _TOKEN_CODES


def make_arm_error(answer: Response, request: ArmRequest, at: str, retry_after: float | None = None) -> ArmError:
    """Make the error for an answer with any body."""
    read = _read_private_error if request.is_private else read_error
    code, message, details = read(answer, request.secrets)
    demand = _find_token_demand(answer, code) if request.is_write else None
    make: Callable[..., ArmError] = TokenRefusedError if answer.is_token_dropped else ArmError
    if demand is not None:
        make = partial(PolicyTokenMissingError, needs_change_reference=demand.needs_change_reference)
    return make(
        scrub(message),
        status=answer.status,
        code=code,
        details=details,
        request_id=answer.request_id,
        correlation_id=answer.correlation_id or request.headers.get(CORRELATION_ID, ""),
        resource_id=request.resource_id,
        method=request.method,
        at=at,
        retry_after=retry_after,
        outcome_unknown=request.is_write and answer.status in OUTCOME_UNKNOWN,
        hint=_find_hint(answer, request, code, message),
    )


def _find_token_demand(answer: Response, code: str) -> TokenDemand | None:
    if answer.status != 403 or code.casefold() != POLICY_REFUSAL.casefold():
        return None
    error = read_mapping(answer.body, "error") or answer.mapping()
    return read_token_demand(list_violations(error.get("additionalInfo")))


def read_absence(answer: Response) -> Absence:
    """Read code and message of an answer without a resource."""
    code, message, _ = read_error(answer)
    return Absence(code=code, message=scrub(message), request_id=answer.request_id)


def read_error(answer: Response, secrets: tuple[str, ...] = ()) -> tuple[str, str, tuple[Mapping[str, Any], ...]]:
    """Read code, message and details of an error body: `{"error": {…}}` before top-level members, names without case.

    The secrets that were sent are masked in all of it.
    """
    body = mask_payload(answer.body, secrets)
    if not isinstance(body, dict):
        # not an ARM error: a proxy's page, a load balancer's text, an empty body
        text = mask_payload(" ".join(answer.content.decode(errors="replace").split()), secrets)
        content = f": {truncate(text, _LONGEST_PLAIN)}" if text else " without a body"
        return UNKNOWN_CODE, f"HTTP {answer.status}{content}", ()
    outer = _fold_names(body)
    inner = outer.get("error")
    error = outer | (_fold_names(inner) if isinstance(inner, dict) else {})
    details = error.get("details")
    # A provider's codes and details may be of any length, and they are written to commits and reports.
    return (
        truncate(_read_text(error.get("code")), _LONGEST_CODE) or UNKNOWN_CODE,
        _read_text(error.get("message")) or UNKNOWN_MESSAGE,
        tuple(_limit_value(detail) for detail in details[:_MOST_DETAILS] if isinstance(detail, dict))
        if isinstance(details, list)
        else (),
    )


def _read_private_error(answer: Response, secrets: tuple[str, ...]) -> tuple[str, str, tuple[Mapping[str, Any], ...]]:
    """Read the error of an answer that may contain keys: only an ARM error is quoted, and the other values of the
    answer are masked in it. An answer with a success status may contain keys unless its operation failed.
    """
    body = _fold_names(answer.mapping())
    inner = body.get("error")
    is_failed_operation = isinstance(inner, dict) and str(body.get("status")).casefold() in FAILED_STATES
    # An unexpected success status may come with the keys themselves: nothing of it can be shown.
    if answer.status < 400 and not is_failed_operation:
        return UNKNOWN_CODE, f"HTTP {answer.status}, without a message that can be shown", ()
    if not isinstance(answer.body, dict):
        return UNKNOWN_CODE, f"HTTP {answer.status}, without an Azure error", ()
    code, message, _ = read_error(answer, secrets)
    # A provider may repeat a key in its message, so every text next to the error counts as a key. The longest goes
    # first, so that no part of it remains.
    beside = (value for name, value in body.items() if name not in _ERROR_MEMBERS)
    keys = sorted({text for value in beside for text in _iterate_texts(value)}, key=lambda text: (-len(text), text))
    return mask_payload(code, keys), mask_payload(message, keys), ()


def _iterate_texts(value: Any) -> Iterator[str]:
    """Yield the texts in JSON that are long enough for a key."""
    if isinstance(value, str) and len(value) >= _SHORTEST_KEY:
        yield value
    if isinstance(value, (dict, list)):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _iterate_texts(member)


def scrub(text: str) -> str:
    """Return a text that is safe to show: no bearer token, no credentials in a URL, and of bounded length."""
    text = _TOKEN.sub("<hidden>", text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def _fold_names(body: Mapping[str, Any]) -> dict[str, Any]:
    # Empty members do not count: if `error` is empty, the members at the top level count.
    return {name.casefold(): value for name, value in body.items() if value}


def _read_text(value: object) -> str:
    """Read a text; some providers send codes as numbers, such as `{"code": 429}`."""
    return str(value).strip() if isinstance(value, (str, int)) else ""


def _limit_value(value: Any, levels: int = _DEEPEST_DETAIL) -> Any:
    """Return a detail that is safe to show: short texts, few members, few levels."""
    if isinstance(value, str):
        return scrub(value)
    if not isinstance(value, (dict, list)):
        return value
    if not levels:  # a body may be nested to any depth that its reader allows
        return "…"
    if isinstance(value, dict):
        members = islice(value.items(), _MOST_DETAILS)
        return {truncate(key, _LONGEST_CODE): _limit_value(item, levels - 1) for key, item in members}
    return [_limit_value(item, levels - 1) for item in value[:_MOST_DETAILS]]


def _find_hint(answer: Response, request: ArmRequest, code: str, message: str) -> str:
    """Find what the identity lacks, if Azure refuses it."""
    if answer.status not in {401, 403}:  # the status counts, not the code
        return ""
    if request.advice:
        advice = request.advice.get(code.casefold()) or request.advice.get(str(answer.status), "")
        return advice.replace("{identity}", _name_identity(answer.principal))
    denied = _DENIED.search(message)
    # A policy or a lock also returns 403, where no role helps.
    if answer.status == 403 and (denied or code.casefold() in _RIGHTS_CODES):
        # Azure's message is the most precise: the right may be on a linked resource, such as a subnet.
        action = denied["action"] if denied else name_rbac_action(request.method, request.path)
        scope = denied["scope"] if denied else request.resource_id
        return f"{_name_identity(answer.principal)} is missing {action} on {scope}: assign a role that grants it."
    if answer.status == 401 and read_claims_challenge(answer.headers):
        return (
            f"{_name_identity(answer.principal)} does not have the claims that Azure requires, also with a new token. "
            "Ask your Entra ID administrators which Conditional Access policy applies to it."
        )
    if answer.status == 401:
        return (
            f"{_name_identity(answer.principal)} cannot access {request.resource_id}: check that its tenant is that of "
            "the subscription, and AZURE_RESOURCE_MANAGER_AUDIENCE."
        )
    return ""


def _name_identity(principal: Principal | None) -> str:
    return f"The identity ({principal})" if principal and str(principal) else "The identity (no token was sent)"


_VERBS = {"GET": "read", "HEAD": "read", "PUT": "write", "PATCH": "write", "DELETE": "delete", "POST": "action"}


def name_rbac_action(method: str, path: str) -> str:
    """Name the permission that a request needs: `Microsoft.Network/virtualNetworks/write`."""
    verb = _VERBS[method]
    _, marker, rest = path.rpartition("/providers/")
    if not marker:  # groups and subscriptions are types of Microsoft.Resources
        depth = "subscriptions/resourceGroups" if "/resourcegroups/" in path.casefold() else "subscriptions"
        return f"Microsoft.Resources/{depth}/{verb}"
    namespace, *names = rest.strip("/").split("/")
    if not names:
        return f"Microsoft.Resources/subscriptions/providers/{verb}"
    if verb == "action":  # the last word is the action, not a type
        return "/".join((namespace, *names[:-1:2], names[-1], verb))
    return "/".join((namespace, *names[::2], verb))
