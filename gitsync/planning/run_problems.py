"""Problems of a whole run: reasons to refuse it, and warnings about its revision."""

from __future__ import annotations

from collections.abc import Iterable

from gitsync.model.plan import Plan
from gitsync.model.problem import KEY_MISSING, SUPERSEDED, TOO_MANY_DELETES, Level, Problem
from gitsync.model.record import Record, Trust

NOT_COMPARED = "RevisionNotCompared"
NOT_PUSHED = "CommitNotPushed"

MOST_DELETES = 10
SHARE_OF_DELETES = 0.2


def find_too_many_deletes(plan: Plan, inventory: int, most: int | None) -> Problem | None:
    """The refusal of a plan that deletes more than `most`, or by default more than the smaller of 10 and 20 % (at least
    1). It names the resources. `inventory` counts the records that gitsync owns.
    """
    prunes = [prune for prune in plan.prunes.values() if prune.record.claim.is_ours]
    deletes = [prune for prune in prunes if not prune.detaches and not prune.held]
    limit = most if most is not None else max(1, min(MOST_DELETES, int(inventory * SHARE_OF_DELETES)))
    if len(deletes) <= limit:
        return None
    named = ", ".join(str(prune.key) for prune in deletes[:MOST_DELETES])
    more = f" and {len(deletes) - MOST_DELETES} more" if len(deletes) > MOST_DELETES else ""
    return Problem(
        code=TOO_MANY_DELETES,
        message=f"This run would delete {len(deletes)} of {inventory} resources, and the limit is {limit}: "
        f"{named}{more}.",
        hint=f"If this is intended, run again with --max-deletes {len(deletes)}.",
    )


def find_missing_key(records: Iterable[Record]) -> Problem | None:
    """The refusal of a sync that would write records without seals, since it lacks the key of the other runs."""
    if all(record.trust is not Trust.NO_KEY for record in records):
        return None
    return Problem(
        code=KEY_MISSING,
        message="The records are signed, and this run has no key, so it would write records without seals.",
        hint="Set GITSYNC_DIGEST_KEY to the key that the other runs use.",
    )


def describe_superseded(revision: str, recorded: str) -> Problem:
    """The refusal of a revision that is an ancestor of the recorded one."""
    return Problem(
        code=SUPERSEDED,
        message=f"Revision {revision[:12]} is older than {recorded[:12]}, which was applied already.",
        hint="Run the newest revision. To go back to this one, revert in git, or run again with --allow-rollback.",
    )


def describe_not_compared(revision: str, recorded: str) -> Problem:
    """A note on a revision whose relation to the recorded one is unknown."""
    return Problem(
        code=NOT_COMPARED,
        level=Level.WARNING,
        message=f"The history between {revision[:12]} and {recorded[:12]}, which was applied last, cannot be read, so "
        "gitsync cannot tell which one is newer.",
        hint="Fetch the whole history (fetch-depth: 0). After a force push, the next run no longer says this.",
    )


def describe_not_pushed(revision: str, remote: str) -> Problem:
    """A warning of a commit that no branch of the remote has."""
    return Problem(
        code=NOT_PUSHED,
        level=Level.WARNING,
        message=f"No branch of {remote} has the commit {revision[:12]}, so others cannot see what was applied.",
        hint="Push the commit to a branch.",
    )
