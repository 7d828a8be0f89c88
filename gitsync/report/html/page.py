"""Renders the page: one file that contains its style, its script and its picture, and may load nothing. At its top
stands what the run would do, on what, and the next steps; at its end how the run went.

What the page may do is named in it, by the digests of its own style and script (Content Security Policy): what slipped
in with a name or a message would not run.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.report.author_texts import list_busy_authors
from gitsync.report.check_texts import format_way_on
from gitsync.report.headline import format_headline
from gitsync.report.hidden_people import leave_out_people
from gitsync.report.html.links import Links, make_links
from gitsync.report.html.looks import EXITS, LOOKS, OUTCOME_LOOKS, Tone, choose_tone, divide_bar
from gitsync.report.html.markup import read_own, render_template
from gitsync.report.html.picture import render_picture
from gitsync.report.html.resource_list import render_filters, render_listing
from gitsync.report.html.sections import (
    ERRORS,
    WARNINGS,
    choose_section_tone,
    list_contents,
    render_problems,
    render_unchecked,
)
from gitsync.report.nextsteps import list_next_steps
from gitsync.report.ordering import DELETES, FAILED, IN_SYNC, REFUSED, REMOVED, Section, split_results
from gitsync.report.run_facts import format_costs, format_coverage, list_by_type, list_target
from gitsync.report.wording import format_baseline_note, format_plural, format_ready, shorten_revision

ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='none' "
    "stroke='%230a7' stroke-width='2.4' stroke-linecap='round' d='M3 8a5 5 0 0 1 9-3M13 8a5 5 0 0 1-9 3'/%3E%3C/svg%3E"
)
"""Inlined, so that no browser requests one from a server."""


def render(report: Report, *, names: bool = False) -> str:
    """Render the report as one HTML file; with the names of people only if `names`. Equal reports are equal bytes."""
    report = report if names else leave_out_people(report)
    style, script = read_own("page.css"), read_own("page.js")
    links, sections = make_links(report), split_results(report.results)
    found = render_listing(report, sections, links, names=names)
    errors, warnings = (render_problems(report.problems, links, part=part) for part in (ERRORS, WARNINGS))
    page = render_template(
        "page.html",
        policy=make_policy(style, script),
        title=f"{format_headline(report)} (gitsync {report.command} of {shorten_revision(report.revision)})",
        icon=ICON,
        style=style,
        header=render_header(report, sections, links, names=names),
        contents=list_contents(report, sections),
        filters=render_filters(report.results),
        failed=found.get(FAILED.name, Markup()),
        refused=found.get(REFUSED.name, Markup()),
        way_on=format_way_on(report),
        errors=errors,
        sections=[found[section.name] for section in sections if section not in {FAILED, REFUSED, IN_SYNC}],
        warnings=warnings,
        in_sync=found.get(IN_SYNC.name, Markup()),
        unchecked=render_unchecked(report),
        picture=render_picture(report.results),
        run=render_run(report, links),
        script=script,
    )
    return f"{page}\n"


def make_policy(style: str, script: str) -> str:
    # The page loads nothing, and runs nothing but its own style and script.
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(content: str) -> str:
    """Compute a digest as a policy names a style or a script (CSP level 3, §2.3.1)."""
    return f"sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


class Tile(NamedTuple):
    """A section by number."""

    section: Section
    title: str
    number: int  # of its resources
    verdicts: str  # the most urgent first
    tone: Tone


def render_header(report: Report, sections: Mapping[Section, Sequence[Result]], links: Links, *, names: bool) -> Markup:
    """Render the headline, who changed much in Azure, the sections by number, the target, and the next steps."""
    writes = report.command == "sync"
    ready = f", {format_ready(report)}" if writes else ""
    return render_template(
        "header.html",
        report=report,
        links=links,
        headline=format_headline(report),
        authors=list_busy_authors(report, names=names),
        counts=format_plural(len(report.results), "resource") + ready,
        baseline=format_baseline_note(report),
        tiles=[
            Tile(
                section=section,
                title=section.choose_title(writes=writes),
                number=len(found),
                verdicts=_format_verdicts(section, found),
                tone=choose_section_tone(section, found),
            )
            for section, found in sections.items()
        ],
        bar=list(divide_bar(Counter(map(choose_tone, report.results)), start=0.0, width=100.0, digits=2)),
        target=list_target(report.target),
        coverage=format_coverage(report.source.coverage),
        steps=list_next_steps(report),
    )


def _format_verdicts(section: Section, results: Sequence[Result]) -> str:
    """Format the verdicts by number; "" if the section is for one only."""
    times = Counter(result.verdict for result in results)
    if section in {DELETES, REMOVED, IN_SYNC}:
        return ""
    return ", ".join(f"{times[verdict]:,} {verdict.value}" for verdict in LOOKS if times[verdict])


def render_run(report: Report, links: Links) -> Markup:
    """Render how the run went, what its requests were for, and what the words of the page mean."""
    times = Counter(result.verdict for result in report.results)
    return render_template(
        "run.html",
        report=report,
        links=links,
        costs=" ".join(format_costs(report)),
        requests=list_by_type(report),
        means=EXITS[report.exit_code].means if report.exit_code in EXITS else "",
        outcomes=[(outcome, OUTCOME_LOOKS[outcome], count) for outcome, count in report.outcomes.items() if count],
        verdicts=[(verdict, times[verdict]) for verdict in LOOKS if times[verdict]],
    )
