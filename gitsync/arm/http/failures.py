"""The refusals of Azure, in one form: every answer that a request does not expect becomes an
`ArmError` here.

Both shapes of ARM's error bodies are read (docs/reference/arm.md#error-bodies). Whatever a person
or a file may see is bounded and scrubbed of tokens, and of the secrets that were sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from gitsync.arm.auth.principal import Principal
from gitsync.arm.http.messages import CORRELATION_ID, UNKNOWN_CODE, ArmRequest, Response, mask_payload
from gitsync.errors import ArmError, TokenRefusedError
from gitsync.model.live import Absence
from gitsync.model.provisioning_state import FAILED_STATES
from gitsync.redaction import truncate

UNKNOWN_MESSAGE = "There was an unknown deployment error"
"""ASO's text for a body without a message (docs/reference/arm.md#error-bodies)."""

_TOKEN_CODES = frozenset({"invalid_token", "invalidauthenticationtoken", "expiredauthenticationtoken"})
_RIGHTS_CODES = frozenset({"authorizationfailed", "forbidden", "linkedauthorizationfailed", "unknownerror"})
_INVALID_TOKEN = re.compile(r"\berror=\"?invalid_token\b", re.IGNORECASE)

OUTCOME_UNKNOWN = frozenset({408, 500, 502, 503, 504})
"""Statuses after which a write may have been done all the same: ARM gives up on a provider after 60 s, the provider
goes on."""

_LONGEST_PLAIN = 500  # of one that is no error of ARM's
_LONGEST = 4000  # of one text; ARM's longest real ones have some 2,000 characters
_LONGEST_CODE = 200
_SHORTEST_KEY = 8
_ERROR_MEMBERS = frozenset({"error", "code", "message", "details", "innererror", "status", "target"})
_MOST_DETAILS = 20
_DEEPEST_DETAIL = 8  # levels; Azure's own go to four
_TOKEN = re.compile(r"eyJ[\w-]{8,}\.[\w-]+(\.[\w-]*)?|(?<=://)[^/@\s]+(?=@)|(?i:bearer\s+[\w.~+/-]{16,}=*)")
_DENIED = re.compile(r"perform action '(?P<action>[^']+)' over scope '(?P<scope>[^']+)'")


def refuses_token(answer: Response) -> bool:
    """Tell whether Azure did not accept the token as such: it expired early, or was revoked (RFC
    6750 §3.1).

    A challenge for more claims is not one of these: the policy of azure-core answers it.
    """
    if answer.status != 401:
        return False
    challenge = answer.headers.get("www-authenticate", "")
    return bool(_INVALID_TOKEN.search(challenge)) or read_error(answer)[0].casefold() in _TOKEN_CODES


def make_arm_error(answer: Response, request: ArmRequest, at: str, retry_after: float | None = None) -> ArmError:
    """Make the error that an answer stands for, whatever its body is."""
    secrets = request.payload.secrets if request.payload else ()
    code, message, details = _read_private_error(answer) if request.is_private else read_error(answer, secrets)
    return (TokenRefusedError if answer.is_token_dropped else ArmError)(
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


def read_absence(answer: Response) -> Absence:
    """Read what an answer says that shows no resource."""
    code, message, _ = read_error(answer)
    return Absence(code=code, message=scrub(message), request_id=answer.request_id)


def read_error(answer: Response, secrets: tuple[str, ...] = ()) -> tuple[str, str, tuple[Mapping[str, Any], ...]]:
    """Read code, message and details of an error body: `{"error": {…}}` before top-level members,
    names without case.

    The secrets that were sent are masked in all of it.
    """
    body = mask_payload(answer.body, secrets)
    if not isinstance(body, dict):
        # no ARM error: a proxy's page, a load balancer's text, nothing at all
        text = mask_payload(" ".join(answer.content.decode(errors="replace").split()), secrets)
        content = f": {truncate(text, _LONGEST_PLAIN)}" if text else " without a body"
        return UNKNOWN_CODE, f"HTTP {answer.status}{content}", ()
    outer = _fold_names(body)
    inner = outer.get("error")
    error = outer | (_fold_names(inner) if isinstance(inner, dict) else {})
    details = error.get("details")
    # Codes and details may be as long as a provider likes, and they go into commits and reports.
    return (
        truncate(_read_text(error.get("code")), _LONGEST_CODE) or UNKNOWN_CODE,
        _read_text(error.get("message")) or UNKNOWN_MESSAGE,
        tuple(_limit_value(detail) for detail in details[:_MOST_DETAILS] if isinstance(detail, dict))
        if isinstance(details, list)
        else (),
    )


def _read_private_error(answer: Response) -> tuple[str, str, tuple[Mapping[str, Any], ...]]:
    """Read the error of an answer that may hold keys: nothing but an ARM error is quoted, and what
    else the answer holds is masked in it. One with a status of success holds keys until it says
    that its operation failed.
    """
    body = _fold_names(answer.mapping())
    inner = body.get("error")
    is_failed_operation = isinstance(inner, dict) and str(body.get("status")).casefold() in FAILED_STATES
    # An odd status of success may come with the keys themselves: nothing of it can be shown.
    if answer.status < 400 and not is_failed_operation:
        return UNKNOWN_CODE, f"HTTP {answer.status}, without a message that can be shown", ()
    if not isinstance(answer.body, dict):
        return UNKNOWN_CODE, f"HTTP {answer.status}, without an Azure error", ()
    code, message, _ = read_error(answer)
    # A provider may repeat a key in its message, so every text beside the error counts as one.
    # The longest goes first, so that no part of it stays.
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
    # Empty members do not count: an `error` without content leaves what is at the top.
    return {name.casefold(): value for name, value in body.items() if value}


def _read_text(value: object) -> str:
    """Some providers send numbers as codes, as `{"code": 429}`."""
    return str(value).strip() if isinstance(value, (str, int)) else ""


def _limit_value(value: Any, levels: int = _DEEPEST_DETAIL) -> Any:
    """Return a detail that is safe to show: short texts, few members, few levels."""
    if isinstance(value, str):
        return scrub(value)
    if not isinstance(value, (dict, list)):
        return value
    if not levels:  # a body may be nested as deep as its reader allows
        return "…"
    if isinstance(value, dict):
        members = islice(value.items(), _MOST_DETAILS)
        return {truncate(key, _LONGEST_CODE): _limit_value(item, levels - 1) for key, item in members}
    return [_limit_value(item, levels - 1) for item in value[:_MOST_DETAILS]]


def _find_hint(answer: Response, request: ArmRequest, code: str, message: str) -> str:
    """Find what the identity lacks, if Azure refuses it. A policy or a lock also answers 403: no
    role helps there.
    """
    if answer.status not in {401, 403}:  # whatever the code is called
        return ""
    if request.advice:
        advice = request.advice.get(code.casefold()) or request.advice.get(str(answer.status), "")
        return advice.replace("{identity}", _name_identity(answer.principal))
    denied = _DENIED.search(message)
    if answer.status == 403 and (denied or code.casefold() in _RIGHTS_CODES):
        # Azure's own words are best: the right may be on a linked resource, such as a subnet.
        action = denied["action"] if denied else find_rbac_action(request.method, request.path)
        scope = denied["scope"] if denied else request.resource_id
        return f"{_name_identity(answer.principal)} is missing {action} on {scope}: assign a role that grants it."
    if answer.status == 401:
        return (
            f"{_name_identity(answer.principal)} cannot access {request.resource_id}: check that its tenant is that of "
            "the subscription, and AZURE_RESOURCE_MANAGER_AUDIENCE."
        )
    return ""


def _name_identity(principal: Principal | None) -> str:
    return f"The identity ({principal})" if principal and str(principal) else "The identity (no token was sent)"


_VERBS = {"GET": "read", "HEAD": "read", "PUT": "write", "PATCH": "write", "DELETE": "delete", "POST": "action"}


def find_rbac_action(method: str, path: str) -> str:
    """Find the right that a request needs, in Azure's words: `Microsoft.Network/virtualNetworks/write`."""
    verb = _VERBS[method]
    _, marker, rest = path.rpartition("/providers/")
    if not marker:  # groups and subscriptions are types of Microsoft.Resources
        depth = "subscriptions/resourceGroups" if "/resourcegroups/" in path.casefold() else "subscriptions"
        return f"Microsoft.Resources/{depth}/{verb}"
    namespace, *names = rest.strip("/").split("/")
    if not names:
        return f"Microsoft.Resources/subscriptions/providers/{verb}"
    if verb == "action":  # the last word is the action, and belongs to no type
        return "/".join((namespace, *names[:-1:2], names[-1], verb))
    return "/".join((namespace, *names[::2], verb))
