"""Which agent a run is, and whether the records know it. Agents that share a status branch leave each other's resources
alone, so a run under a wrong name would do nothing, or create what exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gitsync.model.gvk import Key
from gitsync.model.plan import Apply
from gitsync.model.problem import AGENT_UNKNOWN, Level, Problem
from gitsync.model.record import Record

DEFAULT_AGENT = "gitsync"
AGENT_OF_NAMESPACE = "AgentOfNamespace"

_MOST_NAMED = 10


def find_agent(named: str | None, records: Iterable[Record], namespace: str) -> str:
    """The name of the agent: the given one, else the default.

    `namespace` is that of the pod, which was the name of an agent in earlier versions: it still is, if all records bear
    it.
    """
    if named is not None:
        return named
    return namespace if namespace and {record.agent for record in records} == {namespace} else DEFAULT_AGENT


def warn_agent_of_namespace(named: str | None, agent: str) -> tuple[Problem, ...]:
    """A warning if an agent has its name from its namespace."""
    if named is not None or agent == DEFAULT_AGENT:
        return ()
    message = f"All records belong to the agent {agent}, which has its name from POD_NAMESPACE."
    hint = f"Set GITSYNC_AGENT={agent}: POD_NAMESPACE names no agent any more."
    return (Problem(code=AGENT_OF_NAMESPACE, level=Level.WARNING, message=message, hint=hint),)


def find_unknown_agent(agent: str, applies: Mapping[Key, Apply], records: Mapping[Key, Record]) -> Problem | None:
    """The refusal of an agent without any record, if another agent manages some of its resources: the name is new by
    mistake, or two agents have the same manifests.
    """
    if any(record.agent in {"", agent} for record in records.values()):
        return None
    held = {key: apply.record for key, apply in applies.items() if apply.record and _is_managed(apply)}
    if not held:
        return None
    other = next(iter(held.values())).agent
    named = ", ".join(str(key) for key in list(held)[:_MOST_NAMED])
    more = f" and {len(held) - _MOST_NAMED} more" if len(held) > _MOST_NAMED else ""
    return Problem(
        code=AGENT_UNKNOWN,
        message=f"No record belongs to the agent {agent}, and the agent {other} manages {named}{more}.",
        hint=f"To take over its resources, run with --agent {other}. To manage others beside it, remove these "
        "manifests, or set another --status-branch.",
    )


def _is_managed(apply: Apply) -> bool:
    return apply.prepared.policy.allows_modify and not apply.prepared.is_watched
