"""Plays moves: changes that somebody made outside git, in the portal or by another program.

They are made in the state directly, with no rule of Azure applied, and are in Azure's logs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

from gitsync.emulator.changes.log import SYSTEM, describe_caller, is_in_graph, list_values
from gitsync.emulator.faults import Move
from gitsync.emulator.http.messages import Caller, ServerRequest
from gitsync.emulator.http.target import Target, parse
from gitsync.emulator.identity.access import find_action
from gitsync.emulator.lro.operations import drop_with_children
from gitsync.emulator.patch import GONE, set_value
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import LoggedChange, StoredResource
from gitsync.emulator.types.bodies import BodyOrigin, drop_read_only, embed_children, make_stored, store_children
from gitsync.emulator.types.provider_fields import make_uuid

NO_CORRELATION = "00000000-0000-0000-0000-000000000000"
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def apply_moves(cloud: EmulatedCloud, target: Target, moves: Sequence[Move]) -> list[str]:
    """Play the moves of a script, each on the target unless it has an id. Returns their correlation ids. KeyError if a
    resource does not exist.
    """
    correlations = []
    for move in moves:
        with cloud.store.transaction():
            correlations.append(_apply_move(cloud, parse(move.id) if move.id else target, move))
    return correlations


def _apply_move(cloud: EmulatedCloud, target: Target, move: Move) -> str:
    before = cloud.store.resource(target.key)
    nested: list[str] = []
    if move.create is not None:
        _create(cloud, target, move)
    elif before is None:
        raise KeyError(target.key)
    elif move.delete:
        nested = [resource.id for _, resource in cloud.store.below(target.key + "/")]
        drop_with_children(cloud.store, target.key)
    else:
        _change(cloud, before, move)
    return _log(cloud, target, move, before, nested)


def _create(cloud: EmulatedCloud, target: Target, move: Move) -> None:
    origin = BodyOrigin(api_version="2024-01-01", by=move.by or "somebody")
    body = store_children(cloud, target, drop_read_only(move.create or {}), origin, whole=True)
    cloud.store.put_resource(target.key, make_stored(cloud, target, body, origin))


def _change(cloud: EmulatedCloud, before: StoredResource, move: Move) -> None:
    target, state = parse(before.id), before.state
    body = embed_children(cloud, target, before.body)
    for pointer, value in {**move.set, **dict.fromkeys(move.remove, GONE)}.items():
        if pointer == "/properties/provisioningState":  # no part of a stored body
            state = str(value)
        else:
            body = set_value(body, pointer, value)
    origin = BodyOrigin(api_version=before.api_version, by=before.by)
    body = store_children(cloud, target, body, origin, whole=False)
    cloud.change(target.key, replace(before, body=body, state=state))


def _log(cloud: EmulatedCloud, target: Target, move: Move, before: StoredResource | None, nested: list[str]) -> str:
    after = cloud.store.resource(target.key)
    values = list_values(before, after)
    method = "DELETE" if move.delete else "PUT"
    request = ServerRequest(method=method, target=target, api_version="", base="")
    correlation = NO_CORRELATION if move.by == SYSTEM else str(uuid4())
    cloud.store.add_change(
        LoggedChange(
            id=before.id if before else target.path,
            at=cloud.clock.now().timestamp(),
            method=method,
            action=find_action(request),
            status=200 if before else 201,
            correlation=correlation,
            change="Delete" if move.delete else "Create" if before is None else "Update" if values else "",
            values=values,
            deleted=[path for path in nested if is_in_graph(parse(path))],
            caller=_describe_somebody(cloud, move),
            client_request=str(uuid4()),
            body=None if move.delete else move.create or (after.body if after else None),
        )
    )
    return correlation


def _describe_somebody(cloud: EmulatedCloud, move: Move) -> dict[str, str]:
    """Return what the logs keep of who made a move."""
    if not move.by:
        return {}
    if move.by == SYSTEM:
        return {"user": SYSTEM}
    is_application = _GUID.fullmatch(move.by) is not None
    caller = Caller(
        client=move.by if is_application else "",
        object=make_uuid(move.by.casefold(), "object"),
        tenant=cloud.settings.tenant,
        user="" if is_application else move.by,
        app=move.client,
    )
    return describe_caller(caller)
