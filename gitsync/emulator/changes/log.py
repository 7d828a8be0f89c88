"""Logs what requests and moves change, for the logs that Azure serves.

One entry is enough for all rows of both: they are made of it when somebody reads them, since a row is not visible
before some time has passed, and says by then how the operation of its request ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gitsync.emulator.governance.enforcement import make_content, make_definition_id
from gitsync.emulator.governance.policies import Effect, EmulatedPolicy, judge, list_in_force
from gitsync.emulator.http.messages import Caller, ServerRequest, ServerResponse
from gitsync.emulator.http.target import PathShape, Target, parse
from gitsync.emulator.identity.access import find_action
from gitsync.emulator.lro.operations import SUCCEEDED, parse_operation_path
from gitsync.emulator.patch import merge_patch
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import LoggedChange, StoredResource
from gitsync.emulator.types.bodies import hide_secrets

SYSTEM = "System"
"""Stands for Azure itself, which changes things in the background."""

APPS: Mapping[str, str] = {
    "Azure CLI": "04b07795-8ddb-461a-bbee-02f9e1bf7b46",
    "Azure Portal": "c44b4083-3bb0-49c1-b47d-974e53cbdf3c",
    "CLI": "04b07795-8ddb-461a-bbee-02f9e1bf7b46",
}
"""The ids of the applications that people use, by the names that Resource Graph has for them."""


def log_request(
    cloud: EmulatedCloud,
    request: ServerRequest,
    before: StoredResource | None,
    nested: list[str],
    answer: ServerResponse,
) -> None:
    """Log a request that was answered. `before` is its resource as it was, `nested` are the ids of all below it."""
    after, error = cloud.store.resource(request.target.key), None
    if answer.status >= 400 and isinstance(answer.body, Mapping):
        error = answer.body.get("error") or {"code": answer.body.get("Code", ""), "message": json.dumps(answer.body)}
    operation = _find_operation(before, after, answer)
    values = list_values(before, after)
    cloud.store.add_change(
        LoggedChange(
            id=after.id if after else before.id if before else _find_resource_path(request),
            at=cloud.clock.now().timestamp(),
            method=request.method,
            action=find_action(request),
            status=answer.status,
            correlation=request.correlation,
            change=_find_change(request.method, before, after, values, operation),
            values=values,
            deleted=[path for path in nested if is_in_graph(parse(path))],
            caller=describe_caller(request.caller),
            client_request=request.headers.get("x-ms-client-request-id", ""),
            operation=operation,
            body=request.body,
            error=error,
            policies=_list_policies(cloud, request, before, answer) if cloud.settings.policies else (),
        )
    )


def _find_resource_path(request: ServerRequest) -> str:
    """Find the id of the resource of a request; that of an action is the owner of its word."""
    target = request.target
    return target.owner.path if request.verb == "action" and target.names else target.path


def _list_policies(
    cloud: EmulatedCloud, request: ServerRequest, before: StoredResource | None, answer: ServerResponse
) -> list[dict[str, str]]:
    """List what the policies did to a write, as the rows of the Activity Log show it."""
    if request.verb != "write" or not isinstance(request.body, Mapping):
        return []
    settings, target, body = cloud.settings, request.target, request.body
    if request.method == "PATCH":
        body = merge_patch(before.body if before else {}, body)
    policies = list_in_force(settings.policies, settings.exemptions, target.key, cloud.clock.now())
    content, denying = judge(policies, make_content(target, body))
    if denying:
        return [describe_policy(policy, "deny") for policy in denying]
    if answer.status >= 400:
        return []
    seen = make_content(target, body)
    return [
        describe_policy(policy, policy.effect.value)
        for policy in policies
        if policy.matches(content if policy.effect is Effect.AUDIT else seen)
    ]


def describe_policy(policy: EmulatedPolicy, effect: str) -> dict[str, str]:
    """Return what the logs keep of a policy that did something."""
    return {
        "policyAssignmentId": policy.id,
        "policyAssignmentName": policy.name,
        "policyAssignmentScope": policy.scope,
        "policyDefinitionId": make_definition_id(policy),
        "policyDefinitionEffect": effect,
    }


def describe_caller(caller: Caller) -> dict[str, str]:
    """Return what the logs keep of a caller: the members that are known."""
    members = {name: getattr(caller, name) for name in ("client", "object", "tenant", "user", "app", "identity")}
    if caller.user and not caller.client:
        members["client"] = APPS.get(caller.app, caller.app)
    return {name: value for name, value in members.items() if value}


def _find_operation(before: StoredResource | None, after: StoredResource | None, answer: ServerResponse) -> str:
    """Find the id of the operation that a request started; "" if it started none, as a second DELETE does not."""
    running = before.operation if before else ""
    if after is not None and after.operation:
        return after.operation if after.operation != running else ""
    urls = (answer.headers.get(name, "").partition("?")[0] for name in ("Azure-AsyncOperation", "Location"))
    paths = (parse_operation_path(url) for url in urls)
    return next((path[1] for path in paths if path is not None and path[1] != running), "")


def _find_change(
    method: str,
    before: StoredResource | None,
    after: StoredResource | None,
    values: Mapping[str, Any],
    operation: str,
) -> str:
    if before is None or after is None:
        return "Create" if after is not None else "Delete" if before is not None else ""
    if method == "DELETE":
        return "Delete" if operation else ""
    return "Create" if after.visible > before.visible else "Update" if values else ""


def is_in_graph(target: Target) -> bool:
    """Tell whether Resource Graph has the changes of a resource: of groups, and of what is directly in a group or in a
    subscription.
    """
    if target.shape is PathShape.GROUP:
        return True
    scope = parse(target.scope).shape if target.scope else PathShape.UNKNOWN
    return len(target.names) == 1 and scope in {PathShape.GROUP, PathShape.SUBSCRIPTION}


_MOST_TEXT = 1000
"""Longer values are cut. Azure's own limit is not documented."""


def list_values(before: StoredResource | None, after: StoredResource | None) -> dict[str, tuple[str, str]]:
    """List the values that an update changed, as text, by their paths from the root of the resource; no secrets."""
    if before is None or after is None or before.body == after.body:
        return {}
    old, new = hide_secrets(before.body), hide_secrets(after.body)
    return {path: (_format(left), _format(right)) for path, left, right in _compare("", old, new)}


def _compare(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    if old == new:
        return
    if isinstance(old, Mapping) or isinstance(new, Mapping):
        if isinstance(old, Mapping | None) and isinstance(new, Mapping | None):
            old, new = old or {}, new or {}
            for name in sorted({*old, *new}):
                yield from _compare(f"{path}.{name}" if path else name, old.get(name), new.get(name))
            return
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            left, right = (items[index] if index < len(items) else None for items in (old, new))
            yield from _compare(f"{path}[{index}]", left, right)
        return
    yield path, old, new


def _format(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def cut(value: str) -> tuple[str, bool]:
    """Cut a value as a row of changes shows it, and tell whether something is missing."""
    return value[:_MOST_TEXT], len(value) > _MOST_TEXT


def find_time(cloud: EmulatedCloud, entry: LoggedChange) -> float | None:
    """Find when a change took place, in seconds since 1970; None if it has not, or never will."""
    if not entry.change or entry.status >= 400:
        return None
    operation = cloud.store.operation(entry.operation) if entry.change == "Delete" and entry.operation else None
    if operation is None:
        return entry.at
    return operation.ended if operation.over and operation.result == SUCCEEDED else None
