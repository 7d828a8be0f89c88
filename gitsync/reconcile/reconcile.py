"""ONE NODE, stage by stage.

A stage takes a turn and returns it with one more thing known, or stopped; the order of the stages is the tuple below,
and a plan is the same tuple without those that act. What the stages do is in `stages`, what is remembered of a turn in
`outcome`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from gitsync.errors import ArmError, GitsyncError
from gitsync.model.gvk import Key
from gitsync.model.plan import Intent, Node
from gitsync.model.result import Result, Stage
from gitsync.model.verdict import Verdict
from gitsync.reconcile.attempt import ReconcileAttempt, begin_attempt, pause
from gitsync.reconcile.context import RunContext
from gitsync.reconcile.result_builder import build_result
from gitsync.reconcile.stages.apply import act, poll, post_check
from gitsync.reconcile.stages.approval_check import review, review_prune
from gitsync.reconcile.stages.export import export
from gitsync.reconcile.stages.flapping import leave_flapping
from gitsync.reconcile.stages.observe import compare, observe, pre_check
from gitsync.reconcile.stages.on_success import handle_success
from gitsync.reconcile.stages.owner_check import check_owner, check_policy
from gitsync.reconcile.stages.prune import check_prune, delete, observe_prune, wait_for_dependents
from gitsync.reconcile.stages.resolve_values import resolve_values
from gitsync.request.fill import MissingValueError
from gitsync.status.conditions import make_fault, make_unreadable, make_warning
from gitsync.status.exit_code import FAULT

Stages = tuple[tuple[Stage, Callable[[ReconcileAttempt], Awaitable[ReconcileAttempt]]], ...]

STAGES: Stages = (
    (Stage.POLICY, check_policy),
    (Stage.OWNER_CHECK, check_owner),
    (Stage.OBSERVE, resolve_values),
    (Stage.OBSERVE, observe),
    (Stage.PRE_CHECK, pre_check),
    (Stage.COMPARE, compare),
    (Stage.COMPARE, leave_flapping),
    (Stage.COMPARE, review),
    (Stage.ACT, act),
    (Stage.POLL, poll),
    (Stage.POST_CHECK, post_check),
    (Stage.EXPORT, export),
    (Stage.EXPORT, handle_success),
)
PRUNING: Stages = (
    (Stage.POLICY, check_prune),
    (Stage.OWNER_CHECK, wait_for_dependents),
    (Stage.OBSERVE, observe_prune),
    (Stage.COMPARE, review_prune),
    (Stage.ACT, delete),
)
ACTING = frozenset({Stage.ACT, Stage.POLL, Stage.POST_CHECK})


async def reconcile(node: Node, before: Mapping[Key, Result], run: RunContext) -> Result:
    """Bring one resource to its desired state (or delete it, if removed from git); in a plan, report the changes.

    Retries from the first stage as long as the cause of the stop may go away by itself and there is time.
    """
    stages = _stages(node, run)
    turn, tries = begin_attempt(node, before, run), 0
    while True:
        turn = await _through(stages, turn)
        if not (turn.stop and turn.stop.waits and run.rules.writes and await pause(turn, tries)):
            return build_result(turn)
        turn, tries = turn.again(), tries + 1


def _stages(node: Node, run: RunContext) -> Stages:
    stages = STAGES if node.intent is Intent.APPLY else PRUNING
    return stages if run.rules.writes else tuple(row for row in stages if row[0] not in ACTING)


async def _through(stages: Stages, turn: ReconcileAttempt) -> ReconcileAttempt:
    for stage, step in stages:
        try:
            turn = await step(turn.at(stage))
        except Exception as failure:  # noqa: BLE001 - a mistake of ours in one node must not lose what came of the others
            return _broken_off(turn, failure)
        if turn.stop:
            return turn
    return turn


def _broken_off(turn: ReconcileAttempt, failure: Exception) -> ReconcileAttempt:
    """The turn as it was when its last stage began, stopped by what that raised."""
    match failure:
        case ArmError():
            return turn.stopped(make_unreadable(failure), None if turn.told else Verdict.UNKNOWN)
        case MissingValueError():
            return turn.stopped(make_warning(failure.reason, str(failure)), Verdict.BLOCKED)
        case GitsyncError() if failure.exit_code != FAULT:
            return turn.stopped(make_warning("Failed", str(failure)), Verdict.BLOCKED)
        case _:
            return turn.stopped(make_fault(failure), Verdict.UNKNOWN, may_mend=False, fault=failure)
