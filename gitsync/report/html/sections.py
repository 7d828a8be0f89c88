"""Divides the page into its parts, in their order: what failed, what is deleted, then other changes, problems of the
manifests, and the table of contents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.report import Report
from gitsync.model.result import Outcome, Result
from gitsync.model.verdict import Action, Verdict
from gitsync.report.html.links import Links
from gitsync.report.html.looks import Tone, find_tone
from gitsync.report.html.markup import render_template
from gitsync.report.ordering import order_results
from gitsync.report.wording import is_quiet

ERRORS, WARNINGS = "errors", "warnings"
"""The names of the two parts, by which links find them."""

_MOST_PROBLEMS = 500  # of a part
_FEW_PROBLEMS = 3  # as many are unfolded from the start


class Section(NamedTuple):
    """A part of the page: the name that links use, its title in a plan and in a sync, and its tone."""

    name: str
    planned: str
    done: str
    tone: Tone

    def find_title(self, *, writes: bool) -> str:
        return self.done if writes else self.planned


FAILED: Final = Section("failed", "Failed", "Failed", Tone.STOP)
DELETES: Final = Section("deletes", "To delete", "Deleted", Tone.DELETE)
REMOVED: Final = Section("removed", "Removed from git, not deleted", "Removed from git, not deleted", Tone.DELETE)
REPLACES: Final = Section("replaces", "Replace needed", "Replace needed", Tone.DELETE)
CHANGES: Final = Section("changes", "To change", "Changed", Tone.CHANGE)
WAITING: Final = Section("waiting", "Waiting", "Waiting", Tone.WAIT)
OTHERS: Final = Section("others", "No change in Azure", "No change in Azure", Tone.REST)
IN_SYNC: Final = Section("in-sync", "In sync", "In sync", Tone.FINE)

SECTIONS: Final = (FAILED, DELETES, REPLACES, REMOVED, CHANGES, WAITING, OTHERS, IN_SYNC)
"""In the order of the page."""

_RULES: tuple[tuple[Section, Callable[[Result], bool]], ...] = (
    (FAILED, lambda result: result.outcome is Outcome.FAILED),
    (REPLACES, lambda result: result.replacement is not None),
    (WAITING, lambda result: result.outcome is Outcome.BLOCKED),
    (DELETES, lambda result: result.action is Action.DELETE),
    (CHANGES, lambda result: result.action is not Action.NONE),
    (REMOVED, lambda result: result.verdict is Verdict.DELETE),
    (IN_SYNC, lambda result: is_quiet(result) and not result.attempts),
    (OTHERS, lambda _result: True),
)
"""The first that applies."""


def find_section(result: Result) -> Section:
    return next(section for section, applies in _RULES if applies(result))


def split_results(results: Iterable[Result]) -> Mapping[Section, list[Result]]:
    """Split results by section, in the order of the page, without empty ones; inside a section by
    resource group, and an owner before what it owns.
    """
    found: dict[Section, list[Result]] = defaultdict(list)
    for result in order_results(results):
        found[find_section(result)].append(result)
    return {section: found[section] for section in SECTIONS if section in found}


def find_section_tone(section: Section, results: Iterable[Result]) -> Tone:
    """Find the tone of the results, if they have one in common, else that of the section."""
    tones = set(map(find_tone, results))
    return tones.pop() if len(tones) == 1 else section.tone


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


class ContentsEntry(NamedTuple):
    """A part of the page: the name that links use, its title, what it lists (0 for nothing), and its tone."""

    name: str
    title: str
    number: int
    tone: Tone


def list_contents(report: Report, sections: Mapping[Section, Sequence[Result]]) -> list[ContentsEntry]:
    errors = sum(problem.is_error for problem in report.problems)
    warnings = len(report.problems) - errors
    entries_by_section = {
        section: ContentsEntry(
            section.name,
            section.find_title(writes=report.command == "sync"),
            len(found),
            find_section_tone(section, found),
        )
        for section, found in sections.items()
    }
    entries = (
        entries_by_section.get(FAILED),
        ContentsEntry(ERRORS, "Errors in manifests", errors, Tone.STOP) if errors else None,
        *(entry for section, entry in entries_by_section.items() if section not in {FAILED, IN_SYNC}),
        ContentsEntry(WARNINGS, "Warnings in manifests", warnings, Tone.DRIFT) if warnings else None,
        entries_by_section.get(IN_SYNC),
        ContentsEntry("graph", "Graph", 0, Tone.REST) if report.results else None,
        ContentsEntry("run", "This run", 0, Tone.REST),
    )
    return [entry for entry in entries if entry]
