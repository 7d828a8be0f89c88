"""Follows a status branch through its commits: decodes each version of a record once, and takes the commits in turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from gitsync.errors import GitsyncError
from gitsync.model.record import Record
from gitsync.report.site.events import RecordFacts, read_facts
from gitsync.repository.git.state.record_files import (
    REPORT,
    decode_record,
    make_former_path,
    make_present_path,
    make_record_path,
)
from gitsync.repository.git.state.status_log import BlobChange, StatusCommit, StatusLog
from gitsync.workflows.site.chronicle import Chronicle, is_failed
from gitsync.workflows.site.run_reports import ReportReader, RunReport

_UNREADABLE: Final = "The record cannot be read."


class _Version(NamedTuple):
    """A version of a record."""

    key: str
    facts: RecordFacts


class _Step(NamedTuple):
    """A commit with the versions of the records that it changed: before and afterwards, None for none."""

    commit: StatusCommit
    changes: tuple[tuple[str, RecordFacts | None, RecordFacts | None], ...]
    unreadable: tuple[str, ...]  # the keys of records that it made unreadable


def follow(log: StatusLog, chronicle: Chronicle, records: Iterable[Record]) -> None:
    """Take all commits of a log into a chronicle, which ends with these records."""
    now = [read_facts(record) for record in records]
    steps = tuple(_list_steps(log))
    # The figures of the moment before the first commit follow from those of today.
    sides = [(before, after) for step in steps for _, before, after in step.changes]
    if log.continues:
        chronicle.resources = len(now) - sum((after is not None) - (before is not None) for before, after in sides)
        chronicle.failed = sum(map(is_failed, now)) - sum(
            is_failed(after) - is_failed(before) for before, after in sides
        )
    for step, report in zip(steps, _read_reports(log), strict=True):
        chronicle.take(step.commit, step.changes, report)
        for key in step.unreadable:
            chronicle.add_unreadable(step.commit, key, _UNREADABLE)


def _list_steps(log: StatusLog) -> Iterator[_Step]:
    versions = _decode(log)
    state: dict[str, _Version] = {}  # by path: what a record was before the next change
    for commit in log.commits:
        changes, unreadable = [], []
        for change in commit.changes:
            if change.path == REPORT:
                continue
            # The last version that could be read: the one directly before may be unreadable.
            before = state.pop(change.path, None) or versions.get((change.old, change.path))
            after = versions.get((change.new, change.path))
            # The record is there and cannot be read, which is not a removal: its last known version goes on.
            if after is None and (change.new or not change.old) and before is not None:
                unreadable.append(before.key)
                state[change.path] = before
                continue
            if after is not None:
                state[change.path] = after
            key = after.key if after else before.key if before else ""
            if key:
                changes.append((key, before.facts if before else None, after.facts if after else None))
        yield _Step(commit, tuple(changes), tuple(unreadable))


def _decode(log: StatusLog) -> Mapping[tuple[str, str], _Version]:
    """Decode each version of each record, by blob and path; those that cannot be read are left out."""
    files: dict[str, BlobChange] = {}
    olds: dict[str, BlobChange] = {}
    for commit in log.commits:
        for change in commit.changes:
            if change.path != REPORT:
                if change.new:
                    files.setdefault(change.new, change)
                if change.old and change.old not in files:
                    olds.setdefault(change.old, change)
    found: dict[tuple[str, str], _Version] = {}
    wanted = {**olds, **files}
    for blob, content in log.read(wanted):
        record = _read_record(wanted[blob].file, content)
        if record is not None:
            found[blob, make_record_path(record.key)] = _Version(str(record.key), read_facts(record))
    return found


def _read_record(file: str, content: bytes | None) -> Record | None:
    for path in (file, make_former_path(make_present_path(file))):  # a conversion has one side in YAML
        with suppress(GitsyncError):
            return decode_record(path, content) if content is not None else None
    return None


def _read_reports(log: StatusLog) -> Iterator[RunReport | None]:
    """Read the report that each commit brought, None for none."""
    of_commits = [next((change for change in commit.changes if change.path == REPORT), None) for commit in log.commits]
    reader = ReportReader()
    first = next((change for change in of_commits if change), None)
    if first and first.old:
        reader.skip(next((content for _, content in log.read([first.old])), None))
    contents = log.read(change.new for change in of_commits if change and change.new)
    for change in of_commits:
        yield reader.read(next(contents)[1]) if change and change.new else None
