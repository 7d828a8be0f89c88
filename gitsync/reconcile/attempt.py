"""The state of one resource while a run reconciles it, and why that stopped.

An attempt is a frozen value: each stage returns it with one more fact. Effects are functions of the stages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from gitsync.arm.client import Reader, Writer
from gitsync.arm.lro.poll import AcceptedWrite
from gitsync.arm.session import Session
from gitsync.diff.ignore import Paths, remove_paths
from gitsync.diff.three_way import Remembered
from gitsync.extensions.api import ActionCall, LookupRequest, LookupResult, Subject
from gitsync.model.condition import Condition
from gitsync.model.export import Address
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK, Key
from gitsync.model.live import Live
from gitsync.model.plan import Apply, Prune
from gitsync.model.policy import Policy
from gitsync.model.record import Record, WriteStreak
from gitsync.model.resource import Prepared
from gitsync.model.result import Replacement, Result
from gitsync.model.review import Reviewed
from gitsync.model.template import Request, Template
from gitsync.model.verdict import Action, Comparison, Verdict
from gitsync.reconcile.identities import ResourceIdentity
from gitsync.status.conditions import FAILED, RECONCILING, check_subscription, make_warning


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why an attempt ended before its last stage.

    `waits`: the cause may go away by itself, so retry in this run. `is_retryable`: another run may succeed without a
    change of the manifest. `is_fine`: the resource is in sync, though the condition is not True. `fault`: the exception
    of a bug in gitsync. `blocked_by`: the resource that the attempt waits for. `is_tolerated`: the run does not fail.
    `is_late`: the time was up before anything answered, so the stop of an earlier try says more.
    """

    condition: Condition
    verdict: Verdict | None = None
    waits: bool = False
    is_retryable: bool = True
    is_fine: bool = False
    fault: Exception | None = None
    blocked_by: Key | None = None
    is_tolerated: bool = False
    is_late: bool = False


@dataclass(frozen=True, kw_only=True)
class ReconcileAttempt:
    """What an apply and a prune have in common.

    `before` are the results of the resource's dependencies. `exists` is None before Azure was asked.
    `first_comparison` is the one that led to a write: the report shows it, even if a later comparison finds no
    difference. `done` is the write that was accepted, and `unfinished` says that its operation goes on after the run.
    `writes_before` counts this run's writes near the resource before it was read. `if_match` is the ETag that its own
    write demands, and `outrun` the ETag of a refused write. `reviewed` is its part of a plan for review; `note` says
    what a write does in addition. `is_listed` says that a list showed the resource as unchanged, so it is not read.
    `replacement` says that Azure refuses the write.
    """

    identity: ResourceIdentity
    session: Session
    before: Mapping[Key, Result]
    live: Live | None = None
    exists: bool | None = None
    comparison: Comparison | None = None
    first_comparison: Comparison | None = None
    action: Action = Action.NONE
    done: Action = Action.NONE
    unfinished: bool = False
    writes_before: int = 0
    if_match: str | None = None
    outrun: str | None = None
    reviewed: Reviewed | None = None
    note: str = ""
    is_restarted: bool = False
    is_listed: bool = False
    replacement: Replacement | None = None
    stop: Stop | None = None

    @property
    def reader(self) -> Reader:
        return self.identity.azure().reader(self.session)

    @property
    def writer(self) -> Writer:
        return self.identity.azure().writer(self.session)

    def explain_out_of_reach(self, arm_id: str) -> Condition | None:
        """Why the credential cannot act on an id, if that is so
        (docs/reference/reconciliation.md#subscription-check).
        """
        identity = self.identity
        return (
            make_warning(FAILED, identity.refusal, identity.hint)
            if identity.refusal
            else check_subscription(arm_id, identity.subscription)
        )

    def stopped(self, condition: Condition, verdict: Verdict | None = None, **more: Any) -> Self:
        """The attempt with a reason to end it; `more` are further members of `Stop`."""
        return replace(self, stop=Stop(condition=condition, verdict=verdict, **more))

    def restarted(self) -> Self:
        """The same attempt at its first stage; what was sent is kept."""
        return replace(
            self,
            stop=None,
            live=None,
            comparison=None,
            action=Action.NONE,
            unfinished=False,
            is_restarted=True,
            is_listed=False,
        )


@dataclass(frozen=True, kw_only=True)
class ApplyAttempt(ReconcileAttempt):
    """An attempt to bring a resource to its state in git.

    `sent` is the last request, if Azure accepted it or may have; `reply` is the answer to it. `existed` tells
    whether the resource existed before the first try. `unseen` counts the reads that did not find what Azure had
    accepted, and `resent` tells that it was then sent again. `streak` is set if the resource is not written because
    something resets it. `exported` are its Secrets and config maps. `answers` are the answers to the lookups of its
    extensions, and `called` the actions that were called for a check. `id_doubt` says why a plan does not know the ARM
    id, or cannot be sure of it. `is_sampled` says that a list showed it as unchanged, and that it is read nevertheless.
    `is_untouched` says that nothing has changed since the record was made, so that it needs no new baseline.
    """

    apply: Apply
    known_kind: Kind | None
    remembered: Remembered | None = None
    owner: Live | None = None
    request: Request | None = None
    reply: AcceptedWrite | None = None
    sent: Request | None = None
    tried: bool = False
    existed: bool = False
    unseen: int = 0
    resent: bool = False
    streak: WriteStreak | None = None
    exported: tuple[Address, ...] = ()
    answers: Mapping[LookupRequest, LookupResult] = field(default_factory=dict)
    called: tuple[ActionCall, ...] = ()
    id_doubt: str = ""
    is_sampled: bool = False
    is_untouched: bool = False

    @property
    def key(self) -> Key:
        return self.apply.key

    @property
    def record(self) -> Record | None:
        return self.apply.record

    @property
    def prepared(self) -> Prepared:
        return self.apply.prepared

    @property
    def policy(self) -> Policy:
        return self.prepared.policy

    @property
    def kind(self) -> Kind:
        if self.known_kind is None:
            raise AssertionError("a valid manifest is of a known kind")
        return self.known_kind

    @property
    def template(self) -> Template:
        if self.prepared.template is None:
            raise AssertionError("a valid manifest has a template")
        return self.prepared.template

    @property
    def filled_request(self) -> Request:
        """The request, once its values are resolved."""
        if self.request is None:
            raise AssertionError("the request is filled before it is used")
        return self.request

    @property
    def arm_id(self) -> str:
        """The ARM id as far as it is known."""
        return self.request.arm_id if self.request else self.prepared.arm_id or ""

    @property
    def location(self) -> str:
        """The ARM id as far as it is known, else that on record."""
        return self.arm_id or (self.record.arm_id if self.record else "")

    @property
    def api_version(self) -> str:
        return self.prepared.api_version or ""

    @property
    def ignored(self) -> Paths:
        """The paths of the body that gitsync ignores."""
        return self.prepared.ignored

    @property
    def desired(self) -> Mapping[str, Any]:
        """The body as it is compared and recorded: without the ignored paths."""
        desired: Mapping[str, Any] = remove_paths(self.filled_request.body, self.ignored)
        return desired

    @property
    def is_resumed(self) -> bool:
        """An earlier run began an operation, and this one has sent nothing."""
        return self.record is not None and self.record.operation is not None and self.sent is None

    def restarted(self) -> Self:
        return replace(super().restarted(), owner=None, is_sampled=False, is_untouched=False)

    def describe_unsettled(self) -> Condition:
        """The condition of an operation that goes on when the time is up, with the last error of its polls."""
        cause = self.session.last_error(self.session.stage)
        return replace(RECONCILING, message=f"{RECONCILING.message}. {cause}") if cause else RECONCILING

    def as_subject(self) -> Subject:
        """What extensions see of this attempt."""
        owner = self.prepared.owner.key.name if self.prepared.owner and self.prepared.owner.key else ""
        return Subject(
            key=self.key,
            gvk=self.prepared.resource.gvk,
            spec=self.prepared.resource.spec,
            arm_id=self.arm_id,
            api_version=self.api_version,
            live=self.live,
            owner=self.owner,
            owner_name=owner,
            answers=self.answers,
        )


@dataclass(frozen=True, kw_only=True)
class PruneAttempt(ReconcileAttempt):
    """An attempt to delete or forget a resource that was removed from git. `known_kind` is the kind that the record's
    manifest was of; None if the catalog no longer has it.
    """

    prune: Prune
    known_kind: Kind | None

    @property
    def key(self) -> Key:
        return self.prune.key

    @property
    def record(self) -> Record:
        return self.prune.record

    @property
    def arm_id(self) -> str:
        return self.record.arm_id

    @property
    def location(self) -> str:
        return self.record.arm_id

    @property
    def is_resumed(self) -> bool:
        """An earlier run began a delete."""
        return self.record.operation is not None

    def as_subject(self) -> Subject:
        """What deleters see: the resource as read, without its manifest, which is no longer in git."""
        return Subject(
            key=self.key,
            gvk=GVK.parse(self.record.manifest_api_version, self.key.kind),
            spec={},
            arm_id=self.record.arm_id,
            api_version=self.record.arm_api_version,
            live=self.live,
            owner_name=self.record.owner.name if self.record.owner else "",
        )
