"""Guards a run before it does anything: refuses an unsafe one, keeps it to a reviewed plan, and prompts before a first
sync.

Separate from `planning`, which has git and the records only: the guards limit a run by its settings, its revision, the
reviewed plan, and a person who may notice that the subscription is the wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gitsync.agent.reconcile.context import Connections
from gitsync.agent.run.run_plan import list_problems
from gitsync.desired.request.secret_digest import Digests
from gitsync.errors import ConfigError, DeclinedError, SourceError, UnsafePlanError
from gitsync.model.gvk import Key
from gitsync.model.plan import Plan, Review, Reviewed
from gitsync.model.problem import REFUSALS, Problem
from gitsync.model.record import State
from gitsync.model.report import RunTarget
from gitsync.model.result import Outcome, Result
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.run_problems import (
    describe_not_compared,
    describe_not_pushed,
    describe_superseded,
    fail_unread,
    find_missing_key,
    find_too_many_deletes,
    find_unknown_agent,
    warn_agent_of_namespace,
)
from gitsync.repository.git.source.checkout import Checkout, find_repository, find_revision
from gitsync.repository.git.source.history import is_published
from gitsync.repository.git.state.plan_file import read_plan
from gitsync.repository.git.state.plan_seal import find_fault, seal_plan
from gitsync.repository.git.state.store_choice import DEFAULT_BRANCH
from gitsync.settings.config.config import Config

_HINDERED = frozenset({Verdict.BLOCKED, Verdict.INVALID, Verdict.UNKNOWN})


def guard_plan(config: Config, connections: Connections, plan: Plan, state: State, agent: str, *, writes: bool) -> Plan:
    """Return the plan with the problems of the run as a whole. Raises SourceError or UnsafePlanError if a sync is
    refused.
    """
    problems = _list_run_problems(config, connections.source, plan, state, agent, writes=writes)
    refuse(config, connections, plan, (*plan.problems, *problems), writes=writes)
    return replace(plan, problems=(*plan.problems, *problems))


def refuse(config: Config, connections: Connections, plan: Plan, found: Iterable[Problem], *, writes: bool) -> None:
    """Stop before anything is touched: a dirty working tree, an invalid manifest with --strict, and each refusal that
    was `found`. A plan goes on with those, and shows them.

    Raises SourceError or UnsafePlanError.
    """
    # A record names the revision that it was written from, and no commit has these files.
    if writes and connections.source.dirty and not config.allow_dirty:
        raise SourceError(
            f"{connections.source.name} has uncommitted changes, so no revision would identify what was applied.",
            hint="Commit them, or run again with --allow-dirty.",
        )
    refuse_invalid(config, plan)
    refusal = next((problem for problem in found if problem.code in REFUSALS), None)
    if writes and refusal:
        where = f"{refusal.location}: " if refusal.location else ""
        raise UnsafePlanError(f"{refusal.code}: {where}{refusal.message}", hint=refusal.hint)


def refuse_invalid(config: Config, plan: Plan) -> None:
    """With --strict, raise SourceError with the first error of the manifests, or the first that is not read."""
    if config.strict and (not plan.complete or any(problem.is_unread for problem in plan.problems)):
        first = next(problem for problem in fail_unread(list_problems(plan)) if problem.is_error)
        raise SourceError(
            f"--strict refuses the run: {f'{first.location}: ' if first.location else ''}{first.message}",
            hint="Run `gitsync validate` to see every problem.",
        )


def _list_run_problems(
    config: Config, source: Checkout, plan: Plan, state: State, agent: str, *, writes: bool
) -> tuple[Problem, ...]:
    """Refusals (`gitsync.model.problem`) and warnings, each as far as it applies to a sync or to a plan."""
    found = (
        find_unknown_agent(agent, plan.applies, state.records),
        _compare_with_recorded(config, source, state.find_revision(agent)),
        _check_deletes(config, plan, state, agent),
        _check_publication(config, source) if writes else None,
        find_missing_key(state.records.values()) if writes else None,
    )
    return (*warn_agent_of_namespace(config.agent, agent), *filter(None, found))


def _compare_with_recorded(config: Config, source: Checkout, recorded: str | None) -> Problem | None:
    """An older revision is one whose job was started again, or waited longer than that of a newer one."""
    # A folder has no history that could show the order of revisions.
    if config.allow_rollback or recorded is None or source.history is None:
        return None
    # The same revision again is the usual run of a schedule.
    if source.revision is None or source.revision == recorded:
        return None
    is_older = source.history.precedes(recorded)
    # A shallow clone may lack the commit: unknown order is not an old revision.
    if is_older is None:
        return describe_not_compared(source.revision, recorded)
    return describe_superseded(source.revision, recorded) if is_older else None


def _check_deletes(config: Config, plan: Plan, state: State, agent: str) -> Problem | None:
    if not config.prune:
        return None
    ours = sum(record.claim.is_ours and record.agent == agent for record in state.records.values())
    return find_too_many_deletes(plan, ours, config.max_deletes)


def _check_publication(config: Config, source: Checkout) -> Problem | None:
    """Only a local repository can have a commit that its remote lacks."""
    # Only a local repository can have a commit that its remote lacks.
    if source.tree is None or source.remote is None or source.revision is None:
        return None
    branch = config.status_branch or DEFAULT_BRANCH
    # None is unknown, as without a connection, and no reason to report a commit as missing.
    if is_published(source.tree.repository, source.revision, source.remote, branch) is not False:
        return None
    return describe_not_pushed(source.revision, source.remote.name)


def load_approved_plan(config: Config, connections: Connections) -> Review | None:
    """Return the plan that --plan names; None without --plan.

    Raises ConfigError if it cannot be read, or was made from other input. Nothing was changed yet.
    """
    if config.plan_file is None:
        return None
    review = read_plan(Path(config.plan_file))
    inputs = {
        "repository": (review.repository, find_repository(connections.source)),
        "revision": (review.revision, find_revision(connections.source)),
        "prune": (review.prune, config.prune),
    }
    for name, (reviewed, current) in inputs.items():
        if reviewed != current:
            raise ConfigError(
                f"The plan {config.plan_file} was made with another {name}: {_format_value(reviewed)}, "
                f"but this run has {_format_value(current)}.",
                hint=f"Run with the same {name}, or create a new plan and have it reviewed.",
            )
    keys = [key for key in (config.digest_key, config.previous_digest_key) if key]
    if fault := find_fault(review, keys):
        raise ConfigError(f"The plan {config.plan_file} {fault[0]}.", hint=fault[1])
    return review


def _format_value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value or "none")


def make_review(config: Config, connections: Connections, results: Iterable[Result]) -> Review:
    """Make the content of a plan for review."""
    nodes: Mapping[Key, Reviewed] = {result.key: _make_reviewed(result) for result in results}
    review = Review(
        repository=find_repository(connections.source),
        revision=find_revision(connections.source),
        prune=config.prune,
        digest_key=Digests(config.digest_key).key_name,
        nodes=nodes,
    )
    return seal_plan(review, config.digest_key)


def _make_reviewed(result: Result) -> Reviewed:
    """Describe what was planned for a resource. One that could not be planned gets no action."""
    # The reviewer has seen that it cannot be planned, so the sync must not act on it either.
    if result.verdict in _HINDERED:
        return Reviewed(action=Action.NONE)
    return result.change.reviewed or Reviewed(action=result.action)


class ChangeCounts(NamedTuple):
    """How many resources a sync would change."""

    creates: int
    updates: int  # updated or adopted
    deletes: int
    hindered: int  # those that it could not act on


Confirm = Callable[[RunTarget, ChangeCounts], bool]
"""Prompts a person; returns whether the run may go on."""


def is_first_sync(state: State, agent: str) -> bool:
    """Return whether nothing is recorded for this agent yet."""
    return not any(record.agent in {"", agent} for record in state.records.values())


def count_changes(results: Iterable[Result]) -> ChangeCounts:
    """Count the results of a plan. An adopted resource may need no write."""
    creates = updates = deletes = hindered = 0
    for result in results:
        creates += result.action is Action.CREATE
        updates += result.action is Action.UPDATE or (result.verdict is Verdict.ADOPT and result.is_fine)
        deletes += result.action is Action.DELETE
        hindered += result.outcome in {Outcome.FAILED, Outcome.BLOCKED}
    return ChangeCounts(creates, updates, deletes, hindered)


def demand_consent(confirm: Confirm, target: RunTarget, counts: ChangeCounts) -> None:
    """Raise DeclinedError if the answer is no."""
    if not confirm(target, counts):
        raise DeclinedError(
            "The run was not confirmed, so nothing was changed.",
            hint="Run again and answer y, or set --yes.",
        )
