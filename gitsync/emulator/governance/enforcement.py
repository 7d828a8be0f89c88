"""The effects of policies and provider rules on a body to be written.

Both a write and the preflight call these, so that they agree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gitsync.emulator.governance.policies import EmulatedPolicy, PolicyContent, evaluate, explain, list_in_force
from gitsync.emulator.http.messages import Refused, make_refusal, refuse
from gitsync.emulator.http.target import Target
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.types.provider_fields import make_uuid


def admit_by_policies(cloud: EmulatedCloud, target: Target, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body with the changes of the policies in force; Refused if one denies it."""
    settings = cloud.settings
    policies = list_in_force(settings.policies, settings.exemptions, target.key, cloud.clock.now())
    if not policies:
        return dict(body)
    content, denying = evaluate(policies, make_content(target, body))
    if denying:
        raise _make_policy_refusal(denying, content)
    return dict(content.body)


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
