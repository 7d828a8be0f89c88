"""Lists, page by page: groups, what a group or a subscription holds, the resources of one type."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Any

from gitsync.emulator.http import pages
from gitsync.emulator.http.answers import Answer, refuse
from gitsync.emulator.http.call import Call
from gitsync.emulator.http.target import Shape, Target, parse
from gitsync.emulator.state.cloud import Cloud
from gitsync.emulator.state.stored import Stored
from gitsync.emulator.types import actions
from gitsync.emulator.types import implicit_resources as implied
from gitsync.emulator.types.answered_body import shown, summary

_Row = tuple[str, Stored]
_FILTER = re.compile(r"(resourceType|name|location) eq '([^']*)'", re.IGNORECASE)
_EXPANSIONS = ("createdTime", "changedTime", "provisioningState")


def groups(cloud: Cloud, call: Call) -> Answer:
    """GET of the resource groups of a subscription."""
    cloud.demand_place(call)
    rows = [row for row in _visible(cloud, call.target.key + "/") if parse(row[1].id).shape is Shape.GROUP]
    return pages.page(call, rows, lambda entry: _whole(cloud, entry), cloud.settings.page_size)


def resources(cloud: Cloud, call: Call) -> Answer:
    """GET of what a group or a subscription holds: tracked resources only, without their properties."""
    cloud.demand_place(call)
    above = call.target.key.rpartition("/")[0]
    rows = [row for row in _visible(cloud, above + "/") if _is_tracked(row[1])]
    for name, wanted in _filter(call.query.get("$filter", "")).items():
        rows = [row for row in rows if _words(row[1])[name].casefold() == wanted.casefold()]
    expand = [name for name in _EXPANSIONS if name in call.query.get("$expand", "")]
    most = cloud.settings.page_size
    return pages.page(call, rows, lambda entry: summary(entry) | _expanded(entry, expand), most)


def collection(cloud: Cloud, call: Call) -> Answer:
    """GET of the resources of one type: below a parent, a group, a scope, or anywhere in a subscription."""
    if actions.is_further_page(call):
        return actions.run(cloud, call)
    cloud.demand_place(call)
    target = call.target
    wanted = target.type.casefold()
    wide = target.shape is Shape.COLLECTION and not target.names and not target.group
    start = f"{target.scope}/".casefold() if wide else target.key + "/"
    rows = [row for row in _visible(cloud, start) if _is_listed(row[0], row[1], target, wanted)]
    stored = {key for key, _ in rows}
    others = [(parse(made.id).key, made) for made in implied.below(cloud, target)]
    rows = sorted([*rows, *(row for row in others if row[0] not in stored)], key=itemgetter(0))
    return pages.page(call, rows, lambda entry: _whole(cloud, entry), cloud.settings.page_size)


def _whole(cloud: Cloud, resource: Stored) -> dict[str, Any]:
    return shown(cloud, parse(resource.id), resource)


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
