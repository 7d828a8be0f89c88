"""The effects of policies and provider rules on a body to be written.

Both a write and the preflight call these, so that they agree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gitsync.emulator.governance.policies import (
    EmulatedPolicy,
    PolicyContent,
    evaluate,
    explain,
    list_denying_delete,
    list_in_force,
)
from gitsync.emulator.governance.valid_tokens import describe_missing_token, list_without_token
from gitsync.emulator.http.messages import Refused, ServerRequest, make_refusal, refuse
from gitsync.emulator.http.target import Target
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.types.provider_fields import make_uuid


def admit_by_policies(cloud: EmulatedCloud, request: ServerRequest, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body with the changes of the policies in force; Refused if one denies it."""
    policies = _list_in_force(cloud, request.target)
    # A copy in any case, since what follows changes the body.
    if not policies:
        return dict(body)
    content, denying = evaluate(policies, make_content(request.target, body))
    _refuse_denied(cloud, request, denying, content)
    return dict(content.body)


def admit_delete_by_policies(cloud: EmulatedCloud, request: ServerRequest, body: Mapping[str, Any]) -> None:
    """Refuse the DELETE of a resource with this body if a policy denies it."""
    content = make_content(request.target, body)
    _refuse_denied(cloud, request, list_denying_delete(_list_in_force(cloud, request.target), content), content)


def _list_in_force(cloud: EmulatedCloud, target: Target) -> list[EmulatedPolicy]:
    return list_in_force(cloud.settings.policies, cloud.settings.exemptions, target.key, cloud.clock.now())


def _refuse_denied(
    cloud: EmulatedCloud, request: ServerRequest, denying: list[EmulatedPolicy], content: PolicyContent
) -> None:
    if denying := list_without_token(cloud, request, denying):
        raise _make_policy_refusal(denying, content)


def admit_by_provider(cloud: EmulatedCloud, target: Target, body: Mapping[str, Any]) -> None:
    """Refuse a body by the provider rules in the settings."""
    content = make_content(target, body)
    for rule in cloud.settings.preflight.refusals:
        if all(condition.holds(content) for condition in rule.conditions):
            raise refuse(rule.code, status=400, message=rule.message or f"The value of '{target.name}' is not valid.")


def make_content(target: Target, body: Mapping[str, Any]) -> PolicyContent:
    """Make the content of a resource that policies evaluate."""
    return PolicyContent(key=target.key, type=target.type, name=target.name, body=body)


def make_definition_id(policy: EmulatedPolicy) -> str:
    """Make the id of a policy's definition."""
    return f"/providers/Microsoft.Authorization/policyDefinitions/{make_uuid(policy.name.casefold(), 'definition')}"


def _make_policy_refusal(denying: list[EmulatedPolicy], content: PolicyContent) -> Refused:
    identifiers = [
        {
            "policyAssignment": {"name": policy.title, "id": policy.id},
            "policyDefinition": {"name": policy.title, "id": make_definition_id(policy)},
        }
        for policy in denying
    ]
    answer = make_refusal(
        "RequestDisallowedByPolicy", name=content.name, policies=json.dumps(identifiers, separators=(",", ":"))
    )
    answer.body["error"] |= {
        "target": content.name,
        "additionalInfo": [{"type": "PolicyViolation", "info": _make_violation(policy, content)} for policy in denying],
    }
    return Refused(answer)


def _make_violation(policy: EmulatedPolicy, content: PolicyContent) -> dict[str, Any]:
    return {
        "evaluationDetails": {
            "evaluatedExpressions": explain(policy, content),
            **({"reason": policy.message} if policy.message else {}),
            **describe_missing_token(policy),
        },
        "policyDefinitionId": make_definition_id(policy),
        "policyDefinitionName": make_definition_id(policy).rpartition("/")[2],
        "policyDefinitionDisplayName": policy.title,
        "policyDefinitionEffect": policy.effect.value,
        "policyAssignmentId": policy.id,
        "policyAssignmentName": policy.name,
        "policyAssignmentDisplayName": policy.title,
        "policyAssignmentScope": policy.scope,
        "policyAssignmentParameters": {},
        "policyExemptionIds": [],
    }
