"""Deleting a resource group deletes its content: when that is allowed, and which deletes then need no request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gitsync.formats.arm_path import is_below, iterate_ancestors
from gitsync.model.gvk import Key
from gitsync.model.plan import Intent, Node
from gitsync.model.record import Record

RESOURCE_GROUP = ("resources.azure.com", "ResourceGroup")


def is_group(key: Key) -> bool:
    return (key.group, key.kind) == RESOURCE_GROUP


def find_deleted_groups(prunes: Mapping[Key, Node]) -> list[Node]:
    """Return the groups that the plan deletes and that contain other prunes: their content is worth listing."""
    return [
        node
        for node in prunes.values()
        if is_group(node.key) and node.intent is Intent.PRUNE and not node.held and _inside(node, prunes)
    ]


def absorb_content(prunes: Mapping[Key, Node], listings: Mapping[Key, Sequence[str]]) -> dict[Key, Node]:
    """Let a group's content go with it where one list of the group shows nothing but prunes of this plan.

    `listings` has the ids that each group holds. Content that goes along waits for the group, not the group for it.
    Content that the list does not show goes first, by itself: it is read before the group is deleted.
    """
    nodes = dict(prunes)
    for key, listed in listings.items():
        group = nodes[key]
        content = _inside(group, nodes)
        if find_strangers(listed, _ids(nodes[inside] for inside in content)):
            continue
        ahead = _ahead(group, content, listed, nodes)
        going = [inside for inside in content if inside not in ahead]
        records = tuple(record for inside in sorted(going) if (record := nodes[inside].record))
        waits = tuple(k for k in group.depends_on if k not in going)
        nodes[key] = replace(group, depends_on=waits, carries=records)
        for inside in going:
            nodes[inside] = replace(nodes[inside], within=key, depends_on=(key,))
    return nodes


def find_strangers(listed: Iterable[str], ours: Iterable[str]) -> list[str]:
    """Return the listed ids that gitsync does not manage, sorted."""
    known = {arm_id.casefold() for arm_id in ours}
    return sorted(arm_id for arm_id in listed if arm_id.casefold() not in known)


def unseen(records: Iterable[Record], listed: Iterable[str]) -> list[Record]:
    """Return the records that a list of their group does not account for: it shows neither them nor what they lie in.

    No list shows subnets, so a subnet is accounted for by its virtual network.
    """
    shown = {entry.rstrip("/").casefold() for entry in listed}
    return [record for record in records if shown.isdisjoint(iterate_ancestors(record.arm_id))]


def _ahead(group: Node, content: Sequence[Key], listed: Sequence[str], nodes: Mapping[Key, Node]) -> set[Key]:
    """Return the content that cannot go with its group: what the list does not show, and all that goes before that.

    What goes before the group for another reason is left out likewise, so that nothing waits in a circle.
    """
    missing = {record.key for record in unseen(_records(content, nodes), listed)}
    waiting = [key for key in content if key in missing and nodes[key].within is None]
    waiting += [key for key in group.depends_on if key not in content]
    ahead: set[Key] = set()
    while waiting:
        key = waiting.pop()
        if key in nodes and key not in ahead:
            ahead.add(key)
            waiting += nodes[key].depends_on
    return ahead | {key for key in content if nodes[key].within in ahead}


def _records(keys: Iterable[Key], nodes: Mapping[Key, Node]) -> list[Record]:
    return [record for key in keys if (record := nodes[key].record)]


def _ids(nodes: Iterable[Node]) -> list[str]:
    return [node.record.arm_id for node in nodes if node.record]


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
