"""ONE RESOURCE, stage by stage.

A stage takes an attempt and returns it with one more fact, or stopped. The two tables below have the order of the
stages, and what each of them needs; a plan runs the same tables without the stages that act. `result_builder` makes
the result of an attempt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Generic, NamedTuple, TypeVar

from loguru import logger

from gitsync.errors import ArmError, DeadlineError, GitsyncError, MissingValueError
from gitsync.model.clock import Clock
from gitsync.model.gvk import GVK, Key
from gitsync.model.plan import Apply, Node, Prune
from gitsync.model.result import Outcome, Result, Stage
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.actions import WriteRules, find_remembered
from gitsync.reconcile.attempt import ApplyAttempt, PruneAttempt
from gitsync.reconcile.context import RunContext
from gitsync.reconcile.result_builder import build_apply_result, build_prune_result
from gitsync.reconcile.stages.act import act, poll, post_check
from gitsync.reconcile.stages.approval_check import review_apply, review_prune
from gitsync.reconcile.stages.delete import delete
from gitsync.reconcile.stages.export import ExportTools, export
from gitsync.reconcile.stages.flapping import pause_flapping
from gitsync.reconcile.stages.list_approval import approve_by_list, judge_entry, note_read
from gitsync.reconcile.stages.observe import compare, observe, pre_check
from gitsync.reconcile.stages.on_success import handle_success
from gitsync.reconcile.stages.owner_check import check_owner, check_policy
from gitsync.reconcile.stages.prune import check_group_content, check_prune, observe_prune, wait_for_dependents
from gitsync.reconcile.stages.read_back import read_back
from gitsync.reconcile.stages.refusal import handle_refusal
from gitsync.reconcile.stages.replacement_check import check_replacement
from gitsync.reconcile.stages.resolve_values import resolve_values
from gitsync.status.conditions import make_failed, make_fault, make_unreadable, make_warning
from gitsync.status.exit_code import FAULT

LONGEST_PAUSE = 30.0
"""The longest pause between two tries of a node, in seconds; the first is one second
(docs/reference/reconciliation.md#retry-speeds).
"""

A = TypeVar("A", ApplyAttempt, PruneAttempt)

_NEEDS_LOCK = attrgetter("locks")
_NO_LOCK = nullcontext()


class Step(NamedTuple, Generic[A]):
    """One stage. `run` does it, `acts` says that a plan leaves it out, and `locks` that it needs the write lock.
    `is_for_open` says that a resource which a list has approved leaves it out: there is nothing to read, send or check.
    """

    stage: Stage
    run: Callable[[A], Awaitable[A]]
    acts: bool = False
    locks: bool = False
    is_for_open: bool = False


class Stages(NamedTuple):
    """The stages of the applies and the prunes of a run."""

    of_apply: tuple[Step[ApplyAttempt], ...]
    of_prune: tuple[Step[PruneAttempt], ...]


async def reconcile(node: Node, before: Mapping[Key, Result], run: RunContext, stages: Stages) -> Result:
    """Bring one resource to its desired state (or delete it, if removed from git); in a plan, report the changes.

    `before` are the results of the resource's dependencies.
    """
    if isinstance(node, Apply):
        attempt = await _repeat(stages.of_apply, _begin_apply(node, before, run), run)
        result = build_apply_result(attempt, run.rules, run.clock.now(), run.redactions)
    else:
        prune_attempt = await _repeat(stages.of_prune, _begin_prune(node, before, run), run)
        result = build_prune_result(prune_attempt, run.rules, run.clock.now(), run.redactions)
    run.progress.finished(result)
    _log(result, writes=run.rules.writes)
    return result


def _log(result: Result, *, writes: bool) -> None:
    """A line for what changed or failed; the rest is only counted, at the end of the run.

    Without Azure's message: it may repeat a secret that the run has not read yet, and the report has it.
    """
    said = (_DONE if writes else _PLANNED).get(result.outcome)
    if said is None:
        return
    condition = result.condition
    logger.bind(
        resource=str(result.key),
        arm_id=result.arm_id or "",
        verdict=result.verdict.value,
        action=result.action.value,
        reason=condition.reason,
    ).info(said)


_DONE = {Outcome.CHANGED: "Resource changed", Outcome.FAILED: "Resource failed"}
_PLANNED = {Outcome.CHANGED: "Resource would change", Outcome.FAILED: "Resource failed"}


def make_stages(run: RunContext) -> Stages:
    """The stages of a run; a plan has none that act."""
    applies, prunes = _make_apply_steps(run), _make_prune_steps(run)
    if run.rules.writes:
        return Stages(applies, prunes)
    return Stages(tuple(one for one in applies if not one.acts), tuple(one for one in prunes if not one.acts))


def _make_apply_steps(run: RunContext) -> tuple[Step[ApplyAttempt], ...]:
    """The stages of an apply, in order."""
    rules, registry, cache, values, digests = run.rules, run.registry, run.cache, run.values, run.digests
    writes, exports = rules.writes, _make_export_tools(run)
    pause = partial(pause_flapping, limit=rules.flap_limit, clock=run.clock)
    succeed = partial(handle_success, registry=registry, values=values, writes=writes)
    return (
        Step(Stage.POLICY, partial(check_policy, agent=rules.agent)),
        Step(
            Stage.OWNER_CHECK,
            partial(check_owner, registry=registry, catalog=run.catalog, cache=cache, writes=writes),
        ),
        Step(Stage.OBSERVE, partial(resolve_values, values=values, clock=run.clock)),
        *_make_observing_steps(run),
        Step(Stage.COMPARE, partial(check_replacement, writes=writes), is_for_open=True),
        Step(Stage.COMPARE, pause, is_for_open=True),
        Step(Stage.COMPARE, partial(review_apply, approval=rules.approval, cache=cache, digests=digests)),
        *_make_acting_steps(run),
        Step(Stage.EXPORT, partial(export, tools=exports, clock=run.clock, writes=writes)),
        Step(Stage.EXPORT, succeed, is_for_open=True),
    )


def _make_observing_steps(run: RunContext) -> tuple[Step[ApplyAttempt], ...]:
    """The stages that find what differs in Azure: by a list, else by a read."""
    registry, cache, values, writes = run.registry, run.cache, run.values, run.rules.writes
    write_rules = WriteRules(adopts=run.rules.adopts, always_put=run.rules.always_put)
    compare_live = partial(
        compare, values=values, registry=registry, cache=cache, digests=run.digests, write_rules=write_rules
    )
    judge = partial(judge_entry, registry=registry, kept=run.outlets.kept, compare=compare_live)
    return (
        Step(Stage.OBSERVE, partial(approve_by_list, lists=run.lists, cache=cache, judge=judge, clock=run.clock)),
        Step(
            Stage.OBSERVE,
            partial(observe, values=values, registry=registry, cache=cache, writes=writes),
            is_for_open=True,
        ),
        Step(Stage.PRE_CHECK, partial(pre_check, registry=registry, writes=writes), is_for_open=True),
        Step(Stage.COMPARE, compare_live, is_for_open=True),
        Step(Stage.COMPARE, partial(note_read, lists=run.lists)),
    )


def _make_acting_steps(run: RunContext) -> tuple[Step[ApplyAttempt], ...]:
    """The stages that write, and look at what came of it."""
    registry, cache, digests = run.registry, run.cache, run.digests
    adopts, registers = run.rules.adopts, run.rules.registers
    refused = partial(handle_refusal, registry=registry, catalog=run.catalog, cache=cache, registers=registers)
    send = partial(act, registry=registry, cache=cache, digests=digests, refused=refused)
    follow = partial(poll, registry=registry, refused=refused)
    read = partial(read_back, cache=cache, digests=digests, adopts=adopts)
    check = partial(post_check, registry=registry, cache=cache, locks=run.locks, adopts=adopts)
    return (
        Step(Stage.ACT, send, acts=True, locks=True, is_for_open=True),
        Step(Stage.POLL, follow, acts=True, locks=True, is_for_open=True),
        Step(Stage.READ_BACK, read, acts=True, is_for_open=True),
        Step(Stage.POST_CHECK, check, acts=True, is_for_open=True),
    )


def _make_export_tools(run: RunContext) -> ExportTools:
    return ExportTools(
        registry=run.registry,
        outlets=run.outlets,
        values=run.values,
        redactions=run.redactions,
        agent=run.rules.agent,
        repository=run.rules.repository,
    )


def _make_prune_steps(run: RunContext) -> tuple[Step[PruneAttempt], ...]:
    """The stages of a prune, in order."""
    rules, registry, cache = run.rules, run.registry, run.cache
    writes, is_reviewed = rules.writes, rules.approval.is_reviewed
    return (
        Step(Stage.POLICY, partial(check_prune, registry=registry, agent=rules.agent, prunes=rules.prune)),
        Step(Stage.OWNER_CHECK, partial(wait_for_dependents, writes=writes)),
        Step(Stage.OBSERVE, partial(observe_prune, cache=cache, writes=writes, is_reviewed=is_reviewed)),
        Step(Stage.COMPARE, partial(review_prune, approval=rules.approval, cache=cache, digests=run.digests)),
        Step(Stage.ACT, partial(check_group_content, catalog=run.catalog)),
        Step(
            Stage.ACT,
            partial(delete, registry=registry, cache=cache, enter=partial(_enter, run=run)),
            acts=True,
            locks=True,
        ),
    )


def _begin_apply(apply: Apply, before: Mapping[Key, Result], run: RunContext) -> ApplyAttempt:
    prepared = apply.prepared
    return ApplyAttempt(
        apply=apply,
        known_kind=run.catalog.kind(prepared.resource.gvk),
        identity=run.identities[apply.key],
        session=run.sessions.begin(run.find_node_deadline()),
        before=before,
        remembered=find_remembered(apply.record, prepared.api_version or "", prepared.ignored),
    )


def _begin_prune(prune: Prune, before: Mapping[Key, Result], run: RunContext) -> PruneAttempt:
    return PruneAttempt(
        prune=prune,
        known_kind=run.catalog.kind(GVK.parse(prune.record.manifest_api_version, prune.key.kind)),
        identity=run.identities[prune.key],
        session=run.sessions.begin(run.find_node_deadline()),
        before=before,
    )


async def _repeat(steps: tuple[Step[A], ...], attempt: A, run: RunContext) -> A:
    """Run the stages, and again from the first one while the cause of a stop may go away and there is time."""
    tries, before = 0, None
    while True:
        attempt = await _run_steps(steps, attempt, run)
        if before and attempt.stop and attempt.stop.is_late:
            return replace(attempt, stop=before)
        if attempt.stop and attempt.is_listed:  # the list may have been wrong
            attempt = attempt.restarted()
            continue
        is_retried = attempt.stop is not None and attempt.stop.waits and run.rules.writes
        if not is_retried or not await _pause(tries, attempt.session.deadline, run.clock):
            return attempt
        attempt, tries, before = attempt.restarted(), tries + 1, attempt.stop


async def _pause(tries: int, deadline: float, clock: Clock) -> bool:
    """Wait before another try: 1 s, 2 s, 4 s … Returns False if the time is up first."""
    seconds = min(2.0**tries, LONGEST_PAUSE)
    if clock.monotonic() + seconds >= deadline:
        return False
    await clock.sleep(seconds)
    return clock.monotonic() < deadline


async def _run_steps(steps: tuple[Step[A], ...], attempt: A, run: RunContext) -> A:
    """Run the stages until one stops the attempt. Neighbours that need the write lock share one hold of it."""
    for locks, neighbours in groupby(steps, key=_NEEDS_LOCK):
        async with run.locks.hold(attempt.location) if locks and attempt.action is not Action.NONE else _NO_LOCK:
            for step in neighbours:
                if step.is_for_open and attempt.is_listed:
                    continue
                _enter(attempt, step.stage, run=run)
                try:
                    attempt = await step.run(attempt)
                except Exception as failure:  # noqa: BLE001 - a bug in one node must not lose the results of the others
                    return _break_off(attempt, failure)
                if attempt.stop:
                    return attempt
    return attempt


def _enter(attempt: A, stage: Stage, *, run: RunContext) -> None:
    """Note the stage, for the attempts of requests and for the display. Several steps may belong to one stage."""
    if attempt.session.stage is stage:
        return
    attempt.session.stage, key = stage, attempt.key
    run.progress.started(key, stage)
    logger.debug("Stage begins", resource=key, stage=stage.value)  # bind() costs more than an unwritten line


def _break_off(attempt: A, failure: Exception) -> A:
    """Return the attempt as it was before the failed stage, stopped with the failure."""
    match failure:
        case ArmError():
            verdict = None if attempt.first_comparison else Verdict.UNKNOWN
            return attempt.stopped(make_unreadable(failure), verdict, is_late=isinstance(failure, DeadlineError))
        case MissingValueError():
            return attempt.stopped(make_warning(failure.reason, failure.message, failure.hint), Verdict.BLOCKED)
        case GitsyncError() if failure.exit_code != FAULT:
            return attempt.stopped(make_failed(failure), Verdict.BLOCKED)
        case _:
            return attempt.stopped(make_fault(failure), Verdict.UNKNOWN, is_retryable=False, fault=failure)
