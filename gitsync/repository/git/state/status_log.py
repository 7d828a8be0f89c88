"""The history of a status branch: which records and reports each commit changed, and their contents.

One `git log --raw` names the blobs of both sides of every change, so no tree is listed, and each blob is read once,
some megabytes at a time. Anyone who can push may have written this history: other files are skipped, and what is a link
or a submodule has no content that is a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, NamedTuple

from gitsync.errors import GitError
from gitsync.model.clock import format_rfc3339
from gitsync.repository.git.git_command import Repository
from gitsync.repository.git.source.clone import Clone, has_commit
from gitsync.repository.git.source.listing import is_printable, split_batch
from gitsync.repository.git.source.location import is_commit_id
from gitsync.repository.git.state.record_files import REPORT, is_record_path, make_present_path

_BATCH_BYTES: Final = 8_000_000
_BATCH_BLOBS: Final = 2000
_LONGEST_BLOB: Final = 100_000_000
_LATEST: Final = int(datetime.max.replace(tzinfo=UTC).timestamp())
_HEADER: Final = "\x01"
_LOG: Final = (
    # The settings of the person stay in force, so each option that they could change is stated.
    *("log", "--first-parent", "--diff-merges=first-parent", "--reverse", "--raw", "-z", "--no-abbrev"),
    *("--no-renames", "--no-relative", "--no-show-signature", "--encoding=UTF-8", "--root"),
    f"--format={_HEADER}%H{_HEADER}%ct{_HEADER}%P{_HEADER}%s{_HEADER}%(trailers:key=Revision,valueonly)",
)


class BlobChange(NamedTuple):
    """A file that a commit changed."""

    path: str  # of a record as it is named today, or that of the report
    file: str  # the file that has it, which earlier versions name otherwise
    old: str  # the id of its blob before, "" for none
    new: str  # the id of its blob afterwards, "" for none


class StatusCommit(NamedTuple):
    """A commit of a status branch."""

    id: str
    time: str  # RFC 3339, UTC
    subject: str  # its first line
    revision: str  # the commit of the manifests that its message names, "" for none
    changes: tuple[BlobChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusLog:
    """Commits of a status branch, oldest first."""

    commits: tuple[StatusCommit, ...] = ()
    continues: bool = False  # they follow the commit that the reader knows; else they begin with the first that is here
    is_cut: bool = False  # the remote has no history before the first of them, which then has all records as new
    repository: Repository | None = field(default=None, repr=False)  # None for no history

    def read(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """Read blobs by their ids, in the order given; None for one that is too large or is gone."""
        wanted = list(blobs)
        if self.repository is None or not wanted:
            return
        sizes = _read_sizes(self.repository, wanted)
        for batch in _split(wanted, sizes):
            ids = [blob for blob in batch if 0 <= sizes[blob] <= _LONGEST_BLOB]
            stdin = ("".join(f"{blob}\n" for blob in ids).encode(),)
            contents = split_batch(self.repository.run("cat-file", "--batch", "--buffer", stdin=stdin)) if ids else ()
            found = dict(zip(ids, contents, strict=True))
            yield from ((blob, found.get(blob)) for blob in batch)


NO_LOG: Final = StatusLog()


def read_log(clone: Clone, ref: str, branch: str, tip: str, known: str, known_time: str) -> StatusLog:
    """Read the history of a fetched branch up to its commit `tip`: what follows the commit `known`, if the branch has
    that ("" for none), else all of it. `ref` is where the branch is fetched to. GitError if it cannot be read.
    """
    if known == tip:
        return StatusLog(continues=True, repository=clone.repository)
    refspec = f"+refs/heads/{branch}:{ref}"
    if known and is_commit_id(known) and _fetch_since(clone, refspec, known_time):
        commits = _list_commits(clone.repository, f"{known}..{tip}") if _leads_to(clone.repository, known, tip) else ()
        if commits:
            return StatusLog(commits=commits, continues=True, repository=clone.repository)
    if clone.repository.is_shallow:
        clone.fetch(refspec, depth=("--unshallow", "--update-shallow"))
    commits = _list_commits(clone.repository, tip)
    return StatusLog(commits=commits, is_cut=clone.repository.is_shallow, repository=clone.repository)


def _fetch_since(clone: Clone, refspec: str, since: str) -> bool:
    """Fetch the commits since a moment; False if the server does not, or all are older."""
    try:
        clone.fetch(refspec, depth=(f"--shallow-since={since}",))
    except GitError:
        return False
    return True


def _leads_to(repository: Repository, known: str, tip: str) -> bool:
    """Return whether the known commit is the tip's ancestor along first parents, as far as the history is here."""
    if not has_commit(repository, known):
        return False
    lines = repository.run("rev-list", "--first-parent", tip, "--").decode().split()
    return known in lines


def _list_commits(repository: Repository, revisions: str) -> tuple[StatusCommit, ...]:
    words = repository.run(*_LOG, revisions, "--").decode("utf-8", "surrogateescape").split("\0")
    return tuple(_parse(words))


def _parse(words: Sequence[str]) -> Iterator[StatusCommit]:
    """Read the words of a log: a header, then for each change its facts and its path. No text has a NUL in it."""
    header: list[str] | None = None
    changes: list[BlobChange] = []
    position = 0
    while position < len(words):
        word = words[position].lstrip("\n")
        position += 1
        if word.startswith(_HEADER):
            if header:
                yield _make_commit(header, changes)
            header, changes = word.split(_HEADER)[1:], []
        elif word.startswith(":") and position < len(words):
            if change := _read_change(word, words[position]):
                changes.append(change)
            position += 1
    if header:
        yield _make_commit(header, changes)


def _read_change(facts: str, path: str) -> BlobChange | None:
    """Read one change, `:MODE MODE ID ID STATUS`; None for a file that is neither a record nor the report."""
    _, _, old, new, _ = facts.split(" ")
    present = make_present_path(path)
    if not is_printable(path) or not (path == REPORT or is_record_path(present)):
        return None
    before, after = (blob if blob.strip("0") else "" for blob in (old, new))
    return BlobChange(present, path, before, after)


def _make_commit(header: Sequence[str], changes: Iterable[BlobChange]) -> StatusCommit:
    commit, seconds, _parents, subject, revision = (*header, "", "", "", "", "")[:5]
    since_epoch = int(seconds) if seconds.isascii() and seconds.isdigit() else 0
    time = format_rfc3339(datetime.fromtimestamp(min(since_epoch, _LATEST), UTC))
    text = subject.encode("utf-8", "replace").decode()
    first = revision.strip().partition("\n")[0]
    return StatusCommit(commit, time, text, first if is_commit_id(first) else "", _join_sides(changes))


def _join_sides(changes: Iterable[BlobChange]) -> tuple[BlobChange, ...]:
    """Join the removal of a record's file with the creation of its other: a conversion writes YAML as JSON."""
    joined: dict[str, BlobChange] = {}
    for change in changes:
        other = joined.get(change.path)
        if other is not None:
            file = change.file if change.new else other.file
            change = BlobChange(change.path, file, other.old or change.old, other.new or change.new)  # noqa: PLW2901 - both sides are one change
        joined[change.path] = change
    return tuple(joined.values())


def _read_sizes(repository: Repository, blobs: Sequence[str]) -> dict[str, int]:
    """Find the sizes of blobs in bytes, -1 for one that is gone."""
    stdin = ("".join(f"{blob}\n" for blob in blobs).encode(),)
    lines = repository.run("cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=stdin).decode().splitlines()
    pairs = [line.partition(" ") for line in lines]
    return {blob: int(size) if size.isdigit() else -1 for blob, _, size in pairs}


def _split(blobs: Iterable[str], sizes: dict[str, int]) -> Iterator[list[str]]:
    """Split blobs into batches that fit the memory."""
    batch, length = list[str](), 0
    for blob in blobs:
        size = max(sizes.get(blob, -1), 0)
        if batch and (length + size > _BATCH_BYTES or len(batch) == _BATCH_BLOBS):
            yield batch
            batch, length = [], 0
        batch.append(blob)
        length += size
    if batch:
        yield batch
