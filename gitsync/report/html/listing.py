"""The list of resources: folded cards of those that need attention, most urgent first; then a table of those in sync.

With it the form that narrows it, which only shows where a script can work it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitsync.model.gvk import Key
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.report.headline import format_plural, shorten_revision
from gitsync.report.html.grouping import GroupName, group_results
from gitsync.report.html.looks import LOOKS, find_order, find_tone
from gitsync.report.html.markup import BREAK, NOTHING, Markup, element, joined, table, text
from gitsync.report.html.resource import Around, render_card, render_details, render_row
from gitsync.report.html.summary import render_badge
from gitsync.report.names import reading_order, shorten_names
from gitsync.report.quiet import format_in_sync, is_quiet

_FEW = 12  # cards; as many are unfolded from the start
_FEW_ROWS = 60  # in sync; as many are shown from the start
_MOST_CARDS, _MOST_ROWS = 5000, 5000
_ROOM = 3_000_000  # characters of what is inside cards; a browser opens that in a second

_QUIET_HEAD = ("Resource", "Namespace", "Manifest", "ARM id", "Not compared")


def render_listing(report: Report) -> Markup:
    """The section with all resources; "" where there is none."""
    results = report.results
    if not results:
        return NOTHING
    loud = sorted((r for r in results if not _is_row(r)), key=_urgency)
    quiet = sorted((r for r in results if _is_row(r)), key=lambda r: reading_order(r.key))
    around = Around(
        names=shorten_names(r.key for r in results),
        places=group_results(results),
        listed=frozenset(r.key for r in (*loud[:_MOST_CARDS], *quiet[:_MOST_ROWS])),
        before="Azure" if report.base is None else shorten_revision(report.base),
    )
    return element(
        "section",
        element("h2", text("Resources"), id="resources-title"),
        _form(results, around.places),
        BREAK,
        _loud(loud, around),
        _quiet(quiet, around),
        element("p", text("No resource matches."), id="none", hidden=True),
        id="resources",
        aria_labelledby="resources-title",
    )


def _is_row(result: Result) -> bool:
    """Whether a table row is enough: no details and no failed attempts."""
    return is_quiet(result) and not result.attempts


def _urgency(result: Result) -> tuple[int, int, tuple[str, Key]]:
    return (find_tone(result), find_order(result.verdict), reading_order(result.key))


def _loud(results: Sequence[Result], around: Around) -> Markup:
    if not results:
        return element("p", text("All resources are in sync."), class_="lead")
    shown = results[:_MOST_CARDS]
    opened = len(results) <= _FEW
    bodies = zip(shown, _bodies(shown, around), strict=True)
    cards = (render_card(result, around, opened=opened, body=body) for result, body in bodies)
    title = text(f"{format_plural(len(results), 'resource')} to review")
    return element(
        "div", element("h3", title), joined(cards, BREAK), _left_out(len(results) - len(shown)), class_="part-of-list"
    )


def _bodies(results: Iterable[Result], around: Around) -> Iterator[Markup]:
    """The content of the cards until the room is full, then a reference to report.json."""
    room = _ROOM
    missing = element("p", text("Left out to keep this page small; report.json has it."), class_="inside note")
    for result in results:
        body = render_details(result, around) if room > 0 else missing
        room -= len(body)
        yield body


def _quiet(results: Sequence[Result], around: Around) -> Markup:
    if not results:
        return NOTHING
    shown = results[:_MOST_ROWS]
    title = text(format_in_sync(results))
    rows = table(title, _QUIET_HEAD, (render_row(result, around) for result in shown), class_="quiet")
    left_out = _left_out(len(results) - len(shown))
    opened = len(results) <= _FEW_ROWS
    return element(
        "details",
        element("summary", element("h3", title)),
        rows,
        left_out,
        id="quiet",
        class_="part-of-list",
        open=opened,
    )


def _left_out(count: int) -> Markup:
    note = f"… and {format_plural(count, 'more resource')}, left out to keep this page small; report.json has all."
    return element("p", text(note), class_="note") if count else NOTHING


def _form(results: Sequence[Result], where: Mapping[Key, GroupName]) -> Markup:
    """Search and filters; hidden until the script shows them."""
    verdicts = Counter(r.verdict for r in results)
    boxes = [
        element(
            "label",
            element("input", type="checkbox", name="verdict", value=verdict.value),
            render_badge(f"{verdict.value} {verdicts[verdict]:,}", look.sign, look.tone),
        )
        for verdict, look in LOOKS.items()
        if verdicts[verdict]
    ]
    form = element(
        "form",
        element(
            "label",
            element("span", text("Search")),
            element(
                "input", type="search", name="text", placeholder="name, path, value, message, id", autocomplete="off"
            ),
            class_="search",
        ),
        _choice("kind", "Kind", Counter((r.key.kind, r.key.kind) for r in results)),
        _choice("namespace", "Namespace", Counter((r.key.namespace, r.key.namespace) for r in results)),
        _choice("place", "Resource group", Counter((p.id, p.label) for p in where.values() if p.name)),
        element("fieldset", element("legend", text("Verdicts")), *boxes),
        element(
            "div",
            element("output", name="count", aria_live="polite"),
            element("button", text("Show all"), type="reset"),
            element("button", text("Unfold"), type="button", name="unfold"),
            element("button", text("Fold"), type="button", name="fold"),
            class_="buttons",
        ),
        id="filters",
        role="search",
        hidden=True,
    )
    hint = "Search and filters need JavaScript. The list is complete without it."
    return joined([form, element("noscript", element("p", text(hint), class_="note"))])


def _choice(name: str, title: str, values: Mapping[tuple[str, str], int]) -> Markup:
    """A list to choose from, by label; "" where there is no choice."""
    if len(values) < 2:
        return NOTHING
    ordered = sorted(values, key=lambda value: (value[1], value[0]))
    options = [element("option", text(f"{label} ({values[id_, label]:,})"), value=id_) for id_, label in ordered]
    every = element("option", text("all"), value="")
    return element("label", element("span", text(title)), element("select", every, *options, name=name))
