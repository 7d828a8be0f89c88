"""Deleting a resource group deletes its content: when that is allowed, and which deletes then need no request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gitsync.formats.arm_path import is_below, iterate_ancestors
from gitsync.model.gvk import Key
from gitsync.model.plan import Prune
from gitsync.model.record import Record

RESOURCE_GROUP = ("resources.azure.com", "ResourceGroup")


def is_group(key: Key) -> bool:
    return (key.group, key.kind) == RESOURCE_GROUP


def find_deleted_groups(prunes: Mapping[Key, Prune]) -> list[Prune]:
    """Return the groups that the plan deletes and that contain other prunes: their content is worth listing."""
    return [
        prune
        for prune in prunes.values()
        if is_group(prune.key) and not prune.detaches and not prune.held and _inside(prune, prunes)
    ]


def absorb_content(prunes: Mapping[Key, Prune], listings: Mapping[Key, Sequence[str]]) -> dict[Key, Prune]:
    """Let a group's content go with it where one list of the group shows nothing but prunes of this plan.

    `listings` has the ids that each group holds. Content that goes along waits for the group, not the group for it.
    Content that the list does not show goes first, by itself: it is read before the group is deleted.
    """
    planned = dict(prunes)
    for key, listed in listings.items():
        group = planned[key]
        content = _inside(group, planned)
        if find_strangers(listed, (planned[inside].record.arm_id for inside in content)):
            continue
        ahead = _ahead(group, content, listed, planned)
        going = [inside for inside in content if inside not in ahead]
        records = tuple(planned[inside].record for inside in sorted(going))
        waits = tuple(k for k in group.depends_on if k not in going)
        planned[key] = replace(group, depends_on=waits, carries=records)
        for inside in going:
            planned[inside] = replace(planned[inside], within=key, depends_on=(key,))
    return planned


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


def _ahead(group: Prune, content: Sequence[Key], listed: Sequence[str], prunes: Mapping[Key, Prune]) -> set[Key]:
    """Return the content that cannot go with its group: what the list does not show, and all that goes before that.

    What goes before the group for another reason is left out likewise, so that nothing waits in a circle.
    """
    missing = {record.key for record in unseen((prunes[key].record for key in content), listed)}
    waiting = [key for key in content if key in missing and prunes[key].within is None]
    waiting += [key for key in group.depends_on if key not in content]
    ahead: set[Key] = set()
    while waiting:
        key = waiting.pop()
        if key in prunes and key not in ahead:
            ahead.add(key)
            waiting += prunes[key].depends_on
    return ahead | {key for key in content if prunes[key].within in ahead}


def _inside(group: Prune, prunes: Mapping[Key, Prune]) -> list[Key]:
    """Keys of the deletes whose resources are in a group; none if one of them is held."""
    inside = [
        prune for prune in prunes.values() if not prune.detaches and is_below(prune.record.arm_id, group.record.arm_id)
    ]
    return [] if any(prune.held for prune in inside) else [prune.key for prune in inside]
