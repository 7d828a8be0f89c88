"""Logs the changes of requests and moves, for Azure's logs.

One entry is enough for all rows of both logs. They are made from it on demand, since a row becomes visible after some
time, and then includes the result of its request's operation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitsync.emulator.governance.enforcement import make_content, make_definition_id
from gitsync.emulator.governance.policies import Effect, EmulatedPolicy, evaluate, list_in_force
from gitsync.emulator.governance.valid_tokens import list_without_token
from gitsync.emulator.http.messages import Caller, ServerRequest, ServerResponse
from gitsync.emulator.http.target import PathShape, Target, parse
from gitsync.emulator.identity.access import name_needed_action
from gitsync.emulator.lro.operations import SUCCEEDED, parse_operation_path
from gitsync.emulator.patch import merge_patch
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import LoggedChange, StoredResource
from gitsync.emulator.types.behaviour import choose_behaviour
from gitsync.emulator.types.bodies import embed_children, hide_secrets, list_children, list_embedded_lists

SYSTEM = "System"
"""The caller of background changes by the platform, which have no correlation id."""

NO_CORRELATION = "00000000-0000-0000-0000-000000000000"

APPS: Mapping[str, str] = {
    "Azure CLI": "04b07795-8ddb-461a-bbee-02f9e1bf7b46",
    "Azure Portal": "c44b4083-3bb0-49c1-b47d-974e53cbdf3c",
    "CLI": "04b07795-8ddb-461a-bbee-02f9e1bf7b46",
}
"""The ids of the applications that people use, by their names in Resource Graph."""


@dataclass(frozen=True, slots=True)
class Before:
    """A resource before a request or a move."""

    target: Target
    resource: StoredResource | None  # None if it does not exist
    body: Mapping[str, Any]  # with the children that it embeds
    nested: Sequence[str] = ()  # the ids of everything below it, if it may be deleted


def look_before(cloud: EmulatedCloud, target: Target, *, deletes: bool) -> Before:
    """Read the resource that a request or a move is about to change."""
    resource = cloud.store.resource(target.key)
    nested = [found.id for _, found in cloud.store.below(target.key + "/")] if deletes else []
    return Before(target, resource, _embed(cloud, resource), nested)


def _embed(cloud: EmulatedCloud, resource: StoredResource | None) -> Mapping[str, Any]:
    body: Mapping[str, Any] = embed_children(cloud, parse(resource.id), resource.body) if resource else {}
    return body


def log_request(cloud: EmulatedCloud, request: ServerRequest, before: Before, answer: ServerResponse) -> None:
    """Log a request that was answered."""
    # Read after the request: a write that was refused in the middle may have changed something.
    after, error = cloud.store.resource(request.target.key), None
    if answer.status >= 400 and isinstance(answer.body, Mapping):
        error = answer.body.get("error") or {"code": "", "message": json.dumps(answer.body)}
    target = request.target
    entry = LoggedChange(
        # The resource of an action is the owner of its word.
        id=target.owner.path if request.verb == "action" and target.names else target.path,
        at=cloud.clock.now().timestamp(),
        method=request.method,
        action=name_needed_action(request),
        status=answer.status,
        correlation=request.correlation,
        caller=describe_caller(request.caller),
        client_request=request.headers.get("x-ms-client-request-id", ""),
        operation=_find_operation(before.resource, after, answer),
        body=request.body,
        error=error,
        policies=_list_policies(cloud, request, before, answer) if cloud.settings.policies else (),
    )
    log_change(cloud, before, after, entry)


def log_change(cloud: EmulatedCloud, before: Before, new: StoredResource | None, entry: LoggedChange) -> None:
    """Log an entry, with the changes since `before`; `new` is the current resource."""
    old = before.resource
    # In memory, an untouched resource is the same object, which saves the comparison.
    values = _list_values(before.body, _embed(cloud, new)) if old and new and old is not new else {}
    change = ""
    if old is None or new is None:
        change = "Create" if new is not None else "Delete" if old is not None else ""
    # A DELETE with an operation still leaves the resource for now, which is not an update.
    elif entry.method == "DELETE":
        change = "Delete" if entry.operation else ""
    # A create after a 202 stores the resource first and shows it later.
    elif new.visible > old.visible:
        change = "Create"
    elif values:
        change = "Update"
    deleted = [path for path in before.nested if is_in_graph(parse(path))]
    known = old or new
    entry = replace(entry, id=known.id if known else entry.id, change=change, values=values, deleted=deleted)
    cloud.store.add_change(entry)
    if change:
        _log_in_parent(cloud, before, new, entry)


def _log_in_parent(cloud: EmulatedCloud, before: Before, new: StoredResource | None, entry: LoggedChange) -> None:
    """Log the change of an embedded child as a change of its parent, whose body shows it; for Resource Graph only."""
    target, parent = before.target, before.target.parent
    lists = list_embedded_lists(parent.type) if parent is not None else ()
    embedded = next(
        (embedded_list for embedded_list in lists if embedded_list.type.casefold() == target.types[-1].casefold()), None
    )
    owner = cloud.store.resource(parent.key) if parent is not None and embedded is not None else None
    child = new or before.resource
    if owner is None or parent is None or embedded is None or child is None:
        return
    siblings = list_children(cloud.store, parent.key, embedded)
    # Also right for a deleted child, which the list no longer has.
    index = sum(sibling.number < child.number for _, sibling in siblings)
    child_path = f"{'.'.join(embedded.path)}[{index}]"
    values = {f"{child_path}.{path}": row for path, row in _list_values(before.body, _embed(cloud, new)).items()}
    cloud.store.add_change(
        replace(entry, id=owner.id, change="Update", values=values, deleted=(), in_activity_log=False)
    )


def _list_policies(
    cloud: EmulatedCloud, request: ServerRequest, before: Before, answer: ServerResponse
) -> list[dict[str, str]]:
    """List the effects of policies on a write, as in the rows of the Activity Log."""
    if request.verb != "write" or not isinstance(request.body, Mapping):
        return []
    settings, target, body = cloud.settings, request.target, request.body
    # Policies see the merged resource, as in Azure.
    if request.method == "PATCH":
        body = merge_patch(before.resource.body if before.resource else {}, body)
    policies = list_in_force(settings.policies, settings.exemptions, target.key, cloud.clock.now())
    content, denying = evaluate(policies, make_content(target, body))
    if denying := list_without_token(cloud, request, denying):
        return [describe_policy(policy, "deny") for policy in denying]
    if answer.status >= 400:
        return []
    seen = make_content(target, body)
    return [
        describe_policy(policy, policy.effect.value)
        for policy in policies
        if not policy.effect.denies and policy.matches(content if policy.effect is Effect.AUDIT else seen)
    ]


def describe_policy(policy: EmulatedPolicy, effect: str) -> dict[str, str]:
    """Return a policy with an effect, as the logs keep it."""
    return {
        "policyAssignmentId": policy.id,
        "policyAssignmentName": policy.name,
        "policyAssignmentScope": policy.scope,
        "policyDefinitionId": make_definition_id(policy),
        "policyDefinitionEffect": effect,
    }


def describe_caller(caller: Caller) -> dict[str, str]:
    """Return a caller as the logs keep it: the known members."""
    members = {name: getattr(caller, name) for name in ("client", "object", "tenant", "user", "app", "identity")}
    if caller.user and not caller.client:
        members["client"] = APPS.get(caller.app, caller.app)
    return {name: value for name, value in members.items() if value}


def _find_operation(before: StoredResource | None, after: StoredResource | None, answer: ServerResponse) -> str:
    """Find the id of the operation that a request started; "" if it started none, as for a second DELETE."""
    running = before.operation if before else ""
    if after is not None and after.operation:
        return after.operation if after.operation != running else ""
    urls = (answer.headers.get(name, "").partition("?")[0] for name in ("Azure-AsyncOperation", "Location"))
    paths = (parse_operation_path(url) for url in urls)
    return next((path[1] for path in paths if path is not None and path[1] != running), "")


_NOT_IN_GRAPH = (
    "microsoft.authorization/",
    "microsoft.consumption/",
    "microsoft.insights/diagnosticsettings",
    "microsoft.policyinsights/",
    "microsoft.resources/",
)
"""Prefixes of the types that extend a group or a subscription, and are not in it."""


def is_in_graph(target: Target) -> bool:
    """Return whether Resource Graph has the changes of a resource: groups, and resources directly in a group or
    subscription.
    """
    if target.shape is PathShape.GROUP:
        return True
    scope = parse(target.scope).shape if target.scope else PathShape.UNKNOWN
    is_within = len(target.names) == 1 and scope in {PathShape.GROUP, PathShape.SUBSCRIPTION}
    return is_within and not target.type.casefold().startswith(_NOT_IN_GRAPH)


_MOST_TEXT = 1000
"""Longer values are cut. Azure's own limit is not documented."""


def _list_values(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """List the values that an update changed, as text, by their paths from the root of the resource; without
    secrets.
    """
    # Secrets are hidden only in values that differ, since hiding is slower than comparing.
    names = [name for name in {*old, *new} if old.get(name) != new.get(name)]
    left, right = (hide_secrets({name: body[name] for name in names if name in body}) for body in (old, new))
    return {path: (_format(before), _format(after)) for path, before, after in _compare("", left, right)}


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
    """Cut a value for a row of changes, and return whether something is missing."""
    return value[:_MOST_TEXT], len(value) > _MOST_TEXT


def list_happened(cloud: EmulatedCloud, entry: LoggedChange) -> list[tuple[LoggedChange, float]]:
    """List the changes of a request with their times, in seconds since 1970; nothing if it was refused.

    A delete takes effect when its operation ends; after any other operation Azure itself changes the state.
    """
    if not entry.change or entry.status >= 400:
        return []
    operation = cloud.store.operation(entry.operation) if entry.operation else None
    if operation is None:
        return [(entry, entry.at)]
    # The resource is gone when the operation ends; one that failed has deleted nothing.
    if entry.change == "Delete":
        return [(entry, operation.ended)] if operation.over and operation.result == SUCCEEDED else []
    behaviour = choose_behaviour(parse(entry.id).type)
    # A type without a state shows no change when its operation ends.
    if not operation.over or not behaviour.state:
        return [(entry, entry.at)]
    state = behaviour.creating if entry.change == "Create" else behaviour.updating
    settled = replace(
        entry,
        change="Update",
        values={"properties.provisioningState": (state, operation.result)},
        caller={"user": SYSTEM},
        correlation=NO_CORRELATION,
    )
    return [(entry, entry.at), (settled, operation.ended)]
