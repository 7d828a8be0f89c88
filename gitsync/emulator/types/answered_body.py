"""The body of a resource in answers: the stored body as its provider would return it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
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


def build_body(cloud: EmulatedCloud, target: Target, resource: StoredResource) -> dict[str, Any]:
    """The whole body of a resource or group; `target` names it in any case."""
    kind = parse(resource.id)
    ways = ways_of(kind.type)
    body = without_secrets(resource.body)
    body = with_made(kind.type, resource.id, body, cloud.settings.tenant)
    body = _apply_type_rules(kind, resource, body)
    if cloud.settings.rewrite:
        body = rewritten(kind.type, body, kind.subscription)
    for embedded in children.find_embedded(kind.type):
        body = _add_children(cloud, target, body, embedded)
    head = {"id": _make_id(kind, ways), "name": _make_name(kind, ways), "type": spell(kind.type)}
    return head | _add_state(resource, ways, body)


def _apply_type_rules(kind: Target, resource: StoredResource, body: Mapping[str, Any]) -> Mapping[str, Any]:
    match kind.type.casefold():
        case endpoints.TYPE:
            return endpoints.with_state(resource.id, body)
        case "microsoft.keyvault/vaults" if find_value(body, ("properties", "createMode")) is not None:
            return dict(
                set_value(body, "/properties/createMode", GONE)
            )  # the mode of creation is not part of the state
        case _:
            return body


def _add_state(resource: StoredResource, ways: Ways, body: Mapping[str, Any]) -> dict[str, Any]:
    answer = dict(body)
    properties = body.get("properties")
    if ways.state and (properties is None or isinstance(properties, Mapping)):
        answer["properties"] = {**(properties or {}), "provisioningState": resource.state}
    if ways.etag:
        answer[ways.etag] = resource.etag
    if ways.system_data:
        answer["systemData"] = _make_system_data(resource)
    return answer


def build_summary(resource: StoredResource) -> dict[str, Any]:
    """A resource as the lists of a group and of a subscription show it: without properties."""
    target = parse(resource.id)
    ways = ways_of(target.type)
    members = ("location", "tags", "sku", "kind", "identity", "managedBy", "zones", "plan", "extendedLocation")
    head = {"id": _make_id(target, ways), "name": _make_name(target, ways), "type": spell(target.type)}
    return head | {name: resource.body[name] for name in members if name in resource.body}


def _add_children(cloud: EmulatedCloud, target: Target, body: Mapping[str, Any], embedded: children.Embedded) -> Any:
    child_rows = children.store_child(cloud.store, target.key, embedded)
    if not child_rows and not embedded.always:
        return body
    entries = [build_body(cloud, parse(child.id), child) for _, child in child_rows]
    return set_value(body, "/" + "/".join(embedded.path), entries)


def _make_id(target: Target, ways: Ways) -> str:
    path = target.path
    if ways.spelled_in_ids and target.shape is PathShape.RESOURCE:
        namespace, *types = spell_in_ids(target.type).split("/")
        pairs = [word for pair in zip(types, target.names, strict=True) for word in pair]
        path = "/".join((f"{target.scope}/providers", namespace, *pairs))
    path = path.replace("/resourceGroups/", f"/{ways.group_word}/", 1)
    return path.casefold() if ways.lowers_ids else path


def _make_name(target: Target, ways: Ways) -> str:
    return "/".join(target.names) if ways.long_name else target.name


def _make_system_data(resource: StoredResource) -> dict[str, str]:
    return {
        "createdBy": resource.by,
        "createdByType": "Application",
        "createdAt": resource.created,
        "lastModifiedBy": resource.by,
        "lastModifiedByType": "Application",
        "lastModifiedAt": resource.changed,
    }


# The values that Azure accepts and never returns.
#
# Names were collected from what providers declare as secret and from what they were recorded to leave out; they are
# matched whole, so that `secretName` and `disablePasswordAuthentication` stay.


_TEXT = re.compile(
    r".*password$|.*sharedkey$|.*(access|account|sas|private|api|primary|secondary|workspace|master|admin)key$"
    r"|(client|server|app|serverapp|radiusserver|pull|shared)?secret$|secret(key|value|accesskey)$|secure(value|string)$"
    r"|.*(sas|security|refresh|access|developer|migration|databricksaccess)token$|token|pat|pem|.*privatekeydata$"
    r"|.*connectionstring$|customdata|certificate(value|data)$"
)
_WHOLE = frozenset({"protectedsettings", "protectedsettingsfromkeyvault"})
_EMPTIED = frozenset({"configurationprotectedsettings"})
"""Objects whose members are shown with empty values."""


def without_secrets(value: Any) -> Any:
    """A body as a GET shows it."""
    if isinstance(value, dict):
        return {name: _show_member(name, member) for name, member in value.items() if not _is_secret(name, member)}
    if isinstance(value, list):
        return [without_secrets(item) if isinstance(item, dict | list) else item for item in value]
    return value


def _show_member(name: str, member: Any) -> Any:
    if not isinstance(member, dict | list):
        return member
    if isinstance(member, dict) and name.casefold() in _EMPTIED:
        return dict.fromkeys(member, "")
    return without_secrets(member)


def _is_secret(name: str, member: Any) -> bool:
    return (isinstance(member, str) and _is_secret_name(name)) or name.casefold() in _WHOLE


@lru_cache(maxsize=4096)
def _is_secret_name(name: str) -> bool:
    return _TEXT.fullmatch(name.casefold()) is not None
