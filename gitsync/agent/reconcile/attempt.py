"""The state of one resource while a run reconciles it, and why that stopped.

An attempt is a frozen value in parts: what Azure showed, what follows from it, and what was sent. Each stage returns
the attempt with one more fact. It reaches neither Azure nor the run: a stage takes those from `run_views`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Self

from gitsync.agent.reconcile.write import Precondition, ValueRemoval, Write
from gitsync.desired.catalog.any_type import list_sent_members
from gitsync.desired.formats.ignored_paths import Paths, remove_paths
from gitsync.desired.validation.annotations import UPDATE_METHOD
from gitsync.extensions.api import LookupRequest, LookupResult, Subject
from gitsync.model.arm_id import NO_ID, ArmId, IdKey
from gitsync.model.check import CheckFinding, PlannedChange
from gitsync.model.condition import Condition
from gitsync.model.export import Address
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK, Key
from gitsync.model.identity import NO_IDS, IdentityIds
from gitsync.model.live import Live
from gitsync.model.outside import OutsideChange, RecordedOutside, ResetValue
from gitsync.model.plan import Apply, Prune, Reviewed
from gitsync.model.provider import Provider
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Record, WriteStreak
from gitsync.model.resource import Prepared
from gitsync.model.result import Replacement, Result
from gitsync.model.template import ComputedValue, Request, Template, list_computed_values
from gitsync.model.verdict import Action, Comparison, Verdict, Written
from gitsync.planning.diff.three_way import Remembered
from gitsync.planning.status.conditions import RECONCILING, check_subscription, make_unknown_state
from gitsync.providers.arm.session import Session


class StopKind(Enum):
    """What follows from a stop: whether another try may succeed, in this run or the next, without a change of the
    manifest, and whether the run fails.
    """

    WAITS = "waits"  # the cause may go away by itself: this run tries again
    LATE = "late"  # the time was up before any response: the stop of an earlier try reports more
    NEXT_RUN = "next-run"  # this run fails, the next may succeed
    FINAL = "final"  # each run fails until something changes
    TOLERATED = "tolerated"  # it waits for a change, and the run does not fail
    TOLERATED_NOW = "tolerated-now"  # it waits for what the next run may find, and this run does not fail
    FINE = "fine"  # nothing has to be done, though the condition is not True
    FINE_NOW = "fine-now"  # nothing has to be done in this run: the next may go on

    @property
    def is_retryable(self) -> bool:
        """Return whether another run may succeed without a change of the manifest."""
        return self not in _FINAL

    @property
    def is_fine(self) -> bool:
        """Return whether the resource is as it should be, though the condition is not True."""
        return self in _FINE

    @property
    def is_tolerated(self) -> bool:
        """Return whether the resource is not Ready, and the run does not fail."""
        return self in _TOLERATED


_FINE = frozenset({StopKind.FINE, StopKind.FINE_NOW})
_TOLERATED = frozenset({StopKind.TOLERATED, StopKind.TOLERATED_NOW})
_FINAL = frozenset({StopKind.FINAL, StopKind.TOLERATED, StopKind.FINE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why an attempt ended before its last stage."""

    condition: Condition
    verdict: Verdict | None = None  # None: that of the comparison
    kind: StopKind = StopKind.NEXT_RUN
    fault: Exception | None = None  # of a bug in gitsync
    blocked_by: Key | None = None  # the resource that the attempt waits for


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Observation:
    """What Azure showed of a resource."""

    live: Live | None = None  # None before it is read, or if Azure does not have it
    exists: bool | None = None  # None before a request is sent
    owner: Live | None = None  # the live owner, if a check needs it
    answers: Mapping[LookupRequest, LookupResult] = field(default_factory=dict)
    """The responses to the lookups of extensions."""

    is_listed: bool = False  # a list showed the resource as unchanged, so it is not read
    is_sampled: bool = False  # a list did, and it is read anyway
    missed_values: int = 0  # the number of tries that found no value for an expression
    writes_before: int = 0  # the number of this run's writes near the resource before the read
    children: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The bodies of those that go along with an update, by ARM ids in lower case."""

    brought: Mapping[IdKey, Comparison] = field(default_factory=dict)
    """How these children differ before, by the same ids."""

    leaving: frozenset[str] = frozenset()  # what this run then deletes of them, likewise


@dataclass(frozen=True, slots=True)
class OutsideAction:
    """What the command does about outside changes."""

    restores: tuple[OutsideChange, ...] = ()  # what a revert restores
    is_patch: bool = False  # the write is a PATCH of just these
    acknowledged: RecordedOutside | None = None  # what an acknowledgement records


_ONLY_REPORTED = OutsideAction()


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Decision:
    """What to do about a resource."""

    comparison: Comparison | None = None  # the last one, None before the first
    first_comparison: Comparison | None = None
    """The one that led to a write: the report shows it, even if a later comparison finds no difference."""

    action: Action = Action.NONE
    note: str = ""  # shows what a write does in addition
    is_untouched: bool = False  # nothing has changed since the record was made, so that it needs no new baseline
    reviewed: Reviewed | None = None  # the resource's part of a plan for review
    replacement: Replacement | None = None  # with one, Azure refuses the write, which is not sent
    streak: WriteStreak | None = None  # with one, something resets the resource after each write, which is not sent
    withheld: Verdict | None = None  # the verdict without the hold that stopped it
    outside: tuple[OutsideChange, ...] = ()
    """The changes in Azure of values that git does not set, as found before any write of this run."""

    outside_action: OutsideAction = _ONLY_REPORTED
    resets: tuple[ResetValue, ...] = ()  # what the write leaves out, so that Azure may reset it
    change: PlannedChange | None = None  # what will be written or deleted, for the checks
    checks: tuple[CheckFinding, ...] = ()  # what they found

    @property
    def reported(self) -> Comparison:
        """The comparison that a report shows."""
        return self.first_comparison or self.comparison or _NOT_COMPARED


_NOT_COMPARED = Comparison(verdict=Verdict.UNKNOWN)


_NOTHING_OBSERVED, _UNDECIDED, _UNWRITTEN = Observation(), Decision(), Write()


@dataclass(slots=True, kw_only=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class AttemptBase:
    """What an apply and a prune have in common."""

    subscription: str  # of the credential of the resource
    ids: IdentityIds = NO_IDS  # of the identity that signs in with it
    refusal: Condition | None  # why that credential cannot be used, None if it can
    session: Session
    before: Mapping[Key, Result]  # the results of the resource's dependencies
    observed: Observation = _NOTHING_OBSERVED
    decision: Decision = _UNDECIDED
    write: Write = _UNWRITTEN
    is_restarted: bool = False  # it is a further try in this run, which reads the resource again
    stop: Stop | None = None  # None while the attempt goes on

    def explain_out_of_reach(self, arm_id: ArmId) -> Condition | None:
        """Why the credential cannot act on an id, if that is so
        (docs/reference/reconciliation.md#subscription-check).
        """
        return self.refusal or check_subscription(arm_id, self.subscription)

    def stopped(
        self,
        condition: Condition,
        verdict: Verdict | None = None,
        kind: StopKind = StopKind.NEXT_RUN,
        *,
        fault: Exception | None = None,
        blocked_by: Key | None = None,
    ) -> Self:
        """The attempt with a reason to end it."""
        stop = Stop(condition=condition, verdict=verdict, kind=kind, fault=fault, blocked_by=blocked_by)
        return replace(self, stop=stop)

    def with_observed(self, observed: Observation) -> Self:
        """The attempt with another observation."""
        return replace(self, observed=observed)

    def with_decision(self, decision: Decision) -> Self:
        """The attempt with another decision."""
        return replace(self, decision=decision)

    def with_write(self, write: Write) -> Self:
        """The attempt with another write."""
        return replace(self, write=write)

    def with_precondition(self, precondition: Precondition) -> Self:
        """The attempt with another precondition of its write."""
        return self.with_write(replace(self.write, precondition=precondition))

    def with_live(self, live: Live | None) -> Self:
        """The attempt with the resource as it was just read; None if it does not exist."""
        return self.with_observed(replace(self.observed, live=live, exists=live is not None))

    def existing(self) -> Self:
        """The attempt of a resource that exists, and was not read."""
        return self.with_observed(replace(self.observed, exists=True))

    def absent(self) -> Self:
        """The attempt of a resource that does not exist."""
        return self.with_observed(replace(self.observed, exists=False))

    def unfinished(self) -> Self:
        """The attempt, whose operation goes on after the run: the next one continues it."""
        return self.with_write(replace(self.write, unfinished=True))

    def deleting(self, condition: Condition) -> Self:
        """The attempt, stopped by its timeout, of a resource whose delete Azure has accepted and not ended."""
        write = replace(self.write, unfinished=True, pending_delete=Written.ACCEPTED)
        return self.with_write(write).stopped(condition)

    def restarted(self) -> Self:
        """The same attempt at its first stage; what was sent is kept."""
        return replace(
            self,
            stop=None,
            observed=replace(
                self.observed, live=None, owner=None, is_listed=False, is_sampled=False, children={}, brought={}
            ),
            decision=replace(
                self.decision, comparison=None, action=Action.NONE, is_untouched=False, outside_action=_ONLY_REPORTED
            ),
            write=replace(self.write, unfinished=False),
            is_restarted=True,
        )


@dataclass(slots=True, kw_only=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class ApplyAttempt(AttemptBase):
    """An attempt to bring a resource to its state in git."""

    apply: Apply
    known_kind: Kind | None  # None if the catalog does not have it
    remembered: Remembered | None = None  # the last write, as the record has it or as this run made it
    request: Request | None = None  # made once its values are known, with Azure's values where they are handed over
    handed_over: Paths = ()  # the paths of these values
    id_doubt: str = ""  # why a plan does not have the ARM id, or cannot be sure of it
    exported: tuple[Address, ...] = ()  # the Secrets and config maps of the resource

    @property
    def key(self) -> Key:
        return self.apply.prepared.resource.key

    @property
    def record(self) -> Record | None:
        return self.apply.record

    @property
    def prepared(self) -> Prepared:
        return self.apply.prepared

    @property
    def policy(self) -> Policy:
        return self.apply.prepared.policy

    @property
    def provider(self) -> Provider:
        return self.apply.prepared.provider

    @property
    def rule_key(self) -> tuple[str, str]:
        return self.kind.rule_key

    @property
    def kind(self) -> Kind:
        if self.known_kind is None:
            raise AssertionError("a valid manifest is of a known kind")
        return self.known_kind

    @property
    def template(self) -> Template:
        if self.apply.prepared.template is None:
            raise AssertionError("a valid manifest has a template")
        return self.apply.prepared.template

    @property
    def filled_request(self) -> Request:
        """The request, once its values are resolved."""
        if self.request is None:
            raise AssertionError("the request is filled before it is used")
        return self.request

    @property
    def computed(self) -> tuple[ComputedValue, ...]:
        """The values of the request that expressions compute."""
        template = self.apply.prepared.template
        return list_computed_values(template) if template else ()

    @property
    def arm_id(self) -> ArmId:
        """The ARM id as far as it is known."""
        return self.request.arm_id if self.request else self.apply.prepared.arm_id or NO_ID

    @property
    def location(self) -> ArmId:
        """The ARM id as far as it is known, else that on record."""
        return self.arm_id or (self.record.arm_id if self.record else NO_ID)

    @property
    def api_version(self) -> str:
        return self.apply.prepared.api_version or ""

    @property
    def ignored(self) -> Paths:
        """The paths of the body that gitsync ignores."""
        return self.apply.prepared.ignored

    @property
    def desired(self) -> Mapping[str, Any]:
        """The body as it is compared and recorded: without the ignored paths."""
        desired: Mapping[str, Any] = remove_paths(self.filled_request.body, self.ignored)
        return desired

    @property
    def is_patched(self) -> bool:
        """Return whether an update is sent as a PATCH of what differs."""
        asks = self.prepared.resource.annotations.get(UPDATE_METHOD) == "patch"
        return asks and self.observed.live is not None and self.provider is Provider.ARM

    @property
    def is_resumed(self) -> bool:
        """An earlier run began an operation, and this one sent nothing. A replacement is not an operation in Azure."""
        record = self.record
        is_pending = record is not None and record.writes.operation is not None and not record.is_replacing
        return is_pending and self.write.sent is None

    @property
    def may_appear(self) -> bool:
        """Return whether an earlier run began a create that may not show yet; what it began to delete is gone."""
        operation = self.record.writes.operation if self.record else None
        return self.is_resumed and operation is not None and operation.kind != "delete"

    def with_request(self, request: Request, id_doubt: str) -> ApplyAttempt:
        """The attempt with its request, and with what is doubtful about the id."""
        return replace(self, request=request, id_doubt=id_doubt)

    def with_removal(self, removal: ValueRemoval) -> ApplyAttempt:
        """The attempt with another state of what Azure kept."""
        return self.with_write(replace(self.write, removal=removal))

    def describe_unsettled(self) -> Condition:
        """The condition of an operation that goes on when the time is up, with the last error of its polls; or an
        unknown state.
        """
        live = self.observed.live
        if live is not None and live.has_unknown_state:
            return make_unknown_state(live.provisioning_state or "")
        cause = self.session.last_error(self.session.stage)
        return replace(RECONCILING, message=f"{RECONCILING.message}. {cause}") if cause else RECONCILING

    def as_subject(self) -> Subject:
        """What extensions see of this attempt."""
        owner = (
            self.apply.prepared.relations.owner.key.name
            if self.apply.prepared.relations.owner and self.apply.prepared.relations.owner.key
            else ""
        )
        return Subject(
            key=self.key,
            gvk=self.apply.prepared.resource.gvk,
            spec=list_sent_members(self.kind, self.apply.prepared.resource.spec),
            rules_of=self.kind.counterpart,
            arm_id=self.arm_id,
            api_version=self.api_version,
            live=self.observed.live,
            owner=self.observed.owner,
            owner_name=owner,
            answers=self.observed.answers,
            children=self.observed.children,
            leaving=self.observed.leaving,
        )


@dataclass(slots=True, kw_only=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class PruneAttempt(AttemptBase):
    """An attempt to delete or forget a resource that was removed from git."""

    prune: Prune
    known_kind: Kind | None  # of the record's manifest; None if the catalog no longer has it

    @property
    def key(self) -> Key:
        return self.prune.key

    @property
    def record(self) -> Record:
        return self.prune.record

    @property
    def rule_key(self) -> tuple[str, str]:
        return self.known_kind.rule_key if self.known_kind else (self.key.group, self.key.kind)

    @property
    def provider(self) -> Provider:
        return self.known_kind.provider if self.known_kind else Provider.ARM

    @property
    def arm_id(self) -> ArmId:
        return self.record.arm_id

    @property
    def location(self) -> ArmId:
        return self.record.arm_id

    @property
    def is_resumed(self) -> bool:
        """An earlier run began a delete."""
        return self.record.writes.operation is not None and not self.record.is_replacing

    def as_subject(self) -> Subject:
        """What deleters see: the resource as read, without its manifest, which is no longer in git."""
        return Subject(
            key=self.key,
            gvk=GVK.parse(self.record.manifest.api_version, self.key.kind),
            spec={},
            rules_of=self.known_kind.counterpart if self.known_kind else None,
            arm_id=self.record.arm_id,
            api_version=self.record.arm_api_version,
            live=self.observed.live,
            owner_name=self.record.manifest.owner.name if self.record.manifest.owner else "",
        )


Attempt = ApplyAttempt | PruneAttempt
