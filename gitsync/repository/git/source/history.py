"""Earlier revisions of a source, for removed manifests: their policy is that of their last revision.

A checkout is shallow, so an earlier revision is fetched on demand, into a temporary repository: gitsync never writes to
the repository of a user. A revision that cannot be fetched is None, not an error: the record then decides. So is, with
trusted keys, one that none of them vouches for. The last commits that changed a file are here too.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from gitsync.errors import ConfigError, GitError, SourceError
from gitsync.model.plan import LastCommit
from gitsync.model.secret import truncate
from gitsync.repository.git.git_access import Remote
from gitsync.repository.git.git_command import Repository
from gitsync.repository.git.source.clone import Clone, fetch_commit, has_commit, list_advertised, open_clone
from gitsync.repository.git.source.commit_signatures import TrustedKeys, check_signature
from gitsync.repository.git.source.contents import SourceContents, SourcePart, read_contents, read_settings
from gitsync.repository.git.source.listing import Revision
from gitsync.repository.git.source.location import is_commit_id
from gitsync.settings.config.config_file import SourceFile

_MOST = 50
"""The most revisions to search: each costs reading all its manifests."""


class History:
    """`repository` has `commit`, the revision that was checked out; `remote` may have missing ones. `root` is the
    folder of the source inside the repository, and `trusted` are the keys that signed `commit`. Close it when done.
    """

    def __init__(
        self,
        repository: Repository,
        commit: str,
        *,
        root: str,
        remote: Remote | None,
        clone: Clone | None = None,
        trusted: TrustedKeys | None = None,
    ) -> None:
        self._repository = repository
        self._commit = commit
        self._root = root
        self._remote = remote
        self._clone = clone
        self._trusted = trusted
        self._opened: dict[str, Revision] = {}

    def contents_at(self, revision: str, wanted: SourcePart) -> SourceContents | None:
        """Read the manifests of another revision, by the same rules and its own units, without those if its settings
        are invalid; None if it cannot be read.
        """
        try:
            listing = self._open_revision(revision)
            if listing is None:
                return None
            try:
                return read_contents(listing, wanted)
            except ConfigError:  # the settings of that time are wrong; its manifests still show what it declared
                return read_contents(listing, replace(wanted, has_settings=False))
        except (GitError, SourceError):
            return None

    def open_tree(self, revision: str) -> Revision | None:
        """Open the files of a revision, without their sizes, whatever they are; None if they cannot be listed."""
        try:
            listing = self._open_revision(revision)
            # git finds each size by itself, and who opens a tree needs none.
            tree = replace(listing, has_sizes=False) if listing else None
            if tree is not None:
                tree.entries("")
        except (GitError, SourceError):
            return None
        return tree

    def settings_at(self, revision: str) -> SourceFile | None:
        """Read the source's own settings at another revision; None if there are none or they cannot be read."""
        try:
            listing = self._open_revision(revision)
            return read_settings(listing) if listing else None
        except (GitError, SourceError):
            return None

    def revisions_since(self, since: str, path: str) -> tuple[str, ...]:
        """List the revisions that may have manifests below `path` that were removed since `since`, newest first.

        These are the states of the branch right before each change of the manifests, and `since` itself at the end;
        only `since` if the history between cannot be read.
        """
        try:
            repository = self._find_repository_with(since)
            if repository is None:
                return (since,)
            if not self._has_history(repository, since):  # a pipeline clones one commit
                repository = self._deepen(since)
            return tuple(dict.fromkeys([*self._list_states_before_changes(repository, since, path), since]))
        except GitError:
            return (since,)

    def has_since(self, since: str) -> bool:
        """Return whether the history since a revision is here, so that `revisions_since` misses no change."""
        return any(self._has_history(repository, since) for repository in self._list_repositories())

    def list_last_commits(
        self, revision: str, path_sets: Collection[ManifestPaths]
    ) -> Mapping[ManifestPaths, LastCommit]:
        """Return the last commit, at or before a revision, that added or changed a file of each group. The paths count
        from the folder of the source. Nothing is fetched.
        """
        repository = next(
            (repository for repository in self._list_repositories() if self._is_here(repository, revision)), None
        )
        if repository is None:
            return dict.fromkeys(path_sets, UNREADABLE)
        inside = {
            path_set: tuple(posixpath.normpath(posixpath.join(self._root, path)) for path in path_set)
            for path_set in path_sets
        }
        commits = list_last_commits(repository, revision, inside.values())
        return {path_set: commits[paths] for path_set, paths in inside.items()}

    def precedes(self, later: str) -> bool | None:
        """Return whether the checked-out commit is an ancestor of `later`; None if their history cannot be read."""
        # A commit does not come before itself.
        if later == self._commit:
            return False
        try:
            repository = self._find_repository_with(later)
            if repository is None:
                return None
            if self._has_history(repository, later):
                return False
            if _is_ancestor(repository, self._commit, later):
                return True
            if self._has_commit(repository, self._commit) and not repository.is_shallow:
                return False
            return self._precedes_at_remote(repository, later)
        except GitError:
            return None

    def _precedes_at_remote(self, repository: Repository, later: str) -> bool | None:
        """Tell the same with the history of `later` back to the time of the checked-out commit."""
        date = _read_date(self._repository, self._commit)
        if date > _read_date(repository, later):
            return False  # and a server refuses to send a history without commits
        clone = self._open_clone()
        if clone is None:
            return None
        clone.fetch(f"+{later}:refs/gitsync/later", depth=(f"--shallow-since={date}",))
        return _is_ancestor(clone.repository, self._commit, later)

    def close(self) -> None:
        if self._clone is not None:
            self._clone.close()

    def _list_repositories(self) -> tuple[Repository, ...]:
        """List the repositories that are here already."""
        return (self._repository, *((self._clone.repository,) if self._clone else ()))

    def _open_revision(self, commit: str) -> Revision | None:
        """Open a revision that may be read, fetched if it has to be. It is kept, and with it the list of its files."""
        if commit not in self._opened:
            repository = self._find_repository_with(commit)
            if repository is None or not self._is_vouched_for(repository, commit):
                return None
            self._opened[commit] = Revision(repository=repository, commit=commit, root=self._root)
        return self._opened[commit]

    def _find_repository_with(self, revision: str) -> Repository | None:
        if self._is_here(self._repository, revision):
            return self._repository
        clone = self._open_clone()
        return clone.repository if clone and fetch_commit(clone, revision) else None

    def _is_here(self, repository: Repository, revision: str) -> bool:
        """Return whether a revision is in a repository."""
        # Nearly always it is an earlier commit, whose history is read anyway.
        return self._has_history(repository, revision) or self._has_commit(repository, revision)

    def _has_commit(self, repository: Repository, commit: str) -> bool:
        """Return whether a commit is in a repository."""
        # The commit that was checked out is in its own repository.
        is_checked_out = repository is self._repository and commit == self._commit
        return is_checked_out or has_commit(repository, commit)

    def _is_vouched_for(self, repository: Repository, revision: str) -> bool:
        """Return whether a revision may be read: who signs a commit signs its history."""
        # The checked-out commit is signed, and its id covers its history.
        if self._trusted is None or self._has_history(repository, revision):
            return True
        try:
            check_signature(repository, revision, self._trusted)
        except SourceError:
            return False
        return True

    def _open_clone(self) -> Clone | None:
        if self._clone is None and self._remote is not None:
            self._clone = open_clone(self._remote)
        return self._clone

    def _has_history(self, repository: Repository, since: str) -> bool:
        """Return whether the history from the checked-out commit back to `since` is in the repository."""
        return (
            is_commit_id(since)
            and self._has_commit(repository, self._commit)
            and _is_ancestor(repository, since, self._commit)
        )

    def _deepen(self, since: str) -> Repository:
        """A clone with the history back to the time of `since`."""
        clone = self._open_clone()
        if clone is None or not fetch_commit(clone, since):
            raise GitError(f"There is no remote to fetch the history since {since} from.")
        date = _read_date(clone.repository, since)
        clone.fetch(f"+{self._commit}:refs/gitsync/deepened", depth=(f"--shallow-since={date}",))
        return clone.repository

    def _list_states_before_changes(self, repository: Repository, since: str, path: str) -> list[str]:
        """List the first parents of the commits on the branch itself that changed anything below `path`."""
        if since == self._commit:
            return []
        folder = "/".join(filter(None, (self._root, path))) or "."
        changes = ("log", "--first-parent", "--format=%P", f"--max-count={_MOST}", f"{since}..{self._commit}")
        lines = repository.line(*changes, "--", folder).splitlines()
        return [line.split()[0] for line in lines if line.strip()]


def _is_ancestor(repository: Repository, earlier: str, later: str) -> bool:
    """Return whether a commit is an ancestor of another, as far as the history is there. A commit counts as its own."""
    return earlier == later or repository.confirms("merge-base", "--is-ancestor", earlier, later)


def _read_date(repository: Repository, commit: str) -> int:
    """Find when a commit was made, in seconds since 1970."""
    return int(repository.query("log", "-1", "--format=%ct", commit))


# Whether others can see a commit: whether a branch of the remote has it.


_HEADS = "refs/heads/"
_FETCHED = "refs/gitsync/heads/"


def is_published(repository: Repository, commit: str, remote: Remote, status_branch: str) -> bool | None:
    """Return whether a branch of the remote has a commit; None if that cannot be known."""
    try:
        # The last fetch is checked first, and the remote only if the fetch does not have the commit.
        if _has_ref_with(repository, "refs/remotes/", commit):
            return True
        clone = open_clone(remote)
        try:
            heads = list_advertised(clone, f"{_HEADS}*")
            # The status branch has nothing but status.
            heads = {name: tip for name, tip in heads.items() if name != f"{_HEADS}{status_branch}"}
            tips = set(heads.values())  # as far as the branches are here
            if commit in tips or any(_is_ancestor(repository, commit, tip) for tip in tips):
                return True
            return _is_fetched(clone, repository, commit, heads)
        finally:
            clone.close()
    except GitError:
        return None


def _is_fetched(clone: Clone, repository: Repository, commit: str, heads: dict[str, str]) -> bool:
    """Return whether one of the branches that are not here has the commit. GitError if they cannot be fetched."""
    unknown = [name for name, tip in heads.items() if not has_commit(repository, tip)]
    if not unknown:
        return False
    date = repository.line("log", "-1", "--format=%ct", commit)
    refspecs = [f"+{name}:{_FETCHED}{name.removeprefix(_HEADS)}" for name in unknown]
    clone.fetch(*refspecs, depth=(f"--shallow-since={date}",))
    return has_commit(clone.repository, commit) and _has_ref_with(clone.repository, _FETCHED, commit)


def _has_ref_with(repository: Repository, refs: str, commit: str) -> bool:
    return bool(repository.line("for-each-ref", "--count=1", f"--contains={commit}", refs))


# The last commits that changed some paths, from one `git log` for each revision.
#
# Only the history that is in the repository is read. Where it ends early, in a shallow clone, the commit is unknown:
# there, git shows every file as added by the first commit that it has.


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
# The settings of the person stay in force, so each option that they could change is stated.
_LOG = (
    *("log", "--stdin", "-z", "--name-only", "--no-renames", "--no-relative", "--diff-filter=d", "--no-merges"),
    *("--root", "--no-show-signature", "--encoding=UTF-8", f"--format={_FORMAT}", f"--max-count={MOST_COMMITS}"),
)


ManifestPaths = tuple[str, ...]
"""Paths of files and folders, any of which may have made a manifest."""


class _LogEntry(NamedTuple):
    """One commit of a log."""

    commit: str
    parents: str  # ids, separated by blanks
    author: str  # without the e-mail address
    subject: str
    paths: tuple[str, ...]  # those that it added or changed


def list_last_commits(
    repository: Repository, revision: str, path_sets: Collection[ManifestPaths]
) -> Mapping[ManifestPaths, LastCommit]:
    """Return the last commit, at or before a revision, that added or changed a file at or below one of the paths of
    each group.
    """
    try:
        entries = list(_read_log(repository, revision, path_sets))
    except GitError:
        return dict.fromkeys(path_sets, UNREADABLE)
    is_shallow = repository.is_shallow
    by_path: dict[str, set[ManifestPaths]] = {}
    for path_set in path_sets:
        for path in path_set:
            by_path.setdefault(path, set()).add(path_set)
    commits: dict[ManifestPaths, LastCommit] = {}
    for entry in entries:
        commit = SHALLOW
        if entry.parents or not is_shallow:
            author, subject = _shorten(entry.author, _LONGEST_AUTHOR), _shorten(entry.subject, _LONGEST_SUBJECT)
            commit = LastCommit(commit=entry.commit, author=author, subject=subject)
        for path_set in _list_path_sets(entry.paths, by_path):
            commits.setdefault(path_set, commit)
    missing = TOO_FAR if len(entries) == MOST_COMMITS else NOT_FOUND
    return dict.fromkeys(path_sets, missing) | commits


def _read_log(repository: Repository, revision: str, path_sets: Collection[ManifestPaths]) -> Iterator[_LogEntry]:
    """Yield the commits, newest first."""
    paths = sorted({path for path_set in path_sets for path in path_set})
    # The answer only names an author in a report, which is not worth the time of the run.
    limited = replace(repository, timeout=min(repository.timeout, _TIMEOUT))
    lines = "".join(f"{line}\n" for line in (revision, "--", *paths))
    # No text in git's output has a NUL in it.
    words = limited.run(*_LOG, stdin=(lines.encode(),)).decode("utf-8", "replace").split("\0")
    position = 1
    while position + 4 < len(words):
        end = words.index("", position + 4)
        commit, parents, author, subject, first, *others = words[position:end]
        yield _LogEntry(commit, parents, author, subject, (first.removeprefix("\n"), *others))
        position = end + 1


def _list_path_sets(
    paths: Collection[str], by_path: Mapping[str, Collection[ManifestPaths]]
) -> Iterator[ManifestPaths]:
    """List the groups that have one of the paths, or a folder around it."""
    for path in paths:
        steps = path.split("/")
        for length in range(len(steps) + 1):
            yield from by_path.get("/".join(steps[:length]) or ".", ())


def _shorten(text: str, longest: int) -> str:
    """Put a text on one line, with "…" for each e-mail address."""
    return truncate(" ".join(_ADDRESS.sub("…", text[:_LONGEST_TEXT]).split()), longest)
