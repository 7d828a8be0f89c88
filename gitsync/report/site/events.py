"""What happened to a resource: the events that follow from two versions of its record.

The events of a resource retell its record: each carries the facts that it changes, and applied in order they lead from
no record to the last one. What has no event, such as a duration, is left out of the facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, Protocol

from gitsync.model.condition import Condition
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim, Record
from gitsync.model.secret import truncate
from gitsync.planning.status.conditions import READY, is_waiting
from gitsync.report.site.shapes import EventKind

LONGEST_TEXT: Final = 300
"""Characters of the text of an event."""

_MOST_PATHS: Final = 5


class RecordFacts(NamedTuple):
    """What events report of a record."""

    claim: Claim = Claim.NONE
    arm_id: str = ""
    policy: Policy = Policy.MANAGE
    path: str = ""  # of the manifest
    generation: int = 0
    writes: int = 0
    reverted: str = ""  # the time of the last write in a row that reverted a change in Azure
    outside: tuple[str, ...] = ()  # JSON pointers of changes outside of git
    hold: str = ""  # its day and reason, "" for none
    condition: tuple[EventKind, str] | None = None  # ready, failed or waiting, and the words for it; None for none


class Event(NamedTuple):
    """One change of a record."""

    kind: EventKind
    text: str  # more about it, "" for nothing
    facts: Mapping[str, Any]  # those that it changes


def read_facts(record: Record) -> RecordFacts:
    """Read the facts of a record that events report."""
    outside, streak = record.spec.outside, record.writes.streak
    return RecordFacts(
        claim=record.claim,
        arm_id=str(record.arm_id),
        policy=record.manifest.policy,
        path=record.manifest.path,
        generation=record.spec.generation,
        writes=record.writes.count,
        reverted=streak.at if streak else "",
        outside=outside.changed if outside else (),
        hold=str(record.manifest.hold or ""),
        condition=_read_condition(record.condition),
    )


def _read_condition(condition: Condition | None) -> tuple[EventKind, str] | None:
    if condition is None:
        return None
    kind: EventKind = "ready" if condition.is_ready else "waiting" if is_waiting(condition) else "failed"
    reason = "" if condition.reason == READY.reason else condition.reason
    return kind, ": ".join(filter(None, (reason, condition.message)))


NO_RECORD: Final = RecordFacts()


def list_events(before: RecordFacts | None, after: RecordFacts | None) -> tuple[Event, ...]:
    """List what changed from one version of a record to the next, None for no record; empty if no fact changed."""
    if after is None:
        return (Event("removed", "", {}),) if before else ()
    if before == after:
        return ()
    begins = before is None
    old = before or NO_RECORD
    found = [event for list_kind in _KINDS for event in list_kind(old, after, begins=begins)]
    return tuple(event._replace(text=truncate(event.text, LONGEST_TEXT)) for event in found)


def retell(events: Iterable[Event], facts: RecordFacts | None = None) -> RecordFacts | None:
    """Apply events to facts, None for no record: the other direction of `list_events`."""
    for event in events:
        facts = None if event.kind == "removed" else (facts or NO_RECORD)._replace(**event.facts)
    return facts


_CLAIM_EVENTS: Final[Mapping[Claim, EventKind]] = {
    Claim.NONE: "recorded",
    Claim.EXPECTED: "expected",
    Claim.CREATED: "created",
    Claim.ADOPTED: "adopted",
}


def _list_claim(old: RecordFacts, new: RecordFacts, *, begins: bool) -> Iterator[Event]:
    """The first event of a record, and each change of the claim; the id that a create made belongs to it."""
    if begins or old.claim is not new.claim:
        facts = {"claim": new.claim, "arm_id": new.arm_id}
        # In a new record, these have no event of their own.
        silent = ("path", "policy", "generation") if begins else ()
        # A create is a write, and needs no second event for that.
        writes = ("writes", "reverted") if new.claim is Claim.CREATED else ()
        facts |= {name: getattr(new, name) for name in (*silent, *writes)}
        yield Event(_CLAIM_EVENTS[new.claim], "", facts)


def _list_manifest(old: RecordFacts, new: RecordFacts, *, begins: bool) -> Iterator[Event]:
    """Another id, file, policy or spec; those of a new record belong to its first event."""
    if begins:
        return
    # The event of another claim has the id already.
    if old.arm_id != new.arm_id and old.claim is new.claim:
        yield Event("renamed", f"{old.arm_id} → {new.arm_id}", {"arm_id": new.arm_id})
    if old.path != new.path:
        yield Event("moved", f"{old.path} → {new.path}", {"path": new.path})
    if old.policy is not new.policy:
        yield Event("policy", f"{old.policy} → {new.policy}", {"policy": new.policy})
    if old.generation != new.generation:
        yield Event("generation", f"generation {new.generation}", {"generation": new.generation})


def _list_writes(old: RecordFacts, new: RecordFacts, *, begins: bool) -> Iterator[Event]:
    """A write after a change in Azure, or after one in git."""
    is_told = new.claim is Claim.CREATED and (begins or old.claim is not new.claim)
    if is_told or (old.writes, old.reverted) == (new.writes, new.reverted):
        return
    facts = {"writes": new.writes, "reverted": new.reverted}
    is_repair = new.reverted != old.reverted and bool(new.reverted)
    yield Event("repaired" if is_repair else "updated", "", facts)


def _list_outside(old: RecordFacts, new: RecordFacts, *, begins: bool) -> Iterator[Event]:  # noqa: ARG001 - as all of them
    if old.outside == new.outside:
        return
    kind: EventKind = "drifted" if set(new.outside) - set(old.outside) else "settled"
    yield Event(kind, format_paths(new.outside), {"outside": new.outside})


def _list_hold(old: RecordFacts, new: RecordFacts, *, begins: bool) -> Iterator[Event]:  # noqa: ARG001 - as all of them
    if old.hold != new.hold:
        yield Event("held" if new.hold else "released", new.hold, {"hold": new.hold})


def _list_condition(old: RecordFacts, new: RecordFacts, *, begins: bool) -> Iterator[Event]:  # noqa: ARG001 - as all of them
    if old.condition != new.condition:
        kind, text = new.condition or ("waiting", "")
        yield Event(kind, text, {"condition": new.condition})


class _ListKind(Protocol):
    def __call__(self, old: RecordFacts, new: RecordFacts, *, begins: bool) -> Iterator[Event]: ...


_KINDS: Final[tuple[_ListKind, ...]] = (
    _list_claim,
    _list_manifest,
    _list_writes,
    _list_outside,
    _list_hold,
    _list_condition,
)
"""In the order in which a run does it."""


def format_paths(paths: Iterable[str]) -> str:
    """Format JSON pointers as the end of a sentence, the first of many."""
    listed = list(paths)
    more = f" and {len(listed) - _MOST_PATHS} more" if len(listed) > _MOST_PATHS else ""
    return ", ".join(path or "the complete resource" for path in listed[:_MOST_PATHS]) + more
