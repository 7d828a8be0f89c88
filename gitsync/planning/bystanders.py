"""Hold back the delete of a resource if it would also delete something that the run does not manage.

A run does not cover every record: --only and the target namespaces select some, and other agents have records of
their own. No list response of Azure decides about those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gitsync.formats.arm_path import is_below, is_same_id
from gitsync.model.gvk import Key
from gitsync.model.plan import Plan, Prune
from gitsync.model.record import Claim, Record
from gitsync.model.resource import Prepared
from gitsync.planning.group_deletes import is_group


def spare_bystanders(plan: Plan, records: Mapping[Key, Record], prepared: Iterable[Prepared]) -> Plan:
    """Hold every prune that would also delete something outside of this run.

    `records` are all records, `prepared` all manifests, selected or not.
    """
    bystanders = sorted((*_find_recorded_ids(plan, records), *_find_named_ids(plan, prepared)))
    former = sorted(_find_former_ids(plan))
    declared = sorted(record.arm_id for record in _find_records_outside(plan, records))
    prunes = {
        key: _spare_bystander(
            prune,
            [*bystanders, *(former if is_group(key) else ()), *_find_same(prune, declared)],
        )
        for key, prune in plan.prunes.items()
    }
    return replace(plan, prunes=prunes)


def _find_same(prune: Prune, arm_ids: Iterable[str]) -> Iterable[str]:
    """The ids of the resource itself: another manifest may share it, and then its record has no claim."""
    return (arm_id for arm_id in arm_ids if is_same_id(arm_id, prune.record.arm_id))


def _spare_bystander(prune: Prune, staying_ids: list[str]) -> Prune:
    if prune.held or prune.detaches:
        return prune
    deleted_id = prune.record.arm_id
    endangered_id = next(
        (arm_id for arm_id in staying_ids if is_same_id(arm_id, deleted_id) or is_below(arm_id, deleted_id)), None
    )
    if endangered_id is None:
        return prune
    return replace(prune, held=f"The delete would also delete {endangered_id}, which this run does not manage.")


def _find_recorded_ids(plan: Plan, records: Mapping[Key, Record]) -> Iterable[str]:
    """Records without a node in this run whose resource may exist in Azure."""
    return (
        record.arm_id
        for record in _find_records_outside(plan, records)
        if record.claim is not Claim.NONE or not record.policy.allows_delete
    )


def _find_records_outside(plan: Plan, records: Mapping[Key, Record]) -> Iterable[Record]:
    return (record for key, record in records.items() if key not in plan.applies and key not in plan.prunes)


def _find_named_ids(plan: Plan, prepared: Iterable[Prepared]) -> Iterable[str]:
    """Manifests without a node in this run, and resources whose ARM id is not known yet."""
    yield from (one.arm_id for one in prepared if one.key not in plan.applies and one.arm_id)
    for apply in plan.applies.values():
        if apply.record and apply.prepared.arm_id is None:
            yield apply.record.arm_id


def _find_former_ids(plan: Plan) -> Iterable[str]:
    """The recorded ids of resources whose manifests now have another id: they stay until that is resolved."""
    for apply in plan.applies.values():
        recorded_id = apply.record.arm_id if apply.record and apply.record.claim.is_ours else ""
        current_id = apply.prepared.arm_id
        if recorded_id and current_id and not is_same_id(recorded_id, current_id):
            yield recorded_id
