"""The writes of a rehearsed sync as rows: resource, action, wave, start, and how long Azure works."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from gitsync.desired.formats.arm_path import name_resource
from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.gvk import Key
from gitsync.model.limits import ARM_LIMITS, RequestKind
from gitsync.model.rehearsal import Rehearsal
from gitsync.model.report import RequestCounts
from gitsync.model.schedule import Bar, Estimate, Schedule
from gitsync.model.verdict import Action
from gitsync.report.run_facts import format_about
from gitsync.report.wording import format_plural, format_seconds
from gitsync.settings.logging import escape_controls

ESTIMATES: Final[Mapping[Estimate, tuple[str, str]]] = {
    Estimate.RECORD: ("its last write", "from the last write of the resource"),
    Estimate.TYPE: ("recordings of its type", "from recordings of the type"),
    Estimate.PUBLISHED: ("a published figure for its type", "from published figures"),
    Estimate.DEFAULT: ("a guess", "guessed"),
}
"""The origin of an expected time: for one write, and in a sentence about several."""

_WIDTH: Final = 24  # characters of a time line


class WriteRow(NamedTuple):
    """One row of the writes."""

    name: str  # of the resource, as the page shows it
    key: Key | None  # None if no resource of the run has the id
    action: str  # in a word
    arm_id: ArmId
    bar: Bar | None = None  # None for a write that the schedule does not have

    @property
    def wave(self) -> str:
        return str(self.bar.wave) if self.bar else ""

    @property
    def start(self) -> str:
        return format_seconds(round(self.bar.sent)) if self.bar else ""

    @property
    def takes(self) -> str:
        return format_length(self.bar.end - self.bar.sent) if self.bar else ""

    @property
    def is_critical(self) -> bool:
        return self.bar is not None and self.bar.is_critical


def list_rows(rehearsal: Rehearsal, names: Mapping[Key, str]) -> list[WriteRow]:
    """List the writes in the order in which they are expected to begin; those without an expected time are last."""
    ids = {write.key: write.arm_id for write in reversed(rehearsal.writes)}
    planned = {bar.key for bar in rehearsal.schedule.bars}
    rows = [
        WriteRow(names[bar.key], bar.key, bar.action.value, ids.get(bar.key, NO_ID), bar)
        for bar in rehearsal.schedule.bars
    ]
    others: dict[ArmId, WriteRow] = {}
    for write in rehearsal.writes:
        if write.key not in planned and write.arm_id not in others:
            name = names[write.key] if write.key else escape_controls(name_resource(write.arm_id))
            action = escape_controls(write.method) if write.action is Action.NONE else write.action.value
            others[write.arm_id] = WriteRow(name, write.key, action, write.arm_id)
    return [*rows, *others.values()]


def format_length(seconds: float) -> str:
    """Format the duration of a write."""
    return format_seconds(round(seconds)) if seconds >= 1 else "under 1s"


def format_estimates(schedule: Schedule) -> str:
    """Format the origins of the expected times as a sentence; "" without writes."""
    parts = [f"{times} {ESTIMATES[estimate][1]}" for estimate, times in schedule.count_estimates().items() if times]
    return f"Expected times: {', '.join(parts)}." if parts else ""


def format_size(rehearsal: Rehearsal) -> str:
    """Format the size of the sync as a title: `Writes, in 3 waves and about 4 min (5)`."""
    schedule = rehearsal.schedule
    planned = {bar.key for bar in schedule.bars}
    # A write to another provider than ARM is planned like all others, but sends no request to ARM.
    count = len(schedule.bars) + len({write.arm_id for write in rehearsal.writes if write.key not in planned})
    if not schedule.bars:
        return f"Writes ({count})"
    return f"Writes, in {format_plural(schedule.waves, 'wave')} and {format_about(schedule)} ({count})"


def draw_bar(bar: Bar | None, total: float) -> str:
    """Draw the time of a write as characters: dots, a pale part while it waits, a solid one while Azure works."""
    if bar is None or total <= 0:
        return ""
    begin, sent, end = (round(at / total * _WIDTH) for at in (bar.ready, bar.sent, bar.end))
    # The shortest write has one character, and none is longer than the line.
    sent = min(sent, _WIDTH - 1)
    end = max(end, sent + 1)
    begin = min(begin, sent)
    return f"{'·' * begin}{'░' * (sent - begin)}{'█' * (end - sent)}{'·' * (_WIDTH - end)}"


def list_requests(requests: RequestCounts) -> Iterator[tuple[str, str, str]]:
    """List the requests by kind: the kind, how many were sent, and ARM's limit for them."""
    kinds = (
        ("reads", requests.reads, RequestKind.READS, ""),
        ("polls", requests.polls, RequestKind.READS, "count as reads; the longer Azure works, the more are sent"),
        ("checks", requests.checks, RequestKind.WRITES, "count as writes"),
        ("writes", requests.writes, RequestKind.WRITES, ""),
        ("deletes", requests.deletes, RequestKind.DELETES, ""),
    )
    for name, count, kind, note in kinds:
        if count:
            limit = ARM_LIMITS[kind]
            yield name, str(count), note or f"{limit.burst:g} at once, then {limit.per_second:g} a second"
