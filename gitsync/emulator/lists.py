"""Lists, page by page: groups, the resources of a group or a subscription, the resources of one type."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Any

from gitsync.emulator.http import pages
from gitsync.emulator.http.answers import ServerResponse, refuse
from gitsync.emulator.http.call import ServerRequest
from gitsync.emulator.http.target import PathShape, Target, parse
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.stored import StoredResource
from gitsync.emulator.types import actions
from gitsync.emulator.types import implicit_resources as implied
from gitsync.emulator.types.answered_body import build_body, build_summary

_Row = tuple[str, StoredResource]
_FILTER = re.compile(r"(resourceType|name|location) eq '([^']*)'", re.IGNORECASE)
_EXPANSIONS = ("createdTime", "changedTime", "provisioningState")


def list_groups(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET of the resource groups of a subscription."""
    cloud.demand_place(call)
    rows = [row for row in _list_visible(cloud, call.target.key + "/") if parse(row[1].id).shape is PathShape.GROUP]
    return pages.make_page(call, rows, lambda entry: _build_whole(cloud, entry), cloud.settings.page_size)


def list_resources(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET of the resources of a group or a subscription: tracked resources only, without their properties."""
    cloud.demand_place(call)
    parent_key = call.target.key.rpartition("/")[0]
    rows = [row for row in _list_visible(cloud, parent_key + "/") if _is_tracked(row[1])]
    for name, value in _parse_filter(call.query.get("$filter", "")).items():
        rows = [row for row in rows if _read_filter_values(row[1])[name].casefold() == value.casefold()]
    expand = [name for name in _EXPANSIONS if name in call.query.get("$expand", "")]
    max_entries = cloud.settings.page_size
    return pages.make_page(call, rows, lambda entry: build_summary(entry) | _expand(entry, expand), max_entries)


def list_collection(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET of the resources of one type: below a parent, a group, a scope, or anywhere in a subscription."""
    if actions.is_further_page(call):
        return actions.run(cloud, call)
    cloud.demand_place(call)
    target = call.target
    wanted_type = target.type.casefold()
    is_whole_subscription = target.shape is PathShape.COLLECTION and not target.names and not target.group
    prefix = f"{target.scope}/".casefold() if is_whole_subscription else target.key + "/"
    rows = [row for row in _list_visible(cloud, prefix) if _is_listed(row[0], row[1], target, wanted_type)]
    stored_keys = {key for key, _ in rows}
    implied_rows = [
        (parse(implied_resource.id).key, implied_resource) for implied_resource in implied.below(cloud, target)
    ]
    rows = sorted([*rows, *(row for row in implied_rows if row[0] not in stored_keys)], key=itemgetter(0))
    return pages.make_page(call, rows, lambda entry: _build_whole(cloud, entry), cloud.settings.page_size)


def _build_whole(cloud: EmulatedCloud, resource: StoredResource) -> dict[str, Any]:
    return build_body(cloud, parse(resource.id), resource)


def _is_listed(key: str, resource: StoredResource, target: Target, wanted_type: str) -> bool:
    resource_target = parse(resource.id)
    if resource_target.type.casefold() != wanted_type:
        return False
    if not target.names and not target.group:  # a subscription or the tenant: resources in its groups too
        return target.subscription.casefold() == resource_target.subscription.casefold()
    return "/" not in key[len(target.key) + 1 :]


def _list_visible(cloud: EmulatedCloud, prefix: str) -> list[_Row]:
    rows = []
    for key, stored in cloud.store.below(prefix):
        resource = cloud.look(key) if stored.operation else stored
        if resource is not None and resource.visible and resource.hidden <= 0:
            rows.append((key, resource))
    return rows


def _is_tracked(resource: StoredResource) -> bool:
    target = parse(resource.id)
    return target.shape is PathShape.RESOURCE and bool(resource.body.get("location"))


def _read_filter_values(resource: StoredResource) -> dict[str, str]:
    target = parse(resource.id)
    location = str(resource.body.get("location", ""))
    return {"resourcetype": target.type, "name": target.name, "location": location}


def _parse_filter(text: str) -> dict[str, str]:
    conditions = {}
    for part in filter(None, re.split(r"\s+and\s+", text.strip(), flags=re.IGNORECASE)):
        match = _FILTER.fullmatch(part.strip())
        if match is None:
            raise refuse("InvalidFilterInQueryString", filter=text)
        conditions[match[1].casefold()] = match[2]
    return conditions


def _expand(resource: StoredResource, names: list[str]) -> dict[str, str]:
    values = {
        "createdTime": resource.created,
        "changedTime": resource.changed,
        "provisioningState": resource.state,
    }
    return {name: values[name] for name in names}
