"""The table of contents: each part of the page that there is, in its order, with the number of what it lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.report.html.looks import Tone
from gitsync.report.html.problems import ERRORS, WARNINGS
from gitsync.report.html.sections import FAILED, IN_SYNC, Section, find_section_tone


class Entry(NamedTuple):
    """A part of the page: the name that links use, its title, what it lists (0 for nothing), and its tone."""

    name: str
    title: str
    number: int
    tone: Tone


def list_contents(report: Report, sections: Mapping[Section, Sequence[Result]]) -> list[Entry]:
    errors = sum(problem.is_error for problem in report.problems)
    warnings = len(report.problems) - errors
    own = {
        section: Entry(
            section.name,
            section.title(writes=report.command == "sync"),
            len(found),
            find_section_tone(section, found),
        )
        for section, found in sections.items()
    }
    entries = (
        own.get(FAILED),
        Entry(ERRORS, "Errors in manifests", errors, Tone.STOP) if errors else None,
        *(entry for section, entry in own.items() if section not in {FAILED, IN_SYNC}),
        Entry(WARNINGS, "Warnings in manifests", warnings, Tone.DRIFT) if warnings else None,
        own.get(IN_SYNC),
        Entry("graph", "Graph", 0, Tone.REST) if report.results else None,
        Entry("run", "This run", 0, Tone.REST),
    )
    return [entry for entry in entries if entry]
