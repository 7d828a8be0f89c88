"""What a run finds out about its revision and its agent before it does anything: reasons to refuse it, and notes."""

from __future__ import annotations

from dataclasses import replace

from gitsync.config.config import Config
from gitsync.git.source.checkout import Checkout
from gitsync.git.source.history import is_published
from gitsync.git.state.stores import DEFAULT_BRANCH
from gitsync.model.plan import Plan
from gitsync.model.problem import Problem
from gitsync.model.record import State
from gitsync.planning.agents import find_unknown_agent, warn_agent_of_namespace
from gitsync.planning.run_problems import (
    describe_not_compared,
    describe_not_pushed,
    describe_superseded,
    find_missing_key,
    find_too_many_deletes,
)
from gitsync.reconcile.context import Connections
from gitsync.run.plan import refuse


def guard_plan(config: Config, connections: Connections, plan: Plan, state: State, agent: str, *, writes: bool) -> Plan:
    """Return the plan with the problems of the run as a whole. Raises SourceError or UnsafePlanError if a sync is
    refused.
    """
    problems = _find_run_problems(config, connections.source, plan, state, agent, writes=writes)
    refuse(config, connections, plan, problems, writes=writes)
    return replace(plan, problems=(*plan.problems, *problems))


def _find_run_problems(
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
    if config.allow_rollback or recorded is None or source.history is None:
        return None
    if source.revision is None or source.revision == recorded:
        return None
    is_older = source.history.precedes(recorded)
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
    if source.tree is None or source.remote is None or source.revision is None:
        return None
    branch = config.status_branch or DEFAULT_BRANCH
    if is_published(source.tree.repository, source.revision, source.remote, branch) is not False:
        return None
    return describe_not_pushed(source.revision, source.remote.name)
