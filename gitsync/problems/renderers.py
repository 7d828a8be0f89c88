"""Problems of manifests that several units render: one problem, with all of these units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gitsync.model.problem import Problem

_MOST_RENDERERS = 3  # names in a sentence


def join_renderers(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Join the problems of units in the order of the files, each once: units may have a file in common."""
    renderers: dict[Problem, set[str]] = {}
    for problem in problems:
        renderers.setdefault(replace(problem, rendered_by=()), set()).update(problem.rendered_by)
    joined = (replace(problem, rendered_by=tuple(sorted(names))) for problem, names in renderers.items())
    return tuple(sorted(joined, key=lambda problem: problem.order))


def format_renderers(names: Sequence[str]) -> str:
    """Format names of units: `rendered by a, b and 3 more`; "" without a name."""
    names = [name for name in names if name]
    first, more = names[:_MOST_RENDERERS], len(names) - _MOST_RENDERERS
    return f"rendered by {', '.join(first)}{f' and {more} more' if more > 0 else ''}" if first else ""
