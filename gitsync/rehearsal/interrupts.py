"""Kill a sync after each of its writes, and let the next one go on: the estate must end as if nothing had happened.

The killed run is cut off from Azure and from its state at that moment, as a process that gets SIGKILL. So it is one
kill for each write that Azure does: what a run has to remember changes there, and nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Final

from gitsync.diff.leaf_changes import find_changes
from gitsync.errors import ExitCode
from gitsync.formats.arm_path import normalize_id
from gitsync.formats.json_pointer import format_pointer
from gitsync.model.gvk import Key
from gitsync.model.record import Record
from gitsync.model.rehearsal import Interrupt
from gitsync.model.report import Report
from gitsync.rehearsal.stage import Estate, Played, Stage, is_write, play

MOST: Final = 50
"""Writes after which a sync is killed: all of them, or an even sample of so many."""

_MOST_NAMED = 3


async def interrupt(
    stage: Stage, before: Estate, undisturbed: Played, after: Estate, keys: Mapping[str, Key]
) -> tuple[Interrupt, ...]:
    """Play the same sync once for each kill, with the sync after it. `before` and `after` are the estate around the run
    that nothing disturbed.
    """
    writes = sum(map(is_write, undisturbed.requests))
    return tuple([await _interrupt(stage, before, undisturbed, after, keys, number) for number in choose(writes)])


def choose(writes: int, most: int = MOST) -> list[int]:
    """Choose the writes to be killed after, by their numbers: the first and the last are among them."""
    if writes <= most:
        return list(range(1, writes + 1))
    return [1 + round(step * (writes - 1) / (most - 1)) for step in range(most)]


async def _interrupt(
    stage: Stage, before: Estate, undisturbed: Played, after: Estate, keys: Mapping[str, Key], number: int
) -> Interrupt:
    killed, estate = await play(stage, before.copy(), kill_after=number)
    last = [request.path for request in killed.requests if is_write(request)][:number][-1:]
    resumed, end = await play(stage, estate)
    known = {arm_id for arm_id, _ in before.store.below("/")}
    return Interrupt(
        number=number,
        arm_id=last[0] if last else "",
        differences=(
            *_list_failures(resumed, undisturbed.report),
            *_compare_azure(end, after, keys),
            *_compare_records(end, after),
        ),
        sent_twice=_find_sent_twice([killed, resumed], undisturbed, known),
    )


def _list_failures(resumed: Played, undisturbed: Report | None) -> Iterator[str]:
    """List what went wrong in the run after the kill, and did not in the run that nothing disturbed."""
    if resumed.report is None:
        yield f"The sync after the kill is refused: {resumed.refusal}"
    elif resumed.report.exit_code is not ExitCode.FINE:
        fine = {one.key for one in undisturbed.results if one.is_fine} if undisturbed else set()
        for one in resumed.report.results:
            if not one.is_fine and one.key in fine:
                yield f"{one.key} is not ready after the next sync: {one.condition.reason}: {one.condition.message}"


def _compare_azure(end: Estate, wanted: Estate, keys: Mapping[str, Key]) -> Iterator[str]:
    now, then = dict(end.store.below("/")), dict(wanted.store.below("/"))
    for arm_id in sorted({*now, *then}):
        name = str(keys.get(normalize_id(arm_id), arm_id))
        if arm_id not in now:
            yield f"{name} is missing in Azure."
        elif arm_id not in then:
            yield f"{name} is in Azure, and should not be."
        elif now[arm_id].state != then[arm_id].state:
            yield f"{name} is {now[arm_id].state} in Azure, and should be {then[arm_id].state}."
        elif paths := [format_pointer(path) for path, _, _ in find_changes(now[arm_id].body, then[arm_id].body)]:
            yield f"{name} differs in Azure in {_join(paths)}."


def _compare_records(end: Estate, wanted: Estate) -> Iterator[str]:
    now, then = end.state.records, wanted.state.records
    for key in sorted({*now, *then}):
        if key not in now:
            yield f"{key} is not recorded."
        elif key not in then:
            yield f"{key} is recorded, and should not be."
        elif names := _list_different_members(now[key], then[key]):
            yield f"The record of {key} differs in {_join(names)}."


def _list_different_members(left: Record, right: Record) -> list[str]:
    left, right = _drop_course(left), _drop_course(right)
    return [one.name for one in fields(Record) if one.compare and getattr(left, one.name) != getattr(right, one.name)]


def _drop_course(record: Record) -> Record:
    """Return a record without what tells when it came to be, and in how many steps."""
    condition = replace(record.condition, time="", request_id="") if record.condition else None
    return replace(record, condition=condition, writes=0, last_write=None)


def _find_sent_twice(played: Iterable[Played], undisturbed: Played, existed: set[str]) -> tuple[str, ...]:
    """Find what was created in more accepted PUTs than it takes without a kill."""
    sent = Counter(arm_id for one in played for arm_id in _list_puts(one))
    usual = Counter(_list_puts(undisturbed))
    return tuple(sorted(arm_id for arm_id in sent if arm_id not in existed and sent[arm_id] > max(usual[arm_id], 1)))


def _list_puts(played: Played) -> Iterator[str]:
    """List the ids of PUTs that Azure accepted."""
    return (
        normalize_id(one.path)
        for one in played.requests
        if one.method == "PUT" and not one.poll and 0 < one.status < 300
    )


def _join(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"
