"""What git has of one run of many workers: its pin, and the reports of its workers until they are gathered; afterwards
the report of the whole, on the status branch.

The commit that takes a run into the status branch names the run, and how its shards have ended. So a run can be
gathered twice, and a worker of it can be started again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from gitsync.errors import GitError, SourceError, StateError
from gitsync.repository.git.source.clone import Clone
from gitsync.repository.git.source.listing import Revision
from gitsync.repository.git.state.pins import RUNS, Pin, read_pin
from gitsync.repository.git.state.record_files import REPORT
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.repository.git.state.status_tree import read_report
from gitsync.repository.git.state.worker_branches import WorkerBranch

_RUN: Final = "Run"
_SHARDS: Final = "Shards"
_DIGITS: Final = 4  # of a shard, and of an exit code


class RecordedRun(NamedTuple):
    """A run of several workers, as far as their branches and the status branch show it."""

    run_id: str
    pin: Pin
    workers: tuple[WorkerBranch, ...]  # those of the run that have a branch
    reports: Mapping[int, bytes]  # those of the workers, by number
    gathered: bytes | None
    """The report of the run that the last commit of the status branch has, None if that is of another run."""

    ended: Mapping[int, int]  # the exit codes of the shards that were over then, by number


def read_recorded_run(
    clone: Clone, run_id: str, status: Revision | None, workers: Iterable[WorkerBranch], pin: Pin
) -> RecordedRun:
    """Read a run. `status` is the last commit of the status branch, None if there is none. StateError if something
    cannot be read.
    """
    own = tuple(branch for branch in workers if branch.run_id == run_id and 0 < branch.number <= pin.workers)
    try:
        reports = {branch.number: report for branch in own if (report := _read_own_report(clone, branch)) is not None}
        run, ended = read_trailers(clone, status.commit) if status else ("", {})
        is_last = run == run_id
        gathered = read_report(status) if status and is_last else None
    except (GitError, SourceError) as error:
        raise StateError(f"The reports of the run {run_id} cannot be read: {error.message}", hint=error.hint) from error
    return RecordedRun(run_id, pin, own, reports, gathered, ended if is_last else {})


def require_pin(clone: Clone, run_id: str, branch: str, seals: RecordSeals) -> Pin:
    """Return the pin of a run. Raises ConfigError for one of another status branch, StateError if there is none."""
    pin = read_pin(clone, run_id, branch, seals)
    if pin is None:
        raise StateError(
            f"There is no run {run_id}: {clone.url} has no branch {RUNS}{run_id}.",
            hint="Use the --run-id of its workers. The data of a run is deleted after 7 days.",
        )
    return pin


def format_trailers(run_id: str, ended: Mapping[int, int]) -> str:
    """Write the end of the message of the commit that takes in a run."""
    return f"{_RUN}: {run_id}\n{_SHARDS}: {' '.join(f'{number}={code}' for number, code in sorted(ended.items()))}\n"


def read_trailers(clone: Clone, commit: str) -> tuple[str, dict[int, int]]:
    """Read what `format_trailers` wrote: "" for a commit of another kind; malformed lines are skipped."""
    message = clone.repository.run("log", "-1", "--format=%b", commit, "--").decode("utf-8", "replace")
    lines = {name: value for name, _, value in (line.partition(": ") for line in message.splitlines())}
    pairs = [pair.partition("=") for pair in lines.get(_SHARDS, "").split()]
    texts = [text for number, _, code in pairs for text in (number, code)]
    if not all(text.isascii() and text.isdigit() and len(text) <= _DIGITS for text in texts):
        return "", {}
    return lines.get(_RUN, ""), {int(number): int(code) for number, _, code in pairs}


def _read_own_report(clone: Clone, worker: WorkerBranch) -> bytes | None:
    """Read the report of a worker; None if it has written none yet: its branch begins with that of the status."""
    commits = [commit for commit in (worker.commit, worker.base) if commit]
    trees = [Revision(repository=clone.repository, commit=commit) for commit in commits]
    own, *before = [tree.find([REPORT]) for tree in trees]
    return read_report(trees[0]) if own not in before else None
