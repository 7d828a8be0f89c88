"""Checks of single types before a PUT is stored or a DELETE is done.

Separate from the verbs, which treat all types alike: this is one table with a row per type. A check refuses the body,
or returns the body to store.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gitsync.emulator.http.messages import ServerRequest, refuse
from gitsync.emulator.http.target import parse
from gitsync.emulator.lro.operations import drop_with_children
from gitsync.emulator.patch import find_value, set_value
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.deleted_resources import (
    SOFT_DELETES,
    DeletedResource,
    find_holder,
    normalize_region,
    remove_deleted,
)
from gitsync.emulator.state.store import StoredResource
from gitsync.emulator.types.address_ranges import admit_network, admit_subnet
from gitsync.emulator.types.names import check_name
from gitsync.emulator.types.quotas import check_quota

RequestBody = dict[str, Any]
_GUID = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_ROLE = re.compile(rf"(/.*)?/providers/microsoft\.authorization/roledefinitions/{_GUID.pattern}", re.IGNORECASE)
_CONNECTIONS = ("manualPrivateLinkServiceConnections", "privateLinkServiceConnections")
_STATE = "privateLinkServiceConnectionState"


def admit_write(
    cloud: EmulatedCloud, request: ServerRequest, before: StoredResource | None, body: RequestBody
) -> RequestBody:
    """Check a PUT or PATCH by the rules of its type, and return the body to store; Refused if the type does not allow
    it.
    """
    kind = request.target.type.casefold()
    if before is None:  # only the name of a new resource can be taken
        deleted = admit_name(cloud, request, body)
        if deleted is not None:
            remove_deleted(cloud.store, deleted["id"])
            return dict(deleted["body"])
    check_quota(cloud, request, before, body)
    check = _WRITES.get(kind)
    return check(cloud, request, before, body) if check is not None else body


def admit_name(cloud: EmulatedCloud, request: ServerRequest, body: RequestBody) -> DeletedResource | None:
    """Find the deleted resource that a PUT restores, None if there is none; Refused if another resource has the
    name.
    """
    if request.target.type.casefold() in SOFT_DELETES:
        deleted = _find_recovered(cloud, request, body)
        if deleted is not None:
            return deleted
    check_name(cloud, request, body)
    return None


def admit_delete(cloud: EmulatedCloud, request: ServerRequest) -> None:
    """Prepare a DELETE by the rules of its type; Refused if the type does not allow it."""
    check = _DELETES.get(request.target.type.casefold())
    if check is not None:
        check(cloud, request)


def _find_recovered(cloud: EmulatedCloud, request: ServerRequest, body: RequestBody) -> DeletedResource | None:
    """Find the deleted resource that a PUT restores; None for a new one. Refused if a deleted resource reserves the
    name.

    It is restored unchanged: in recordings Azure ignored the rest of such a body.
    """
    target = request.target
    soft = SOFT_DELETES[target.type.casefold()]
    holder = find_holder(cloud.store, target, cloud.clock.now().timestamp())
    is_recovery = soft.recover is None
    if soft.recover is not None:
        name, value = soft.recover
        is_recovery = str(find_value(body, ("properties", name))).casefold() == value
    if holder is None:
        if is_recovery and soft.nothing:
            raise refuse(soft.nothing)
        return None
    # A resource is restored only with its former id, in its former region.
    is_here = parse(holder["id"]).key == target.key and normalize_region(body.get("location")) == holder["location"]
    if not is_recovery or not is_here:
        words: dict[str, Any] = {"name": target.name, "id": holder["id"]}
        raise refuse(soft.code, message=soft.text.format_map(words), **words)
    return holder


def _admit_assignment(
    cloud: EmulatedCloud, request: ServerRequest, before: StoredResource | None, body: RequestBody
) -> RequestBody:
    """Require a valid role and principal, which must not change or have another assignment at this scope."""
    role, principal = (find_value(body, ("properties", name)) for name in ("roleDefinitionId", "principalId"))
    if isinstance(role, str) and not _ROLE.fullmatch(role):
        raise refuse("InvalidRoleDefinitionId", role=role)
    if isinstance(principal, str) and not _GUID.fullmatch(principal):
        raise refuse("InvalidPrincipalId", principal=principal)
    grant = _read_grant(body)
    if before is not None and _read_grant(before.body) != grant:
        raise refuse("RoleAssignmentUpdateNotPermitted")
    # Without a role and a principal there is no grant that could already exist.
    if before is None and all(grant):
        _check_unassigned(cloud, request, grant)
    return body


def _check_unassigned(cloud: EmulatedCloud, request: ServerRequest, grant: tuple[str, str]) -> None:
    prefix = request.target.key.rpartition("/")[0] + "/"
    for _, other in cloud.store.below(prefix):
        if _read_grant(other.body) == grant:
            # Azure's message has the name without hyphens.
            raise refuse("RoleAssignmentExists", name=parse(other.id).name.replace("-", ""))


def _read_grant(body: Mapping[str, Any]) -> tuple[str, str]:
    """Read the role, by the last word of its id, and the principal."""
    role, principal = (
        str(find_value(body, ("properties", name)) or "") for name in ("roleDefinitionId", "principalId")
    )
    # The id of a role may have any scope before it, and a GUID may lack its hyphens.
    return role.rpartition("/")[2].casefold(), principal.replace("-", "").casefold()


def _admit_instance(
    _cloud: EmulatedCloud, _request: ServerRequest, before: StoredResource | None, body: RequestBody
) -> RequestBody:
    """Keep the state of the protection, which only the provider sets: a PUT does not change it."""
    status = find_value(before.body, ("properties", "protectionStatus")) if before is not None else None
    return body if status is None else dict(set_value(body, "/properties/protectionStatus", status))


def _admit_endpoint(
    _cloud: EmulatedCloud, _request: ServerRequest, before: StoredResource | None, body: RequestBody
) -> RequestBody:
    """Keep the state of connections, which only the other side approves: a PUT of the same connection does not change
    it.
    """
    for list_name in _CONNECTIONS if before is not None else ():
        states = {
            entry.get("name"): _read_state(entry)
            for entry in _list_connections(before.body if before else {}, list_name)
        }
        for index, entry in enumerate(_list_connections(body, list_name)):
            if states.get(entry.get("name")) is not None and _read_state(entry) is None:
                body = set_value(
                    body, f"/properties/{list_name}/{index}/properties/{_STATE}", states[entry.get("name")]
                )
    return body


def _list_connections(body: Mapping[str, Any], list_name: str) -> Sequence[Mapping[str, Any]]:
    connections = find_value(body, ("properties", list_name))
    return (
        # An entry of another type keeps its position, since states are set by index.
        [entry if isinstance(entry, Mapping) else {} for entry in connections] if isinstance(connections, list) else []
    )


def _read_state(entry: Mapping[str, Any]) -> Any:
    return find_value(entry, ("properties", _STATE))


def _delete_product(cloud: EmulatedCloud, request: ServerRequest) -> None:
    """Delete the subscriptions of a product if the request has deleteSubscriptions=true; otherwise refuse a product
    with subscriptions.
    """
    target = request.target
    service, scope_suffix = target.key.rpartition("/products/")[0], f"/products/{target.name}".casefold()
    prefix = f"{service}/subscriptions/"
    # The subscriptions of a product are beside it, not below it: their scope names the product.
    subscription_keys = [
        key
        for key, other in cloud.store.below(prefix)
        if str(find_value(other.body, ("properties", "scope"))).casefold().endswith(scope_suffix)
    ]
    if subscription_keys and request.query.get("deleteSubscriptions", "").casefold() != "true":
        raise refuse("ValidationError")
    for key in subscription_keys:
        drop_with_children(cloud.store, key)


_WRITES: Mapping[str, Callable[[EmulatedCloud, ServerRequest, StoredResource | None, RequestBody], RequestBody]] = {
    "microsoft.authorization/roleassignments": _admit_assignment,
    "microsoft.dataprotection/backupvaults/backupinstances": _admit_instance,
    "microsoft.network/privateendpoints": _admit_endpoint,
    "microsoft.network/virtualnetworks": admit_network,
    "microsoft.network/virtualnetworks/subnets": admit_subnet,
}
_DELETES: Mapping[str, Callable[[EmulatedCloud, ServerRequest], None]] = {
    "microsoft.apimanagement/service/products": _delete_product,
}
