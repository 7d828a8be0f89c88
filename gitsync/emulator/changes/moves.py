"""Applies moves: changes outside git, in the portal or by another program.

They change the state directly, without Azure's rules, and appear in Azure's logs. A move with a time is applied before
the first request after that time, and is logged with it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

from gitsync.emulator.changes.log import (
    NO_CORRELATION,
    SYSTEM,
    Before,
    describe_caller,
    describe_policy,
    log_change,
    look_before,
)
from gitsync.emulator.faults import Move
from gitsync.emulator.governance.policies import EmulatedPolicy
from gitsync.emulator.http.messages import Caller, ServerRequest
from gitsync.emulator.http.target import PathShape, Target, parse
from gitsync.emulator.identity.access import name_needed_action
from gitsync.emulator.lro.operations import drop_with_children
from gitsync.emulator.patch import GONE, set_value
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import LoggedChange, StoredResource
from gitsync.emulator.types.bodies import BodyOrigin, drop_read_only, embed_children, make_stored, store_children
from gitsync.emulator.types.provider_fields import make_uuid

_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def apply_moves(cloud: EmulatedCloud, target: Target, moves: Sequence[Move]) -> list[str]:
    """Apply the moves of a rule, each to the target unless it has an id. Returns their correlation ids. KeyError if a
    resource does not exist.
    """
    correlations = []
    for move in moves:
        with cloud.store.transaction():
            moved = parse(move.id) if move.id else target
            correlations.append(_apply_move(cloud, moved, move, cloud.clock.now().timestamp()))
    return correlations


def play_due_moves(cloud: EmulatedCloud) -> None:
    """Apply the moves of the script that are due, each once per state; a move whose resource does not exist yet waits
    for it.
    """
    now = cloud.clock.now().timestamp()
    for index, planned in enumerate(cloud.settings.moves):
        # With the content: an edited move of the script is another one, and is applied again.
        name = f"move:{index}:{hashlib.sha256(repr(planned).encode()).hexdigest()[:12]}"
        with cloud.store.transaction():  # of two processes that share a state, one applies it
            first_seen = cloud.store.note(name)
            if first_seen is None:
                first_seen = now
                cloud.store.put_note(name, now)
            target = parse(planned.move.id)
            resource = cloud.store.resource(target.key)
            due = planned.at.timestamp() if planned.at is not None else first_seen + planned.after
            if first_seen == _PLAYED or now < due or not (resource or planned.move.create is not None):
                continue
            # A change cannot be older in the logs than the resource itself.
            had_to_wait = resource is not None and datetime.fromisoformat(resource.created).timestamp() > due
            with suppress(KeyError):  # for a pointer to a missing entry of a list
                _apply_move(cloud, target, planned.move, now if had_to_wait else due)
            cloud.store.put_note(name, _PLAYED)


_PLAYED = -1.0
"""Replaces the time when a move was first seen, once it is applied."""


def _apply_move(cloud: EmulatedCloud, target: Target, move: Move, at: float) -> str:
    before = look_before(cloud, target, deletes=move.delete)
    if move.create is not None:
        origin = BodyOrigin(api_version="2024-01-01", by=move.by or "somebody")
        # A name is in the id, except in Microsoft Graph.
        sent = move.create if target.shape is PathShape.DIRECTORY else drop_read_only(move.create)
        body = store_children(cloud, target, sent, origin, replaces=True)
        cloud.store.put_resource(target.key, make_stored(cloud, target, body, origin))
    elif before.resource is None:
        raise KeyError(target.key)
    elif move.delete:
        drop_with_children(cloud.store, target.key)
    else:
        _change(cloud, before.resource, move)
    return _log(cloud, before, move, at)


def _change(cloud: EmulatedCloud, before: StoredResource, move: Move) -> None:
    target, state = parse(before.id), before.state
    body = embed_children(cloud, target, before.body)
    for pointer, value in {**move.set, **dict.fromkeys(move.remove, GONE)}.items():
        if pointer == "/properties/provisioningState":  # not part of a stored body
            state = str(value)
        else:
            body = set_value(body, pointer, value)
    origin = BodyOrigin(api_version=before.api_version, by=before.by)
    body = store_children(cloud, target, body, origin, replaces=False)
    cloud.change(target.key, replace(before, body=body, state=state, shown={**before.shown, **move.show}))


def _log(cloud: EmulatedCloud, before: Before, move: Move, at: float) -> str:
    method, after = "DELETE" if move.delete else "PUT", cloud.store.resource(before.target.key)
    # A move by a policy is like a remediation.
    policy = {policy.name.casefold(): policy for policy in cloud.settings.policies}.get(move.by.casefold())
    entry = LoggedChange(
        id=before.target.path,
        at=at,
        method=method,
        action=name_needed_action(ServerRequest(method=method, target=before.target, api_version="", base="")),
        status=200 if before.resource else 201,
        correlation=NO_CORRELATION if move.by == SYSTEM else str(uuid4()),
        caller=_describe_somebody(cloud, move, policy),
        client_request=str(uuid4()),
        body=None if move.delete else move.create or (after.body if after else None),
        policies=[describe_policy(policy, policy.effect.value)] if policy else (),
    )
    log_change(cloud, before, after, entry)
    return entry.correlation


def _describe_somebody(cloud: EmulatedCloud, move: Move, policy: EmulatedPolicy | None) -> dict[str, str]:
    """Return the author of a move as the logs keep it. A policy acts as the managed identity of its assignment."""
    if not move.by:
        return {}
    if move.by == SYSTEM:
        return {"user": SYSTEM}
    key = policy.id.casefold() if policy else move.by.casefold()
    client = make_uuid(key, "client") if policy else move.by if _GUID.fullmatch(move.by) else ""
    caller = Caller(
        client=client,
        object=make_uuid(key, "object"),
        tenant=cloud.settings.tenant,
        user="" if client else move.by,
        app=move.client,
        identity=policy.id if policy else "",
    )
    return describe_caller(caller)
