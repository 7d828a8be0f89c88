"""What is on record before the first write: everything that this run may create (DESIGN §4, Status branch)."""

from __future__ import annotations

from collections.abc import Iterable

from gitsync.model.gvk import Key
from gitsync.model.plan import Node
from gitsync.model.record import Claim, Record


def expected(nodes: Iterable[Node], agent: str) -> dict[Key, Record]:
    """Return a record for every resource that is not recorded yet and that the run may write."""
    return {node.key: _expected(node, agent) for node in nodes if node.record is None and _may_be_written(node)}


def _may_be_written(node: Node) -> bool:
    return node.prepared is not None and node.prepared.is_valid and node.prepared.policy.allows_modify


def _expected(node: Node, agent: str) -> Record:
    prepared = node.prepared
    if prepared is None:
        raise AssertionError("only applies are expected")
    return Record(
        key=node.key,
        manifest_api_version=prepared.resource.gvk.api_version,
        arm_id=prepared.arm_id or "",
        arm_api_version=prepared.api_version or "",
        claim=Claim.EXPECTED,
        policy=prepared.policy,
        owner=prepared.owner.key if prepared.owner else None,
        depends_on=prepared.depends_on,
        agent=agent,
    )
