"""Access checks: authorization, registration of providers, known types, locks, running operations."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Any

from gitsync.emulator.http.answers import Refused, refuse
from gitsync.emulator.http.call import ServerRequest
from gitsync.emulator.http.target import PathShape, Target, parse
from gitsync.emulator.lro import operations
from gitsync.emulator.patch import find_value
from gitsync.emulator.settings import Busy, Denial, ManagementLock
from gitsync.emulator.state import aliases
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.stored import StoredResource
from gitsync.emulator.types.behaviour import Style
from gitsync.emulator.types.recorded import ways_of

_LOCK_TYPE = "microsoft.authorization/locks"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(-[a-z0-9.-]+)?", re.IGNORECASE)


def check_version(version: str | None) -> str:
    """The api-version of a request; refused if it is missing or not a date."""
    if not version:
        raise refuse("MissingApiVersionParameter")
    if not _DATE.fullmatch(version):
        raise refuse("InvalidApiVersionParameter", version=version)
    return version


def find_version(cloud: EmulatedCloud, call: ServerRequest) -> str:
    """The api-version of a request, checked.

    A relative Location is the id of the resource, without a version: a read of it gets the version of the write.
    """
    if not call.api_version and call.method == "GET" and call.target.shape is PathShape.RESOURCE:
        style = cloud.settings.operations.style or ways_of(call.target.type).put
        resource = cloud.store.resource(call.target.key) if style is Style.RELATIVE else None
        return resource.api_version if resource else check_version("")
    return check_version(call.api_version)


def check(cloud: EmulatedCloud, call: ServerRequest) -> None:
    """Refuse what the gateway refuses, for any resource."""
    _check_authorization(cloud, call)
    if call.target.namespace:
        _check_type(cloud, call)
    if call.verb != "read":
        _check_subscription(cloud, call)
        _check_registration(cloud, call)
        _check_locks(cloud, call)


def find_action(call: ServerRequest) -> str:
    """The action of a request, as roles spell it: Microsoft.Network/virtualNetworks/write."""
    target = call.target
    if call.verb == "action":
        return f"{target.type}/action"
    if target.shape is PathShape.GROUP:  # spelled with the subscription, unlike the type
        return f"Microsoft.Resources/subscriptions/resourceGroups/{call.verb}"
    return f"{target.type if target.namespace else 'Microsoft.Resources/subscriptions'}/{call.verb}"


def _check_authorization(cloud: EmulatedCloud, call: ServerRequest) -> None:
    if call.caller.read_only and call.verb != "read":
        raise _make_denial(call)
    if any(_is_denied_by(denial, call) for denial in cloud.settings.denied):
        raise _make_denial(call)


def _is_denied_by(denial: Denial, call: ServerRequest) -> bool:
    patterns = (denial.principal.casefold(), denial.scope.casefold(), denial.action.casefold())
    principal, scope, action = patterns
    caller_ids = {call.caller.client.casefold(), call.caller.object.casefold()}
    return (
        any(fnmatchcase(caller_id, principal) for caller_id in caller_ids)
        and (fnmatchcase(call.target.key, scope) or call.target.key.startswith(scope + "/"))
        and fnmatchcase(find_action(call).casefold(), action)
    )


def _make_denial(call: ServerRequest) -> Refused:
    words: dict[str, Any] = {"client": call.caller.client, "object": call.caller.object}
    return refuse("AuthorizationFailed", action=find_action(call), scope=_find_scope(call), **words)


def _find_scope(call: ServerRequest) -> str:
    """The scope of the right that is needed: for an action, its resource."""
    if call.verb != "action":
        return call.target.path
    return call.target.owner.path if call.target.names else call.target.scope


def _check_type(cloud: EmulatedCloud, call: ServerRequest) -> None:
    types = {kind.casefold(): versions for kind, versions in cloud.settings.types.items()}
    target = call.target
    if not types or target.shape not in {PathShape.RESOURCE, PathShape.COLLECTION}:
        return
    namespace = target.namespace.casefold()
    if not any(kind.split("/")[0] == namespace for kind in types):
        raise refuse("InvalidResourceNamespace", namespace=target.namespace)
    versions = types.get(target.type.casefold())
    words: dict[str, Any] = {"type": "/".join(target.types), "namespace": target.namespace, "version": call.api_version}
    if versions is None:
        if call.method == "POST":
            return
        all_versions = sorted({version for kind in types.values() for version in kind})
        raise refuse("InvalidResourceType", versions=",".join(all_versions), **words)
    if versions and call.api_version not in versions:
        location = call.body.get("location", "") if isinstance(call.body, dict) else ""
        raise refuse("NoRegisteredProviderFound", versions=", ".join(versions), location=location, **words)


def _check_subscription(cloud: EmulatedCloud, call: ServerRequest) -> None:
    """A canceled subscription can be emptied, and enabled again; all other writes are refused."""
    name = call.target.subscription
    is_enable = call.target.path.casefold().endswith("/providers/microsoft.subscription/enable")
    if name and call.method != "DELETE" and not is_enable and aliases.is_canceled(cloud.store, name):
        raise refuse("ReadOnlyDisabledSubscription", subscription=name)


def _check_registration(cloud: EmulatedCloud, call: ServerRequest) -> None:
    target = call.target
    if not target.subscription or target.shape is not PathShape.RESOURCE:
        return
    if find_registration(cloud, target) == "Registered":
        return
    namespace = target.namespace
    answer = refuse("MissingSubscriptionRegistration", namespace=namespace).answer
    error = answer.body["error"]
    error["details"] = [{"code": error["code"], "target": namespace, "message": error["message"]}]
    raise Refused(answer)


def find_registration(cloud: EmulatedCloud, target: Target) -> str:
    """The state of a namespace in a subscription."""
    namespace = target.namespace.casefold()
    if namespace not in {name.casefold() for name in cloud.settings.unregistered}:
        return "Registered"
    note = cloud.store.note(f"provider:{target.subscription}:{namespace}".casefold())
    return str(note["state"]) if note else "NotRegistered"


def _check_locks(cloud: EmulatedCloud, call: ServerRequest) -> None:
    key = call.target.key
    if call.target.type.casefold() == _LOCK_TYPE:
        return  # a lock does not lock itself
    for lock in [*cloud.settings.locks, *_list_stored_locks(cloud, call)]:
        scope = lock.scope.casefold().rstrip("/")
        covered = key == scope or key.startswith(scope + "/")
        # a group cannot be deleted while a resource in it is locked
        holds = call.method == "DELETE" and scope.startswith(key + "/")
        if (covered and (lock.read_only or call.method == "DELETE")) or holds:
            verb = "delete" if call.method == "DELETE" else "write"
            raise refuse("ScopeLocked", scope=call.target.path, verb=verb, locked=lock.scope)


def _list_stored_locks(cloud: EmulatedCloud, call: ServerRequest) -> list[ManagementLock]:
    """The locks that were PUT, on what the call names, above it, and for a DELETE below it."""
    target = call.target
    scopes = [
        f"/subscriptions/{target.subscription}".casefold(),
        target.key,
        *(ancestor.key for ancestor in target.ancestors),
    ]
    if target.group:
        scopes.append(target.group_path.casefold())
    rows = [row for scope in dict.fromkeys(scopes) for row in cloud.store.below(f"{scope}/providers/{_LOCK_TYPE}/")]
    if call.method == "DELETE":
        rows += [row for row in cloud.store.below(target.key + "/") if f"/providers/{_LOCK_TYPE}/" in row[0]]
    return [
        ManagementLock(
            scope=parse(lock.id).scope, read_only=find_value(lock.body, ("properties", "level")) == "ReadOnly"
        )
        for _, lock in rows
    ]


def refuse_busy(cloud: EmulatedCloud, call: ServerRequest, before: StoredResource | None) -> None:
    """AnotherOperationInProgress if an operation runs on the resource; the refused request counts as a poll of it."""
    name = before.operation if before is not None else ""
    if not name and cloud.settings.busy is Busy.PARENT:
        name = _find_operation_nearby(cloud, call.target)
    operation = cloud.store.operation(name) if name else None
    if operation is None:
        return
    operations.poll_operation(cloud.store, operation, cloud.clock.now().timestamp())
    raise refuse("AnotherOperationInProgress", uri=operations.make_url(operation, call.base, "operations"))


def _find_operation_nearby(cloud: EmulatedCloud, target: Target) -> str:
    parent = target.parent
    parent_resource = cloud.look(parent.key) if parent is not None else None
    if parent_resource is not None and parent_resource.operation:
        return parent_resource.operation
    root = parent.key if parent is not None else target.key
    if target.shape is PathShape.GROUP:
        return ""
    for key, _ in cloud.store.below(root + "/"):
        resource = cloud.look(key)
        if resource is not None and resource.operation:
            return resource.operation
    return ""
