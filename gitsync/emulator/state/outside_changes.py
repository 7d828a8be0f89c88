"""Changes to an Azure without a request, outside git: for tests, scripts and demonstrations."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gitsync.emulator.faults import Move
from gitsync.emulator.http.target import Target, parse
from gitsync.emulator.lro import operations
from gitsync.emulator.patch import GONE, set_value
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.types import stored_body as bodies
from gitsync.emulator.types.answered_body import build_body
from gitsync.emulator.types.stored_body import BodyOrigin


def read_resource(cloud: EmulatedCloud, arm_id: str) -> dict[str, Any] | None:
    """The body that a GET would return, or None. Unlike a GET, it does not advance operations."""
    target = parse(arm_id)
    resource = cloud.store.resource(target.key)
    return build_body(cloud, target, resource) if resource is not None and resource.visible else None


def read_received(cloud: EmulatedCloud, arm_id: str) -> dict[str, Any] | None:
    """The body as it was sent, with the secrets that no GET shows."""
    resource = cloud.store.resource(parse(arm_id).key)
    return copy.deepcopy(dict(resource.body)) if resource is not None else None


def list_ids(cloud: EmulatedCloud, below: str) -> list[str]:
    """The ids with a prefix, sorted case-insensitively."""
    return [resource.id for _, resource in cloud.store.below(below.casefold())]


def put(cloud: EmulatedCloud, arm_id: str, body: Mapping[str, Any], api_version: str) -> None:
    """Create or replace a resource without any check: its group and its parent need not exist."""
    target = parse(arm_id)
    origin = BodyOrigin(api_version=api_version, by="somebody")
    with cloud.store.transaction():
        stored_body = bodies.without_children(cloud, target, bodies.own(body), origin, whole=True)
        cloud.store.put_resource(target.key, bodies.resource(cloud, target, stored_body, origin))


def apply_moves(cloud: EmulatedCloud, target: Target, moves: Sequence[Move]) -> None:
    """Play the moves of a script; one without an id is made on the target. KeyError if the resource does not exist."""
    for move in moves:
        with cloud.store.transaction():
            _apply_move(cloud, parse(move.id).key if move.id else target.key, move)


def _apply_move(cloud: EmulatedCloud, key: str, move: Move) -> None:
    resource = cloud.store.resource(key)
    if resource is None:
        raise KeyError(key)
    if move.delete:
        operations.drop(cloud.store, key)
        return
    target, state = parse(resource.id), resource.state
    body = bodies.with_children(cloud, target, resource.body)
    for pointer, value in {**move.set, **dict.fromkeys(move.remove, GONE)}.items():
        if pointer == "/properties/provisioningState":
            state = str(value)
        else:
            body = set_value(body, pointer, value)
    origin = BodyOrigin(api_version=resource.api_version, by=resource.by)
    body = bodies.without_children(cloud, target, body, origin, whole=False)
    cloud.change(key, replace(resource, body=body, state=state))
