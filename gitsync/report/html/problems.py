"""Problems of the manifests on the page: errors among what failed, warnings below the changes."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from gitsync.model.problem import Problem, SourceLocation
from gitsync.report.html.links import Links
from gitsync.report.html.looks import Tone
from gitsync.report.html.markup import render_template

ERRORS, WARNINGS = "errors", "warnings"
"""The names of the two parts, by which links find them."""

_MOST = 500  # of a part
_FEW = 3  # as many are unfolded from the start


def render_problems(found: Sequence[Problem], links: Links, *, part: str) -> Markup:
    """The problems of a part, as a reader goes through the files; "" where there is none."""
    is_error = part == ERRORS
    ordered = sorted((problem for problem in found if problem.is_error is is_error), key=lambda problem: problem.order)
    if not ordered:
        return Markup()
    return render_template(
        "problems.html",
        part=part,
        title=f"{'Errors' if is_error else 'Warnings'} in manifests",
        tone=Tone.STOP if is_error else Tone.DRIFT,
        opened=len(ordered) <= _FEW,
        count=len(ordered),
        rows=[(problem, _find_link(problem, links)) for problem in ordered[:_MOST]],
        hidden=len(ordered) - _MOST,
    )


def _find_link(problem: Problem, links: Links) -> str:
    return links.make_source_link(SourceLocation(problem.path, problem.line)) if problem.path else ""
