"""Decide how far a delete reaches: what Azure deletes along with a resource, and which deletes that holds back.

Azure deletes all that is below a resource, and a resource group with its content. So a delete is held if that would
damage something that stays: a held resource, one that a manifest still needs, one of another run or agent, or anything
in a group that gitsync does not manage. Content that goes with its group needs no request of its own.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from gitsync.formats.arm_path import is_below, is_same_id, iterate_ancestors, normalize_id
from gitsync.model.gvk import Key
from gitsync.model.plan import Plan, Prune
from gitsync.model.record import Claim, Record

RESOURCE_GROUP = ("resources.azure.com", "ResourceGroup")


def is_group(key: Key) -> bool:
    """Return whether a key is that of a resource group."""
    return (key.group, key.kind) == RESOURCE_GROUP


def spread_holds(prunes: Mapping[Key, Prune], needed: Collection[Key] = ()) -> dict[Key, Prune]:
    """Hold the deletes that would damage something that stays: of its parents, of what a held resource depends on, and
    of everything below a held one, which would stay without it.

    A resource group is only a container: what holds it does not hold the rest of its content, unless it is `needed`.
    Those are the resources whose removal contradicts git, since a manifest still names them. The record of a detached
    child is kept as long as that of its parent, or the next run would not find the child.
    """
    held_prunes = dict(prunes)
    deletes, content = _index_deletes(prunes)
    waiting = deque(key for key in sorted(prunes) if _stays(prunes[key]))

    def hold(keys: Iterable[Key], why: str) -> None:
        for key in keys:
            if not held_prunes[key].held:
                held_prunes[key] = replace(held_prunes[key], held=why)
                waiting.append(key)

    while waiting:
        prune = held_prunes[waiting.popleft()]
        own_id = normalize_id(prune.record.arm_id)
        parents = [key for path in iterate_ancestors(own_id) if path != own_id for key in deletes.get(path, ())]
        hold(parents, f"{prune.record.arm_id} is below it and must stay in Azure.")
        if prune.detaches and parents:
            why = f"It stays in Azure, and its record is kept as long as that of {parents[0]}."
            held_prunes[prune.key] = replace(prune, held=why)
        elif not prune.detaches:
            is_container = is_group(prune.key) and prune.key not in needed
            hold((deletes if is_container else content)[own_id], f"Held with {prune.key}, which stays in Azure.")
            used = (key for key in prune.record.manifest.depends_on if key in prunes and not prunes[key].detaches)
            hold(used, f"{prune.key} depends on it, and is held.")
    return held_prunes


def _index_deletes(prunes: Mapping[Key, Prune]) -> tuple[Mapping[str, list[Key]], Mapping[str, list[Key]]]:
    """Index the keys of the deletes by ARM id, and for each of these ids those at it or below it."""
    deletes: defaultdict[str, list[Key]] = defaultdict(list)
    content: defaultdict[str, list[Key]] = defaultdict(list)
    for key, prune in sorted(prunes.items()):
        if not prune.detaches:
            deletes[normalize_id(prune.record.arm_id)].append(key)
    for arm_id, keys in deletes.items():
        for ancestor in iterate_ancestors(arm_id):
            if ancestor in deletes:
                content[ancestor] += keys
    return deletes, content


def _stays(prune: Prune) -> bool:
    if prune.hold:
        return True
    if prune.record.claim is Claim.NONE and prune.record.manifest.policy.allows_delete:
        return False  # it was never created
    return bool(prune.held) or prune.detaches


def spare_bystanders(plan: Plan, records: Mapping[Key, Record]) -> Plan:
    """Hold every prune that would also delete a resource of a record outside of this run. `records` are all records.

    A run does not cover every record: --only and the target namespaces select some, and other agents have records of
    their own. Azure's lists do not decide about those. The plan itself holds resources that a manifest names, in the
    run or not.
    """
    if not plan.prunes:
        return plan
    outside = [record for key, record in records.items() if key not in plan.applies and key not in plan.prunes]
    staying_ids = sorted(
        r.arm_id for r in outside if r.claim is not Claim.NONE or not r.manifest.policy.allows_delete or r.manifest.hold
    )
    outside_ids = sorted(record.arm_id for record in outside)
    prunes = dict(plan.prunes)
    for key, prune in plan.prunes.items():
        if prune.held or prune.detaches:
            continue
        deleted_id = prune.record.arm_id
        # Another manifest may share the resource itself, and then its record has no claim, but the resource must stay.
        endangered_ids = (
            *(arm_id for arm_id in staying_ids if is_same_id(arm_id, deleted_id) or is_below(arm_id, deleted_id)),
            *(arm_id for arm_id in outside_ids if is_same_id(arm_id, deleted_id)),
        )
        if endangered_ids:
            why = f"The delete would also delete {endangered_ids[0]}, which this run does not manage."
            prunes[key] = replace(prune, held=why)
    return replace(plan, prunes=spread_holds(prunes))


def list_deletes(prunes: Mapping[Key, Prune]) -> list[Prune]:
    """List the prunes that delete something, as far as a plan can show it: a held resource stays, and so does a
    resource that Azure deletes only with its parent, unless the parent is deleted.
    """

    def goes(prune: Prune) -> bool:
        if prune.detaches or prune.held:
            return False
        parent = prunes.get(prune.within) if prune.within else None
        return goes(parent) if parent else prune.can_delete

    return [prune for prune in prunes.values() if goes(prune)]


def list_deleted_groups(prunes: Mapping[Key, Prune]) -> list[Prune]:
    """Return the groups that the plan deletes: those whose content is listed."""
    deletes = (prune for prune in prunes.values() if not (prune.detaches or prune.held or prune.within))
    groups = (prune for prune in deletes if is_group(prune.key))
    return [group for group in groups if not any(prunes[key].held for key in _list_content(group, prunes))]


def hold_shared_groups(prunes: Mapping[Key, Prune], listings: Mapping[Key, Sequence[str]]) -> dict[Key, Prune]:
    """Hold the groups that contain anything that gitsync does not manage. The rest of their content is deleted."""
    held_prunes = dict(prunes)
    for key, listed_ids in listings.items():
        own_ids = [prunes[member].record.arm_id for member in _list_content(prunes[key], prunes)]
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
        content = _list_content(group, planned)
        if group.held or describe_strangers(listed_ids, (planned[member].record.arm_id for member in content)):
            continue
        earlier = _list_earlier(group, content, listed_ids, planned)
        absorbed = [member for member in content if member not in earlier]
        records = tuple(planned[member].record for member in sorted(absorbed))
        depends_on = tuple(k for k in group.depends_on if k not in absorbed)
        planned[key] = replace(group, depends_on=depends_on, carries=records)
        for member in absorbed:
            planned[member] = replace(planned[member], within=key, depends_on=(key,))
    return planned


def describe_strangers(listed_ids: Iterable[str], own_ids: Iterable[str], deleted_ids: Iterable[str] = ()) -> str:
    """Name the listed resources of a group that gitsync does not manage; "" if there are none.

    Resources at or below one of the `deleted_ids` are deleted by themselves, and do not count.
    """
    own_keys = {arm_id.casefold() for arm_id in own_ids}
    deleted_keys = {normalize_id(arm_id) for arm_id in deleted_ids}
    others = (arm_id for arm_id in listed_ids if arm_id.casefold() not in own_keys)
    strangers = sorted(arm_id for arm_id in others if deleted_keys.isdisjoint(iterate_ancestors(arm_id)))
    if not strangers:
        return ""
    more = f" and {len(strangers) - 1} more" if len(strangers) > 1 else ""
    return f"The group contains resources that gitsync does not manage: {strangers[0]}{more}."


def list_unlisted(records: Iterable[Record], listed_ids: Iterable[str]) -> list[Record]:
    """Return the records that a list of their group does not show, neither themselves nor their parents.

    No list shows subnets, so the virtual network stands for them.
    """
    shown_keys = {entry.rstrip("/").casefold() for entry in listed_ids}
    return [record for record in records if shown_keys.isdisjoint(iterate_ancestors(record.arm_id))]


def _list_earlier(
    group: Prune, content: Sequence[Key], listed_ids: Sequence[str], prunes: Mapping[Key, Prune]
) -> set[Key]:
    """Return the content that cannot be deleted with its group: what the list does not show, and its dependents.

    The same holds for all else that the group waits for, or there would be a cycle.
    """
    missing = {record.key for record in list_unlisted((prunes[key].record for key in content), listed_ids)}
    waiting = [key for key in content if key in missing and prunes[key].within is None]
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
    return [key for key, prune in prunes.items() if not prune.detaches and is_below(prune.record.arm_id, arm_id)]
