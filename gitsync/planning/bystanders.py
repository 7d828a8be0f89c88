"""What a run leaves alone but a delete would take along: it holds back the delete of whatever it lies in.

A run does not look at everything that is on record: --only and the target namespaces choose, and other agents keep
records of their own. No list of Azure's decides about those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gitsync.formats.arm_path import is_below, is_same_id
from gitsync.model.gvk import Key
from gitsync.model.plan import Intent, Node, Plan
from gitsync.model.record import Claim, Record
from gitsync.model.resource import Prepared
from gitsync.planning.group_deletes import is_group


def spare_bystanders(plan: Plan, records: Mapping[Key, Record], prepared: Iterable[Prepared]) -> Plan:
    """The plan with every prune held back that would take along what this run leaves alone.

    `records` are all that are remembered, `prepared` all that git says, chosen or not.
    """
    beside = sorted((*_recorded(plan, records), *_named(plan, prepared)))
    moved = sorted(_moved(plan))
    held = {key: _spared(node, [*beside, *(moved if is_group(key) else ())]) for key, node in plan.prunes.items()}
    return replace(plan, prunes=held)


def _spared(node: Node, staying: list[str]) -> Node:
    if node.record is None or node.held or node.intent is not Intent.PRUNE:
        return node
    going = node.record.arm_id
    taken = next((arm_id for arm_id in staying if is_same_id(arm_id, going) or is_below(arm_id, going)), None)
    return replace(node, held=f"This run leaves {taken} alone, and the delete would take it along.") if taken else node


def _recorded(plan: Plan, records: Mapping[Key, Record]) -> Iterable[str]:
    """Records that this run has no node for, as far as there may be something in Azure."""
    return (
        record.arm_id
        for key, record in records.items()
        if key not in plan.applies and key not in plan.prunes
        if record.claim is not Claim.NONE or not record.policy.allows_delete
    )


def _named(plan: Plan, prepared: Iterable[Prepared]) -> Iterable[str]:
    """Manifests that this run has no node for, and resources whose manifest does not tell the id yet."""
    yield from (one.arm_id for one in prepared if one.key not in plan.applies and one.arm_id)
    for node in plan.applies.values():
        if node.record and node.prepared and node.prepared.arm_id is None:
            yield node.record.arm_id


def _moved(plan: Plan) -> Iterable[str]:
    """Where resources are on record that git has elsewhere by now: they stay there until that is sorted out."""
    for node in plan.applies.values():
        there = node.record.arm_id if node.record and node.record.claim.is_ours else ""
        here = node.prepared.arm_id if node.prepared else None
        if there and here and not is_same_id(there, here):
            yield there
