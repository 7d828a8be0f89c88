"""A resource group that is deleted takes all it holds along: when that may be, and what then needs no request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gitsync.core.armpath import is_below
from gitsync.model.gvk import Key
from gitsync.model.plan import Intent, Node

RESOURCE_GROUP = ("resources.azure.com", "ResourceGroup")


def is_group(key: Key) -> bool:
    return (key.group, key.kind) == RESOURCE_GROUP


def doomed_groups(prunes: Mapping[Key, Node]) -> list[Node]:
    """Return the groups that are to be deleted and hold other prunes: those worth a list of what they hold."""
    return [
        node
        for node in prunes.values()
        if is_group(node.key) and node.intent is Intent.PRUNE and not node.held and _inside(node, prunes)
    ]


def absorbed(prunes: Mapping[Key, Node], listings: Mapping[Key, Sequence[str]]) -> dict[Key, Node]:
    """Let a group's content go with it where one list of the group shows nothing but prunes of this plan.

    `listings` has the ids that each group holds. Content that goes along waits for the group, not the group for it.
    """
    nodes = dict(prunes)
    for key, listed in listings.items():
        group = nodes[key]
        content = _inside(group, nodes)
        if strangers(listed, _ids(nodes[inside] for inside in content)):
            continue
        waits = tuple(k for k in group.depends_on if k not in content)
        nodes[key] = replace(group, depends_on=waits, carries=_ids(nodes[inside] for inside in content))
        for inside in content:
            nodes[inside] = replace(nodes[inside], within=key, depends_on=(key,))
    return nodes


def strangers(listed: Sequence[str], ours: Sequence[str]) -> list[str]:
    """Return the listed ids that are not ours, sorted."""
    known = {arm_id.casefold() for arm_id in ours}
    return sorted(arm_id for arm_id in listed if arm_id.casefold() not in known)


def _ids(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(sorted(node.record.arm_id for node in nodes if node.record))


def _inside(group: Node, nodes: Mapping[Key, Node]) -> list[Key]:
    """Keys of the prunes whose resources lie in a group; none where one of them is held."""
    if group.record is None:
        return []
    inside = [
        node
        for node in nodes.values()
        if node.record and is_below(node.record.arm_id, group.record.arm_id) and node.intent is Intent.PRUNE
    ]
    return [] if any(node.held for node in inside) else [node.key for node in inside]
