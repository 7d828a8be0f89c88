"""Access checks: authorization, registration of providers, known types, locks, running operations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from gitsync.emulator.governance.listed import GOVERNING_TYPES, list_governing, make_deny_guid
from gitsync.emulator.governance.policies import covers
from gitsync.emulator.http.messages import READ_POSTS, Caller, Refused, ServerRequest, refuse
from gitsync.emulator.http.target import PathShape, Target, parse
from gitsync.emulator.lro.operations import make_operation_url, poll_operation
from gitsync.emulator.patch import find_value
from gitsync.emulator.settings import Busy, Denial, EmulatedDenyAssignment, ManagementLock
from gitsync.emulator.state.cloud import EmulatedCloud, is_subscription_canceled
from gitsync.emulator.state.deleted_resources import SHOWN, normalize_region
from gitsync.emulator.state.store import StoredResource
from gitsync.emulator.types.behaviour import Style, choose_behaviour
from gitsync.emulator.types.quotas import USAGE_NAMESPACES

PERMISSIONS_TYPE = "microsoft.authorization/permissions"
_LOOKUPS = frozenset(
    {
        *SHOWN,
        *(f"{namespace}/locations/usages" for namespace in USAGE_NAMESPACES),
        "microsoft.compute/skus",
        "microsoft.documentdb/databaseaccountnames",
        "microsoft.insights/eventtypes/values",
        "microsoft.network/locations/checkdnsnameavailability",
    }
)
"""Types of lookup paths, which are in no list of types."""
_LOCK_TYPE = "microsoft.authorization/locks"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(-[a-z0-9.-]+)?", re.IGNORECASE)


def check_version(version: str | None) -> str:
    """Check and return the api-version of a request; refused if it is missing or not a date."""
    if not version:
        raise refuse("MissingApiVersionParameter")
    if not _DATE.fullmatch(version):
        raise refuse("InvalidApiVersionParameter", version=version)
    return version


def read_version(cloud: EmulatedCloud, request: ServerRequest) -> str:
    """Read the api-version of a request, and check it.

    A relative Location is the id of the resource without a version: a read of it gets the version of the write.
    """
    if not request.api_version and request.method == "GET" and request.target.shape is PathShape.RESOURCE:
        style = cloud.settings.operations.style or choose_behaviour(request.target.type).put
        resource = cloud.store.resource(request.target.key) if style is Style.RELATIVE else None
        return resource.api_version if resource else check_version("")
    return check_version(request.api_version)


def check_access(cloud: EmulatedCloud, request: ServerRequest) -> None:
    """Refuse what the gateway refuses for any resource."""
    # Rights come first, as in Azure: who may not write learns nothing about locks or registrations.
    check_authorization(cloud, request)
    check_type(cloud, request)
    if request.verb != "read":
        _check_subscription(cloud, request)
        _check_registration(cloud, request)
        _check_locks(cloud, request)
        _check_governing(cloud, request)


def name_needed_action(request: ServerRequest) -> str:
    """Name the action of a request, as roles spell it: Microsoft.Network/virtualNetworks/write."""
    target = request.target
    if request.verb == "action":
        return f"{target.type}/action"
    # Spelled with the subscription, unlike types.
    container = _CONTAINERS.get(target.shape, "")
    if target.shape is PathShape.RESOURCES and target.group:
        container = "/resourceGroups/resources"
    is_typed = bool(target.types)
    return f"{target.type if is_typed else f'Microsoft.Resources/subscriptions{container}'}/{request.verb}"


_CONTAINERS: Mapping[PathShape, str] = {
    PathShape.GROUP: "/resourceGroups",
    PathShape.GROUPS: "/resourceGroups",
    PathShape.PROVIDER: "/providers",
    PathShape.PROVIDERS: "/providers",
    PathShape.RESOURCES: "/resources",
}


def check_authorization(cloud: EmulatedCloud, request: ServerRequest) -> None:
    """Refuse what the caller's roles do not grant, and what a deny assignment forbids."""
    if not _may_request(request):
        raise _make_denial(request)
    action, scope = name_needed_action(request), _choose_scope(request)
    if any(is_denied(denial, request.caller, request.target.key, action) for denial in cloud.settings.denied):
        raise _make_denial(request)
    for denial in cloud.settings.deny_assignments:
        if _forbids(denial, request, action.casefold(), scope.casefold()):
            guid = make_deny_guid(denial)
            words: dict[str, Any] = {
                "client": request.caller.client,
                "object": request.caller.object,
                "id": f"{denial.scope}/providers/Microsoft.Authorization/denyAssignments/{guid}",
                "denied": denial.scope,
            }
            raise refuse("DenyAssignmentAuthorizationFailed", action=action, scope=scope, name=denial.name, **words)


def _forbids(denial: EmulatedDenyAssignment, request: ServerRequest, action: str, scope: str) -> bool:
    """Return whether a deny assignment forbids an action; action and scope are in lower case."""
    caller_ids = {request.caller.client.casefold(), request.caller.object.casefold()}
    is_denied = denial.everyone or not caller_ids.isdisjoint(_fold(denial.principals))
    return (
        is_denied
        and caller_ids.isdisjoint(_fold(denial.exclude_principals))
        and any(fnmatchcase(action, pattern) for pattern in _fold(denial.actions))
        and not any(fnmatchcase(action, pattern) for pattern in _fold(denial.not_actions))
        and (scope == denial.scope.casefold() if denial.only_at_scope else covers(denial.scope, scope))
    )


def _fold(names: Iterable[str]) -> set[str]:
    return {name.casefold() for name in names}


def _may_request(request: ServerRequest) -> bool:
    """Return whether the caller's role grants the action of the request. A caller with a role in a subscription may
    read the subscription, and its own permissions.
    """
    target, caller = request.target, request.caller
    if request.verb == "read" and target.type.casefold() == PERMISSIONS_TYPE:
        return True
    if request.verb == "read" and target.shape is PathShape.SUBSCRIPTION:
        return not caller.scopes or any(_is_within(scope.casefold(), target.key) for scope in caller.scopes)
    return grants(caller, name_needed_action(request), target)


def grants(caller: Caller, action: str, target: Target) -> bool:
    """Return whether the caller's role has an action, and is assigned at the target or above. A role anywhere is enough
    to read the lists of the tenant.
    """
    is_there = (
        not caller.scopes
        or (action.endswith("/read") and not target.subscription)
        or any(_is_within(target.key, scope.casefold()) for scope in caller.scopes)
    )
    return is_there and any(fnmatchcase(action.casefold(), pattern.casefold()) for pattern in caller.actions)


def _is_within(key: str, scope: str) -> bool:
    return key == scope or key.startswith(f"{scope.rstrip('/')}/")


def is_denied(denial: Denial, caller: Caller, key: str, action: str) -> bool:
    """Return whether a denial in the settings applies to a caller's action on the resource of a key."""
    scope = denial.scope.casefold()
    return (
        any(fnmatchcase(name.casefold(), denial.principal.casefold()) for name in (caller.client, caller.object))
        and (fnmatchcase(key, scope) or key.startswith(scope + "/"))
        and fnmatchcase(action.casefold(), denial.action.casefold())
    )


def _make_denial(request: ServerRequest) -> Refused:
    words: dict[str, Any] = {"client": request.caller.client, "object": request.caller.object}
    return refuse("AuthorizationFailed", action=name_needed_action(request), scope=_choose_scope(request), **words)


def _choose_scope(request: ServerRequest) -> str:
    """Choose the scope of the needed permission: for an action, its resource."""
    if request.verb != "action":
        return request.target.path
    return request.target.owner.path if request.target.names else request.target.scope


def check_type(cloud: EmulatedCloud, request: ServerRequest) -> None:
    """Refuse a type, an api-version or a location that the settings do not have."""
    _check_listed(cloud, request)
    types = {kind.casefold(): versions for kind, versions in cloud.settings.types.items()}
    target = request.target
    # Without a table of types every type exists, which suits most tests.
    if not types or target.shape not in {PathShape.RESOURCE, PathShape.COLLECTION}:
        return
    if target.type.casefold() in GOVERNING_TYPES | READ_POSTS | _LOOKUPS:  # ARM's own
        return
    namespace = target.namespace.casefold()
    # An unknown namespace gets another code than an unknown type of a known namespace.
    if not any(kind.split("/")[0] == namespace for kind in types):
        raise refuse("InvalidResourceNamespace", namespace=target.namespace)
    versions = types.get(target.type.casefold())
    words: dict[str, Any] = {
        "type": "/".join(target.types),
        "namespace": target.namespace,
        "version": request.api_version,
    }
    if versions is None:
        # The types of actions are in no list of types.
        if request.method == "POST":
            return
        all_versions = sorted({version for kind in types.values() for version in kind})
        raise refuse("InvalidResourceType", versions=",".join(all_versions), **words)
    if versions and request.api_version not in versions:
        location = request.body.get("location", "") if isinstance(request.body, dict) else ""
        words |= {"versions": ", ".join(versions), "location": location, "locations": ""}
        raise refuse("NoRegisteredProviderFound", **words)


def _check_listed(cloud: EmulatedCloud, request: ServerRequest) -> None:
    """Refuse an api-version or a location that the provider does not list; types without a row are not checked."""
    target = request.target
    types = {listed.type.casefold(): listed for listed in cloud.settings.versions}
    listed = types.get(target.type.casefold())
    if listed is None and request.method == "POST" and target.types:  # an action has the versions of its resource
        target = target.owner
        listed = types.get(target.type.casefold())
    if listed is None:  # the settings have no versions for it
        return
    body = request.body if request.method == "PUT" and isinstance(request.body, dict) else {}
    location = normalize_region(body.get("location"))
    locations = [normalize_region(name) for name in listed.locations]
    if request.api_version.casefold() not in {version.casefold() for version in listed.api_versions}:
        raise refuse(
            "NoRegisteredProviderFound",
            location=location,
            version=request.api_version,
            type=listed.type.partition("/")[2],
            versions=", ".join(listed.api_versions),
            locations=", ".join(locations),
        )
    if location and locations and location not in locations:
        raise refuse(
            "LocationNotAvailableForResourceType",
            location=body["location"],
            type=target.type,
            locations=",".join(locations),
        )


def _check_subscription(cloud: EmulatedCloud, request: ServerRequest) -> None:
    """Refuse writes in a canceled subscription, which can only be emptied and enabled again."""
    name = request.target.subscription
    is_enable = request.target.path.casefold().endswith("/providers/microsoft.subscription/enable")
    if name and request.method != "DELETE" and not is_enable and is_subscription_canceled(cloud.store, name):
        raise refuse("ReadOnlyDisabledSubscription", subscription=name)


def _check_registration(cloud: EmulatedCloud, request: ServerRequest) -> None:
    target = request.target
    if target.subscription and target.shape is PathShape.RESOURCE:  # providers are registered with subscriptions
        require_registration(cloud, target)


def require_registration(cloud: EmulatedCloud, target: Target) -> None:
    """Refuse a request to a provider that its subscription has not registered."""
    if read_registration(cloud, target) == "Registered":
        return
    namespace = target.namespace
    answer = refuse("MissingSubscriptionRegistration", namespace=namespace).answer
    error = answer.body["error"]
    # ARM repeats the message in a detail whose target is the namespace.
    error["details"] = [{"code": error["code"], "target": namespace, "message": error["message"]}]
    raise Refused(answer)


def read_registration(cloud: EmulatedCloud, target: Target) -> str:
    """Read the state of a namespace in a subscription."""
    namespace = target.namespace.casefold()
    if namespace not in {name.casefold() for name in cloud.settings.unregistered}:
        return "Registered"
    note = cloud.store.note(f"provider:{target.subscription}:{namespace}".casefold())
    return str(note["state"]) if note else "NotRegistered"


def _check_locks(cloud: EmulatedCloud, request: ServerRequest) -> None:
    key = request.target.key
    if request.target.type.casefold() == _LOCK_TYPE:
        return  # a lock does not lock itself
    for lock in [*cloud.settings.locks, *_list_stored_locks(cloud, request)]:
        scope = lock.scope.casefold().rstrip("/")
        covered = key == scope or key.startswith(scope + "/")
        # a group cannot be deleted while a resource in it is locked
        holds = request.method == "DELETE" and scope.startswith(key + "/")
        if (covered and (lock.read_only or request.method == "DELETE")) or holds:
            verb = "delete" if request.method == "DELETE" else "write"
            raise refuse("ScopeLocked", scope=_choose_scope(request), verb=verb, locked=lock.scope)


def _check_governing(cloud: EmulatedCloud, request: ServerRequest) -> None:
    """Refuse to change or delete resources that the settings define."""
    if request.target.shape is PathShape.RESOURCE and list_governing(cloud.settings, request.target):
        raise _make_denial(request)


def _list_stored_locks(cloud: EmulatedCloud, request: ServerRequest) -> list[ManagementLock]:
    """List the locks that were PUT on the target of the request, above it, and for a DELETE below it."""
    target = request.target
    scopes = [
        f"/subscriptions/{target.subscription}".casefold(),
        target.key,
        *(ancestor.key for ancestor in target.ancestors),
    ]
    if target.group:
        scopes.append(target.group_path.casefold())
    # Without duplicates: a group as the target is in the list twice.
    rows = [row for scope in dict.fromkeys(scopes) for row in cloud.store.below(f"{scope}/providers/{_LOCK_TYPE}/")]
    if request.method == "DELETE":
        rows += [row for row in cloud.store.below(target.key + "/") if f"/providers/{_LOCK_TYPE}/" in row[0]]
    return [
        ManagementLock(
            scope=parse(lock.id).scope, read_only=find_value(lock.body, ("properties", "level")) == "ReadOnly"
        )
        for _, lock in rows
    ]


def refuse_busy(cloud: EmulatedCloud, request: ServerRequest, before: StoredResource | None) -> None:
    """Refuse with AnotherOperationInProgress if an operation runs on the resource; the request counts as a poll of
    it.
    """
    name = before.operation if before is not None else ""
    if not name and cloud.settings.busy is Busy.PARENT:
        name = _find_operation_nearby(cloud, request.target)
    operation = cloud.store.operation(name) if name else None
    if operation is None:
        return
    # Without this a client that only retries would wait without end.
    poll_operation(cloud.store, operation, cloud.clock.now().timestamp())
    raise refuse("AnotherOperationInProgress", uri=make_operation_url(operation, request.base, "operations"))


def _find_operation_nearby(cloud: EmulatedCloud, target: Target) -> str:
    parent = target.parent
    parent_resource = cloud.look_up(parent.key) if parent is not None else None
    if parent_resource is not None and parent_resource.operation:
        return parent_resource.operation
    root = parent.key if parent is not None else target.key
    # Every resource of a group is below it, and none of their operations stops a write of the group.
    if target.shape is PathShape.GROUP:
        return ""
    for key, _ in cloud.store.below(root + "/"):
        resource = cloud.look_up(key)
        if resource is not None and resource.operation:
            return resource.operation
    return ""
