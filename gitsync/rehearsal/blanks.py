"""What a rehearsal cannot know, each in a plain sentence: an honest report says what it does not cover."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.types.behaviour import is_recorded
from gitsync.model.record import Record, Trust
from gitsync.model.rehearsal import Blank, NotRehearsed, RehearsedWrite, Stub
from gitsync.model.report import Report
from gitsync.rehearsal.stand_ins import AskedValues
from gitsync.report.wording import format_plural
from gitsync.validation.references import parse_arm_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a rehearsal went, as far as blanks depend on it. `records` are as they were read, with what their seals
    say.
    """

    records: Iterable[Record]
    asked: AskedValues
    emulator: EmulatorSettings
    report: Report | None
    writes: Sequence[RehearsedWrite]
    stubs: tuple[Stub, ...]


def list_blanks(course: Course) -> tuple[NotRehearsed, ...]:
    """List what was not rehearsed, in the order of `Blank`."""
    found = [
        make
        for find in (_find_seals, _find_secrets, _find_types, _find_governance, _find_stubs)
        for make in find(course)
    ]
    return tuple(found)


def _find_seals(course: Course) -> Iterator[NotRehearsed]:
    if count := sum(record.trust is Trust.NO_KEY for record in course.records):
        sentence = f"The seals of {format_plural(count, 'record')} were not checked, since a rehearsal has no key."
        yield NotRehearsed(blank=Blank.SEALS, count=count, sentence=sentence)


def _find_secrets(course: Course) -> Iterator[NotRehearsed]:
    """The values that were made up, and the secrets of which only a run with the key knows whether they changed."""
    results = course.report.results if course.report else ()
    uncompared = sum(len(one.because) for one in results)
    if not course.asked and not uncompared:
        return
    names = tuple(sorted({str(address) for address, _ in course.asked}))
    made_up = f"{format_plural(len(course.asked), 'value')} of Secrets and ConfigMaps {_is(len(course.asked))} made up"
    secrets = f"whether {format_plural(uncompared, 'secret')} changed is not known"
    parts = [*([made_up] if course.asked else []), *([secrets] if uncompared else [])]
    sentence = ", and ".join(parts)
    yield NotRehearsed(
        blank=Blank.SECRETS,
        count=len(course.asked) + uncompared,
        names=names,
        sentence=f"{sentence[0].upper()}{sentence[1:]}: a sync writes a resource again if such a value changed.",
    )


def _find_types(course: Course) -> Iterator[NotRehearsed]:
    types = {parse_arm_type(one.arm_id) for one in course.writes}
    names = tuple(sorted(one for one in types if not is_recorded(one)))
    if names:
        sentence = (
            f"No answers of Azure are recorded for {format_plural(len(names), 'type')} of what is written: "
            "their writes succeed at once, and show what was sent."
        )
        yield NotRehearsed(blank=Blank.KINDS, count=len(names), names=names, sentence=sentence)


def _find_governance(course: Course) -> Iterator[NotRehearsed]:
    """Policies and quotas are those of the script: without any, nothing that is sent meets one."""
    is_sent = any(one.method != "DELETE" for one in course.writes)
    blank = partial(NotRehearsed, count=0)
    if is_sent and not course.emulator.policies:
        sentence = "Policies of Azure did not judge any write. Add them to --emulator-script to rehearse them."
        yield blank(blank=Blank.POLICIES, sentence=sentence)
    if is_sent and not (course.emulator.quotas or course.emulator.skus):
        sentence = (
            "Quotas and sizes of regions did not limit any write. Add them to --emulator-script to rehearse them."
        )
        yield blank(blank=Blank.QUOTAS, sentence=sentence)


def _find_stubs(course: Course) -> Iterator[NotRehearsed]:
    if count := len(course.stubs):
        sentence = f"{format_plural(count, 'resource')} without a record {_is(count)} empty in the rehearsal."
        names = tuple(stub.arm_id for stub in course.stubs)
        yield NotRehearsed(blank=Blank.STUBS, count=count, names=names, sentence=sentence)


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
