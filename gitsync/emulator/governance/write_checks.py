"""Checks before a write: ARM's preflight (validateResources), and policy restrictions (checkPolicyRestrictions).
Neither changes anything.

Both use the functions of writes. The preflight evaluates the complete write; the policy check ignores exemptions and
whether assignments are enforced, so a client has to look these up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitsync.emulator.governance.enforcement import (
    admit_by_policies,
    admit_by_provider,
    make_content,
    make_definition_id,
)
from gitsync.emulator.governance.policies import (
    UNKNOWN,
    Effect,
    EmulatedPolicy,
    Operator,
    PolicyCondition,
    PolicyContent,
    evaluate,
    explain,
    list_in_force,
    make_alias,
)
from gitsync.emulator.http.messages import Refused, ServerRequest, ServerResponse, refuse
from gitsync.emulator.http.target import GROUP_TYPE, PathShape, Target, parse
from gitsync.emulator.identity.access import check_authorization, check_type, name_needed_action, require_registration
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.types.admission import admit_name
from gitsync.emulator.types.provider_fields import make_uuid

_EXPRESSION = re.compile(r"\[\s*\w+(\.\w+)*\s*\(")
"""The start of a template expression: a function call."""

ErrorDetail = dict[str, Any]


def validate_resources(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """POST /providers/Microsoft.Resources/validateResources: the resources of one type, location and scope."""
    body = _read_preflight(request.body)
    scope, items = str(body["scope"]), body["resources"]
    _require_parent(cloud, request, scope)
    targets = [_make_target(scope, f"{body['provider']}/{body['type']}", item) for item in items]
    needs_write = body.get("performPreflightWithoutRbacWriteCheck") is not True
    details: list[ErrorDetail] = []
    for target, item in zip(targets, items, strict=True):
        details += _validate(cloud, request, target, item, needs_write=needs_write)
    if details:
        correlation = request.headers.get("x-ms-correlation-request-id") or make_uuid(json.dumps(body), "validation")
        raise refuse("ResourceValidationFailed", correlation=correlation, details=details)
    empty = {kind.casefold() for kind in cloud.settings.preflight.empty}
    validated = [target.path for target in targets if target.type.casefold() not in empty]
    return ServerResponse(200, {"properties": {"validatedResources": validated}})


def _read_preflight(body: Any) -> Mapping[str, Any]:
    """Read the preflight; refused if it lacks a member, or if a resource differs from its type or location."""
    if not isinstance(body, Mapping):
        raise refuse("InvalidRequestContent", reason="The request content is not a JSON object.")
    _require_texts(body, "provider", "type", "scope")
    resources = body.get("resources")
    if not isinstance(resources, list) or not resources or not all(isinstance(item, Mapping) for item in resources):
        raise refuse("InvalidRequestContent", reason="Required property 'resources' not found in JSON.")
    kinds = {body["type"].casefold(), f"{body['provider']}/{body['type']}".casefold()}
    for item in resources:
        _require_texts(item, "apiVersion", "name")
        if str(item.get("type") or body["type"]).casefold() not in kinds:
            raise refuse("InvalidRequestContent", reason=f"The type of resource '{item['name']}' is not that of all.")
        if _squeeze(item.get("location")) != _squeeze(body.get("location")):
            reason = f"The location of resource '{item['name']}' is not that of all."
            raise refuse("InvalidRequestContent", reason=reason)
    return body


def _require_texts(value: Mapping[str, Any], *names: str) -> None:
    for name in names:
        if not isinstance(value.get(name), str) or not value[name]:
            raise refuse("InvalidRequestContent", reason=f"Required property '{name}' not found in JSON.")


def _squeeze(location: Any) -> str:
    return str(location or "").replace(" ", "").casefold()


def _require_parent(cloud: EmulatedCloud, request: ServerRequest, scope: str) -> None:
    """Refuse a scope that does not exist. Resources in a group, and their references, need not exist."""
    parent = parse(scope)
    if parent.shape is PathShape.UNKNOWN and scope != "/":
        raise refuse("InvalidRequestContent", reason=f"The scope '{scope}' is not valid.")
    root = parent.group_path if parent.group else f"/subscriptions/{parent.subscription}"
    if parent.subscription:
        cloud.require_scope(replace(request, target=parse(f"{root}{request.target.path}")))


def _make_target(scope: str, kind: str, item: Mapping[str, Any]) -> Target:
    """Make the target of a resource. A name has a segment for each word of the type, or only the last one if the scope
    is the parent.
    """
    names = item["name"].split("/")
    namespace, *types = kind.split("/")
    if kind.casefold() == GROUP_TYPE.casefold():
        return parse(f"{scope.rstrip('/')}/resourceGroups/{names[0]}")
    parent = parse(scope)
    if parent.shape is PathShape.RESOURCE and parent.type.casefold() == "/".join((namespace, *types[:-1])).casefold():
        return parse(f"{scope.rstrip('/')}/{types[-1]}/{names[-1]}")
    if len(names) != len(types) or not all(names):
        reason = f"The name '{item['name']}' must have as many segments as the type '{kind}'."
        raise refuse("InvalidRequestContent", reason=reason)
    words = (word for pair in zip(types, names, strict=True) for word in pair)
    return parse("/".join((f"{scope.rstrip('/')}/providers", namespace, *words)))


def _validate(
    cloud: EmulatedCloud, request: ServerRequest, target: Target, item: Mapping[str, Any], *, needs_write: bool
) -> Iterator[ErrorDetail]:
    """Find what is wrong with a resource."""
    write = replace(request, method="PUT", target=target, api_version=item["apiVersion"], body=item)
    needed = write if needs_write else replace(write, method="GET")
    try:
        check_authorization(cloud, needed)
    except Refused:
        yield _make_missing_right(needed)
        return
    try:
        body = {name: _read_template(value) for name, value in item.items()}
        check_type(cloud, write)
        body = admit_by_policies(cloud, write, body)
    except Refused as refused:
        yield {"target": target.name, **refused.answer.body["error"]}
        return
    if target.type.casefold() in {kind.casefold() for kind in cloud.settings.preflight.silent}:
        return
    try:
        admit_by_provider(cloud, target, body)
    except Refused as refused:
        yield {"target": target.path, **refused.answer.body["error"]}
    try:
        # The name of an existing resource is taken by itself.
        if cloud.look_up(target.key) is None:
            admit_name(cloud, write, _drop_unknown(body))
    except Refused as refused:
        yield {
            "code": "PreflightValidationCheckFailed",
            "message": "Preflight validation failed. Please refer to the details for the specific errors.",
            "details": [{"target": target.name, **refused.answer.body["error"]}],
        }


def _drop_unknown(value: Any) -> Any:
    """Remove unknown values, which a provider treats as missing."""
    if isinstance(value, Mapping):
        return {name: _drop_unknown(member) for name, member in value.items() if member is not UNKNOWN}
    if isinstance(value, list):
        return [_drop_unknown(member) for member in value if member is not UNKNOWN]
    return value


def _make_missing_right(needed: ServerRequest) -> ErrorDetail:
    caller, target = needed.caller, needed.target
    return {
        "code": "InvalidTemplateDeployment",
        "message": (
            f"The template deployment failed with error: 'Authorization failed for template resource '{target.name}' "
            f"of type '{target.type}'. The client '{caller.client}' with object id '{caller.object}' does not have "
            f"permission to perform action '{name_needed_action(needed)}' at scope '{target.path}'.'."
        ),
    }


def _read_template(value: Any) -> Any:
    """Read a value of a template: an expression is not known yet, and `[[` is an escaped bracket."""
    if isinstance(value, Mapping):
        return {name: _read_template(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_read_template(member) for member in value]
    if not isinstance(value, str) or not (value.startswith("[") and value.endswith("]")):
        return value
    if value.startswith("[["):
        return value[1:]
    if _EXPRESSION.match(value):
        return UNKNOWN
    raise refuse("InvalidTemplate", message=f"Unable to parse language expression '{value[1:-1]}'.")


# Policy restrictions.


def check_policy_restrictions(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """POST …/providers/Microsoft.PolicyInsights/checkPolicyRestrictions of a group or a subscription."""
    cloud.require_scope(request)
    if request.target.subscription:
        require_registration(cloud, request.target)
    details = request.body.get("resourceDetails") if isinstance(request.body, Mapping) else None
    resource = details.get("resourceContent") if isinstance(details, Mapping) else None
    if not isinstance(details, Mapping) or not isinstance(resource, Mapping):
        raise refuse("InvalidRequestContent", reason="Required property 'resourceContent' not found in JSON.")
    content = _make_partial_content(request.target.scope, details, resource)
    effects = {Effect.DENY, Effect.AUDIT} if request.body.get("includeAuditEffect") is True else {Effect.DENY}
    # What only an external evaluation decides is not known yet.
    known = [policy for policy in cloud.settings.policies if policy.external is None]
    policies = [policy for policy in known if policy.effect in effects or policy.effect.changes]
    # Changes follow the policies in force, while restrictions are of all of them.
    in_force = list_in_force(policies, cloud.settings.exemptions, content.key, cloud.clock.now())
    changed, denying = evaluate(in_force, content)
    fields = request.body.get("pendingFields") or []
    if not isinstance(fields, list) or not all(isinstance(field, Mapping) for field in fields):
        raise refuse("InvalidRequestContent", reason="The value of 'pendingFields' is of the wrong type.")
    evaluations = []
    for policy in policies:
        # A policy that changes a pending field restricts that field.
        if not policy.effect.changes and policy.matches(changed):
            evaluations.append(_make_evaluation(policy, changed, policy.effect))
        elif policy.effect.changes and policy.matches(content) and not _find_pending(policy.field, content, fields):
            evaluations.append(_make_evaluation(policy, content, Effect.DENY if policy in denying else policy.effect))
    return ServerResponse(
        200,
        {
            "fieldRestrictions": list(_restrict_fields(policies, content, changed, fields)),
            "contentEvaluationResult": {"policyEvaluations": evaluations},
        },
    )


def _make_partial_content(scope: str, details: Mapping[str, Any], resource: Mapping[str, Any]) -> PolicyContent:
    """Make the content to check; without a name its key is that of its scope."""
    kind, name = str(resource.get("type") or ""), str(resource.get("name") or "").rpartition("/")[2]
    if kind.casefold() in {GROUP_TYPE.casefold(), "microsoft.resources/subscriptions/resourcegroups"}:
        path = f"{scope}/resourceGroups/{name}" if name else scope
        return replace(make_content(parse(path), resource), type=GROUP_TYPE, name=name)
    parent = str(details.get("scope") or "").rstrip("/") or scope
    namespace, *types = kind.split("/")
    # The scope of a nested type is its parent; for all others it is the part before the provider.
    is_nested = parse(parent).type.casefold() == "/".join((namespace, *types[:-1])).casefold()
    path = f"{parent}/{types[-1]}/{name}" if is_nested and types else f"{parent}/providers/{kind}/{name}"
    return PolicyContent(key=(path if name else parent).casefold(), type=kind, name=name, body=resource)


def _make_policy_info(policy: EmulatedPolicy) -> dict[str, str]:
    return {"policyDefinitionId": make_definition_id(policy), "policyAssignmentId": policy.id}


def _make_evaluation(policy: EmulatedPolicy, content: PolicyContent, effect: Effect) -> dict[str, Any]:
    return {
        "policyInfo": _make_policy_info(policy),
        "evaluationResult": "NonCompliant",
        "effectDetails": {"policyEffect": effect.value.capitalize()},
        "evaluationDetails": {
            "evaluatedExpressions": explain(policy, content),
            **({"reason": policy.message} if policy.message else {}),
        },
    }


def _restrict_fields(
    policies: list[EmulatedPolicy], content: PolicyContent, changed: PolicyContent, pending: list[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """List the policies' restrictions of the pending fields, field by field."""
    restrictions: dict[str, list[dict[str, Any]]] = {}
    for policy in policies:
        for field, restriction in _restrict(policy, content, changed, pending):
            info = {"policy": _make_policy_info(policy), "policyEffect": policy.effect.value.capitalize()}
            reason = {"reason": policy.message} if policy.message else {}
            restrictions.setdefault(make_alias(content.type, field), []).append({**restriction, **info, **reason})
    for name, rows in restrictions.items():
        yield {"field": name, "restrictions": rows}


def _restrict(
    policy: EmulatedPolicy, content: PolicyContent, changed: PolicyContent, pending: list[Mapping[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    if policy.effect.changes:
        if policy.matches(content) and _find_pending(policy.field, content, pending) is not None:
            yield policy.field, {"result": "Required", "values": [policy.value], "defaultValue": policy.value}
        return
    for condition in policy.conditions:
        field = _find_pending(condition.field, content, pending) if condition.field else None
        others = (other for other in policy.conditions if other is not condition)
        # A field is restricted only if it alone decides: everything else in the policy applies.
        if field is None or not policy.concerns(changed) or not all(other.holds(changed) for other in others):
            continue
        if content.find_value(condition.field) != changed.find_value(condition.field) and not condition.holds(changed):
            continue  # another policy changes it to an allowed value
        restriction = _read_restriction(condition, field.get("values"))
        if restriction and policy.effect is Effect.AUDIT:
            restriction["result"] = "Audit"
        if restriction:
            yield condition.field, restriction


def _find_pending(field: str, content: PolicyContent, pending: list[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Find a pending field by its path or its alias; `tags` includes every tag."""
    names = {field.casefold(), make_alias(content.type, field).casefold()} | ({"tags"} & {field.partition(".")[0]})
    return next((row for row in pending if str(row.get("field")).casefold() in names), None)


def _read_restriction(condition: PolicyCondition, candidates: Any) -> dict[str, Any]:
    """Return how a condition that must not hold restricts a field; for candidates, which of them it forbids."""
    if isinstance(candidates, list):
        denied = [value for value in candidates if condition.is_met_by(value)]
        return {"result": "Deny", "values": denied} if denied else {}
    match condition.operator:
        case Operator.EXISTS:
            return {"result": "Removed" if condition.values[0] else "Required"}
        case Operator.EQUALS | Operator.IN:
            return {"result": "Deny", "values": list(condition.values)}
        case _:
            return {"result": "Required", "values": list(condition.values)}
