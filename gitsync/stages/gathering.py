"""Before anything is worked out: the secrets and config-map values that a manifest refers to are fetched."""

from __future__ import annotations

from gitsync.core.holes import holes
from gitsync.turn import Turn


async def gather(turn: Turn) -> Turn:
    """Ask for what the request needs; of what is skipped, only for what its id needs.

    A source that cannot tell ends the turn: unknown is not absent.
    """
    template = turn.prepared.template
    if template is None:
        raise AssertionError("a valid manifest has a template")
    needed = [*holes(template.arm_id), *(holes(template.body) if turn.policy.allows_modify else ())]
    await turn.run.values.gather(turn.node.key.namespace, needed)
    return turn
