"""One resource on the page: a folded card if it has details, else a row of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from markupsafe import Markup

from gitsync.model.gvk import Key
from gitsync.model.result import Outcome, Result
from gitsync.model.verdict import Action
from gitsync.report.escape import shorten
from gitsync.report.headline import format_plural
from gitsync.report.html.changes import render_differences
from gitsync.report.html.grouping import GroupName
from gitsync.report.html.looks import OUTCOME_LOOKS
from gitsync.report.html.markup import render_template
from gitsync.report.last_commit import format_last_commit
from gitsync.status.advice import find_condition_advice

_LONGEST_MESSAGE = 4000  # characters
_MOST = 200  # attempts, or paths that were not compared, or resources that are needed


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What a resource is shown among: names and resource groups of all, those that the page has and links can lead to,
    and whose the side is that git's is compared with. `causes` says in words what a resource waits for, and `roots` is
    the resource itself.
    """

    names: Mapping[Key, str]
    causes: Mapping[Key, str]
    roots: Mapping[Key, Key]
    places: Mapping[Key, GroupName]
    listed: AbstractSet[Key]
    before: str
    writes: bool


def render_card(result: Result, around: Around, *, opened: bool, body: Markup) -> Markup:
    """A resource that folds: what one sees at once, and the rest; without a body, a reference to report.json."""
    cause = around.causes.get(result.key, "")
    told = (cause, result.key.namespace, str(result.source or ""), *_counts(result))
    return render_template(
        "card.html",
        result=result,
        around=around,
        failed=OUTCOME_LOOKS[Outcome.FAILED] if result.outcome is Outcome.FAILED else None,
        more=" · ".join(part for part in told if part),
        opened=opened,
        body=body,
    )


def render_row(result: Result, around: Around) -> Markup:
    """A resource that is in sync and has no details."""
    return render_template("row.html", result=result, around=around, most=_MOST)


def _counts(result: Result) -> Iterator[str]:
    if result.outcome is Outcome.FAILED:
        yield result.verdict.value
    if result.action is not Action.NONE:
        yield result.action.value
    if result.differences:
        yield format_plural(len(result.differences), "difference")
    if result.attempts:
        yield format_plural(len(result.attempts), "failed try").replace("trys", "tries")
    if result.condition.reason not in {"Succeeded", "Planned"}:
        yield result.condition.reason


def render_details(result: Result, around: Around) -> Markup:
    """What a resource shows when it is unfolded."""
    condition = result.condition
    ready = (condition.status.value, condition.severity.value, condition.reason)
    return render_template(
        "details.html",
        result=result,
        around=around,
        message=shorten(result.message, _LONGEST_MESSAGE),
        last_commit=format_last_commit(result.last_commit),
        advice=find_condition_advice(condition, result.key),
        differences=render_differences(result.differences, around.before),
        attempts=[(one, shorten(one.message, _LONGEST_MESSAGE)) for one in result.attempts[:_MOST]],
        causes=[around.roots[result.key]] if result.key in around.roots else [],
        owners=[result.owner] if result.owner else [],
        needs=sorted(set(result.depends_on) - {result.owner}),
        writes=around.writes,
        ready=" ".join(part for part in ready if part),
        most=_MOST,
    )
