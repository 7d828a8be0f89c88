"""What a resource has for the expressions of others, once the run is done with it (docs/values.md)."""

from __future__ import annotations

from typing import Any

from gitsync.agent.reconcile.attempt import ApplyAttempt
from gitsync.desired.cel.source_types import make_source_type
from gitsync.desired.cel.sources import ValueSource
from gitsync.desired.request.computed_fill import fill_computed
from gitsync.model.secret import Placeholder
from gitsync.model.verdict import Action
from gitsync.planning.diff.unknown_values import blank, match_paths
from gitsync.planning.status.aso_status import build_aso_status
from gitsync.repository.secrets.reference_values import RunValues


def share_values(attempt: ApplyAttempt, values: RunValues, *, writes: bool) -> None:
    """Make known what a resource has. In a plan, what a sync would write is not known yet.

    A resource that was not read has no values, so those that need them wait.
    """
    is_new = not writes and attempt.decision.action in {Action.CREATE, Action.REPLACE}
    if attempt.observed.live is None and not is_new:
        return
    name = f"{attempt.key.kind}/{attempt.key.name}"
    later = Placeholder("", why=f"known after the sync of {name}", is_public=True, is_new=is_new)
    arm_id = str(attempt.arm_id)
    azure_name = arm_id.rpartition("/")[2]
    values.add_source(
        attempt.key,
        ValueSource(
            type=make_source_type(attempt.kind),
            id=later if "<" in arm_id else arm_id,
            name=later if "<" in azure_name else azure_name,
            spec=fill_computed(attempt.prepared.resource.spec, values.computed),
            status=later if is_new else build_aso_status(attempt.kind, _foresee_body(attempt, later, writes=writes)),
        ),
    )


def _foresee_body(attempt: ApplyAttempt, later: Placeholder, *, writes: bool) -> dict[str, Any]:
    """Return what Azure shows, in a plan with `later` in place of the values that a sync would change."""
    body: Any = attempt.observed.live.body if attempt.observed.live else {}
    comparison = attempt.decision.comparison
    if writes or attempt.decision.action is Action.NONE or comparison is None:
        return dict(body)
    pointers = {difference.path for difference in comparison.differences}
    for path in list(match_paths(body, pointers)):
        body = blank(body, path, body, later)
    return dict(body)
