"""The parts of the page that list resources, in their order: what failed, what is deleted, then other changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from gitsync.model.result import Outcome, Result
from gitsync.model.verdict import Action, Verdict
from gitsync.report.html.looks import Tone, find_tone
from gitsync.report.ordering import order_results
from gitsync.report.quiet import is_quiet


class Section(NamedTuple):
    """A part of the page: the name that links use, its title in a plan and in a sync, and its tone."""

    name: str
    planned: str
    done: str
    tone: Tone

    def title(self, *, writes: bool) -> str:
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
    """The results of each section that has any, in the order of the page; inside a section by resource group, and an
    owner before what it owns.
    """
    found: dict[Section, list[Result]] = defaultdict(list)
    for result in order_results(results):
        found[find_section(result)].append(result)
    return {section: found[section] for section in SECTIONS if section in found}


def find_section_tone(section: Section, results: Iterable[Result]) -> Tone:
    """The tone of the results, if they have one in common, else that of the section."""
    tones = set(map(find_tone, results))
    return tones.pop() if len(tones) == 1 else section.tone
