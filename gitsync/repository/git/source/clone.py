"""A temporary bare repository that holds what was fetched from a remote, and nothing else.

It is made empty and fetched into, never cloned: a clone fetches more than needed. It is deleted at the end of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from gitsync.errors import GitError, SourceError
from gitsync.repository.git.git_access import Remote
from gitsync.repository.git.git_command import Repository
from gitsync.repository.git.source.location import is_commit_id
from gitsync.settings.processes.temporary_folders import make_temporary_folder, remove_temporary_folder

_FETCHED = "refs/gitsync/fetched"


@dataclass(frozen=True, slots=True)
class Clone:
    """The fetched part of a repository."""

    repository: Repository
    url: str  # where it was fetched from

    def fetch(self, *refspecs: str, depth: tuple[str, ...] = ("--depth=1",)) -> None:
        """Fetch by refspec, with git's own options for the depth."""
        # The URL comes after `--`, so git cannot take it for an option.
        options = ("--quiet", "--no-tags", "--no-auto-maintenance", *depth)
        self.repository.run("fetch", *options, "--", self.url, *refspecs)

    def read_fetched(self) -> str:
        """Find the object that the first refspec of the last fetch has brought, in the file where git noted it."""
        with (self.repository.folder / "FETCH_HEAD").open(encoding="utf-8", errors="replace") as file:
            return file.readline().partition("\t")[0]

    def count_fetched(self) -> int:
        """Count what the last fetch has brought."""
        return (self.repository.folder / "FETCH_HEAD").read_bytes().count(b"\n")

    def close(self) -> None:
        remove_temporary_folder(self.repository.folder)


def open_clone(remote: Remote) -> Clone:
    """Make an empty clone. Close it when done."""
    folder = make_temporary_folder()
    repository = Repository(
        folder=folder,
        environment=remote.environment,
        timeout=remote.timeout,
        secrets=remote.secrets,
        grace=remote.grace,
    )
    try:
        # All that git needs of a repository (gitrepository-layout(5)); the branch has a name that no fetch brings.
        for name in ("objects", "refs"):
            (folder / name).mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")
    except BaseException:
        remove_temporary_folder(folder)
        raise
    return Clone(repository, remote.url)


@dataclass(frozen=True, slots=True)
class Tip:
    """The target of a ref when it was fetched."""

    commit: str
    ref: str | None  # its short name; None for a commit or a detached HEAD


def fetch_ref(clone: Clone, ref: str | None) -> Tip:
    """Fetch one revision: a branch, a tag, a commit id, or the remote's HEAD. SourceError if it does not exist."""
    try:
        if ref is None or not is_commit_id(ref):
            name = _resolve(clone, ref)
            clone.fetch(f"+{name}:{_FETCHED}")
            commit = clone.repository.line("rev-parse", "--verify", f"{_FETCHED}^{{commit}}")
            return Tip(commit, None if name == "HEAD" else name.removeprefix("refs/heads/").removeprefix("refs/tags/"))
        refusal = _find_refusal(clone, ref)
        if refusal is None:
            return Tip(ref, None)
        said = f" It does not give the commit by its id either: {refusal}" if refusal else ""
        raise SourceError(f"{clone.url} has no commit {ref} on any branch or tag.{said}")
    except GitError as error:
        raise SourceError(f"Cannot fetch {clone.url}: {error.message}", hint=error.hint) from error


def _resolve(clone: Clone, ref: str | None) -> str:
    """Find the full name of `ref` at the remote."""
    if ref in {None, "HEAD"}:
        return _find_default_branch(clone)
    candidates = [ref] if ref.startswith("refs/") else [f"refs/heads/{ref}", f"refs/tags/{ref}"]
    advertised = list_advertised(clone, *candidates)
    matching = [name for name in candidates if name in advertised]
    if not matching:
        raise SourceError(f"{clone.url} has no branch or tag {ref}.", hint="Use the full id of a commit (40 digits).")
    if len(matching) > 1:  # git would take the tag
        raise SourceError(f"{clone.url} has a branch {ref} and a tag {ref}.", hint=f"Use {' or '.join(matching)}.")
    return matching[0]


def _find_default_branch(clone: Clone) -> str:
    head = list_advertised(clone, "--symref", "HEAD").get("HEAD")
    if head is None:  # an empty repository, or a HEAD that names a branch which is gone
        raise SourceError(f"{clone.url} has no commits on its default branch.", hint="Set --ref to a branch.")
    return head.removeprefix("ref: ") if head.startswith("ref: ") else "HEAD"


def list_advertised(clone: Clone, *arguments: str) -> Mapping[str, str]:
    """List the requested refs of the remote: a commit id, or `ref: NAME` for a symbolic one, by name.

    GitError if it does not answer.
    """
    options = [argument for argument in arguments if argument.startswith("--")]
    names = [argument for argument in arguments if not argument.startswith("--")]
    lines = clone.repository.run("ls-remote", *options, "--", clone.url, *names).decode("utf-8", "replace")
    pairs = [line.partition("\t") for line in lines.splitlines()]
    return {name: value for value, _, name in reversed(pairs)}  # the symbolic line comes first, and wins


def fetch_commit(clone: Clone, commit: str) -> bool:
    """Ensure that `commit` is in the clone: fetch it alone, or the whole history if the server offers only branches and
    tags. False if the remote does not have it, or if it is not a commit id; GitError if the remote does not answer.
    """
    # A record may name anything, and a search for it would fetch all branches.
    return is_commit_id(commit) and _find_refusal(clone, commit) is None


def _find_refusal(clone: Clone, commit: str) -> str | None:
    """Fetch a commit as `fetch_commit` does. Returns None if it is in the clone, else why the server does not give it
    by its id: an old server allows that for none.
    """
    if has_commit(clone.repository, commit):
        return None
    refusal = ""
    try:
        clone.fetch(f"+{commit}:{_FETCHED}")
    except GitError as error:
        # Some servers give no commit by its id. Then it may be in the history of a branch or a tag.
        refusal = error.message
        everything = ("+refs/heads/*:refs/gitsync/heads/*", "+refs/tags/*:refs/gitsync/tags/*")
        clone.fetch(*everything, depth=("--unshallow",) if clone.repository.is_shallow else ())
        if not has_commit(clone.repository, commit):
            # A connection that broke looks like a refusal. The server has answered since, so try again.
            with suppress(GitError):
                clone.fetch(f"+{commit}:{_FETCHED}")
    return None if has_commit(clone.repository, commit) else refusal


def has_commit(repository: Repository, commit: str) -> bool:
    """Return whether `commit` is a commit id, and its objects are in the repository."""
    return is_commit_id(commit) and repository.confirms("cat-file", "-e", f"{commit}^{{commit}}")
