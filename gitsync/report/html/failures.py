"""What failed, at the top of the page: each cause once, with the number of resources that wait for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from gitsync.model.result import Outcome, Result
from gitsync.report.escape import shorten
from gitsync.report.html.markup import render_template
from gitsync.report.names import shorten_names
from gitsync.report.urgency import find_causes, sort_by_urgency

_MOST = 50  # resources; the list has all
_LONGEST_MESSAGE = 500  # characters


def render_failures(results: Sequence[Result]) -> Markup:
    """The section; "" if nothing failed. What blocks most comes first."""
    failed = [result for result in sort_by_urgency(results) if result.outcome is Outcome.FAILED]
    if not failed:
        return Markup()
    blocks = Counter(find_causes(results).values())
    names = shorten_names(result.key for result in results)
    ordered = sorted(failed, key=lambda result: -blocks[result.key])
    return render_template(
        "failures.html",
        rows=[
            (r, names[r.key], shorten(r.condition.message, _LONGEST_MESSAGE), blocks[r.key]) for r in ordered[:_MOST]
        ],
        hidden=len(ordered) - _MOST,
    )
