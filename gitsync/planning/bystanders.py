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
    """The plan, with every prune held that would also delete something outside of this run.

    `records` are all records, `prepared` all manifests, selected or not.
    """
    beside = sorted((*_recorded(plan, records), *_named(plan, prepared)))
    moved = sorted(_moved(plan))
    held = {key: _spared(prune, [*beside, *(moved if is_group(key) else ())]) for key, prune in plan.prunes.items()}
    return replace(plan, prunes=held)


def _spared(prune: Prune, staying: list[str]) -> Prune:
    if prune.held or prune.detaches:
        return prune
    going = prune.record.arm_id
    taken = next((arm_id for arm_id in staying if is_same_id(arm_id, going) or is_below(arm_id, going)), None)
    if taken is None:
        return prune
    return replace(prune, held=f"The delete would also delete {taken}, which this run does not manage.")


def _recorded(plan: Plan, records: Mapping[Key, Record]) -> Iterable[str]:
    """Records without a node in this run whose resource may exist in Azure."""
    return (
        record.arm_id
        for key, record in records.items()
        if key not in plan.applies and key not in plan.prunes
        if record.claim is not Claim.NONE or not record.policy.allows_delete
    )


def _named(plan: Plan, prepared: Iterable[Prepared]) -> Iterable[str]:
    """Manifests without a node in this run, and resources whose ARM id is not known yet."""
    yield from (one.arm_id for one in prepared if one.key not in plan.applies and one.arm_id)
    for apply in plan.applies.values():
        if apply.record and apply.prepared.arm_id is None:
            yield apply.record.arm_id


def _moved(plan: Plan) -> Iterable[str]:
    """The recorded ids of resources whose manifests give another id now: they remain until that is resolved."""
    for apply in plan.applies.values():
        there = apply.record.arm_id if apply.record and apply.record.claim.is_ours else ""
        here = apply.prepared.arm_id
        if there and here and not is_same_id(there, here):
            yield there
