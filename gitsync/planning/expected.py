"""The records that are written before the first request: everything that this run may create
(docs/reference/design.md#status-branch).
"""

from __future__ import annotations

from collections.abc import Iterable

from gitsync.manifests.units import find_declaration
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply
from gitsync.model.record import Claim, Record, Trust


def expect_records(applies: Iterable[Apply], agent: str) -> dict[Key, Record]:
    """Return a record for every resource that the run may write and that has no expected create yet."""
    return {apply.key: _make_expected(apply, agent) for apply in applies if is_expected(apply)}


def is_expected(apply: Apply) -> bool:
    """Tell whether a run may be the first to write this resource."""
    may_be_written = not apply.held and apply.prepared.is_valid and apply.prepared.is_written
    return may_be_written and (apply.record is None or apply.record.claim is Claim.NONE)


def _make_expected(apply: Apply, agent: str) -> Record:
    prepared, before = apply.prepared, apply.record
    return Record(
        key=apply.key,
        manifest_api_version=prepared.resource.gvk.api_version,
        arm_id=prepared.arm_id or "",
        arm_api_version=prepared.api_version or "",
        claim=Claim.EXPECTED,
        policy=prepared.policy,
        generation=before.generation if before else 1,
        spec_digest=before.spec_digest if before else "",
        owner=prepared.owner.key if prepared.owner else None,
        depends_on=prepared.depends_on,
        agent=agent,
        operator=agent,
        credential=prepared.credential,
        **find_declaration(prepared.resource),
        condition=before.condition if before else None,
        trust=before.trust if before else Trust.UNCHECKED,
    )
