"""POST …/providers/Microsoft.Authorization/acquirePolicyToken of a subscription or a management group.

It evaluates a write for the policies that are evaluated outside Azure Resource Manager, and issues a token for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from gitsync.emulator.clock import format_time
from gitsync.emulator.governance.enforcement import make_content, make_definition_id
from gitsync.emulator.governance.external_evaluation import EvaluationAnswer, ExternalEvaluation
from gitsync.emulator.governance.policies import EmulatedPolicy, evaluate, list_denying_delete, list_in_force
from gitsync.emulator.governance.valid_tokens import ENDPOINT_KIND, issue_token, make_write
from gitsync.emulator.http.messages import ServerRequest, ServerResponse, refuse
from gitsync.emulator.lro.operations import make_operation_headers
from gitsync.emulator.lro.start import start_action
from gitsync.emulator.patch import merge_patch
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.types.behaviour import Style
from gitsync.emulator.types.implicit_resources import find_resource
from gitsync.emulator.types.provider_fields import make_uuid

_ACTIONS: Final = {EvaluationAnswer.ALLOW: "Allow", EvaluationAnswer.DENY: "Deny", EvaluationAnswer.FAIL: "Error"}


def acquire_policy_token(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer 200 with the result; 202 if a policy takes some polls."""
    cloud.require_scope(request)
    body = request.body if isinstance(request.body, Mapping) else {}
    operation = body.get("operation")
    if not isinstance(operation, Mapping) or not operation.get("uri") or not operation.get("httpMethod"):
        raise refuse("InvalidRequestContent", reason="Required property 'operation' not found in JSON.")
    write, reference = make_write(request, operation), str(body.get("changeReference") or "")
    policies = _list_external(cloud, write)
    answer = _make_answer(cloud, write, policies, reference)
    polls = max((policy.external.polls for policy in policies if policy.external), default=0)
    if not polls:
        return ServerResponse(200, answer)
    slow = replace(request, course=replace(request.course, polls=polls))
    started = start_action(cloud, slow, Style.ACCEPTED, "acquirePolicyToken", answer)
    return ServerResponse(202, None, make_operation_headers(started, request.base))


def _list_external(cloud: EmulatedCloud, write: ServerRequest) -> list[EmulatedPolicy]:
    """List the policies that deny a write without a token."""
    settings, stored = cloud.settings, find_resource(cloud, write.target)
    policies = list_in_force(settings.policies, settings.exemptions, write.target.key, cloud.clock.now())
    before = stored.body if stored else {}
    body = write.body if isinstance(write.body, Mapping) else {}
    if write.method == "DELETE":
        denying = list_denying_delete(policies, make_content(write.target, before))
    else:
        body = merge_patch(before, body) if write.method == "PATCH" else body
        _, denying = evaluate(policies, make_content(write.target, body))
    return [policy for policy in denying if policy.external]


def _make_answer(
    cloud: EmulatedCloud, write: ServerRequest, policies: list[EmulatedPolicy], reference: str
) -> dict[str, Any]:
    now = cloud.clock.now()
    results = [
        _make_result(cloud, policy, policy.external, reference, now)
        for policy in policies
        if policy.external is not None
    ]
    is_failed = any(result["result"] == "Failed" for result in results)
    answer: dict[str, Any] = {"result": "Failed" if is_failed else "Succeeded", "results": results}
    if reference:
        answer["changeReference"] = reference
    times = [result["retryAfter"] for result in results if "retryAfter" in result]
    if times:
        answer["retryAfter"] = max(times)
    # Without a policy that demands it, Azure issues no token.
    if policies and all(result["policyAction"] == "Allow" for result in results):
        # One token is for all policies, so the strictest decides.
        seconds = min(policy.external.token_seconds for policy in policies if policy.external)
        expires = now + timedelta(seconds=seconds)
        token = issue_token(cloud, write, policies, expires.timestamp())
        answer |= {"token": token, "tokenId": make_uuid(token, "policy token"), "expiration": format_time(expires)}
    return answer


def _make_result(
    cloud: EmulatedCloud, policy: EmulatedPolicy, external: ExternalEvaluation, reference: str, now: datetime
) -> dict[str, Any]:
    """Make the result of one policy. What misses a reference, or fails for some time, is not evaluated."""
    answer, message, more = external.answer, policy.message, {}
    if external.change_reference and not reference:
        answer, message = EvaluationAnswer.FAIL, "The change reference is required."
    elif _count_failure(cloud, policy, external):
        answer, message = EvaluationAnswer.FAIL, "The external endpoint is busy."
        more = {"retryAfter": format_time(now + timedelta(seconds=external.retry_after))}
    elif answer is EvaluationAnswer.FAIL and not message:
        message = "The external endpoint returned an error."
    return {
        "policyInfo": {
            "policyDefinitionId": make_definition_id(policy),
            "policyAssignmentId": policy.id,
            "policyAssignmentName": policy.name,
            "policyAssignmentDisplayName": policy.title,
            "policyAssignmentScope": policy.scope,
        },
        "result": "Failed" if answer is EvaluationAnswer.FAIL else "Succeeded",
        "policyAction": _ACTIONS[answer],
        "endpointKind": ENDPOINT_KIND,
        **({"message": message} if message and answer is not EvaluationAnswer.ALLOW else {}),
        **more,
    }


def _count_failure(cloud: EmulatedCloud, policy: EmulatedPolicy, external: ExternalEvaluation) -> bool:
    """Return whether this request is one of those that fail first."""
    name = f"failures of {policy.id}"
    failed = cloud.store.note(name) or 0
    if failed >= external.failures:
        return False
    cloud.store.put_note(name, failed + 1)
    return True
