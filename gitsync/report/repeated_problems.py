"""Problems for people: one for many of the same code and cause.

The root of a large tree has hundreds of some, which hide all others. Forms for machines have each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from gitsync.model.problem import Problem

MOST = 10
"""Problems of one code and cause that are shown one by one."""

_PLACES = 3
_WORD = re.compile(r"[a-z]+(?:[-'][a-z]+)*")


def shorten_problems(problems: Iterable[Problem]) -> list[Problem]:
    """The problems in the order of the files; of more than `MOST` with one code and cause the first, with their number
    and the first places.
    """
    by_cause: dict[tuple[str, ...], list[Problem]] = {}
    for problem in sorted(problems, key=lambda one: one.order):
        by_cause.setdefault((problem.level, problem.code, _find_cause(problem)), []).append(problem)
    shown = (one for same in by_cause.values() for one in (same if len(same) <= MOST else [_join(same)]))
    return sorted(shown, key=lambda one: one.order)


def _find_cause(problem: Problem) -> str:
    """Message and hint without what differs from place to place: what is no word in lower case is a name, a path or a
    value, and so is a word of the field.
    """
    names = set(re.split(r"\W+", problem.field))
    words = (word.strip(".,:;()?`") for word in f"{problem.message} {problem.hint}".split())
    return " ".join(word if _WORD.fullmatch(word) and word not in names else "…" for word in words)


def _join(same: list[Problem]) -> Problem:
    first = same[0]
    places = ", ".join(map(_name_place, same[:_PLACES]))
    text = f"{len(same)} problems are like this one: {places} and {len(same) - _PLACES} more."
    renderers = first.rendered_by if all(one.rendered_by == first.rendered_by for one in same) else ()
    return replace(first, message=f"{first.message}\n{text}", rendered_by=renderers)


def _name_place(problem: Problem) -> str:
    return f"{problem.path}:{problem.line}" if problem.line else problem.path or problem.unit or "the source"
