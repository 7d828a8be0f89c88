"""The stored form of a body: without the members that the provider decides, and without embedded children.

A child is stored only as a resource of its own; so an entry of a virtual network and the subnet that it names can never
differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gitsync.emulator.http.target import Target, parse
from gitsync.emulator.lro import operations
from gitsync.emulator.patch import find_value, set_value
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.stored import StoredResource
from gitsync.emulator.types import embedded_children as children

_READ_ONLY = frozenset({"id", "name", "type", "etag", "eTag", "systemData"})
"""Members that the URL or the provider decides; a body cannot set them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyOrigin:
    """The origin of a body; `hide` is how many reads after a create answer "not found"."""

    api_version: str
    by: str
    hide: int = 0


def own(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body without the members that its sender does not decide."""
    decided = {name: value for name, value in body.items() if name not in _READ_ONLY}
    properties = body.get("properties")
    if isinstance(properties, Mapping) and "provisioningState" in properties:
        decided["properties"] = {name: value for name, value in properties.items() if name != "provisioningState"}
    return decided


def resource(cloud: EmulatedCloud, target: Target, body: Mapping[str, Any], origin: BodyOrigin) -> StoredResource:
    """The value to store for a body, settled; the one that is there keeps its id, number and creation."""
    now = cloud.time()
    before = cloud.store.resource(target.key)
    if before is None:
        return StoredResource(
            id=target.path,
            body=body,
            api_version=origin.api_version,
            number=cloud.number(),
            created=now,
            changed=now,
            by=origin.by,
            hidden=origin.hide,
        )
    settled = replace(before, state=operations.SUCCEEDED, operation="", visible=True)
    return replace(settled, body=body, api_version=origin.api_version, version=before.version + 1, changed=now)


def without_children(
    cloud: EmulatedCloud, target: Target, body: Mapping[str, Any], origin: BodyOrigin, *, whole: bool
) -> Any:
    """Store the children that a parent's body embeds; the body without them.

    A `whole` body without a list deletes its children; a list always deletes those that it does not name.
    """
    for embedded in children.find_embedded(target.type):
        body, desired = children.take_children(body, embedded)
        if desired is None and not (whole and embedded.removes):
            continue
        prefix = f"{target.key}/{embedded.type.casefold()}/"
        kept_keys = {prefix + child["name"].casefold() for child in desired or ()}
        for key, _ in children.store_child(cloud.store, target.key, embedded):
            if key not in kept_keys:
                operations.drop(cloud.store, key)
        for child in desired or ():
            child_target = parse(f"{target.path}/{embedded.type}/{child['name']}")
            cloud.store.put_resource(child_target.key, resource(cloud, child_target, own(child), origin))
    return body


def with_children(cloud: EmulatedCloud, target: Target, body: Mapping[str, Any]) -> Any:
    """A stored body with the children that it embeds, each as it was sent."""
    for embedded in children.find_embedded(target.type):
        child_rows = children.store_child(cloud.store, target.key, embedded)
        if child_rows or find_value(body, embedded.path[:-1]) is not None:
            entries = [{"name": parse(child.id).name, **child.body} for _, child in child_rows]
            body = set_value(body, "/" + "/".join(embedded.path), entries)
    return body
