"""A resource that Azure would have to delete and create again, in words that all forms of a report share."""

from __future__ import annotations

from collections.abc import Iterable

from gitsync.model.result import Result
from gitsync.planning.replacement import list_takes

REPLACE_NEEDED = "replace needed"
RULE = "replace-needed"
"""The name of such a finding for machines."""

_MOST = 10  # names in a sentence


def format_action(result: Result) -> str:
    """The action, or that none is possible."""
    return REPLACE_NEEDED if result.replacement else result.action.value


def describe_replacement(result: Result) -> str:
    """Why a delete is needed, and what it would take along; "" for any other resource."""
    if result.replacement is None:
        return ""
    return f"{result.replacement.reason} A delete would take along {list_takes(result.replacement.takes, _MOST)}."


def count_replacements(results: Iterable[Result]) -> str:
    """`1 replace needed`; "" if there is none."""
    count = sum(result.replacement is not None for result in results)
    return f"{count} {REPLACE_NEEDED}" if count else ""
