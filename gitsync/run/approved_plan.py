"""A plan for review: from a run to the plan file, and from that file to a narrower run.

Separate from `planning`, which knows git and the records only: this limits a sync to what a plan showed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from gitsync.config.config import Config
from gitsync.errors import ConfigError
from gitsync.git.source.checkout import find_repository, find_revision
from gitsync.git.state.plan_file import read_plan
from gitsync.model.gvk import Key
from gitsync.model.plan import Plan, Prune, Review, Reviewed
from gitsync.model.result import Result
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.plan import spread_holds
from gitsync.planning.secret_digest import Digests
from gitsync.reconcile.context import Connections

NOT_REVIEWED = "The reviewed plan does not {action} it."

_HINDERED = frozenset({Verdict.BLOCKED, Verdict.INVALID, Verdict.UNKNOWN})


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
                f"and this run has {_format_value(current)}.",
                hint=f"Run with the same {name}, or create a new plan and have it reviewed.",
            )
    return review


def _format_value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value or "none")


def narrow_plan(plan: Plan, review: Review | None) -> Plan:
    """Hold back every prune that the reviewed plan does not contain, and what must stay with it."""
    if review is None:
        return plan
    prunes = {key: _narrow_prune(prune, review.nodes.get(key)) for key, prune in plan.prunes.items()}
    return replace(plan, prunes=spread_holds(prunes))


def _narrow_prune(prune: Prune, reviewed: Reviewed | None) -> Prune:
    action = Action.DETACH if prune.detaches else Action.DELETE
    if prune.held or (reviewed is not None and reviewed.action is action):
        return prune
    return replace(prune, held=NOT_REVIEWED.format(action="delete" if action is Action.DELETE else "forget"))


def make_review(config: Config, connections: Connections, results: Iterable[Result]) -> Review:
    """The content of a plan for review."""
    nodes: Mapping[Key, Reviewed] = {result.key: _make_reviewed(result) for result in results}
    return Review(
        repository=find_repository(connections.source),
        revision=find_revision(connections.source),
        prune=config.prune,
        digest_key=Digests(config.digest_key).key_name,
        nodes=nodes,
    )


def _make_reviewed(result: Result) -> Reviewed:
    """A resource that could not be planned gets no action."""
    if result.verdict in _HINDERED:
        return Reviewed(action=Action.NONE)
    return result.reviewed or Reviewed(action=result.action)
