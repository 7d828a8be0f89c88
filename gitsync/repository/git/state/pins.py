"""The pin of a run of many workers: a branch `gitsync/runs/ID` with the revisions that all of them read.

The first worker to come writes it, and each that comes later or is started again reads it: so each makes the same cut.
The commit has no files and no parent, as a heartbeat, and starts no pipeline. A pin that this run cannot have written
ends the worker: what it would cut is not what the others have cut.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from gitsync.errors import ConfigError, GitError, StateError
from gitsync.repository.git.source.clone import Clone
from gitsync.repository.git.source.location import is_commit_id
from gitsync.repository.git.state.commits import Author, Commit, format_status_message, write_commit
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.repository.git.state.worker_branches import LONGEST_RUN

RUNS: Final = "gitsync/runs/"
KEPT: Final = timedelta(days=7)
"""How long pins stay, for people who look at a run that went wrong."""

_EARLY: Final = timedelta(hours=1)  # how far clocks of machines may differ
_RUN_ID: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,98}[A-Za-z0-9_-])?")
_FETCHED: Final = "refs/gitsync/runs/"
_MOST_WORKERS: Final = 10_000
"""More than any run has. Who gathers looks at each: a pin of billions would keep it busy for years."""

_DIGITS: Final = 11  # of a time in seconds, until the year 5138
_FIELDS: Final = ("Revision", "Status", "Branch", "Agent", "Workers", "Seal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """What the workers of a run share."""

    revision: str  # the commit of the manifests
    status: str  # the commit of the status branch, "" if there is none yet
    branch: str  # the name of the status branch
    agent: str
    workers: int  # their number
    time: datetime
    seal: str = ""  # "" without a digest key


def check_run_id(run_id: str) -> str:
    """Return the id of a run, which becomes part of the name of a branch. Raises ConfigError if it cannot be one."""
    # git refuses these in the name of a branch.
    if not _RUN_ID.fullmatch(run_id) or ".." in run_id or run_id.endswith(".lock"):
        raise ConfigError(
            f"--run-id {run_id!r} cannot name a run.",
            hint="Use at most 100 letters, digits, dots, dashes and underscores, such as the id of the pipeline's run.",
        )
    return run_id


def find_pin(clone: Clone, run_id: str, wanted: Pin, seals: RecordSeals) -> Pin | None:
    """Return the pin of a run, if there is one. Raises ConfigError if it is not one of this run, StateError if it
    cannot be read.
    """
    pin = _read_pin(clone, run_id)
    if pin is not None:
        _check_pin(run_id, pin, wanted, seals)
    return pin


def read_pin(clone: Clone, run_id: str, branch: str, seals: RecordSeals) -> Pin | None:
    """Return the pin of a run that may be over, if there is one. Raises ConfigError if it is of another status branch
    or has the seal of another key, StateError if it cannot be read.
    """
    pin = _read_pin(clone, run_id)
    if pin is not None:
        _check_pin(run_id, pin, replace(pin, branch=branch), seals)
    return pin


def write_pin(clone: Clone, run_id: str, wanted: Pin, seals: RecordSeals, author: Author) -> Pin:
    """Write the pin of a run that has none yet, and return it: that of another worker if one was faster.

    Raises ConfigError if the pin is not one of this run, StateError if it can be neither read nor written.
    """
    _push_pin(clone, run_id, replace(wanted, seal=_make_seal(run_id, wanted, seals)), author)
    pin = find_pin(clone, run_id, wanted, seals)
    if pin is None:
        raise StateError(f"The pin {RUNS}{run_id} of {clone.url} was pushed, but is gone.", hint="Run this again.")
    return pin


def remove_old_pins(clone: Clone, now: datetime) -> None:
    """Remove pins that are older than `KEPT`. What cannot be removed stays for a later run."""
    clone.fetch(f"+refs/heads/{RUNS}*:{_FETCHED}*", depth=())  # with a depth, none is an error
    form = "%(refname)%00%(objectname)%00%(committerdate:unix)"
    for line in clone.repository.run("for-each-ref", f"--format={form}", _FETCHED).decode("utf-8", "replace").split():
        ref, commit, seconds = line.split("\0")
        # Without a date that can be read, nothing shows that the pin is old.
        if not seconds.isdigit() or int(seconds) > (now - KEPT).timestamp():
            continue
        name = f"refs/heads/{RUNS}{ref.removeprefix(_FETCHED)}"
        # The lease keeps what somebody has written in between.
        clone.repository.succeeds("push", "--quiet", f"--force-with-lease={name}:{commit}", "--", clone.url, f":{name}")


def _read_pin(clone: Clone, run_id: str) -> Pin | None:
    """Read a pin; None if there is none. StateError if the remote does not answer, or it is of another form."""
    ref = f"{_FETCHED}{run_id}"
    try:
        clone.fetch(f"+refs/heads/{RUNS}{run_id}*:{ref}*", depth=())  # a pattern, since a missing name is an error
        text = clone.repository.run("for-each-ref", "--format=%(committerdate:unix)%0a%(contents:body)", ref).decode(
            "utf-8", "replace"
        )
    except GitError as error:
        raise StateError(f"The pin {RUNS}{run_id} cannot be read: {error.message}", hint=error.hint) from error
    return _parse_pin(run_id, text.strip().split("\n")) if text else None


def _parse_pin(run_id: str, lines: list[str]) -> Pin:
    seconds, *pairs = lines
    fields = dict.fromkeys(_FIELDS, "") | {name: value for name, _, value in (pair.partition(": ") for pair in pairs)}
    workers, status = fields["Workers"], fields["Status"]
    are_numbers = all(text.isascii() and text.isdigit() and len(text) <= _DIGITS for text in (seconds, workers))
    are_commits = is_commit_id(fields["Revision"]) and (not status or is_commit_id(status))
    is_of_workers = are_numbers and 0 < int(workers) <= _MOST_WORKERS
    if not (is_of_workers and are_commits and fields["Branch"]):
        raise ConfigError(
            f"The branch {RUNS}{run_id} is not the pin of a run.", hint="Remove that branch, or use another --run-id."
        )
    return Pin(
        revision=fields["Revision"],
        status=status,
        branch=fields["Branch"],
        agent=fields["Agent"],
        workers=int(workers),
        time=datetime.fromtimestamp(int(seconds), UTC),
        seal=fields["Seal"],
    )


def _push_pin(clone: Clone, run_id: str, pin: Pin, author: Author) -> None:
    """Push a pin, unless there is one already. StateError if the branch cannot be pushed."""
    lines = "\n".join(f"{name}: {getattr(pin, name.lower())}" for name in _FIELDS)
    message = f"{format_status_message(f'Pin the run {run_id}', None)}\n{lines}\n"
    name = f"refs/heads/{RUNS}{run_id}"
    try:
        commit = write_commit(
            clone.repository, Commit(parent=None, files={}, message=message, author=author, time=pin.time)
        )
        clone.repository.run("push", "--quiet", f"--force-with-lease={name}:", "--", clone.url, f"{commit}:{name}")
    except GitError as error:
        # Another worker may have been faster, or the answer was lost: then the pin is there.
        if _read_pin(clone, run_id) is None:
            raise StateError(
                f"The pin {RUNS}{run_id} cannot be pushed: {error.message}",
                hint=error.hint or f"Grant the identity the right to push to branches {RUNS}*.",
            ) from error


def _check_pin(run_id: str, pin: Pin, wanted: Pin, seals: RecordSeals) -> None:
    """Raise ConfigError if a pin is not one of this run."""
    # Workers that were started again come later than others.
    faults = list(_list_faults(run_id, pin, wanted, seals))
    if faults:
        raise ConfigError(
            f"The pin {RUNS}{run_id} does not belong to this run: {faults[0]}.",
            hint="Use a --run-id that no other run has: the id of the pipeline's run, or of the Job.",
        )


def _list_faults(run_id: str, pin: Pin, wanted: Pin, seals: RecordSeals) -> Iterator[str]:
    if pin.workers != wanted.workers:
        yield f"it is for {pin.workers} workers, and this run has {wanted.workers}"
    if pin.branch != wanted.branch:
        yield f"it is for the status branch {pin.branch}"
    if pin.agent != wanted.agent:
        yield f"it is for the agent {pin.agent}"
    if not wanted.time - LONGEST_RUN <= pin.time <= wanted.time + _EARLY:
        yield f"it was written at {pin.time:%Y-%m-%d %H:%M} UTC"
    # In constant time, so that its duration reveals nothing about the seal.
    if not hmac.compare_digest(pin.seal.encode(), _make_seal(run_id, pin, seals).encode()):
        yield "its seal was not made with the digest key of this run"


def _make_seal(run_id: str, pin: Pin, seals: RecordSeals) -> str:
    """Make the seal of a pin, as one of a record; "" without a key."""
    text = json.dumps([pin.revision, pin.status, pin.branch, pin.agent, pin.workers])
    metadata = {"namespace": "", "name": run_id}
    return seals.make({"apiVersion": "", "kind": "Pin", "metadata": metadata, "gitsync": {"pin": text}})
