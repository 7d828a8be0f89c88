"""Renders one resource: a folded card with its differences if it has details, else a row of a table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from markupsafe import Markup

from gitsync.model.check import CheckVerdict
from gitsync.model.condition import Condition
from gitsync.model.gvk import Key
from gitsync.model.result import Outcome, Result, ResultChange
from gitsync.model.verdict import Action, Difference
from gitsync.planning.data_types import describe_loss
from gitsync.planning.status.advice import find_condition_advice
from gitsync.report.author_texts import list_authors
from gitsync.report.check_texts import (
    format_check,
    format_remedy,
    format_statement,
    list_shown,
    repeats_check,
)
from gitsync.report.differences import name_path
from gitsync.report.escape import shorten
from gitsync.report.html.difference_rows import MOST_ROWS, DifferenceRow, make_difference_row
from gitsync.report.html.links import Links
from gitsync.report.html.looks import CHECK_TONES, OUTCOME_LOOKS, Tone
from gitsync.report.html.markup import render_template
from gitsync.report.identity_texts import format_identity
from gitsync.report.ordering import REPLACED, REPLACES, GroupName
from gitsync.report.outside_texts import OUTSIDE_SIDES, OUTSIDE_TITLE, format_resets, list_outside
from gitsync.report.wording import (
    REPLACE_NEEDED,
    UNTOUCHED,
    describe_replacement,
    format_action,
    format_default_tags,
    format_last_commit,
    format_outside_count,
    format_plural,
)

_SHORT_MESSAGE, _LONGEST_MESSAGE = 300, 4000  # characters, folded and unfolded
_MOST_LINES, _LONGEST_LINE = 400, 500  # of the body of a create
_MOST = 200  # attempts, or paths that were not compared, or resources that are needed


@dataclass(frozen=True, slots=True, kw_only=True)
class CardContext:
    """What a resource is shown among."""

    names: Mapping[Key, str]  # those of all resources
    causes: Mapping[Key, str]  # what a resource waits for, in words
    roots: Mapping[Key, Key]  # the resource that it waits for
    blocks: Mapping[Key, int]  # the number of resources that wait for each
    groups: Mapping[Key, GroupName]  # the resource groups of all
    listed: AbstractSet[Key]  # the resources that the page has and links can lead to
    links: Links
    before: str  # whose the side is that git's is compared with
    writes: bool  # the run was a sync
    namespaces: bool  # there are several
    names_people: bool  # the names of people are shown


def render_card(result: Result, context: CardContext, *, opened: bool, body: Markup) -> Markup:
    """Render a resource that folds: what one sees at once, and the rest; without a body, a reference to report.json."""
    namespace = result.key.namespace if context.namespaces else ""
    refusals = result.list_found(CheckVerdict.REFUSED)
    message = format_statement(refusals[0], result) if refusals else result.message
    authors = list_authors(result, names=context.names_people)
    told = (*_list_counts(result), namespace, str(result.manifest.source or ""))
    is_deleted = result.action is Action.DELETE
    takes = is_deleted or result.change.replacement
    loss = describe_loss(result.arm_id, done=is_deleted and context.writes) if takes else ""
    return render_template(
        "card.html",
        result=result,
        context=context,
        failed=OUTCOME_LOOKS[Outcome.FAILED] if result.outcome is Outcome.FAILED else None,
        notes=list(_list_notes(result, context)),
        said=" ".join(filter(None, (shorten(message, _SHORT_MESSAGE), loss, *authors[:1]))),
        more=[part for part in told if part],
        opened=opened,
        body=body,
    )


def render_row(result: Result, context: CardContext, *, has_unverified: bool) -> Markup:
    """Render a resource that is in sync and has no details. `has_unverified`: the table has a column for such paths."""
    return render_template("row.html", result=result, context=context, has_unverified=has_unverified, most=_MOST)


def _list_notes(result: Result, context: CardContext) -> Iterator[str]:
    """List what a reader must not miss of a folded resource, beside its name."""
    for check in dict.fromkeys(finding.check for finding in result.list_found(CheckVerdict.REFUSED)):
        yield f"refused by {check}"
    if result.change.identity:
        yield "another identity"
    if result.needs_replacement:
        yield REPLACE_NEEDED
    if blocked := context.blocks.get(result.key, 0):
        yield f"blocks {format_plural(blocked, 'resource')}"
    if cause := context.causes.get(result.key):
        yield cause


def _list_counts(result: Result) -> Iterator[str]:
    if result.outcome is Outcome.FAILED:
        yield result.verdict.value
    if result.action is not Action.NONE and result.action.value != result.verdict.value:
        yield result.action.value
    if result.differences:
        yield format_plural(len(result.differences), "difference")
    if result.comparison.outside:
        yield format_outside_count(len(result.comparison.outside))
    if result.attempts and result.outcome is not Outcome.FAILED:
        # format_plural only adds an s.
        yield format_plural(len(result.attempts), "failed try").replace("trys", "tries")
    if result.condition.reason not in {"Succeeded", UNTOUCHED}:
        yield result.condition.reason


def render_details(result: Result, context: CardContext) -> Markup:
    """Render what a resource shows when it is unfolded."""
    condition = result.condition
    return render_template(
        "details.html",
        result=result,
        context=context,
        message="" if repeats_check(result) else shorten(result.message, _LONGEST_MESSAGE),
        identity=format_identity(result),
        checks=_format_checks(result, writes=context.writes),
        answers=_format_answers(result),
        portal=context.links.make_portal_link(result),
        commit=context.links.make_commit_link(result.manifest.last_commit.commit)
        if result.manifest.last_commit
        else "",
        replacement=describe_replacement(result),
        replacement_title=(REPLACES if result.needs_replacement else REPLACED).choose_title(writes=context.writes),
        action=format_action(result),
        renamed=[result.change.renamed] if result.change.renamed else [],
        last_commit=format_last_commit(result.manifest.last_commit),
        advice="" if repeats_check(result) else find_condition_advice(condition, result.arm_id),
        differences=render_differences(result, context.before),
        outside=_render_outside(result),
        outside_title=OUTSIDE_TITLE,
        resets=format_resets(result, writes=context.writes, everything=True),
        authors=list_authors(result, names=context.names_people),
        body=_format_body(result.change),
        attempts=[(attempt, shorten(attempt.message, _LONGEST_MESSAGE)) for attempt in result.attempts[:_MOST]],
        causes=[context.roots[result.key]] if result.key in context.roots else [],
        owners=[result.manifest.owner] if result.manifest.owner else [],
        needs=sorted(set(result.manifest.depends_on) - {result.manifest.owner}),
        failed=result.outcome is Outcome.FAILED,
        writes=context.writes,
        ready=_format_ready(condition),
        most_lines=_MOST_LINES,
        most=_MOST,
    )


def _format_checks(result: Result, *, writes: bool) -> list[tuple[Tone, str, str, str]]:
    """Format each check that is shown: its tone, what it is, what it found, and what to do."""
    return [
        (
            CHECK_TONES[finding.verdict],
            format_check(finding),
            shorten(format_statement(finding, result), _LONGEST_MESSAGE),
            format_remedy(finding),
        )
        for finding in list_shown(result, writes=writes)
    ]


def _format_ready(condition: Condition) -> str:
    """Format a condition; "" in a plan, which has none to show."""
    parts = (condition.status.value, condition.severity.value, condition.reason)
    return "" if condition.reason == UNTOUCHED else " ".join(filter(None, parts))


def _format_answers(result: Result) -> str:
    """Format the checks by their verdict: `fine: preflight, locks; not-checked: policy`."""
    checks = {
        verdict: dict.fromkeys(finding.check for finding in result.list_found(verdict)) for verdict in CheckVerdict
    }
    return "; ".join(f"{verdict}: {', '.join(names)}" for verdict, names in checks.items() if names)


def _format_body(change: ResultChange) -> list[str]:
    """Format the body of a create as lines, after where its default tags are set; an empty list without a body."""
    if change.body is None:
        return []
    lines = json.dumps(change.body, indent=2, ensure_ascii=False, default=str).splitlines()
    tags = format_default_tags(change.default_tags)
    return [shorten(line, _LONGEST_LINE) for line in ([tags, *lines] if tags else lines)]


def render_differences(result: Result, before: str) -> Markup:
    """Render a table of what differs, by path; "" where nothing does. `before` heads the side that git's is compared
    with. Fields are named as the manifest has them, as far as they are known.
    """
    if not result.differences:
        return Markup()
    ordered = sorted(result.differences, key=lambda d: d.path)
    rows = [make_difference_row(difference, name_path(result, difference.path)) for difference in ordered[:MOST_ROWS]]
    return _render_rows(rows, (before, "git"), format_plural(len(ordered), "difference"), len(ordered) - MOST_ROWS)


def _render_outside(result: Result) -> Markup:
    """Render a table of what changed outside of git, what weakens the estate first; "" where nothing did."""
    changes = list_outside(result)
    if not changes:
        return Markup()
    parts = [(part, change.weakens) for change in changes for part in change.parts]
    rows = [
        make_difference_row(
            Difference("", part.desired, part.live, " ".join(filter(None, (weakens, *part.notes)))),
            part.name,
        )
        for part, weakens in parts[:MOST_ROWS]
    ]
    return _render_rows(rows, OUTSIDE_SIDES, format_outside_count(len(changes)), len(parts) - MOST_ROWS)


def _render_rows(rows: Sequence[DifferenceRow], sides: tuple[str, str], caption: str, hidden: int) -> Markup:
    return render_template(
        "differences.html", caption=caption, before=sides[0], after=sides[1], rows=rows, hidden=hidden
    )
