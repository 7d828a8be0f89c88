"""Lists, page by page: groups, what a group or a subscription holds, the resources of one type."""

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
    rows = [row for row in _visible(cloud, call.target.key + "/") if parse(row[1].id).shape is PathShape.GROUP]
    return pages.make_page(call, rows, lambda entry: _whole(cloud, entry), cloud.settings.page_size)


def list_resources(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET of what a group or a subscription holds: tracked resources only, without their properties."""
    cloud.demand_place(call)
    above = call.target.key.rpartition("/")[0]
    rows = [row for row in _visible(cloud, above + "/") if _is_tracked(row[1])]
    for name, wanted in _filter(call.query.get("$filter", "")).items():
        rows = [row for row in rows if _words(row[1])[name].casefold() == wanted.casefold()]
    expand = [name for name in _EXPANSIONS if name in call.query.get("$expand", "")]
    most = cloud.settings.page_size
    return pages.make_page(call, rows, lambda entry: build_summary(entry) | _expanded(entry, expand), most)


def list_collection(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET of the resources of one type: below a parent, a group, a scope, or anywhere in a subscription."""
    if actions.is_further_page(call):
        return actions.run(cloud, call)
    cloud.demand_place(call)
    target = call.target
    wanted = target.type.casefold()
    wide = target.shape is PathShape.COLLECTION and not target.names and not target.group
    start = f"{target.scope}/".casefold() if wide else target.key + "/"
    rows = [row for row in _visible(cloud, start) if _is_listed(row[0], row[1], target, wanted)]
    stored = {key for key, _ in rows}
    others = [(parse(made.id).key, made) for made in implied.below(cloud, target)]
    rows = sorted([*rows, *(row for row in others if row[0] not in stored)], key=itemgetter(0))
    return pages.make_page(call, rows, lambda entry: _whole(cloud, entry), cloud.settings.page_size)


def _whole(cloud: EmulatedCloud, resource: StoredResource) -> dict[str, Any]:
    return build_body(cloud, parse(resource.id), resource)


def _is_listed(key: str, resource: StoredResource, asked: Target, wanted: str) -> bool:
    found = parse(resource.id)
    if found.type.casefold() != wanted:
        return False
    if not asked.names and not asked.group:  # a subscription or the tenant: whatever stands in its groups too
        return asked.subscription.casefold() == found.subscription.casefold()
    return "/" not in key[len(asked.key) + 1 :]


def _visible(cloud: EmulatedCloud, prefix: str) -> list[_Row]:
    found = []
    for key, stored in cloud.store.below(prefix):
        resource = cloud.look(key) if stored.operation else stored
        if resource is not None and resource.visible and resource.hidden <= 0:
            found.append((key, resource))
    return found


def _is_tracked(resource: StoredResource) -> bool:
    target = parse(resource.id)
    return target.shape is PathShape.RESOURCE and bool(resource.body.get("location"))


def _words(resource: StoredResource) -> dict[str, str]:
    target = parse(resource.id)
    location = str(resource.body.get("location", ""))
    return {"resourcetype": target.type, "name": target.name, "location": location}


def _filter(text: str) -> dict[str, str]:
    wanted = {}
    for part in filter(None, re.split(r"\s+and\s+", text.strip(), flags=re.IGNORECASE)):
        match = _FILTER.fullmatch(part.strip())
        if match is None:
            raise refuse("InvalidFilterInQueryString", filter=text)
        wanted[match[1].casefold()] = match[2]
    return wanted


def _expanded(resource: StoredResource, names: list[str]) -> dict[str, str]:
    values = {
        "createdTime": resource.created,
        "changedTime": resource.changed,
        "provisioningState": resource.state,
    }
    return {name: values[name] for name in names}
