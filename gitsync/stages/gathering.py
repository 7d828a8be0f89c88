"""Before anything is worked out: the secrets and config-map values that a manifest refers to are fetched."""

from __future__ import annotations

import asyncio

from gitsync.core.holes import holes
from gitsync.turn import Turn
from gitsync.vault.points import VaultError


async def gather(turn: Turn) -> Turn:
    """Ask for what the request needs; of what is skipped, only for what its id needs.

    A source that cannot tell ends the turn, and so does one that has not told when the node's time is up or the run is
    stopped: unknown is not absent.
    """
    template = turn.prepared.template
    if template is None:
        raise AssertionError("a valid manifest has a template")
    needed = [*holes(template.arm_id), *(holes(template.body) if turn.policy.allows_modify else ())]
    conversation = turn.conversation
    left = max(0.0, conversation.deadline - turn.run.clock.monotonic())
    try:
        async with asyncio.timeout(left) as conversation.limit:
            await turn.run.values.gather(turn.node.key.namespace, needed)
    except TimeoutError as error:
        raise VaultError(
            "The sources of secrets had not answered when the time for this resource was up.",
            hint="Look whether they can be reached: a vault, the key service of an encrypted manifest.",
        ) from error
    finally:
        conversation.limit = None
    return turn
