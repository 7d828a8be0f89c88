"""The delete of a resource group and its content: when it is allowed, and which deletes then need no request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gitsync.formats.arm_path import is_below, iterate_ancestors, normalize_id
from gitsync.model.gvk import Key
from gitsync.model.plan import Prune
from gitsync.model.record import Record

RESOURCE_GROUP = ("resources.azure.com", "ResourceGroup")


def is_group(key: Key) -> bool:
    return (key.group, key.kind) == RESOURCE_GROUP


def find_deleted_groups(prunes: Mapping[Key, Prune]) -> list[Prune]:
    """Return the groups that the plan deletes: those whose content is listed."""
    deletes = (prune for prune in prunes.values() if not (prune.detaches or prune.held or prune.within))
    groups = (prune for prune in deletes if is_group(prune.key))
    return [group for group in groups if not any(prunes[key].held for key in _find_content(group, prunes))]


def hold_shared_groups(prunes: Mapping[Key, Prune], listings: Mapping[Key, Sequence[str]]) -> dict[Key, Prune]:
    """Hold the groups that contain anything that gitsync does not manage. The rest of their content is deleted."""
    held_prunes = dict(prunes)
    for key, listed_ids in listings.items():
        own_ids = [prunes[member].record.arm_id for member in _find_content(prunes[key], prunes)]
        if held := describe_strangers(listed_ids, own_ids, own_ids):
            held_prunes[key] = replace(prunes[key], held=held)
    return held_prunes


def absorb_content(prunes: Mapping[Key, Prune], listings: Mapping[Key, Sequence[str]]) -> dict[Key, Prune]:
    """Delete a group's content with it, if a list of the group shows nothing but prunes of this plan.

    `listings` has the ids that each group holds. Content that is deleted with the group waits for the group. Content
    that the list does not show is deleted before, by itself: it is read before the group is deleted.
    """
    planned = dict(prunes)
    for key, listed_ids in listings.items():
        group = planned[key]
        content = _find_content(group, planned)
        if group.held or describe_strangers(listed_ids, (planned[member].record.arm_id for member in content)):
            continue
        earlier = _find_earlier(group, content, listed_ids, planned)
        absorbed = [member for member in content if member not in earlier]
        records = tuple(planned[member].record for member in sorted(absorbed))
        depends_on = tuple(k for k in group.depends_on if k not in absorbed)
        planned[key] = replace(group, depends_on=depends_on, carries=records)
        for member in absorbed:
            planned[member] = replace(planned[member], within=key, depends_on=(key,))
    return planned


def describe_strangers(listed_ids: Iterable[str], own_ids: Iterable[str], deleted_ids: Iterable[str] = ()) -> str:
    """Name the listed resources of a group that gitsync does not manage; "" if there are none.

    What is at or below one of the `deleted_ids` is deleted by itself, and does not count.
    """
    own_keys = {arm_id.casefold() for arm_id in own_ids}
    deleted_keys = {normalize_id(arm_id) for arm_id in deleted_ids}
    others = (arm_id for arm_id in listed_ids if arm_id.casefold() not in own_keys)
    strangers = sorted(arm_id for arm_id in others if deleted_keys.isdisjoint(iterate_ancestors(arm_id)))
    if not strangers:
        return ""
    more = f" and {len(strangers) - 1} more" if len(strangers) > 1 else ""
    return f"The group contains resources that gitsync does not manage: {strangers[0]}{more}."


def find_unlisted(records: Iterable[Record], listed_ids: Iterable[str]) -> list[Record]:
    """Return the records that a list of their group does not show, neither themselves nor their parents.

    No list shows subnets, so the virtual network stands for them.
    """
    shown_keys = {entry.rstrip("/").casefold() for entry in listed_ids}
    return [record for record in records if shown_keys.isdisjoint(iterate_ancestors(record.arm_id))]


def _find_earlier(
    group: Prune, content: Sequence[Key], listed_ids: Sequence[str], prunes: Mapping[Key, Prune]
) -> set[Key]:
    """Return the content that cannot be deleted with its group: what the list does not show, and its dependents.

    The same holds for all else that the group waits for, or there would be a cycle.
    """
    missing = {record.key for record in find_unlisted((prunes[key].record for key in content), listed_ids)}
    waiting = [key for key in content if key in missing and prunes[key].within is None]
    waiting += [key for key in group.depends_on if key not in content]
    earlier: set[Key] = set()
    while waiting:
        key = waiting.pop()
        if key in prunes and key not in earlier:
            earlier.add(key)
            waiting += prunes[key].depends_on
    return earlier | {key for key in content if prunes[key].within in earlier}


def _find_content(group: Prune, prunes: Mapping[Key, Prune]) -> list[Key]:
    """Return the keys of the deletes whose resources are in a group."""
    arm_id = group.record.arm_id
    return [key for key, prune in prunes.items() if not prune.detaches and is_below(prune.record.arm_id, arm_id)]
