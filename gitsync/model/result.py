"""The result of one node of the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from gitsync.model.arm_id import ArmId
from gitsync.model.attribution import Attribution
from gitsync.model.check import CheckFinding, CheckVerdict, PlannedChange
from gitsync.model.condition import Condition, Severity, WaitReason
from gitsync.model.gvk import Key
from gitsync.model.hold import HeldUntil
from gitsync.model.identity import IdentityChange
from gitsync.model.outside import OutsideChange, ResetValue
from gitsync.model.plan import LastCommit, Reviewed
from gitsync.model.problem import SourceLocation
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Record
from gitsync.model.verdict import DRIFTED, Action, Difference, Verdict, Written


class Outcome(StrEnum):
    """The outcome of a resource in a run, the most urgent first. The verdict is the result of the comparison."""

    FAILED = "failed"  # it could not be read, checked or written, or its manifest is wrong
    BLOCKED = "blocked"  # it waits: for another resource, for Azure, or for a person
    CHANGED = "changed"  # written, or in a plan: would be written
    UNCHANGED = "unchanged"


class ManifestField(NamedTuple):
    """A field as its manifest has it (`spec.a[0]`), and its location, or that of its nearest parent."""

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
    """What a resource is waiting for."""

    reason: str
    until: float | None = None
    """When it goes on, in the clock's monotonic seconds; None if it waits for something else to end."""

    next_try: int = 0  # the number of the next try, 0 if nothing is tried again


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedRequest:
    """One request that failed, kept so that a report shows failures before a success."""

    at: str  # RFC 3339, UTC
    stage: Stage
    status: int  # of HTTP, 0 without a response
    code: str  # Azure's, or gitsync's if Azure returned none
    message: str  # Azure's own
    request_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A change that Azure refuses in place: the resource would have to be deleted and created again."""

    reason: str  # in full sentences
    takes: tuple[Key, ...] = ()
    """The resources that the delete affects, as far as git and the records have them: those below it, and `refers`."""

    refers: tuple[Key, ...] = ()  # the resources that refer to any of those, and lose their target
    is_due: bool = False  # a sync deletes and creates it, since git and the operator consent
    kept_because: str = ""  # why it does not, in full sentences
    away: float | None = None  # for how many seconds the resource did not exist; None if it was not replaced
    given_ids: frozenset[str] = frozenset()  # ids that Azure generated for the resource, which a new one would not have

    @property
    def below(self) -> tuple[Key, ...]:
        """The resources that are deleted with this one."""
        return tuple(key for key in self.takes if key not in self.refers)


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class ManifestOrigin:
    """The manifest of a resource, or what the record has of one that was removed from git."""

    api_version: str  # of the manifest, with its group
    source: SourceLocation | None  # None for a resource that was removed from git
    policy: Policy
    policy_reason: str = ""  # the origin of the policy, if it is not the manifest
    owner: Key | None = None  # with `depends_on`, the edges of the graph
    depends_on: tuple[Key, ...] = ()
    rendered_by: str = ""  # the unit that rendered it; "" for a document of its file
    hold: HeldUntil | None = None  # keeps the resource as it is
    last_commit: LastCommit | None = None  # that of a resource that was removed from git
    last_source: SourceLocation | None = None  # the same: its line is 0 if only the file is known


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class ComparisonNotes:
    """What belongs to the differences of a resource."""

    unverified: tuple[str, ...] = ()  # the paths that could not be compared
    because: Mapping[str, str] = field(default_factory=dict)  # another reason for some of them
    fields: Mapping[str, ManifestField] = field(default_factory=dict)
    """The field of the manifest for the paths of differences, as far as it is known."""

    live_body: Mapping[str, Any] | None = field(default=None, repr=False)
    """What a plan read of a resource that drifted, changed outside of git, or may lose values; None for all others."""

    withheld: Verdict | None = None  # the verdict without the hold, if that made it HELD
    outside: tuple[OutsideChange, ...] = ()
    """The changes in Azure of values that git does not set: those that weaken the estate first, then by path."""


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class ResultChange:
    """What a plan would change, and what is known of it before it is sent."""

    planned: PlannedChange | None = field(default=None, repr=False)  # for the checks
    checks: tuple[CheckFinding, ...] = ()  # their findings, the most urgent first
    body: Mapping[str, Any] | None = None  # of a create in a plan, without secrets
    default_tags: Mapping[str, SourceLocation] = field(default_factory=dict)  # those in `body`, and where each is set
    reviewed: Reviewed | None = None  # the resource's part of a plan for review
    replacement: Replacement | None = None  # with one, it is not written, since Azure would refuse that
    renamed: Key | None = None  # the other half of a rename: the resource that is deleted for this one, or created
    deleted_with: Key | None = None  # the resource whose delete includes this one
    restores: tuple[OutsideChange, ...] = ()  # the changes outside of git's fields that a revert undoes
    resets: tuple[ResetValue, ...] = ()  # what a PUT leaves out, so that Azure may reset it, by path
    identity: IdentityChange | None = None  # None if the identity is the same as before, or unknown


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class AttemptEnding:
    """How the attempt at a resource ended, and what it sent."""

    exists: bool = False  # Azure has the resource, which is enough for a dependent that gitsync already manages
    is_retryable: bool = False  # another try, in this run or the next, may succeed without a change of the manifest
    is_tolerated: bool = False  # it is not Ready, but does not fail the run
    fault: Exception | None = field(default=None, repr=False)  # a bug in gitsync that ended the attempt
    blocked_by: Key | None = None  # the resource that it waits for
    failed_since: str = ""  # when one with the verdict FAILED_BEFORE began to fail (RFC 3339, UTC)
    requests: int = 0
    sent: tuple[str, ...] = ()  # the correlation ids of its writes, deletes and actions, with those that Azure returned
    written: Written = Written.NOTHING  # what a sync sent, whatever its result


NOTHING_NOTED = ComparisonNotes()
NOTHING_CHANGED = ResultChange()
NOT_ATTEMPTED = AttemptEnding()


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Result:
    """The result of one node."""

    key: Key
    arm_id: ArmId | None  # None if it is not known
    manifest: ManifestOrigin
    verdict: Verdict
    action: Action = Action.NONE
    condition: Condition
    is_fine: bool  # its dependents can go on: it is Ready, or in a plan "would be"
    differences: tuple[Difference, ...] = ()
    changed_by: tuple[Attribution, ...] = ()
    """The changes in Azure that caused the drift, as far as Azure reports them, the newest first."""

    comparison: ComparisonNotes = NOTHING_NOTED
    change: ResultChange = NOTHING_CHANGED
    attempts: tuple[FailedRequest, ...] = ()
    ending: AttemptEnding = NOT_ATTEMPTED
    record: Record | None = None  # the new one; None means that it is removed

    @property
    def needs_replacement(self) -> bool:
        """Return whether a sync does not write it, since Azure would refuse to change it in place."""
        replacement = self.change.replacement
        return replacement is not None and not replacement.is_due

    @property
    def is_gone(self) -> bool:
        """Return whether a sync deleted it and saw the delete end."""
        return self.action is Action.DELETE and not self.ending.exists

    @property
    def found(self) -> Verdict:
        """The verdict of the comparison, without the effect of a hold."""
        return self.comparison.withheld or self.verdict

    @property
    def has_changed_in_azure(self) -> bool:
        """Return whether somebody changed it in Azure, in fields that git sets or beside them."""
        return self.found in DRIFTED or bool(self.comparison.outside)

    @property
    def message(self) -> str:
        """The message of the condition; without one, that of the hold, or the reason for the policy."""
        hold = self.manifest.hold
        return self.condition.message or (hold.sentence if hold else "") or self.manifest.policy_reason

    def list_found(self, verdict: CheckVerdict) -> list[CheckFinding]:
        """List the findings of checks with one verdict."""
        return [finding for finding in self.change.checks if finding.verdict is verdict]

    @property
    def is_refused(self) -> bool:
        """Return whether a check found that Azure would refuse the change."""
        return bool(self.list_found(CheckVerdict.REFUSED))

    @property
    def outcome(self) -> Outcome:
        """The outcome: that of the first row of the table that applies."""
        return next(outcome for outcome, applies in _OUTCOMES if applies(self))


_WAIT_REASONS = frozenset(WaitReason)


def _waits(result: Result) -> bool:
    """Return whether it waits. A severity of Info means that Azure still works on it."""
    if result.verdict in {Verdict.BLOCKED, Verdict.HELD} or result.needs_replacement:
        return True
    condition = result.condition
    return not result.is_fine and (condition.severity is Severity.INFO or condition.reason in _WAIT_REASONS)


_OUTCOMES: tuple[tuple[Outcome, Callable[[Result], bool]], ...] = (
    # A bug ends an attempt in any state, also in one that looks like waiting, so it comes first.
    (Outcome.FAILED, lambda result: result.ending.fault is not None),
    (Outcome.BLOCKED, _waits),
    (Outcome.FAILED, lambda result: not result.is_fine),
    (Outcome.CHANGED, lambda result: result.action is not Action.NONE),
    (Outcome.UNCHANGED, lambda _result: True),
)
