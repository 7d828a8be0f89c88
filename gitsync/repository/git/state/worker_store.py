"""The state of one worker of a run: a branch of its own, that begins with the pinned commit of the status branch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Self

from gitsync.model.gvk import Key
from gitsync.model.record import Heartbeat, LastRun, Record, State
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.store import Update, split_taken


@dataclass(slots=True)
class WorkerStore:
    """A StateStore."""

    own: StatusBranch  # the branch of the worker
    status: StatusBranch
    pinned: State
    """The state at the pin, which is what the cut and the guards of the run go by, also in a worker that was started
    again.
    """

    number: int  # of the worker, from 1
    workers: int  # their number

    @property
    def name(self) -> str:
        return self.own.name

    def load(self) -> State:
        return self.own.load()

    def check_writable(self) -> None:
        self.own.check_writable()

    def reserve(self, update: Update) -> Mapping[Key, Record]:
        """Publish claims on the own branch, unless another run has recorded the resource on the status branch since the
        own one began.
        """
        # What is the same on both branches is this worker's, from before it was started again.
        taken, free = split_taken(self.own.state, self.status.load(), update)
        return {**taken, **self.own.reserve(free)}

    def save(self, update: Update) -> bool:
        return self.own.save(update)

    def read_last_run(self) -> LastRun | None:
        return self.own.read_last_run()

    def read_runs(self, since: datetime, most: int) -> tuple[LastRun, ...]:
        return self.status.read_runs(since, most)

    def read_heartbeats(self) -> tuple[Heartbeat, ...]:
        return self.status.read_heartbeats()

    def move_heartbeat(self, heartbeat: Heartbeat) -> None:
        self.status.move_heartbeat(heartbeat)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.own.__exit__(kind, error, at)
        self.status.__exit__(kind, error, at)
