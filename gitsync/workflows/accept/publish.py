"""Commits accepted drift to branches, without the working tree and the index of the user.

A branch that accept made has one commit, on the revision whose manifests were read. The last line of its message is a
digest of the commit without that line: its tree, parent, author, committer, times and message. So a commit that
somebody amended, or replaced by one of their own, is no longer ours. A branch with other commits is never moved.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

from gitsync.desired.problems.field_path import format_field
from gitsync.errors import ConfigError, GitError, PublishError, SourceError
from gitsync.model.arm_id import ArmId
from gitsync.model.attribution import Who
from gitsync.model.clock import Clock
from gitsync.report.wording import format_plural, shorten_revision
from gitsync.repository.git.git_access import GitAccess, Remote
from gitsync.repository.git.source.checkout import is_content_of
from gitsync.repository.git.source.clone import Clone, fetch_commit, list_advertised, open_clone
from gitsync.repository.git.source.git_directory import find_git_directory, find_person
from gitsync.repository.git.source.location import check_ref
from gitsync.repository.git.source.worktree import Head, WorkTree, find_work_tree, read_head
from gitsync.repository.git.state.commits import Author, Commit, write_commit
from gitsync.repository.git.state.heartbeats import name_heartbeats
from gitsync.repository.git.state.store_choice import DEFAULT_BRANCH, make_author, open_own_repository
from gitsync.repository.git.state.worker_branches import name_workers
from gitsync.workflows.accept.drift import Accepted, DriftedResource

HEADS = "refs/heads/"
_ACCEPT, _FIELD, _COMMIT = "Gitsync-Accept", "Gitsync-Field", "Gitsync-Commit"
_TRAILER = re.compile(rf"^({_ACCEPT}|{_FIELD}): (\S+(?: \S+)?)$", re.MULTILINE)
_PARENT = re.compile(r"^parent (\w+)$", re.MULTILINE)
_BASE = "refs/gitsync/base"
_NAMES_OF_GIT = re.compile(r"(?:[a-z]+_)*head")
_OUR_BRANCHES = f"{DEFAULT_BRANCH.partition('/')[0]}/"
"""The folder of branches that gitsync writes by itself: status, workers, heartbeats, runs and pull requests."""
_PLAIN_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,100}[A-Za-z0-9])?")
_MOST_NAMED = 20  # resources in the text of a commit; the trailers have all
_MODES = frozenset({b"100644", b"100755"})
"""Files, of which the second are programs; neither links nor submodules."""


class PublishedAs(StrEnum):
    """What became of accepted drift."""

    COMMITTED = "committed"
    OPENED = "opened"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    LEFT = "left"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What was done."""

    action: PublishedAs
    sentence: str  # the same, for people
    branch: str
    url: str = ""  # of the pull request, "" without one


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """Where accepted drift goes."""

    folder: Path  # the repository is around it
    access: GitAccess  # reaches the remote of the repository
    clock: Clock
    environment: Mapping[str, str] = field(repr=False)  # of the job
    who: Who = Who.AUTO
    mask: Callable[[str], str] = str  # hides secrets in texts that others read
    status_branch: str = DEFAULT_BRANCH  # of the manifests
    ref: str | None = None  # what the manifests are read from, if that is set


def commit_branch(accepted: Accepted, branch: str, publication: Publication) -> Published:
    """Commit accepted drift to a branch of the repository itself, made from HEAD. A branch that accept made is moved.

    Raises ConfigError, and writes nothing, for a branch that is checked out or has other commits, and for files with
    changes that are not committed; PublishError if git refuses.
    """
    check_branch_name(branch, publication.status_branch, publication.ref)
    with open_repository(publication) as (tree, head):
        if head.branch and branch.casefold() == head.branch.casefold():
            raise ConfigError(
                f"The branch {branch} is checked out.",
                hint="Choose another branch, or omit --branch to edit its files.",
            )
        files = read_files(tree, head, accepted)
        author = find_author(publication)
        with open_branches(open_own_repository(tree), head, publication, author) as branches:
            tip = branches.find(branch).get(branch)
            own = branches.read_own(tip) if tip else None
            _refuse_branch_of_others(branch, tip, own, branches, (tree, head))
            change = make_change(accepted, files)
            if own and own.digest == change.digest:
                sentence = f"The branch {branch} already has this change ({shorten_revision(tip)})."
                return Published(action=PublishedAs.UNCHANGED, sentence=sentence, branch=branch)
            commit = branches.push(branch, tip, change)
    what = f"{format_plural(len(files.texts), 'file')} ({shorten_revision(commit)})"
    sentence = f"Moved the branch {branch}: {what}." if tip else f"Committed to the new branch {branch}: {what}."
    return Published(action=PublishedAs.COMMITTED, sentence=sentence, branch=branch)


def find_author(publication: Publication) -> Author:
    """Find who commits to a branch of the repository itself: its user.name and user.email, else gitsync."""
    git_directory = find_git_directory(publication.folder, publication.access)
    person = find_person(git_directory, publication.access) if git_directory else None
    return make_author(publication.environment, Author(*person) if person else None)


def check_branch_name(branch: str, status_branch: str, ref: str | None = None) -> None:
    """Raise ConfigError unless drift may be committed to a branch of this name. `ref` is that of the manifests.

    Names compare without case, since those of files may.
    """
    try:
        check_ref(branch.removeprefix(HEADS))
    except SourceError:
        raise ConfigError(f"--branch {branch!r} is not the name of a branch.") from None
    if branch.startswith("refs/"):
        raise ConfigError(f"--branch {branch!r} must be a short name.", hint="Write it like accept-drift.")
    name, status = branch.casefold(), status_branch.casefold()
    beside = (name_workers(status), name_heartbeats(status), f"{status}/")
    hint = "Write it like accept-drift."
    if _NAMES_OF_GIT.fullmatch(name):
        raise ConfigError(f"--branch {branch} is a name that git reserves.", hint=hint)
    if f"{name}/".startswith(_OUR_BRANCHES) or name == status or name.startswith(beside):
        raise ConfigError(f"--branch {branch} is reserved for gitsync's own branches.", hint=hint)
    if status.startswith(f"{name}/"):  # git cannot have a branch inside of another one
        raise ConfigError(f"--branch {branch} conflicts with the status branch {status_branch}.", hint=hint)
    if ref and name == ref.removeprefix(HEADS).casefold():
        raise ConfigError(f"--branch {branch} is the branch of the manifests.", hint=hint)


def _refuse_branch_of_others(
    branch: str, tip: str | None, own: OwnCommit | None, branches: Branches, checked_out: tuple[WorkTree, Head]
) -> None:
    """Raise ConfigError for a branch that accept did not make, here or at the remote. Moving one without commits of its
    own loses nothing, unless HEAD is detached: then it may be the branch that the commit was checked out from.
    """
    tree, head = checked_out
    is_behind = tip and head.branch and tree.repository.succeeds("merge-base", "--is-ancestor", tip, str(head.commit))
    if tip and own is None and not is_behind:
        raise ConfigError(
            f"The branch {branch} has commits that gitsync accept did not make.",
            hint="Name another branch, or delete it.",
        )
    # A later push would be refused there, or be forced over the work of somebody else.
    refs = tree.repository.run("for-each-ref", "--format=%(objectname)", f"refs/remotes/*/{branch}")
    for commit in refs.decode().split():
        if branches.read_own(commit) is None:
            raise ConfigError(
                f"A remote has a branch {branch}, with commits that gitsync accept did not make.",
                hint="Name another branch.",
            )


@contextmanager
def open_repository(publication: Publication) -> Iterator[tuple[WorkTree, Head]]:
    """Open the repository of a folder, and find what is checked out. Raises ConfigError without a commit."""
    tree = find_work_tree(publication.folder, publication.access)
    if tree is None:
        raise ConfigError(
            f"{publication.folder} is not in a git repository, so it has no branches.",
            hint="Omit --branch and --pull-request to edit the files.",
        )
    with tree:
        head = read_head(tree)
        if head.commit is None:
            raise ConfigError(f"{tree.top} has no commit yet.", hint="Commit the manifests, and run it again.")
        yield tree, head


# What is committed.


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedFiles:
    """Files of a revision as git keeps them."""

    texts: Mapping[str, bytes | None]  # their new texts, by path; None for one that goes
    executable: frozenset[str]  # those that are programs


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftCommit:
    """A commit that accepts drift."""

    files: CommittedFiles
    message: str  # without its trailers
    field_names: tuple[str, ...]  # the fields that it accepts (`quote_field`)

    @property
    def digest(self) -> str:
        """The digest of the texts, which shows whether a branch has them already."""
        digest = hashlib.sha256()
        for path, text in sorted(self.files.texts.items()):
            # A file that goes must not have the digest of an empty one.
            digest.update(f"{path}\0{-1 if text is None else len(text)}\0".encode())
            digest.update(text or b"")
        return digest.hexdigest()


def read_files(tree: WorkTree, head: Head, accepted: Accepted) -> CommittedFiles:
    """Make the files of a commit from the texts of the working tree. Raises ConfigError if one of them has changes that
    are not committed: they would be committed, too.
    """
    listed = tree.repository.run("ls-tree", "-z", str(head.commit), "--", *sorted(accepted.texts))
    entries = {os.fsdecode(path): facts.split() for facts, _, path in (e.partition(b"\t") for e in listed.split(b"\0"))}
    texts: dict[str, bytes | None] = {}
    for path, text in accepted.texts.items():
        mode, _, blob = entries.get(path, (b"", b"", b""))
        try:
            # A link has the path of its target as content, and a submodule has none.
            content = (tree.top / path).read_bytes() if mode in _MODES else None
        except OSError:
            content = None
        if content is None or not is_content_of(blob.decode(), content):
            raise ConfigError(f"{path} has uncommitted changes.", hint="Commit them or stash them, and run it again.")
        # git may keep other line ends than it checks out.
        is_converted = b"\r\n" in content and is_content_of(blob.decode(), content.replace(b"\r\n", b"\n"))
        texts[path] = text.replace(b"\r\n", b"\n") if text is not None and is_converted else text
    return CommittedFiles(
        texts=texts, executable=frozenset(path for path, facts in entries.items() if facts[:1] == [b"100755"])
    )


def make_change(accepted: Accepted, files: CommittedFiles) -> DriftCommit:
    """Make the commit of accepted drift. Names of people are never in it, and no text that a manifest or Azure could
    choose freely.
    """
    resources = sorted(accepted.resources, key=lambda resource: resource.key)
    lines = []
    for resource in resources[:_MOST_NAMED]:
        change = format_plural(len(resource.fields), "field")
        if resource.is_gone:
            change = "deleted in Azure"
        lines.append(f"- {name_plainly(resource) or 'a resource'}: {change}")
    more = len(resources) - _MOST_NAMED
    body = "\n".join([*lines, *([f"- and {format_plural(more, 'other resource')}"] if more > 0 else [])])
    return DriftCommit(
        files=files,
        message=f"{make_title(accepted.resources)}\n\nThe manifests now have Azure's values:\n\n{body}\n",
        field_names=tuple(
            sorted(
                quote_field(resource.arm_id, format_field(field.path) if field else "")
                for resource in resources
                for field in (resource.fields or (None,))
            )
        ),
    )


def make_title(resources: tuple[DriftedResource, ...]) -> str:
    """Make the title of a commit and of a pull request: the same for the same resources."""
    name, others = name_plainly(min(resources, key=lambda resource: resource.key)), len(resources) - 1
    if not name:
        return f"Accept drift of {format_plural(len(resources), 'resource')}"
    return f"Accept drift of {name}" + (f" and {format_plural(others, 'other resource')}" if others else "")


def name_plainly(resource: DriftedResource) -> str:
    """Name a resource where no markup is escaped; "" if its name is long, or has more than letters, digits, dots and
    dashes.
    """
    parts = (resource.key.kind, resource.key.name)
    return "/".join(parts) if all(map(_PLAIN_NAME.fullmatch, parts)) else ""


def quote_field(arm_id: ArmId, field: str = "") -> str:
    """Write a field of a resource, or the whole, as a commit has it: without words of a host in brackets, mentions,
    numbers of issues and blanks.
    """
    return f"{quote(arm_id.key, safe='/')} {quote(field, safe='')}".rstrip()


# Branches of a repository that accept made.


@dataclass(frozen=True, slots=True)
class OwnCommit:
    """The digest of the texts and the fields that the commit of a branch records, if accept made it."""

    digest: str
    field_names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Branches:
    """The branches of a repository."""

    clone: Clone  # for what is fetched of them
    remote: Remote
    base: str  # the commit that new ones begin at
    author: Author
    clock: Clock
    target: str = ""  # the commit of the branch that will get them, "" for none

    def find(self, *patterns: str) -> Mapping[str, str]:
        """Find the branches that match patterns, with their commits. Raises PublishError if the remote does not
        answer.
        """
        with self._explain("cannot be read"):
            found = list_advertised(self.clone, *(HEADS + pattern for pattern in patterns))
        return {ref.removeprefix(HEADS): commit for ref, commit in found.items() if ref.startswith(HEADS)}

    def read_own(self, tip: str) -> OwnCommit | None:
        """Read the commit of a branch that accept made; None if somebody else made or amended it, or a commit below it
        that the base does not have. Raises PublishError if it cannot be fetched.
        """
        with self._explain("cannot be read"):
            if not fetch_commit(self.clone, tip):
                return None
            content = self.clone.repository.run("cat-file", "commit", tip)
            draft = content.removesuffix(b"\n").rpartition(b"\n")[0] + b"\n"
            head, _, message = content.decode("utf-8", "replace").partition("\n\n")
            parents = _PARENT.findall(head)
            # Names and trees can be copied, but an amend by somebody else changes the digest.
            is_own = content == draft + _format_digest(draft) and len(parents) == 1 and self._is_on_base(parents[0])
        if not is_own:
            return None
        trailers: dict[str, list[str]] = {_ACCEPT: [], _FIELD: []}
        for name, value in _TRAILER.findall(message):
            trailers[name].append(value)
        return OwnCommit(trailers[_ACCEPT][0], tuple(trailers[_FIELD])) if trailers[_ACCEPT] else None

    def _is_on_base(self, commit: str) -> bool:
        """Return whether a commit is part of the base's history, or of its branch's, which may be ahead of it or
        behind.
        """
        return self._is_below(commit, self.base, self.target)

    def is_on_target(self) -> bool:
        """Return whether the base is part of the history of the branch that will get the commits. Raises PublishError
        if that cannot be fetched.
        """
        with self._explain("cannot be read"):
            return self._is_below(self.base, self.target)

    def _is_below(self, commit: str, *above: str) -> bool:
        """Return whether a commit is one of others, or part of their history. If the server supports that, only history
        that is younger than the commit is fetched.
        """
        tips = sorted({tip for tip in above if tip and fetch_commit(self.clone, tip)})
        if commit in tips:
            return True
        if not fetch_commit(self.clone, commit):
            return False
        seconds = self.clone.repository.line("log", "-1", "--format=%ct", commit, "--")
        with suppress(GitError):  # none of the others is younger, by the clocks of their authors
            self._fetch_history(tips, f"--shallow-since={seconds}")
        if self._is_in_history(commit, tips):
            return True
        self._fetch_history(tips, "--unshallow")
        return self._is_in_history(commit, tips)

    def _fetch_history(self, tips: Sequence[str], depth: str) -> None:
        if self.clone.repository.is_shallow:
            self.clone.fetch(*(f"+{tip}:{_BASE}/{tip}" for tip in tips), depth=(depth,))

    def _is_in_history(self, commit: str, tips: Sequence[str]) -> bool:
        return any(self.clone.repository.succeeds("merge-base", "--is-ancestor", commit, tip) for tip in tips)

    def push(self, branch: str, tip: str | None, change: DriftCommit) -> str:
        """Make a branch one commit on the base, and return it. `tip` is the commit that it may replace. Raises
        PublishError if the remote refuses, or somebody was faster.
        """
        with self._explain(f"rejected the branch {branch}"):
            time = self.clock.now()
            # Written twice: only git has the bytes of the commit that the digest is about.
            draft = self.clone.repository.run("cat-file", "commit", self._write(change, time))
            commit = self._write(change, time, _format_digest(draft).decode())
            self._push(branch, tip, commit)
        return commit

    def delete(self, branch: str, tip: str) -> None:
        """Delete a branch unless it was moved since. Raises PublishError if the remote refuses."""
        with self._explain(f"still has the branch {branch}"):
            self._push(branch, tip, "")

    def _write(self, change: DriftCommit, time: datetime, end: str = "") -> str:
        trailers = [*(f"{_FIELD}: {field_name}" for field_name in change.field_names), f"{_ACCEPT}: {change.digest}"]
        commit = Commit(
            parent=self.base,
            files=change.files.texts,
            message="\n".join([change.message, *trailers, end]),
            author=self.author,
            time=time,
            executable=change.files.executable,
        )
        return write_commit(self.clone.repository, commit)

    def _push(self, branch: str, tip: str | None, commit: str) -> None:
        ref = HEADS + branch
        # The push names what it replaces, so a commit that somebody pushed in between is not lost.
        lease = f"--force-with-lease={ref}:{tip or ''}"
        self.clone.repository.run("push", "--quiet", lease, "--", self.clone.url, f"{commit}:{ref}")

    @contextmanager
    def _explain(self, what: str) -> Iterator[None]:
        try:
            yield
        except GitError as error:
            raise PublishError(f"{self.remote.name} {what}: {error.message}", hint=error.hint) from error


def _format_digest(draft: bytes) -> bytes:
    """Format the last line of a commit, which has a digest of all before it."""
    return f"{_COMMIT}: {hashlib.sha256(draft).hexdigest()}\n".encode()


@contextmanager
def open_branches(
    remote: Remote, head: Head, publication: Publication, author: Author | None = None
) -> Iterator[Branches]:
    """Open the branches of a repository, with the commit that is checked out. Raises ConfigError if the repository does
    not have that.
    """
    try:
        with closing(open_clone(remote)) as clone:
            if not fetch_commit(clone, str(head.commit)):
                raise ConfigError(
                    f"{remote.name} does not have the commit {shorten_revision(head.commit)}, which is checked out.",
                    hint="Push it, and run it again.",
                )
            yield Branches(
                clone=clone,
                remote=remote,
                base=str(head.commit),
                author=author or make_author(publication.environment),
                clock=publication.clock,
            )
    except GitError as error:
        raise PublishError(f"{remote.name} cannot be read: {error.message}", hint=error.hint) from error
