"""One problem for what hinders many resources alike: a credential that cannot be used.

Each of these resources has the problem itself, or it would be reconciled. A report that repeats one missing Role for
each of them hides everything else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gitsync.model.problem import Problem

_SHARED = frozenset({"CredentialNotUsable"})


def merge_shared(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems in their order; of those about one credential only the first, with how many resources have it."""
    by_cause: dict[object, list[Problem]] = {}
    for number, problem in enumerate(problems):
        cause = (problem.code, problem.message) if problem.code in _SHARED else number
        by_cause.setdefault(cause, []).append(problem)
    return tuple(_merge(same) for same in by_cause.values())


def _merge(same: list[Problem]) -> Problem:
    first = same[0]
    return first if len(same) == 1 else replace(first, message=f"{len(same)} resources: {first.message}")
