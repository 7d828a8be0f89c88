"""The top of the page: what the run would do, on what, and the next steps; and its end: how the run went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.report.cost import format_cost, format_need, list_by_type
from gitsync.report.coverage import format_coverage
from gitsync.report.headline import (
    format_baseline_note,
    format_done,
    format_failed,
    format_plural,
    format_problem_counts,
)
from gitsync.report.html.links import Links
from gitsync.report.html.looks import LOOKS, OUTCOME_LOOKS, Tone, find_tone
from gitsync.report.html.markup import render_template
from gitsync.report.html.sections import DELETES, IN_SYNC, REMOVED, Section, find_section_tone
from gitsync.report.nextsteps import list_next_steps
from gitsync.report.target import list_target

_EXITS = {
    0: "success",
    1: "something failed, is invalid, or is not Ready",
    3: "there are changes to make",
    4: "there is drift",
    130: "interrupted",
}


class BarPart(NamedTuple):
    """A part of a bar: where it starts, how wide it is, and its tone."""

    x: str
    width: str
    tone: Tone


class Tile(NamedTuple):
    """A section by number: its verdicts, the most urgent first."""

    section: Section
    title: str
    number: int
    verdicts: str
    tone: Tone


def render_header(report: Report, sections: Mapping[Section, Sequence[Result]], links: Links) -> Markup:
    """The headline, the sections by number, the target, and the next steps."""
    writes = report.command == "sync"
    ready = f", {sum(r.condition.is_ready for r in report.results)} Ready" if writes else ""
    return render_template(
        "header.html",
        report=report,
        links=links,
        headline=_format_headline(report),
        counts=format_plural(len(report.results), "resource") + ready,
        baseline=format_baseline_note(report),
        tiles=[
            Tile(
                section=section,
                title=section.title(writes=writes),
                number=len(found),
                verdicts=_format_verdicts(section, found),
                tone=find_section_tone(section, found),
            )
            for section, found in sections.items()
        ],
        bar=list(divide_bar(Counter(map(find_tone, report.results)), start=0.0, width=100.0, digits=2)),
        target=list_target(report.target),
        coverage=format_coverage(report.coverage),
        steps=list_next_steps(report),
    )


def _format_headline(report: Report) -> str:
    """What failed, and what was done or would be: `2 failed; a sync would update 3`, as a sentence begins."""
    done = format_problem_counts(report.problems) if report.command == "validate" else format_done(report)
    sentence = "; ".join([*format_failed(report), done])
    return f"{sentence[:1].upper()}{sentence[1:]}"


def _format_verdicts(section: Section, results: Sequence[Result]) -> str:
    """The verdicts by number; "" if the section is for one alone and says it."""
    times = Counter(result.verdict for result in results)
    if section in {DELETES, REMOVED, IN_SYNC}:
        return ""
    return ", ".join(f"{times[verdict]:,} {verdict.value}" for verdict in LOOKS if times[verdict])


def render_run(report: Report, links: Links) -> Markup:
    """How the run went, what its requests were for, and what the words of the page mean."""
    times = Counter(result.verdict for result in report.results)
    return render_template(
        "run.html",
        report=report,
        links=links,
        cost=format_cost(report),
        need=format_need(report),
        requests=list_by_type(report),
        means=_EXITS.get(report.exit_code, ""),
        outcomes=[(outcome, OUTCOME_LOOKS[outcome], count) for outcome, count in report.outcomes.items() if count],
        verdicts=[(verdict, times[verdict]) for verdict in LOOKS if times[verdict]],
    )


def divide_bar(tones: Mapping[Tone, int], *, start: float, width: float, digits: int) -> Iterator[BarPart]:
    """The parts of a bar, one for each tone, the most urgent first; numbers are given with so many digits."""
    count = sum(tones.values())
    for tone in sorted(tones):
        part = width * tones[tone] / count
        yield BarPart(f"{start:.{digits}f}", f"{part:.{digits}f}", tone)
        start += part
