"""Decide how far a delete reaches: what Azure deletes along with a resource, and what must stay with one that stays.

Azure deletes all that is below a resource, and a resource group with its content. So what stays keeps what it is in,
below and in need of. Content that goes with its group needs no request of its own.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.gvk import Key
from gitsync.model.lock_ids import is_lock
from gitsync.model.plan import Prune
from gitsync.model.record import Record
from gitsync.planning.managed_locks import ManagedLock, make_recorded_lock


class Spread:
    """Carries the fate of single resources on to others: a delete must not damage what stays. Mutable: `kept_because`
    has the fate of each prune, "" for a delete.

    A kept resource keeps its parents, what it depends on, and everything below it, which would stay without it. A
    resource group is only a container: what keeps it does not keep its content, unless it `is_needed`: its removal
    contradicts git. The record of a detached child is kept as long as that of its parent, or the next run would not
    find the child. A resource that does not even exist (`may_exist`) keeps nothing else.
    """

    def __init__(
        self, prunes: Mapping[Key, Prune], is_needed: Callable[[Prune], bool], may_exist: Callable[[Prune], bool]
    ) -> None:
        self.kept_because = {key: prune.kept_because for key, prune in prunes.items()}
        self._prunes, self._is_needed, self._may_exist = prunes, is_needed, may_exist
        self._deletes, self._content = _index_deletes(prunes)
        staying = (prune for prune in prunes.values() if prune.kept_because or prune.detaches)
        self._new = {prune.key for prune in staying if may_exist(prune)}

    def keep(self, key: Key, why: str) -> None:
        """Keep one resource. Others follow with the next `run`."""
        self.kept_because[key] = why
        if self._may_exist(self._prunes[key]):
            self._new.add(key)

    def run(self) -> None:
        """Keep what must stay for those that are kept since the last call, each once."""
        # What keeps a resource first is named as the reason, so the order must be that of every run.
        waiting = deque(sorted(self._new))
        self._new.clear()
        while waiting:
            prune = self._prunes[waiting.popleft()]
            own_id = prune.record.arm_id.key
            above = (path for path in prune.record.arm_id.lineage if path != own_id)
            parents = [key for path in above for key in self._deletes.get(path, ())]
            waiting += self._keep_all(parents, f"{prune.record.arm_id} is below it and must stay in Azure.")
            # A lock that stays makes Azure refuse the deletes below it, so a plan does not promise them.
            if is_lock(prune.record.arm_id):
                lock = make_recorded_lock(prune.key, prune.record)
                locked = [key for keys in self._deletes.values() for key in keys if self._is_locked(key, lock)]
                waiting += self._keep_all(locked, lock.explain("forbids the delete"))
            if prune.detaches:
                if parents:
                    why = f"It stays in Azure, and its record is kept as long as that of {parents[0]}."
                    self.kept_because[prune.key] = why
                continue
            # A group that stays for its own sake needs nothing that is in it, so its content may go.
            is_container = prune.record.arm_id.is_group and not self._is_needed(prune)
            near = self._deletes if is_container else self._content
            waiting += self._keep_all(near[own_id], f"Held with {prune.key}, which stays in Azure.")
            used = (
                key for key in prune.record.manifest.needs if key in self._prunes and not self._prunes[key].detaches
            )
            waiting += self._keep_all(used, f"{prune.key} depends on it, and is held.")

    def _is_locked(self, key: Key, lock: ManagedLock) -> bool:
        return lock.forbids_delete(self._prunes[key].record.arm_id)

    def _keep_all(self, keys: Iterable[Key], why: str) -> list[Key]:
        """Keep these unless they are kept already; return the others."""
        new = [key for key in keys if not self.kept_because[key]]
        self.kept_because.update(dict.fromkeys(new, why))
        return new


def _index_deletes(prunes: Mapping[Key, Prune]) -> tuple[Mapping[IdKey, list[Key]], Mapping[IdKey, list[Key]]]:
    """Index the keys of the deletes by ARM id, and for each of these ids those at it or below it."""
    deletes: defaultdict[IdKey, list[Key]] = defaultdict(list)
    content: defaultdict[IdKey, list[Key]] = defaultdict(list)
    for key, prune in sorted(prunes.items()):
        if not prune.detaches:
            deletes[prune.record.arm_id.key].append(key)
    for arm_id, keys in deletes.items():
        for ancestor in ArmId(arm_id).lineage:
            if ancestor in deletes:
                content[ancestor] += keys
    return deletes, content


def list_deletes(prunes: Mapping[Key, Prune]) -> list[Prune]:
    """List the prunes that delete something, as far as a plan can show it: a held resource stays, and so does a
    resource that Azure deletes only with its parent, unless the parent is deleted.
    """

    def goes(prune: Prune) -> bool:
        if prune.detaches or prune.kept_because:
            return False
        parent = prunes.get(prune.within) if prune.within else None
        return goes(parent) if parent else prune.can_delete

    return [prune for prune in prunes.values() if goes(prune)]


def list_deleted_groups(prunes: Mapping[Key, Prune], staying: Collection[Key] = ()) -> list[Prune]:
    """Return the groups that the plan deletes with all of their content: those to list. `staying` are resources that
    are kept since.
    """

    def goes(key: Key) -> bool:
        return not prunes[key].kept_because and key not in staying

    deletes = (prune for prune in prunes.values() if not (prune.detaches or prune.within) and goes(prune.key))
    groups = (prune for prune in deletes if prune.record.arm_id.is_group)
    # A group keeps existing as long as any of its content stays, so its list would be a wasted request.
    return [group for group in groups if all(goes(key) for key in _list_content(group, prunes))]


class GroupContent(NamedTuple):
    """What a list of a resource group shows, and what of it is ours, by ARM ids."""

    listed_ids: Sequence[ArmId]
    own_ids: Collection[ArmId]
    deleted_ids: Collection[ArmId] = ()  # what is at or below one of these is deleted by itself


def compare_contents(prunes: Mapping[Key, Prune], listings: Mapping[Key, Sequence[ArmId]]) -> dict[Key, GroupContent]:
    """Compare the lists of the groups to delete with the deletes of a plan."""
    own_ids = {
        key: [prunes[content_key].record.arm_id for content_key in _list_content(prunes[key], prunes)]
        for key in listings
    }
    return {key: GroupContent(listed, own_ids[key], own_ids[key]) for key, listed in listings.items()}


def absorb_content(prunes: Mapping[Key, Prune], listings: Mapping[Key, Sequence[ArmId]]) -> dict[Key, Prune]:
    """Delete a group's content with it, if a list of the group shows nothing but prunes of this plan.

    `listings` has the ids that each group holds. Content that is deleted with the group waits for the group. Content
    that the list does not show is deleted before, by itself: it is read before the group is deleted.
    """
    planned = dict(prunes)
    for key, listed_ids in listings.items():
        group = planned[key]
        content = _list_content(group, planned)
        own_ids = [planned[member].record.arm_id for member in content]
        # Such a group stays, so its content needs deletes of its own.
        if group.kept_because or describe_strangers(GroupContent(listed_ids, own_ids)):
            continue
        earlier = _list_earlier(group, content, listed_ids, planned)
        absorbed = [member for member in content if member not in earlier]
        records = tuple(planned[member].record for member in sorted(absorbed))
        depends_on = tuple(k for k in group.depends_on if k not in absorbed)
        planned[key] = replace(group, depends_on=depends_on, carries=records)
        for member in absorbed:
            planned[member] = replace(planned[member], within=key, depends_on=(key,))
    return planned


def describe_strangers(content: GroupContent) -> str:
    """Name the listed resources of a group that gitsync does not manage; "" if there are none."""
    listed_ids, own_ids, deleted_ids = content
    own_keys = {arm_id.key for arm_id in own_ids}
    deleted_keys = {arm_id.key for arm_id in deleted_ids}
    others = (arm_id for arm_id in listed_ids if arm_id.key not in own_keys)
    strangers = sorted(arm_id for arm_id in others if deleted_keys.isdisjoint(arm_id.lineage))
    if not strangers:
        return ""
    more = f" and {len(strangers) - 1} more" if len(strangers) > 1 else ""
    return f"The group contains resources that gitsync does not manage: {strangers[0]}{more}."


def list_unlisted(records: Iterable[Record], listed_ids: Iterable[ArmId]) -> list[Record]:
    """Return the records that a list of their group does not show, neither themselves nor their parents.

    No list shows subnets, so the virtual network stands for them.
    """
    shown_keys = {arm_id.key for arm_id in listed_ids}
    return [record for record in records if shown_keys.isdisjoint(record.arm_id.lineage)]


def _list_earlier(
    group: Prune, content: Sequence[Key], listed_ids: Sequence[ArmId], prunes: Mapping[Key, Prune]
) -> set[Key]:
    """Return the content that cannot be deleted with its group: what the list does not show, and its dependents.

    The same holds for all else that the group waits for, or there would be a cycle.
    """
    missing = {record.key for record in list_unlisted((prunes[key].record for key in content), listed_ids)}
    waiting = [key for key in content if key in missing and prunes[key].within is None]
    # What the group waits for cannot itself wait for the group.
    waiting += [key for key in group.depends_on if key not in content]
    earlier: set[Key] = set()
    while waiting:
        key = waiting.pop()
        if key in prunes and key not in earlier:
            earlier.add(key)
            waiting += prunes[key].depends_on
    return earlier | {key for key in content if prunes[key].within in earlier}


def _list_content(group: Prune, prunes: Mapping[Key, Prune]) -> list[Key]:
    """Return the keys of the deletes whose resources are in a group."""
    arm_id = group.record.arm_id
    return [key for key, prune in prunes.items() if not prune.detaches and prune.record.arm_id.is_below(arm_id)]
