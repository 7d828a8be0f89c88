"""What came of one node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from gitsync.model.attribution import Attribution
from gitsync.model.check import CheckFinding, CheckVerdict, PlannedChange
from gitsync.model.condition import Condition, Hold, Severity
from gitsync.model.gvk import Key
from gitsync.model.hold import HeldUntil
from gitsync.model.plan import LastCommit, Reviewed
from gitsync.model.policy import Policy
from gitsync.model.problem import SourceLocation
from gitsync.model.record import Record
from gitsync.model.verdict import Action, Difference, Verdict, Written


class Outcome(StrEnum):
    """What came of a resource in a run, the most urgent first. The verdict is what the comparison said."""

    FAILED = "failed"  # it could not be read, checked or written, or its manifest is wrong
    BLOCKED = "blocked"  # it waits: for another resource, for Azure, or for a person
    CHANGED = "changed"  # written, or in a plan: to be written
    UNCHANGED = "unchanged"


class ManifestField(NamedTuple):
    """A field as its manifest has it (`spec.a[0]`), and its location there, or that of its nearest parent."""

    name: str
    source: SourceLocation


class Stage(StrEnum):
    """The stages of an apply, in order; a prune has policy, observe, act and poll."""

    POLICY = "policy"
    OWNER_CHECK = "owner-check"
    OBSERVE = "observe"
    PRE_CHECK = "pre-check"
    COMPARE = "compare"
    ACT = "act"
    POLL = "poll"
    READ_BACK = "read-back"
    POST_CHECK = "post-check"
    EXPORT = "export"


class Wait(NamedTuple):
    """What a resource waits for just now. `until` is when it goes on, in the clock's monotonic seconds; None if only
    the end of something else decides. `next_try` is the number of the try that comes then, 0 if nothing is tried again.
    """

    reason: str
    until: float | None = None
    next_try: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One failed try, kept so that failures before a success show. `at` is RFC 3339, UTC."""

    at: str
    stage: Stage
    status: int
    code: str
    message: str
    request_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A change that Azure refuses in place: the resource would have to be deleted and created again.

    `reason` is in full sentences. `takes` are the resources that the delete would take along, as far as git and the
    records know them: those below it, and `refers`, which refer to any of these and lose what they refer to.
    `given_ids` are ids that Azure gave the resource, which a new one would not have. `is_due`: a sync deletes and
    creates it, since git and the operator consent. `held` explains why it does not, in full sentences. `away` is for how
    many seconds the resource was gone; None if it was not replaced.
    """

    reason: str
    takes: tuple[Key, ...] = ()
    refers: tuple[Key, ...] = ()
    is_due: bool = False
    held: str = ""
    away: float | None = None
    given_ids: frozenset[str] = frozenset()

    @property
    def below(self) -> tuple[Key, ...]:
        """What is deleted with the resource."""
        return tuple(key for key in self.takes if key not in self.refers)


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Result:
    """The end of one node. `record` is what to remember; None means forget it.

    `is_fine` reports dependents that they may go on: Ready, or in a plan "would be". `exists` reports that Azure has the
    resource, which is enough for a dependent that is ours already. `is_retryable` reports that another try, in this run
    or the next, may go better without a change of the manifest. `fault` is what a bug in gitsync raised, if that ended
    the attempt. `owner` and `depends_on` are what the manifest names, or the last one that was recorded: the edges of
    the graph. `blocked_by` is the resource that it waits for, if it waits for one. `because` gives for some paths of
    `unverified` what else is not known, and `reviewed` is what a plan for review contains of the resource. `body` is
    that of a create in a plan, without secrets. `is_tolerated` reports that it is not Ready, and does not fail the run.
    `policy_reason` shows what decided about the policy, if the manifest did not. `rendered_by` is the unit that rendered
    the manifest; "" for one that is a document of its file.
    `sent` are the correlation ids of its writes, deletes and actions, those that Azure returned too.
    `last_commit` and `last_source` are those of a resource which was removed from git: the line of its last manifest is
    0 if only the file is known. `replacement` shows that it is not written, since
    Azure would refuse that. `renamed` is the other half of a rename: the resource that is deleted for this one, or
    created. `deleted_with` is the resource whose delete includes that of this one. `failed_since` is the time (RFC
    3339, UTC) since when a resource with the verdict FAILED_BEFORE has failed. `fields` has the field of the manifest
    for the paths of differences, as far as it is known. `change` is what a plan would do, for the checks, and `checks`
    are their findings, the most urgent first. `changed_by` are the changes in Azure that made the drift, as far as
    Azure has, the newest first. `live_body` is what a plan read of a resource that drifted; None for all others.
    `hold` leaves the resource as it is; if it would be changed otherwise, the verdict is HELD, and `withheld` what it
    is without the hold. `written` shows what a sync sent, whatever came of it.
    """

    key: Key
    manifest_api_version: str
    source: SourceLocation | None
    arm_id: str | None
    policy: Policy
    verdict: Verdict
    action: Action = Action.NONE
    condition: Condition
    is_fine: bool
    exists: bool = False
    is_retryable: bool = False
    differences: tuple[Difference, ...] = ()
    unverified: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    requests: int = 0
    sent: tuple[str, ...] = ()
    record: Record | None = None
    fault: Exception | None = field(default=None, repr=False)
    owner: Key | None = None
    depends_on: tuple[Key, ...] = ()
    because: Mapping[str, str] = field(default_factory=dict)
    reviewed: Reviewed | None = None
    body: Mapping[str, Any] | None = None
    blocked_by: Key | None = None
    is_tolerated: bool = False
    policy_reason: str = ""
    rendered_by: str = ""
    last_commit: LastCommit | None = None
    last_source: SourceLocation | None = None
    replacement: Replacement | None = None
    renamed: Key | None = None
    deleted_with: Key | None = None
    failed_since: str = ""
    fields: Mapping[str, ManifestField] = field(default_factory=dict)
    change: PlannedChange | None = field(default=None, repr=False)
    checks: tuple[CheckFinding, ...] = ()
    changed_by: tuple[Attribution, ...] = ()
    live_body: Mapping[str, Any] | None = field(default=None, repr=False)
    hold: HeldUntil | None = None
    withheld: Verdict | None = None
    written: Written = Written.NOTHING

    @property
    def needs_replacement(self) -> bool:
        """Return whether a sync leaves it as it is, since Azure would refuse the change in location."""
        return self.replacement is not None and not self.replacement.is_due

    @property
    def is_gone(self) -> bool:
        """Return whether a sync has deleted it, to the end."""
        return self.action is Action.DELETE and not self.exists

    @property
    def found(self) -> Verdict:
        """What the comparison found, whether or not a hold leaves it so."""
        return self.withheld or self.verdict

    @property
    def message(self) -> str:
        """The message of the condition; without one, the hold, or the reason of the policy."""
        return self.condition.message or (self.hold.sentence if self.hold else "") or self.policy_reason

    def list_found(self, verdict: CheckVerdict) -> list[CheckFinding]:
        """List what the checks found with one verdict."""
        return [finding for finding in self.checks if finding.verdict is verdict]

    @property
    def is_refused(self) -> bool:
        """Return whether a check shows that Azure would refuse the change."""
        return bool(self.list_found(CheckVerdict.REFUSED))

    @property
    def _is_plainly_unchanged(self) -> bool:
        """As nearly all are: no row of the table but the last applies."""
        has_ended_well = self.is_fine and self.verdict is Verdict.IN_SYNC and self.action is Action.NONE
        return has_ended_well and self.fault is None and self.replacement is None

    @property
    def outcome(self) -> Outcome:
        """What came of it: the row of the table that applies first."""
        if self._is_plainly_unchanged:
            return Outcome.UNCHANGED
        return next(outcome for outcome, applies in _OUTCOMES if applies(self))


_HOLDS = frozenset(Hold)


def _waits(result: Result) -> bool:
    """Return whether it waits. A severity of Info means that Azure still works on it."""
    if result.verdict in {Verdict.BLOCKED, Verdict.HELD} or result.needs_replacement:
        return True
    condition = result.condition
    return not result.is_fine and (condition.severity is Severity.INFO or condition.reason in _HOLDS)


_OUTCOMES: tuple[tuple[Outcome, Callable[[Result], bool]], ...] = (
    (Outcome.FAILED, lambda result: result.fault is not None),
    (Outcome.BLOCKED, _waits),
    (Outcome.FAILED, lambda result: not result.is_fine),
    (Outcome.CHANGED, lambda result: result.action is not Action.NONE),
    (Outcome.UNCHANGED, lambda _result: True),
)
