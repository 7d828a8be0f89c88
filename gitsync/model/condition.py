"""The `Ready` condition, as ASO writes it (docs/reference/reconciliation.md#ready-condition)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter


class ConditionStatus(StrEnum):
    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Severity(StrEnum):
    ERROR = "Error"
    WARNING = "Warning"
    INFO = "Info"
    NONE = ""


class WaitReason(StrEnum):
    """Reasons of a resource that did not fail: the run ended before it did, or a person has to decide first."""

    INTERRUPTED = "Interrupted"
    NOT_REACHED = "NotReached"
    FLAPPING = "Flapping"
    NOT_REVIEWED = "NotReviewed"
    SECRETS_NOT_REVIEWED = "SecretsNotReviewed"
    PLAN_OUTDATED = "PlanOutdated"
    REPLACE_NEEDED = "ReplaceNeeded"
    REPLACING = "Replacing"
    HELD = "Held"
    UNKNOWN_STATE = "UnknownState"


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Condition:
    """The condition of one resource. A change of the time, the request id or the advice alone is not a change of the
    condition.
    """

    status: ConditionStatus
    severity: Severity = Severity.NONE
    reason: str
    message: str = ""  # ASO's or Azure's own
    generation: int = 1  # of the spec which it is about
    time: str = ""  # RFC 3339 in UTC, with whole seconds
    request_id: str = ""  # Azure's, of the failed request
    advice: str = ""  # hints that only the failed attempt can give

    type = "Ready"

    @property
    def is_ready(self) -> bool:
        return self.status is ConditionStatus.TRUE

    def says_the_same(self, other: Condition | None) -> bool:
        """Return whether both are equal, apart from the time, the request id and the advice."""
        return other is not None and _select_lasting(self) == _select_lasting(other)


_select_lasting = attrgetter("status", "severity", "reason", "message", "generation")
