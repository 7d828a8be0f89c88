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
    found = cloud.store.resource(target.key)
    return build_body(cloud, target, found) if found is not None and found.visible else None


def read_received(cloud: EmulatedCloud, arm_id: str) -> dict[str, Any] | None:
    """The body as it was sent, with the secrets that no GET shows."""
    found = cloud.store.resource(parse(arm_id).key)
    return copy.deepcopy(dict(found.body)) if found is not None else None


def list_ids(cloud: EmulatedCloud, below: str) -> list[str]:
    """The ids of all whose ids begin so, sorted without case."""
    return [found.id for _, found in cloud.store.below(below.casefold())]


def put(cloud: EmulatedCloud, arm_id: str, body: Mapping[str, Any], api_version: str) -> None:
    """Create or replace a resource without any check: its group and its parent need not exist."""
    target = parse(arm_id)
    origin = BodyOrigin(api_version=api_version, by="somebody")
    with cloud.store.transaction():
        kept = bodies.without_children(cloud, target, bodies.own(body), origin, whole=True)
        cloud.store.put_resource(target.key, bodies.resource(cloud, target, kept, origin))


def apply_moves(cloud: EmulatedCloud, target: Target, moves: Sequence[Move]) -> None:
    """Play the moves of a script; one without an id is made on the target. KeyError where there is nothing to move."""
    for each in moves:
        with cloud.store.transaction():
            _move(cloud, parse(each.id).key if each.id else target.key, each)


def _move(cloud: EmulatedCloud, key: str, wanted: Move) -> None:
    found = cloud.store.resource(key)
    if found is None:
        raise KeyError(key)
    if wanted.delete:
        operations.drop(cloud.store, key)
        return
    target, state = parse(found.id), found.state
    body = bodies.with_children(cloud, target, found.body)
    for pointer, value in {**wanted.set, **dict.fromkeys(wanted.remove, GONE)}.items():
        if pointer == "/properties/provisioningState":
            state = str(value)
        else:
            body = set_value(body, pointer, value)
    origin = BodyOrigin(api_version=found.api_version, by=found.by)
    body = bodies.without_children(cloud, target, body, origin, whole=False)
    cloud.change(key, replace(found, body=body, state=state))
