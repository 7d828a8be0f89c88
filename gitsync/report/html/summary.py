"""The top of the page: the run, its findings, the next steps, and problems of the input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from gitsync.model.problem import Problem
from gitsync.model.report import Report
from gitsync.report.coverage import format_coverage
from gitsync.report.headline import format_baseline_note, format_cost, format_done, format_plural
from gitsync.report.html.looks import LOOKS, Tone, find_tone
from gitsync.report.html.markup import NOTHING, Markup, code, element, facts, joined, prose, table, text
from gitsync.report.nextsteps import list_next_steps

_MOST_PROBLEMS = 500

_EXITS = {
    0: "success",
    1: "something failed, is invalid, or is not Ready",
    3: "there are changes to make",
    4: "there is drift",
    130: "interrupted",
}


def render_header(report: Report) -> Markup:
    """The title and a sentence."""
    counts = format_plural(len(report.results), "resource")
    ready = f", {sum(r.condition.is_ready for r in report.results)} Ready" if report.command == "sync" else ""
    stopped = "Interrupted: the next run continues with the resources that were not reached."
    return element(
        "header",
        element("h1", text(f"gitsync {report.command}")),
        element("p", text(f"{counts}{ready}; {format_done(report)}."), class_="lead"),
        element("p", text(format_baseline_note(report))) if report.base else NOTHING,
        element("p", text(stopped), class_="alert tone-stop") if report.interrupted else NOTHING,
    )


def render_summary(report: Report) -> Markup:
    """The facts of the run, verdicts by number, and advice."""
    return element(
        "section",
        element("h2", text("Summary"), id="summary-title"),
        element("div", element("div", _facts(report), _advice(report)), _verdicts(report), class_="halves"),
        id="summary",
        aria_labelledby="summary-title",
    )


def _facts(report: Report) -> Markup:
    means = _EXITS.get(report.exit_code, "")
    exit_code = code(str(report.exit_code)) + text(f" {means}" if means else "")
    return facts(
        (
            ("Revision", code(report.revision) if report.revision else text("uncommitted working tree")),
            ("Compared with", code(report.base) if report.base else NOTHING),
            ("Started", element("time", text(report.started), datetime=report.started)),
            ("Finished", element("time", text(report.finished), datetime=report.finished)),
            ("Read", text(format_coverage(report.coverage))),
            ("Requests", text(format_cost(report))),
            ("Exit code", Markup(exit_code)),
        )
    )


def _verdicts(report: Report) -> Markup:
    if not report.results:
        return element("p", text("No resources."), class_="note")
    times = Counter(result.verdict for result in report.results)
    rows = [
        element(
            "tr",
            element("th", render_badge(verdict.value, look.sign, look.tone), scope="row"),
            element("td", text(f"{times[verdict]:,}"), class_="number"),
            element("td", text(look.meaning(rehearsed=report.base is not None))),
        )
        for verdict, look in LOOKS.items()
        if times[verdict]
    ]
    listed = table(text("Verdicts"), ("Verdict", "Resources", "Means"), rows, class_="verdicts")
    return element("div", _bar(report), listed)


def _bar(report: Report) -> Markup:
    """Each tone as a share of all; what it shows is in the table below it."""
    tones = Counter(map(find_tone, report.results))
    return element("svg", *_parts(tones, len(report.results)), class_="bar", aria_hidden="true")


def _parts(tones: Counter[Tone], count: int) -> Iterator[Markup]:
    left = 0.0
    for one in sorted(tones):
        share = 100 * tones[one] / count
        yield element("rect", x=f"{left:.2f}%", width=f"{share:.2f}%", height="100%", class_=f"part {one.css}")
        left += share


def render_badge(word: str, sign: str, look: Tone) -> Markup:
    """A verdict with its sign, which is not read aloud."""
    return element(
        "span", element("span", text(sign), aria_hidden="true"), text(f" {word}"), class_=f"badge {look.css}"
    )


def _advice(report: Report) -> Markup:
    steps = [element("li", prose(step)) for step in list_next_steps(report)]
    return element("ul", *steps, class_="advice") if steps else NOTHING


def render_problems(found: Sequence[Problem]) -> Markup:
    """The problems of the input as a table, as a reader goes through the files; "" where there is none."""
    if not found:
        return NOTHING
    ordered = sorted(found, key=lambda problem: problem.order)
    hidden = len(ordered) - _MOST_PROBLEMS
    caption = text(f"{format_plural(len(ordered), 'problem')} of the manifests")
    rows = table(caption, ("Where", "Level", "What"), _rows(ordered[:_MOST_PROBLEMS]), class_="problems")
    note = (
        f"… and {format_plural(hidden, 'more problem')}, left out to keep this page small; `gitsync validate` has all."
    )
    return element(
        "section",
        element("h2", text("Problems"), id="problems-title"),
        rows,
        element("p", prose(note), class_="note") if hidden > 0 else NOTHING,
        id="problems",
        aria_labelledby="problems-title",
    )


def _rows(found: Iterable[Problem]) -> Iterator[Markup]:
    for problem in found:
        look, sign = (Tone.STOP, "✕") if problem.is_error else (Tone.DRIFT, "!")
        place = f"{problem.path}:{problem.line}" if problem.line else problem.path
        said = (code(problem.field), text(problem.message), _hint(problem.hint))
        yield element(
            "tr",
            element("th", code(place), scope="row"),
            element("td", render_badge(problem.level.value, sign, look), element("div", code(problem.code))),
            element("td", *(element("div", one) for one in said if one)),
        )


def _hint(hint: str) -> Markup:
    return joined([element("strong", text("→ ")), text(hint)]) if hint else NOTHING
