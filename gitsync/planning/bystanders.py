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
from gitsync.planning.plan import spread_holds


def spare_bystanders(plan: Plan, records: Mapping[Key, Record]) -> Plan:
    """Hold every prune that would also delete a resource of a record outside of this run. `records` are all records.

    Resources that a manifest names, in the run or not, are held by the plan itself.
    """
    if not plan.prunes:
        return plan
    outside = [record for key, record in records.items() if key not in plan.applies and key not in plan.prunes]
    bystanders = sorted(record.arm_id for record in outside if _may_exist(record))
    declared = sorted(record.arm_id for record in outside)
    prunes = {
        key: _spare_bystander(prune, [*bystanders, *_find_same(prune, declared)]) for key, prune in plan.prunes.items()
    }
    return replace(plan, prunes=spread_holds(prunes))


def _may_exist(record: Record) -> bool:
    return record.claim is not Claim.NONE or not record.policy.allows_delete


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
