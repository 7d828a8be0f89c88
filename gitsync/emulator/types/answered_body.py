"""What a GET shows of a resource: the stored body as its provider would give it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.emulator.http.target import PathShape, Target, parse
from gitsync.emulator.patch import GONE, find_value, set_value
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.stored import StoredResource
from gitsync.emulator.types import embedded_children as children
from gitsync.emulator.types import private_endpoints as endpoints
from gitsync.emulator.types.behaviour import Ways
from gitsync.emulator.types.provider_fields import with_made
from gitsync.emulator.types.recorded import spell, spell_in_ids, ways_of
from gitsync.emulator.types.rewrite import rewritten
from gitsync.emulator.types.secrets import without_secrets


def build_body(cloud: EmulatedCloud, target: Target, resource: StoredResource) -> dict[str, Any]:
    """The whole body of a resource or group; `target` names it in any case."""
    kind = parse(resource.id)
    ways = ways_of(kind.type)
    body = without_secrets(resource.body)
    body = with_made(kind.type, resource.id, body, cloud.settings.tenant)
    body = _special(kind, resource, body)
    if cloud.settings.rewrite:
        body = rewritten(kind.type, body, kind.subscription)
    for embedded in children.find_embedded(kind.type):
        body = _with_children(cloud, target, body, embedded)
    head = {"id": _id(kind, ways), "name": _name(kind, ways), "type": spell(kind.type)}
    return head | _with_state(resource, ways, body)


def _special(kind: Target, resource: StoredResource, body: Mapping[str, Any]) -> Mapping[str, Any]:
    match kind.type.casefold():
        case endpoints.TYPE:
            return endpoints.with_state(resource.id, body)
        case "microsoft.keyvault/vaults" if find_value(body, ("properties", "createMode")) is not None:
            return dict(set_value(body, "/properties/createMode", GONE))  # how it was made is not what it is
        case _:
            return body


def _with_state(resource: StoredResource, ways: Ways, body: Mapping[str, Any]) -> dict[str, Any]:
    shown = dict(body)
    properties = body.get("properties")
    if ways.state and (properties is None or isinstance(properties, Mapping)):
        shown["properties"] = {**(properties or {}), "provisioningState": resource.state}
    if ways.etag:
        shown[ways.etag] = resource.etag
    if ways.system_data:
        shown["systemData"] = _system_data(resource)
    return shown


def build_summary(resource: StoredResource) -> dict[str, Any]:
    """A resource as the lists of a group and of a subscription show it: without properties."""
    target = parse(resource.id)
    ways = ways_of(target.type)
    members = ("location", "tags", "sku", "kind", "identity", "managedBy", "zones", "plan", "extendedLocation")
    head = {"id": _id(target, ways), "name": _name(target, ways), "type": spell(target.type)}
    return head | {name: resource.body[name] for name in members if name in resource.body}


def _with_children(cloud: EmulatedCloud, target: Target, body: Mapping[str, Any], embedded: children.Embedded) -> Any:
    found = children.store_child(cloud.store, target.key, embedded)
    if not found and (not embedded.always or find_value(body, embedded.path[:-1]) is None):
        return body
    entries = [build_body(cloud, parse(child.id), child) for _, child in found]
    return set_value(body, "/" + "/".join(embedded.path), entries)


def _id(target: Target, ways: Ways) -> str:
    path = target.path
    if ways.spelled_in_ids and target.shape is PathShape.RESOURCE:
        namespace, *types = spell_in_ids(target.type).split("/")
        pairs = [word for pair in zip(types, target.names, strict=True) for word in pair]
        path = "/".join((f"{target.scope}/providers", namespace, *pairs))
    path = path.replace("/resourceGroups/", f"/{ways.group_word}/", 1)
    return path.casefold() if ways.lowers_ids else path


def _name(target: Target, ways: Ways) -> str:
    return "/".join(target.names) if ways.long_name else target.name


def _system_data(resource: StoredResource) -> dict[str, str]:
    return {
        "createdBy": resource.by,
        "createdByType": "Application",
        "createdAt": resource.created,
        "lastModifiedBy": resource.by,
        "lastModifiedByType": "Application",
        "lastModifiedAt": resource.changed,
    }
