"""Fetch the secrets and config-map values that a manifest refers to, before its request is made."""

from __future__ import annotations

from gitsync.model.clock import Clock
from gitsync.reconcile.attempt import ApplyAttempt
from gitsync.request.holes import find_holes, list_holes
from gitsync.secrets.protocols import VaultError
from gitsync.secrets.values import RunValues


async def resolve_values(attempt: ApplyAttempt, *, values: RunValues, clock: Clock) -> ApplyAttempt:
    """Fetch the values that the request needs; if the resource is only read, those that its id needs.

    Raises VaultError if a source has not responded when the node times out or the run is stopped: unknown is not
    absent.
    """
    template = attempt.template
    if template.is_plain:
        return attempt
    holes = [*find_holes(template.arm_id), *(list_holes(template.gaps) if attempt.prepared.is_written else ())]
    try:
        async with attempt.conversation.in_time(clock):
            await values.gather(attempt.key.namespace, holes)
    except TimeoutError as error:
        raise VaultError(
            "Timed out waiting for secret sources.",
            hint="Check that they are reachable: a vault, the key service of an encrypted manifest.",
        ) from error
    return attempt
