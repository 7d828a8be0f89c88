"""The last stage: the resource is ready, and the success handlers of its kind are called
(docs/reference/kinds.md#success-handlers).

Their result is kept for the run: the subscription of the resource's children. If it follows from the resource as read,
it is known earlier, so that a plan knows it too, and so do the children of a resource that is not Ready.
"""

from __future__ import annotations

from collections.abc import Mapping

from gitsync.arm.actor import Actor
from gitsync.errors import ArmError, GitsyncError
from gitsync.reconcile.attempt import ReconcileAttempt
from gitsync.status.conditions import make_unreadable, make_warning
from gitsync.validation.annotations import OVERRIDE


def remember_promises(turn: ReconcileAttempt) -> None:
    """Keep for the run what follows from the resource as it was just read."""
    if turn.live is not None:
        _keep(turn, turn.run.registry.foreseen(turn.subject()))


async def handle_success(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Call the success handlers of the kind, each time and with every policy. A plan calls none."""
    if not turn.run.rules.writes:
        return turn
    try:
        _keep(turn, await turn.run.registry.succeeded(turn.subject(), Actor(turn.writer)))
    except ArmError as failure:
        return turn.stopped(make_unreadable(failure))
    except GitsyncError as failure:
        return turn.stopped(make_warning("Failed", str(failure)))
    return turn


def _keep(turn: ReconcileAttempt, annotations: Mapping[str, str]) -> None:
    if OVERRIDE in annotations:
        turn.run.values.rooted(turn.node.key, annotations[OVERRIDE])
