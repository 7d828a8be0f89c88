"""One resource on the page: a folded card if it has details, else a row of a table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from gitsync.model.gvk import Key
from gitsync.model.result import Outcome, Result
from gitsync.model.verdict import Action
from gitsync.report.escape import shorten
from gitsync.report.headline import format_plural
from gitsync.report.html.changes import render_differences
from gitsync.report.html.grouping import GroupName
from gitsync.report.html.links import Links
from gitsync.report.html.looks import OUTCOME_LOOKS
from gitsync.report.html.markup import render_template
from gitsync.report.last_commit import format_last_commit
from gitsync.report.replacement import REPLACE_NEEDED, describe_replacement, format_action
from gitsync.status.advice import find_condition_advice

_SHORT_MESSAGE, _LONGEST_MESSAGE = 300, 4000  # characters, folded and unfolded
_MOST_LINES, _LONGEST_LINE = 400, 500  # of the body of a create
_MOST = 200  # attempts, or paths that were not compared, or resources that are needed


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What a resource is shown among: names and resource groups of all, those that the page has and links can lead to,
    and whose the side is that git's is compared with. `causes` says in words what a resource waits for, `roots` is the
    resource itself, and `blocks` counts what waits for each. `namespaces` tells whether there are several.
    """

    names: Mapping[Key, str]
    causes: Mapping[Key, str]
    roots: Mapping[Key, Key]
    blocks: Mapping[Key, int]
    places: Mapping[Key, GroupName]
    listed: AbstractSet[Key]
    links: Links
    before: str
    writes: bool
    namespaces: bool


def render_card(result: Result, around: Around, *, opened: bool, body: Markup) -> Markup:
    """A resource that folds: what one sees at once, and the rest; without a body, a reference to report.json."""
    namespace = result.key.namespace if around.namespaces else ""
    told = (*_counts(result), namespace, str(result.source or ""))
    return render_template(
        "card.html",
        result=result,
        around=around,
        failed=OUTCOME_LOOKS[Outcome.FAILED] if result.outcome is Outcome.FAILED else None,
        notes=list(_list_notes(result, around)),
        said=shorten(result.message, _SHORT_MESSAGE),
        more=[part for part in told if part],
        opened=opened,
        body=body,
    )


def render_row(result: Result, around: Around, *, has_unverified: bool) -> Markup:
    """A resource that is in sync and has no details. `has_unverified`: the table has a column for such paths."""
    return render_template("row.html", result=result, around=around, has_unverified=has_unverified, most=_MOST)


def _list_notes(result: Result, around: Around) -> Iterator[str]:
    """What a reader must not miss of a folded resource, beside its name."""
    if result.replacement:
        yield REPLACE_NEEDED
    if blocked := around.blocks.get(result.key, 0):
        yield f"blocks {format_plural(blocked, 'resource')}"
    if cause := around.causes.get(result.key):
        yield cause


def _counts(result: Result) -> Iterator[str]:
    if result.outcome is Outcome.FAILED:
        yield result.verdict.value
    if result.action is not Action.NONE and result.action.value != result.verdict.value:
        yield result.action.value
    if result.differences:
        yield format_plural(len(result.differences), "difference")
    if result.attempts and result.outcome is not Outcome.FAILED:
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
        portal=around.links.make_portal_link(result),
        commit=around.links.make_commit_link(result.last_commit.commit) if result.last_commit else "",
        replacement=describe_replacement(result),
        action=format_action(result),
        renamed=[result.renamed] if result.renamed else [],
        last_commit=format_last_commit(result.last_commit),
        advice=find_condition_advice(condition, result.key),
        differences=render_differences(result.differences, around.before),
        body=_format_body(result.body),
        attempts=[(one, shorten(one.message, _LONGEST_MESSAGE)) for one in result.attempts[:_MOST]],
        causes=[around.roots[result.key]] if result.key in around.roots else [],
        owners=[result.owner] if result.owner else [],
        needs=sorted(set(result.depends_on) - {result.owner}),
        failed=result.outcome is Outcome.FAILED,
        writes=around.writes,
        ready=" ".join(part for part in ready if part),
        most_lines=_MOST_LINES,
        most=_MOST,
    )


def _format_body(body: Mapping[str, Any] | None) -> list[str]:
    """The lines of a request that creates; none where there is none."""
    if body is None:
        return []
    lines = json.dumps(body, indent=2, ensure_ascii=False, default=str).splitlines()
    return [shorten(line, _LONGEST_LINE) for line in lines]
