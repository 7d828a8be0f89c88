"""The delete of a resource group and its content: when it is allowed, and which deletes then need no request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gitsync.dataclasses import replace
from gitsync.formats.arm_path import is_below, iterate_ancestors
from gitsync.model.gvk import Key
from gitsync.model.plan import Prune
from gitsync.model.record import Record

RESOURCE_GROUP = ("resources.azure.com", "ResourceGroup")


def is_group(key: Key) -> bool:
    return (key.group, key.kind) == RESOURCE_GROUP


def find_deleted_groups(prunes: Mapping[Key, Prune]) -> list[Prune]:
    """Return the groups that the plan deletes and that contain other prunes: those whose content is listed."""
    return [
        prune
        for prune in prunes.values()
        if is_group(prune.key) and _is_deleted_itself(prune) and _find_content(prune, prunes)
    ]


def _is_deleted_itself(prune: Prune) -> bool:
    return not prune.detaches and not prune.held and prune.within is None


def absorb_content(prunes: Mapping[Key, Prune], listings: Mapping[Key, Sequence[str]]) -> dict[Key, Prune]:
    """Delete a group's content with it, if a list of the group shows nothing but prunes of this plan.

    `listings` has the ids that each group holds. Content that is deleted with the group waits for the group. Content
    that the list does not show is deleted before, by itself: it is read before the group is deleted.
    """
    planned = dict(prunes)
    for key, listed_ids in listings.items():
        group = planned[key]
        content = _find_content(group, planned)
        if find_strangers(listed_ids, (planned[member].record.arm_id for member in content)):
            continue
        earlier = _find_earlier(group, content, listed_ids, planned)
        absorbed = [member for member in content if member not in earlier]
        records = tuple(planned[member].record for member in sorted(absorbed))
        depends_on = tuple(k for k in group.depends_on if k not in absorbed)
        planned[key] = replace(group, depends_on=depends_on, carries=records)
        for member in absorbed:
            planned[member] = replace(planned[member], within=key, depends_on=(key,))
    return planned


def find_strangers(listed_ids: Iterable[str], own_ids: Iterable[str]) -> list[str]:
    """Return the listed ids that gitsync does not manage, sorted."""
    own_keys = {arm_id.casefold() for arm_id in own_ids}
    return sorted(arm_id for arm_id in listed_ids if arm_id.casefold() not in own_keys)


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
    """Return the keys of the deletes whose resources are in a group; none if one of them is held."""
    deletes = [
        prune for prune in prunes.values() if not prune.detaches and is_below(prune.record.arm_id, group.record.arm_id)
    ]
    return [] if any(prune.held for prune in deletes) else [prune.key for prune in deletes]
