"""Before anything is worked out: the secrets and config-map values that a manifest refers to are fetched."""

from __future__ import annotations

from gitsync.reconcile.attempt import ReconcileAttempt
from gitsync.request.holes import find_holes
from gitsync.secrets.protocols import VaultError


async def resolve_values(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Ask for what the request needs; of what is skipped, only for what its id needs.

    A source that fails ends the turn, and so does one that has not responded when the node times out or the run is
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
            "Timed out waiting for secret sources.",
            hint="Check that they are reachable: a vault, the key service of an encrypted manifest.",
        ) from error
    return turn
