"""Checks of single types before a PUT is stored or a DELETE is done.

Separate from the verbs, which treat all types alike: this is one table with a row per type. A check refuses, or returns
the body to store.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gitsync.emulator.http.answers import refuse
from gitsync.emulator.http.call import ServerRequest
from gitsync.emulator.http.target import parse
from gitsync.emulator.lro import operations
from gitsync.emulator.patch import find_value, set_value
from gitsync.emulator.state import deleted_vaults as graves
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.stored import StoredResource

RequestBody = dict[str, Any]
_GUID = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_ROLE = re.compile(rf"(/.*)?/providers/microsoft\.authorization/roledefinitions/{_GUID.pattern}", re.IGNORECASE)
_CONNECTIONS = ("manualPrivateLinkServiceConnections", "privateLinkServiceConnections")
_STATE = "privateLinkServiceConnectionState"


def admit(cloud: EmulatedCloud, call: ServerRequest, before: StoredResource | None, body: RequestBody) -> RequestBody:
    """The body that a PUT or PATCH leaves, as its type has it; Refused where the type says no."""
    check = _WRITES.get(call.target.type.casefold())
    return check(cloud, call, before, body) if check is not None else body


def admit_delete(cloud: EmulatedCloud, call: ServerRequest) -> None:
    """Do what a type does before it goes; Refused where it does not go."""
    check = _DELETES.get(call.target.type.casefold())
    if check is not None:
        check(cloud, call)


def _vault(cloud: EmulatedCloud, call: ServerRequest, before: StoredResource | None, body: RequestBody) -> RequestBody:
    """The name of a deleted vault is taken; with createMode recover the vault comes back.

    It comes back as it was: Azure was recorded to take no notice of the rest of such a body.
    """
    if before is not None:
        return body
    target = call.target
    recovers = str(find_value(body, ("properties", "createMode"))).casefold() == "recover"
    grave = graves.find(cloud.store, target.subscription, target.name)
    if grave is None:
        if recovers:
            raise refuse("SoftDeletedVaultDoesNotExist")
        return body
    if (
        not recovers
        or parse(grave["id"]).key != target.key
        or graves.normalize_region(body.get("location")) != grave["location"]
    ):
        raise refuse("ConflictError")
    graves.remove_deleted(cloud.store, target.subscription, target.name)
    return dict(grave["body"])


def _assignment(
    cloud: EmulatedCloud, call: ServerRequest, before: StoredResource | None, body: RequestBody
) -> RequestBody:
    """Require a valid role and principal, which never change and have no other assignment at this scope."""
    role, principal = (find_value(body, ("properties", name)) for name in ("roleDefinitionId", "principalId"))
    if isinstance(role, str) and not _ROLE.fullmatch(role):
        raise refuse("InvalidRoleDefinitionId", role=role)
    if isinstance(principal, str) and not _GUID.fullmatch(principal):
        raise refuse("InvalidPrincipalId", principal=principal)
    wanted = _grant(body)
    if before is not None and _grant(before.body) != wanted:
        raise refuse("RoleAssignmentUpdateNotPermitted")
    if before is None and all(wanted):
        _check_unassigned(cloud, call, wanted)
    return body


def _check_unassigned(cloud: EmulatedCloud, call: ServerRequest, wanted: tuple[str, str]) -> None:
    start = call.target.key.rpartition("/")[0] + "/"
    for _, other in cloud.store.below(start):
        if _grant(other.body) == wanted:
            raise refuse("RoleAssignmentExists", name=parse(other.id).name.replace("-", ""))


def _grant(body: Mapping[str, Any]) -> tuple[str, str]:
    """The role, by the last word of its id, and the principal."""
    role, principal = (
        str(find_value(body, ("properties", name)) or "") for name in ("roleDefinitionId", "principalId")
    )
    return role.rpartition("/")[2].casefold(), principal.replace("-", "").casefold()


def _instance(
    _cloud: EmulatedCloud, _call: ServerRequest, before: StoredResource | None, body: RequestBody
) -> RequestBody:
    """Only the provider sets the state of the protection; a PUT does not change it."""
    status = find_value(before.body, ("properties", "protectionStatus")) if before is not None else None
    return body if status is None else dict(set_value(body, "/properties/protectionStatus", status))


def _endpoint(
    _cloud: EmulatedCloud, _call: ServerRequest, before: StoredResource | None, body: RequestBody
) -> RequestBody:
    """Only the other side approves a connection; a PUT of the same connection keeps its state."""
    for word in _CONNECTIONS if before is not None else ():
        states = {entry.get("name"): _state(entry) for entry in _entries(before.body if before else {}, word)}
        for place, entry in enumerate(_entries(body, word)):
            if states.get(entry.get("name")) is not None and _state(entry) is None:
                body = set_value(body, f"/properties/{word}/{place}/properties/{_STATE}", states[entry.get("name")])
    return body


def _entries(body: Mapping[str, Any], word: str) -> Sequence[Mapping[str, Any]]:
    found = find_value(body, ("properties", word))
    return [entry if isinstance(entry, Mapping) else {} for entry in found] if isinstance(found, list) else []


def _state(entry: Mapping[str, Any]) -> Any:
    return find_value(entry, ("properties", _STATE))


def _product(cloud: EmulatedCloud, call: ServerRequest) -> None:
    """A product does not go while somebody subscribes to it, unless the subscriptions may go too."""
    target = call.target
    service, ending = target.key.rpartition("/products/")[0], f"/products/{target.name}".casefold()
    start = f"{service}/subscriptions/"
    held = [
        key
        for key, found in cloud.store.below(start)
        if str(find_value(found.body, ("properties", "scope"))).casefold().endswith(ending)
    ]
    if held and call.query.get("deleteSubscriptions", "").casefold() != "true":
        raise refuse("ValidationError")
    for key in held:
        operations.drop(cloud.store, key)


_WRITES: Mapping[str, Callable[[EmulatedCloud, ServerRequest, StoredResource | None, RequestBody], RequestBody]] = {
    "microsoft.authorization/roleassignments": _assignment,
    "microsoft.dataprotection/backupvaults/backupinstances": _instance,
    "microsoft.keyvault/vaults": _vault,
    "microsoft.network/privateendpoints": _endpoint,
}
_DELETES: Mapping[str, Callable[[EmulatedCloud, ServerRequest], None]] = {
    "microsoft.apimanagement/service/products": _product,
}
