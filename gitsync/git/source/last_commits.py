"""The last commits that changed some paths, from one `git log` for each revision.

Only the history that is in the repository is read. Where it ends early, in a shallow clone, the commit is unknown:
there, git shows every file as added by the first commit that it has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from gitsync.git.command import GitFailedError, Repository
from gitsync.model.commit import LastCommit
from gitsync.redaction import truncate

MOST_COMMITS = 1000
"""Of one revision, of those that changed any of the paths."""

SHALLOW = LastCommit(doubt="the clone is shallow (fetch its history: fetch-depth: 0)")
UNREADABLE = LastCommit(doubt="git cannot read the history of its file")
NOT_FOUND = LastCommit(doubt="git finds no commit that changed its file")
TOO_FAR = LastCommit(doubt=f"{MOST_COMMITS:,} later commits changed manifests that were removed too")

_TIMEOUT = 10.0  # seconds
_LONGEST_AUTHOR, _LONGEST_SUBJECT, _LONGEST_TEXT = 80, 200, 4000  # characters; the last is what is looked at
_ADDRESS = re.compile(r"<?[^\s<>@]+@[^\s<>@]+\.[A-Za-z]{2,}>?")
_FORMAT = "%x00%H%x00%P%x00%an%x00%s"
_LOG = (
    *("log", "--stdin", "-z", "--name-only", "--no-renames", "--no-relative", "--diff-filter=d", "--no-merges"),
    *("--root", "--no-show-signature", "--encoding=UTF-8", f"--format={_FORMAT}", f"--max-count={MOST_COMMITS}"),
)


Place = tuple[str, ...]
"""Paths of files and folders, any of which may have made a manifest."""


class _Entry(NamedTuple):
    """One commit of a log, and the paths that it added or changed."""

    commit: str
    parents: str
    author: str
    subject: str
    paths: tuple[str, ...]


def find_last_commits(repository: Repository, revision: str, places: Collection[Place]) -> Mapping[Place, LastCommit]:
    """Return the last commit, at or before a revision, that added or changed a file at or below one of the paths of
    each place.
    """
    try:
        entries = list(_read_log(repository, revision, places))
    except GitFailedError:
        return dict.fromkeys(places, UNREADABLE)
    is_shallow = repository.is_shallow
    by_path: dict[str, set[Place]] = {}
    for place in places:
        for path in place:
            by_path.setdefault(path, set()).add(place)
    found: dict[Place, LastCommit] = {}
    for entry in entries:
        commit = SHALLOW if is_shallow and not entry.parents else _make_commit(entry)
        for place in _find_places(entry.paths, by_path):
            found.setdefault(place, commit)
    missing = TOO_FAR if len(entries) == MOST_COMMITS else NOT_FOUND
    return dict.fromkeys(places, missing) | found


def _read_log(repository: Repository, revision: str, places: Collection[Place]) -> Iterator[_Entry]:
    """The commits, newest first. No text of git has a NUL in it."""
    paths = sorted({path for place in places for path in place})
    limited = replace(repository, timeout=min(repository.timeout, _TIMEOUT))
    lines = "".join(f"{line}\n" for line in (revision, "--", *paths))
    words = limited.run(*_LOG, stdin=lines.encode()).decode("utf-8", "replace").split("\0")
    position = 1
    while position + 4 < len(words):
        end = words.index("", position + 4)
        commit, parents, author, subject, first, *others = words[position:end]
        yield _Entry(commit, parents, author, subject, (first.removeprefix("\n"), *others))
        position = end + 1


def _find_places(paths: Collection[str], by_path: Mapping[str, Collection[Place]]) -> Iterator[Place]:
    """The places that have one of the paths, or a folder around it."""
    for path in paths:
        steps = path.split("/")
        for length in range(len(steps) + 1):
            yield from by_path.get("/".join(steps[:length]) or ".", ())


def _make_commit(entry: _Entry) -> LastCommit:
    return LastCommit(
        commit=entry.commit,
        author=_shorten(entry.author, _LONGEST_AUTHOR),
        subject=_shorten(entry.subject, _LONGEST_SUBJECT),
    )


def _shorten(text: str, longest: int) -> str:
    """The text on one line, with "…" for each e-mail address."""
    return truncate(" ".join(_ADDRESS.sub("…", text[:_LONGEST_TEXT]).split()), longest)
