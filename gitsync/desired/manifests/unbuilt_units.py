"""Units that cannot be built. What they declare is unknown, so a name that nothing else declares is not absent, and its
user waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from gitsync.desired.catalog.type_words import join_with_and
from gitsync.desired.manifests.units import UNKNOWN
from gitsync.desired.problems.finding import Finding
from gitsync.model.problem import Level, Problem
from gitsync.model.template import UNREADABLE, WAITING_FOR_UNIT

UNREAD_OBJECTS: Final = frozenset(
    {"DuplicateUnit", "InvalidApplication", "InvalidFluxObject", "TooDeep", "TooManyUnits"}
)
"""Codes of objects of controllers that may declare a unit, and are not followed."""

_NOT_FOLLOWED: Final = "GeneratorNotFollowed"  # a warning, since gitsync follows few generators
_MOST_NAMED: Final = 3

_Fault = TypeVar("_Fault", Finding, Problem)


def list_unbuilt(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """List the problems of units that cannot be built. A warning is about a unit that has nothing for gitsync, except
    for one of a generator.
    """
    failed = (
        problem
        for problem in problems
        if (problem.is_error and problem.code in UNKNOWN | UNREAD_OBJECTS) or problem.code == _NOT_FOLLOWED
    )
    return tuple(sorted(failed, key=lambda problem: problem.order))


def doubt_absence(absent: _Fault, begin: str, unbuilt: Sequence[Problem], suggestion: str = "") -> _Fault:
    """Return the finding of a name that no manifest declares: `absent`, or that it waits if a unit cannot be built.
    `begin` is how its message begins; `suggestion` is another name that may be meant, or where it is declared.
    """
    if not unbuilt:
        return absent
    fails = any(problem.is_error for problem in unbuilt)
    where = _join([problem.location for problem in unbuilt])
    waits = absent.level is Level.WARNING  # as its unit wants, or since another source may have it
    # The usual hint counts as well if another source may have it, or for a generator, which may never be followed.
    may_be_elsewhere = waits and absent.code not in UNREADABLE
    suggestion = suggestion or (absent.hint if may_be_elsewhere or not fails else "")
    return replace(
        absent,
        code=absent.code if waits else WAITING_FOR_UNIT,
        message=f"{begin}. {_describe(unbuilt)}",
        hint=f"{f'{suggestion} Otherwise, fix' if suggestion else 'Fix'} {where}: this resource follows.",
        level=Level.WARNING if waits or fails else Level.ERROR,
    )


def _describe(unbuilt: Sequence[Problem]) -> str:
    named = _join([_name(problem) for problem in unbuilt])
    if len(unbuilt) == 1:
        return f"The unit {named} cannot be built, and may declare it."
    return f"The units {named} cannot be built, and one of them may declare it."


def _name(problem: Problem) -> str:
    # An object that is not read has no name, and its problem has the folder of its cluster.
    is_named = problem.unit and problem.code in UNKNOWN and problem.code != _NOT_FOLLOWED
    return f"{problem.unit} ({problem.location})" if is_named else f"of {problem.location}"


def _join(texts: Sequence[str]) -> str:
    more = len(texts) - _MOST_NAMED
    return join_with_and([*texts[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
