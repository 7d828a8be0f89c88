"""What a run may write to the sinks, and remove from them, as far as manifests and records tell.

Separate from the plan, which is about Azure: the sinks are asked for these rights before anything is touched.
"""

from __future__ import annotations

from gitsync.model.plan import Apply, Plan
from gitsync.request.exports import find_addresses, may_export
from gitsync.secrets.protocols import ExportNeeds


def find_export_needs(plan: Plan, *, prunes: bool) -> ExportNeeds:
    """The exports of the resources that the run applies, and if it `prunes`, those of the resources that it deletes."""
    written = {
        address
        for apply in plan.applies.values()
        if may_export(apply.prepared.resource) and _can_export(apply)
        for address, _ in find_addresses(apply.prepared.resource)
    }
    removed = {
        address for prune in plan.prunes.values() if prunes and not prune.held for address in prune.record.exports
    }
    return ExportNeeds(written=tuple(sorted(written)), removed=tuple(sorted(removed)))


def _can_export(apply: Apply) -> bool:
    """A resource that is held, watched for others or invalid exports nothing."""
    prepared = apply.prepared
    return not (apply.held or prepared.is_watched or any(problem.is_error for problem in prepared.problems))
