"""Lists, page by page: groups, the resources of a group or a subscription, the resources of one type.

By ARM's contract a type is listed in its parent, or in a group and in a subscription if it has no parent, or at its
scope if it extends another resource. The tables have the exceptions in Azure's public API descriptions. A script can
make a list wrong: its entries can be missing, trimmed, stale, duplicated or out of order.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Flag, auto
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from gitsync.emulator.governance.policies import covers
from gitsync.emulator.http.messages import ListFault, ServerRequest, ServerResponse, make_page, refuse, refuse_method
from gitsync.emulator.http.target import PathShape, Target, parse
from gitsync.emulator.identity.access import grants
from gitsync.emulator.patch import GONE, change_at, find_value
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import PastStore, StoredResource
from gitsync.emulator.types.actions import is_action_page, run_action
from gitsync.emulator.types.behaviour import choose_behaviour
from gitsync.emulator.types.bodies import build_body, build_summary
from gitsync.emulator.types.implicit_resources import list_implied

_Show = Callable[[StoredResource], dict[str, Any] | None]
"""Makes an entry from a resource, or None if the list omits it."""

_FILTER = re.compile(r"(resourceType|name|location) eq '([^']*)'", re.IGNORECASE)
_PRINCIPAL = re.compile(r"principalId eq '?([^' ]*)'?", re.IGNORECASE)
_EXPANSIONS = ("createdTime", "changedTime", "provisioningState")


def list_groups(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer the GET of the resource groups of a subscription."""
    cloud = apply_lag(cloud, request)
    cloud.require_scope(request)
    return _make_page(cloud, request, _list_children(cloud, request.target), partial(_build_full, cloud))


def list_resources(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer the GET of the resources of a group or a subscription: tracked resources only, without their
    properties.
    """
    cloud = apply_lag(cloud, request)
    cloud.require_scope(request)
    wanted = _parse_filter(request.query.get("$filter", ""))
    expand = [name for name in _EXPANSIONS if name in request.query.get("$expand", "")]

    def show(resource: StoredResource) -> dict[str, Any] | None:
        # Only tracked resources, which have a location, are listed, and only those that the caller may read.
        target = parse(resource.id)
        may_read = grants(request.caller, f"{target.type}/read", target)
        is_listed = may_read and resource.body.get("location") and _read_filter_values(resource, wanted) == wanted
        return build_summary(resource) | _expand(resource, expand) if is_listed else None

    # Groups have no provider in their path, and are not in this list.
    keys = cloud.store.keys(request.target.key.rpartition("/")[0] + "/")
    return _make_page(cloud, request, [key for key in keys if "/providers/" in key], show)


def list_collection(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer the GET of the resources of one type: below a parent, a group, a scope, or anywhere in a subscription."""
    # The paths of actions and collections look alike.
    if is_action_page(request):
        return run_action(cloud, request)
    cloud = apply_lag(cloud, request)
    cloud.require_scope(request)
    require_list(request)
    # Searched, since the filter may have `atScope()` as well, which decides only about the reach.
    principal = _PRINCIPAL.search(request.query.get("$filter", ""))

    def show(resource: StoredResource) -> dict[str, Any] | None:
        assigned = str(find_value(resource.body, ("properties", "principalId"))).casefold()
        is_listed = principal is None or assigned == principal[1].casefold()
        return _build_full(cloud, resource) if is_listed else None

    return _make_page(cloud, request, _list_type(cloud, request), show)


def _make_page(cloud: EmulatedCloud, request: ServerRequest, keys: Iterable[str], show: _Show) -> ServerResponse:
    behaviour = choose_behaviour(request.target.type)
    implied_resources = {
        parse(resource.id).key: resource
        for resource in list_implied(cloud, request.target)
        if _is_in_reach(request, parse(resource.id).scope)
    }

    def show_key(key: str) -> dict[str, Any] | None:
        resource = cloud.look_up(key)
        if resource is None or not resource.visible or resource.hidden > 0:
            resource = implied_resources.get(key)
        entry = show(resource) if resource is not None else None
        if entry is None:
            return None
        # Entries of some types lack members that a GET shows: a client must not treat them as removed.
        listed = {name: value for name, value in entry.items() if name not in behaviour.unlisted}
        return trim_entry(listed, request.list_fault)

    rows = order_keys(sorted({*keys, *implied_resources}), request.list_fault)
    return make_page(request, rows, show_key, cloud.settings.page_size, ends_empty=behaviour.ends_empty)


def _build_full(cloud: EmulatedCloud, resource: StoredResource) -> dict[str, Any]:
    return build_body(cloud, parse(resource.id), resource)


def _list_type(cloud: EmulatedCloud, request: ServerRequest) -> list[str]:
    """List the keys of the resources of a list's type in the list's reach."""
    target = request.target
    if is_record_list(target):
        zone = target.owner.key + "/"
        return [key for key in cloud.store.keys(zone) if is_record(key.removeprefix(zone))]
    return _list_children(cloud, target) if target.names else _list_scope(cloud, request)


def _list_children(cloud: EmulatedCloud, target: Target) -> list[str]:
    """List the keys directly below a list."""
    prefix = target.key + "/"
    return [key for key in cloud.store.keys(prefix) if "/" not in key[len(prefix) :]]


def _list_scope(cloud: EmulatedCloud, request: ServerRequest) -> list[str]:
    """List the keys of a type at a scope, in the groups of a subscription, and above or below if the list includes
    them.
    """
    scope, words = request.target.scope.casefold(), f"/providers/{request.target.type}/".casefold()
    reach = read_reach(request.target, request.query.get("$filter", ""))
    scopes_above = _list_scopes_above(scope) if Reach.ABOVE in reach else []
    keys = [key for above in scopes_above for key in cloud.store.keys(above + words)]
    for key in cloud.store.keys(f"{scope}/" if reach & (Reach.GROUPS | Reach.BELOW) else scope + words):
        key_scope, found, name = key.rpartition(words)
        if found and "/" not in name and (Reach.BELOW in reach or "/providers/" not in key_scope.removeprefix(scope)):
            keys.append(key)
    return keys


def _list_scopes_above(scope: str) -> list[str]:
    """List every scope that contains this one, the tenant first, and paths that are not scopes, which have no
    resources.
    """
    words = scope.split("/")
    return ["/".join(words[:count]) for count in range(1, len(words))] if scope else []


def _read_filter_values(resource: StoredResource, names: Iterable[str]) -> dict[str, str]:
    """Read the values that a filter compares, without case."""
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


def apply_lag(cloud: EmulatedCloud, request: ServerRequest) -> EmulatedCloud:
    """Return the cloud as a stale list shows it, or unchanged."""
    lag = request.list_fault.stale
    return replace(cloud, store=PastStore(cloud.store, cloud.clock.now().timestamp() - lag)) if lag else cloud


def order_keys(keys: Sequence[str], fault: ListFault) -> list[tuple[str, str]]:
    """Order the keys of a list with a fault, each with its sort key, by which pages continue."""
    if fault == ListFault():
        return list(zip(keys, keys, strict=True))
    listed = [(key, key) for key in keys if not _matches(key, fault.missing)]
    # "~" sorts after "/", so that a duplicate is at the end of the list, often on another page.
    listed += [(f"~{key}", key) for key, _ in listed if _matches(key, fault.duplicate)]
    if fault.reorder:  # by a digest, so that the order is the same each time
        return sorted((hashlib.sha256(where.encode()).hexdigest(), key) for where, key in listed)
    return listed


def _matches(key: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def trim_entry(entry: dict[str, Any], fault: ListFault) -> dict[str, Any]:
    """Remove the members that a list with a fault omits from an entry."""
    for pointer in fault.trim:
        entry = dict(change_at(entry, tuple(pointer.split("/")[1:]), lambda _member: GONE))
    return entry


_COSMOS = "microsoft.documentdb/databaseaccounts"

_UNLISTED = frozenset(
    {
        "microsoft.appconfiguration/configurationstores/keyvalues",
        "microsoft.appconfiguration/configurationstores/snapshots",
        f"{_COSMOS}/mongodbdatabases/collections/throughputsettings",
        f"{_COSMOS}/mongodbdatabases/throughputsettings",
        f"{_COSMOS}/sqldatabases/containers/throughputsettings",
        f"{_COSMOS}/sqldatabases/throughputsettings",
        "microsoft.insights/components/pricingplans",
        "microsoft.network/trafficmanagerprofiles/azureendpoints",
        "microsoft.network/trafficmanagerprofiles/externalendpoints",
        "microsoft.network/trafficmanagerprofiles/nestedendpoints",
        "microsoft.storage/storageaccounts/managementpolicies",
        "microsoft.web/sites/sourcecontrols",
    }
)
"""Types whose API can get a resource but not list them."""

_IN_GROUPS_ONLY = frozenset({"microsoft.network/virtualnetworkgateways"})
"""Types without a list for a subscription."""

_RECORD_TYPES = frozenset({"a", "aaaa", "caa", "cname", "mx", "ns", "ptr", "soa", "srv", "txt"})
_RECORD_LISTS = frozenset(
    {"microsoft.network/dnszones/all", "microsoft.network/dnszones/recordsets", "microsoft.network/privatednszones/all"}
)
"""Lists of all records of a zone; each record type has a list too."""


class Reach(Flag):
    """Which scopes a list covers, relative to its own."""

    SCOPE = auto()
    GROUPS = auto()  # of a subscription
    ABOVE = auto()
    BELOW = auto()


_REACH: Mapping[str, Reach] = {
    "microsoft.authorization/denyassignments": Reach.SCOPE | Reach.ABOVE | Reach.BELOW,
    "microsoft.authorization/locks": Reach.SCOPE | Reach.ABOVE | Reach.BELOW,
    "microsoft.authorization/policyassignments": Reach.SCOPE | Reach.ABOVE | Reach.BELOW,
    "microsoft.authorization/policyexemptions": Reach.SCOPE | Reach.ABOVE | Reach.BELOW,
    "microsoft.authorization/roleassignments": Reach.SCOPE | Reach.ABOVE | Reach.BELOW,
    "microsoft.authorization/roledefinitions": Reach.SCOPE | Reach.ABOVE,
}


def read_reach(target: Target, query_filter: str) -> Reach:
    """Read the reach of a type's list; `atScope()` excludes lower scopes, `atExactScope()` also higher ones."""
    is_subscription = parse(target.scope).shape is PathShape.SUBSCRIPTION
    reach = _REACH.get(target.type.casefold(), Reach.SCOPE | Reach.GROUPS if is_subscription else Reach.SCOPE)
    if "atexactscope()" in query_filter.casefold():
        return Reach.SCOPE
    return reach & ~Reach.BELOW if "atscope()" in query_filter.casefold() else reach


def _is_in_reach(request: ServerRequest, found: str) -> bool:
    """Return whether a list shows an implied resource of a scope. Most types have them only at the scope of the
    list.
    """
    target = request.target
    if target.type.casefold() not in _REACH:
        return True
    scope, found = target.scope.casefold(), found.casefold()
    if scope == found:
        return True
    reach = read_reach(target, request.query.get("$filter", ""))
    is_above = not found or covers(found, scope)
    return Reach.ABOVE in reach if is_above else Reach.BELOW in reach and (not scope or covers(scope, found))


def require_list(request: ServerRequest) -> None:
    """Refuse a list for a type without one."""
    target = request.target
    kind = target.type.casefold()
    if kind in _UNLISTED:
        raise refuse_method("GET")
    if kind in _IN_GROUPS_ONLY and not target.group:
        version = request.api_version
        words: dict[str, Any] = {"type": target.types[0], "namespace": target.namespace, "version": version}
        raise refuse("InvalidResourceType", versions=version, **words)


def is_record_list(target: Target) -> bool:
    """Return whether a list is that of all records of a DNS zone."""
    return target.type.casefold() in _RECORD_LISTS


def is_record(words: str) -> bool:
    """Return whether the rest of a key after its zone, such as `a/www`, is a record."""
    kind, _, name = words.partition("/")
    return kind in _RECORD_TYPES and bool(name) and "/" not in name
