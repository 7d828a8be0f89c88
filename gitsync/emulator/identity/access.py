"""Who may do what, where: authorization, registration of providers, known types, locks, operations under way."""

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

_LOCK_TYPE = "microsoft.authorization/locks"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(-[a-z0-9.-]+)?", re.IGNORECASE)


def check_version(version: str | None) -> str:
    """The api-version of a request; refused where it is missing or no date."""
    if not version:
        raise refuse("MissingApiVersionParameter")
    if not _DATE.fullmatch(version):
        raise refuse("InvalidApiVersionParameter", version=version)
    return version


def check(cloud: EmulatedCloud, call: ServerRequest) -> None:
    """Refuse what the gateway refuses, whatever the resource is like."""
    _check_authorization(cloud, call)
    if call.target.namespace:
        _check_type(cloud, call)
    if call.verb != "read":
        _check_subscription(cloud, call)
        _check_registration(cloud, call)
        _check_locks(cloud, call)


def find_action(call: ServerRequest) -> str:
    """What a request does, as roles spell it: Microsoft.Network/virtualNetworks/write."""
    target = call.target
    if call.verb == "action":
        return f"{target.type}/action"
    if target.shape is PathShape.GROUP:  # spelled with the subscription, unlike the type
        return f"Microsoft.Resources/subscriptions/resourceGroups/{call.verb}"
    return f"{target.type if target.namespace else 'Microsoft.Resources/subscriptions'}/{call.verb}"


def _check_authorization(cloud: EmulatedCloud, call: ServerRequest) -> None:
    if call.caller.read_only and call.verb != "read":
        raise _denied(call)
    if any(_denies(denial, call) for denial in cloud.settings.denied):
        raise _denied(call)


def _denies(denial: Denial, call: ServerRequest) -> bool:
    named = (denial.principal.casefold(), denial.scope.casefold(), denial.action.casefold())
    principal, scope, action = named
    asked = {call.caller.client.casefold(), call.caller.object.casefold()}
    return (
        any(fnmatchcase(who, principal) for who in asked)
        and (fnmatchcase(call.target.key, scope) or call.target.key.startswith(scope + "/"))
        and fnmatchcase(find_action(call).casefold(), action)
    )


def _denied(call: ServerRequest) -> Refused:
    words: dict[str, Any] = {"client": call.caller.client, "object": call.caller.object}
    return refuse("AuthorizationFailed", action=find_action(call), scope=_scope(call), **words)


def _scope(call: ServerRequest) -> str:
    """What a right would have to be held on: for an action, what is asked to act."""
    if call.verb != "action":
        return call.target.path
    return call.target.owner.path if call.target.names else call.target.scope


def _check_type(cloud: EmulatedCloud, call: ServerRequest) -> None:
    known = {kind.casefold(): versions for kind, versions in cloud.settings.types.items()}
    target = call.target
    if not known or target.shape not in {PathShape.RESOURCE, PathShape.COLLECTION}:
        return
    namespace = target.namespace.casefold()
    if not any(kind.split("/")[0] == namespace for kind in known):
        raise refuse("InvalidResourceNamespace", namespace=target.namespace)
    versions = known.get(target.type.casefold())
    words: dict[str, Any] = {"type": "/".join(target.types), "namespace": target.namespace, "version": call.api_version}
    if versions is None:
        if call.method == "POST":
            return
        offered = sorted({version for kind in known.values() for version in kind})
        raise refuse("InvalidResourceType", versions=",".join(offered), **words)
    if versions and call.api_version not in versions:
        location = call.body.get("location", "") if isinstance(call.body, dict) else ""
        raise refuse("NoRegisteredProviderFound", versions=", ".join(versions), location=location, **words)


def _check_subscription(cloud: EmulatedCloud, call: ServerRequest) -> None:
    """A canceled subscription can be emptied, and taken up again; nothing else is written to it."""
    name = call.target.subscription
    takes_up = call.target.path.casefold().endswith("/providers/microsoft.subscription/enable")
    if name and call.method != "DELETE" and not takes_up and aliases.is_canceled(cloud.store, name):
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
        return  # a lock does not hold itself
    for lock in [*cloud.settings.locks, *_locks_made(cloud, call)]:
        scope = lock.scope.casefold().rstrip("/")
        covered = key == scope or key.startswith(scope + "/")
        # a group cannot go while something inside it is locked
        holds = call.method == "DELETE" and scope.startswith(key + "/")
        if (covered and (lock.read_only or call.method == "DELETE")) or holds:
            verb = "delete" if call.method == "DELETE" else "write"
            raise refuse("ScopeLocked", scope=call.target.path, verb=verb, locked=lock.scope)


def _locks_made(cloud: EmulatedCloud, call: ServerRequest) -> list[ManagementLock]:
    """The locks that were PUT, on what the call names, above it, and for a DELETE below it."""
    target = call.target
    scopes = [f"/subscriptions/{target.subscription}".casefold(), target.key, *(up.key for up in target.ancestors)]
    if target.group:
        scopes.append(target.group_path.casefold())
    found = [row for scope in dict.fromkeys(scopes) for row in cloud.store.below(f"{scope}/providers/{_LOCK_TYPE}/")]
    if call.method == "DELETE":
        found += [row for row in cloud.store.below(target.key + "/") if f"/providers/{_LOCK_TYPE}/" in row[0]]
    return [
        ManagementLock(
            scope=parse(lock.id).scope, read_only=find_value(lock.body, ("properties", "level")) == "ReadOnly"
        )
        for _, lock in found
    ]


def refuse_busy(cloud: EmulatedCloud, call: ServerRequest, before: StoredResource | None) -> None:
    """AnotherOperationInProgress where an operation holds the resource; the refused request counts as a poll of it."""
    name = before.operation if before is not None else ""
    if not name and cloud.settings.busy is Busy.PARENT:
        name = _operation_nearby(cloud, call.target)
    operation = cloud.store.operation(name) if name else None
    if operation is None:
        return
    operations.poll_operation(cloud.store, operation, cloud.clock.now().timestamp())
    raise refuse("AnotherOperationInProgress", uri=operations.make_url(operation, call.base, "operations"))


def _operation_nearby(cloud: EmulatedCloud, target: Target) -> str:
    parent = target.parent
    above = cloud.look(parent.key) if parent is not None else None
    if above is not None and above.operation:
        return above.operation
    root = parent.key if parent is not None else target.key
    if target.shape is PathShape.GROUP:
        return ""
    for key, _ in cloud.store.below(root + "/"):
        found = cloud.look(key)
        if found is not None and found.operation:
            return found.operation
    return ""
