"""Conditional writes: a write demands that the resource is still as it was read (RFC 9110 section 13.1.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from gitsync.agent.reconcile.attempt import ApplyAttempt, PruneAttempt, StopKind
from gitsync.agent.reconcile.run_cache import RunCache
from gitsync.agent.reconcile.write import Precondition
from gitsync.errors import ProviderError
from gitsync.model.condition import Condition

PRECONDITION_FAILED = 412

A = TypeVar("A", ApplyAttempt, PruneAttempt)


def begin_write(attempt: A, cache: RunCache) -> A:
    """Note that a write begins, and return the attempt with the ETag that it demands.

    It demands none if a write of this run may have changed the ETag since the read, or if the same ETag was refused
    before: then the provider uses it for something else.
    """
    unmoved = cache.count_writes_near(attempt.location) == attempt.observed.writes_before
    etag = attempt.observed.live.etag if attempt.observed.live and unmoved else None
    cache.note_write(attempt.location)  # from now on: a read during the write may show its effect
    write, outrun = attempt.write, attempt.write.precondition.outrun
    precondition = Precondition(if_match=etag if etag != outrun else None, outrun=outrun)
    # Only the first try shows whether the resource existed: later ones may find what this run has sent.
    existed = write.existed if write.tried else bool(attempt.observed.exists)
    return attempt.with_write(replace(write, tried=True, existed=existed, precondition=precondition))


def is_outrun(attempt: A, failure: ProviderError) -> bool:
    """Return whether a write was refused because the resource changed since it was read: read it again, once."""
    precondition = attempt.write.precondition
    return failure.status == PRECONDITION_FAILED and precondition.if_match is not None and precondition.outrun is None


def look_again(attempt: A, cache: RunCache, condition: Condition) -> A:
    """Stop an attempt that was outrun, to start again from the first stage: nothing was written."""
    cache.take_back_write(attempt.location)
    before = attempt.write.precondition
    attempt = attempt.with_precondition(replace(before, outrun=before.if_match))
    return attempt.stopped(condition, kind=StopKind.WAITS)
