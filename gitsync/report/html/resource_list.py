"""Renders the lists of resources: folded cards of those that need attention, by section; then a table of those in sync.

With them the form that narrows them, which only shows where a script can work it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from markupsafe import Markup

from gitsync.model.gvk import Key
from gitsync.model.report import Report
from gitsync.model.result import Outcome, Result
from gitsync.report.differences import name_sides
from gitsync.report.html.links import Links
from gitsync.report.html.looks import LOOKS
from gitsync.report.html.markup import render_template
from gitsync.report.html.resource_card import CardContext, render_card, render_details, render_row
from gitsync.report.html.sections import TONES
from gitsync.report.identity_texts import IDENTITY_HINT
from gitsync.report.ordering import (
    FAILED,
    IDENTITY,
    IN_SYNC,
    Section,
    collect_causes,
    count_waiting,
    describe_causes,
    group_results,
    has_namespaces,
    shorten_names,
)
from gitsync.report.wording import format_in_sync

_FEW = 12  # cards, or rows below cards; as many are unfolded from the start
_FEW_FAILED = 2  # cards of what failed, which are above the changes; the others are folded
_FEW_ROWS = 60  # in sync, where nothing else is listed
_MOST_CARDS, _MOST_ROWS = 5000, 5000
_ROOM = 3_000_000  # characters of what is inside cards; a browser opens that in a second
_UNFOLDED = frozenset({Outcome.CHANGED, Outcome.UNCHANGED})


def render_listing(
    report: Report, sections: Mapping[Section, Sequence[Result]], links: Links, *, names: bool
) -> Mapping[str, Markup]:
    """Render the sections that have resources, by name; with the names of people only if `names`."""
    causes = collect_causes(report.results)
    blocks = count_waiting(report.results)
    loud = {section: found for section, found in sections.items() if section != IN_SYNC}
    cards_wanted, quiet = list(chain.from_iterable(loud.values())), sections.get(IN_SYNC, ())
    context = CardContext(
        names=shorten_names(r.key for r in report.results),
        groups=group_results(report.results),
        listed=frozenset(r.key for r in (*cards_wanted[:_MOST_CARDS], *quiet[:_MOST_ROWS])),
        causes=describe_causes(report.results),
        roots=causes,
        blocks=blocks,
        links=links,
        writes=report.command == "sync",
        before=name_sides(report)[0],
        namespaces=has_namespaces(r.key for r in report.results),
        names_people=names,
    )
    cards = dict(_render_cards(cards_wanted, context))
    listed = {section.name: _render_section(section, found, cards, context) for section, found in loud.items()}
    if not quiet:
        return listed
    opened = len(quiet) <= (_FEW if loud else _FEW_ROWS)
    return listed | {IN_SYNC.name: _render_quiet(quiet, context, opened=opened)}


def render_filters(results: Sequence[Result]) -> Markup:
    """Render the form that narrows the lists; "" where there is nothing to narrow."""
    if not results:
        return Markup()
    verdicts = Counter(r.verdict for r in results)
    groups = group_results(results).values()
    return render_template(
        "filters.html",
        kinds=_list_options((r.key.kind, r.key.kind) for r in results),
        namespaces=_list_options((r.key.namespace, r.key.namespace) for r in results),
        groups=_list_options((group.id, group.label) for group in groups if group.name),
        verdicts=[(verdict, verdicts[verdict]) for verdict in LOOKS if verdicts[verdict]],
    )


def _render_section(
    section: Section, results: Sequence[Result], cards: Mapping[Key, Markup], context: CardContext
) -> Markup:
    shown = [cards[result.key] for result in results if result.key in cards]
    # A fold for a single card would save no room.
    first = _FEW_FAILED if section == FAILED and len(shown) > _FEW_FAILED + 1 else len(shown)
    return render_template(
        "section.html",
        section=section,
        tone=TONES[section],
        title=section.choose_title(writes=context.writes),
        count=len(results),
        hint=IDENTITY_HINT if section == IDENTITY else "",
        cards=shown[:first],
        more=shown[first:],
        hidden=len(results) - len(shown),
    )


def _render_cards(results: Sequence[Result], context: CardContext) -> Iterator[tuple[Key, Markup]]:
    """Cards with their content until the room is full, then without. A few that have differences are unfolded."""
    room = _ROOM
    few = len(results) <= _FEW
    for result in results[:_MOST_CARDS]:
        body = render_details(result, context) if room > 0 else Markup()
        room -= len(body)
        is_open = result.outcome in _UNFOLDED or result.change.replacement is not None
        differs = bool(result.differences or result.comparison.outside)
        opened = few and (result.is_refused or (differs and is_open))
        yield result.key, render_card(result, context, opened=opened, body=body)


def _render_quiet(results: Sequence[Result], context: CardContext, *, opened: bool) -> Markup:
    has_unverified = any(result.comparison.unverified for result in results)
    return render_template(
        "in_sync.html",
        section=IN_SYNC,
        tone=TONES[IN_SYNC],
        title=format_in_sync(results),
        opened=opened,
        context=context,
        has_unverified=has_unverified,
        rows=[render_row(result, context, has_unverified=has_unverified) for result in results[:_MOST_ROWS]],
        hidden=len(results) - _MOST_ROWS,
    )


def _list_options(values: Iterable[tuple[str, str]]) -> list[tuple[str, str, int]]:
    """List each value with its label and how often it occurs, by label."""
    times = Counter(values)
    return [(value, label, times[value, label]) for value, label in sorted(times, key=lambda v: (v[1], v[0]))]
