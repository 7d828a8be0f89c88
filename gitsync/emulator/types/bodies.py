"""The body of a resource: the stored form, and the form that its provider returns.

A stored body has no members that the provider decides, and no embedded children. Azure embeds some children in their
parent: a subnet is a resource, and an entry of its virtual network as well. A child is stored only as its own resource,
so the two can never differ. The answers for the parent are assembled from its children; as in Azure, a PUT of the
parent that omits a child deletes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from gitsync.emulator.http.target import PathShape, Target, parse
from gitsync.emulator.lro.operations import SUCCEEDED, drop_with_children
from gitsync.emulator.patch import GONE, find_value, set_value
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.deleted_resources import SOFT_DELETES
from gitsync.emulator.state.identity_lives import choose_seed
from gitsync.emulator.state.store import Store, StoredResource
from gitsync.emulator.types.behaviour import TypeBehaviour, choose_behaviour, spell, spell_in_ids
from gitsync.emulator.types.implicit_resources import ENDPOINT_TYPE, add_connection_states
from gitsync.emulator.types.provider_fields import add_provider_fields
from gitsync.emulator.types.rewrite import rewrite_body

_READ_ONLY = frozenset({"id", "name", "type", "etag", "eTag", "systemData"})
"""Members that the URL or the provider decides; a body cannot set them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyOrigin:
    """The origin of a body."""

    api_version: str
    by: str
    hide: int = 0  # the number of reads after a create that return "not found"


def drop_read_only(body: Mapping[str, Any], *, sends_state: bool = False) -> dict[str, Any]:
    """Return a body without the read-only members; with `sends_state` its provisioningState is not one."""
    decided = {name: value for name, value in body.items() if name not in _READ_ONLY}
    properties = body.get("properties")
    if not sends_state and isinstance(properties, Mapping) and "provisioningState" in properties:
        decided["properties"] = {name: value for name, value in properties.items() if name != "provisioningState"}
    return decided


def make_stored(cloud: EmulatedCloud, target: Target, body: Mapping[str, Any], origin: BodyOrigin) -> StoredResource:
    """Make the value to store for a body, without an operation; an existing resource keeps its id, number and creation
    time.
    """
    now = cloud.format_now()
    before = cloud.store.resource(target.key)
    if before is None:  # its number keeps the order of creation, for embedded children
        return StoredResource(
            id=target.path,
            body=body,
            api_version=origin.api_version,
            number=cloud.take_number(),
            created=now,
            changed=now,
            by=origin.by,
            hidden=origin.hide,
        )
    settled = replace(before, state=SUCCEEDED, operation="", visible=True)
    return replace(settled, body=body, api_version=origin.api_version, version=before.version + 1, changed=now)


@dataclass(frozen=True, slots=True)
class EmbeddedList:
    """A list of children in the body of their parent."""

    path: tuple[str, ...]  # leads to the list in the parent's body
    type: str  # the last word of the child's type
    always: bool = True  # an empty list is shown
    removes: bool = True  # a PUT without the list deletes all of them


EMBEDDED: Mapping[str, tuple[EmbeddedList, ...]] = {
    "microsoft.compute/virtualmachinescalesets": (
        EmbeddedList(
            ("properties", "virtualMachineProfile", "extensionProfile", "extensions"), "extensions", always=False
        ),
    ),
    "microsoft.network/loadbalancers": (EmbeddedList(("properties", "inboundNatRules"), "inboundNatRules"),),
    "microsoft.network/networksecuritygroups": (EmbeddedList(("properties", "securityRules"), "securityRules"),),
    "microsoft.network/routetables": (EmbeddedList(("properties", "routes"), "routes"),),
    "microsoft.network/virtualnetworks": (
        EmbeddedList(("properties", "subnets"), "subnets"),
        EmbeddedList(("properties", "virtualNetworkPeerings"), "virtualNetworkPeerings", removes=False),
    ),
}


def list_embedded_lists(kind: str) -> tuple[EmbeddedList, ...]:
    """List the lists that a type embeds."""
    return EMBEDDED.get(kind.casefold(), ())


def find_misshapen_list(kind: str, body: Mapping[str, Any]) -> str:
    """Find the path of the first member that has the wrong type for an embedded list; "" if all are valid."""
    for embedded in list_embedded_lists(kind):
        value: Any = body
        for depth, name in enumerate(embedded.path, 1):
            value = value.get(name)
            if value is None:
                break
            if depth < len(embedded.path):
                fits = isinstance(value, Mapping)
            else:
                fits = isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value)
            if not fits:
                return ".".join(embedded.path[:depth])
    return ""


def take_children(
    body: Mapping[str, Any], embedded: EmbeddedList
) -> tuple[dict[str, Any], list[Mapping[str, Any]] | None]:
    """Split a parent's body into the rest of it and the list; None if it has no list."""
    value = find_value(body, embedded.path)
    if not isinstance(value, list):
        return dict(body), None
    pointer = "/" + "/".join(embedded.path)
    # A child without a name has no id, so it cannot be stored.
    return set_value(body, pointer, GONE), [
        child for child in value if isinstance(child, Mapping) and child.get("name")
    ]


def list_children(store: Store, key: str, embedded: EmbeddedList) -> list[tuple[str, StoredResource]]:
    """List the children of one kind, the oldest first."""
    prefix = f"{key}/{embedded.type.casefold()}/"
    # The prefix also has what is below a child, such as the lock of a subnet.
    rows = [(child_key, child) for child_key, child in store.below(prefix) if "/" not in child_key[len(prefix) :]]
    return sorted(rows, key=lambda pair: pair[1].number)


def store_children(
    cloud: EmulatedCloud, target: Target, body: Mapping[str, Any], origin: BodyOrigin, *, replaces: bool
) -> Any:
    """Store the children that a parent's body embeds, and return the body without them.

    A body that `replaces` the last one (of a PUT) without a list deletes its children; a list always deletes those that
    it does not name.
    """
    for embedded in list_embedded_lists(target.type):
        body, desired = take_children(body, embedded)
        if desired is None and not (replaces and embedded.removes):
            continue  # a PATCH, or a type whose PUT without the list keeps the children
        prefix = f"{target.key}/{embedded.type.casefold()}/"
        kept_keys = {prefix + child["name"].casefold() for child in desired or ()}
        for key, _ in list_children(cloud.store, target.key, embedded):
            if key not in kept_keys:
                drop_with_children(cloud.store, key)
        for child in desired or ():
            child_target = parse(f"{target.path}/{embedded.type}/{child['name']}")
            cloud.store.put_resource(child_target.key, make_stored(cloud, child_target, drop_read_only(child), origin))
    return body


def embed_children(cloud: EmulatedCloud, target: Target, body: Mapping[str, Any]) -> Any:
    """Embed the stored children in a stored body, each as it was sent."""
    for embedded in list_embedded_lists(target.type):
        child_rows = list_children(cloud.store, target.key, embedded)
        # Without children, an empty list must not create the objects on the way to it.
        if child_rows or find_value(body, embedded.path[:-1]) is not None:
            entries = [{"name": parse(child.id).name, **child.body} for _, child in child_rows]
            body = set_value(body, "/" + "/".join(embedded.path), entries)
    return body


# Values that Azure accepts and never returns. The names are those that providers declare as secret, and those that
# recorded answers lack. They are matched in full, so `secretName` and `disablePasswordAuthentication` stay.


_TEXT = re.compile(
    r".*password$|.*sharedkey$|.*(access|account|sas|private|api|primary|secondary|workspace|master|admin)key$"
    r"|(client|server|app|serverapp|radiusserver|pull|shared)?secret$|secret(key|value|accesskey)$|secure(value|string)$"
    r"|.*(sas|security|refresh|access|developer|migration|databricksaccess)token$|token|pat|pem|.*privatekeydata$"
    r"|.*connectionstring$|customdata|certificate(value|data)$"
)

_ATOMIC = frozenset({"protectedsettings", "protectedsettingsfromkeyvault"})
_EMPTIED = frozenset({"configurationprotectedsettings"})
"""Objects whose members are shown with empty values."""


def hide_secrets(value: Any) -> Any:
    """Return a body as in the answer to a GET."""
    if isinstance(value, dict):
        return {
            name: _show_member(name, member)
            for name, member in value.items()
            # Only a text is hidden by its name: an object is searched member by member, and a switch is shown.
            if not (name.casefold() in _ATOMIC or (isinstance(member, str) and _is_secret_name(name)))
        }
    if isinstance(value, list):
        return [hide_secrets(item) if isinstance(item, dict | list) else item for item in value]
    return value


def _show_member(name: str, member: Any) -> Any:
    if not isinstance(member, dict | list):
        return member
    if isinstance(member, dict) and name.casefold() in _EMPTIED:
        return dict.fromkeys(member, "")
    return hide_secrets(member)


# Bodies repeat the same member names, and the pattern has many alternatives.
@lru_cache(maxsize=4096)
def _is_secret_name(name: str) -> bool:
    return _TEXT.fullmatch(name.casefold()) is not None


def build_body(cloud: EmulatedCloud, target: Target, resource: StoredResource) -> dict[str, Any]:
    """Build the complete body of a resource or group; `target` names it in any case."""
    kind = parse(resource.id)
    behaviour = choose_behaviour(kind.type)
    # In this order: the rewrite applies to what the provider adds, and children are shown in their own form.
    body = hide_secrets(resource.body)
    body = add_provider_fields(kind.type, resource.id, body, cloud.settings.tenant, partial(choose_seed, cloud.store))
    body = _apply_type_rules(kind, resource, body)
    if cloud.settings.rewrite:
        body = rewrite_body(kind.type, body, kind.subscription)
    for embedded in list_embedded_lists(kind.type):
        body = _add_children(cloud, target, body, embedded)
    head = {"id": _make_id(kind, behaviour), "name": _make_name(kind, behaviour), "type": spell(kind.type)}
    return _add_shown(resource, head | _add_state(resource, behaviour, body))


def _add_shown(resource: StoredResource, answer: dict[str, Any]) -> dict[str, Any]:
    for pointer, value in resource.shown.items():
        with suppress(KeyError):  # for an entry that its list no longer has
            answer = set_value(answer, pointer, value)
    return answer


def _apply_type_rules(kind: Target, resource: StoredResource, body: Mapping[str, Any]) -> Mapping[str, Any]:
    arm_type = kind.type.casefold()
    if arm_type == ENDPOINT_TYPE:
        return add_connection_states(resource.id, body)
    soft = SOFT_DELETES.get(arm_type)
    if soft is not None and soft.recover is not None and find_value(body, ("properties", soft.recover[0])) is not None:
        # The way of its creation is not part of the state.
        return dict(set_value(body, f"/properties/{soft.recover[0]}", GONE))
    return body


def _add_state(resource: StoredResource, behaviour: TypeBehaviour, body: Mapping[str, Any]) -> dict[str, Any]:
    answer = dict(body)
    properties = body.get("properties")
    if behaviour.state and (properties is None or isinstance(properties, Mapping)):
        state = behaviour.ready if resource.state == "Succeeded" else resource.state
        answer["properties"] = {**(properties or {}), "provisioningState": state}
    if behaviour.etag:
        answer[behaviour.etag] = resource.etag
    if behaviour.system_data:
        answer["systemData"] = _make_system_data(resource)
    return answer


def build_summary(resource: StoredResource) -> dict[str, Any]:
    """Build a resource as the lists of a group and of a subscription show it: without properties."""
    target = parse(resource.id)
    behaviour = choose_behaviour(target.type)
    members = ("location", "tags", "sku", "kind", "identity", "managedBy", "zones", "plan", "extendedLocation")
    head = {"id": _make_id(target, behaviour), "name": _make_name(target, behaviour), "type": spell(target.type)}
    return head | {name: resource.body[name] for name in members if name in resource.body}


def _add_children(cloud: EmulatedCloud, target: Target, body: Mapping[str, Any], embedded: EmbeddedList) -> Any:
    child_rows = list_children(cloud.store, target.key, embedded)
    if not child_rows and not embedded.always:
        return body  # the member is missing, as if it had never been sent
    entries = [build_body(cloud, parse(child.id), child) for _, child in child_rows]
    return set_value(body, "/" + "/".join(embedded.path), entries)


def _make_id(target: Target, behaviour: TypeBehaviour) -> str:
    path = target.path
    if behaviour.spelled_in_ids and target.shape is PathShape.RESOURCE:
        namespace, *types = spell_in_ids(target.type).split("/")
        pairs = [word for pair in zip(types, target.names, strict=True) for word in pair]
        path = "/".join((f"{target.scope}/providers", namespace, *pairs))
    # Only the first one: further on, a name may be the same word.
    path = path.replace("/resourceGroups/", f"/{behaviour.group_word}/", 1)
    return path.casefold() if behaviour.lowers_ids else path


def _make_name(target: Target, behaviour: TypeBehaviour) -> str:
    return "/".join(target.names) if behaviour.long_name else target.name


def _make_system_data(resource: StoredResource) -> dict[str, str]:
    return {
        "createdBy": resource.by,
        "createdByType": "Application",
        "createdAt": resource.created,
        "lastModifiedBy": resource.by,
        "lastModifiedByType": "Application",
        "lastModifiedAt": resource.changed,
    }
