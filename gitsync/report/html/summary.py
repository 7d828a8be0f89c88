"""The top of the page: the run, its findings, the next steps, and problems of the input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from gitsync.model.problem import Problem
from gitsync.model.report import Report
from gitsync.model.result import Outcome
from gitsync.report.cost import format_cost, format_need, list_by_type
from gitsync.report.coverage import format_coverage
from gitsync.report.headline import format_baseline_note, format_done, format_plural
from gitsync.report.html.looks import LOOKS, OUTCOME_LOOKS, Tone, find_tone
from gitsync.report.html.markup import render_template
from gitsync.report.nextsteps import list_next_steps
from gitsync.report.target import list_target

_MOST_PROBLEMS = 500

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


def render_header(report: Report) -> Markup:
    """The title and a sentence."""
    ready = f", {sum(r.condition.is_ready for r in report.results)} Ready" if report.command == "sync" else ""
    return render_template(
        "header.html",
        report=report,
        target=list_target(report.target),
        failed=report.outcomes[Outcome.FAILED],
        counts=format_plural(len(report.results), "resource"),
        ready=ready,
        done=format_done(report),
        baseline=format_baseline_note(report) if report.base else "",
    )


def render_summary(report: Report) -> Markup:
    """The facts of the run, outcomes and verdicts by number, and advice."""
    times = Counter(result.verdict for result in report.results)
    tones = Counter(map(find_tone, report.results))
    return render_template(
        "summary.html",
        report=report,
        coverage=format_coverage(report.coverage),
        cost=format_cost(report),
        need=format_need(report),
        requests=list_by_type(report),
        means=_EXITS.get(report.exit_code, ""),
        steps=list_next_steps(report),
        outcomes=[(outcome, OUTCOME_LOOKS[outcome], count) for outcome, count in report.outcomes.items() if count],
        verdicts=[(verdict, times[verdict]) for verdict in LOOKS if times[verdict]],
        bar=list(divide_bar(tones, start=0.0, width=100.0, digits=2)),
    )


def divide_bar(tones: Mapping[Tone, int], *, start: float, width: float, digits: int) -> Iterator[BarPart]:
    """The parts of a bar, one for each tone, the most urgent first; numbers are given with so many digits."""
    count = sum(tones.values())
    for tone in sorted(tones):
        part = width * tones[tone] / count
        yield BarPart(f"{start:.{digits}f}", f"{part:.{digits}f}", tone)
        start += part


def render_problems(found: Sequence[Problem]) -> Markup:
    """The problems of the input as a table, as a reader goes through the files; "" where there is none."""
    if not found:
        return Markup()
    ordered = sorted(found, key=lambda problem: problem.order)
    return render_template(
        "problems.html",
        count=len(ordered),
        rows=[(problem, Tone.STOP if problem.is_error else Tone.DRIFT) for problem in ordered[:_MOST_PROBLEMS]],
        hidden=len(ordered) - _MOST_PROBLEMS,
    )
