"""Lays out the time line of a rehearsed sync: a row for each write, with a pale bar while it waits and a solid one
while Azure works, over bands for the waves and an axis. All sizes are shares of the width, so it fits every screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Final, NamedTuple

from gitsync.model.schedule import Bar, Schedule
from gitsync.model.verdict import Action
from gitsync.report.html.looks import Tone
from gitsync.workflows.rehearsal.writes import WriteRow

MOST_ROWS: Final = 40
"""Rows that are shown unfolded: the critical path, then the longest of the others."""

_STEPS: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400)
_MOST_STEPS: Final = 6  # of the axis: their labels have room on a phone
_LEAST_BAND: Final = 4.0  # percent of the width; a narrower band has no room for its number
_LEAST_WAVE: Final = 16.0  # and for the word before the number
_WAVE: Final = "wave "
_LATEST_LABEL: Final = 88.0  # percent: a label further to the right would leave the picture of a phone


class ActionLook(NamedTuple):
    """The look of an action. No two actions differ by colour alone."""

    sign: str
    tone: Tone


ACTION_LOOKS: Final[Mapping[Action, ActionLook]] = {
    Action.CREATE: ActionLook("+", Tone.NEW),
    Action.UPDATE: ActionLook("~", Tone.CHANGE),
    Action.REPLACE: ActionLook("⇄", Tone.DRIFT),
    Action.DELETE: ActionLook("−", Tone.DELETE),  # noqa: RUF001 - the minus sign is as wide as the plus
    Action.DETACH: ActionLook("○", Tone.REST),
    Action.NONE: ActionLook("·", Tone.REST),
}


class Span(NamedTuple):
    """A part of the width, in percent."""

    x: str
    width: str
    label: str = ""  # written there, if there is room


class Tick(NamedTuple):
    """A line of the axis."""

    x: str
    label: str  # "" where it has no room


class TimelineRow(NamedTuple):
    """One write on the time line."""

    row: WriteRow
    bar: Bar
    look: ActionLook
    wait: Span | None  # before it is sent; None if it does not wait
    work: Span  # while Azure works on it


class TimeChart(NamedTuple):
    """The time line as a picture."""

    shown: Sequence[TimelineRow]  # rows in the order in which they begin
    folded: Sequence[TimelineRow]  # the rest of the rows, in the same order
    bands: Sequence[Span]  # one for each wave
    ticks: Sequence[Tick]  # the lines of the axis


def lay_out(schedule: Schedule, rows: Iterable[WriteRow]) -> TimeChart | None:
    """Lay out the time line; None if no write has an expected time."""
    total = schedule.seconds
    if total <= 0:
        return None
    placed = [
        TimelineRow(
            row=row,
            bar=bar,
            look=ACTION_LOOKS[bar.action],
            wait=_span(bar.ready, bar.sent, total) if bar.sent > bar.ready else None,
            work=_span(bar.sent, bar.end, total),
        )
        for row in rows
        if (bar := row.bar)
    ]
    # The critical path alone decides the duration of the sync.
    first = sorted(placed, key=lambda row: (not row.bar.is_critical, row.bar.sent - row.bar.end, row.bar.key))
    kept = {*first[:MOST_ROWS], *(row for row in placed if row.bar.is_critical)}
    return TimeChart(
        shown=[row for row in placed if row in kept],
        folded=[row for row in placed if row not in kept],
        bands=_place_waves(schedule, total),
        ticks=_place_ticks(total),
    )


def _span(begin: float, end: float, total: float, label: str = "") -> Span:
    x, width = 100 * begin / total, 100 * (end - begin) / total
    return Span(f"{x:.2f}", f"{width:.2f}", label)


def _place_waves(schedule: Schedule, total: float) -> list[Span]:
    """A wave lasts from its first write that could begin to that of the next wave; long writes outlast their wave."""
    begins: dict[int, float] = {}
    for bar in schedule.bars:
        begins[bar.wave] = min(bar.ready, begins.get(bar.wave, total))
    waves = sorted(begins)
    ends = [*(begins[wave] for wave in waves[1:]), total]
    bands: list[Span] = []
    for wave, end in zip(waves, ends, strict=True):
        width = 100 * (end - begins[wave]) / total
        says_wave = width >= _LEAST_WAVE and not any(band.label.startswith(_WAVE) for band in bands)
        label = f"{_WAVE}{wave}" if says_wave else str(wave) if width >= _LEAST_BAND else ""
        bands += [_span(begins[wave], end, total, label)] if width > 0 else []
    return bands


def _place_ticks(total: float) -> list[Tick]:
    days = _STEPS[-1] * ceil(total / _STEPS[-1] / _MOST_STEPS)
    step = next((step for step in _STEPS if total / step <= _MOST_STEPS), days)
    return [
        Tick(f"{100 * at / total:.2f}", _format_tick(at, step) if 100 * at / total <= _LATEST_LABEL else "")
        for at in range(0, int(total) + 1, step)
    ]


def _format_tick(at: int, step: int) -> str:
    if at == 0:
        return "0"
    size, unit = (3600, "h") if step >= 3600 else (60, "min") if step >= 60 else (1, "s")
    return f"{at // size} {unit}"
