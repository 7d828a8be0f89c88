"""Find the problems of a whole run: reasons to refuse it, and warnings about its revision and its agent.

Agents that share a status branch ignore each other's resources, so a run under a wrong name would do nothing, or create
what exists.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from gitsync.desired.formats.name_list import name_first
from gitsync.model.gvk import Key
from gitsync.model.manifests import Coverage
from gitsync.model.plan import Apply, Plan
from gitsync.model.problem import (
    AGENT_UNKNOWN,
    EMPTY_SOURCE,
    KEY_MISSING,
    SUPERSEDED,
    TOO_MANY_DELETES,
    Level,
    Problem,
)
from gitsync.model.record import Record, Trust
from gitsync.planning.delete_scope import list_deletes

DEFAULT_AGENT = "gitsync"

CHECK_SOURCE = "Check SOURCE and --path."

AGENT_OF_NAMESPACE = "AgentOfNamespace"
NOT_COMPARED = "RevisionNotCompared"
NOT_PUSHED = "CommitNotPushed"

_DEFAULT_DELETE_LIMIT = 10
_DEFAULT_DELETE_SHARE = 0.2  # of the resources that gitsync owns

_MOST_NAMED = 10  # resources in a message

_SHARED = frozenset({"CredentialNotUsable", "IdentityNotAllowed"})
"""The codes of problems that many resources have alike, with one cause."""


def find_too_many_deletes(plan: Plan, inventory: int, most: int | None) -> Problem | None:
    """Return the refusal of a plan that deletes more than `most`, or by default more than the smaller of 10 and 20 %
    (at least 1). It names the resources. `inventory` counts the records that gitsync owns.

    An empty source looks like a wrong folder, so by default it may delete nothing at all.
    """
    # Several records of one resource count once: only one has the claim.
    deletes = [prune for prune in list_deletes(plan.prunes) if prune.record.claim.is_ours]
    is_empty = any(problem.code == EMPTY_SOURCE for problem in plan.problems)
    # A wrong SOURCE or --path reads as a source in which everything was removed.
    limit = 0 if is_empty and most is None else compute_delete_limit(inventory, most)
    if len(deletes) <= limit:
        return None
    reason = "the source has none" if is_empty and most is None else f"the limit is {limit}"
    named = name_first([prune.key for prune in deletes], _MOST_NAMED)
    return Problem(
        code=TOO_MANY_DELETES,
        message=f"This run would delete {len(deletes)} of {inventory} resources, and {reason}: {named}.",
        hint=f"{f'{CHECK_SOURCE} ' if is_empty else ''}If this is intended, run again with --max-deletes "
        f"{len(deletes)}.",
    )


def compute_delete_limit(inventory: int, most: int | None) -> int:
    """Return how many resources a run may delete: `most`, or by default a share of those that gitsync owns."""
    # With fewer than five resources the share is less than one, and none could ever be deleted.
    return max(1, min(_DEFAULT_DELETE_LIMIT, int(inventory * _DEFAULT_DELETE_SHARE))) if most is None else most


def fail_unread(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Turn the warnings about unread documents with an ASO group into errors: for `validate` and --strict."""
    return tuple(replace(problem, level=Level.ERROR) if problem.is_unread else problem for problem in problems)


def warn_empty_source(coverage: Coverage, namespaces: Collection[str] = ()) -> tuple[Problem, ...]:
    """Warn if no resource was read: the folder or the revision may be another one than was meant. `namespaces` are
    those that the run is limited to.
    """
    if coverage.resources:
        return ()
    limit = f" in the namespaces of --target-namespaces ({', '.join(sorted(namespaces))})" if namespaces else ""
    hint = "The followed sources have no ASO resource: check their values." if coverage.followed else CHECK_SOURCE
    message = f"The source has no resource{limit}."
    return (Problem(code=EMPTY_SOURCE, level=Level.WARNING, message=message, hint=hint),)


def find_missing_key(records: Iterable[Record]) -> Problem | None:
    """Return the refusal of a sync that would write records without seals, since it lacks the key of the other runs."""
    if all(record.trust is not Trust.NO_KEY for record in records):
        return None
    return Problem(
        code=KEY_MISSING,
        message="The records are signed, but this run has no key, so it would write unsigned records.",
        hint="Set GITSYNC_DIGEST_KEY to the key that the other runs use.",
    )


def describe_superseded(revision: str, recorded: str) -> Problem:
    """Describe why a run refuses a revision that is an ancestor of the recorded one."""
    return Problem(
        code=SUPERSEDED,
        message=f"Revision {revision[:12]} is older than {recorded[:12]}, which was applied already.",
        hint="Run the newest revision. To go back to this one, revert in git, or run again with --allow-rollback.",
    )


def describe_not_compared(revision: str, recorded: str) -> Problem:
    """Describe a revision whose relation to the recorded one is unknown."""
    return Problem(
        code=NOT_COMPARED,
        level=Level.WARNING,
        message=f"The history between {revision[:12]} and {recorded[:12]}, which was applied last, cannot be read, so "
        "it is unknown which one is newer.",
        hint="Fetch the full history (fetch-depth: 0). After a force push, this warning ends with the next run.",
    )


def describe_not_pushed(revision: str, remote: str) -> Problem:
    """Describe a commit that no branch of the remote has."""
    return Problem(
        code=NOT_PUSHED,
        level=Level.WARNING,
        message=f"No branch of {remote} has the commit {revision[:12]}, so others cannot see what was applied.",
        hint="Push the commit to a branch.",
    )


def decide_agent(named: str | None, records: Iterable[Record], namespace: str) -> str:
    """Find the name of the agent: the given one, else the default.

    `namespace` is that of the pod, which was the name of an agent in earlier versions: it still is, if all records bear
    it.
    """
    if named is not None:
        return named
    # If other agents have records too, the namespace may be another agent's name, which must not be taken over.
    return namespace if namespace and {record.agent for record in records} == {namespace} else DEFAULT_AGENT


def warn_agent_of_namespace(named: str | None, agent: str) -> tuple[Problem, ...]:
    """Warn if an agent has its name from its namespace."""
    if named is not None or agent == DEFAULT_AGENT:
        return ()
    message = f"All records belong to the agent {agent}, which has its name from POD_NAMESPACE."
    hint = f"Set GITSYNC_AGENT={agent}: gitsync no longer takes the name of the agent from POD_NAMESPACE."
    return (Problem(code=AGENT_OF_NAMESPACE, level=Level.WARNING, message=message, hint=hint),)


def find_unknown_agent(agent: str, applies: Mapping[Key, Apply], records: Mapping[Key, Record]) -> Problem | None:
    """Return the refusal of an agent without any record, if another agent manages some of its resources: the name is
    new by mistake, or two agents have the same manifests.
    """
    if any(record.agent in {"", agent} for record in records.values()):
        return None
    held = {
        key: apply.record
        for key, apply in applies.items()
        if apply.record and apply.prepared.policy.allows_modify and not apply.prepared.is_watched
    }
    if not held:
        return None
    other, named = next(iter(held.values())).agent, name_first(list(held), _MOST_NAMED)
    return Problem(
        code=AGENT_UNKNOWN,
        message=f"No record belongs to the agent {agent}, and the agent {other} manages {named}.",
        hint=f"To take over its resources, run with --agent {other}. To manage others beside it, remove these "
        "manifests, or set another --status-branch.",
    )


def merge_shared(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems in their order; of those about one credential only the first, with the number of resources.

    Each of these resources has the problem itself, or it would be reconciled. A report that repeats one missing Role
    for each of them hides everything else.
    """
    by_cause: dict[object, list[Problem]] = {}
    for number, problem in enumerate(problems):
        cause = (problem.code, problem.message) if problem.code in _SHARED else number
        by_cause.setdefault(cause, []).append(problem)
    return tuple(
        replace(first, message=f"{len(others) + 1} resources: {first.message}") if others else first
        for first, *others in by_cause.values()
    )
