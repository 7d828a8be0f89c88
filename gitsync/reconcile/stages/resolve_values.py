"""Before anything is worked out: the secrets and config-map values that a manifest refers to are fetched."""

from __future__ import annotations

from gitsync.reconcile.attempt import ReconcileAttempt
from gitsync.request.holes import find_holes
from gitsync.secrets.protocols import VaultError


async def resolve_values(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Ask for what the request needs; of what is skipped, only for what its id needs.

    A source that cannot tell ends the turn, and so does one that has not told when the node's time is up or the run is
    stopped: unknown is not absent.
    """
    template = turn.prepared.template
    if template is None:
        raise AssertionError("a valid manifest has a template")
    needed = [*find_holes(template.arm_id), *(find_holes(template.body) if turn.policy.allows_modify else ())]
    try:
        async with turn.conversation.in_time(turn.run.clock):
            await turn.run.values.gather(turn.node.key.namespace, needed)
    except TimeoutError as error:
        raise VaultError(
            "The sources of secrets had not answered when the time for this resource was up.",
            hint="Look whether they can be reached: a vault, the key service of an encrypted manifest.",
        ) from error
    return turn
