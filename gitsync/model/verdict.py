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
    ADOPT = "adopt"  # exists, and no record of ours
    DELETE = "delete"
    DETACH = "detach"
    SKIP = "skip"
    BLOCKED = "blocked"
    INVALID = "invalid"
    UNKNOWN = "unknown"  # could not be read: never treated as absent


DRIFTED = frozenset({Verdict.DRIFTED, Verdict.MISSING, Verdict.CONFLICT})
"""Azure changed, whether or not git changed too."""

DRIFT_WORD = "drift"
"""Stands for all of DRIFTED, where a person names verdicts."""


class Action(StrEnum):
    NONE = "none"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    DETACH = "detach"


@dataclass(frozen=True, slots=True)
class Difference:
    """One asked-for leaf that differs. `path` is a JSON pointer (RFC 6901) into the ARM body; a side is None where it
    has no such leaf; `rule` names what decided.
    """

    path: str
    desired: Any
    live: Any
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The outcome for one resource. `unverified` holds JSON pointers of asked-for leaves that Azure does not return;
    `because` says of some of them what else is not known.
    """

    verdict: Verdict
    differences: tuple[Difference, ...] = ()
    unverified: tuple[str, ...] = ()
    because: Mapping[str, str] = field(default_factory=dict)
