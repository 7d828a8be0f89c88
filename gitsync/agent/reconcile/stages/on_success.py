"""The last stage: the resource is ready, and the success handlers of its kind are called
(docs/reference/kinds.md#success-handlers).

Their result is kept for the run: the subscription of the resource's children. If it follows from the resource as read,
it is known earlier, so that a plan has it too, and so do the children of a resource that is not Ready.
"""

from __future__ import annotations

from collections.abc import Mapping

from gitsync.agent.reconcile.attempt import ApplyAttempt
from gitsync.agent.reconcile.run_views import Acting, Observing
from gitsync.desired.validation.annotations import OVERRIDE
from gitsync.errors import GitsyncError, ProviderError
from gitsync.model.gvk import Key
from gitsync.planning.status.conditions import make_failed, make_unreadable
from gitsync.providers.arm.extension_client import ExtensionClient
from gitsync.repository.secrets.reference_values import RunValues


def remember_promises(attempt: ApplyAttempt, run: Observing) -> None:
    """Keep for the run what follows from the resource as it was just read."""
    if attempt.observed.live is not None:
        _keep(run.values, attempt.key, run.registry.foreseen(attempt.as_subject()))


async def handle_success(attempt: ApplyAttempt, run: Acting) -> ApplyAttempt:
    """Call the success handlers of the kind, each time and with every policy. A plan calls none."""
    if not run.rules.writes:
        return attempt
    try:
        _keep(
            run.values,
            attempt.key,
            await run.registry.succeeded(attempt.as_subject(), ExtensionClient(run.writer(attempt))),
        )
    except ProviderError as failure:
        return attempt.stopped(make_unreadable(failure))
    except GitsyncError as failure:
        return attempt.stopped(make_failed(failure))
    return attempt


def _keep(values: RunValues, key: Key, annotations: Mapping[str, str]) -> None:
    if OVERRIDE in annotations:
        values.add_root(key, annotations[OVERRIDE])
