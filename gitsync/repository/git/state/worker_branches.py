"""What workers of a run have recorded, each on a branch of its own beside the status branch, until a later run or the
gathering of their reports takes it into the status branch.

So workers that end in the same second do not race for one branch. A worker begins with the pinned commit of the status
branch, so the difference between both is what it has recorded. A record that somebody else has changed on the status
branch since is kept, unless that only announced a write: the worker recorded how it ended.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from gitsync.errors import StateError
from gitsync.model.export import Address, Export, Leftover
from gitsync.model.gvk import Key
from gitsync.model.record import Claim, Record, State
from gitsync.repository.git.source.clone import Clone, fetch_commit
from gitsync.repository.git.source.listing import Revision, SourceEntry
from gitsync.repository.git.source.location import is_commit_id
from gitsync.repository.git.state.former_tree import Files, convert_file, is_former_tree, select_documents
from gitsync.repository.git.state.record_files import (
    INVENTORY,
    decode_record,
    is_config_map_path,
    is_record_path,
    make_config_map_path,
    make_record_path,
)
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.repository.git.state.status_tree import decode_config_map, read_inventory, read_leftovers
from gitsync.repository.git.state.store import Changes

FETCHED: Final = "refs/gitsync/workers/"
BASE: Final = "Base"
ENDED: Final = "Ended"

LONGEST_RUN: Final = timedelta(days=1)
NOTHING: Final = Changes(records={}, config_maps={})
_EMPTY: Final = "0" * 40
_MOST_COMMITS: Final = 100  # of a worker: one for each group of claims, and one for each end


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerBranch:
    """The branch of one worker."""

    run_id: str  # of its run
    number: int  # of its shard, from 1
    commit: str  # its last one
    time: datetime  # when its last commit was made
    base: str  # the commit of the status branch that it began with, "" if there was none
    exit_code: int | None = None  # None if it has not ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What workers have recorded and the status branch does not have."""

    changes: Changes = NOTHING
    files: Files = field(default_factory=dict)
    """The same as `changes`, as the workers wrote it: a record keeps its seal, good or bad, whichever run takes it in.
    """

    branches: tuple[WorkerBranch, ...] = ()  # all of theirs, sorted
    strays: Mapping[str, str] = field(default_factory=dict)
    """The names of branches among theirs that cannot be read, each with the reason."""


def name_workers(branch: str) -> str:
    """Return the folder of the branches of workers that belong to a status branch."""
    # Not a folder of that branch: git cannot have a branch inside of another one.
    return f"{branch}-shards/"


def name_worker(branch: str, run_id: str, number: int) -> str:
    return f"{name_workers(branch)}{run_id}/{number}"


def format_trailers(base: str | None, exit_code: int | None) -> str:
    """Write the end of the message of a worker's commit."""
    ended = f"{ENDED}: {exit_code}\n" if exit_code is not None else ""
    return f"{BASE}: {base or _EMPTY}\n{ended}"


def read_base(clone: Clone, ref: str) -> str:
    """Read the commit of the status branch that the branch of a worker began with, "" if there was none."""
    base = clone.repository.line("log", "-1", f"--format=%(trailers:key={BASE},valueonly)", ref, "--").strip()
    return base if is_commit_id(base) and base != _EMPTY else ""


def _list_workers(clone: Clone) -> tuple[list[WorkerBranch], list[str]]:
    """List the branches of workers that were fetched, and those that no worker has written, by their names in the
    folder of the workers.
    """
    form = "%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents:body)%01"
    text = clone.repository.run("for-each-ref", f"--format={form}", FETCHED).decode("utf-8", "replace")
    # A text that has our separator makes rows of its own, which begin otherwise.
    rows = [row.lstrip("\n").split("\0") for row in text.split("\x01") if row.lstrip("\n").startswith(FETCHED)]
    parsed = {fields[0].removeprefix(FETCHED): _parse_branch(fields) for fields in rows}
    branches = sorted(filter(None, parsed.values()), key=lambda branch: (branch.run_id, branch.number))
    return branches, sorted(name for name, branch in parsed.items() if branch is None)


def _parse_branch(fields: list[str]) -> WorkerBranch | None:
    """Read a branch; None if no worker has written it."""
    name, commit, seconds, body = (*fields, "", "", "", "")[:4]
    run_id, _, number = name.removeprefix(FETCHED).partition("/")
    lines = {name: value for name, _, value in (line.partition(": ") for line in body.splitlines())}
    base, ended = lines.get(BASE, ""), lines.get(ENDED, "")
    are_numbers = all(text.isascii() and text.isdigit() and len(text) <= 11 for text in (number, seconds, ended or "0"))
    if not (are_numbers and number == str(int(number)) and is_commit_id(base)):
        return None
    return WorkerBranch(
        run_id=run_id,
        number=int(number),
        commit=commit,
        time=datetime.fromtimestamp(int(seconds), UTC),
        base="" if base == _EMPTY else base,
        exit_code=int(ended) if ended else None,
    )


def read_recorded(clone: Clone, name: str, state: State, seals: RecordSeals) -> Recorded:
    """Read what workers have recorded since the status branch `name` was as it was for them; `state` is what it has
    now.

    Raises GitError if the remote does not answer.
    """
    records: dict[Key, Record | None] = {}
    config_maps: dict[Address, Export | None] = {}
    leftovers: dict[Leftover, bool] = {}
    files: dict[str, bytes | None] = {}
    seals = seals.of_status(state.identity)
    listed, unknown = _list_workers(clone)
    strays = dict.fromkeys((name_workers(name) + worker for worker in unknown), "gitsync did not write it.")
    branches = []
    for branch in listed:
        try:
            first, last = _read_difference(clone, branch)
            before, after = _decode(first, seals), _decode(last, seals)
            records_now = {key: state.records.get(key) for key in before.records.keys() | after.records.keys()}
            doubtful = {
                key for key, now in records_now.items() if now not in (before.records.get(key), after.records.get(key))
            }
            earlier = _read_earlier(clone, name, branch, seals) if doubtful else []
        # A branch that cannot be read is left out and named: everybody who may push can put one there.
        except StateError as error:
            strays[name_worker(name, branch.run_id, branch.number)] = error.message
            continue
        branches.append(branch)
        for key, now in sorted(records_now.items()):
            # A record that another run has changed since is newer than that of the worker.
            if _may_take(
                now, before.records.get(key), after.records.get(key), [records.get(key) for records in earlier]
            ):
                records[key] = after.records.get(key)
                files[make_record_path(key)] = last.get(make_record_path(key))
        for address in sorted(before.config_maps.keys() | after.config_maps.keys()):
            if state.config_maps.get(address) == before.config_maps.get(address):
                config_maps[address] = after.config_maps.get(address)
                files[make_config_map_path(address)] = last.get(make_config_map_path(address))
        leftovers |= {leftover: leftover in after.leftovers for leftover in before.leftovers ^ after.leftovers}
    changes = Changes(records=records, config_maps=config_maps, leftovers=leftovers)
    return Recorded(changes=changes, files=files, branches=tuple(branches), strays=strays)


def _may_take(
    now: Record | None, before: Record | None, after: Record | None, earlier: Collection[Record | None]
) -> bool:
    """Return whether the record of a worker replaces that of the status branch: no other run has changed it since the
    worker began, or has only announced a write.
    """
    # The status branch has it already, taken in by another run.
    if now == after:
        return False
    is_own = now == before or now in earlier
    return is_own or (now is not None and (now.claim is Claim.EXPECTED or now.is_replacing))


def _read_earlier(clone: Clone, name: str, branch: WorkerBranch, seals: RecordSeals) -> list[Mapping[Key, Record]]:
    """Read what a worker had recorded with its earlier commits: the status branch may have taken that in since."""
    ref = f"{branch.run_id}/{branch.number}"
    clone.fetch(f"+refs/heads/{name_workers(name)}{ref}:{FETCHED}{ref}", depth=(f"--depth={_MOST_COMMITS}",))
    excluded = [f"^{branch.base}"] if branch.base else []
    commits = clone.repository.run("rev-list", f"--max-count={_MOST_COMMITS}", branch.commit, *excluded, "--")
    differences = (_read_difference(clone, replace(branch, commit=commit)) for commit in commits.decode().split()[1:])
    return [_decode(last, seals).records for _, last in differences]


def _read_difference(clone: Clone, branch: WorkerBranch) -> tuple[Mapping[str, bytes], Mapping[str, bytes]]:
    """Read the files of records and config maps that a worker has changed, as they were before and as they are now."""
    # Without the commit it began with, all of its records would look like changes of the worker.
    if branch.base and not fetch_commit(clone, branch.base):
        raise StateError(
            f"The commit {branch.base[:12]} that worker {branch.number} of the run {branch.run_id} began with is gone.",
            hint="Restore the history of the status branch.",
        )
    trees = [
        Revision(repository=clone.repository, commit=commit, label=f"worker {branch.number} of {branch.run_id}")
        for commit in (branch.base, branch.commit)
        if commit
    ]
    listed = [{entry.path: entry for entry in _select_documents(tree)} for tree in trees]
    first, last = (listed[0], listed[1]) if branch.base else ({}, listed[0])
    changed = {path for path in first.keys() | last.keys() if first.get(path) != last.get(path)}
    contents = [
        dict(convert_file(*file) for file in tree.read(e for path, e in sorted(own.items()) if path in changed).items())
        for tree, own in zip(trees, listed, strict=True)
    ]
    before, after = (contents[0], contents[1]) if branch.base else ({}, contents[0])
    # If one of the two is of an earlier version, all files have changed their names.
    same = {path for path in before.keys() & after.keys() if before[path] == after[path]}
    return _without(before, same), _without(after, same)


def _select_documents(tree: Revision) -> list[SourceEntry]:
    entries = tree.entries("")
    return select_documents(entries, is_former=is_former_tree(tree, entries))


def _without(contents: Mapping[str, bytes], paths: Collection[str]) -> Mapping[str, bytes]:
    return {path: content for path, content in contents.items() if path not in paths}


def _decode(contents: Mapping[str, bytes], seals: RecordSeals) -> State:
    records = [decode_record(path, content, seals) for path, content in contents.items() if is_record_path(path)]
    exports = [decode_config_map(path, content) for path, content in contents.items() if is_config_map_path(path)]
    inventory = contents.get(INVENTORY)
    leftovers = read_leftovers(read_inventory(INVENTORY, inventory)) if inventory else frozenset()
    return State(
        {record.key: record for record in records},
        config_maps={export.address: export for export in exports},
        leftovers=leftovers,
    )
