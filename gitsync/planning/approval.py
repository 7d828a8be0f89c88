"""Limit a sync to a reviewed plan: the digests of a plan, and what has changed since it was made.

Nothing here decides what to write: a reviewed plan can only stop a write.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gitsync.desired.formats.json_pointer import JsonPath, format_pointer
from gitsync.desired.request.secret_digest import mask_digests
from gitsync.model.condition import Condition, WaitReason
from gitsync.model.live import Live
from gitsync.model.plan import Review, Reviewed
from gitsync.model.secret import MASKED
from gitsync.model.template import Request
from gitsync.model.verdict import Action
from gitsync.planning.diff.projection import project, select_desired
from gitsync.planning.diff.unknown_values import blank, collect_unknown_values, match_paths
from gitsync.planning.status.conditions import make_warning

OUTDATED = WaitReason.PLAN_OUTDATED.value
NOT_REVIEWED = WaitReason.NOT_REVIEWED.value
SECRETS_NOT_REVIEWED = WaitReason.SECRETS_NOT_REVIEWED.value

ID = "id"
"""The entry in `Reviewed.later` for a request whose ARM id is known during a run only."""

_PLAN_AGAIN = "Create a new plan and have it reviewed."

EXISTS = "exists"
"""The digest of a resource that supports HEAD only."""


def list_runtime_values(request: Request, *, is_id_sure: bool = True) -> tuple[str, ...]:
    """List the parts of a plan's request that are known during a run only, sorted."""
    in_body = [format_pointer(path) for path in collect_unknown_values(request.body)]
    return tuple(sorted([*in_body, *([] if is_id_sure and "<" not in request.arm_id else [ID])]))


def digest_desired(request: Request, body: Mapping[str, Any], later: tuple[str, ...]) -> str:
    """Digest the desired state: ARM id, api-version and a sealed body (see `remove_runtime_values`)."""
    leaves = {format_pointer(path): value for path, value in _iterate_leaves(body, ())}
    # The plan has a placeholder in such an id, which would make its digest differ from that of every run.
    arm_id = "" if ID in later else request.arm_id.key
    return _digest([arm_id, request.api_version, leaves])


def remove_runtime_values(body: Any, later: tuple[str, ...], path: JsonPath = ()) -> Any:
    """Return a body with null instead of the values that are known during a run only."""
    if path and format_pointer(path) in later:
        return None
    if isinstance(body, Mapping):
        return {key: remove_runtime_values(value, later, (*path, key)) for key, value in body.items()}
    if isinstance(body, list):
        return [remove_runtime_values(value, later, (*path, index)) for index, value in enumerate(body)]
    return body


def digest_live(
    live: Live,
    desired: Mapping[str, Any],
    sent: Mapping[str, Any],
    later: tuple[str, ...] = (),
    beside: Sequence[Sequence[Any]] = (),
) -> str:
    """Digest the live state of a resource that exists: the leaves that git sets and those that were sent, whether its
    last operation failed, and rows of what the write changes beside git's fields. The rest of the response (counters,
    times) changes by itself, and the leaves of `later` are left out, since a plan does not compare them.

    `desired` and `sent` are sealed bodies.
    """
    paths = tuple(match_paths(desired, later))
    bodies = [_mask_paths(mask_digests(body), paths, desired) for body in (desired, sent)]
    return _digest([*(project(select_desired(body), live.body) for body in bodies), live.has_failed, *beside])


def _mask_paths(body: Any, paths: tuple[JsonPath, ...], reference: Mapping[str, Any]) -> Any:
    """Mask the values at paths of `reference`: then no live value is taken in their place."""
    for path in paths:
        body = blank(body, path, reference, MASKED)
    return body


def find_objection(
    review: Review,
    reviewed: Reviewed | None,
    current: Reviewed,
    digest_key: str,
    *,
    quiet: bool,
    foreseen: bool = False,
) -> Condition | None:
    """Return why a resource that the run would write must not be written; None if it is unchanged since the review.

    `digest_key` is the name of the run's key. With `quiet`, this run has written nothing near the resource, so that
    only others can have changed its ETag. With `foreseen`, only values differ that the plan left to this run.
    """
    if reviewed is None:
        return make_warning(NOT_REVIEWED, "The reviewed plan does not contain this resource, so it is not written.")
    writes = reviewed.action is not Action.NONE
    # Digests by two keys differ even if the secrets are equal, so nothing shows that the reviewed secret is still the
    # same.
    if writes and reviewed.secrets and (not review.digest_key or review.digest_key != digest_key):
        return make_warning(SECRETS_NOT_REVIEWED, *_explain_keys(review.digest_key, digest_key))
    change = next(_list_changes(reviewed, current, quiet=quiet), "")
    if change:
        return make_warning(OUTDATED, change, _PLAN_AGAIN)
    if writes or foreseen:
        return None
    return make_warning(NOT_REVIEWED, "The reviewed plan does not change this resource, so it is not written.")


def _list_changes(reviewed: Reviewed, current: Reviewed, *, quiet: bool) -> Iterator[str]:
    """List everything that changed since the review, the most significant first."""
    if reviewed.desired != current.desired:
        yield "The desired state differs from the reviewed one: a referenced value or a setting changed."
    if reviewed.live != current.live:
        yield f"{_CHANGES[bool(reviewed.live), bool(current.live)]} after the plan was reviewed."
    # The digest has only the leaves that git sets or set last. The ETag shows a change of anything else.
    if quiet and reviewed.etag and current.etag and reviewed.etag != current.etag:
        yield f"It changed in Azure after the plan was reviewed: its ETag is {current.etag}, not {reviewed.etag}."
    if Action.NONE is not reviewed.action is not current.action:
        yield f"The reviewed plan would {reviewed.action} it; this run would {current.action} it."


_CHANGES = {
    (False, True): "It was created in Azure",
    (True, False): "It was deleted from Azure",
    (True, True): "It changed in Azure",
    (False, False): "It changed in Azure",
}


def _explain_keys(reviewed_key: str, current_key: str) -> tuple[str, str]:
    """Return the message and the advice for digests of secrets that were made with different keys."""
    if not reviewed_key:
        return (
            "It has secrets, and the plan was made without a digest key, so it cannot be compared with the plan.",
            "Set GITSYNC_DIGEST_KEY for plan and sync, and create a new plan.",
        )
    other_key = "another one" if current_key else "none"
    return (
        f"It has secrets, and the plan was made with a digest key, but this run has {other_key}.",
        "Set the same key for both.",
    )


def _iterate_leaves(value: Any, path: JsonPath) -> Iterator[tuple[JsonPath, Any]]:
    """Iterate over every leaf of a body and every empty list or object, without null."""
    if isinstance(value, Mapping) and value:
        for key, child in value.items():
            yield from _iterate_leaves(child, (*path, key))
    elif isinstance(value, list) and value:
        for index, child in enumerate(value):
            yield from _iterate_leaves(child, (*path, index))
    elif value is not None:
        yield path, value


def _digest(document: Any) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
