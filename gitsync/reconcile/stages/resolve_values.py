"""Fetch the secrets and config-map values that a manifest refers to, before its request is made."""

from __future__ import annotations

from gitsync.arm.http.conversation import DEADLINE
from gitsync.arm.http.failures import DeadlineError
from gitsync.model.clock import Clock
from gitsync.model.verdict import Verdict
from gitsync.reconcile.attempt import ApplyAttempt
from gitsync.request.holes import find_holes, list_holes
from gitsync.secrets.patience import TIMED_OUT
from gitsync.secrets.values import RunValues
from gitsync.status.conditions import FAILED, make_warning


async def resolve_values(attempt: ApplyAttempt, *, values: RunValues, clock: Clock) -> ApplyAttempt:
    """Fetch the values that the request needs; if the resource is only read, those that its id needs.

    Stop if a source has not responded when the node times out or the run is stopped: unknown is not absent. Raises
    DeadlineError if the time was up before: then no source was asked.
    """
    template = attempt.template
    if template.is_plain:
        return attempt
    holes = [*find_holes(template.arm_id), *(list_holes(template.gaps) if attempt.prepared.is_written else ())]
    conversation = attempt.conversation
    if clock.monotonic() >= conversation.deadline:
        text = f"{conversation.end_reason} before the values of {attempt.key} were read. {conversation.last_error()}"
        raise DeadlineError(text.rstrip(), code=DEADLINE)
    try:
        async with conversation.in_time(clock):
            await values.gather(attempt.key.namespace, holes)
    except TimeoutError:
        hint = "Check that they are reachable: a vault, the key service of an encrypted manifest."
        return attempt.stopped(make_warning(FAILED, TIMED_OUT, hint), Verdict.BLOCKED, is_late=True)
    return attempt
