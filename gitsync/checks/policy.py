"""policy."""

from __future__ import annotations

from collections.abc import Sequence

from gitsync.checks.questions import Questions
from gitsync.model.check import Findings, PlannedChange


async def check_policy(changes: Sequence[PlannedChange], questions: Questions) -> Findings:
    """To be written."""
    del changes, questions
    return []
