"""Renders what frames the sections of the page: their tones, problems of the manifests, and the table of contents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.report.author_texts import list_doubts
from gitsync.report.check_texts import MOST_REASONS, list_unchecked
from gitsync.report.html.links import Links
from gitsync.report.html.looks import Tone, choose_tone
from gitsync.report.html.markup import render_template
from gitsync.report.ordering import (
    CHANGES,
    DELETES,
    FAILED,
    HELD,
    IDENTITY,
    IN_SYNC,
    OTHERS,
    OUTSIDE,
    REFUSED,
    REMOVED,
    REPLACED,
    REPLACES,
    WAITING,
    Section,
    shorten_names,
)

ERRORS, WARNINGS, UNCHECKED = "errors", "warnings", "not-checked"
"""The names of parts, by which links find them."""

UNANSWERED = "Not checked"
"""The title of the part for what is not known or was not checked."""

_MOST_PROBLEMS = 500  # of a part
_MOST_NAMES = 200  # of resources that one check has no answer for
_FEW_PROBLEMS = 3  # as many are unfolded from the start


TONES: Final[Mapping[Section, Tone]] = {
    FAILED: Tone.STOP,
    REFUSED: Tone.STOP,
    DELETES: Tone.DELETE,
    REMOVED: Tone.DELETE,
    REPLACED: Tone.DELETE,
    REPLACES: Tone.DELETE,
    IDENTITY: Tone.DRIFT,
    CHANGES: Tone.CHANGE,
    OUTSIDE: Tone.DRIFT,
    WAITING: Tone.WAIT,
    HELD: Tone.WAIT,
    OTHERS: Tone.REST,
    IN_SYNC: Tone.FINE,
}


def choose_section_tone(section: Section, results: Iterable[Result]) -> Tone:
    """Choose the tone of the results, if they have one in common, else that of the section."""
    tones = set(map(choose_tone, results))
    return tones.pop() if len(tones) == 1 else TONES[section]


def render_problems(found: Sequence[Problem], links: Links, *, part: str) -> Markup:
    """Render the problems of a part, as a reader goes through the files; "" where there is none."""
    is_error = part == ERRORS
    ordered = sorted((problem for problem in found if problem.is_error is is_error), key=lambda problem: problem.order)
    if not ordered:
        return Markup()
    return render_template(
        "problems.html",
        part=part,
        title=f"{'Errors' if is_error else 'Warnings'} in manifests",
        tone=Tone.STOP if is_error else Tone.DRIFT,
        opened=len(ordered) <= _FEW_PROBLEMS,
        count=len(ordered),
        rows=[
            (problem, links.make_source_link(SourceLocation(problem.path, problem.line)) if problem.path else "")
            for problem in ordered[:_MOST_PROBLEMS]
        ],
        hidden=len(ordered) - _MOST_PROBLEMS,
    )


def render_unchecked(report: Report) -> Markup:
    """Render what is not known of who changed something, and what the checks have no answer for, by reason; "" where
    there is nothing.
    """
    rows = [*list_doubts(report), *list_unchecked(report)]
    if not rows:
        return Markup()
    names = shorten_names(result.key for result in report.results)
    return render_template(
        "unchecked.html",
        part=UNCHECKED,
        title=UNANSWERED,
        tone=Tone.REST,
        count=len(rows),
        names=names,
        rows=rows[:MOST_REASONS],
        hidden=len(rows) - MOST_REASONS,
        most=_MOST_NAMES,
    )


class ContentsEntry(NamedTuple):
    """A part of the page."""

    name: str  # links use it
    title: str
    number: int  # of what it lists, 0 for nothing
    tone: Tone


def list_contents(report: Report, sections: Mapping[Section, Sequence[Result]]) -> list[ContentsEntry]:
    errors = sum(problem.is_error for problem in report.problems)
    warnings = len(report.problems) - errors
    entries_by_section = {
        section: ContentsEntry(
            section.name,
            section.choose_title(writes=report.command == "sync"),
            len(found),
            choose_section_tone(section, found),
        )
        for section, found in sections.items()
    }
    unchecked = [*list_doubts(report), *list_unchecked(report)]
    entries = (
        entries_by_section.get(FAILED),
        entries_by_section.get(REFUSED),
        ContentsEntry(ERRORS, "Errors in manifests", errors, Tone.STOP) if errors else None,
        *(entry for section, entry in entries_by_section.items() if section not in {FAILED, REFUSED, IN_SYNC}),
        ContentsEntry(WARNINGS, "Warnings in manifests", warnings, Tone.DRIFT) if warnings else None,
        entries_by_section.get(IN_SYNC),
        ContentsEntry(UNCHECKED, UNANSWERED, len(unchecked), Tone.REST) if unchecked else None,
        ContentsEntry("graph", "Graph", 0, Tone.REST) if report.results else None,
        ContentsEntry("run", "This run", 0, Tone.REST),
    )
    return [entry for entry in entries if entry]
