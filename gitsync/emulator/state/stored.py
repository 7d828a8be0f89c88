"""The stored resources and operations, as frozen values.

A value that is stored is never changed in place; a change is a new value under the same key. So a store may hold the
values themselves, and a transaction is one assignment a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResource:
    """One resource. `body` is the body as sent, with its secrets, without id, name, type and provisioningState.

    `number` counts creations, so that children keep their order; `version` counts the changes of this one. It is not
    `visible` while an operation that answered 202 creates it; `hidden` is how many more reads answer "not found".
    `replaced` is when another value took its place, in seconds since 1970; 0 if none has.
    """

    id: str
    body: Mapping[str, Any]
    api_version: str
    number: int
    created: str
    changed: str
    by: str = ""
    version: int = 1
    state: str = "Succeeded"
    visible: bool = True
    hidden: int = 0
    operation: str = ""  # the id of the one under way
    replaced: float = 0.0

    @property
    def etag(self) -> str:
        return f'W/"{self.number:08x}-0000-4000-8000-{self.version:012x}"'


def make_implied(owner: StoredResource, path: str, body: Mapping[str, Any]) -> StoredResource:
    """An implied resource, with the times of its owner."""
    return StoredResource(
        id=path,
        body=body,
        api_version=owner.api_version,
        number=owner.number,
        created=owner.created,
        changed=owner.created,
        by=owner.by,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedOperation:
    """One long-running operation. `started` is in seconds since 1970; it ends after `polls` polls and `seconds`
    seconds. `result` is its final status.
    """

    id: str
    key: str  # of the resource
    path: str  # of the resource
    verb: str  # PUT, PATCH, DELETE or POST
    style: str
    api_version: str
    started: float
    polls: int = 0
    seconds: float = 0.0
    retry_after: int = 0
    running: str = "InProgress"
    result: str = "Succeeded"
    error: Mapping[str, Any] | None = None
    host: str = ""  # the host of the URLs, instead of this one
    location: str = "global"
    over: bool = False
    action: str = ""  # the last word of a POST
    answer: Any = None  # the final answer of the Location of a POST


_MEMBERS = {cls: tuple(field.name for field in fields(cls)) for cls in (StoredResource, EmulatedOperation)}


def encode_json(value: StoredResource | EmulatedOperation) -> dict[str, Any]:
    """The members by name; they are JSON already, so nothing is copied."""
    return {name: getattr(value, name) for name in _MEMBERS[type(value)]}
