"""The result of comparing git with Azure, and the action that follows (docs/reference/design.md#drift)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    IN_SYNC = "in-sync"
    PENDING = "pending"  # git moved
    DRIFTED = "drifted"  # Azure moved
    MISSING = "missing"  # drifted: it is gone
    CONFLICT = "conflict"  # both moved
    CREATE = "create"
    FAILED_BEFORE = "failed-before"  # the last write failed, and neither git nor Azure moved since: it is tried again
    ADOPT = "adopt"  # exists, and no record of ours
    DELETE = "delete"
    DETACH = "detach"
    SKIP = "skip"
    HELD = "held"  # it differs, and a hold leaves it as it is until a day
    BLOCKED = "blocked"
    INVALID = "invalid"
    UNKNOWN = "unknown"  # could not be read: never treated as absent


DRIFTED = frozenset({Verdict.DRIFTED, Verdict.MISSING, Verdict.CONFLICT})
"""Azure changed, whether or not git changed too."""

DRIFT_WORD = "drift"
"""The word for all of DRIFTED in settings."""


class Action(StrEnum):
    NONE = "none"
    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"  # a delete and a create
    DELETE = "delete"
    DETACH = "detach"


class Written(StrEnum):
    """What a sync sent for a resource, as far as the run has."""

    NOTHING = "nothing"  # or Azure refused all of it
    UNKNOWN = "unknown"  # nothing shows whether Azure did it
    ACCEPTED = "accepted"  # Azure took it; the outcome shows what came of it
    DELETED = "deleted"  # deleted to be created again, and not created yet


@dataclass(frozen=True, slots=True)
class Difference:
    """One desired leaf that differs. `path` is a JSON pointer (RFC 6901) into the ARM body; a side is None if it has no
    such leaf; `rule` names the rule that decided.
    """

    path: str
    desired: Any
    live: Any
    rule: str


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The outcome for one resource. `unverified` has JSON pointers of desired leaves that Azure does not return;
    `because` has the reason for some of them, if it is another one.
    """

    verdict: Verdict
    differences: tuple[Difference, ...] = ()
    unverified: tuple[str, ...] = ()
    because: Mapping[str, str] = field(default_factory=dict)
