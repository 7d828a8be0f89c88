"""Lists, page by page: groups, the resources of a group or a subscription, the resources of one type."""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from gitsync.emulator import list_faults
from gitsync.emulator.http import pages
from gitsync.emulator.http.answers import ServerResponse, refuse
from gitsync.emulator.http.call import ServerRequest
from gitsync.emulator.http.target import Target, parse
from gitsync.emulator.patch import find_value
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.stored import StoredResource
from gitsync.emulator.types import actions, list_scopes
from gitsync.emulator.types import implicit_resources as implied
from gitsync.emulator.types.answered_body import build_body, build_summary
from gitsync.emulator.types.list_scopes import Reach

_Row = tuple[str, StoredResource]
_FILTER = re.compile(r"(resourceType|name|location) eq '([^']*)'", re.IGNORECASE)
_PRINCIPAL = re.compile(r"principalId eq '?([^' ]*)'?", re.IGNORECASE)
_EXPANSIONS = ("createdTime", "changedTime", "provisioningState")


def list_groups(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET of the resource groups of a subscription."""
    cloud = list_faults.apply_lag(cloud, call)
    cloud.demand_place(call)
    return _make_page(cloud, call, _list_children(cloud, call.target))


def list_resources(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET of the resources of a group or a subscription: tracked resources only, without their properties."""
    cloud = list_faults.apply_lag(cloud, call)
    cloud.demand_place(call)
    parent_key = call.target.key.rpartition("/")[0]
    rows = [row for row in _list_visible(cloud, parent_key + "/") if _is_tracked(*row)]
    for name, value in _parse_filter(call.query.get("$filter", "")).items():
        rows = [row for row in rows if _read_filter_values(row[1])[name].casefold() == value.casefold()]
    expand = [name for name in _EXPANSIONS if name in call.query.get("$expand", "")]
    return pages.make_page(
        call,
        list_faults.spoil(rows, call.list_fault),
        lambda entry: list_faults.trim(build_summary(entry) | _expand(entry, expand), call.list_fault),
        cloud.settings.page_size,
    )


def list_collection(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET of the resources of one type: below a parent, a group, a scope, or anywhere in a subscription."""
    if actions.is_further_page(call):
        return actions.run(cloud, call)
    cloud = list_faults.apply_lag(cloud, call)
    cloud.demand_place(call)
    list_scopes.demand_list(call)
    implied_rows = {parse(resource.id).key: resource for resource in implied.below(cloud, call.target)}
    rows = implied_rows | dict(_list_type(cloud, call))
    return _make_page(cloud, call, sorted(rows.items(), key=itemgetter(0)))


def _make_page(cloud: EmulatedCloud, call: ServerRequest, rows: Iterable[_Row]) -> ServerResponse:
    """A page of whole bodies."""

    def build_entry(resource: StoredResource) -> dict[str, Any]:
        return list_faults.trim(build_body(cloud, parse(resource.id), resource), call.list_fault)

    return pages.make_page(call, list_faults.spoil(rows, call.list_fault), build_entry, cloud.settings.page_size)


def _list_type(cloud: EmulatedCloud, call: ServerRequest) -> list[_Row]:
    target = call.target
    if list_scopes.is_record_list(target):
        zone = target.owner.key + "/"
        return [row for row in _list_visible(cloud, zone) if list_scopes.is_record(row[0].removeprefix(zone))]
    return _list_children(cloud, target) if target.names else _list_scope(cloud, call)


def _list_children(cloud: EmulatedCloud, target: Target) -> list[_Row]:
    """Those whose key is that of the list and a name."""
    prefix = target.key + "/"
    return [row for row in _list_visible(cloud, prefix) if "/" not in row[0][len(prefix) :]]


def _list_scope(cloud: EmulatedCloud, call: ServerRequest) -> list[_Row]:
    """The resources of a type at a scope, in the groups of a subscription, and above or below if the list does."""
    target, query_filter = call.target, call.query.get("$filter", "")
    scope, words = target.scope.casefold(), f"/providers/{target.type}/".casefold()
    reach = list_scopes.find_reach(target, query_filter)
    scopes = _list_scopes_above(scope) if Reach.ABOVE in reach else []
    rows = [row for above in scopes for row in _list_visible(cloud, above + words)]
    for row in _list_visible(cloud, f"{scope}/" if reach & (Reach.GROUPS | Reach.BELOW) else scope + words):
        row_scope, found, name = row[0].rpartition(words)
        if found and "/" not in name and (Reach.BELOW in reach or "/providers/" not in row_scope.removeprefix(scope)):
            rows.append(row)
    return [row for row in rows if _is_principals(row[1], query_filter)]


def _list_scopes_above(scope: str) -> list[str]:
    """Every scope that contains this one, the tenant first; paths that are no scope have no resources."""
    words = scope.split("/")
    return ["/".join(words[:count]) for count in range(1, len(words))] if scope else []


def _is_principals(resource: StoredResource, query_filter: str) -> bool:
    match = _PRINCIPAL.search(query_filter)
    principal = str(find_value(resource.body, ("properties", "principalId")))
    return match is None or principal.casefold() == match[1].casefold()


def _list_visible(cloud: EmulatedCloud, prefix: str) -> list[_Row]:
    rows = []
    for key, stored in cloud.store.below(prefix):
        resource = cloud.look(key) if stored.operation else stored
        if resource is not None and resource.visible and resource.hidden <= 0:
            rows.append((key, resource))
    return rows


def _is_tracked(key: str, resource: StoredResource) -> bool:
    return "/providers/" in key and bool(resource.body.get("location"))


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
