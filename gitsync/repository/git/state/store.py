"""The protocol of the state between runs; a branch and a folder keep the same tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import TracebackType
from typing import Protocol, Self, TypeVar

from gitsync.model.export import Address, Export, Leftover
from gitsync.model.gvk import Key
from gitsync.model.record import Heartbeat, LastRun, Record, State, Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """The update of a run. A record or a config map of None is forgotten; all others are kept."""

    records: Mapping[Key, Record | None]
    revision: str | None  # the commit of the records of `agent`
    summary: Callable[[], str] | None
    """The text of SUMMARY.md, made only if something is written; None to leave it as it is."""

    report: Callable[[], str] | None  # the text of report.json, likewise
    headline: str  # one line
    config_maps: Mapping[Address, Export | None] = field(default_factory=dict)
    agent: str = ""
    leftovers: Mapping[Leftover, bool] = field(default_factory=dict)
    """Each export that the run should remove, and whether it is still there."""

    notified: str | None = None
    """The state in a notification that `agent` sent, "" for all is well; None if none was sent."""

    exit_code: int | None = None  # of the run, None before its end
    trailers: str = ""  # lines that its commit ends with


class StateStore(Protocol):
    """A context manager: leaving it releases its resources."""

    @property
    def name(self) -> str:
        """The location of the state, for messages."""
        ...

    def load(self) -> State:
        """Read the state; empty if there is none. StateError if it cannot be read or trusted."""
        ...

    def check_writable(self) -> None:
        """Check, without changing anything, that `save` is allowed. PublishError if not."""
        ...

    def reserve(self, update: Update) -> Mapping[Key, Record]:
        """Publish the records of what the run may create, after looking again at what others wrote since `load`.

        Returns the records that another run has made since then for the same resources; those are not touched. Raises
        PublishError if it fails.
        """
        ...

    def save(self, update: Update) -> bool:
        """Publish what changed since `load`, and return whether anything did. Raises PublishError if that fails.

        Texts and times alone are not a change. Concurrent updates of others stay, except for the keys changed here.
        """
        ...

    def read_last_run(self) -> LastRun | None:
        """Read from the report of the tree that `load` has read which run wrote it last; None if that is not known."""
        ...

    def read_runs(self, since: datetime, most: int) -> tuple[LastRun, ...]:
        """Read from earlier reports which runs have changed something since a time, the newest first, at most `most` of
        them; from a folder only the last. StateError if they cannot be read.
        """
        ...

    def read_heartbeats(self) -> tuple[Heartbeat, ...]:
        """Read the heartbeats of all agents, sorted by name; empty if there are none. StateError if they cannot be
        read.
        """
        ...

    def move_heartbeat(self, heartbeat: Heartbeat) -> None:
        """Publish that a run has succeeded, unless a later one has. Raises PublishError if that fails."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...


def split_taken(known: State, now: State, update: Update) -> tuple[dict[Key, Record], Update]:
    """Split the records of an update's resources that others made since the state was `known`, and the rest of the
    update.
    """
    taken = {
        key: record
        for key in update.records
        if (record := now.records.get(key)) is not None and record != known.records.get(key)
    }
    return taken, replace(update, records={key: new for key, new in update.records.items() if key not in taken})


# What an update changes, and how it is merged with concurrent updates of others. This decides whether there is a
# commit: a run that changes nothing makes none.


Records = Mapping[Key, Record]

_Name = TypeVar("_Name", Key, Address)
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The entries that an update changes, sorted."""

    records: Mapping[Key, Record | None]  # None for those to remove
    config_maps: Mapping[Address, Export | None]  # None for those to remove
    leftovers: Mapping[Leftover, bool] = field(default_factory=dict)  # False for those to remove
    notified: Mapping[str, str] = field(default_factory=dict)  # "" for those to remove

    def __bool__(self) -> bool:
        return bool(self.records or self.config_maps or self.leftovers or self.notified)


def compute_changes(base: State, update: Update) -> Changes:
    """Compute the changes of an update."""
    config_maps = {
        address: export
        for address, export in sorted(update.config_maps.items())
        if base.config_maps.get(address) != export
    }
    leftovers = {
        leftover: is_there
        for leftover, is_there in update.leftovers.items()
        if is_there != (leftover in base.leftovers)
    }
    says_more = update.notified is not None and update.notified != base.notified.get(update.agent, "")
    return Changes(
        records=find_changed_records(base.records, update.records),
        config_maps=config_maps,
        leftovers=leftovers,
        notified={update.agent: update.notified or ""} if says_more else {},
    )


def merge(theirs: State, ours: Changes, revision: str | None, agent: str = "") -> State:
    """Merge our changes into their state. `revision` is that of `agent`."""
    after = State(
        overlay(theirs.records, ours.records),
        revision,
        overlay(theirs.config_maps, ours.config_maps),
        leftovers=(theirs.leftovers - ours.leftovers.keys())
        | {leftover for leftover, is_there in ours.leftovers.items() if is_there},
        notified={agent: words for agent, words in sorted({**theirs.notified, **ours.notified}.items()) if words},
        identity=theirs.identity,
    )
    return replace(after, revisions=_merge_revisions(theirs, after, agent) if agent else theirs.revisions)


def _merge_revisions(theirs: State, after: State, agent: str) -> dict[str, str]:
    """Merge the revisions by agent. They are empty while one agent alone has records, whose revision is that of the
    state.
    """
    # A status of one agent has no table; the second agent turns its one revision into a row.
    known = dict(theirs.revisions)
    if not known and theirs.revision and len(theirs.agents) == 1:
        known = dict.fromkeys(theirs.agents, theirs.revision)
    known.pop(agent, None)
    if not known and after.agents <= {agent}:
        return {}
    return dict(sorted({**known, **({agent: after.revision} if after.revision else {})}.items()))


def find_changed_records(base: Records, records: Mapping[Key, Record | None]) -> Mapping[Key, Record | None]:
    """Find the records that differ from `base`, and None for those to forget, sorted by key.

    A record with a refused seal stays as it is, unless the new one is vouched for (`Trust.SIGNED`), or it is forgotten
    and was signed by an older version; a record that was signed with the previous key, or by an older version, is
    signed again.
    """
    changed: dict[Key, Record | None] = {}
    for key, new in sorted(records.items()):
        old = base.get(key)
        is_vouched_for = new.trust is Trust.SIGNED if new else old is not None and old.trust.is_former
        # A record that was written without the key must not become a valid one by the next run.
        if old is not None and old.trust.is_refused and not is_vouched_for:
            continue
        if new is None:
            if old is not None:
                changed[key] = None
        elif old is None:
            changed[key] = new
        else:
            # A condition's time and request id alone are not a change.
            is_same = new == old or (_is_same_condition(new, old) and replace(new, condition=old.condition) == old)
            must_sign = old.trust is Trust.SIGNED_BEFORE or (old.trust.is_refused and new.trust is Trust.SIGNED)
            if not is_same or must_sign:
                # If only other fields changed, the condition keeps its time.
                changed[key] = _keep_time(new, old)
    return changed


def overlay(theirs: Mapping[_Name, _Value], ours: Mapping[_Name, _Value | None]) -> dict[_Name, _Value]:
    """Replace their entries by ours where we have some; sorted."""
    merged: dict[_Name, _Value | None] = {**theirs, **ours}
    return {name: value for name, value in sorted(merged.items()) if value is not None}


def _is_same_condition(new: Record, old: Record) -> bool:
    """Return whether two conditions are equal except for the time and the request id."""
    if new.condition is None or old.condition is None:
        return new.condition is old.condition
    return new.condition.says_the_same(old.condition) and new.condition.advice == old.condition.advice


def _keep_time(new: Record, old: Record) -> Record:
    """Keep the time of a condition that has not changed: when it came to hold."""
    if old.condition is None or new.condition is None or not new.condition.says_the_same(old.condition):
        return new
    return replace(new, condition=replace(new.condition, time=old.condition.time))
