"""ONE RESOURCE, stage by stage.

A stage takes an attempt and returns it with one more fact, or stopped; what it may reach of the run is a protocol of
`run_views`. The two tables below have the order of the stages; a plan runs the same tables without those that act.
`result_builder` makes the result of an attempt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from loguru import logger

from gitsync.agent.reconcile.attempt import ApplyAttempt, PruneAttempt, Stop, StopKind
from gitsync.agent.reconcile.context import RunContext
from gitsync.agent.reconcile.result_builder import build_apply_result, build_prune_result
from gitsync.agent.reconcile.run_cache import RunCache
from gitsync.agent.reconcile.stages.act import act, poll, post_check
from gitsync.agent.reconcile.stages.change_checks import check_apply, check_delete
from gitsync.agent.reconcile.stages.delete import delete
from gitsync.agent.reconcile.stages.export_values import export
from gitsync.agent.reconcile.stages.going_along import name_going_along
from gitsync.agent.reconcile.stages.hold_check import export_and_hold
from gitsync.agent.reconcile.stages.list_approval import approve_by_list, note_read
from gitsync.agent.reconcile.stages.lock_check import check_delete_locks, check_write_locks
from gitsync.agent.reconcile.stages.observe import compare, observe, pre_check
from gitsync.agent.reconcile.stages.on_success import handle_success
from gitsync.agent.reconcile.stages.outside_use import use_outside
from gitsync.agent.reconcile.stages.own_identity_check import check_own_delete, check_own_write
from gitsync.agent.reconcile.stages.owner_check import check_owner, check_policy, check_support
from gitsync.agent.reconcile.stages.parent_put import tell_brought
from gitsync.agent.reconcile.stages.prune import check_group_content, check_prune, observe_prune, wait_for_dependents
from gitsync.agent.reconcile.stages.read_back import read_back
from gitsync.agent.reconcile.stages.resolve_values import resolve_values
from gitsync.agent.reconcile.stages.value_removal import report_kept
from gitsync.agent.reconcile.stages.write_guards import (
    begin_replacement,
    check_replacement,
    pause_flapping,
    review_apply,
    review_prune,
)
from gitsync.errors import DeadlineError, ExitCode, GitsyncError, MissingValueError, ProviderError
from gitsync.model.clock import Clock
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Node, Prune
from gitsync.model.provider import Provider
from gitsync.model.result import Outcome, Result, Stage, Wait
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.actions import find_remembered
from gitsync.planning.status.advice import find_code_advice
from gitsync.planning.status.conditions import find_code, make_failed, make_fault, make_unreadable, make_warning
from gitsync.providers.arm.session import Session
from gitsync.settings.backoff import Backoff

_BACKOFF: Final = Backoff(most=30.0)
"""Between two tries of a node, until its deadline: as ASO's fastest (docs/reference/design.md#retries)."""

A = TypeVar("A", ApplyAttempt, PruneAttempt)

_NO_LOCK = nullcontext()


@dataclass(frozen=True, slots=True)  # no tuple, whose members take four times as long to get
class Step(Generic[A]):
    """One stage."""

    stage: Stage
    run: Callable[[A, RunContext], Awaitable[A]]
    is_for_open: bool = False  # a resource that a list has approved skips it: there is nothing to read, send or check


@dataclass(frozen=True, slots=True)
class Leg(Generic[A]):
    """Stages that follow each other. Those that do not act run in a plan too, and write nothing there. In a sync,
    `export_and_hold` and the last leg of an apply write to sinks.
    """

    steps: tuple[Step[A], ...]
    acts: bool = False  # a plan skips the stages, and so does a resource that a list has approved
    locks: bool = False  # the write lock is acquired once for the stages, if there is something to write


APPLY: tuple[Leg[ApplyAttempt], ...] = (
    Leg(
        (
            Step(Stage.POLICY, check_policy),
            Step(Stage.POLICY, check_support),
            Step(Stage.OWNER_CHECK, check_owner),
            Step(Stage.OBSERVE, resolve_values),
            Step(Stage.OBSERVE, approve_by_list),
            Step(Stage.OBSERVE, observe, is_for_open=True),
            Step(Stage.PRE_CHECK, pre_check, is_for_open=True),
            Step(Stage.COMPARE, compare, is_for_open=True),
            Step(Stage.COMPARE, note_read),
            Step(Stage.COMPARE, use_outside, is_for_open=True),
            # A held resource has no write, so it stops before the stages that guard or review one.
            Step(Stage.COMPARE, export_and_hold, is_for_open=True),
            Step(Stage.COMPARE, check_replacement, is_for_open=True),
            Step(Stage.COMPARE, check_write_locks, is_for_open=True),
            Step(Stage.COMPARE, check_own_write, is_for_open=True),
            Step(Stage.COMPARE, pause_flapping, is_for_open=True),
            Step(Stage.COMPARE, report_kept, is_for_open=True),
            Step(Stage.COMPARE, review_apply),
            Step(Stage.COMPARE, check_apply, is_for_open=True),
            # Last of its leg: the delete of a replacement must not begin while a later stage may still stop the write.
            Step(Stage.COMPARE, begin_replacement, is_for_open=True),
        )
    ),
    Leg(
        (
            Step(Stage.ACT, act),
            Step(Stage.POLL, poll),
        ),
        acts=True,
        locks=True,
    ),
    Leg(
        (
            Step(Stage.READ_BACK, read_back),
            Step(Stage.READ_BACK, tell_brought),
            Step(Stage.POST_CHECK, post_check),
        ),
        acts=True,
    ),
    Leg(
        (
            Step(Stage.EXPORT, export),
            Step(Stage.EXPORT, handle_success, is_for_open=True),
        )
    ),
)
"""The stages of an apply, in order."""

PRUNE: tuple[Leg[PruneAttempt], ...] = (
    Leg(
        (
            Step(Stage.POLICY, check_prune),
            Step(Stage.OWNER_CHECK, wait_for_dependents),
            Step(Stage.OWNER_CHECK, check_delete_locks),
            Step(Stage.OBSERVE, observe_prune),
            Step(Stage.COMPARE, check_own_delete),
            Step(Stage.COMPARE, name_going_along),
            Step(Stage.COMPARE, review_prune),
            Step(Stage.ACT, check_group_content),
            Step(Stage.ACT, check_delete),
        )
    ),
    Leg((Step(Stage.ACT, delete),), acts=True, locks=True),
)
"""The stages of a prune, in order."""


async def reconcile(node: Node, before: Mapping[Key, Result], run: RunContext) -> Result:
    """Bring one resource to its desired state (or delete it, if removed from git); in a plan, report the changes.

    `before` are the results of the resource's dependencies.
    """
    if isinstance(node, Apply):
        attempt = await _repeat(APPLY, _begin_apply(node, before, run), run)
        attempt = await _share_values(attempt, run) if run.values.is_source(attempt.key) else attempt
        result = build_apply_result(attempt, run.rules, run.clock.now(), run.redactions)
    else:
        prune_attempt = await _repeat(PRUNE, _begin_prune(node, before, run), run)
        result = build_prune_result(prune_attempt, run.rules, run.clock.now(), run.redactions)
    # Each change is one line, on the display for a person or else in the log.
    if not run.connections.progress.finished(result):
        _log(result, writes=run.rules.writes)
    return result


async def _share_values(attempt: ApplyAttempt, run: RunContext) -> ApplyAttempt:
    from gitsync.agent.reconcile.value_sources import share_values  # noqa: PLC0415 - an engine that most runs do not need

    try:
        await share_values(attempt, run)
    except Exception as failure:  # noqa: BLE001 - as in a stage
        return _break_off(attempt, failure, run.cache)
    return attempt


def _log(result: Result, *, writes: bool) -> None:
    """A line for what changed or failed; the rest is only counted, at the end of the run."""
    outcome = result.outcome
    if outcome not in {Outcome.CHANGED, Outcome.FAILED}:
        return
    fields = {
        "resource": str(result.key),
        "arm_id": result.arm_id or "",
        "verdict": result.verdict.value,
        "action": result.action.value,
        "reason": result.condition.reason,
    }
    if outcome is Outcome.CHANGED:
        logger.info("Resource changed" if writes else "Resource would change", **fields)
    else:
        logger.error("Resource failed", **fields, **_describe_failure(result))


def _describe_failure(result: Result) -> dict[str, str]:
    """Return what a person on call needs to find the failure: Azure's code and request id, and the code for `gitsync
    explain`. Unknown values are left out.
    """
    condition, last = result.condition, result.attempts[-1] if result.attempts else None
    known_code = find_code(condition) if find_code_advice(condition, result.arm_id) else ""
    # Without Azure's message, which may repeat a secret that the run has not read yet. The report has it.
    failure = {
        "code": last.code if last else known_code,
        "request_id": condition.request_id or (last.request_id if last else ""),
        "advice": known_code,
    }
    return {name: value for name, value in failure.items() if value}


def _begin_apply(apply: Apply, before: Mapping[Key, Result], run: RunContext) -> ApplyAttempt:
    prepared, identity = apply.prepared, run.identities[apply.key]
    return ApplyAttempt(
        apply=apply,
        known_kind=run.catalog.kind_of(prepared.resource),
        subscription=identity.subscription,
        ids=identity.ids,
        refusal=identity.refusal,
        session=run.begin_session(is_watched=prepared.is_watched),
        before=before,
        remembered=find_remembered(apply.record, prepared.api_version or "", prepared.ignored),
    )


def _begin_prune(prune: Prune, before: Mapping[Key, Result], run: RunContext) -> PruneAttempt:
    identity = run.identities[prune.key]
    return PruneAttempt(
        prune=prune,
        known_kind=run.catalog.kind_of_record(prune.record),
        subscription=identity.subscription,
        ids=identity.ids,
        refusal=identity.refusal,
        session=run.begin_session(),
        before=before,
    )


async def _repeat(legs: tuple[Leg[A], ...], attempt: A, run: RunContext) -> A:
    """Run the stages, and again from the first one while the cause of a stop may go away and there is time.

    This is not `backoff.retry`, which repeats a call that raises: a stop is a value, and the next try keeps what the
    one before has learned. Only this repeats a write after a refusal such as a 409; the stage that got it has
    stopped with WAITS, by `may_recover` of planning/status/passing_refusals.py.
    """
    tries, before = 0, None
    while True:
        attempt = await _run_stages(legs, attempt, run)
        if before and attempt.stop and attempt.stop.kind is StopKind.LATE:
            return replace(attempt, stop=before)  # the earlier cause helps more than a timeout without a response
        if attempt.stop and attempt.observed.is_listed:  # the list may have been wrong
            attempt = attempt.restarted()
            continue
        # A plan changes nothing that the cause of a stop could wait for, so it reports the stop as it is.
        if attempt.stop is None or attempt.stop.kind is not StopKind.WAITS or not run.rules.writes:
            return attempt
        if not await _pause(tries, attempt.stop, attempt.session, run.clock):
            return attempt
        attempt, tries, before = attempt.restarted(), tries + 1, attempt.stop


async def _pause(tries: int, stop: Stop, session: Session, clock: Clock) -> bool:
    """Wait before another try: 1 s, 2 s, 4 s … Returns False if the time is up first."""
    until = clock.monotonic() + (seconds := _BACKOFF.compute_wait(tries))
    if until >= session.deadline:
        return False
    with session.waiting(Wait(stop.condition.reason, until, tries + 2)):
        await clock.sleep(seconds)
    # A stop of the run ends the sleep early and moves the deadline to that moment.
    return clock.monotonic() < session.deadline


async def _run_stages(legs: tuple[Leg[A], ...], attempt: A, run: RunContext) -> A:
    """Run the stages until one stops the attempt."""
    for leg in legs:
        if leg.acts and (attempt.observed.is_listed or not run.rules.writes):
            continue
        # What has nothing to send must not hold up the writes near it.
        is_locked = leg.locks and attempt.decision.action is not Action.NONE
        async with run.locks.acquire(attempt.location, attempt.session) if is_locked else _NO_LOCK:
            for step in leg.steps:
                if step.is_for_open and attempt.observed.is_listed:
                    continue
                if attempt.session.stage is not step.stage:  # several steps may belong to one stage
                    run.enter(attempt, step.stage)
                try:
                    attempt = await step.run(attempt, run)
                except Exception as failure:  # noqa: BLE001 - a bug in one node must not lose the results of the others
                    return _break_off(attempt, failure, run.cache)
                if attempt.stop:
                    return attempt
    return attempt


def _break_off(attempt: A, failure: Exception, cache: RunCache) -> A:
    """Return the attempt as it was before the failed stage, stopped with the failure."""
    match failure:
        case ProviderError():
            verdict = None if attempt.decision.first_comparison else Verdict.UNKNOWN
            # A server that this run creates, or opens a firewall of, is there some minutes later.
            is_new = attempt.provider is not Provider.ARM and cache.count_writes_near(attempt.location) > 0
            kind = StopKind.WAITS if is_new and failure.is_outage else StopKind.NEXT_RUN
            if isinstance(failure, DeadlineError):
                kind = StopKind.LATE
            return attempt.stopped(make_unreadable(failure), verdict, kind)
        case MissingValueError():
            return attempt.stopped(make_warning(failure.reason, failure.message, failure.hint), Verdict.BLOCKED)
        # An error that gitsync expects has a message for the user; anything else is a bug of its own.
        case GitsyncError() if failure.exit_code != ExitCode.FAULT:
            return attempt.stopped(make_failed(failure), Verdict.BLOCKED)
        case _:
            return attempt.stopped(make_fault(failure), Verdict.UNKNOWN, StopKind.FINAL, fault=failure)
