"""Lists, page by page: subscriptions, groups, what a group or a subscription holds, the resources of one type."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from gitsync.emulator import roles
from gitsync.emulator.answers import Answer, refuse
from gitsync.emulator.call import Call
from gitsync.emulator.cloud import Cloud
from gitsync.emulator.shown import shown, summary
from gitsync.emulator.stored import Stored
from gitsync.emulator.target import Shape, Target, parse

_Row = tuple[str, Stored]
_FILTER = re.compile(r"(resourceType|name|location) eq '([^']*)'", re.IGNORECASE)
_EXPANSIONS = ("createdTime", "changedTime", "provisioningState")


def subscription(cloud: Cloud, call: Call) -> Answer:
    """GET of one subscription. Any is there, unless the settings name those that are."""
    cloud.demand_place(call)
    return Answer(200, _subscription(cloud, call.target.subscription))


def subscriptions(cloud: Cloud, _call: Call) -> Answer:
    """GET of the subscriptions: those that the settings name and those that hold something."""
    seen = {parse(resource.id).subscription for _, resource in cloud.store.below("/subscriptions/")}
    names = sorted({*cloud.settings.subscriptions, *seen} - {""})
    return Answer(200, {"value": [_subscription(cloud, name) for name in names]})


def groups(cloud: Cloud, call: Call) -> Answer:
    """GET of the resource groups of a subscription."""
    cloud.demand_place(call)
    rows = [row for row in _visible(cloud, call.target.key + "/") if parse(row[1].id).shape is Shape.GROUP]
    return _page(cloud, call, rows, lambda row: shown(cloud, parse(row[1].id), row[1]))


def resources(cloud: Cloud, call: Call) -> Answer:
    """GET of what a group or a subscription holds: tracked resources only, without their properties."""
    cloud.demand_place(call)
    above = call.target.key.rpartition("/")[0]
    rows = [row for row in _visible(cloud, above + "/") if _is_tracked(row[1])]
    for name, wanted in _filter(call.query.get("$filter", "")).items():
        rows = [row for row in rows if _words(row[1])[name].casefold() == wanted.casefold()]
    expand = [name for name in _EXPANSIONS if name in call.query.get("$expand", "")]
    return _page(cloud, call, rows, lambda row: summary(row[1]) | _expanded(row[1], expand))


def collection(cloud: Cloud, call: Call) -> Answer:
    """GET of the resources of one type: below a parent, a group, a scope, or anywhere in a subscription."""
    cloud.demand_place(call)
    target = call.target
    wanted = target.type.casefold()
    wide = target.shape is Shape.COLLECTION and not target.names and not target.group
    start = f"{target.scope}/".casefold() if wide else target.key + "/"
    rows = [row for row in _visible(cloud, start) if _is_listed(row[0], row[1], target, wanted)]
    built_in = roles.built_in(target) if roles.is_definitions(target) else []
    return _page(cloud, call, rows, lambda row: shown(cloud, parse(row[1].id), row[1]), first=built_in)


def _is_listed(key: str, resource: Stored, asked: Target, wanted: str) -> bool:
    found = parse(resource.id)
    if found.type.casefold() != wanted:
        return False
    if not asked.names and not asked.group:  # a subscription or the tenant: whatever stands in its groups too
        return asked.subscription.casefold() == found.subscription.casefold()
    return "/" not in key[len(asked.key) + 1 :]


def _visible(cloud: Cloud, prefix: str) -> list[_Row]:
    found = []
    for key, stored in cloud.store.below(prefix):
        resource = cloud.look(key) if stored.operation else stored
        if resource is not None and resource.visible and resource.hidden <= 0:
            found.append((key, resource))
    return found


def _is_tracked(resource: Stored) -> bool:
    target = parse(resource.id)
    return target.shape is Shape.RESOURCE and bool(resource.body.get("location"))


def _words(resource: Stored) -> dict[str, str]:
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


def _expanded(resource: Stored, names: list[str]) -> dict[str, str]:
    values = {
        "createdTime": resource.created,
        "changedTime": resource.changed,
        "provisioningState": resource.state,
    }
    return {name: values[name] for name in names}


def _page(
    cloud: Cloud,
    call: Call,
    rows: list[_Row],
    show: Callable[[_Row], Mapping[str, Any]],
    *,
    first: list[dict[str, Any]] | None = None,
) -> Answer:
    """One page after the key that the $skiptoken names; `first` stands before the first page."""
    after = _position(call.query.get("$skiptoken") or call.query.get("$skipToken") or "")
    top = call.query.get("$top", "")
    size = min(int(top), cloud.settings.page_size) if top.isdigit() and int(top) else cloud.settings.page_size
    rest = [row for row in rows if row[0] > after]
    value = [] if after else list(first or [])
    body: dict[str, Any] = {"value": value + [show(row) for row in rest[:size]]}
    if len(rest) > size:
        body["nextLink"] = _next_link(call, rest[size - 1][0])
    return Answer(200, body)


def _next_link(call: Call, key: str) -> str:
    token = base64.urlsafe_b64encode(key.encode()).decode()
    kept = {name: value for name, value in call.query.items() if name.casefold() != "$skiptoken"}
    query = "&".join(f"{quote(name)}={quote(value)}" for name, value in kept.items())
    return f"{call.base}{quote(call.target.path)}?{query}&%24skiptoken={quote(token)}"


def _position(token: str) -> str:
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise refuse("InvalidRequestContent", reason="The $skiptoken is not one that was given out.") from error


def _subscription(cloud: Cloud, name: str) -> dict[str, Any]:
    return {
        "id": f"/subscriptions/{name}",
        "authorizationSource": "RoleBased",
        "displayName": f"Emulated subscription {name}",
        "managedByTenants": [],
        "state": "Enabled",
        "subscriptionId": name,
        "subscriptionPolicies": {"locationPlacementId": "Public_2014-09-01", "spendingLimit": "Off"},
        "tenantId": cloud.settings.tenant,
    }
