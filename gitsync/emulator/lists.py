"""Lists, page by page: groups, the resources of a group or a subscription, the resources of one type."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
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
from gitsync.emulator.types.recorded import ways_of

_Show = Callable[[StoredResource], dict[str, Any] | None]
"""Makes an entry of a resource, or None if the list leaves it out."""

_FILTER = re.compile(r"(resourceType|name|location) eq '([^']*)'", re.IGNORECASE)
_PRINCIPAL = re.compile(r"principalId eq '?([^' ]*)'?", re.IGNORECASE)
_EXPANSIONS = ("createdTime", "changedTime", "provisioningState")


def list_groups(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET of the resource groups of a subscription."""
    cloud = list_faults.apply_lag(cloud, call)
    cloud.demand_place(call)
    return _make_page(cloud, call, _list_children(cloud, call.target), partial(_build_whole, cloud))


def list_resources(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET of the resources of a group or a subscription: tracked resources only, without their properties."""
    cloud = list_faults.apply_lag(cloud, call)
    cloud.demand_place(call)
    wanted = _parse_filter(call.query.get("$filter", ""))
    expand = [name for name in _EXPANSIONS if name in call.query.get("$expand", "")]

    def show(resource: StoredResource) -> dict[str, Any] | None:
        is_listed = resource.body.get("location") and _read_filter_values(resource, wanted) == wanted
        return build_summary(resource) | _expand(resource, expand) if is_listed else None

    keys = cloud.store.keys(call.target.key.rpartition("/")[0] + "/")
    return _make_page(cloud, call, [key for key in keys if "/providers/" in key], show)


def list_collection(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET of the resources of one type: below a parent, a group, a scope, or anywhere in a subscription."""
    if actions.is_further_page(call):
        return actions.run(cloud, call)
    cloud = list_faults.apply_lag(cloud, call)
    cloud.demand_place(call)
    list_scopes.demand_list(call)
    principal = _PRINCIPAL.search(call.query.get("$filter", ""))

    def show(resource: StoredResource) -> dict[str, Any] | None:
        is_listed = principal is None or _has_principal(resource, principal[1])
        return _build_whole(cloud, resource) if is_listed else None

    return _make_page(cloud, call, _list_type(cloud, call), show)


def _make_page(cloud: EmulatedCloud, call: ServerRequest, keys: Iterable[str], show: _Show) -> ServerResponse:
    ways = ways_of(call.target.type)
    implied_resources = {parse(resource.id).key: resource for resource in implied.below(cloud, call.target)}

    def show_key(key: str) -> dict[str, Any] | None:
        resource = _find_listed(cloud, key) or implied_resources.get(key)
        entry = show(resource) if resource is not None else None
        if entry is None:
            return None
        listed = {name: value for name, value in entry.items() if name not in ways.unlisted}
        return list_faults.trim(listed, call.list_fault)

    places = list_faults.place(sorted({*keys, *implied_resources}), call.list_fault)
    return pages.make_page(call, places, show_key, cloud.settings.page_size, ends_empty=ways.ends_empty)


def _build_whole(cloud: EmulatedCloud, resource: StoredResource) -> dict[str, Any]:
    return build_body(cloud, parse(resource.id), resource)


def _find_listed(cloud: EmulatedCloud, key: str) -> StoredResource | None:
    resource = cloud.look(key)
    return resource if resource is not None and resource.visible and resource.hidden <= 0 else None


def _has_principal(resource: StoredResource, principal: str) -> bool:
    return str(find_value(resource.body, ("properties", "principalId"))).casefold() == principal.casefold()


def _list_type(cloud: EmulatedCloud, call: ServerRequest) -> list[str]:
    """The keys of the resources of a list's type, where the list looks."""
    target = call.target
    if list_scopes.is_record_list(target):
        zone = target.owner.key + "/"
        return [key for key in cloud.store.keys(zone) if list_scopes.is_record(key.removeprefix(zone))]
    return _list_children(cloud, target) if target.names else _list_scope(cloud, call)


def _list_children(cloud: EmulatedCloud, target: Target) -> list[str]:
    """The keys that are the list's own and a name."""
    prefix = target.key + "/"
    return [key for key in cloud.store.keys(prefix) if "/" not in key[len(prefix) :]]


def _list_scope(cloud: EmulatedCloud, call: ServerRequest) -> list[str]:
    """The keys of a type at a scope, in the groups of a subscription, and above or below if the list does."""
    scope, words = call.target.scope.casefold(), f"/providers/{call.target.type}/".casefold()
    reach = list_scopes.find_reach(call.target, call.query.get("$filter", ""))
    scopes_above = _list_scopes_above(scope) if Reach.ABOVE in reach else []
    keys = [key for above in scopes_above for key in cloud.store.keys(above + words)]
    for key in cloud.store.keys(f"{scope}/" if reach & (Reach.GROUPS | Reach.BELOW) else scope + words):
        key_scope, found, name = key.rpartition(words)
        if found and "/" not in name and (Reach.BELOW in reach or "/providers/" not in key_scope.removeprefix(scope)):
            keys.append(key)
    return keys


def _list_scopes_above(scope: str) -> list[str]:
    """Every scope that contains this one, the tenant first; paths that are no scope have no resources."""
    words = scope.split("/")
    return ["/".join(words[:count]) for count in range(1, len(words))] if scope else []


def _read_filter_values(resource: StoredResource, names: Iterable[str]) -> dict[str, str]:
    """The values that a filter compares, without case."""
    target = parse(resource.id)
    values = {"resourcetype": target.type, "name": target.name, "location": str(resource.body.get("location", ""))}
    return {name: values[name].casefold() for name in names}


def _parse_filter(text: str) -> dict[str, str]:
    conditions = {}
    for part in filter(None, re.split(r"\s+and\s+", text.strip(), flags=re.IGNORECASE)):
        match = _FILTER.fullmatch(part.strip())
        if match is None:
            raise refuse("InvalidFilterInQueryString", filter=text)
        conditions[match[1].casefold()] = match[2].casefold()
    return conditions


def _expand(resource: StoredResource, names: list[str]) -> dict[str, str]:
    values = {
        "createdTime": resource.created,
        "changedTime": resource.changed,
        "provisioningState": resource.state,
    }
    return {name: values[name] for name in names}
