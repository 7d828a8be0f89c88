"""The question before the first sync of a target: a person who took the wrong subscription can still say no."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from gitsync.errors import DeclinedError
from gitsync.model.record import State
from gitsync.model.report import RunTarget
from gitsync.model.result import Outcome, Result
from gitsync.model.verdict import Action, Verdict


class ChangeCounts(NamedTuple):
    """How many resources a sync would create, update or adopt, and delete, and how many it could not act on."""

    creates: int
    updates: int
    deletes: int
    hindered: int


Confirm = Callable[[RunTarget, ChangeCounts], bool]
"""Asks a person; returns whether the run may go on."""


def is_first_sync(state: State, agent: str) -> bool:
    """Whether nothing is recorded for this agent yet."""
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
