"""The findings of a rehearsal, in the order that a reader needs: first what stops the sync or the rebuild, then what a
rebuild does not restore, then what was not rehearsed. Every form of the report has these groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gitsync.desired.formats.name_list import name_first
from gitsync.errors import ExitCode
from gitsync.model.gvk import Key
from gitsync.model.rehearsal import Blank, GapKind, Rehearsal, RehearsedWrite
from gitsync.model.report import Report
from gitsync.model.result import Outcome
from gitsync.model.verdict import Action
from gitsync.report.findings import Weight, format_differences, list_findings
from gitsync.report.ordering import shorten_names
from gitsync.report.run_facts import format_about
from gitsync.report.wording import PLANNED, format_plural, list_actions


class RehearsalFinding(NamedTuple):
    """One finding of a rehearsal."""

    title: str  # in a few words
    message: str = ""  # the reason, in full sentences
    location: str = ""  # the file and line of the manifest
    details: tuple[str, ...] = ()  # lines


class FindingGroup(NamedTuple):
    """Findings of one sort."""

    name: str  # links use it
    title: str
    findings: Sequence[RehearsalFinding]
    is_wrong: bool = True  # the findings decide the exit code


_GAP_WORDS: Final[Mapping[GapKind, str]] = {
    GapKind.OWNER: "not in git",
    GapKind.VALUE: "missing value",
    GapKind.DATA: "created without its data",
    GapKind.NAME: "name may be reserved",
    GapKind.ID: "id changes",
}
_NEEDS: Final = "refers to a resource that is not in git"


def name_resources(rehearsal: Rehearsal) -> Mapping[Key, str]:
    """Name all resources of a rehearsal for people."""
    reports = [report for report in (rehearsal.first, rehearsal.second) if report]
    return shorten_names(
        [
            *(result.key for report in reports for result in report.results),
            *(bar.key for bar in rehearsal.schedule.bars),
            *(write.key for write in (*rehearsal.writes, *rehearsal.later_writes) if write.key),
            *(gap.key for gap in rehearsal.gaps),
            *(key for stub in rehearsal.stubs for key in stub.wanted_by),
        ]
    )


def format_headline(rehearsal: Rehearsal) -> str:
    """Format in one line whether the sync would work, and how long its writes are expected to take."""
    first = rehearsal.first
    if first is None:
        return "A sync from nothing would be refused" if rehearsal.from_nothing else "The sync would be refused"
    failed, waiting = first.outcomes[Outcome.FAILED], first.outcomes[Outcome.BLOCKED]
    stops = sum(gap.stops for gap in rehearsal.gaps)
    bad = sum(not interrupt.is_fine for interrupt in rehearsal.interrupts)
    subject = "a sync from nothing" if rehearsal.from_nothing else "the sync"
    actions = ", ".join(list_actions(first, PLANNED))
    takes = f" in {format_about(rehearsal.schedule)}" if rehearsal.schedule.bars else ""
    parts = (
        f"{failed} would fail" if failed else "",
        f"{waiting} would wait" if waiting else "",
        f"{format_plural(stops, 'gap')} {'stops' if stops == 1 else 'stop'} the rebuild" if stops else "",
        f"{bad} of {format_plural(len(rehearsal.interrupts), 'interrupt')} would end differently" if bad else "",
        f"{subject} would stop early" if first.interrupted else "",
        f"{subject} would {actions}{takes}" if actions else f"{subject} would change nothing",
        _format_second(rehearsal),
    )
    sentence = "; ".join(filter(None, parts))
    return f"{sentence[:1].upper()}{sentence[1:]}"


def _format_second(rehearsal: Rehearsal) -> str:
    if rehearsal.second is None:
        return "a second sync would be refused" if rehearsal.refusal else "a second sync was not rehearsed"
    again = sum(map(is_taken, rehearsal.later_writes))
    return (
        f"a second sync would send {format_plural(again, 'write')}" if again else "a second sync would change nothing"
    )


def is_taken(write: RehearsedWrite) -> bool:
    """Return whether Azure accepted a write. A refused write changed nothing."""
    return write.status < 400


def list_wrong(rehearsal: Rehearsal) -> list[FindingGroup]:
    """List the findings that decide the exit code, without empty groups."""
    names = name_resources(rehearsal)
    groups = (
        FindingGroup("refused", "Refused", list(_list_refused(rehearsal))),
        FindingGroup("failed", "Would fail", list(_list_failed(rehearsal.first))),
        FindingGroup("again", "Written again by a second sync", list(_list_second(rehearsal, names))),
        FindingGroup("interrupts", "Ends differently after an interrupt", list(_list_interrupts(rehearsal, names))),
        FindingGroup("stops", "Stops the rebuild", list(_list_gaps(rehearsal, names, stops=True))),
    )
    found = [group for group in groups if group.findings]
    # Some settings (--fail-on, --strict) fail a run although no resource has a finding.
    if not found and rehearsal.first and rehearsal.first.exit_code is not ExitCode.FINE:
        return [
            FindingGroup(
                "failed", "Would fail", [RehearsalFinding(f"The sync ends with exit code {rehearsal.first.exit_code}")]
            )
        ]
    return found


def list_gaps(rehearsal: Rehearsal) -> list[FindingGroup]:
    """List the gaps that do not stop the rebuild, as one group; no group if there are none."""
    findings = list(_list_gaps(rehearsal, name_resources(rehearsal), stops=False))
    return [FindingGroup("gaps", "Not restored from git", findings, is_wrong=False)] if findings else []


def _list_refused(rehearsal: Rehearsal) -> Iterator[RehearsalFinding]:
    if rehearsal.refusal:
        which = "The sync" if rehearsal.first is None else "The second sync"
        yield RehearsalFinding(f"{which} would change nothing", rehearsal.refusal)


def _list_failed(report: Report | None) -> Iterator[RehearsalFinding]:
    for finding in list_findings(report) if report else ():
        if finding.weight is Weight.ERROR:
            location = f"{finding.path}:{finding.line}" if finding.line else finding.path
            yield RehearsalFinding(finding.title, finding.message, location, finding.details)


def _list_second(rehearsal: Rehearsal, names: Mapping[Key, str]) -> Iterator[RehearsalFinding]:
    """List what the second sync writes, with the fields that differ, and what fails only then."""
    told: set[Key | None] = {None}
    results = rehearsal.second.results if rehearsal.second else ()
    for result in results:
        if result.action is not Action.NONE and result.is_fine:  # failures are listed below
            told.add(result.key)
            location = str(result.manifest.source) if result.manifest.source else ""
            yield RehearsalFinding(
                f"{result.action.value} {names[result.key]}", "", location, tuple(format_differences(result))
            )
    for write in filter(is_taken, rehearsal.later_writes):
        if write.key is None or write.key not in told:
            told.add(write.key)
            yield RehearsalFinding(f"{write.method} {names[write.key] if write.key else write.arm_id}")
    # The second sync fails where the first did; only a new failure is a finding about the repetition.
    before = {finding.title for finding in _list_failed(rehearsal.first)}
    yield from (finding for finding in _list_failed(rehearsal.second) if finding.title not in before)


def _list_interrupts(rehearsal: Rehearsal, names: Mapping[Key, str]) -> Iterator[RehearsalFinding]:
    writes = {write.number: write for write in rehearsal.writes}
    for interrupt in rehearsal.interrupts:
        if not interrupt.is_fine:
            write = writes.get(interrupt.number)
            what = name_write(write, names) if write else interrupt.arm_id
            twice = (f"created twice: {arm_id}" for arm_id in interrupt.sent_twice)
            yield RehearsalFinding(
                f"Stopped after write {interrupt.number}, {what}", details=(*interrupt.differences, *twice)
            )


def name_write(write: RehearsedWrite, names: Mapping[Key, str]) -> str:
    """Name a write by its action and resource, or by the request if it belongs to none."""
    action = write.method if write.action is Action.NONE else write.action.value
    return f"{action} {names[write.key] if write.key else write.arm_id}"


def _list_gaps(rehearsal: Rehearsal, names: Mapping[Key, str], *, stops: bool) -> Iterator[RehearsalFinding]:
    for gap in (gap for gap in rehearsal.gaps if gap.stops is stops):
        field = f"{gap.field}: " if gap.field else ""
        yield RehearsalFinding(
            title=f"{names[gap.key]}: {_NEEDS if gap.field and gap.kind is GapKind.OWNER else _GAP_WORDS[gap.kind]}",
            message=f"{field}{gap.message}",
            location=str(gap.source) if gap.source else "",
            details=(f"What to do: {gap.hint}",) if gap.hint else (),
        )


def list_left_out(rehearsal: Rehearsal, most: int) -> list[str]:
    """List as sentences what was not rehearsed, each with at most `most` names. Stubs have a list of their own."""
    lines = []
    for omitted in rehearsal.not_rehearsed:
        if omitted.blank is not Blank.STUBS:
            named = name_first(omitted.names, most)
            lines.append(f"{omitted.sentence} ({named})" if named else omitted.sentence)
    return lines
