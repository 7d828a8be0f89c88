"""What happens to an Azure without a request: the hand behind git's back, for tests, scripts and demonstrations."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gitsync.emulator import bodies, operations
from gitsync.emulator.bodies import Origin
from gitsync.emulator.cloud import Cloud
from gitsync.emulator.faults import Move
from gitsync.emulator.patch import GONE, change
from gitsync.emulator.shown import shown
from gitsync.emulator.target import Target, parse


class Hand:
    """Reads and changes the state directly. Ids are taken in any case."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud

    def resource(self, arm_id: str) -> dict[str, Any] | None:
        """What a GET would show, or None; nothing moves on by it."""
        target = parse(arm_id)
        found = self.cloud.store.resource(target.key)
        return shown(self.cloud, target, found) if found is not None and found.visible else None

    def received(self, arm_id: str) -> dict[str, Any] | None:
        """The body as it was sent, with the secrets that no GET shows."""
        found = self.cloud.store.resource(parse(arm_id).key)
        return copy.deepcopy(dict(found.body)) if found is not None else None

    def ids(self, below: str = "/") -> list[str]:
        """The ids of all that is there, sorted without case."""
        with self.cloud.store.transaction():
            return [found.id for _, found in self.cloud.store.below(below.casefold())]

    def put(self, arm_id: str, body: Mapping[str, Any], *, api_version: str = "2024-01-01") -> None:
        """Make or replace a resource, and ask nothing: neither its group nor its parent need be there."""
        target = parse(arm_id)
        with self.cloud.store.transaction():
            origin = Origin(api_version=api_version, by="somebody")
            kept = bodies.without_children(self.cloud, target, bodies.own(body), origin, whole=True)
            self.cloud.store.put_resource(target.key, bodies.resource(self.cloud, target, kept, origin))

    def change(self, arm_id: str, pointer: str, value: Any) -> None:
        """Set one value of a resource, by JSON pointer (RFC 6901); KeyError where there is nothing to set it in.

        `/properties/provisioningState` sets the state that answers show.
        """
        self.move(parse(arm_id), [Move(set={pointer: value})])

    def remove(self, arm_id: str) -> None:
        """Take a resource away with all that is below it; KeyError where there is none."""
        self.move(parse(arm_id), [Move(delete=True)])

    def move(self, target: Target, moves: Sequence[Move]) -> None:
        """Play the moves of a script; a move without an id is made on the target."""
        for move in moves:
            with self.cloud.store.transaction():
                self._move(parse(move.id).key if move.id else target.key, move)

    def _move(self, key: str, move: Move) -> None:
        found = self.cloud.store.resource(key)
        if found is None:
            raise KeyError(key)
        if move.delete:
            operations.drop(self.cloud.store, key)
            return
        target, state = parse(found.id), found.state
        body = bodies.with_children(self.cloud, target, found.body)
        for pointer, value in {**move.set, **dict.fromkeys(move.remove, GONE)}.items():
            if pointer == "/properties/provisioningState":
                state = str(value)
            else:
                body = change(body, pointer, value)
        origin = Origin(api_version=found.api_version, by=found.by)
        body = bodies.without_children(self.cloud, target, body, origin, whole=False)
        self.cloud.change(key, replace(found, body=body, state=state))
