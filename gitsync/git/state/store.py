"""The protocol of the state between runs; a branch and a folder keep the same tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Protocol, Self

from gitsync.model.export import Address, Export, Leftover
from gitsync.model.gvk import Key
from gitsync.model.heartbeat import Heartbeat
from gitsync.model.record import Record, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """The update of a run. A record or a config map of None is forgotten; all others are kept.

    `revision` is the commit of the records of `agent`. `summary` and `report` are the texts of SUMMARY.md and
    report.json, made only if something is written; None to leave them as they are. `headline` is one line.
    `leftovers` has each export that the run should remove, and whether it is still there.
    """

    records: Mapping[Key, Record | None]
    revision: str | None
    summary: Callable[[], str] | None
    report: Callable[[], str] | None
    headline: str
    config_maps: Mapping[Address, Export | None] = field(default_factory=dict)
    agent: str = ""
    leftovers: Mapping[Leftover, bool] = field(default_factory=dict)


class StateStore(Protocol):
    """A context manager: leaving it releases its resources."""

    @property
    def name(self) -> str:
        """The place of the state, for messages."""
        ...

    def load(self) -> State:
        """Read the state; empty if there is none. StateError if it cannot be read or trusted."""
        ...

    def check_writable(self) -> None:
        """Check, without changing anything, that `save` is allowed. PublishError if not."""
        ...

    def reserve(self, update: Update) -> Mapping[Key, Record]:
        """Publish the records of what the run may create, after looking again at what others wrote since `load`.

        Returns the records that another run has made since then for the same resources; those are not touched.
        Raises PublishError if it fails.
        """
        ...

    def save(self, update: Update) -> bool:
        """Publish what changed since `load`, and return whether anything did. Raises PublishError if that fails.

        Texts and times alone are not a change. Concurrent updates of others stay, except for the keys changed here.
        """
        ...

    def read_heartbeats(self) -> tuple[Heartbeat, ...]:
        """The heartbeats of all agents, sorted by name; empty if there are none. StateError if they cannot be read."""
        ...

    def move_heartbeat(self, heartbeat: Heartbeat) -> None:
        """Publish that a run has succeeded, unless a later one has. Raises PublishError if that fails."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...


def split_taken(known: State, now: State, update: Update) -> tuple[dict[Key, Record], Update]:
    """The records of an update's resources that others made since the state was `known`, and the rest of the update."""
    taken = {
        key: record
        for key in update.records
        if (record := now.records.get(key)) is not None and record != known.records.get(key)
    }
    return taken, replace(update, records={key: new for key, new in update.records.items() if key not in taken})
