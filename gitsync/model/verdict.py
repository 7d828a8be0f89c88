"""The result of comparing git with Azure, and the action that follows (docs/reference/design.md#drift)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    IN_SYNC = "in-sync"
    PENDING = "pending"  # changed in git
    DRIFTED = "drifted"  # changed in Azure
    MISSING = "missing"  # deleted in Azure
    CONFLICT = "conflict"  # changed in both
    CREATE = "create"
    FAILED_BEFORE = "failed-before"  # the last write failed, and neither git nor Azure changed since: it is retried
    ADOPT = "adopt"  # exists, but has no record
    DELETE = "delete"
    DETACH = "detach"
    SKIP = "skip"
    HELD = "held"  # it differs, and a hold keeps it as it is until a date
    BLOCKED = "blocked"
    INVALID = "invalid"
    UNKNOWN = "unknown"  # could not be read: never treated as absent


DRIFTED = frozenset({Verdict.DRIFTED, Verdict.MISSING, Verdict.CONFLICT})
"""Azure changed, whether or not git changed too."""

DRIFT_WORD = "drift"
"""The word in settings for all of DRIFTED."""

OUTSIDE_WORD = "outside"
"""The word in settings for changes in Azure of values that git does not set. No verdict has it."""


class Action(StrEnum):
    NONE = "none"
    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"  # a delete and a create
    DELETE = "delete"
    DETACH = "detach"


class Written(StrEnum):
    """What a sync sent for a resource, as far as the run saw it."""

    NOTHING = "nothing"  # or Azure refused it
    UNKNOWN = "unknown"  # it is not known whether Azure accepted it
    ACCEPTED = "accepted"  # the outcome shows the result
    DELETED = "deleted"  # deleted for a replacement, and not created yet


@dataclass(frozen=True, slots=True)
class Difference:
    """One desired value that differs. A side without the value is None."""

    path: str  # JSON pointer (RFC 6901) into the ARM body
    desired: Any
    live: Any
    rule: str  # names the rule that decided


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The comparison of one resource."""

    verdict: Verdict
    differences: tuple[Difference, ...] = ()
    unverified: tuple[str, ...] = ()  # JSON pointers of desired values that Azure does not return
    because: Mapping[str, str] = field(default_factory=dict)  # reasons of another kind for some of `unverified`
