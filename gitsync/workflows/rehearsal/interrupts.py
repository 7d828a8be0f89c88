"""Kill a sync after each of its writes, and resume with the next sync: the estate must end as without the kill.

The killed run is cut off from Azure and from its state at that moment, like a process that gets SIGKILL. One kill for
each accepted write is enough: what a run has to remember changes only there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, replace
from http import HTTPStatus
from itertools import takewhile
from typing import Any, Final

from gitsync.desired.formats.json_pointer import format_pointer
from gitsync.desired.formats.leaf_changes import compute_changes
from gitsync.desired.formats.name_list import name_first
from gitsync.desired.request.secret_digest import mask_digests
from gitsync.emulator.http.target import parse
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.types.implicit_resources import find_resource
from gitsync.errors import ExitCode
from gitsync.model.arm_id import NO_ID, ArmId, IdKey
from gitsync.model.gvk import Key
from gitsync.model.record import Durations, Record
from gitsync.model.rehearsal import Interrupt
from gitsync.model.report import Report
from gitsync.workflows.rehearsal.sandbox import Played, Sandbox, Snapshot, is_write, play

MOST: Final = 50
"""The most writes after which a sync is killed. Of more, an even sample is taken."""

_MOST_NAMED: Final = 3
_PARTS: Final = frozenset({"manifest", "spec", "writes", "access"})  # of a record
_TAKEN: Final = frozenset({HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED})


async def interrupt(
    sandbox: Sandbox, before: Snapshot, undisturbed: Played, after: Snapshot, keys: Mapping[IdKey, Key]
) -> tuple[Interrupt, ...]:
    """Run the same sync once for each kill, and resume it with the next sync. `before` and `after` are snapshots around
    the uninterrupted run.
    """
    writes = sum(map(is_write, undisturbed.requests))
    return tuple([await _interrupt(sandbox, before, undisturbed, after, keys, number) for number in choose(writes)])


def choose(writes: int, most: int = MOST) -> list[int]:
    """Choose the numbers of the writes after which to kill. The first and the last are always among them."""
    if writes <= most:
        return list(range(1, writes + 1))
    return [1 + round(step * (writes - 1) / (most - 1)) for step in range(most)]


async def _interrupt(
    sandbox: Sandbox, before: Snapshot, undisturbed: Played, after: Snapshot, keys: Mapping[IdKey, Key], number: int
) -> Interrupt:
    # A copy, since each kill starts from the same estate.
    killed, left = await play(sandbox, before.copy(), kill_after=number)
    last = [request.path for request in killed.requests if is_write(request)][:number][-1:]
    resumed, end = await play(sandbox, left)
    return Interrupt(
        number=number,
        arm_id=ArmId(last[0]) if last else NO_ID,
        differences=(
            *_list_failures(resumed, undisturbed.report),
            *_compare_azure(sandbox, end, after, keys),
            *_compare_records(end, after),
        ),
        sent_twice=_list_sent_twice(killed, resumed, undisturbed, set(before.store.keys("/"))),
    )


def _list_failures(resumed: Played, undisturbed: Report | None) -> Iterator[str]:
    """List what failed in the run after the kill, but not in the uninterrupted run."""
    if resumed.report is None:
        yield f"The sync after the kill was refused: {resumed.refusal}"
    elif resumed.report.exit_code is not ExitCode.FINE:
        # The kill did not cause what fails without one as well.
        fine = {result.key for result in undisturbed.results if result.is_fine} if undisturbed else set()
        for result in resumed.report.results:
            if not result.is_fine and result.key in fine:
                reason, message = result.condition.reason, result.condition.message
                yield f"{result.key} is not ready after the next sync: {reason}: {message}"


def _compare_azure(sandbox: Sandbox, end: Snapshot, wanted: Snapshot, keys: Mapping[IdKey, Key]) -> Iterator[str]:
    clouds = [EmulatedCloud(snapshot.store, sandbox.emulator, sandbox.clock) for snapshot in (end, wanted)]
    for arm_id in sorted({arm_id for cloud in clouds for arm_id in cloud.store.keys("/")}):
        name = keys.get(ArmId(arm_id).key, arm_id)
        # As Azure shows them: some resources exist with their parents, whether or not a run wrote them.
        now, then = (find_resource(cloud, parse(arm_id)) for cloud in clouds)
        if now is None:
            yield f"{name} is missing in Azure."
        elif then is None:
            yield f"{name} is in Azure, but should not be."
        elif now.state != then.state and not now.operation:  # an operation goes on by itself
            yield f"{name} is {now.state} in Azure, but should be {then.state}."
        elif paths := [format_pointer(path) for path, _, _ in compute_changes(now.body, then.body)]:
            yield f"{name} differs in Azure at {name_first(paths, _MOST_NAMED)}."


def _compare_records(end: Snapshot, wanted: Snapshot) -> Iterator[str]:
    now, then = end.state.records, wanted.state.records
    for key in sorted({*now, *then}):
        if key not in now:
            yield f"{key} is not recorded."
        elif key not in then:
            yield f"{key} is recorded, but should not be."
        elif names := _list_differing(_drop_course(now[key]), _drop_course(then[key])):
            yield f"The record of {key} differs in {name_first(names, _MOST_NAMED)}."


def _list_differing(left: Any, right: Any) -> list[str]:
    """List the fields in which two values of one class differ; those of a part, if one does."""
    names = []
    for field in fields(left):
        mine, other = getattr(left, field.name), getattr(right, field.name)
        if field.compare and mine != other:
            names += _list_differing(mine, other) if field.name in _PARTS else [field.name]
    return names


def _drop_course(record: Record) -> Record:
    """Return a record without its times and counts. Its digests are masked: a write before the rehearsal had another
    digest key.
    """
    condition = replace(record.condition, time="", request_id="") if record.condition else None
    outside = record.spec.outside
    masked = replace(outside, values=mask_digests(outside.values), read="") if outside else None
    spec = replace(record.spec, applied=mask_digests(record.spec.applied), outside=masked)
    writes = replace(record.writes, count=0, last=None, durations=Durations())
    return replace(record, condition=condition, spec=spec, writes=writes)


def _list_sent_twice(killed: Played, resumed: Played, undisturbed: Played, existed: Collection[str]) -> tuple[str, ...]:
    """List what was created in more accepted PUTs than it takes without a kill.

    A create that Azure accepted but did not show yet when the next run read it does not count: that run must send it
    again, and a PUT may be repeated.
    """
    usual, first, again = Counter(_list_puts(undisturbed)), _list_puts(killed), _list_puts(resumed)
    pending = {
        ArmId(request.path).key
        for request in killed.requests
        if request.method == "PUT" and request.status == HTTPStatus.ACCEPTED
    }
    sent = Counter([*first, *again])
    return tuple(
        arm_id
        for arm_id in sorted(sent)
        if arm_id not in existed
        and sent[arm_id] > max(usual[arm_id], 1)
        # A create that Azure did not show yet must be sent again, and a PUT may be repeated.
        and not (arm_id in pending and not _was_shown(resumed, arm_id))
    )


def _was_shown(played: Played, arm_id: IdKey) -> bool:
    """Return whether Azure showed a resource before a run sent its first PUT of it."""
    requests = (request for request in played.requests if ArmId(request.path).key == arm_id and not request.poll)
    return any(
        request.status == HTTPStatus.OK for request in takewhile(lambda request: request.method != "PUT", requests)
    )


def _list_puts(played: Played) -> list[IdKey]:
    """List the ids of PUTs that Azure accepted."""
    accepted = (
        request
        for request in played.requests
        if request.method == "PUT" and not request.poll and request.status in _TAKEN
    )
    return [ArmId(request.path).key for request in accepted]
