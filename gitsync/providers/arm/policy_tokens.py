"""Policy tokens: the proof that a write was evaluated outside Azure Resource Manager, as an "invoke" policy demands.

Azure refuses such a write without doing anything (403). Then gitsync requests a token for exactly this write, and sends
the same bytes again with it. A write with any other answer is not sent again, and no token is requested without such a
refusal (docs/reference/arm.md#policy-tokens).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from gitsync.desired.formats.json_members import as_mapping, read_mapping
from gitsync.desired.formats.policy_violations import POLICY_REFUSAL
from gitsync.errors import ArmError, DeadlineError, PolicyTokenMissingError
from gitsync.model.clock import format_rfc3339, read_time
from gitsync.model.result import Wait
from gitsync.model.secret import Secret, truncate
from gitsync.providers.arm.cloud import Cloud
from gitsync.providers.arm.http.failures import scrub
from gitsync.providers.arm.http.messages import (
    EXTERNAL_EVALUATIONS,
    ArmRequest,
    Payload,
    Response,
    format_target,
    mask_payload,
)
from gitsync.providers.arm.http.retries import Retrier, may_read_again
from gitsync.providers.arm.lro.operations import Operations
from gitsync.providers.arm.lro.poll import accept_write
from gitsync.providers.arm.session import Pace, Session
from gitsync.settings.redaction import Redactions

API_VERSION: Final = "2025-03-01"
ACTION: Final = "Microsoft.Authorization/acquirePolicyToken"

MOST_TOKENS: Final = 2
"""For one write: the second replaces one that expired before Azure got it."""

_ACCEPTS: Final = frozenset({200, 202})
_SCOPE: Final = re.compile(
    r"(/subscriptions/[^/]+|/providers/Microsoft\.Management/managementGroups/[^/]+)(/.*)?", re.IGNORECASE
)
_LONGEST: Final = 500  # characters of one message
_WAIT: Final = Wait("waits for a policy token")


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """What Azure answered to the request for a token."""

    token: str = field(default="", repr=False)  # "" if it issued none
    reason: str = ""  # why there is none, as sentences
    retry_at: datetime | None = None  # when the evaluation may end otherwise; None if it has ended


class PolicyTokens:
    """Sends the writes of one credential again that need a policy token."""

    def __init__(
        self, retrier: Retrier, operations: Operations, pace: Pace, cloud: Cloud, redactions: Redactions
    ) -> None:
        self._retrier = retrier
        self._operations = operations
        self._pace = pace
        self._cloud = cloud
        self._redactions = redactions

    async def satisfy(self, request: ArmRequest, refusal: PolicyTokenMissingError, session: Session) -> Response:
        """Get a token for a write that was refused for the lack of one, and send the same bytes with it.

        Raises ArmError as `Retrier.send` does, and if Azure issues no token: with the code of the policy's refusal, of
        the refusal of the token, or of the deadline.
        """
        for _ in range(MOST_TOKENS):
            # The refusal of the write is the last failure so far: the request for the token may add others.
            refused_at = len(session.failures) - 1
            token = await self._acquire(request, refusal, session)
            session.pass_demand(refused_at)
            try:
                return await self._retrier.send(_add_token(request, token), session)
            except PolicyTokenMissingError as error:
                refusal = error
        raise _refuse(refusal, f"Azure issued {MOST_TOKENS} policy tokens for the write, and accepted neither.")

    async def _acquire(self, request: ArmRequest, refusal: PolicyTokenMissingError, session: Session) -> Secret:
        """Get a token for a write, with the waits that Azure requests. Raises ArmError if there is none."""
        token_request = self._make_request(request, refusal, session.change_reference)
        tries = 0
        with session.waiting(_WAIT):
            while True:
                evaluation = self._read(await self._request(token_request, refusal, session))
                if evaluation.token:
                    token = Secret(evaluation.token)
                    self._redactions.add(token)
                    return token
                if evaluation.retry_at is None:
                    raise _refuse(refusal, evaluation.reason)
                seconds = (evaluation.retry_at - self._pace.clock.now()).total_seconds()
                if not await self._pace.pause(max(seconds, 0.0), tries, session):
                    raise self._make_late(refusal, session, evaluation)
                tries += 1

    async def _request(self, token_request: ArmRequest, refusal: PolicyTokenMissingError, session: Session) -> Response:
        """Request a token, and follow the operation if the request starts one."""
        try:
            reply = accept_write(token_request, API_VERSION, await self._retrier.send(token_request, session))
            answer = await self._operations.result(reply, session)
        except DeadlineError as error:
            raise self._make_late(refusal, session) from error
        except ArmError as error:
            raise _make_unissued(refusal, error, token_request.path) from error
        if answer is None:
            raise self._make_late(refusal, session)
        return answer

    def _make_request(self, request: ArmRequest, refusal: PolicyTokenMissingError, reference: str) -> ArmRequest:
        """Make the request for a token. Raises ArmError if none can be requested for the write."""
        scope = _SCOPE.fullmatch(request.path)
        if scope is None:
            reason = "Azure issues policy tokens for writes in subscriptions and management groups only."
            raise _refuse(refusal, reason, "Exempt the resource from the policy assignment.")
        if refusal.needs_change_reference and not reference:
            reason = "The policy token needs the reference of a change, and the files are not those of a commit."
            raise _refuse(refusal, reason, "Sync a commit of a git repository.")
        path = f"{scope[1]}/providers/{ACTION}"
        return ArmRequest(
            method="POST",
            path=path,
            target=format_target(path, API_VERSION),
            resource_id=path,
            accepts=_ACCEPTS,
            # As the clients of Microsoft do: Azure answers 202 only if it cannot wait for the evaluation.
            headers={"Content-Type": "application/json", "x-ms-force-sync": "true"},
            payload=_encode_operation(request, f"{self._cloud.endpoint}{request.target}", reference),
            is_private=True,  # its answer has the token
            is_check=True,  # it changes nothing, so it may be sent again
        )

    def _read(self, answer: Response) -> _Evaluation:
        """Read an answer with status 200 or 202; an operation has its result in `properties`."""
        body = read_mapping(answer.body, "properties") or answer.mapping()
        token, result = body.get("token"), str(body.get("result") or "")
        if result.casefold() != "failed" and isinstance(token, str) and _is_header(token):
            return _Evaluation(token=token)
        now = self._pace.clock.now()
        if answer.status == 202 and not result:  # accepted, without a URL that shows the result
            again = now + timedelta(seconds=answer.read_retry_after(now) or 0.0)
            return _Evaluation(retry_at=again, reason="Azure has not evaluated the write yet.")
        results = [as_mapping(each) for each in body["results"]] if isinstance(body.get("results"), list) else []
        reason = " ".join(_list_reasons(body, results)) or "Azure issued no policy token, and gives no reason."
        shown = mask_payload(scrub(reason), (token,) if isinstance(token, str) and token else ())
        is_denied = any(str(each.get("policyAction")).casefold() == "deny" for each in results)
        times = [time for each in (body, *results) if (time := read_time(each.get("retryAfter")))]
        return _Evaluation(reason=shown, retry_at=max(times) if times and not is_denied else None)

    def _make_late(
        self, refusal: PolicyTokenMissingError, session: Session, evaluation: _Evaluation | None = None
    ) -> DeadlineError:
        """Make the error for an evaluation that outlasts the session: the write was not done."""
        why = evaluation.reason if evaluation else session.last_error()
        if evaluation and evaluation.retry_at and evaluation.retry_at > self._pace.clock.now():
            why = f"{why} Azure evaluates it again at {format_rfc3339(evaluation.retry_at)}."
        return DeadlineError(
            f"{session.end_reason} before Azure issued a policy token for the write. {why}".rstrip(),
            code=session.end_code,
            resource_id=refusal.resource_id,
            method=refusal.method,
            at=format_rfc3339(self._pace.clock.now()),
            hint="Run again: the next run requests the token again. Or raise --resource-timeout.",
        )


def _add_token(request: ArmRequest, token: Secret) -> ArmRequest:
    return replace(request, headers={**request.headers, EXTERNAL_EVALUATIONS: token.reveal()})


def _encode_operation(request: ArmRequest, uri: str, reference: str) -> Payload:
    """Encode the request for a token with the bytes of the write: Azure binds the token to them."""
    head = json.dumps({"uri": uri, "httpMethod": request.method})[:-1].encode()
    content = b', "content": ' + request.payload.content if request.payload else b""
    tail = b', "changeReference": ' + json.dumps(reference).encode() if reference else b""
    secrets = request.payload.secrets if request.payload else ()
    return Payload(b'{"operation": ' + head + content + b"}" + tail + b"}", secrets)


def _is_header(token: str) -> bool:
    """Return whether a token can be sent: another character would end the header."""
    return bool(token) and token.isascii() and token.isprintable()


def _list_reasons(body: Mapping[str, Any], results: list[Mapping[str, Any]]) -> Iterator[str]:
    """List why there is no token: of each policy that did not allow the write, else of all."""
    reasons = 0
    for each in results:
        is_allowed = str(each.get("policyAction") or each.get("result")).casefold() in {"allow", "audit", "succeeded"}
        details, policy = read_mapping(each, "policyEvaluationDetails"), read_mapping(each, "policyInfo")
        text = _read_text(each.get("message")) or _read_text(details.get("reason"))
        name = _read_text(policy.get("policyAssignmentDisplayName")) or _read_text(policy.get("policyAssignmentName"))
        if not is_allowed and (text or name):
            reasons += 1
            yield f'The policy assignment "{name or "unknown"}" does not allow it{f": {text}" if text else "."}'
    text = _read_text(body.get("message"))
    if text and not reasons:
        yield f"Azure issued no policy token: {text}"


def _read_text(value: object) -> str:
    """Read a message on one line, of bounded length."""
    return truncate(" ".join(value.split()), _LONGEST) if isinstance(value, str) else ""


def _refuse(refusal: PolicyTokenMissingError, reason: str, hint: str = "") -> ArmError:
    """Make the error of a write that stays refused by the policy."""
    return _make_error(refusal, reason, code=POLICY_REFUSAL, status=refusal.status, hint=hint)


def _make_unissued(refusal: PolicyTokenMissingError, error: ArmError, path: str) -> ArmError:
    """Make the error of a write whose token Azure refused, or did not respond about. The write was not done."""
    # A code such as InvalidResourceType is about the request for the token, and would mislead about the resource.
    is_own = error.status in {401, 403} or may_read_again(error)
    # Azure may also miss the right to the write itself, which the hint names then.
    is_right = f"{ACTION}/action".casefold() in error.hint.casefold()
    scope = path.removesuffix(f"/providers/{ACTION}")
    return _make_error(
        refusal,
        f"Azure issued no policy token: {error.code}: {error.message}",
        code=error.code if is_own else POLICY_REFUSAL,
        status=error.status if is_own else refusal.status,
        retry_after=error.retry_after,
        hint=f"Grant {ACTION}/action on {scope} to gitsync's identity." if is_right else error.hint,
    )


def _make_error(refusal: PolicyTokenMissingError, reason: str, **fields: Any) -> ArmError:
    """Make an error about the write, with the policies that its refusal names."""
    return ArmError(
        f"{reason} {refusal.message}",
        request_id=refusal.request_id,
        correlation_id=refusal.correlation_id,
        resource_id=refusal.resource_id,
        method=refusal.method,
        details=refusal.details,
        at=refusal.at,
        **fields,
    )
