"""The order of a report: what failed, then what waits for that, then changes. A cause comes before its victims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gitsync.model.gvk import Key
from gitsync.model.result import Outcome, Result
from gitsync.report.names import reading_order, shorten_names
from gitsync.report.ordering import order_results

_RANKS = {outcome: rank for rank, outcome in enumerate(Outcome)}

UrgencyOrder = tuple[int, bool, tuple[str, Key]]
"""Sorts results: by outcome, then those that wait for another resource last, then by namespace and key."""


def find_urgency(result: Result) -> UrgencyOrder:
    return (_RANKS[result.outcome], result.blocked_by is not None, reading_order(result.key))


def sort_by_urgency(results: Iterable[Result]) -> list[Result]:
    """The most urgent first; among equals by resource group, and an owner before what it owns."""
    return sorted(order_results(results), key=lambda result: find_urgency(result)[:2])


def find_causes(results: Iterable[Result]) -> Mapping[Key, Key]:
    """For each resource that waits for another, the one that all began with: itself not waiting for a third."""
    waiting = {result.key: result.blocked_by for result in results if result.blocked_by}
    return {key: _follow(key, waiting) for key in waiting}


def describe_causes(results: Sequence[Result]) -> Mapping[Key, str]:
    """For each resource that waits for another: `blocked by Kind/name`."""
    causes = find_causes(results)
    names = shorten_names([*(result.key for result in results), *causes.values()])
    return {key: f"blocked by {names[cause]}" for key, cause in causes.items()}


def _follow(key: Key, waiting: Mapping[Key, Key]) -> Key:
    """The end of the chain; owners have no circles, and one in the input ends where it began."""
    seen = {key}
    while key in waiting and waiting[key] not in seen:
        key = waiting[key]
        seen.add(key)
    return key
