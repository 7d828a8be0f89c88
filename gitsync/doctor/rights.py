"""The rights that manifests need, and whether the roles of an identity grant them.

The list of permissions at a scope has one entry for each role that is assigned there or above. An entry grants an
action that one of its `actions` matches and none of its `notActions`; `*` stands for any text, and case does not count
(https://learn.microsoft.com/azure/role-based-access-control/role-definitions).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from gitsync.extensions.registry import Registry
from gitsync.formats.arm_path import find_resource_group, find_subscription
from gitsync.model.export import Holder
from gitsync.model.resource import Prepared
from gitsync.planning.group_deletes import is_group
from gitsync.request.exports import find_destinations

PERMISSIONS = "providers/Microsoft.Authorization/permissions"
API_VERSION = "2022-04-01"


class NeededRight(NamedTuple):
    """An action, the scope whose permissions tell about it, and the resource that needs it. All are as Azure spells
    them.
    """

    scope: str
    action: str
    arm_id: str


def list_needed_rights(prepared: Iterable[Prepared], registry: Registry, *, prune: bool) -> list[NeededRight]:
    """The rights to reconcile resources whose ARM ids are known, each once for a scope; sorted.

    The scope is the resource group, or the subscription for a group and for what is in none.
    """
    found = {
        right[:2]: right
        for one in prepared
        if one.arm_id and "<" not in one.arm_id
        for right in _list_rights(one, one.arm_id, registry, prune=prune)
    }
    return sorted(found.values())


def _list_rights(one: Prepared, arm_id: str, registry: Registry, *, prune: bool) -> Iterable[NeededRight]:
    scope = _find_scope(one, arm_id)
    verbs = ["read"]
    if one.is_written and one.policy.allows_modify:
        verbs += ["write", *(["delete"] if prune and one.policy.allows_delete else [])]
    for verb in verbs:
        yield NeededRight(scope, name_action(arm_id, verb), arm_id)
    fields = find_destinations(one.resource, Holder.SECRET)
    for suffix in registry.list_export_actions(one.key.group, one.key.kind, fields):
        yield NeededRight(scope, name_action(f"{arm_id}{suffix}", "action"), arm_id)


def _find_scope(one: Prepared, arm_id: str) -> str:
    subscription, group = find_subscription(arm_id), find_resource_group(arm_id)
    if subscription is None:
        return ""
    scope = f"/subscriptions/{subscription}"
    return scope if group is None or is_group(one.key) else f"{scope}/resourceGroups/{group}"


def name_action(path: str, verb: str) -> str:
    """The action of a request as roles spell it: Microsoft.Network/virtualNetworks/subnets/write. For an action, `path`
    ends with its name.
    """
    _, provider, below = path.rpartition("/providers/")
    if not provider:
        return f"Microsoft.Resources/subscriptions/resourceGroups/{verb}"
    namespace, *steps = below.split("/")
    return "/".join((namespace, *steps[::2], verb))


def grants(permissions: Iterable[Mapping[str, Any]], action: str) -> bool:
    """Tell whether one of the entries grants an action."""
    return any(
        _matches(entry.get("actions"), action) and not _matches(entry.get("notActions"), action)
        for entry in permissions
    )


def _matches(patterns: object, action: str) -> bool:
    texts = patterns if isinstance(patterns, list) else []
    return any(isinstance(text, str) and _compile(text).fullmatch(action) for text in texts)


@lru_cache(maxsize=4096)
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.IGNORECASE)
