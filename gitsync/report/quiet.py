"""Resources that need no attention: in sync, without any message. All forms of a report share this definition."""

from __future__ import annotations

from collections.abc import Iterable

from gitsync.model.result import Result
from gitsync.model.verdict import Action, Verdict
from gitsync.report.headline import format_plural

_UNTOUCHED = "Planned"
"""The reason of a condition that no run has set yet: a plan sets none."""


def is_quiet(result: Result) -> bool:
    """Tell whether a resource is in sync, unchanged, and Ready as far as that is known."""
    in_sync = result.verdict is Verdict.IN_SYNC and result.action is Action.NONE and result.is_fine
    return in_sync and (result.condition.is_ready or result.condition.reason == _UNTOUCHED)


def format_in_sync(results: Iterable[Result]) -> str:
    """The number of resources in words; all of them quiet."""
    quiet = list(results)
    ready = all(result.condition.is_ready for result in quiet)
    return f"{format_plural(len(quiet), 'resource')} in sync{' and Ready' if ready else ''}"
