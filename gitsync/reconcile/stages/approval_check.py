"""The stage between "what differs" and "send it", for a plan that somebody reviews.

The plan records what it was made from; the sync that is held to it checks that this is unchanged, and stops a resource
otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gitsync.model.review import Reviewed
from gitsync.model.verdict import Action
from gitsync.planning.approval import (
    EXISTS,
    SECRETS_NOT_REVIEWED,
    digest_desired,
    digest_live,
    find_objection,
    find_runtime_values,
    remove_runtime_values,
)
from gitsync.planning.secret_digest import has_secrets
from gitsync.reconcile.attempt import ReconcileAttempt

_AsSeen = Callable[[ReconcileAttempt, tuple[str, ...]], Reviewed]
"""What a turn knows of its resource, without what comes later."""


async def review(turn: ReconcileAttempt) -> ReconcileAttempt:
    """Note what a reviewer must see of an apply, or stop it if that has changed since."""
    if turn.run.rules.is_reviewed:
        later = find_runtime_values(turn.request) if turn.request else ()
        return replace(turn, reviewed=_apply_as_seen(turn, later))
    return _held(turn, _apply_as_seen)


async def review_prune(turn: ReconcileAttempt) -> ReconcileAttempt:
    """The same for a delete."""
    if turn.run.rules.is_reviewed:
        return replace(turn, reviewed=_prune_as_seen(turn, ()))
    return _held(turn, _prune_as_seen)


def _held(turn: ReconcileAttempt, as_seen: _AsSeen) -> ReconcileAttempt:
    """Stop a write that is not the reviewed one. What this run sent already is followed to its end."""
    held_to, memory = turn.run.rules.review, turn.run.memory
    if held_to is None or memory.has_sent(turn.place):
        return turn
    then = held_to.nodes.get(turn.node.key)
    if turn.action is Action.NONE and not _may_miss_a_secret(turn, then):
        return turn
    now = as_seen(turn, then.later if then else ())
    refusal = find_objection(held_to, then, now, turn.run.digests.key_name, quiet=_is_quiet(turn))
    if refusal is None or (turn.action is Action.NONE and refusal.reason != SECRETS_NOT_REVIEWED):
        return turn
    return turn.stopped(refusal, may_mend=False)


def _may_miss_a_secret(turn: ReconcileAttempt, then: Reviewed | None) -> bool:
    """Tell whether there may be something to write that the plan saw and this run, without its digest key, does not."""
    is_written = then is not None and then.action is not Action.NONE
    return is_written and turn.comparison is not None and bool(turn.comparison.because)


def _is_quiet(turn: ReconcileAttempt) -> bool:
    """Tell whether nothing that this run did can have changed the resource's ETag: neither a write to a parent or a
    child, nor one to a dependency (the ETag of a network changes when one of its interfaces is deleted).
    """
    nothing_near = turn.run.memory.writes_near(turn.place) == 0
    return nothing_near and all(result.action is Action.NONE for result in turn.before.values())


def _apply_as_seen(turn: ReconcileAttempt, later: tuple[str, ...]) -> Reviewed:
    if turn.request is None:  # policy skip: nothing is asked of it
        return Reviewed(action=turn.action)
    body = remove_runtime_values(turn.sealed, later)
    return Reviewed(
        action=turn.action,
        desired=digest_desired(turn.request, body, later),
        live=_live(turn, turn.sealed),
        etag=turn.live.etag if turn.live else None,
        secrets=has_secrets(body),
        later=later,
    )


def _prune_as_seen(turn: ReconcileAttempt, _later: tuple[str, ...]) -> Reviewed:
    return Reviewed(action=turn.action, live=_live(turn, {}), etag=turn.live.etag if turn.live else None)


def _live(turn: ReconcileAttempt, asked: Mapping[str, Any]) -> str:
    if turn.live is None:
        return EXISTS if turn.exists else turn.note  # what a write does besides is reviewed like what it meets
    sent = turn.node.record.applied if turn.node.record else None
    return digest_live(turn.live, asked, sent or {})
