"""The stages that stop a change that a management lock of git forbids, and a lock that would come too early.

Locks that git does not manage are found by the check `locks`, which reads them from Azure.
"""

from __future__ import annotations

from dataclasses import replace

from gitsync.agent.reconcile.attempt import ApplyAttempt, PruneAttempt, StopKind
from gitsync.agent.reconcile.run_views import Observing
from gitsync.model.condition import Condition
from gitsync.model.gvk import Key
from gitsync.model.lock_ids import find_scope, is_lock
from gitsync.model.provider import Provider
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.delete_guards import Evidence, Moment, explain_kept
from gitsync.planning.managed_locks import LOCKED, NO_LOCKS, ManagedLock, read_level
from gitsync.planning.status.conditions import make_kept, make_warning


async def check_write_locks(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    """Stop a write below a read-only lock, a replacement below any lock, and a lock that would hold for what is still
    to be done.
    """
    action, view = attempt.decision.action, run.cache.lock_view
    if view is NO_LOCKS or action is Action.NONE or attempt.provider is not Provider.ARM:
        return attempt
    if is_lock(attempt.arm_id):
        return _wait_below(attempt, run)
    why = view.explain_delete(attempt.arm_id) if action is Action.REPLACE else ""
    why = why or view.explain_write(attempt.arm_id)
    if not why:
        return attempt
    advice = "Remove the lock from git, sync with --prune, and add it again after the change."
    attempt = attempt.with_decision(replace(attempt.decision, action=Action.NONE, replacement=None))
    return _block(attempt, run, make_warning(LOCKED, why, advice))


def _block(attempt: ApplyAttempt, run: Observing, condition: Condition, blocked_by: Key | None = None) -> ApplyAttempt:
    # A plan has nothing that could fail, and shows the change with its reason.
    kind = StopKind.NEXT_RUN if run.rules.writes else StopKind.FINE
    return attempt.stopped(condition, Verdict.BLOCKED, kind, blocked_by=blocked_by)


def _wait_below(attempt: ApplyAttempt, run: Observing) -> ApplyAttempt:
    lock = ManagedLock(attempt.key, find_scope(attempt.arm_id), read_level(attempt.desired))
    key = run.cache.lock_view.find_open(lock)
    if key is None:
        return attempt
    attempt = attempt.with_decision(replace(attempt.decision, action=Action.NONE))
    text = f"The lock waits for {key}, whose next try it would forbid."
    return _block(attempt, run, make_warning("WaitingForDependency", text), blocked_by=key)


async def check_delete_locks(attempt: PruneAttempt, run: Observing) -> PruneAttempt:
    """Stop a delete below a lock that was to be lifted, and was not."""
    # Locks that stay have stopped the delete in the plan.
    why = (
        explain_kept(attempt.prune, Evidence(locks=run.cache.lock_view), Moment.DELETE)
        if run.cache.lock_view.standing
        else ""
    )
    return attempt.stopped(make_kept(why), Verdict.BLOCKED) if why else attempt
