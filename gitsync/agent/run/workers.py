"""One worker of a run over many: which part of the estate it syncs, and what it waits for in the parts of others.

All workers read the pinned revision and the pinned status, so they make the same cut, and the guards of the run decide
the same in each. Only then is the plan narrowed to the shard. A worker keeps no state of its own.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from gitsync.agent.run.run_input import RunInput
from gitsync.agent.run.shards import cut_shards, list_members
from gitsync.desired.request.exports import may_export
from gitsync.errors import ConfigError, GitsyncError
from gitsync.model.clock import Clock
from gitsync.model.condition import Severity, WaitReason
from gitsync.model.gvk import Key
from gitsync.model.record import State
from gitsync.model.shard import Shard
from gitsync.planning.run_problems import decide_agent
from gitsync.report import summary
from gitsync.repository.git.source.checkout import Checkout
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.pins import Pin, check_run_id
from gitsync.repository.git.state.store import StateStore, Update
from gitsync.repository.git.state.worker_store import WorkerStore
from gitsync.settings.config.config import Config

_LOOK_AGAIN = 2.0
"""Seconds for which a read of the other workers' records is reused: many resources may wait at once. Each waiting
resource reads less and less often by itself.
"""

_STOPPED = frozenset({WaitReason.INTERRUPTED, WaitReason.NOT_REACHED})
"""What a stopped worker records: it may be started again, for example after its node is drained."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """One worker of a run."""

    run_id: str  # the run that the worker is one of
    number: int  # from 1
    workers: int


def find_worker(config: Config, environment: Mapping[str, str]) -> Worker | None:
    """Find which worker this run is; None if it syncs all. Raises ConfigError if the settings contradict each other."""
    index = environment.get("JOB_COMPLETION_INDEX", "") if config.shards else ""
    if config.shards and not config.shard and not (index.isascii() and index.isdigit()):
        raise ConfigError(
            "GITSYNC_SHARDS is set, but JOB_COMPLETION_INDEX is not the number of a worker.",
            hint="Set completionMode: Indexed in the Job, or use --shard.",
        )
    if not config.shard and not config.shards:
        return None
    number, workers = map(int, config.shard.split("/")) if config.shard else (int(index) + 1, config.shards or 0)
    if number > workers:
        raise ConfigError(f"--shard {number}/{workers} is not one of {workers} workers.", hint="Use 1 to WORKERS.")
    if config.only or config.plan_file:
        raise ConfigError("--shard cannot be used with --only or --plan.", hint="Remove --only and --plan.")
    if not config.run_id:
        raise ConfigError(
            "--shard requires --run-id, which identifies the workers of one run.",
            hint="Set GITSYNC_RUN_ID to the id of the pipeline's run, or of the Job.",
        )
    return Worker(run_id=check_run_id(config.run_id), number=number, workers=workers)


class PinnedWorker(NamedTuple):
    """A worker with what it shares with the others, and its state."""

    pin: Pin
    store: WorkerStore


def require_branch(store: StateStore) -> StatusBranch:
    """Return the status branch that the workers of a run share. ConfigError if the status is in a folder."""
    if not isinstance(store, StatusBranch):
        raise ConfigError(
            "Workers share a status branch, but this run has a status folder.", hint="Use --status-branch."
        )
    return store


def pin_run(
    config: Config, source: Checkout, store: StateStore, clock: Clock, workers: int
) -> tuple[StatusBranch, Pin]:
    """Return the status branch, and the pin of the run of the settings: what its workers share. Without one, it becomes
    this source and the state in `store`, which first takes in what workers of earlier runs have recorded.

    Raises ConfigError if the pin is not one of this run, or there is nothing to pin; StateError if it cannot be
    written.
    """
    branch = require_branch(store)
    if source.revision is None or source.dirty:
        raise ConfigError(
            "Workers share a revision, but this source has none.", hint="Commit the changes, or read a git repository."
        )
    state = branch.load()
    agent = decide_agent(config.agent, state.records.values(), os.environ.get("POD_NAMESPACE", ""))
    pin = branch.settle_pin(
        check_run_id(config.run_id or ""),
        Pin(revision=source.revision, status="", branch="", agent=agent, workers=workers, time=clock.now()),
        Update(
            records={},
            revision=state.find_revision(agent) or state.revision,
            summary=partial(summary.render, list(state.records.values()), revision=state.revision),
            report=None,
            headline="Merge the records of workers",
            agent=agent,
        ),
    )
    return branch, pin


def open_worker(config: Config, worker: Worker, source: Checkout, store: StateStore, clock: Clock) -> PinnedWorker:
    """Pin the run, and open the state of its worker. Raises as `pin_run`."""
    branch, pin = pin_run(config, source, store, clock, worker.workers)
    pinned = branch.read_at(pin.status)  # before the own branch is opened, which most often begins with the same commit
    own = branch.open_worker(worker.run_id, worker.number, pin.status)
    return PinnedWorker(pin, WorkerStore(own, branch, pinned, worker.number, worker.workers))


def cut(store: WorkerStore, run_input: RunInput) -> tuple[Shard, ...]:
    """Cut the estate of a run as each of its workers does: by its manifests and the pinned records."""
    return cut_shards(list_members(run_input.prepared, store.pinned.records), store.workers)


def drop_bodies(run_input: RunInput, shard: Shard) -> RunInput:
    """Drop the manifests and requests of other shards, of which a large estate has many: the estate has been planned
    and guarded as a whole, and what they export still counts.
    """
    left = {
        manifest.key: manifest
        if may_export(manifest)
        else replace(manifest, spec={}, others={}, annotations={}, lines=None, patched={}, default_tags=frozenset())
        for manifest in (prepared.resource for prepared in run_input.prepared)
        if manifest.key not in shard.keys
    }
    return replace(
        run_input,
        prepared=tuple(
            replace(resource, resource=left[resource.key], template=None) if resource.key in left else resource
            for resource in run_input.prepared
        ),
        manifests=replace(
            run_input.manifests,
            resources=tuple(left.get(resource.key, resource) for resource in run_input.manifests.resources),
        ),
    )


def count_sharing(shard: Shard, shards: tuple[Shard, ...]) -> dict[str, int]:
    """Count by subscription how many shards divide the limits of an account with a shard."""
    sharing = {account: sum(account in other.sizes for other in shards) for account in shard.sizes}
    return {account.subscription: times for account, times in sorted(sharing.items(), key=lambda pair: pair[1])}


class OtherShards:
    """What the other workers of a run have recorded so far. It is read again from time to time, while something of
    theirs is awaited.
    """

    def __init__(self, store: WorkerStore, clock: Clock) -> None:
        self._status = store.status.open_again()  # it is read in a thread
        self._pinned = store.pinned
        self._clock = clock
        self._state = State({})
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()

    async def find_failure(self, key: Key) -> str:
        """Return why a resource of another shard will not come in this run; "" if it may."""
        async with self._reading:
            if self._clock.monotonic() - self._read_at >= _LOOK_AGAIN:
                # A failure that cannot be read is not known.
                with suppress(GitsyncError):
                    self._state = await asyncio.to_thread(self._load)
                # Also after a failed read, or every resource that waits would send the next request at once.
                self._read_at = self._clock.monotonic()
        record = self._state.records.get(key)
        # A record that is as it was pinned is of an earlier run, and shows nothing about this one.
        condition = record.condition if record and record != self._pinned.records.get(key) else None
        if (
            condition is None
            or condition.is_ready
            or condition.severity is Severity.INFO
            or condition.reason in _STOPPED
        ):
            return ""
        return f"{condition.reason}: {condition.message}"

    def _load(self) -> State:
        with self._status:
            return self._status.load()
