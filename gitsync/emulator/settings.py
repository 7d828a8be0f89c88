"""What the emulator may be told: how long operations take, what is registered, locked and denied, how it throttles.

Values alone; they are read from a file in `gitsync.emulator.script`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gitsync.emulator.ways import Style

TENANT = "11111111-1111-4111-8111-111111111111"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How operations run. One is over when it was asked for `polls` times and `seconds` have passed.

    `style` None: each type's own, as recorded. `retry_after` is in seconds; None: each type's own, as recorded.
    """

    style: Style | None = None
    polls: int = 1
    seconds: float = 0.0
    retry_after: int | None = 0


class Busy(StrEnum):
    """Where an operation that is under way refuses a write with AnotherOperationInProgress."""

    RESOURCE = "resource"  # on the same resource
    PARENT = "parent"  # also on its parent, its siblings and its children


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A token bucket: how many requests at once, and how many more a second."""

    size: int
    per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The buckets of one principal in one subscription (learn.microsoft.com, request-limits-and-throttling)."""

    reads: Bucket = Bucket(size=250, per_second=25)
    writes: Bucket = Bucket(size=200, per_second=10)
    deletes: Bucket = Bucket(size=200, per_second=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """A management lock: `read_only` refuses writes too, else deletes alone."""

    scope: str
    read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """What a principal (client or object id) may not do; each is a pattern with * and ?, without case."""

    principal: str = "*"
    scope: str = "*"
    action: str = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """An identity that the emulator issues tokens to."""

    client: str
    object: str
    secret: str = field(default="", repr=False)
    read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`subscriptions` and `types` empty: any. `types` maps a type to its api-versions, none meaning any.
    `limits` None: no throttling. `registration_polls`: how often a provider is asked for until it is registered.
    """

    tenant: str = TENANT
    subscriptions: tuple[str, ...] = ()
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unregistered: tuple[str, ...] = ()
    registration_polls: int = 2
    operations: Timing = Timing()
    busy: Busy = Busy.RESOURCE
    locks: tuple[Lock, ...] = ()
    denied: tuple[Denial, ...] = ()
    limits: Limits | None = Limits()
    rewrite: bool = False
    page_size: int = 1000
    require_token: bool = False
    principals: tuple[Principal, ...] = ()
    token_seconds: int = 3600
