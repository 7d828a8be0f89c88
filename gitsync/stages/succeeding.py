"""The last stage: the resource is as it should be, and those who wait to hear of it are told (spec: extensions §11).

What they answer is kept for the run: where the resource's children stand.
"""

from __future__ import annotations

from gitsync.arm.actor import Actor
from gitsync.core.armid import OVERRIDE
from gitsync.core.conditions import unreadable, warning
from gitsync.errors import ArmError, GitsyncError
from gitsync.turn import Turn


async def succeed(turn: Turn) -> Turn:
    """Tell the success handlers of the kind, each time and under every policy.

    A plan tells nobody: there it counts what follows from the resource as it was read.
    """
    if turn.live is None:
        return turn
    registry, subject = turn.run.registry, turn.subject()
    if not turn.run.rules.writes:
        annotations = registry.foreseen(subject)
    else:
        try:
            annotations = await registry.succeeded(subject, Actor(turn.writer))
        except ArmError as failure:
            return turn.stopped(unreadable(failure))
        except GitsyncError as failure:
            return turn.stopped(warning("Failed", str(failure)))
    if OVERRIDE in annotations:
        turn.run.values.rooted(turn.node.key, annotations[OVERRIDE])
    return turn
