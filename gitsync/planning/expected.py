"""The records that are written before the first request: everything that this run may create
(docs/reference/design.md#status-branch).
"""

from __future__ import annotations

from collections.abc import Iterable

from gitsync.manifests.units import find_unit
from gitsync.model.gvk import Key
from gitsync.model.plan import Node
from gitsync.model.record import Claim, Record


def expect_records(nodes: Iterable[Node], agent: str) -> dict[Key, Record]:
    """Return a record for every resource that the run may write and that has no expected create yet."""
    return {node.key: _expected(node, agent) for node in nodes if is_expected(node)}


def is_expected(node: Node) -> bool:
    """Tell whether a run may be the first to write this resource."""
    may_be_written = node.prepared is not None and node.prepared.is_valid and node.prepared.policy.allows_modify
    return may_be_written and (node.record is None or node.record.claim is Claim.NONE)


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
        generation=node.record.generation if node.record else 1,
        spec_digest=node.record.spec_digest if node.record else "",
        owner=prepared.owner.key if prepared.owner else None,
        depends_on=prepared.depends_on,
        agent=agent,
        credential=prepared.credential,
        unit=find_unit(prepared.resource.source.path),
        condition=node.record.condition if node.record else None,
    )
