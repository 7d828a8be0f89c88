"""One node's turn: what is known of it so far, and why it stopped.

Apart from the stages, which are functions from one turn to the next: a turn is a frozen value, and grows by `replace`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gitsync.arm.client import Reader, Writer
from gitsync.arm.http.conversation import Conversation
from gitsync.diff.ignore import Paths, remove_paths
from gitsync.diff.three_way import Remembered
from gitsync.errors import ArmError
from gitsync.extensions.api import ActionCall, LookupRequest, LookupResult, Subject
from gitsync.model.condition import Condition
from gitsync.model.export import Address
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.live import Live
from gitsync.model.plan import Node
from gitsync.model.policy import Policy
from gitsync.model.record import WriteStreak
from gitsync.model.resource import Prepared
from gitsync.model.result import Result, Stage
from gitsync.model.review import Reviewed
from gitsync.model.template import Request
from gitsync.model.verdict import Action, Comparison, Verdict
from gitsync.planning.actions import find_remembered
from gitsync.planning.secret_digest import seal_body
from gitsync.reconcile.context import RunContext
from gitsync.reconcile.identities import ResourceIdentity
from gitsync.status.conditions import FAILED, RECONCILING, check_subscription, make_warning

LONGEST_PAUSE = 30.0
"""Seconds between two tries of a node at most; the first pause is one second
(docs/reference/reconciliation.md#retry-speeds).
"""


PRECONDITION_FAILED = 412


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why a turn ended before its last stage.

    `waits`: the cause may go away by itself, so retry in this run. `may_mend`: another run may succeed without a
    change of the manifest. `is_fine`: the resource is in sync, though the condition is not True. `fault`: the exception
    of a bug in gitsync.
    """

    condition: Condition
    verdict: Verdict | None = None
    waits: bool = False
    may_mend: bool = True
    is_fine: bool = False
    fault: Exception | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileAttempt:
    """What is known of one node.

    `exists` is None before Azure was asked. `told` is the comparison that led to a write: what the report shows, also
    where later looks find nothing more to do. `sent` is the request whose effect is not known to be undone, `done` the
    write that was accepted; `existed` tells whether the resource was there before the first try. `unfinished`: an
    operation goes on after the run. `row` is set where the resource is not written, since it is flapping. `near` counts
    this run's writes near the resource before it was read; `if_match` is the ETag that its own write demands, and
    `outrun` the one that a write was refused for. `reviewed` is what a plan says of it to who reviews that; `exported`
    are the Secrets and config maps that it exported. `answers` are those to what its extensions ask; `note` says what
    sending the body does in addition, and `called` holds the actions that were called for a check.
    """

    node: Node
    run: RunContext
    conversation: Conversation
    before: Mapping[Key, Result]
    remembered: Remembered | None = None
    live: Live | None = None
    owner: Live | None = None
    exists: bool | None = None
    request: Request | None = None
    comparison: Comparison | None = None
    told: Comparison | None = None
    action: Action = Action.NONE
    done: Action = Action.NONE
    sent: Request | None = None
    tried: bool = False
    existed: bool = False
    unfinished: bool = False
    row: WriteStreak | None = None
    near: int = 0
    if_match: str | None = None
    outrun: str | None = None
    reviewed: Reviewed | None = None
    exported: tuple[Address, ...] = ()
    answers: Mapping[LookupRequest, LookupResult] = field(default_factory=dict)
    note: str = ""
    called: tuple[ActionCall, ...] = ()
    stop: Stop | None = None

    @property
    def account(self) -> ResourceIdentity:
        """The identity of the node."""
        return self.run.accounts[self.node.key]

    def out_of_reach(self, arm_id: str) -> Condition | None:
        """Why the node's credential cannot act on an id, if that is so
        (docs/reference/reconciliation.md#subscription-check).
        """
        account = self.account
        return (
            make_warning(FAILED, account.refusal)
            if account.refusal
            else check_subscription(arm_id, account.subscription)
        )

    @property
    def reader(self) -> Reader:
        return self.account.azure().reader(self.conversation)

    @property
    def writer(self) -> Writer:
        return self.account.azure().writer(self.conversation)

    @property
    def prepared(self) -> Prepared:
        if self.node.prepared is None:
            raise AssertionError("only an apply has a manifest")
        return self.node.prepared

    @property
    def policy(self) -> Policy:
        """The reconcile policy of an apply."""
        return self.prepared.policy

    @property
    def kind(self) -> Kind:
        kind = self.run.catalog.kind(self.prepared.resource.gvk)
        if kind is None:
            raise AssertionError("a valid manifest is of a known kind")
        return kind

    @property
    def arm_id(self) -> str:
        """The id as far as it is known; an apply's alone."""
        if self.request:
            return self.request.arm_id
        return (self.node.prepared.arm_id if self.node.prepared else None) or ""

    @property
    def place(self) -> str:
        """The id of an apply or a prune, as far as it is known."""
        return self.arm_id or (self.node.record.arm_id if self.node.record else "")

    @property
    def api_version(self) -> str:
        return self.prepared.api_version or ""

    @property
    def ignored(self) -> Paths:
        """The paths of an apply's body that are left alone."""
        return self.node.prepared.ignored if self.node.prepared else ()

    @property
    def asked(self) -> Mapping[str, Any]:
        """The body as it is compared and remembered: without what is left alone."""
        if self.request is None:
            raise AssertionError("the request is made before its body is asked for")
        asked: Mapping[str, Any] = remove_paths(self.request.body, self.ignored)
        return asked

    @property
    def sealed(self) -> Mapping[str, Any]:
        """The same with digests in place of secrets."""
        return seal_body(self.asked, self.node.key, self.run.digests)

    def writing(self) -> ReconcileAttempt:
        """The turn right before its write, which demands the ETag that the resource was read with (RFC 9110 §13.1.1).

        It demands none where a write of this run may have moved it since, or where it was refused though nothing
        moved: then the provider means something else by it.
        """
        unmoved = self.run.memory.writes_near(self.place) == self.near
        etag = self.live.etag if self.live and unmoved else None
        self.run.memory.wrote(self.place)  # what is begun counts: who reads meanwhile may read what it makes
        return replace(self, if_match=etag if etag != self.outrun else None)

    def overtaken(self, condition: Condition) -> ReconcileAttempt:
        """The turn after its write was refused for the ETag: nothing was done, and it looks again."""
        self.run.memory.moved_nothing(self.place)
        return replace(self, outrun=self.if_match).stopped(condition, waits=True)

    def is_outrun(self, failure: ArmError) -> bool:
        """Tell whether a write was refused since the resource is not as it was read: look again, once."""
        return failure.status == PRECONDITION_FAILED and self.if_match is not None and self.outrun is None

    @property
    def is_resumed(self) -> bool:
        """An earlier run began an operation, and this one has sent nothing."""
        return self.node.record is not None and self.node.record.operation is not None and self.sent is None

    def at(self, stage: Stage) -> ReconcileAttempt:
        self.conversation.stage = stage
        self.run.progress.started(self.node.key, stage)
        return self

    def stopped(self, condition: Condition, verdict: Verdict | None = None, **more: Any) -> ReconcileAttempt:
        """The turn with a reason to end it; `more` are further members of `Stop`."""
        return replace(self, stop=Stop(condition=condition, verdict=verdict, **more))

    def still_moving(self) -> Condition:
        """The condition of what Azure still works at when the time is up, with the last cause of failed looks."""
        cause = self.conversation.last_error(self.conversation.stage)
        return replace(RECONCILING, message=f"{RECONCILING.message}. {cause}") if cause else RECONCILING

    def again(self) -> ReconcileAttempt:
        """The same turn, restarted at its first stage; the request sent and the comparison are kept."""
        return replace(self, stop=None, live=None, owner=None, comparison=None, action=Action.NONE, unfinished=False)

    def subject(self) -> Subject:
        """What extensions see of this turn."""
        owner = self.prepared.owner.key.name if self.prepared.owner and self.prepared.owner.key else ""
        return Subject(
            key=self.node.key,
            gvk=self.prepared.resource.gvk,
            spec=self.prepared.resource.spec,
            arm_id=self.arm_id,
            api_version=self.api_version,
            live=self.live,
            owner=self.owner,
            owner_name=owner,
            answers=self.answers,
        )


def begin_attempt(node: Node, before: Mapping[Key, Result], run: RunContext) -> ReconcileAttempt:
    """Start a node's turn: its time runs from now, and ends with the run's."""
    deadline = min(run.clock.monotonic() + run.rules.node_timeout, run.rules.deadline)
    conversation = Conversation(deadline=deadline)
    run.memory.joins(conversation)
    api_version = node.prepared.api_version if node.prepared else None
    ignored = node.prepared.ignored if node.prepared else ()
    remembered = find_remembered(node.record, api_version or "", ignored)
    return ReconcileAttempt(node=node, run=run, conversation=conversation, before=before, remembered=remembered)


async def pause(turn: ReconcileAttempt, tries: int) -> bool:
    """Wait before another try: 1 s, 2 s, 4 s … Returns False where the time is up first."""
    seconds = min(2.0**tries, LONGEST_PAUSE)
    clock = turn.run.clock
    if clock.monotonic() + seconds >= turn.conversation.deadline:
        return False
    await clock.sleep(seconds)
    return clock.monotonic() < turn.conversation.deadline
