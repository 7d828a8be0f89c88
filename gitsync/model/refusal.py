"""The problems for which a sync is refused as a whole, before anything was touched; a plan goes on and shows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gitsync.model.problem import Problem

TOO_MANY_DELETES = "TooManyDeletes"
SUPERSEDED = "RevisionSuperseded"
AGENT_UNKNOWN = "AgentUnknown"
KEY_MISSING = "DigestKeyMissing"

REFUSALS: Final = frozenset({TOO_MANY_DELETES, SUPERSEDED, AGENT_UNKNOWN, KEY_MISSING})
"""Their codes."""


def is_refused(problems: Iterable[Problem]) -> bool:
    """Whether a sync with these problems is refused."""
    return any(problem.code in REFUSALS for problem in problems)
