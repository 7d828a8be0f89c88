"""The stage that stops a resource which its manifest holds (docs/hold.md).

The stages after it are for a write, and a held resource has none. So it exports here, before the legs that act: in a
sync, this is the one stage of its leg that writes, to sinks.
"""

from __future__ import annotations

from dataclasses import replace

from gitsync.agent.reconcile.attempt import ApplyAttempt, StopKind
from gitsync.agent.reconcile.run_views import Exporting
from gitsync.agent.reconcile.stages.export_values import export
from gitsync.agent.reconcile.stages.write_guards import review_apply
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.status.conditions import make_held

_AS_IT_SHOULD_BE = frozenset({Verdict.IN_SYNC, Verdict.SKIP})


async def export_and_hold(attempt: ApplyAttempt, run: Exporting) -> ApplyAttempt:
    """Stop a held resource that a sync would change, with what differs. A review sees that nothing is done."""
    hold, comparison = attempt.apply.hold, attempt.decision.comparison
    if hold is None or comparison is None:
        return attempt
    # The hold stops nothing here, so the report shows the resource as it is.
    if attempt.decision.action is Action.NONE and comparison.verdict in _AS_IT_SHOULD_BE:
        return attempt
    attempt = attempt.with_decision(replace(attempt.decision, action=Action.NONE, withheld=comparison.verdict))
    # The values of a held resource are exported as always: others may need them, and an export only reads the resource.
    attempt = await export(await review_apply(attempt, run), run)
    if attempt.stop:
        return attempt
    # What depends on it goes on if it exists, and waits if it does not.
    kind = StopKind.FINE if attempt.observed.exists else StopKind.TOLERATED
    return attempt.stopped(make_held(hold), Verdict.HELD, kind)
