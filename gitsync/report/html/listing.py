"""The list of resources: folded cards of those that need attention, most urgent first; then a table of those in sync.

With it the form that narrows it, which only shows where a script can work it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup

from gitsync.model.gvk import Key
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.report.headline import shorten_revision
from gitsync.report.html.grouping import group_results
from gitsync.report.html.looks import LOOKS, find_order, find_tone
from gitsync.report.html.markup import render_template
from gitsync.report.html.resource import Around, render_card, render_details, render_row
from gitsync.report.names import reading_order, shorten_names
from gitsync.report.quiet import format_in_sync, is_quiet
from gitsync.report.urgency import describe_causes, find_causes, find_urgency

_FEW = 12  # cards; as many are unfolded from the start
_FEW_ROWS = 60  # in sync; as many are shown from the start
_MOST_CARDS, _MOST_ROWS = 5000, 5000
_ROOM = 3_000_000  # characters of what is inside cards; a browser opens that in a second


def render_listing(report: Report) -> Markup:
    """The section with all resources; "" where there is none."""
    results = report.results
    if not results:
        return Markup()
    loud = sorted((r for r in results if not _is_row(r)), key=_urgency)
    quiet = sorted((r for r in results if _is_row(r)), key=lambda r: reading_order(r.key))
    around = Around(
        names=shorten_names(r.key for r in results),
        places=group_results(results),
        listed=frozenset(r.key for r in (*loud[:_MOST_CARDS], *quiet[:_MOST_ROWS])),
        causes=describe_causes(results),
        roots=find_causes(results),
        writes=report.command == "sync",
        before="Azure" if report.base is None else shorten_revision(report.base),
    )
    verdicts = Counter(r.verdict for r in results)
    return render_template(
        "listing.html",
        kinds=_list_options((r.key.kind, r.key.kind) for r in results),
        namespaces=_list_options((r.key.namespace, r.key.namespace) for r in results),
        places=_list_options((place.id, place.label) for place in around.places.values() if place.name),
        verdicts=[(verdict, verdicts[verdict]) for verdict in LOOKS if verdicts[verdict]],
        loud=loud,
        cards=list(_render_cards(loud, around)),
        quiet=quiet,
        quiet_opened=len(quiet) <= _FEW_ROWS,
        in_sync=format_in_sync(quiet),
        rows=[render_row(result, around) for result in quiet[:_MOST_ROWS]],
    )


def _is_row(result: Result) -> bool:
    """Whether a table row is enough: no details and no failed attempts."""
    return is_quiet(result) and not result.attempts


def _urgency(result: Result) -> tuple[int, bool, int, int, tuple[str, Key]]:
    """Causes above what waits for them; inside an outcome by verdict."""
    rank, waits, place = find_urgency(result)
    return (rank, waits, find_tone(result), find_order(result.verdict), place)


def _render_cards(results: Sequence[Result], around: Around) -> Iterator[Markup]:
    """Cards with their content until the room is full, then without."""
    room = _ROOM
    opened = len(results) <= _FEW
    for result in results[:_MOST_CARDS]:
        body = render_details(result, around) if room > 0 else Markup()
        room -= len(body)
        yield render_card(result, around, opened=opened, body=body)


def _list_options(values: Iterable[tuple[str, str]]) -> list[tuple[str, str, int]]:
    """Each value with its label and how often it occurs, by label."""
    times = Counter(values)
    return [(value, label, times[value, label]) for value, label in sorted(times, key=lambda v: (v[1], v[0]))]
