"""Wait for a value of another resource that this run has written: Azure may set it some time after the write
(docs/values.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from gitsync.agent.reconcile.attempt import ApplyAttempt, StopKind
from gitsync.agent.reconcile.run_views import Observing
from gitsync.errors import MissingValueError
from gitsync.model.template import ComputedValue
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.status.conditions import make_warning

MOST_MISSED: Final = 6
"""Tries that may find no value: with the pauses between two, they take a minute."""


async def await_values(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Stop for another try if one of the values is missing, and this run has written a resource that it comes from:
    each try reads that one again. Otherwise the request is filled, which reports what is missing.
    """
    written = [key for key, result in attempt.before.items() if result.action is not Action.NONE]
    awaited = {key for value in attempt.computed for key in value.reads.intersection(written)}
    missed = attempt.observed.missed_values
    if not awaited or not run.rules.writes or missed == MOST_MISSED:
        return attempt
    # A source was read right after its write, so the first try has its newest values without a request.
    if missed:
        for key in sorted(awaited):
            await run.cache.read_source_again(key, attempt.session)
    missing = _find_missing(attempt.computed, run)
    if missing is None:
        return attempt
    attempt = attempt.with_observed(replace(attempt.observed, missed_values=missed + 1))
    condition = make_warning(missing.reason, missing.message, missing.hint)
    return attempt.stopped(condition, Verdict.BLOCKED, StopKind.WAITS)


def _find_missing(values: Iterable[ComputedValue], run: Observing) -> MissingValueError | None:
    try:
        for value in values:
            run.values.computed(value)
    except MissingValueError as missing:
        return missing
    return None
